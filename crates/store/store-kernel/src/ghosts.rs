//! Gaps and ghosts: why nothing appears in a range that was read.
//!
//! In a set whose locking is the store's there are two locks for every key: that of its *record*
//! and that of the *gap* below it, down to the key before; the gap behind the last key is the set's
//! end. Lock names are hashes: two keys may share a lock, which may cost a wait and lets no one
//! through.
//!
//! | who | record | gap |
//! |---|---|---|
//! | reads a key, there or not | S, U or X, kept | |
//! | steps onto a key, either way | S, U or X, kept | S of each gap passed, kept |
//! | steps forward to a limit or the end | | S of the gap passed, kept |
//! | replaces | X, kept | |
//! | inserts J below N | X of J, kept | IX of N's until J is there; IX of J's, kept |
//! | deletes | X, kept | X, kept |
//!
//! A key that an active unit of work has deleted is gone from the tree, and so would be the end of
//! the gap below it. Therefore the store remembers it, in memory, as a *ghost* until that unit of
//! work ends. For locking a ghost is a key like any other: so units of work that delete neighbours
//! do not meet. The key above J is the least key or ghost above J.
//!
//! Invariants, and what follows from each:
//! 1. *A ghost stands before its record is taken out of the tree, and goes after its unit of work
//!    is committed and published, or has put all records back, and before it lets go of its locks.*
//!    So a reader that finds a key neither in the tree nor, afterwards, among the ghosts, knows
//!    that it is not there; unless it was put back in between, and then [`Ghosts::ends`] has moved.
//!    Who gets the record's lock of a ghost finds the ghost gone.
//! 2. *A foreign ghost is never passed over*, except by a claim: a step that finds one between its
//!    place and what it found, an insert that finds one as its next key, wait for its record's lock
//!    and begin again. Own ghosts are passed over: the gaps below them are locked in X already.
//! 3. *What a step or an insert saw is proven after its locks are granted*: the tree's leaves
//!    between its place and what it found are unchanged, no foreign ghost stands between, and
//!    `ends` has not moved since before the tree was looked at. A step that cannot prove it begins
//!    again and keeps its locks. An insert proves it under the latches of these leaves, at the
//!    moment of the insert.
//! 4. *A gap in S gains no key.* Let a reader have proven that nothing stands between p and f, with
//!    the gap of f locked in S. The first insert between them after that has f as its next key, by
//!    (3), so it needs IX of that gap: compatible with other inserts, not with S. Nor can a key
//!    come back there: that was a foreign ghost, which (2) forbids. Nor does f go: deleting it
//!    needs X of its gap. Nor is f undone: who inserts keeps IX of the new key's gap, so the S was
//!    granted after f's unit of work had ended; that is why a reader which stops below f may rely
//!    on f.
//! 5. *Locks of own gaps are passed on.* Who inserts J into a gap that he has locked himself,
//!    because he read or deleted there, first locks the new gap below J in the same mode.
//! 6. *When keys go, gaps grow, and no holder loses what it had.* When a delete is committed, or an
//!    insert undone, the gap below joins the one above. No other has the lower one locked: the
//!    deleter had it in X; an inserter had it in IX from its beginning, so that no reader has it in
//!    S, and those who have it in IX are about to insert and find in (3) that the key is gone. The
//!    upper one's readers now have more locked than they asked for.
//! 7. *After a rollback to a savepoint* ghosts stay until the end of the unit of work, though their
//!    records are back in the tree: a key that is both is found in the tree, by everybody. The same
//!    holds for a key that is inserted again by the unit of work that deleted it: its record and
//!    its gap are locked in X, and no gap is divided.
//! 8. Reading a key that is not there locks its record's name, without which it cannot be inserted.
//! 9. *Without ghosts nothing is paid* but two loads a step.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Release},
};

use base::UowId;
use seam::sync::Mutex;

/// The ghosts of one set.
#[derive(Default)]
pub(crate) struct Ghosts {
    count: AtomicUsize,
    ends: AtomicU64,
    keys: Mutex<BTreeMap<Arc<[u8]>, UowId>>,
}

/// What stands first above a key that is to be inserted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Above {
    /// A key of the tree, or nothing.
    NoGhost,
    /// A key that the unit of work itself has deleted.
    Own(Arc<[u8]>),
    /// A key that another one has deleted.
    Foreign(Arc<[u8]>),
}

