//! What can go wrong with RECON, in words an operator can act on.

use std::io;
use std::path::PathBuf;

use base::{Code, Coded, SystemId};
use seal::SealError;

/// An error of RECON.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReconError {
    /// There are no files.
    #[error("there is no RECON: neither {} is there", list(paths))]
    Missing {
        /// Where it was looked for.
        paths: Vec<PathBuf>,
    },
    /// There is one already.
    #[error("there is a RECON already: {}", path.display())]
    Exists {
        /// A file of it.
        path: PathBuf,
    },
    /// A newer release wrote it.
    #[error("{} was written by a newer release: layout version {version}", path.display())]
    Future {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u16,
    },
    /// It is another system's.
    #[error("{} belongs to system {found}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// That system.
        found: SystemId,
    },
    /// No copy is whole.
    #[error("RECON is damaged: {why}")]
    Damaged {
        /// What is wrong with which file.
        why: String,
    },
    /// Each copy has changes that the other one lacks.
    #[error("the two copies of RECON contradict each other: {why}")]
    Conflict {
        /// What says so.
        why: String,
    },
    /// Reading or writing failed.
    #[error("{} could not be {verb}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was attempted, as a participle.
        verb: &'static str,
        /// What the disk says.
        #[source]
        error: io::Error,
    },
    /// There is no room for a change; it was not recorded, and later ones may be.
    #[error("RECON has no room for a change, {} could not be written: {error}", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What the disk says.
        #[source]
        error: io::Error,
    },
    /// No copy could be written; nothing is recorded any more.
    #[error("no copy of RECON can be written any more: {why}")]
    Lost {
        /// What the disk said.
        why: String,
    },
    /// A change is longer than an entry can be.
    #[error("a change of {bytes} bytes is too long for RECON: at most {bytes_max}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The settings cannot work.
    #[error("RECON cannot be set up so: {why}")]
    Setup {
        /// What is wrong.
        why: &'static str,
    },
    /// Keys or entropy.
    #[error(transparent)]
    Seal(#[from] SealError),
}

impl Coded for ReconError {
    fn code(&self) -> Code {
        match self {
            ReconError::Missing { .. } => Code("HFN001"),
            ReconError::Exists { .. } => Code("HFN002"),
            ReconError::Future { .. } => Code("HFN003"),
            ReconError::Foreign { .. } => Code("HFN004"),
            ReconError::Damaged { .. } => Code("HFN005"),
            ReconError::Conflict { .. } => Code("HFN006"),
            ReconError::Io { .. } => Code("HFN007"),
            ReconError::Lost { .. } => Code("HFN008"),
            ReconError::TooLong { .. } => Code("HFN009"),
            ReconError::Setup { .. } => Code("HFN010"),
            ReconError::Full { .. } => Code("HFN011"),
            ReconError::Seal(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            ReconError::Missing { .. } | ReconError::Damaged { .. } => {
                "Put a copy of the files back, or make RECON anew from archives and image copies: \
                 `holdfast recon rebuild --from FOLDER`, once with each FOLDER of image copies."
            }
            ReconError::Exists { .. } => "Move it away if it is to be made anew.",
            ReconError::Future { .. } => "Use the release that wrote it.",
            ReconError::Foreign { .. } => "Put this system's own file back.",
            ReconError::Conflict { .. } => {
                "Move the copy that is older to another place and start again: it is made anew \
                 from the other one."
            }
            ReconError::Io { .. } | ReconError::Lost { .. } => {
                "Check the device, its space and the permissions, then start again."
            }
            ReconError::Full { .. } => {
                "Free space on its device, then try again; `holdfast doctor` names the device and \
                 what frees it."
            }
            ReconError::TooLong { .. } => "Change less at once.",
            ReconError::Setup { .. } => "Correct the configuration.",
            ReconError::Seal(error) => return error.remedy(),
        }
        .into()
    }
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(" nor ")
}
