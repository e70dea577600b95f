//! Why a PSB cannot be scheduled, and how failures become the end of a program.
//!
//! Invariants:
//! 1. Each names the PSB, the database or the file.
//! 2. A code keeps its meaning.

use std::path::PathBuf;

use base::{Code, Coded};
use definitions::{DbdName, PsbName};
use dli::SessionError;
use gsam::GsamError;
use hierarchy::HierarchyError;
use region::{Abend, Failure};
use store::StoreError;

use crate::checkpoint::STEP_BYTES_MAX;

/// What is wrong with a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardFault {
    /// The card, from 1.
    pub card: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong there.
    pub why: String,
}

/// Why a PSB cannot be scheduled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A database cannot be used.
    #[error("PSB {psb} cannot be scheduled: {error}")]
    Database {
        /// The PSB.
        psb: PsbName,
        /// What is wrong.
        error: HierarchyError,
    },
    /// The call engine cannot work with the PSB.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A sequential file has no usable definition.
    #[error(transparent)]
    File(#[from] GsamError),
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A load beside other programs.
    #[error("PSB {psb} loads {dbd}, which no program of a started system can do")]
    LoadOnline {
        /// The PSB.
        psb: PsbName,
        /// The database.
        dbd: DbdName,
    },
    /// Another program keeps this one away.
    #[error("PSB {psb} cannot use {dbd} while PSB {holder} does: one of them has PROCOPT=E")]
    Intent {
        /// The PSB.
        psb: PsbName,
        /// The database.
        dbd: DbdName,
        /// The PSB of the program that runs.
        holder: PsbName,
    },
    /// Operators have closed a database.
    #[error("PSB {psb} cannot be scheduled: database {dbd} is stopped")]
    Closed {
        /// The PSB.
        psb: PsbName,
        /// The database.
        dbd: DbdName,
    },
    /// The control statements of DD DFSHALDB cannot be read.
    #[error("DD DFSHALDB, {}, cannot be read: {error}", path.display())]
    CardsUnread {
        /// The file.
        path: PathBuf,
        /// What the disk says.
        #[source]
        error: std::io::Error,
    },
    /// A card of DD DFSHALDB is no control statement.
    #[error(
        "DD DFSHALDB, {}, card {}, column {}: {}",
        path.display(), fault.card, fault.column, fault.why
    )]
    Card {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        fault: CardFault,
    },
    /// A control statement of DD DFSHALDB does not fit the PSB.
    #[error("DD DFSHALDB, {}, card {card}, does not fit PSB {psb}: {why}", path.display())]
    CardMisfit {
        /// The PSB.
        psb: PsbName,
        /// The file.
        path: PathBuf,
        /// The card.
        card: usize,
        /// Why not.
        why: String,
    },
    /// A file of the step is written while it is also another one of it.
    #[error("{written} would write over {other}: both are {}", path.display())]
    SameFile {
        /// Who writes it, such as `DD OUTFILE`.
        written: String,
        /// Whose it is as well.
        other: String,
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint's name is too long.
    #[error("{0} cannot be the name of a checkpoint")]
    CheckpointName(String),
    /// A step's name is too long, or none.
    #[error("\"{0}\" cannot be the name of a step")]
    StepName(String),
}

impl Coded for ScheduleError {
    fn code(&self) -> Code {
        match self {
            ScheduleError::Database { error, .. } => error.code(),
            ScheduleError::Session(error) => error.code(),
            ScheduleError::File(error) => error.code(),
            ScheduleError::Store(error) => error.code(),
            ScheduleError::CheckpointName(_) => Code("HFJ001"),
            ScheduleError::LoadOnline { .. } => Code("HFJ002"),
            ScheduleError::Intent { .. } => Code("HFJ003"),
            ScheduleError::CardsUnread { .. } => Code("HFJ004"),
            ScheduleError::Card { .. } => Code("HFJ005"),
            ScheduleError::CardMisfit { .. } => Code("HFJ006"),
            ScheduleError::StepName(_) => Code("HFJ007"),
            ScheduleError::SameFile { .. } => Code("HFJ008"),
            ScheduleError::Closed { .. } => Code("HFJ009"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            ScheduleError::Database { error, .. } => error.remedy(),
            ScheduleError::Session(error) => error.remedy(),
            ScheduleError::File(error) => error.remedy(),
            ScheduleError::Store(error) => error.remedy(),
            ScheduleError::LoadOnline { .. } => {
                "Stop the system, and run the load with --type dli.".into()
            }
            ScheduleError::Intent { holder, .. } => {
                format!("Run it when the program with PSB {holder} has ended.")
            }
            ScheduleError::CardsUnread { .. } => "Correct the path behind --dd DFSHALDB=.".into(),
            ScheduleError::Card { .. } => {
                "Write one statement a card, as in HALDB PCB=(2,HIST01) or \
                 HALDB PCB=(HISTPCB,HIST02,NUM=3)."
                    .into()
            }
            ScheduleError::CardMisfit { .. } => {
                "Name a database PCB by its name or its number among the database PCBs, and a \
                 partition of its database, or with PROCSEQ= one of the index."
                    .into()
            }
            ScheduleError::Closed { dbd, .. } => format!("Start it with /START DB {dbd}."),
            ScheduleError::SameFile { written, .. } => format!("Name another file for {written}."),
            ScheduleError::CheckpointName(_) => {
                "Give LAST, a checkpoint's id of up to 8 characters, or its time stamp of 14."
                    .into()
            }
            ScheduleError::StepName(_) => {
                format!("Give up to {STEP_BYTES_MAX} characters, without blanks.")
            }
        }
    }
}

/// An abend with this code.
pub(crate) fn abend(code: &str, text: impl Into<String>) -> Abend {
    Abend { code: code.to_owned(), text: text.into() }
}

/// The abend that an error below leads to: what it says, and what to do.
pub(crate) fn because(code: &str, error: &dyn Coded) -> Abend {
    let remedy = error.remedy();
    let separator = if remedy.is_empty() { "" } else { ". " };
    abend(code, error.with_code() + separator + &remedy)
}

/// The abend of a call that the store could not answer.
#[allow(clippy::needless_pass_by_value)] // as `map_err` hands it over
pub(crate) fn ended(failure: dli::Failure) -> Abend {
    because(failure.abend, &failure.error)
}

/// The abend of something that was stored through the unit of work and could not be.
pub(crate) fn refused(error: &StoreError) -> Abend {
    because(dli::abend_of(error), error)
}

impl ScheduleError {
    /// As a region hands it on.
    #[must_use]
    pub fn failure(&self) -> Failure {
        Failure { code: self.code().to_string(), text: self.to_string(), remedy: self.remedy() }
    }
}
