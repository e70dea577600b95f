//! An image copy on standard output. The process that has the system open writes it, and that may
//! be another one: the two meet at a pipe with a name, in the system's folder.
//!
//! Invariants:
//! 1. Only the owner of the folder can open the pipe, and it goes away with the command.
//! 2. A side that cannot go on says so: a command whose standard output is closed makes the copy
//!    fail, and a copy that fails makes the command fail. What came out then has no manifest.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open, unlink};
use seam::Seam;

use crate::failure::{Failure, Result};

/// What is read at once.
const CHUNK: usize = 256 << 10;
/// How often it is looked whether everything has come through.
const LOOK: Duration = Duration::from_millis(2);

/// The reading end: a thread that passes everything on to standard output.
pub(crate) struct ToStdout {
    seam: Seam,
    pub(crate) path: PathBuf,
    passed: Arc<AtomicU64>,
    /// Why nothing is passed on any more.
    ended: Arc<OnceLock<io::Error>>,
}

impl ToStdout {
    /// Makes the pipe in the folder of a system, and begins to read it.
    pub(crate) fn begin(seam: &Seam, dir: &Path) -> Result<ToStdout> {
        let path = std::path::absolute(dir)?.join(format!("copy-{}.pipe", std::process::id()));
        // What a process with the same number has left behind.
        let _ = unlink(&path);
        let refused = |error: rustix::io::Errno| {
            let remedy = "Check the permissions of the system's folder.";
            Failure::other(format!("{} cannot be made: {error}", path.display()), remedy)
        };
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).map_err(refused)?;
        // Open for both, so that no thread waits for the other end, and it does not end with it.
        let file = open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(refused)?;
        let (passed, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(OnceLock::new()));
        let (count, over) = (Arc::clone(&passed), Arc::clone(&ended));
        let mut file = File::from(file);
        seam::thread::spawn("copy to stdout", move || {
            let mut buffer = vec![0; CHUNK];
            let error = loop {
                let passed = file.read(&mut buffer).and_then(|read| {
                    seam::standard::output().write_all(&buffer[..read]).map(|()| read)
                });
                match passed {
                    Ok(read) => count.fetch_add(read as u64, SeqCst),
                    Err(error) => break error,
                };
            };
            // The writer of the copy sees a pipe that is broken, and that only: it is said first.
            let _ = over.set(error);
            drop(file);
        })?;
        Ok(ToStdout { seam: seam.clone(), path, passed, ended })
    }

    /// Waits until so many bytes have come through.
    pub(crate) fn wait(&self, bytes: u64) -> Result<()> {
        while self.passed.load(SeqCst) < bytes {
            if let Some(failure) = self.failure() {
                return Err(failure);
            }
            self.seam.clock.sleep(LOOK);
        }
        seam::standard::output().flush()?;
        Ok(())
    }

    /// Why nothing more could be passed on to standard output, if that is so.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let error = self.ended.get()?;
        let what = match error.kind() {
            io::ErrorKind::BrokenPipe => "standard output was closed".to_owned(),
            _ => format!("standard output cannot be written: {error}"),
        };
        Some(Failure::other(what, "What came out is no image copy; make it again."))
    }
}

impl Drop for ToStdout {
    fn drop(&mut self) {
        // If that fails, the next command with this number removes it.
        let _ = unlink(&self.path);
    }
}