impl Ghosts {
    /// Whether there may be any.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.count.load(Acquire) != 0
    }

    /// How many ghosts have gone so far.
    #[inline]
    pub(crate) fn ends(&self) -> u64 {
        self.ends.load(Acquire)
    }

    /// The least foreign ghost between two bounds. The search ends at an own ghost at or above
    /// `enough`: the caller needs nothing beyond.
    pub(crate) fn foreign(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
        enough: Option<&[u8]>,
        me: UowId,
    ) -> Option<Arc<[u8]>> {
        if !self.any() || is_empty(from, to) {
            return None;
        }
        let keys = self.keys.lock();
        for (key, uow) in keys.range::<[u8], _>((from, to)) {
            if *uow != me {
                return Some(Arc::clone(key));
            }
            if enough.is_some_and(|enough| key[..] >= *enough) {
                return None;
            }
        }
        None
    }

    /// What stands first between a key and the tree's next.
    pub(crate) fn above(&self, key: &[u8], next: Option<&[u8]>, me: UowId) -> Above {
        let (from, to) = (Bound::Excluded(key), next.map_or(Bound::Unbounded, Bound::Excluded));
        if !self.any() || is_empty(from, to) {
            return Above::NoGhost;
        }
        let keys = self.keys.lock();
        match keys.range::<[u8], _>((from, to)).next() {
            None => Above::NoGhost,
            Some((ghost, uow)) if *uow == me => Above::Own(Arc::clone(ghost)),
            Some((ghost, _)) => Above::Foreign(Arc::clone(ghost)),
        }
    }

    /// Whether a key is a ghost of this unit of work.
    pub(crate) fn is_own(&self, key: &[u8], me: UowId) -> bool {
        self.any() && self.keys.lock().get(key) == Some(&me)
    }

    /// Adds a ghost; `None` if the unit of work has it already.
    pub(crate) fn add(&self, key: &[u8], me: UowId) -> Option<Arc<[u8]>> {
        let mut keys = self.keys.lock();
        if keys.get(key) == Some(&me) {
            return None;
        }
        let key: Arc<[u8]> = key.into();
        keys.insert(Arc::clone(&key), me);
        self.count.store(keys.len(), Release);
        Some(key)
    }

    pub(crate) fn remove(&self, key: &[u8], me: UowId) {
        let mut keys = self.keys.lock();
        if keys.get(key) == Some(&me) {
            // Moved before the ghost goes, so that no reader misses it that finds the ghost gone.
            self.ends.fetch_add(1, Release);
            keys.remove(key);
            self.count.store(keys.len(), Release);
        }
    }
}

/// Whether no key can lie between two bounds.
fn is_empty(from: Bound<&[u8]>, to: Bound<&[u8]>) -> bool {
    match (from, to) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (
            Bound::Included(from) | Bound::Excluded(from),
            Bound::Included(to) | Bound::Excluded(to),
        ) => from >= to,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: UowId = UowId(1);
    const OTHER: UowId = UowId(2);

    fn ghosts(keys: &[(&[u8], UowId)]) -> Ghosts {
        let ghosts = Ghosts::default();
        keys.iter().for_each(|(key, uow)| drop(ghosts.add(key, *uow)));
        ghosts
    }

    #[test]
    fn a_search_finds_the_least_foreign_ghost_and_ends_where_enough_is_locked() {
        let ghosts = ghosts(&[(b"b", ME), (b"d", OTHER), (b"f", OTHER)]);
        let find = |from, to, enough| ghosts.foreign(from, to, enough, ME);
        let d: Option<Arc<[u8]>> = Some(b"d"[..].into());
        let all = Bound::Unbounded;
        assert_eq!(find(all, all, None), d);
        assert_eq!(find(Bound::Excluded(b"a"), Bound::Excluded(b"d"), None), None);
        assert_eq!(find(Bound::Excluded(b"a"), Bound::Included(b"d"), None), d);
        assert_eq!(find(Bound::Excluded(b"d"), Bound::Excluded(b"f"), None), None);
        assert_eq!(find(all, all, Some(b"b")), None, "the gap below the own ghost is enough");
        assert_eq!(find(all, all, Some(b"c")), d, "the own ghost lies before what is enough");
        assert_eq!(find(Bound::Included(b"x"), Bound::Excluded(b"c"), None), None);
    }

    #[test]
    fn a_ghost_counts_as_the_key_above() {
        let ghosts = ghosts(&[(b"b", ME), (b"d", OTHER)]);
        assert_eq!(ghosts.above(b"a", Some(b"c"), ME), Above::Own(b"b"[..].into()));
        assert_eq!(ghosts.above(b"b", None, ME), Above::Foreign(b"d"[..].into()));
        assert_eq!(ghosts.above(b"b", Some(b"d"), ME), Above::NoGhost);
        assert_eq!(ghosts.above(b"d", None, ME), Above::NoGhost);
        assert!(ghosts.is_own(b"b", ME) && !ghosts.is_own(b"d", ME));
    }

    #[test]
    fn a_ghost_goes_with_its_own_unit_of_work_only() {
        let ghosts = ghosts(&[(b"b", ME)]);
        assert!(ghosts.add(b"b", ME).is_none(), "it is there already");
        ghosts.remove(b"b", OTHER);
        assert!(ghosts.any());
        let before = ghosts.ends();
        ghosts.remove(b"b", ME);
        assert!(!ghosts.any() && ghosts.ends() > before);
    }
}
