//! The door to processes that have a system open: sockets with a name in a folder.
//!
//! Invariants:
//! 1. The folder may have any name: an address holds 107 bytes, paths may be longer, so a socket is
//!    reached through its folder's descriptor.
//! 2. A socket that somebody listens at can be reached by the folder's owner and by root, and by
//!    nobody else at any moment: it has its mode before it has a name.
//! 3. Who has connected, the kernel says; and it is that process, not one that has its number now.
//! 4. A name is taken from nobody who listens at it, neither by who comes nor by who goes.

#![allow(unsafe_code)]

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{
    Gid, Mode, OFlags, Uid, chmod, chown, fchmod, fstat, lstat, open, rename, unlink,
};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use rustix::process::geteuid;

use crate::disk::fresh_name;
use crate::family::Process;

/// Listens at a path. The caller owns the folder: a socket that has the name, and at which nobody
/// listens, is one that a crash left.
///
/// # Errors
/// `AddrInUse` if somebody listens there; whatever the operating system says of the folder or the
/// socket.
pub fn listen(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    if let Ok(stream) = connect(path) {
        let who = Peer::of(&stream).map_or(0, |peer| peer.process);
        let why = format!("process {who} listens at {}", path.display());
        return Err(io::Error::new(io::ErrorKind::AddrInUse, why));
    }
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
    let made = lstat(&fresh)?;
    rename(&fresh, &name)?;
    let file = SocketFile { path: path.to_owned(), device: made.st_dev, inode: made.st_ino };
    Ok((UnixListener::from(socket), file))
}

/// The name of a socket that was made here.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SocketFile {
    /// Takes the name away, unless it is another socket's by now (4). What cannot be removed stays:
    /// nobody listens there, which the next listener finds out.
    pub fn remove(&self) {
        let Ok((name, _folder)) = short(&self.path) else { return };
        let named = lstat(&name).map(|named| (named.st_dev, named.st_ino));
        if named == Ok((self.device, self.inode)) {
            let _ = unlink(&name);
        }
    }
}

/// Wakes the thread that waits for connections at a listener, from which none comes any more.
///
/// Its descriptor may have been closed behind its back: then it cannot be ended, but the thread
/// that waits still hears a knock at its name.
pub fn end(listener: &UnixListener, file: &SocketFile) {
    let _ = rustix::net::shutdown(listener, rustix::net::Shutdown::Both);
    let _ = knock(&file.path);
}

/// Connects without waiting to be let in.
fn knock(path: &Path) -> io::Result<()> {
    let (name, _folder) = short(path)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    Ok(rustix::net::connect(&socket, &SocketAddrUnix::new(&name)?)?)
}

/// Whether a listener's descriptor is none any more: no client comes.
#[must_use]
pub fn is_lost(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::BADF.raw_os_error())
}

/// The mode of a socket: for its owner alone.
const OWNERS: Mode = Mode::RUSR.union(Mode::WUSR);
/// How many may wait to be let in.
const WAITING_MAX: i32 = 128;

/// A process at the other end of a connection.
#[derive(Debug)]
pub struct Peer {
    /// The user that it ran as when it connected.
    pub user: u32,
    /// Its number; 0 if it is not to be seen from here.
    pub process: u32,
    mark: Mark,
}

/// What tells a process from a later one that has its number.
#[derive(Debug)]
enum Mark {
    /// A handle of the kernel's.
    Handle(OwnedFd),
    /// When the process began, where the kernel gives no handles for connections.
    Began(u64),
    /// It had ended, or nothing is known of it.
    Nothing,
}

