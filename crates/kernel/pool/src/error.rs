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
    /// There is a pool of that name.
    #[error("there is a pool {pool} already")]
    Exists {
        /// Its name.
        pool: String,
    },
    /// A pool is wanted larger than it can be.
    #[error("pool {pool} can have {most} frames of {unit_bytes} bytes, not {wanted}")]
    TooLarge {
        /// The pool.
        pool: String,
        /// How many frames are wanted.
        wanted: usize,
        /// How many it may have.
        most: usize,
        /// The unit of its intervals.
        unit_bytes: usize,
    },
    /// A pool is wanted smaller than it can be.
    #[error("pool {pool} needs at least {least} frames, not {wanted}")]
    TooSmall {
        /// The pool.
        pool: String,
        /// How many frames are wanted.
        wanted: usize,
        /// How many it needs.
        least: usize,
    },
    /// There is no memory for a larger pool.
    #[error("there is no memory for {wanted} frames in pool {pool}: {why}")]
    NoMemory {
        /// The pool.
        pool: String,
        /// How many frames are wanted.
        wanted: usize,
        /// What the operating system said.
        why: String,
    },
    /// A pool cannot be made smaller now; it has all its frames again.
    #[error("pool {pool} cannot be made smaller now: {busy} frames stay in use")]
    Busy {
        /// The pool.
        pool: String,
        /// How many frames did not become free.
        busy: usize,
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
            PoolError::TooLarge { .. } => Code("HFP004"),
            PoolError::TooSmall { .. } => Code("HFP005"),
            PoolError::NoMemory { .. } => Code("HFP006"),
            PoolError::Busy { .. } => Code("HFP007"),
            PoolError::Exists { .. } => Code("HFP008"),
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
                "`holdfast verify` says how much is damaged, while the system is in use, too; \
                 `holdfast recover --set {name}` brings it back from image copies and log."
            ),
            PoolError::TooLarge { most, .. } => {
                format!("Ask for at most {most} frames, or start the system with a larger pool.")
            }
            PoolError::TooSmall { pool, least, .. } => format!(
                "Give it at least {least} frames: `holdfast pool resize {pool} --frames {least}`."
            ),
            PoolError::NoMemory { .. } => {
                "Ask for fewer frames, make another pool smaller, or give the machine memory."
                    .into()
            }
            PoolError::Busy { .. } => {
                "Try again when fewer programs run, or leave it more frames.".into()
            }
            PoolError::Exists { .. } => "Give the new pool another name.".into(),
            PoolError::Stopped(stopped) => stopped.remedy(),
        }
    }
}
