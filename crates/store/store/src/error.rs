//! What can go wrong in a keyed store, the same for every implementation.
//!
//! Invariants:
//! 1. An ordinary answer is never an error: a key that is there already, or is not there, is an
//!    [`Outcome`](crate::Outcome); a lock that was not to be had is a [`Grant`](crate::Grant).
//! 2. An error is small (24 bytes), so that results stay in registers and slices of a scan.
//! 3. Every error either leaves the unit of work usable, and then the call did nothing, or
//!    *dooms* it ([`StoreError::dooms_unit`]): all that is left is to back it out.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::{Code, Coded};

use crate::commit_token::CommitToken;
use crate::set::SetId;

/// The result of a call to a store.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Why a store could not do what was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The unit of work was chosen to end a deadlock. Back it out and run it again, with one more
    /// in [`UnitOptions::victim_count`](crate::UnitOptions); [`run`](crate::run()) does so.
    #[error("the unit of work was chosen to end a deadlock")]
    Deadlock,
    /// The unit of work cannot be placed in one order with the others: an engine that does not
    /// lock found out. Back it out and run it again.
    #[error("the unit of work conflicts with another one: {0}")]
    Conflict(Box<str>),
    /// A key stayed locked for longer than the unit of work was willing to wait.
    #[error("{0}")]
    Timeout(Box<Waited>),
    /// Something is larger than the store takes; see [`Capabilities`](crate::Capabilities).
    #[error("{0}")]
    TooLarge(Box<Excess>),
    /// The unit of work has lived longer than the store allows.
    #[error("the unit of work is older than the {0:?} that this store allows")]
    TooOld(Duration),
    /// There is no room for more: in the data set, or on the disk.
    #[error("there is no space left in {0}")]
    NoSpace(Box<str>),
    /// The log stayed full for longer than is waited for that. It may well have room later.
    #[error("{0}")]
    LogFull(Box<str>),
    /// The connection to the engine was lost while it committed, so the outcome is not known yet;
    /// [`Store::resolve`](crate::Store::resolve) finds out.
    #[error("whether the unit of work was committed is not known (token {0})")]
    CommitUnknown(CommitToken),
    /// The engine cannot be reached, or its leader is being replaced.
    #[error("the store cannot be reached: {0}")]
    Unavailable(Box<str>),
    /// The store has stopped for good; restart recovers what it has acknowledged.
    #[error("the store has stopped: {0}")]
    Stopped(Box<str>),
    /// Stored bytes are not what was written.
    #[error("{0}")]
    Damaged(Box<Damage>),
    /// There is no such set, or no longer.
    #[error("there is no set {0}")]
    NoSuchSet(SetId),
    /// A set of that name is there already.
    #[error("a set named {0} is there already")]
    SetExists(Box<str>),
    /// The set cannot be dropped, emptied or loaded while units of work use it.
    #[error("units of work use set {0} at the moment")]
    SetInUse(SetId),
    /// Only an empty set can be loaded in bulk.
    #[error("set {0} is not empty")]
    SetNotEmpty(SetId),
    /// Keys for a bulk load must ascend.
    #[error("the key of entry {0} of the load does not come after the one before it")]
    OutOfOrder(u64),
    /// What a bulk load reads from has failed.
    #[error("what the load reads from has failed: {0}")]
    Source(Arc<dyn std::error::Error + Send + Sync>),
    /// A unit of work that was begun as read-only was asked to change something.
    #[error("the unit of work was begun for reading only")]
    ReadOnly,
    /// The cursor stands on no entry: it has been placed, but has not read.
    #[error("the cursor stands on no entry")]
    NoPosition,
    /// The savepoint belongs to another unit of work, or was rolled back past.
    #[error("there is no such savepoint in this unit of work")]
    NoSuchSavepoint,
    /// This implementation does not offer that; its capabilities say so.
    #[error("this store does not offer {0}")]
    Unsupported(&'static str),
    /// An error of the implementation, with its own code and remedy.
    #[error("{0}")]
    Beneath(Arc<dyn Coded + Send + Sync>),
}

