//! Where a request is in a file, and how it is to proceed: an RPL.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use store::{Cursor as _, Position as At, Store};

use crate::ahead::Ahead;
use crate::feedback::{Rba, RecordNumber};
use crate::share::{Counts, Sphere};
use crate::upgrade::Scratch;

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

/// A place in a file, what was read for update there, and buffers for requests. It belongs to the
/// file that made it.
pub struct Position<S: Store> {
    /// In the set that the file goes through: the base's, or an index's.
    pub(crate) cursor: S::Cursor,
    /// One step further, where duplicates of an alternate key are looked for.
    pub(crate) peek: Option<S::Cursor>,
    pub(crate) scratch: Scratch<S>,
    /// The file.
    pub(crate) file: u64,
    /// Sequential requests know where to go on.
    pub(crate) placed: bool,
    /// The record with this key of the base was read for update.
    pub(crate) held: bool,
    pub(crate) base_key: Vec<u8>,
    /// The key that was written last by a load or an extension.
    pub(crate) written: Option<Vec<u8>>,
    pub(crate) area_bytes: Option<u32>,
    pub(crate) access: Option<Access>,
    pub(crate) buffers: Buffers,
    /// Rows of a handler that were read ahead.
    pub(crate) ahead: Ahead,
    pub(crate) counts: Counts,
    pub(crate) sphere: Arc<Sphere>,
    pub(crate) string: Arc<Strings>,
}

/// Memory that requests use again.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) value: Vec<u8>,
    pub(crate) old: Vec<u8>,
    pub(crate) old_arrivals: Vec<u64>,
    pub(crate) arrivals: Vec<u64>,
    pub(crate) bound: Vec<u8>,
}

/// The strings of a file: how many positions it has, and may have.
pub(crate) struct Strings {
    pub(crate) most: u32,
    pub(crate) taken: AtomicU32,
}

impl Strings {
    /// Takes one, if one is left.
    pub(crate) fn take(&self) -> bool {
        let more = |taken: u32| (taken < self.most).then_some(taken + 1);
        self.taken.fetch_update(Relaxed, Relaxed, more).is_ok()
    }
}

impl<S: Store> Position<S> {
    /// The caller's area for records; a longer record ends in reason 44. `None`: as long as it
    /// takes.
    pub fn set_area(&mut self, bytes: Option<u32>) {
        self.area_bytes = bytes;
    }

    /// How the requests that follow address records; `None`: as the organization of the cluster
    /// has it. What does not go together is refused by the request.
    pub fn set_access(&mut self, access: Option<Access>) {
        self.access = access;
    }

    /// Whether a sequential request knows where to go on.
    #[must_use]
    pub fn is_placed(&self) -> bool {
        self.placed
    }

    /// Whether a record was read for update and neither rewritten nor erased since.
    #[must_use]
    pub fn holds_record(&self) -> bool {
        self.held
    }

    /// Notes in place of what `mark` has where it stands, for [`Position::go_back`]; `false` if
    /// it stands on no record.
    pub fn mark(&self, mark: &mut Vec<u8>) -> bool {
        mark.clear();
        mark.extend_from_slice(self.cursor.key().unwrap_or_default());
        self.cursor.key().is_some()
    }

    /// Stands where it stood when a mark was made through the same file: sequential requests go on
    /// from there, in either direction. What was read for update is not any more.
    pub fn go_back(&mut self, mark: &[u8]) {
        self.ahead.forget();
        self.cursor.seek(At::On(mark));
        (self.placed, self.held) = (true, false);
    }

    /// Stands so that the record that was read last is the next one backward. What was read for
    /// update is not any more.
    pub fn turn(&mut self) {
        let Some(key) = self.cursor.key() else { return };
        self.buffers.bound.clear();
        self.buffers.bound.extend_from_slice(key);
        self.cursor.seek(At::After(&self.buffers.bound));
        self.held = false;
    }

    /// Forgets the place and what was read for update.
    pub(crate) fn lose(&mut self) {
        (self.placed, self.held) = (false, false);
    }

    /// Hands on what was counted.
    pub(crate) fn flush(&mut self) {
        self.sphere.counters().add(&std::mem::take(&mut self.counts));
    }
}

impl<S: Store> Drop for Position<S> {
    fn drop(&mut self) {
        self.flush();
        self.string.taken.fetch_sub(1, Relaxed);
    }
}
