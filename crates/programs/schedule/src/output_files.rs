//! Files of a step that are one file: the output would be emptied before the input is read.
//!
//! Invariants:
//! 1. Two files are one by device and inode, whatever links lead to them; one that is not there yet
//!    by where it would be made.
//! 2. Nothing is opened to find that out: it is refused before any file is touched.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use definitions::resolve::{ResolvedKind, ResolvedPsb};
use seam::disk::Disk;

use crate::ScheduleError;
use crate::file::dd_of;

/// How many links are followed.
const LINKS_MAX: usize = 40;

/// The DD names of the files that a PSB writes.
#[must_use]
pub fn outputs_of(psb: &ResolvedPsb) -> Vec<String> {
    let views = psb.pcbs.iter().filter_map(|pcb| match &pcb.kind {
        ResolvedKind::Gsam(view) => Some(view),
        _ => None,
    });
    views.filter(|view| view.options.is_load()).map(dd_of).collect()
}

/// Refuses a file that is written and is another file of the step as well. Each comes with what it
/// is called in a message; devices are none of them.
///
/// # Errors
/// [`ScheduleError::SameFile`] for the first.
pub fn refuse_same_files(
    disk: &dyn Disk,
    written: &[(String, PathBuf)],
    all: &[(String, PathBuf)],
) -> Result<(), ScheduleError> {
    for (name, path) in written {
        let place = FilePlace::of(disk, path);
        let is_same =
            |(other, at): &&(String, PathBuf)| other != name && FilePlace::of(disk, at) == place;
        if let Some((other, _)) = all.iter().find(is_same) {
            let (written, other, path) = (name.clone(), other.clone(), path.clone());
            return Err(ScheduleError::SameFile { written, other, path });
        }
    }
    Ok(())
}

/// What a file is known by, whatever names and links lead to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilePlace {
    /// One that is there.
    There {
        /// Its device.
        device: u64,
        /// Its number there.
        inode: u64,
    },
    /// One that is not there yet, in its folder.
    New {
        /// The folder.
        folder: Box<FilePlace>,
        /// Its name there.
        name: OsString,
    },
    /// One that cannot be looked at.
    Unknown(PathBuf),
}

impl FilePlace {
    /// That of the file to which a path leads, or would if it was made.
    #[must_use]
    pub fn of(disk: &dyn Disk, path: &Path) -> FilePlace {
        FilePlace::at(disk, &led_to(disk, path))
    }

    fn at(disk: &dyn Disk, path: &Path) -> FilePlace {
        if let Ok(found) = disk.identity(path) {
            return FilePlace::There { device: found.device, inode: found.inode };
        }
        match (path.parent(), path.file_name(), disk.exists(path)) {
            (Some(folder), Some(name), Ok(false)) => FilePlace::New {
                folder: Box::new(FilePlace::at(disk, folder)),
                name: name.to_owned(),
            },
            _ => FilePlace::Unknown(path.to_owned()),
        }
    }
}

/// Where the links lead that a path names: who writes to one makes the file at its end.
fn led_to(disk: &dyn Disk, path: &Path) -> PathBuf {
    let mut path = disk.absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..LINKS_MAX {
        let Ok(next) = path.read_link() else { break };
        path = path.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    path
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use seam::Seam;

    use super::*;

    /// Files that are not there yet were told apart by their names, also where one is a link.
    #[test]
    #[allow(clippy::disallowed_methods)] // makes what people have
    fn a_link_to_a_file_that_is_not_there_yet_is_that_file() {
        let name = format!("holdfast-output-files-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("in")).unwrap();
        symlink("one", folder.join("link")).unwrap();
        symlink(folder.join("in/../link"), folder.join("far")).unwrap();
        symlink(".", folder.join("here")).unwrap();
        symlink("round", folder.join("round")).unwrap();
        let disk = Seam::real().disk;
        let same = |one: &str, other: &str| {
            FilePlace::of(&*disk, &folder.join(one)) == FilePlace::of(&*disk, &folder.join(other))
        };
        let others = |round: bool| {
            for other in ["one", "link", "far", "here/one", "in/../one", "here/link"] {
                assert!(same("one", other), "{other} {round}");
            }
            for other in ["two", "in/one", "round"] {
                assert!(!same("one", other) && !same("far", other), "{other} {round}");
            }
        };
        others(false);
        let files = [("OUT1", "one"), ("OUT2", "far")];
        let files = files.map(|(dd, name)| (dd.to_owned(), folder.join(name)));
        assert!(refuse_same_files(&*disk, &files, &files).is_err());
        std::fs::write(folder.join("one"), "").unwrap();
        std::fs::hard_link(folder.join("one"), folder.join("hard")).unwrap();
        others(true);
        assert!(same("hard", "far"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
