//! What an operator is told about a sequential file, beside the status that the program gets.
//!
//! Invariants:
//! 1. Each names the database and the file.
//! 2. A code keeps its meaning.

use std::io;
use std::path::PathBuf;

use base::{Code, Coded};
use definitions::DbdName;

/// Something is wrong with a sequential file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GsamError {
    /// The definition does not say how records look.
    #[error("GSAM database {dbd}: {why}")]
    Form {
        /// The database.
        dbd: DbdName,
        /// What is missing.
        why: String,
    },

    /// The file cannot be opened.
    #[error("GSAM database {dbd}: {} cannot be opened: {error}", path.display())]
    Open {
        /// The database.
        dbd: DbdName,
        /// The file.
        path: PathBuf,
        /// What the disk says.
        #[source]
        error: io::Error,
    },

    /// Somebody else has the file open: one writes it, and nobody reads it meanwhile.
    #[error("GSAM database {dbd}: {} cannot be opened: {error}", path.display())]
    InUse {
        /// The database.
        dbd: DbdName,
        /// The file.
        path: PathBuf,
        /// Who has it.
        #[source]
        error: io::Error,
    },

    /// Reading, writing or syncing failed.
    #[error("GSAM database {dbd}: {} could not be {verb}: {error}", path.display())]
    Io {
        /// The database.
        dbd: DbdName,
        /// What was attempted, as a participle.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// What the disk says.
        #[source]
        error: io::Error,
    },

    /// A record cannot be used.
    #[error(
        "GSAM database {dbd}: record {record} of {}, at offset {offset}: {why}",
        path.display()
    )]
    Record {
        /// The database.
        dbd: DbdName,
        /// The file.
        path: PathBuf,
        /// Which record since the front or the place of the restart, from 1.
        record: u64,
        /// Where it begins.
        offset: u64,
        /// What is wrong with it.
        why: String,
    },

    /// A restart does not find what the checkpoint knew.
    #[error(
        "GSAM database {dbd}: {} has {found} bytes, and at the checkpoint it had {offset}",
        path.display()
    )]
    Shorter {
        /// The database.
        dbd: DbdName,
        /// The file.
        path: PathBuf,
        /// Its length now.
        found: u64,
        /// The place of the checkpoint.
        offset: u64,
    },

    /// The PCB reads what it wrote at the checkpoint, or the other way round.
    #[error("GSAM database {dbd} was {then} at the checkpoint, and its PCB is for {now} it")]
    Turned {
        /// The database.
        dbd: DbdName,
        /// `read` or `written`.
        then: &'static str,
        /// `reading` or `writing`.
        now: &'static str,
    },
}

impl Coded for GsamError {
    fn code(&self) -> Code {
        match self {
            GsamError::Form { .. } => Code("HFQ001"),
            GsamError::Open { .. } => Code("HFQ002"),
            GsamError::Io { .. } => Code("HFQ003"),
            GsamError::Record { .. } => Code("HFQ004"),
            GsamError::Shorter { .. } => Code("HFQ005"),
            GsamError::Turned { .. } => Code("HFQ006"),
            GsamError::InUse { .. } => Code("HFQ007"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            GsamError::Form { .. } => {
                "Give the DATASET statement of the DBD a RECFM= and a RECORD= that fit."
            }
            GsamError::Open { .. } => {
                "See that the DD names the right file and that it may be opened so."
            }
            GsamError::InUse { .. } => {
                "Let the steps run one after the other, or give each a file of its own."
            }
            GsamError::Io { .. } => {
                "Look after the disk, then restart the program from its last checkpoint."
            }
            GsamError::Record { .. } => {
                "See that the file has the form that the DBD says, and that a file of lines has \
                 ,text behind its path."
            }
            GsamError::Shorter { .. } => {
                "Put the file of that run back, or begin again without restart."
            }
            GsamError::Turned { .. } => "Restart with the PSB that the checkpoint was taken with.",
        }
        .into()
    }
}
