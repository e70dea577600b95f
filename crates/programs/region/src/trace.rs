//! The trace of a program's calls: every call, its search arguments, status and key.
//!
//! Invariants:
//! 1. A call is in the file before the next one is made, so that a trace of a program that died
//!    ends with the call before.
//! 2. A trace that cannot be written does not stop the program; it ends with a last line on the
//!    terminal.

use std::path::Path;
use std::sync::Arc;

use seam::disk::{Create, Disk, File, Open};

use crate::error::RegionError;
use crate::record::CallRecord;

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceForm {
    /// For people: a line for each call, and one for each search argument.
    Text,
    /// For programs: a JSON object a line.
    Json,
}

impl TraceForm {
    /// By the file's name: `.json` and `.jsonl` are JSON.
    #[must_use]
    pub fn of(path: &Path) -> TraceForm {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        if extension == "json" || extension == "jsonl" { TraceForm::Json } else { TraceForm::Text }
    }
}

/// A trace that is being written.
pub struct Trace {
    file: Option<Arc<dyn File>>,
    end: u64,
    form: TraceForm,
}

impl Trace {
    /// Begins a trace, over one that is there.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(disk: &dyn Disk, path: &Path) -> Result<Trace, RegionError> {
        let how = Open { create: Create::IfMissing, write: true, direct: false, dsync: false };
        let file = disk.open(path, how).map_err(RegionError::file(path))?;
        file.set_len(0).map_err(RegionError::file(path))?;
        Ok(Trace { file: Some(file), end: 0, form: TraceForm::of(path) })
    }

    /// Writes a call.
    pub(crate) fn write(&mut self, record: &CallRecord) {
        let Some(file) = &self.file else { return };
        let mut line = match self.form {
            TraceForm::Text => record.to_string(),
            TraceForm::Json => serde_json::to_string(record).unwrap_or_default(),
        };
        line.push('\n');
        if let Err(error) = file.write_at(line.as_bytes(), self.end) {
            eprintln!("the trace ends with call {}: {error}", record.number);
            self.file = None;
        }
        self.end += line.len() as u64;
    }
}
