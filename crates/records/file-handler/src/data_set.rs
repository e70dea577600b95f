//! Data sets of a catalog, as the handler opens them.

use crate::body::{Body, Done};
use crate::fcd::{Access, KeyDefinition, OpenMode};
use crate::machine::Shape;
use crate::status::FileStatus;

/// What a program opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The cluster or path.
    pub data_set: String,
    /// For each key of the program the path that serves it, if a DD names one; none for the prime
    /// key.
    pub paths: Vec<Option<String>>,
    /// What the program says of its records.
    pub shape: Shape,
    /// What it is opened for.
    pub mode: OpenMode,
    /// How it is gone through.
    pub access: Access,
    /// The program's keys.
    pub keys: Vec<KeyDefinition>,
}

/// Who has data sets.
pub trait DataSets: Send {
    /// Opens one; answers 00 or 05 with it.
    ///
    /// # Errors
    /// Why it cannot be opened.
    fn open(&mut self, opening: &Opening) -> Done<(Box<dyn Body>, FileStatus)>;

    /// Takes all records away, so that the data set is as one that never had any: what DELETE FILE
    /// does. Its definition stays.
    ///
    /// # Errors
    /// If it is not there, in use, or cannot be emptied.
    fn empty(&mut self, data_set: &str) -> Done<()> {
        let _ = data_set;
        Err(FileStatus::MODE)
    }

    /// Begins or ends a unit of work over all of them, where the program has one of its own.
    ///
    /// # Errors
    /// If it has none, or what it has changed was backed out.
    fn unit(&mut self, code: u8) -> Done<()> {
        let _ = code;
        Err(FileStatus::LOGIC)
    }
}
