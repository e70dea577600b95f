//! Where a request is in a file, and how it is to proceed: an RPL.

use store::Store;

use crate::feedback::{Rba, RecordNumber};

/// What is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'k> {
    /// The first record.
    First,
    /// The last record.
    Last,
    /// By key: the prime key, or through a path the alternate key.
    Key(&'k [u8]),
    /// By the leading bytes of the key.
    Generic(&'k [u8]),
    /// By relative record number.
    Number(RecordNumber),
    /// By relative byte address.
    Rba(Rba),
}

/// Which record a target stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Match {
    /// The one that equals it (KEQ).
    #[default]
    Equal,
    /// The first that is not less (KGE).
    GreaterOrEqual,
    /// The first that is greater.
    Greater,
    /// The last that is not greater.
    LessOrEqual,
    /// The last that is less.
    Less,
}

/// In which direction a search and the requests after it go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Ascending (FWD).
    #[default]
    Forward,
    /// Descending (BWD).
    Backward,
}

/// What to seek, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search<'k> {
    /// What.
    pub target: Target<'k>,
    /// Which of those near it.
    pub by: Match,
    /// Where to go from there.
    pub direction: Direction,
}

impl<'k> Search<'k> {
    /// The record that equals the target.
    #[must_use]
    pub fn equal(target: Target<'k>) -> Search<'k> {
        Search { target, by: Match::Equal, direction: Direction::Forward }
    }

    /// By another comparison.
    #[must_use]
    pub fn by(target: Target<'k>, by: Match) -> Search<'k> {
        Search { target, by, direction: Direction::Forward }
    }

    /// The same, to go on backward from there.
    #[must_use]
    pub fn backward(self) -> Search<'k> {
        Search { direction: Direction::Backward, ..self }
    }
}

/// Why a record is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intent {
    /// To look at it: it is not locked, and may be changed by another unit of work that is not
    /// committed yet.
    #[default]
    Look,
    /// To look at what is committed: it stays as it is to the end of the unit of work.
    Keep,
    /// To rewrite or erase it (UPD): it stays locked to the end of the unit of work.
    Update,
}

/// How records are addressed: what an RPL says with KEY and ADR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// By key or number.
    Keyed,
    /// By address.
    Addressed,
}

/// A place in a file. It belongs to the file that made it.
pub struct Position<S: Store> {
    pub(crate) cursor: S::Cursor,
}