impl Peer {
    /// Who has connected. Ask at once: before Linux 6.5 a process is known from this on, not from
    /// when it connected.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn of(stream: &UnixStream) -> io::Result<Peer> {
        let peer = sockopt::socket_peercred(stream)?;
        let process = u32::try_from(peer.pid.as_raw_pid()).unwrap_or_default();
        let mark = match peer_handle(stream) {
            Ok(handle) => Mark::Handle(handle),
            Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => mark_of(process),
            Err(_) => Mark::Nothing,
        };
        Ok(Peer { user: peer.uid.as_raw(), process, mark })
    }

    /// Whether the process that has connected still runs. Whatever was looked up by its number
    /// before this is of that process if it does, and may be of another one if it does not.
    #[must_use]
    pub fn lives(&self) -> bool {
        match &self.mark {
            Mark::Handle(handle) => !crate::family::has_ended(handle),
            Mark::Began(began) => crate::family::began(self.process) == Some(*began),
            Mark::Nothing => false,
        }
    }

    /// The process, for a caller that waits for its end; `None` if it has ended, is not to be seen
    /// from here, or the kernel knows no handles of processes.
    #[must_use]
    pub fn handle(&self) -> Option<Process> {
        let process = match &self.mark {
            Mark::Handle(handle) if self.process != 0 => {
                Process::with(self.process, handle.try_clone().ok()?)
            }
            Mark::Began(_) => Process::of(self.process).ok()?,
            _ => return None,
        };
        self.lives().then_some(process)
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

/// What a process of that number is known by from now on.
fn mark_of(process: u32) -> Mark {
    Process::of(process).map_or_else(|_| began_mark(process), |one| Mark::Handle(one.into()))
}

fn began_mark(process: u32) -> Mark {
    crate::family::began(process).map_or(Mark::Nothing, Mark::Began)
}

/// A handle of the process that has connected, which is none of a later one that got its number.
fn peer_handle(stream: &UnixStream) -> io::Result<OwnedFd> {
    let mut handle: libc::c_int = -1;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the number and its length are ours, and as long as is said.
    let asked = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERPIDFD,
            (&raw mut handle).cast(),
            &raw mut length,
        )
    };
    match asked {
        // SAFETY: the kernel has made it for this call.
        0 if handle >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(handle) }),
        0 => Err(io::ErrorKind::InvalidData.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A connection on which everything that is read and written has to be done within one time,
/// however often the other end sends a little.
pub struct InTime<'s> {
    stream: &'s UnixStream,
    begun: Instant,
    limit: Duration,
}

impl<'s> InTime<'s> {
    /// From now on, for so long.
    #[must_use]
    #[allow(clippy::disallowed_methods)] // this is the seam
    pub fn new(stream: &'s UnixStream, limit: Duration) -> InTime<'s> {
        InTime { stream, begun: Instant::now(), limit }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.limit.saturating_sub(self.begun.elapsed());
        if left.is_zero() {
            let text = format!("the other end took longer than {} s", self.limit.as_secs_f32());
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        Ok(left)
    }
}

impl Read for InTime<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        let mut stream = self.stream;
        stream.read(bytes)
    }
}

