//! The end of a unit of work: what a commit answers, and who is told when it is durable.

use crate::error::Result;

/// Where a unit of work stands in the order of all that were committed.
///
/// If a unit of work could see what another one had committed, and changed something itself, its
/// order is greater; if it only read, its order is not less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitOrder(pub u64);

/// A commit that is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its place in the order of all commits, from a store that keeps one.
    pub order: Option<CommitOrder>,
}

/// What became of a commit whose answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It is durable.
    Committed,
    /// It did not happen and never will.
    BackedOut,
}

/// Who is told about the commits that were queued
/// ([`Unit::commit_queued`](crate::Unit::commit_queued)).
///
/// The calls come from a thread of the store, perhaps from within `commit_queued` itself, and hold
/// it up: note the token, ring a bell, return. Nothing may be asked of the store from here.
///
/// ```
/// use holdfast_store::{CommitSink, Committed, Result};
/// use seam::sync::Mutex;
///
/// /// Which commits are settled, and whether they are durable.
/// struct Noted(Mutex<Vec<(u64, bool)>>);
///
/// impl CommitSink for Noted {
///     fn settled(&self, token: u64, outcome: Result<Committed>) {
///         self.0.lock().push((token, outcome.is_ok()));
///     }
/// }
///
/// let noted = Noted(Mutex::new(Vec::new()));
/// noted.settled(7, Ok(Committed { order: None }));
/// noted.batch_settled();
/// assert_eq!(*noted.0.lock(), [(7, true)]);
/// ```
pub trait CommitSink: Send + Sync {
    /// The commit that was queued with `token` is durable, or, with an error, is not known to be:
    /// then the store has stopped or was cut off. Called exactly once for each queued commit.
    fn settled(&self, token: u64, outcome: Result<Committed>);

    /// All that have settled by now were told: a sink that wakes waiters does so here, once for
    /// many.
    fn batch_settled(&self) {}
}
