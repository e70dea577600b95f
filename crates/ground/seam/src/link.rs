//! Links by which programs find the socket of a system that runs, by a name.
//!
//! 1. A link that a crash left is replaced; one that another system has taken over since is that
//!    one's, and stays.

use std::path::{Path, PathBuf};

/// A system's link, for as long as it runs.
#[derive(Debug)]
pub struct Link {
    path: PathBuf,
    socket: PathBuf,
}

impl Link {
    /// Makes a link of that name in the first of `folders` in which `below` can be written; `None`
    /// if there is none.
    #[must_use]
    #[allow(clippy::disallowed_methods)] // links are no part of a system
    pub fn make(folders: &[PathBuf], below: &str, name: &str, socket: &Path) -> Option<Link> {
        folders.iter().find_map(|folder| {
            let folder = folder.join(below);
            std::fs::create_dir_all(&folder).ok()?;
            let path = folder.join(name);
            let fresh = folder.join(format!(".{name}.{}", std::process::id()));
            let _ = std::fs::remove_file(&fresh);
            std::os::unix::fs::symlink(socket, &fresh).ok()?;
            std::fs::rename(&fresh, &path).ok()?;
            Some(Link { path, socket: socket.to_owned() })
        })
    }
}

impl Drop for Link {
    #[allow(clippy::disallowed_methods)] // links are no part of a system
    fn drop(&mut self) {
        // Another system may have taken the name over: then it is that one's.
        if std::fs::read_link(&self.path).is_ok_and(|target| target == self.socket) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
