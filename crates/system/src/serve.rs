//! The status door of an open system: a Unix socket in its folder that answers one line.
//!
//! 1. Only the owner of the folder can connect: the socket has mode 0600 before it gets its name.
//! 2. A request is the line `status`; the answer is one line of JSON, then the end. Whoever is
//!    slow is dropped after a second, so that nobody keeps others waiting.
//! 3. It reads counters and nothing else: no data, no keys.
//! 4. A socket that a dead process left behind is replaced by the next one to open the system.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use seam::thread::JoinHandle;

use crate::SystemError;
use crate::status::{self, RunningStatus, SystemStatus};
use crate::system::Inner;

/// The socket within a system's folder.
pub const SOCKET: &str = "status.sock";
const REQUEST: &str = "status\n";
const PATIENCE: Duration = Duration::from_secs(1);
const REQUEST_BYTES_MAX: u64 = 64;

/// Answers until it is dropped.
pub(crate) struct StatusServer {
    dir: PathBuf,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle>,
}

impl StatusServer {
    pub(crate) fn start(system: &Arc<Inner>) -> Result<StatusServer, SystemError> {
        let dir = system.dir.clone();
        let path = dir.join(SOCKET);
        let failed = |error| SystemError::io("serve the status at", &path, error);
        let listener = listen(&dir).map_err(failed)?;
        let ended = Arc::new(AtomicBool::new(false));
        let (flag, inner) = (Arc::clone(&ended), Arc::clone(system));
        let body = move || serve(&listener, &flag, &inner);
        let thread = Some(seam::thread::spawn("status", body).map_err(failed)?);
        Ok(StatusServer { dir, ended, thread })
    }
}

impl Drop for StatusServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // The thread sleeps in `accept`; this wakes it. If nobody can connect, it stays asleep
        // until the process ends, which does no harm.
        let woken = connect(&self.dir).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            thread.join();
        }
        let _ = rustix::fs::unlink(self.dir.join(SOCKET));
    }
}

/// Asks the process that has the system in `dir` open. `None` if nobody listens.
///
/// # Errors
/// If somebody listens but does not answer as a Holdfast of this release does.
pub fn ask(dir: &Path) -> io::Result<Option<Box<RunningStatus>>> {
    let mut stream = match connect(dir) {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(None),
        Err(error) => return Err(error),
    };
    stream.set_read_timeout(Some(5 * PATIENCE))?;
    stream.write_all(REQUEST.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    match serde_json::from_str(&answer) {
        Ok(SystemStatus::Running(status)) => Ok(Some(status)),
        Ok(_) => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is of a stopped system"))
        }
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

/// Binds under another name, so that the socket never has its own name with a wider mode.
fn listen(dir: &Path) -> io::Result<UnixListener> {
    let short = ShortPath::of(dir)?;
    let (fresh, name) = (short.join("status.new"), short.join(SOCKET));
    let _ = rustix::fs::unlink(&fresh);
    let listener = UnixListener::bind(&fresh)?;
    std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o600))?;
    rustix::fs::rename(&fresh, &name)?;
    Ok(listener)
}

fn connect(dir: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(ShortPath::of(dir)?.join(SOCKET))
}

/// A folder by its descriptor: socket addresses hold 107 bytes, paths may be longer.
struct ShortPath {
    folder: rustix::fd::OwnedFd,
}

impl ShortPath {
    fn of(dir: &Path) -> io::Result<ShortPath> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(ShortPath { folder: rustix::fs::open(dir, flags, Mode::empty())? })
    }

    fn join(&self, name: &str) -> PathBuf {
        use std::os::fd::AsRawFd;
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd()))
    }
}

fn serve(listener: &UnixListener, ended: &AtomicBool, system: &Arc<Inner>) {
    for stream in listener.incoming() {
        if ended.load(Ordering::SeqCst) {
            return;
        }
        // Whoever does not take the answer goes without; there is nobody to tell.
        let _ = stream.and_then(|stream| answer(&stream, system));
    }
}

fn answer(stream: &UnixStream, system: &Arc<Inner>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(REQUEST_BYTES_MAX)).read_line(&mut line)?;
    let text = if line == REQUEST {
        serde_json::to_string(&SystemStatus::Running(Box::new(status::of_running(system))))?
    } else {
        "{\"error\":\"ask for: status\"}".to_owned()
    };
    let mut stream = stream;
    stream.write_all(text.as_bytes())?;
    stream.write_all(b"\n")
}
