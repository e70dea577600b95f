//! The door to processes that have a system open: sockets with a name in a folder.
//!
//! Invariants:
//! 1. The folder may have any name: an address holds 107 bytes, paths may be longer, so a socket is
//!    reached through its folder's descriptor.
//! 2. A socket that somebody listens at can be reached by the folder's owner and by root, and by
//!    nobody else at any moment.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Mode, OFlags, Uid, chmod, chown, fstat, open, rename, unlink};
use rustix::process::geteuid;

use crate::disk::fresh_name;

/// Listens at a path. The caller owns the folder: whatever has the name is one that a crash left.
///
/// # Errors
/// Whatever the operating system says of the folder or the socket.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    // It is bound under another name, so that it never has its own with a wider mode.
    let (fresh, folder) = short(&fresh_name(path))?;
    let (name, _folder) = short(path)?;
    let _ = unlink(&fresh);
    let listener = UnixListener::bind(&fresh)?;
    let home = fstat(&folder)?;
    if geteuid().is_root() && home.st_uid != 0 {
        // Root works for the folder's owner, who has to reach it.
        chown(&fresh, Some(Uid::from_raw(home.st_uid)), Some(Gid::from_raw(home.st_gid)))?;
    }
    chmod(&fresh, Mode::RUSR | Mode::WUSR)?;
    rename(&fresh, &name)?;
    Ok(listener)
}

/// A connection to whoever listens at a path.
///
/// # Errors
/// `NotFound` or `ConnectionRefused` if nobody does; whatever else the operating system says.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let (name, _folder) = short(path)?;
    UnixStream::connect(name)
}

/// A path by the descriptor of its folder, which has to stay open.
fn short(path: &Path) -> io::Result<(PathBuf, OwnedFd)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = open(folder.unwrap_or(Path::new(".")), flags, Mode::empty())?;
    let name = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
    Ok((name.join(path.file_name().unwrap_or_default()), folder))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // makes folders of its own
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_folder_with_a_long_name_has_sockets_like_any_other() {
        let name = format!("holdfast-seam-socket-{}", std::process::id());
        let base = std::env::temp_dir().join(name);
        let folder = base.join("x".repeat(120));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("some.sock");
        assert_eq!(connect(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        let listener = listen(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        connect(&path).unwrap();
        drop(listener);
        assert_eq!(connect(&path).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        drop(listen(&path).unwrap());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(base).unwrap();
    }
}
