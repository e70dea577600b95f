//! What can go wrong with an interval between disk and memory.

use base::{CiNumber, Code, Coded, DataSetId};
use seam::stop::Stopped;

/// Why an interval could not be had or written.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// Every frame is pinned, or holds changes that cannot be written.
    #[error("pool {pool} has no frame left: all {frames} are pinned by units of work")]
    NoFrames {
        /// The pool.
        pool: String,
        /// How many frames it has.
        frames: usize,
    },
    /// The disk refused to give an interval.
    #[error("data set {name} ({set}): interval {ci} cannot be read: {why}")]
    Read {
        /// The data set's name.
        name: String,
        /// The data set.
        set: DataSetId,
        /// The first interval asked for.
        ci: CiNumber,
        /// What the disk said.
        why: String,
    },
    /// The interval is not what the system wrote there last.
    #[error("data set {name} ({set}): interval {ci} is damaged: {why}")]
    Damaged {
        /// The data set's name.
        name: String,
        /// The data set.
        set: DataSetId,
        /// The interval.
        ci: CiNumber,
        /// What does not fit.
        why: String,
    },
    /// The kernel has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl Coded for PoolError {
    fn code(&self) -> Code {
        match self {
            PoolError::NoFrames { .. } => Code("HFP001"),
            PoolError::Read { .. } => Code("HFP002"),
            PoolError::Damaged { .. } => Code("HFP003"),
            PoolError::Stopped(stopped) => stopped.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            PoolError::NoFrames { .. } => {
                "Give the pool more frames, or run fewer programs.".into()
            }
            PoolError::Read { name, .. } => format!(
                "Check the device and the file system; then run `holdfast verify` for {name}."
            ),
            PoolError::Damaged { name, .. } => format!(
                "Stop the system and run `holdfast verify`; restore {name} from an image copy."
            ),
            PoolError::Stopped(stopped) => stopped.remedy(),
        }
    }
}
