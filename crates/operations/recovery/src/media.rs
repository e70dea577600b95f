//! Where image copies are written to and read from.
//!
//! Invariants:
//! 1. A file gets its name when it is complete and durable. A copy that fails leaves nothing of
//!    those that are not; what a crash leaves is called `.part`.
//! 2. What another copy writes, or has written, is never written over.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seam::Seam;
use seam::disk::{BLOCK, Create, File, Open, is_misplaced, make_dir};
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;

use crate::{RecoveryError, prepare_folder};

/// Takes a copy, front to back.
pub trait CopySink {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn write(&mut self, bytes: &[u8]) -> Result<(), RecoveryError>;

    /// Everything was written: makes it durable. Returns where it is; nothing for a pipe.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn finish(&mut self) -> Result<Vec<PathBuf>, RecoveryError>;
}

/// A copy in one or several files, all with the same bytes.
pub struct CopyFiles {
    seam: Seam,
    files: Vec<(PathBuf, Arc<dyn File>)>,
    /// How many of them have their names.
    named: usize,
    at: u64,
    gathered: AlignedBuf,
    filled: usize,
}

/// What is written at once.
const CHUNK: usize = 1 << 20;

impl CopyFiles {
    /// Begins files of these names; their folders are made.
    ///
    /// # Errors
    /// Whatever the disk says; a file of that name is there already.
    pub fn begin(seam: &Seam, paths: &[PathBuf]) -> Result<CopyFiles, RecoveryError> {
        let (files, gathered) = (Vec::new(), AlignedBuf::zeroed(CHUNK));
        let (seam_kept, named, at, filled) = (seam.clone(), 0, 0, 0);
        let mut begun = CopyFiles { seam: seam_kept, files, named, at, gathered, filled };
        for path in paths {
            let io = |error| RecoveryError::Io { path: path.clone(), verb: "made", error };
            if seam.disk.exists(path).map_err(io)? {
                return Err(io(io::ErrorKind::AlreadyExists.into()));
            }
            make_dir(seam.disk.as_ref(), folder_of(path)).map_err(io)?;
            let file =
                seam.disk.open(&part(path), Open::DATA.create(Create::IfMissing)).map_err(io)?;
            // Another system's copy may have the same name, and be under way.
            file.hold(true).map_err(io)?;
            if is_misplaced(seam.disk.as_ref(), &part(path), file.as_ref()) {
                return Err(io(io::ErrorKind::AlreadyExists.into()));
            }
            file.set_len(0).map_err(io)?;
            begun.files.push((path.clone(), file));
        }
        Ok(begun)
    }

    /// Writes what was gathered, and zeros behind it up to the end of a block.
    fn flush(&mut self) -> Result<(), RecoveryError> {
        if self.filled == 0 {
            return Ok(());
        }
        let whole = self.filled.next_multiple_of(BLOCK);
        self.gathered[self.filled..whole].fill(0);
        for (path, file) in &self.files {
            let io = |error| RecoveryError::Io { path: path.clone(), verb: "written", error };
            file.write_at(&self.gathered[..whole], self.at).map_err(io)?;
        }
        self.at += self.filled as u64;
        self.filled = 0;
        Ok(())
    }
}

impl CopySink for CopyFiles {
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), RecoveryError> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(CHUNK - self.filled));
            self.gathered[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = rest;
            if self.filled == CHUNK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<PathBuf>, RecoveryError> {
        self.flush()?;
        let disk = &self.seam.disk;
        for (path, file) in &self.files {
            let io = |verb| move |error| RecoveryError::Io { path: path.clone(), verb, error };
            file.set_len(self.at).map_err(io("cut"))?;
            if !armed(Failpoint::CopyUnsynced) {
                file.sync().map_err(io("synced"))?;
            }
            prepare_folder(disk.as_ref(), folder_of(path)).map_err(io("marked"))?;
            if disk.exists(path).map_err(io("renamed"))? {
                return Err(io("renamed")(io::ErrorKind::AlreadyExists.into()));
            }
            disk.rename(&part(path), path).map_err(io("renamed"))?;
            self.named += 1;
            disk.sync_dir(folder_of(path)).map_err(io("synced"))?;
        }
        Ok(self.files.iter().map(|(path, _)| path.clone()).collect())
    }
}

impl Drop for CopyFiles {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        for (path, _) in &self.files[self.named..] {
            // It would take the room that may have been missing.
            let _ = self.seam.disk.remove(&part(path));
        }
    }
}

/// Reads a file from front to back.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    file: Arc<dyn File>,
    len: u64,
    at: u64,
    window: Vec<u8>,
    from: usize,
}

impl Source {
    pub(crate) fn open(seam: &Seam, path: &Path) -> Result<Source, RecoveryError> {
        let io = |verb| move |error| RecoveryError::Io { path: path.to_owned(), verb, error };
        let file = seam.disk.open(path, Open::READ).map_err(io("opened"))?;
        let len = file.len().map_err(io("measured"))?;
        Ok(Source { path: path.to_owned(), file, len, at: 0, window: Vec::new(), from: 0 })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.len
    }

    /// Goes on from another place.
    pub(crate) fn seek(&mut self, at: u64) {
        self.window.clear();
        (self.at, self.from) = (at.min(self.len), 0);
    }

    /// Fills `out` with the next bytes; `false` if the file ends before.
    pub(crate) fn take(&mut self, out: &mut [u8]) -> Result<bool, RecoveryError> {
        let mut filled = 0;
        while filled < out.len() {
            if self.from == self.window.len() && !self.refill()? {
                return Ok(false);
            }
            let count = (out.len() - filled).min(self.window.len() - self.from);
            out[filled..filled + count].copy_from_slice(&self.window[self.from..self.from + count]);
            filled += count;
            self.from += count;
        }
        Ok(true)
    }

    /// Reads what stands at a place; `false` if the file does not give it.
    pub(crate) fn read_at(&self, at: u64, out: &mut [u8]) -> bool {
        at + out.len() as u64 <= self.len && self.file.read_at(out, at).is_ok()
    }

    fn refill(&mut self) -> Result<bool, RecoveryError> {
        let count = (CHUNK as u64).min(self.len - self.at) as usize;
        self.window.resize(count, 0);
        self.from = 0;
        if count == 0 {
            return Ok(false);
        }
        let path = &self.path;
        let io = |error| RecoveryError::Io { path: path.clone(), verb: "read", error };
        self.file.read_at(&mut self.window, self.at).map_err(io)?;
        self.at += count as u64;
        Ok(true)
    }
}

/// Whether a file of that name is of an image copy that was not finished.
#[must_use]
pub fn is_unfinished(name: &Path) -> bool {
    let name = name.to_string_lossy();
    name.strip_suffix(PART).is_some_and(|whole| whole.ends_with(".copy"))
}

const PART: &str = ".part";

fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PART);
    name.into()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
