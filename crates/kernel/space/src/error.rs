//! What can go wrong with a data set as a whole.

use std::path::PathBuf;

use base::{Code, Coded, DataSetId, SystemId};
use pool::PoolError;
use seal::SealError;

/// Why a data set cannot be made, opened or extended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// The disk said no.
    #[error("data set {name}: {path} cannot be {verb}: {source}", path = path.display())]
    Io {
        /// The data set.
        name: String,
        /// The file.
        path: PathBuf,
        /// Past participle of what was tried.
        verb: &'static str,
        /// What the disk said.
        source: std::io::Error,
    },
    /// The device is full, or the data set has reached the size its map can describe.
    #[error("data set {name} ({set}) cannot grow beyond {intervals} intervals: {why}")]
    NoSpace {
        /// The data set.
        name: String,
        /// Its number.
        set: DataSetId,
        /// How many it has.
        intervals: u32,
        /// What stands in the way.
        why: String,
    },
    /// A definition or header that does not decode.
    #[error("{what} does not decode: {why}")]
    Decode {
        /// Which structure.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// Where its files were to stand is another system's.
    #[error("data set {name}: {} belongs to the system {system}", path.display())]
    Foreign {
        /// The data set.
        name: String,
        /// The folder, or the file that is there.
        path: PathBuf,
        /// Whose it is.
        system: SystemId,
    },
    /// Keys.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// Intervals.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

impl Coded for SpaceError {
    fn code(&self) -> Code {
        match self {
            SpaceError::Io { .. } => Code("HFD001"),
            SpaceError::NoSpace { .. } => Code("HFD002"),
            SpaceError::Decode { .. } => Code("HFD003"),
            SpaceError::Foreign { .. } => Code("HFD004"),
            SpaceError::Seal(error) => error.code(),
            SpaceError::Pool(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            SpaceError::Io { name, path, .. } => format!(
                "Check that {} is there and belongs to this user. If it is gone for good, \
                 `holdfast recover --set {name}` brings the data set back.",
                path.display()
            ),
            SpaceError::NoSpace { .. } => {
                "Free space on the device, or define the data set with larger intervals.".into()
            }
            SpaceError::Decode { .. } => {
                "If a newer release wrote it, use that release; otherwise restore a copy.".into()
            }
            SpaceError::Foreign { .. } => {
                "Let data.folders in holdfast.toml name folders that are this system's alone."
                    .into()
            }
            SpaceError::Seal(error) => error.remedy(),
            SpaceError::Pool(error) => error.remedy(),
        }
    }
}
