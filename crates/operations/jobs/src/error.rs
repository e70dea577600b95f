//! Why a program does not run.
//!
//! Invariants:
//! 1. What a layer below says keeps its code and its remedy.

use std::path::PathBuf;

use base::Coded as _;
use operations::OperationsError;
use region::RegionError;
use schedule::ScheduleError;
use system::SystemError;
use system::operator::USAGE;

/// An answer or the reason why there is none.
pub type Result<T> = std::result::Result<T, JobsError>;

/// What keeps a program from running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobsError {
    /// The system.
    #[error(transparent)]
    System(#[from] SystemError),
    /// Processes of programs.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// The PSB, its files, its checkpoints.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The databases of the system, or its transaction manager.
    #[error(transparent)]
    Operations(#[from] OperationsError),
    /// A thread that cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
    /// A name that no PSB has.
    #[error("there is no PSB {name}")]
    NoPsb {
        /// The name.
        name: String,
    },
    /// A PSB that does not fit.
    #[error("PSB {name} does not fit its databases: {why}")]
    Misfit {
        /// The PSB.
        name: String,
        /// Why not.
        why: String,
    },
    /// Data that a program would not understand.
    #[error("{what}")]
    Unconverted {
        /// Which, and why.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A path that means nothing.
    #[error("{}: {error}", .path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A folder that is needed.
    #[error("the folder {} cannot be made: {error}", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// A job that is no text.
    #[error("the job cannot be handed to its process: {error}")]
    Handover {
        /// Why not.
        error: serde_json::Error,
    },
    /// Text that is no job.
    #[error("what was handed over is no job: {error}")]
    NoJob {
        /// Why not.
        error: serde_json::Error,
    },
    /// A started system is needed.
    #[error("the system in {} is not started", .dir.display())]
    NotStarted {
        /// Its folder.
        dir: PathBuf,
    },
    /// A program is to have messages.
    #[error("the system processes no transactions, so there are no messages")]
    NoTransactions,
    /// What cannot be a name.
    #[error("a transaction or terminal has a name of up to 8 characters")]
    NoName,
    /// The transaction manager refuses a program.
    #[error("the program gets no messages: {why}")]
    NoMessages {
        /// Why.
        why: String,
    },
    /// A region that is not configured.
    #[error("NO REGION IS CALLED {name}; THERE ARE {all}")]
    NoRegion {
        /// The name.
        name: String,
        /// The names that there are.
        all: String,
    },
    /// A region for a system that ends.
    #[error("THE SYSTEM IS SHUTTING DOWN")]
    ShuttingDown,
    /// One region more than there may be.
    #[error("THERE ARE {max} REGIONS AT MOST")]
    TooManyRegions {
        /// How many there may be.
        max: usize,
    },
}

impl JobsError {
    /// The stable code; what another process refuses has its own.
    #[must_use]
    pub fn code(&self) -> String {
        match self {
            JobsError::System(error) => error.code().to_string(),
            JobsError::Region(error) => error.code().to_string(),
            JobsError::Schedule(error) => error.code().to_string(),
            JobsError::Operations(error) => error.code(),
            own if own.is_usage() => USAGE.to_owned(),
            _ => operations::FAILED.to_string(),
        }
    }

    /// Whether something was asked for that makes no sense.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, JobsError::NoName)
    }

    /// What to do; empty if nothing can be done.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            JobsError::System(error) => error.remedy(),
            JobsError::Region(error) => error.remedy(),
            JobsError::Schedule(error) => error.remedy(),
            JobsError::Operations(error) => error.remedy(),
            JobsError::Unconverted { remedy, .. } => remedy.clone(),
            JobsError::NotStarted { dir } => {
                let dir = dir.display();
                format!("Start it with `holdfast start -s {dir}`, or leave out --type bmp.")
            }
            other => other.own_remedy().to_owned(),
        }
    }

    fn own_remedy(&self) -> &'static str {
        match self {
            JobsError::Thread(_) => "Try again when less runs on this machine.",
            JobsError::NoPsb { .. } => {
                "Correct the name, or compile its source with `holdfast gen`."
            }
            JobsError::Misfit { .. } => "Compile the PSB and its DBDs again with `holdfast gen`.",
            JobsError::Path { .. } => "Give another path.",
            JobsError::Folder { .. } => "Make the system's folder writable.",
            JobsError::Handover { .. } => "Give paths without characters that are no UTF-8.",
            JobsError::NoJob { .. } => "Use the same release of Holdfast on both sides.",
            JobsError::NoTransactions => {
                "Define transactions with `holdfast define`, and start the system again."
            }
            JobsError::NoName => "Correct --in or --out.",
            JobsError::NoMessages { .. } => "Define the transaction, or start it with /START TRAN.",
            JobsError::NoRegion { .. } => {
                "Correct the name, or add it to `regions` of holdfast.toml."
            }
            JobsError::ShuttingDown => "Start it again.",
            JobsError::TooManyRegions { .. } => "Stop others first.",
            _ => "",
        }
    }
}
