//! An image copy that goes into a pipe with a name, which another process made and reads.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use recovery::{CopySink, RecoveryError};
use rustix::fs::{Mode, OFlags, open};

/// The writing end: where a copy goes.
pub(crate) struct PipeSink {
    path: PathBuf,
    file: File,
}

impl PipeSink {
    pub(crate) fn open(path: &Path) -> Result<PipeSink, RecoveryError> {
        let opened = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
        let file = opened.map_err(|error| failed(path, "opened", error.into()))?;
        Ok(PipeSink { path: path.to_owned(), file: File::from(file) })
    }
}

impl CopySink for PipeSink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), RecoveryError> {
        self.file.write_all(bytes).map_err(|error| failed(&self.path, "written", error))
    }

    fn finish(&mut self) -> Result<Vec<PathBuf>, RecoveryError> {
        Ok(Vec::new())
    }
}

fn failed(path: &Path, verb: &'static str, error: io::Error) -> RecoveryError {
    RecoveryError::Io { path: path.to_owned(), verb, error }
}
