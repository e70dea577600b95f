//! Alternate indexes that change with their base.
//!
//! 1. Entries change in the unit of work of the base's record, after it: who sees an entry finds
//!    its record, or sees that the entry is gone when he looks again.
//! 2. A record that ends before an alternate key has no entry in that index.
//! 3. A change that leaves an alternate key as it is leaves its entry as it is.
//! 4. A record that gets another alternate key arrives behind all that have it.
//! 5. Entries of an index that is not unique are nobody's but their records': whoever changes one
//!    has the record locked exclusively, so the store locks no entry of its own. Whoever reads them
//!    with locks says so first ([`Cover`]). An entry of a unique index may be wanted for several
//!    records; the store locks it.

use std::sync::Arc;

use store::{Cover, Cursor as _, KeyRange, Outcome, Position, Read, SetId, Store, Unit as _};

use crate::attributes::KeyField;
use crate::feedback::{Component, Condition, Failure, LogicalReason};
use crate::layout::{built_key, index_key};
use crate::share::Arrivals;

/// An alternate index in use.
#[derive(Clone)]
pub(crate) struct Index {
    pub(crate) set: SetId,
    pub(crate) key: KeyField,
    pub(crate) unique: bool,
    pub(crate) arrivals: Arc<Arrivals>,
}

/// The upgrade set of a cluster.
#[derive(Default)]
pub(crate) struct UpgradeSet {
    /// Those that are not unique first: the place of one is that of its arrival in a trailer.
    indexes: Vec<Index>,
    /// Nobody else changes them meanwhile.
    sole: bool,
}

/// Buffers of a position for changes of indexes.
pub(crate) struct Scratch<S: Store> {
    /// A cursor for each index that is not unique.
    cursors: Vec<S::Cursor>,
    key: Vec<u8>,
    value: Vec<u8>,
    end: Vec<u8>,
}

/// A record as the indexes see it.
#[derive(Clone, Copy)]
pub(crate) struct Indexed<'r> {
    pub(crate) record: &'r [u8],
    /// Its arrivals in the indexes that are not unique, as far as they are known.
    pub(crate) arrivals: &'r [u64],
}

fn failed(error: store::StoreError) -> Failure {
    Failure::of_store(error, Component::UpgradeSet)
}

impl UpgradeSet {
    pub(crate) fn new(mut indexes: Vec<Index>, sole: bool) -> UpgradeSet {
        indexes.sort_by_key(|index| index.unique);
        UpgradeSet { indexes, sole }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    fn numbered(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().take_while(|index| !index.unique)
    }

    pub(crate) fn scratch<S: Store>(&self, store: &S) -> Result<Scratch<S>, Failure> {
        let cursors = self.numbered().map(|index| store.cursor(index.set));
        let cursors = cursors.collect::<Result<_, _>>().map_err(failed)?;
        Ok(Scratch { cursors, key: Vec::new(), value: Vec::new(), end: Vec::new() })
    }

    /// The arrivals of a record that takes the place of an old one, or of none: where an alternate
    /// key is new, it arrives now.
    #[inline]
    pub(crate) fn arrive<S: Store>(
        &self,
        store: &S,
        old: Option<Indexed<'_>>,
        record: &[u8],
        arrivals: &mut Vec<u64>,
    ) -> Result<(), Failure> {
        arrivals.clear();
        for (at, index) in self.numbered().enumerate() {
            let key = index.key.of(record);
            let same = old.filter(|old| index.key.of(old.record) == key);
            arrivals.push(match (same, key) {
                (_, None) => 0,
                (Some(old), _) => old.arrivals.get(at).copied().unwrap_or(0),
                (None, Some(_)) => index.arrivals.next(store, index.set).map_err(failed)?,
            });
        }
        Ok(())
    }

    /// Changes the indexes for a record of the base: one that was added, changed or removed.
    pub(crate) fn change<S: Store>(
        &self,
        unit: &mut S::Unit,
        scratch: &mut Scratch<S>,
        base: &[u8],
        old: Option<Indexed<'_>>,
        new: Option<Indexed<'_>>,
    ) -> Result<Condition, Failure> {
        let mut condition = Condition::None;
        for (at, index) in self.indexes.iter().enumerate() {
            let before = old.and_then(|old| index.key.of(old.record));
            let after = new.and_then(|new| index.key.of(new.record));
            if before == after {
                continue;
            }
            match (index.unique, self.sole) {
                (false, _) => unit.cover(index.set, Cover::Changes).map_err(failed)?,
                (true, true) => unit.cover(index.set, Cover::Whole).map_err(failed)?,
                (true, false) => {}
            }
            if let (Some(key), Some(old)) = (before, old) {
                let arrival = old.arrivals.get(at).copied().unwrap_or(0);
                index.remove::<S>(unit, scratch, (at, arrival), key, base)?;
            }
            if let (Some(key), Some(new)) = (after, new) {
                let arrival = new.arrivals.get(at).copied().unwrap_or(0);
                if index.add::<S>(unit, scratch, (at, arrival), key, base)? {
                    condition = Condition::DuplicateKey;
                }
            }
        }
        Ok(condition)
    }
}

impl Index {
    /// Adds an entry. Answers whether the key was there already.
    fn add<S: Store>(
        &self,
        unit: &mut S::Unit,
        scratch: &mut Scratch<S>,
        (at, arrival): (usize, u64),
        key: &[u8],
        base: &[u8],
    ) -> Result<bool, Failure> {
        if self.unique {
            return match unit.insert(self.set, key, base).map_err(failed)? {
                Outcome::Exists => {
                    Err(Failure::of(LogicalReason::Duplicate, Component::UpgradeSet))
                }
                _ => Ok(false),
            };
        }
        index_key(key, arrival, &mut scratch.key);
        let Some(cursor) = scratch.cursors.get_mut(at) else { return Ok(false) };
        let added = unit.insert_beside(cursor, &scratch.key, base, key.len());
        added.map(|(_, has_same)| has_same).map_err(failed)
    }

    /// Removes the entry of a record: where its arrival says, where a build puts it, or wherever
    /// it is among those with the same key.
    fn remove<S: Store>(
        &self,
        unit: &mut S::Unit,
        scratch: &mut Scratch<S>,
        (at, arrival): (usize, u64),
        key: &[u8],
        base: &[u8],
    ) -> Result<(), Failure> {
        let Scratch { cursors, key: entry, value, end } = scratch;
        if self.unique {
            entry.clear();
            entry.extend_from_slice(key);
            let _ = unit.delete_equal(self.set, entry, base, value).map_err(failed)?;
            return Ok(());
        }
        if arrival != 0 {
            index_key(key, arrival, entry);
            if unit.delete_equal(self.set, entry, base, value).map_err(failed)?.is_done() {
                return Ok(());
            }
        }
        built_key(key, base, entry);
        if unit.delete_equal(self.set, entry, base, value).map_err(failed)?.is_done() {
            return Ok(());
        }
        let Some(cursor) = cursors.get_mut(at) else { return Ok(()) };
        cursor.limit(KeyRange::prefix(key, end));
        cursor.seek(Position::Front);
        entry.clear();
        let found = loop {
            match unit.next(cursor, Read::Unlocked).map_err(failed) {
                Ok(Some(here)) if here.value == base => {
                    entry.extend_from_slice(here.key);
                    break Ok(true);
                }
                Ok(Some(_)) => {}
                Ok(None) => break Ok(false),
                Err(error) => break Err(error),
            }
        };
        cursor.limit(KeyRange::ALL);
        if found? {
            let _ = unit.delete(self.set, entry).map_err(failed)?;
        }
        Ok(())
    }
}