impl Write for InTime<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        let mut stream = self.stream;
        stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection to the process that listens at a path.
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
        let (listener, _) = listen(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let client = connect(&path).unwrap();
        let peer = Peer::of(&listener.accept().unwrap().0).unwrap();
        assert_eq!((peer.user, peer.process), (geteuid().as_raw(), std::process::id()));
        assert!(peer.lives() && peer.handle().is_some());
        assert!(peer.owns(&folder));
        assert!(!Peer { user: u32::MAX - 7, ..peer }.owns(&folder));
        drop((client, listener));
        assert_eq!(connect(&path).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        drop(listen(&path).unwrap());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(base).unwrap();
    }

    /// Two processes that had one system open took each other's sockets away.
    #[test]
    fn a_name_at_which_somebody_listens_is_taken_neither_by_who_comes_nor_by_who_goes() {
        let name = format!("holdfast-seam-taken-{}", std::process::id());
        let base = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&base).unwrap();
        let path = base.join("some.sock");
        let (first, of_first) = listen(&path).unwrap();
        assert_eq!(listen(&path).map(drop).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        connect(&path).unwrap();
        // Its name is taken away by force, and another listener comes.
        std::fs::remove_file(&path).unwrap();
        let (second, of_second) = listen(&path).unwrap();
        of_first.remove();
        connect(&path).unwrap();
        drop(first);
        // A waiting thread is woken, also where no client could connect any more.
        std::fs::remove_file(&path).unwrap();
        let waiting = second.try_clone().unwrap();
        let waits =
            std::thread::spawn(move || waiting.incoming().take(2).filter(Result::is_err).count());
        end(&second, &of_second);
        assert!(waits.join().unwrap() > 0);
        of_second.remove();
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

    /// A connection that a child has made, which ends after that, and the child's number.
    fn connected_by_a_child(path: &Path) -> (UnixStream, i32) {
        let (name, _folder) = short(path).unwrap();
        let kind = (AddressFamily::UNIX, SocketType::STREAM);
        let socket = rustix::net::socket(kind.0, kind.1, None).unwrap();
        let address = SocketAddrUnix::new(&name).unwrap();
        // SAFETY: the child makes system calls alone, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let connected = rustix::net::connect(&socket, &address).is_ok();
            // SAFETY: it ends the child, and nothing else.
            unsafe { libc::_exit(i32::from(!connected)) };
        }
        (UnixStream::from(socket), child)
    }

    fn reap(child: i32) {
        let mut status = 0;
        // SAFETY: the child is ours.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }

    /// A process that has a number which another one had; `None` where that cannot be brought
    /// about.
    fn another_with(number: i32) -> Option<std::process::Child> {
        for _ in 0..1000 {
            std::fs::write("/proc/sys/kernel/ns_last_pid", (number - 1).to_string()).ok()?;
            let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
            if child.id() == number.cast_unsigned() {
                return Some(child);
            }
            child.kill().unwrap();
            child.wait().unwrap();
        }
        None
    }

    #[test]
    fn a_process_that_has_the_number_of_one_that_connected_is_not_taken_for_it() {
        let name = format!("holdfast-seam-number-{}", std::process::id());
        let base = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&base).unwrap();
        let path = base.join("some.sock");
        let (listener, _) = listen(&path).unwrap();
        for is_let_in_late in [false, true] {
            let (_client, child) = connected_by_a_child(&path);
            let early = (!is_let_in_late).then(|| {
                let stream = listener.accept().unwrap().0;
                let number = child.cast_unsigned();
                (Peer::of(&stream).unwrap(), [mark_of(number), began_mark(number)])
            });
            // The kernel tells beginnings apart that are a tick from each other.
            std::thread::sleep(Duration::from_millis(30));
            reap(child);
            let Some(mut other) = another_with(child) else {
                eprintln!("skipped: no process gets the number that is wanted here");
                break;
            };
            let (peer, marks) = early.unwrap_or_else(|| {
                let stream = listener.accept().unwrap().0;
                (Peer::of(&stream).unwrap(), [Mark::Nothing, Mark::Nothing])
            });
            assert_eq!(peer.process, other.id());
            assert!(crate::family::parent(peer.process).is_some(), "the other one is looked up");
            assert!(matches!(peer.mark, Mark::Handle(_) | Mark::Nothing), "{peer:?}");
            assert!(!peer.lives() && peer.handle().is_none());
            // As it is told where the kernel gives no handles for connections.
            for mark in marks {
                let peer = Peer { user: peer.user, process: peer.process, mark };
                assert!(!peer.lives() && peer.handle().is_none(), "{peer:?}");
            }
            other.kill().unwrap();
            other.wait().unwrap();
        }
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn one_time_is_for_all_that_is_read_or_written() {
        let limit = Duration::from_millis(300);
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let begun = Instant::now();
        let thread = std::thread::spawn(move || {
            while theirs.write_all(b" ").is_ok() && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let error = InTime::new(&ours, limit).read_exact(&mut [0; 1 << 16]).unwrap_err();
        let is_late = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
        };
        assert!(is_late(&error), "{error}");
        let much = vec![0; 64 << 20];
        let error = InTime::new(&ours, limit).write_all(&much).unwrap_err();
        assert!(is_late(&error), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        drop(ours);
        thread.join().unwrap();
    }
}
