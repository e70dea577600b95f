//! A file that is open, whatever it is: what the state machine asks of it.
//!
//! Invariants:
//! 1. Which requests are allowed, the state machine has decided ([`crate::handler`]). A body says
//!    what came of them.
//! 2. What is refused has changed nothing.

use crate::opcode::Relation;
use crate::status::FileStatus;

/// The result of a request.
pub type Done<T> = Result<T, FileStatus>;

/// A record that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// 00, 02 or 04.
    pub status: FileStatus,
    /// Its number, in a relative file.
    pub number: Option<u64>,
}

impl Found {
    /// Without anything to remark.
    #[must_use]
    pub fn plain() -> Found {
        Found { status: FileStatus::DONE, number: None }
    }
}

/// How a record is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// The one that was read last.
    Current,
    /// By the value of a key, perhaps of its first bytes only.
    Key {
        /// The key's number; 0 is the prime key.
        number: usize,
        /// Its value.
        value: &'a [u8],
    },
    /// By its relative number.
    Number(u64),
}

/// Where a record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// At the end, or in sequence of keys.
    pub in_sequence: bool,
    /// Its number, in a relative file that is not written in sequence; otherwise the greatest that
    /// the program can be told.
    pub number: u64,
    /// What ADVANCING says, in libcob's bits.
    pub options: u32,
}

/// A file that is open.
pub trait Body: Send {
    /// Reads the next record, or the previous one.
    ///
    /// # Errors
    /// [`FileStatus::END`], or what went wrong.
    fn read_next(&mut self, previous: bool, record: &mut Vec<u8>) -> Done<Found>;

    /// Reads a record by its key or number; the next one is read from there.
    ///
    /// # Errors
    /// [`FileStatus::NOT_FOUND`], or what went wrong.
    fn read(&mut self, which: Which<'_>, record: &mut Vec<u8>) -> Done<Found> {
        let _ = (which, record);
        Err(FileStatus::LOGIC)
    }

    /// Takes a place: the next record is read from there.
    ///
    /// # Errors
    /// [`FileStatus::NOT_FOUND`], or what went wrong.
    fn start(&mut self, relation: Relation, which: Which<'_>) -> Done<()> {
        let _ = (relation, which);
        Err(FileStatus::LOGIC)
    }

    /// Writes a new record; says its number, in a relative file.
    ///
    /// # Errors
    /// What went wrong.
    fn write(&mut self, record: &[u8], place: Place) -> Done<Found>;

    /// Replaces a record.
    ///
    /// # Errors
    /// What went wrong.
    fn rewrite(&mut self, record: &[u8], which: Which<'_>) -> Done<FileStatus> {
        let _ = (record, which);
        Err(FileStatus::LOGIC)
    }

    /// Removes a record.
    ///
    /// # Errors
    /// What went wrong.
    fn delete(&mut self, which: Which<'_>) -> Done<()> {
        let _ = which;
        Err(FileStatus::LOGIC)
    }

    /// What VSAM has said to the last request, which was refused: return code, function, feedback.
    fn feedback(&self) -> [u8; 3] {
        [0; 3]
    }

    /// Closes it: what was written is durable then.
    ///
    /// # Errors
    /// What went wrong. The file is closed all the same.
    fn close(&mut self) -> Done<()>;
}

/// An optional file that is not there.
#[derive(Debug, Default)]
pub struct Absent {
    at_end: bool,
}

impl Body for Absent {
    fn read_next(&mut self, _previous: bool, _record: &mut Vec<u8>) -> Done<Found> {
        Err(if std::mem::replace(&mut self.at_end, true) {
            FileStatus::NO_NEXT
        } else {
            FileStatus::END
        })
    }

    fn read(&mut self, _which: Which<'_>, _record: &mut Vec<u8>) -> Done<Found> {
        Err(FileStatus::NOT_FOUND)
    }

    fn start(&mut self, _relation: Relation, _which: Which<'_>) -> Done<()> {
        Err(FileStatus::NOT_FOUND)
    }

    fn write(&mut self, _record: &[u8], _place: Place) -> Done<Found> {
        Err(FileStatus::LOGIC)
    }

    fn close(&mut self) -> Done<()> {
        Ok(())
    }
}

/// Several files, read one after the other.
pub struct Chain {
    bodies: Vec<Box<dyn Body>>,
    at: usize,
}

impl Chain {
    /// These, in this order.
    #[must_use]
    pub fn new(bodies: Vec<Box<dyn Body>>) -> Chain {
        Chain { bodies, at: 0 }
    }
}

impl Body for Chain {
    fn read_next(&mut self, previous: bool, record: &mut Vec<u8>) -> Done<Found> {
        if previous {
            return Err(FileStatus::LOGIC);
        }
        while let Some(body) = self.bodies.get_mut(self.at) {
            match body.read_next(false, record) {
                Err(FileStatus::END) => self.at += 1,
                found => return found,
            }
        }
        Err(FileStatus::END)
    }

    fn write(&mut self, _record: &[u8], _place: Place) -> Done<Found> {
        Err(FileStatus::LOGIC)
    }

    fn close(&mut self) -> Done<()> {
        let closed: Vec<Done<()>> = self.bodies.iter_mut().map(|body| body.close()).collect();
        closed.into_iter().collect()
    }
}
