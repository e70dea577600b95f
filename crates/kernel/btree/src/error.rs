//! What can go wrong with a tree.

use base::{CiNumber, Code, Coded, DataSetId};
use pool::PoolError;
use uow::UowError;

/// Why a tree could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The key is longer than intervals of this size allow.
    #[error("a key of {bytes} bytes is too long for data set {name}: the limit is {bytes_max}")]
    KeyTooLong {
        /// The data set.
        name: String,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        bytes_max: usize,
    },
    /// The value is longer than any value may be.
    #[error("a value of {bytes} bytes is too long for data set {name}: the limit is {bytes_max}")]
    ValueTooLong {
        /// The data set.
        name: String,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        bytes_max: usize,
    },
    /// Bulk load wants an empty data set.
    #[error("data set {name} is not empty and cannot be loaded")]
    NotEmpty {
        /// The data set.
        name: String,
    },
    /// Bulk load wants ascending keys.
    #[error("record {record} of the load of data set {name} is not above the one before it")]
    NotAscending {
        /// The data set.
        name: String,
        /// Which record, counted from 1.
        record: u64,
    },
    /// An interval is genuine but makes no sense as a part of the tree.
    #[error("data set {name} ({set}): the tree is damaged at interval {ci}: {why}")]
    Damaged {
        /// The data set's name.
        name: String,
        /// The data set.
        set: DataSetId,
        /// Where.
        ci: CiNumber,
        /// What does not fit.
        why: String,
    },
    /// Intervals.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// Units of work, the log, space.
    #[error(transparent)]
    Uow(#[from] UowError),
}

impl Coded for TreeError {
    fn code(&self) -> Code {
        match self {
            TreeError::KeyTooLong { .. } => Code("HFB001"),
            TreeError::ValueTooLong { .. } => Code("HFB002"),
            TreeError::NotEmpty { .. } => Code("HFB003"),
            TreeError::NotAscending { .. } => Code("HFB004"),
            TreeError::Damaged { .. } => Code("HFB005"),
            TreeError::Pool(error) => error.code(),
            TreeError::Uow(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            TreeError::KeyTooLong { .. } => {
                "Define the data set with larger intervals, or use shorter keys.".into()
            }
            TreeError::ValueTooLong { .. } => "Break the value into several records.".into(),
            TreeError::NotEmpty { name } => {
                format!("Empty {name} first, or insert the records one by one.")
            }
            TreeError::NotAscending { .. } => "Sort the records by key, without duplicates.".into(),
            TreeError::Damaged { name, .. } => format!(
                "`holdfast verify` says how much is damaged, while the system is in use, too; \
                 `holdfast recover --set {name}` brings it back from image copies and log."
            ),
            TreeError::Pool(error) => error.remedy(),
            TreeError::Uow(error) => error.remedy(),
        }
    }
}

impl From<TreeError> for UowError {
    fn from(error: TreeError) -> UowError {
        match error {
            TreeError::Uow(error) => error,
            TreeError::Pool(error) => error.into(),
            TreeError::Damaged { name, ci, why, .. } => {
                UowError::Damaged { object: format!("interval {ci} of data set {name}"), why }
            }
            other => UowError::Damaged { object: "a tree".into(), why: other.to_string() },
        }
    }
}