/// A wait for a lock that ended without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waited {
    /// What was to be locked: a set and a key, or a name.
    pub what: String,
    /// For how long the unit of work waited; zero if it was not to wait at all.
    pub waited: Duration,
    /// Who holds it, if the store can say: [`UnitOptions::owner`](crate::UnitOptions) of a holder.
    pub holder: Option<u64>,
}

impl fmt::Display for Waited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was still locked after {:?}", self.what, self.waited)?;
        self.holder.map_or(Ok(()), |holder| write!(f, ", by owner {holder}"))
    }
}

/// Something that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// Which limit.
    pub limit: Limit,
    /// What was asked for.
    pub size: u64,
    /// The most that the store takes.
    pub most: u64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Excess { limit, size, most } = self;
        write!(f, "{limit} of {size} exceeds the {most} that this store takes")
    }
}

/// The limits that a store states in its capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Bytes of one key.
    KeyBytes,
    /// Bytes of one value.
    ValueBytes,
    /// Bytes of a name to be locked.
    LockNameBytes,
    /// Bytes that one unit of work may change.
    UnitBytes,
    /// Changes that one unit of work may make.
    UnitWrites,
    /// Locks that one unit of work may hold.
    UnitLocks,
    /// Savepoints that one unit of work may set.
    Savepoints,
}

impl Limit {
    /// Whether going past it ends the unit of work rather than only the call.
    #[must_use]
    pub fn is_of_unit(self) -> bool {
        matches!(self, Limit::UnitBytes | Limit::UnitWrites | Limit::UnitLocks)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::KeyBytes => "a key length in bytes",
            Limit::ValueBytes => "a value length in bytes",
            Limit::LockNameBytes => "a lock name length in bytes",
            Limit::UnitBytes => "a unit of work's size in bytes",
            Limit::UnitWrites => "a unit of work's number of changes",
            Limit::UnitLocks => "a unit of work's number of locks",
            Limit::Savepoints => "a number of savepoints",
        })
    }
}

/// Stored bytes that are not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The set, data set or log that is damaged.
    pub object: String,
    /// Where, and what is wrong.
    pub detail: String,
    /// The command that recovers it.
    pub recovery: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is damaged: {}", self.object, self.detail)
    }
}

const _: () = assert!(size_of::<StoreError>() <= 24);

impl StoreError {
    /// A limit that was passed.
    #[must_use]
    pub fn too_large(limit: Limit, size: usize, most: usize) -> StoreError {
        StoreError::TooLarge(Box::new(Excess { limit, size: size as u64, most: most as u64 }))
    }

    /// An error of the implementation, kept with its own code and remedy.
    #[must_use]
    pub fn beneath(error: impl Coded + Send + Sync + 'static) -> StoreError {
        StoreError::Beneath(Arc::new(error))
    }

    /// Whether the same unit of work, backed out and run again, may well succeed.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, StoreError::Deadlock | StoreError::Conflict(_))
    }

    /// Whether the unit of work that met this error can only be backed out. Otherwise the call
    /// did nothing and the unit of work goes on.
    #[must_use]
    pub fn dooms_unit(&self) -> bool {
        match self {
            StoreError::TooLarge(excess) => excess.limit.is_of_unit(),
            StoreError::Deadlock
            | StoreError::Conflict(_)
            | StoreError::TooOld(_)
            | StoreError::CommitUnknown(_)
            | StoreError::Unavailable(_)
            | StoreError::Stopped(_)
            | StoreError::Damaged(_)
            | StoreError::Beneath(_) => true,
            _ => false,
        }
    }
}

