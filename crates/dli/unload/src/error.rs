//! What can be wrong with an unload file, or with what is to be written into one.
//!
//! Invariant: what is wrong in a file is said with the [`Place`] of the record.

use std::fmt;
use std::io;

use base::{Code, Coded};
use thiserror::Error;

use crate::name::Name;

/// A record of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number, from 1, the header's.
    pub record: u64,
    /// Where it begins in the file, from 0.
    pub offset: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {} at offset {}", self.record, self.offset)
    }
}

/// Why an unload file cannot be read or written.
#[derive(Debug, Error)]
pub enum UnloadError {
    /// Reading or writing failed.
    #[error("the unload file cannot be read or written: {0}")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("this is no HD unload file: expected {expected}, found {found}")]
    Foreign {
        /// What a header has there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// The table of segment types contradicts itself.
    #[error("the segment types are wrong: {0}")]
    Types(String),
    /// A record is not as it must be.
    #[error("{place}: expected {expected}, found {found}")]
    Damaged {
        /// Where.
        place: Place,
        /// What must stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A segment does not stand where the hierarchy has it.
    #[error("{place}: {segment} cannot stand here: {reason}")]
    Order {
        /// Where; in a file that is written, where it would have stood.
        place: Place,
        /// The segment.
        segment: Name,
        /// Why not.
        reason: String,
    },
    /// The file has no trailer.
    #[error("the file ends before its trailer, with {place}")]
    Truncated {
        /// The record that is missing or cut off.
        place: Place,
    },
    /// The trailer counts other segments than there are.
    #[error("{place}: the trailer counts {counted} segments {segment}, the file has {found}")]
    Counts {
        /// The trailer.
        place: Place,
        /// Which.
        segment: Name,
        /// What the trailer says.
        counted: u64,
        /// How many were read.
        found: u64,
    },
    /// There is something behind the trailer.
    #[error("the file goes on behind its trailer, with {place}")]
    Beyond {
        /// What stands there.
        place: Place,
    },
    /// A segment's length is not one that it can have.
    #[error("{place}: {segment} cannot have a length of {length}: {reason}")]
    Length {
        /// Where; in a file that is written, where it would have stood.
        place: Place,
        /// The segment.
        segment: Name,
        /// Its length.
        length: usize,
        /// Why not.
        reason: String,
    },
    /// No segment type has that code.
    #[error("no segment type has the code {0}")]
    UnknownCode(u8),
    /// More segments than the trailer can count.
    #[error("there are more than {max} segments {segment}; a file counts no more", max = u32::MAX)]
    TooMany {
        /// Which.
        segment: Name,
    },
}

impl Coded for UnloadError {
    fn code(&self) -> Code {
        Code(match self {
            UnloadError::Io(_) => "HFF001",
            UnloadError::Foreign { .. } => "HFF002",
            UnloadError::Types(_) => "HFF003",
            UnloadError::Damaged { .. } => "HFF004",
            UnloadError::Order { .. } => "HFF005",
            UnloadError::Truncated { .. } => "HFF006",
            UnloadError::Counts { .. } => "HFF007",
            UnloadError::Beyond { .. } => "HFF008",
            UnloadError::Length { .. } => "HFF009",
            UnloadError::UnknownCode(_) => "HFF010",
            UnloadError::TooMany { .. } => "HFF011",
        })
    }

    fn remedy(&self) -> String {
        match self {
            UnloadError::Io(_) => "Check the file, its permissions and the room on its disk.",
            UnloadError::Foreign { .. } => {
                "Transfer the file in binary and with its record descriptor words (RDW)."
            }
            UnloadError::Types(_) => "Compare the segments with the database definition.",
            UnloadError::Damaged { .. } | UnloadError::Truncated { .. } => {
                "Transfer the file again, in binary and to its end; if that is no help, unload \
                 the database again."
            }
            UnloadError::Order { .. } => {
                "Unload the database again; segments must come in hierarchic order."
            }
            UnloadError::Counts { .. } => {
                "Records were lost or added since the file was made: transfer it or unload again."
            }
            UnloadError::Beyond { .. } => "Give one unload file at a time, without padding.",
            UnloadError::Length { .. } => {
                "Use the database definition that the file was unloaded with."
            }
            UnloadError::UnknownCode(_) => "Use the codes of the segment types that were given.",
            UnloadError::TooMany { .. } => "Unload the database in several parts.",
        }
        .to_owned()
    }
}
