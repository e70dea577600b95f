//! The door to processes that have a system open: sockets with a name in a folder.
//!
//! Invariants:
//! 1. The folder may have any name: an address holds 107 bytes, paths may be longer, so a socket is
//!    reached through its folder's descriptor.
//! 2. A socket that somebody listens at can be reached by the folder's owner and by root, and by
//!    nobody else at any moment: it has its mode before it has a name.
//! 3. Who has connected, the kernel says.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Mode, OFlags, Uid, chmod, chown, fchmod, fstat, open, rename, unlink};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
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
    let kind = (AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC);
    let socket = rustix::net::socket_with(kind.0, kind.1, kind.2, None)?;
    // Linux makes the name with the socket's own mode, less the process's mask (2).
    fchmod(&socket, OWNERS)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(&fresh)?)?;
    let home = fstat(&folder)?;
    if geteuid().is_root() && home.st_uid != 0 {
        // Root works for the folder's owner, who has to reach it.
        chown(&fresh, Some(Uid::from_raw(home.st_uid)), Some(Gid::from_raw(home.st_gid)))?;
    }
    // A mask may have taken the owner's own rights.
    chmod(&fresh, OWNERS)?;
    rustix::net::listen(&socket, WAITING_MAX)?;
    rename(&fresh, &name)?;
    Ok(UnixListener::from(socket))
}

/// The mode of a socket: for its owner alone.
const OWNERS: Mode = Mode::RUSR.union(Mode::WUSR);
/// How many may wait to be let in.
const WAITING_MAX: i32 = 128;

/// A process at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The user that it ran as when it connected.
    pub user: u32,
    /// Its number; 0 if it is not to be seen from here.
    pub process: u32,
}

impl Peer {
    /// Who has connected.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn of(stream: &UnixStream) -> io::Result<Peer> {
        let peer = sockopt::socket_peercred(stream)?;
        let process = u32::try_from(peer.pid.as_raw_pid()).unwrap_or_default();
        Ok(Peer { user: peer.uid.as_raw(), process })
    }

    /// Whether it may use what stands in a folder: it runs as this process does, as the folder's
    /// owner, or as root.
    #[must_use]
    pub fn owns(&self, folder: &Path) -> bool {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let owner = open(folder, flags, Mode::empty()).and_then(fstat);
        let owner = owner.map(|about| about.st_uid);
        self.user == geteuid().as_raw() || self.user == 0 || owner == Ok(self.user)
    }
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
        let client = connect(&path).unwrap();
        let peer = Peer::of(&listener.accept().unwrap().0).unwrap();
        assert_eq!(peer, Peer { user: geteuid().as_raw(), process: std::process::id() });
        assert!(peer.owns(&folder));
        assert!(!Peer { user: u32::MAX - 7, ..peer }.owns(&folder));
        drop((client, listener));
        assert_eq!(connect(&path).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        drop(listen(&path).unwrap());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(base).unwrap();
    }

    /// Between its making and its mode a socket of a wide mask could be connected to by anybody.
    #[test]
    fn a_socket_is_made_with_its_mode_whatever_the_mask_is() {
        let name = format!("holdfast-seam-mode-{}", std::process::id());
        let base = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&base).unwrap();
        let kind = (AddressFamily::UNIX, SocketType::STREAM);
        let socket = rustix::net::socket(kind.0, kind.1, None).unwrap();
        fchmod(&socket, OWNERS).unwrap();
        let path = base.join("bound");
        rustix::net::bind(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777 & !0o600, 0, "{mode:o}");
        std::fs::remove_dir_all(base).unwrap();
    }
}
