//! The writing end of a pipe with a name, which another process made and reads: image copies and
//! databases go through such.
//!
//! Invariants:
//! 1. Who asks says what the pipe's name is, and this process has rights of its own. So nothing is
//!    opened but a pipe, of the owner of the system or of root, that no other user can open; and
//!    that a link leads to is none.
//! 2. No process is waited for without end: a pipe is opened at once or not at all, and a reader
//!    who takes nothing for two minutes is one that has gone.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recovery::{CopySink, RecoveryError};
use rustix::fs::{FileType, Mode, OFlags, fstat, open, stat};
use rustix::io::Errno;
use rustix::process::geteuid;
use seam::clock::Clock;

/// How long a reader may take nothing.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at a pipe that is full.
const LOOK: Duration = Duration::from_millis(2);

/// The writing end.
pub(crate) struct Pipe {
    file: File,
    clock: Arc<dyn Clock>,
}

impl Pipe {
    /// Opens a pipe that has a reader; `dir` is the system's folder.
    ///
    /// # Errors
    /// If there is none, it has no reader, or it is none (1).
    pub(crate) fn open(path: &Path, dir: &Path, clock: &Arc<dyn Clock>) -> io::Result<Pipe> {
        // Neither a pipe without a reader nor a device is waited for.
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let refused = |why: &str| Err(io::Error::new(ErrorKind::InvalidInput, why));
        let file = match open(path, flags, Mode::empty()) {
            Err(Errno::LOOP) => return refused("it is a link, and no pipe"),
            Err(Errno::NXIO) => return refused("nobody reads it"),
            opened => opened?,
        };
        let found = fstat(&file)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Fifo {
            return refused("it is no pipe");
        }
        let owners = [0, geteuid().as_raw(), stat(dir)?.st_uid];
        if !owners.contains(&found.st_uid) || found.st_mode & 0o077 != 0 {
            return refused("others than the system's owner can open it");
        }
        Ok(Pipe { file: File::from(file), clock: Arc::clone(clock) })
    }

    /// Writes everything; `goes_on` is asked whenever the pipe is full.
    ///
    /// # Errors
    /// What `goes_on` says; there is no reader any more (2).
    pub(crate) fn write(
        &mut self,
        bytes: &[u8],
        goes_on: &mut dyn FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut rest, mut taken) = (bytes, self.clock.monotonic());
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(count) => {
                    rest = &rest[count..];
                    taken = self.clock.monotonic();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    goes_on()?;
                    if self.clock.monotonic().saturating_sub(taken) > PATIENCE {
                        let why = format!("nobody has read it for {} s", PATIENCE.as_secs());
                        return Err(io::Error::new(ErrorKind::TimedOut, why));
                    }
                    self.clock.sleep(LOOK);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Where an image copy goes.
pub(crate) struct PipeSink {
    path: PathBuf,
    pipe: Pipe,
}

impl PipeSink {
    pub(crate) fn open(
        path: &Path,
        dir: &Path,
        clock: &Arc<dyn Clock>,
    ) -> Result<PipeSink, RecoveryError> {
        let opened = Pipe::open(path, dir, clock);
        let pipe = opened.map_err(|error| failed(path, "opened", error))?;
        Ok(PipeSink { path: path.to_owned(), pipe })
    }
}

impl CopySink for PipeSink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), RecoveryError> {
        let written = self.pipe.write(bytes, &mut || Ok(()));
        written.map_err(|error| failed(&self.path, "written", error))
    }

    fn finish(&mut self) -> Result<Vec<PathBuf>, RecoveryError> {
        Ok(Vec::new())
    }
}

fn failed(path: &Path, verb: &'static str, error: io::Error) -> RecoveryError {
    RecoveryError::Io { path: path.to_owned(), verb, error }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::disallowed_methods)] // a test that fails says where
mod tests {
    use super::*;
    use rustix::fs::{CWD, chmod, mknodat};
    use std::io::Read as _;

    /// A key file was overwritten by a copy, and a pipe without a reader stopped the system.
    #[test]
    fn only_a_pipe_of_the_owner_that_somebody_reads_is_written_to() {
        let dir = std::env::temp_dir().join(format!("holdfast-pipe-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let clock = seam::Seam::real().clock;
        let refused = |name: &str, why: &str| {
            let text = Pipe::open(&dir.join(name), &dir, &clock).map(drop).unwrap_err().to_string();
            assert!(text.contains(why), "{name}: {text}");
        };
        std::fs::write(dir.join("file"), "keys").unwrap();
        refused("file", "no pipe");
        assert_eq!(std::fs::read(dir.join("file")).unwrap(), b"keys");
        let path = dir.join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        refused("pipe", "nobody reads it");
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut reader = File::from(open(&path, flags, Mode::empty()).unwrap());
        std::os::unix::fs::symlink(&path, dir.join("link")).unwrap();
        refused("link", "a link");
        chmod(&path, Mode::from_raw_mode(0o620)).unwrap();
        refused("pipe", "others");
        chmod(&path, Mode::from_raw_mode(0o600)).unwrap();
        let mut pipe = Pipe::open(&path, &dir, &clock).unwrap();
        // More than it holds: the caller is heard while there is no reader, and nothing is lost.
        let bytes: Vec<u8> = (0..1 << 18).map(|at: u32| at as u8).collect();
        let mut read = Vec::new();
        let mut asked = 0;
        let mut take = || {
            asked += 1;
            let mut some = vec![0; 50_000];
            let count = reader.read(&mut some)?;
            read.extend_from_slice(&some[..count]);
            Ok(())
        };
        pipe.write(&bytes, &mut take).unwrap();
        drop(pipe);
        assert!(asked > 0);
        reader.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
        let mut pipe = Pipe::open(&path, &dir, &clock).unwrap();
        let stopped = &mut || Err(io::Error::other("it is being stopped"));
        let text = pipe.write(&bytes, stopped).unwrap_err().to_string();
        assert_eq!(text, "it is being stopped");
        drop(reader);
        assert_eq!(pipe.write(&bytes, stopped).unwrap_err().kind(), ErrorKind::BrokenPipe);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
