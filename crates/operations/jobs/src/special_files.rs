//! Names that are no files: devices, pipes, and what this process has open.

use std::path::Path;

/// Links that are followed.
const LINKS_MAX: usize = 40;

/// Whether a path is a device, a pipe, or what this process has open, as `/dev/stdout` is: that is
/// written to, and never replaced by a file.
#[must_use]
pub fn is_special(path: &Path) -> bool {
    if path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return true;
    }
    leads(path, |at| ["/proc", "/dev/fd"].iter().any(|folder| at.starts_with(folder)))
}

/// Whether a path or a link that it leads over is what is asked for.
pub fn leads(path: &Path, is_wanted: impl Fn(&Path) -> bool) -> bool {
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        if is_wanted(&at) {
            return true;
        }
        let Ok(next) = at.read_link() else { break };
        at = at.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    false
}