impl Coded for StoreError {
    fn code(&self) -> Code {
        Code(match self {
            StoreError::Deadlock => "HFT001",
            StoreError::Conflict(_) => "HFT002",
            StoreError::Timeout(_) => "HFT003",
            StoreError::TooLarge(_) => "HFT004",
            StoreError::TooOld(_) => "HFT005",
            StoreError::NoSpace(_) => "HFT006",
            StoreError::CommitUnknown(_) => "HFT007",
            StoreError::Unavailable(_) => "HFT008",
            StoreError::Stopped(_) => "HFT009",
            StoreError::Damaged(_) => "HFT010",
            StoreError::NoSuchSet(_) => "HFT011",
            StoreError::SetExists(_) => "HFT012",
            StoreError::SetInUse(_) => "HFT013",
            StoreError::SetNotEmpty(_) => "HFT014",
            StoreError::OutOfOrder(_) => "HFT015",
            StoreError::Source(_) => "HFT016",
            StoreError::ReadOnly => "HFT017",
            StoreError::NoPosition => "HFT018",
            StoreError::NoSuchSavepoint => "HFT019",
            StoreError::Unsupported(_) => "HFT020",
            StoreError::LogFull(_) => "HFT021",
            StoreError::Beneath(error) => return error.code(),
        })
    }

    fn remedy(&self) -> String {
        match self {
            StoreError::Deadlock | StoreError::Conflict(_) => "Run the unit of work again.",
            StoreError::Timeout(_) => "Find out what the holder is doing, or wait for longer.",
            StoreError::TooLarge(excess) if excess.limit == Limit::UnitLocks => {
                "Commit more often, or raise locks.locks_per_unit_max, and locks.locks_max with it, \
                 in holdfast.toml."
            }
            StoreError::TooLarge(excess) if excess.limit.is_of_unit() => {
                "Commit more often, or raise the limit."
            }
            StoreError::TooLarge(_) => "Store less in one piece.",
            StoreError::TooOld(_) => "Commit more often.",
            StoreError::NoSpace(_) => "Extend what is full, or free space in it.",
            StoreError::LogFull(_) => {
                "Run it again later; end what keeps the log full, or give the log more segments."
            }
            StoreError::CommitUnknown(_) => "Ask the store about the token before going on.",
            StoreError::Unavailable(_) => "Wait for the engine to come back, then try again.",
            StoreError::Stopped(_) => "Repair the cause it names, then start the system again.",
            StoreError::Damaged(damage) => return damage.recovery.clone(),
            StoreError::NoSuchSet(_) => "Define the set, or correct the name.",
            StoreError::SetExists(_) => "Choose another name, or drop that set first.",
            StoreError::SetInUse(_) => "Stop what uses the set, then try again.",
            StoreError::SetNotEmpty(_) => "Empty the set, or insert entry by entry.",
            StoreError::OutOfOrder(_) => "Sort the input by key and remove duplicates.",
            StoreError::Source(_) => "Repair the input, then load again.",
            StoreError::ReadOnly => "Begin the unit of work for updates.",
            StoreError::NoPosition => "Read an entry through the cursor first.",
            StoreError::NoSuchSavepoint => "Set a savepoint in this unit of work first.",
            StoreError::Unsupported(_) => "Choose a store that offers it.",
            StoreError::Beneath(error) => return error.remedy(),
        }
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_which_and_what_to_do() {
        let error = StoreError::too_large(Limit::KeyBytes, 3_000, 2_000);
        assert_eq!(
            error.to_string(),
            "a key length in bytes of 3000 exceeds the 2000 that this store takes"
        );
        assert_eq!(error.code(), Code("HFT004"));
        assert!(!error.remedy().is_empty());
        assert!(!error.dooms_unit());
        assert!(StoreError::too_large(Limit::UnitLocks, 2, 1).dooms_unit());
    }

    #[test]
    fn an_error_from_beneath_keeps_its_code() {
        let below = seam::stop::Stopped { reason: "a sync failed".into() };
        let error = StoreError::beneath(below.clone());
        assert_eq!((error.code(), error.remedy()), (below.code(), below.remedy()));
        assert!(error.dooms_unit() && !error.is_retryable());
    }
}
