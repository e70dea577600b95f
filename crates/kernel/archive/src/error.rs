//! What can go wrong with the archive, in words an operator can act on.

use std::path::PathBuf;

use base::{Code, Coded, GroupNumber, Lsn, SystemId};
use seal::SealError;
use seam::stop::Stopped;
use wal::LogError;

/// Why an archive stays, and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// By what it is needed.
    pub why: String,
    /// What to do if it is to go.
    pub advice: &'static str,
}

/// An error of the archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The configuration cannot work.
    #[error("the archive cannot be configured so: {why}")]
    Config {
        /// What is wrong with it.
        why: String,
    },

    /// The disk refused.
    #[error("cannot {verb} {}: {source}", path.display())]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the disk said.
        source: std::io::Error,
    },

    /// An archive file is not what it should be.
    #[error("archive {} is damaged at {offset}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong.
        why: String,
    },

    /// A file is written by a newer Holdfast (K21).
    #[error("archive {} has version {found}, this Holdfast knows up to {known}", path.display())]
    FutureVersion {
        /// The file.
        path: PathBuf,
        /// The version it says.
        found: u16,
        /// The newest version known here.
        known: u16,
    },

    /// A file of another system has the name.
    #[error("{} belongs to system {system}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        system: SystemId,
    },

    /// A part of the log is neither in an archive nor in the log.
    #[error("{from} of the log is in no archive that can be read, and no longer in the log: {why}")]
    Missing {
        /// The first group that is missing.
        from: GroupNumber,
        /// What was tried.
        why: String,
    },

    /// A position before everything that is archived.
    #[error("log position {lsn} is in no archive and no longer in the log; {oldest} is the oldest")]
    Gone {
        /// The position asked for.
        lsn: Lsn,
        /// The oldest that is left.
        oldest: Lsn,
    },

    /// The log goes on from another group than the archive ends with.
    #[error(
        "{group} of the log does not follow {}: the log was put back, or belongs elsewhere",
        path.display()
    )]
    Fork {
        /// The first group that does not follow.
        group: GroupNumber,
        /// The archive before it.
        path: PathBuf,
    },

    /// The registry could not be told.
    #[error("the archive of {group} cannot be recorded: {why}")]
    Unrecorded {
        /// Its first group.
        group: GroupNumber,
        /// Why.
        why: String,
    },

    /// An archive that a recovery may ask for, or the newest one.
    #[error("archive {} is needed: {}", path.display(), kept.why)]
    Needed {
        /// The file.
        path: PathBuf,
        /// By what, and what helps.
        kept: Kept,
    },

    /// An accumulation could not be recorded.
    #[error("the accumulation cannot be recorded: {why}")]
    Accumulation {
        /// Why.
        why: String,
    },

    /// A folder that must hold archives holds none.
    #[error(
        "{} holds none of the archives that it held: it is not mounted, or was emptied",
        folder.display()
    )]
    Away {
        /// The folder.
        folder: PathBuf,
    },

    /// A folder that is none of the archive's.
    #[error("{} is no folder of the archive", path.display())]
    NoFolder {
        /// What was asked for.
        path: PathBuf,
    },

    /// No such archive.
    #[error("there is no archive that begins with {group}")]
    NoSuch {
        /// What was asked for.
        group: GroupNumber,
    },

    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),

    /// A key could not be had.
    #[error("no key for the archive: {0}")]
    Key(#[from] SealError),

    /// No random bytes could be had; nothing may be sealed.
    #[error("no random bytes for the archive's salt: {0}")]
    Entropy(std::io::Error),

    /// A thread could not be started.
    #[error("the archiver cannot start: {0}")]
    Thread(std::io::Error),

    /// The kernel has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl ArchiveError {
    pub(crate) fn io(
        verb: &'static str,
        path: impl Into<PathBuf>,
        source: std::io::Error,
    ) -> ArchiveError {
        ArchiveError::Io { verb, path: path.into(), source }
    }
}

impl Coded for ArchiveError {
    fn code(&self) -> Code {
        Code(match self {
            ArchiveError::Config { .. } => "HFZ001",
            ArchiveError::Io { .. } => "HFZ002",
            ArchiveError::Damaged { .. } => "HFZ003",
            ArchiveError::FutureVersion { .. } => "HFZ004",
            ArchiveError::Missing { .. } => "HFZ005",
            ArchiveError::Gone { .. } => "HFZ006",
            ArchiveError::Fork { .. } => "HFZ007",
            ArchiveError::Unrecorded { .. } => "HFZ008",
            ArchiveError::Needed { .. } => "HFZ009",
            ArchiveError::NoSuch { .. } => "HFZ010",
            ArchiveError::Entropy(_) => "HFZ011",
            ArchiveError::Thread(_) => "HFZ012",
            ArchiveError::Accumulation { .. } => "HFZ013",
            ArchiveError::Foreign { .. } => "HFZ014",
            ArchiveError::Away { .. } => "HFZ015",
            ArchiveError::NoFolder { .. } => "HFZ016",
            ArchiveError::Log(error) => return error.code(),
            ArchiveError::Key(error) => return error.code(),
            ArchiveError::Stopped(error) => return error.code(),
        })
    }

    fn remedy(&self) -> String {
        match self {
            ArchiveError::Config { .. } => "Correct the section [archive] of holdfast.toml.",
            ArchiveError::Io { .. } => {
                "Make room in that folder, repair it, or name another one in [archive]; the archiver \
                 tries again by itself."
            }
            ArchiveError::Damaged { .. } => {
                "`holdfast archive verify --repair` takes it from its other copy, if that is whole."
            }
            ArchiveError::FutureVersion { .. } => "Start the newer Holdfast.",
            ArchiveError::Foreign { .. } => {
                "Name a folder of this system's own in the section [archive] of holdfast.toml, or \
                 move the other system's files away."
            }
            ArchiveError::Missing { .. } => {
                "Bring back the archives that hold it; without them, recover to a point before."
            }
            ArchiveError::Gone { .. } => {
                "Bring back older archives, or begin with a newer image copy."
            }
            ArchiveError::Fork { .. } => {
                "If the log is the right one, move the archives that do not belong to it elsewhere."
            }
            ArchiveError::Unrecorded { .. } | ArchiveError::Accumulation { .. } => {
                "Repair the place where archives are recorded."
            }
            ArchiveError::Needed { kept, .. } => kept.advice,
            ArchiveError::Away { .. } => {
                "Mount it; the archiver goes on by itself. If what it held is gone for good, \
                 `holdfast archive begin FOLDER` begins anew in it."
            }
            ArchiveError::NoFolder { .. } => "The section [archive] of holdfast.toml names them.",
            ArchiveError::NoSuch { .. } => "`holdfast archive list` shows which there are.",
            ArchiveError::Entropy(_) => "Check the operating system's random number generator.",
            ArchiveError::Thread(_) => "Allow the process more threads.",
            ArchiveError::Log(error) => return error.remedy(),
            ArchiveError::Key(error) => return error.remedy(),
            ArchiveError::Stopped(error) => return error.remedy(),
        }
        .into()
    }
}
