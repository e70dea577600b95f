//! What the log says of units of work that are to be backed out, and who has changed the same
//! records since.
//!
//! Invariants:
//! 1. Everything that is left of a named unit's changes is known, or [`Named::whole`] is `false`:
//!    the first record of a unit has none before it.
//! 2. A change of another unit of work counts from the commit of the named one on: until then the
//!    named one held its locks. One that was undone does not count, nor one that a recovery has
//!    made void.
//! 3. A recovery gives a data set another number; what counts is known under the newest.
//!
//! Two changes meet if they are of the same key. Where keys are paths they also meet if one of them
//! made or removed what the other one's segment stands beneath, be it in another data set: logical
//! children stand beneath their logical parents, too.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use base::{DataSetId, Lsn, UowId};
use btree::records::Record as TreeRecord;
use btree::{Effect, records};
use seam::failpoint::{Failpoint, armed};
use uow::record::{CatalogRecord, Change as Body, KernelRecord, Recovered};
use wal::Record;

use crate::RecoveryError;

/// A change of a unit of work that is to be backed out.
pub(crate) struct Change {
    pub(crate) lsn: Lsn,
    pub(crate) set: DataSetId,
    /// The number that the data set had then.
    pub(crate) origin: DataSetId,
    pub(crate) kind: u8,
    pub(crate) body: Vec<u8>,
}

/// How a unit of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Active,
    Committed { at: Lsn, utc_us: u64 },
    BackedOut,
}

/// A unit of work that is to be backed out.
pub(crate) struct Named {
    /// Whether the log has anything of it.
    pub(crate) seen: bool,
    /// Whether it has all of it.
    pub(crate) whole: bool,
    pub(crate) fate: Fate,
    pub(crate) changes: Vec<Change>,
    /// How many of its changes a recovery has made void.
    pub(crate) void: u64,
}

/// The log, read from one position on.
pub(crate) struct Trace {
    pub(crate) named: BTreeMap<UowId, Named>,
    /// Data sets whose keys know nothing of each other.
    flat: BTreeSet<DataSetId>,
    /// Data sets whose keys begin with keys of another one, and that one.
    ties: Vec<(DataSetId, DataSetId)>,
    /// The keys that count, and whether they came or went rather than got another value.
    touched: BTreeMap<DataSetId, BTreeMap<Vec<u8>, bool>>,
    /// Who has changed the same since and is not over.
    others: BTreeMap<UowId, Vec<(Lsn, DataSetId)>>,
    /// Who has, and when that was committed.
    later: BTreeMap<DataSetId, BTreeMap<UowId, Lsn>>,
}

impl Trace {
    pub(crate) fn of(
        units: &[UowId],
        flat: BTreeSet<DataSetId>,
        ties: Vec<(DataSetId, DataSetId)>,
    ) -> Trace {
        let unseen = |uow: &UowId| {
            let (changes, fate) = (Vec::new(), Fate::Active);
            (*uow, Named { seen: false, whole: false, fate, changes, void: 0 })
        };
        Trace {
            named: units.iter().map(unseen).collect(),
            flat,
            ties,
            touched: BTreeMap::new(),
            others: BTreeMap::new(),
            later: BTreeMap::new(),
        }
    }

    /// Whether every named unit is known from its first record on.
    pub(crate) fn is_whole(&self) -> bool {
        self.named.values().all(|named| named.whole)
    }

    /// Who has changed the same since, by data set.
    pub(crate) fn met(&self) -> BTreeMap<DataSetId, BTreeSet<UowId>> {
        let mut met: BTreeMap<DataSetId, BTreeSet<UowId>> = BTreeMap::new();
        for (set, units) in &self.later {
            met.entry(*set).or_default().extend(units.keys());
        }
        for (uow, changes) in &self.others {
            for (_, set) in changes {
                met.entry(*set).or_default().insert(*uow);
            }
        }
        met
    }

    /// Takes the next record.
    pub(crate) fn see(&mut self, record: &Record<'_>) -> Result<(), RecoveryError> {
        let decoded = KernelRecord::of(record)?;
        // Long after its end, what a unit has freed is taken back in its name.
        if !matches!(decoded, KernelRecord::TakenBack(_))
            && let Some(named) = self.named.get_mut(&record.uow)
        {
            named.seen = true;
            named.whole |= record.previous == Lsn::NONE;
        }
        let known = match decoded {
            KernelRecord::Commit { utc_us } => self.see_commit(record, utc_us),
            KernelRecord::BackedOut { .. } => {
                if let Some(named) = self.named.get_mut(&record.uow) {
                    (named.fate, named.changes) = (Fate::BackedOut, Vec::new());
                }
                drop(self.others.remove(&record.uow));
                Some(())
            }
            KernelRecord::Catalog(CatalogRecord::Recovered(done)) => {
                self.moved(&done);
                Some(())
            }
            KernelRecord::UndoEnd(undone) | KernelRecord::UndoSkipped(undone) => {
                self.see_undo(record.uow, undone.undo_next);
                Some(())
            }
            KernelRecord::Change(change) => self.see_change(record, &change),
            KernelRecord::FreesAtCommit(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::Catalog(_)
            | KernelRecord::GivenOut(_)
            | KernelRecord::TakenBack(_)
            | KernelRecord::Write(_) => Some(()),
        };
        known.ok_or_else(|| uow::record::damaged(record).into())
    }

    fn see_commit(&mut self, record: &Record<'_>, utc_us: u64) -> Option<()> {
        if let Some(named) = self.named.get_mut(&record.uow) {
            named.fate = Fate::Committed { at: record.lsn, utc_us };
            let changes = std::mem::take(&mut named.changes);
            changes.iter().try_for_each(|change| self.touch(change))?;
            self.named.get_mut(&record.uow)?.changes = changes;
        }
        for (_, set) in self.others.remove(&record.uow).unwrap_or_default() {
            self.later.entry(set).or_default().insert(record.uow, record.lsn);
        }
        Some(())
    }

    /// The keys of a change count from now on.
    fn touch(&mut self, change: &Change) -> Option<()> {
        let keys = self.touched.entry(change.set).or_default();
        let record = TreeRecord::decode(change.kind, &change.body).ok()?;
        for (key, effect) in record.effects() {
            let known = keys.entry(key.to_vec()).or_default();
            *known |= !matches!(effect, Effect::Became(_));
        }
        Some(())
    }

    /// A compensation: what is left of the unit of work stands before undo-next, or there.
    fn see_undo(&mut self, uow: UowId, next: Lsn) {
        if let Some(named) = self.named.get_mut(&uow) {
            named.changes.retain(|change| change.lsn <= next);
        } else if let Some(changes) = self.others.get_mut(&uow) {
            changes.retain(|(lsn, _)| *lsn <= next);
        }
    }

    fn see_change(&mut self, record: &Record<'_>, change: &Body<'_>) -> Option<()> {
        let (uow, lsn, set) = (record.uow, record.lsn, change.set);
        if let Some(next) = change.undo_next {
            self.see_undo(uow, next);
            return Some(());
        }
        if !change.undoable {
            return Some(());
        }
        if let Some(named) = self.named.get_mut(&uow) {
            let (kind, body) = (change.kind, change.body.to_vec());
            named.changes.push(Change { lsn, set, origin: set, kind, body });
        } else if self.counts(set) {
            if change.kind == records::kind::LOAD_BEGINS {
                // It empties the data set, or needs it to be empty, and is never anything else.
                self.later.entry(set).or_default().insert(uow, lsn);
            } else if self.meets(set, change.kind, change.body)? {
                self.others.entry(uow).or_default().push((lsn, set));
            }
        }
        Some(())
    }

    /// Whether keys of a data set count, or of one that is tied to it.
    fn counts(&self, set: DataSetId) -> bool {
        let mut ties = self.ties.iter();
        self.touched.contains_key(&set)
            || ties.any(|(below, above)| {
                *below == set && self.touched.contains_key(above)
                    || *above == set && self.touched.contains_key(below)
            })
    }

    /// Whether a change of another unit of work is of something that counts.
    fn meets(&self, set: DataSetId, kind: u8, body: &[u8]) -> Option<bool> {
        if armed(Failpoint::LaterChangesUnseen) {
            return Some(false);
        }
        let record = TreeRecord::decode(kind, body).ok()?;
        let own = self.touched.get(&set);
        let paths = own.filter(|_| !self.flat.contains(&set));
        let tied = |to: fn(&(DataSetId, DataSetId)) -> (DataSetId, DataSetId)| {
            let ties = self.ties.iter().map(to).filter(move |(from, _)| *from == set);
            ties.filter_map(|(_, other)| self.touched.get(&other))
        };
        let meets = |(key, effect): (&[u8], Effect<'_>)| {
            // Beneath what a named unit made or removed; above what it changed, and gone or new.
            let mut above = paths.into_iter().chain(tied(|(below, above)| (*below, *above)));
            let mut below = paths.into_iter().chain(tied(|(below, above)| (*above, *below)));
            let moves = !matches!(effect, Effect::Became(_));
            own.is_some_and(|keys| keys.contains_key(key))
                || above.any(|keys| is_beneath(keys, key))
                || moves && below.any(|keys| is_above(keys, key))
        };
        Some(record.effects().into_iter().any(meets))
    }

    /// Data sets have others' places: what was committed behind the point is void.
    fn moved(&mut self, done: &Recovered) {
        for (old, new) in &done.sets {
            for named in self.named.values_mut() {
                let counts = matches!(named.fate, Fate::Committed { at, .. } if at < done.to);
                let before = named.changes.len();
                if counts {
                    let own = named.changes.iter_mut().filter(|change| change.set == *old);
                    own.for_each(|change| change.set = *new);
                } else {
                    named.changes.retain(|change| change.set != *old);
                }
                named.void += (before - named.changes.len()) as u64;
            }
            for changes in self.others.values_mut() {
                changes.retain(|(_, set)| set != old);
            }
            if let Some(mut units) = self.later.remove(old) {
                units.retain(|_, at| *at < done.to);
                self.later.insert(*new, units);
            }
            if self.flat.contains(old) {
                self.flat.insert(*new);
            }
            for (below, above) in &mut self.ties {
                let place = |set: &mut DataSetId| *set = if *set == *old { *new } else { *set };
                place(below);
                place(above);
            }
        }
        let named = std::mem::take(&mut self.named);
        self.touched.clear();
        let committed = named.values().filter(|named| matches!(named.fate, Fate::Committed { .. }));
        for change in committed.flat_map(|named| &named.changes) {
            // It was taken apart once already.
            let _ = self.touch(change);
        }
        self.named = named;
    }
}

/// Whether a key goes on from one that came or went.
fn is_beneath(keys: &BTreeMap<Vec<u8>, bool>, key: &[u8]) -> bool {
    (1..key.len()).any(|end| keys.get(&key[..end]).is_some_and(|moved| *moved))
}

/// Whether one of these goes on from a key.
fn is_above(keys: &BTreeMap<Vec<u8>, bool>, key: &[u8]) -> bool {
    let mut behind = keys.range::<[u8], _>((Bound::Included(key), Bound::Unbounded));
    behind.next().is_some_and(|(other, _)| other.starts_with(key))
}

#[cfg(test)]
mod tests {
    use uow::record::Undone;

    use super::*;

    const SET: DataSetId = DataSetId(5);
    /// Its keys begin with those of [`SET`].
    const BELOW: DataSetId = DataSetId(8);
    const INSERT: u8 = records::kind::INSERT;
    const REMOVE: u8 = records::kind::REMOVE;
    const REPLACE: u8 = records::kind::REPLACE;

    /// A log of small records, one behind the other.
    struct Script {
        trace: Trace,
        at: u64,
        last: BTreeMap<u64, Lsn>,
    }

    impl Script {
        fn of(units: &[u64], flat: bool) -> Script {
            let units: Vec<UowId> = units.iter().copied().map(UowId).collect();
            let flat = if flat { BTreeSet::from([SET]) } else { BTreeSet::new() };
            let trace = Trace::of(&units, flat, vec![(BELOW, SET)]);
            Script { trace, at: 100, last: BTreeMap::new() }
        }

        fn log(&mut self, uow: u64, record: &KernelRecord<'_>) -> Lsn {
            let (kind, flags, body) = (record.kind(), record.flags(), record.encode().concat());
            let body = &body;
            self.at += 100;
            let lsn = Lsn(self.at);
            let previous = self.last.insert(uow, lsn).unwrap_or(Lsn::NONE);
            let (end, uow) = (lsn.plus(100), UowId(uow));
            let record = Record { lsn, end, kind, flags, uow, previous, body };
            self.trace.see(&record).unwrap();
            lsn
        }

        fn change(&mut self, uow: u64, kind: u8, key: &[u8]) -> Lsn {
            self.change_of(SET, uow, kind, key)
        }

        fn change_of(&mut self, set: DataSetId, uow: u64, kind: u8, key: &[u8]) -> Lsn {
            let mut body = vec![9, 0, 0, 0, 0, 0, 0];
            base::bytes::push_string16(&mut body, key);
            body.extend_from_slice(&[0, 0, 0, 0]);
            let change = Body { kind, set, undo_next: None, undoable: true, body: &body };
            self.log(uow, &KernelRecord::Change(change))
        }

        fn undo(&mut self, uow: u64, next: Lsn) {
            self.log(uow, &KernelRecord::UndoEnd(Undone { set: SET, undo_next: next }));
        }

        fn commit(&mut self, uow: u64) {
            self.log(uow, &KernelRecord::Commit { utc_us: 77 });
        }

        fn met(&self) -> Vec<u64> {
            let met = self.trace.met();
            met.get(&SET).into_iter().flatten().map(|uow| uow.0).collect()
        }
    }

    #[test]
    fn whoever_changed_the_same_key_since_is_known() {
        let mut log = Script::of(&[7], true);
        log.change(7, REPLACE, b"a");
        log.change(8, REPLACE, b"b");
        log.commit(7);
        log.change(8, REPLACE, b"a");
        log.change(9, REPLACE, b"ab");
        assert_eq!(log.met(), [8], "not over, and in the way");
        log.commit(8);
        log.commit(9);
        assert_eq!(log.met(), [8]);
        assert!(log.trace.is_whole());
        let fate = log.trace.named[&UowId(7)].fate;
        assert!(matches!(fate, Fate::Committed { utc_us: 77, .. }));
    }

    #[test]
    fn what_was_undone_is_in_nobodys_way() {
        let mut log = Script::of(&[7], true);
        let kept = log.change(7, INSERT, b"a");
        log.change(7, INSERT, b"b");
        log.undo(7, kept);
        log.commit(7);
        assert_eq!(log.trace.named[&UowId(7)].changes.len(), 1);
        log.change(8, INSERT, b"b");
        log.change(9, REPLACE, b"a");
        log.log(9, &KernelRecord::BackedOut { utc_us: 0 });
        log.change(10, REPLACE, b"a");
        log.undo(10, Lsn::NONE);
        log.commit(8);
        log.commit(10);
        assert_eq!(log.met(), [0_u64; 0]);
    }

    #[test]
    fn along_a_path_only_what_came_or_went_is_in_the_way() {
        let mut log = Script::of(&[7], false);
        log.change(7, INSERT, b"root");
        log.change(7, REPLACE, b"tree/leaf");
        log.commit(7);
        log.change(8, INSERT, b"root/child");
        log.change(9, REPLACE, b"tree");
        log.change(10, REMOVE, b"tree");
        log.change(11, INSERT, b"tree/leaf/below");
        log.change(12, INSERT, b"tree/lea2");
        (8..=12).for_each(|uow| log.commit(uow));
        assert_eq!(log.met(), [8, 10]);
    }

    #[test]
    fn what_stands_beneath_in_another_data_set_is_in_the_way_too() {
        for flat in [false, true] {
            let mut log = Script::of(&[7, 8], flat);
            log.change(7, INSERT, b"parent");
            log.change(7, REPLACE, b"other");
            log.commit(7);
            log.change_of(BELOW, 8, REMOVE, b"gone/child");
            log.commit(8);
            log.change_of(BELOW, 9, INSERT, b"parent/child");
            log.change_of(BELOW, 10, INSERT, b"other/child");
            log.change(11, REMOVE, b"gone");
            log.change(12, REPLACE, b"gone");
            (9..=12).for_each(|uow| log.commit(uow));
            let met = log.trace.met();
            let by = |set| met.get(&set).into_iter().flatten().map(|uow| uow.0).collect();
            let (below, own): (Vec<u64>, Vec<u64>) = (by(BELOW), by(SET));
            assert_eq!((below, own), (vec![9], vec![11]), "flat: {flat}");
        }
    }

    #[test]
    fn what_begins_in_the_middle_is_not_whole() {
        let mut log = Script::of(&[7], true);
        log.last.insert(7, Lsn(50));
        log.change(7, INSERT, b"a");
        log.commit(7);
        assert!(!log.trace.is_whole());
    }

    #[test]
    fn a_recovery_makes_void_what_was_committed_behind_its_point() {
        let mut log = Script::of(&[7, 8], true);
        log.change(7, REPLACE, b"a");
        log.commit(7);
        let to = Lsn(log.at + 50);
        log.change(8, REPLACE, b"b");
        log.commit(8);
        log.change(9, REPLACE, b"a");
        log.commit(9);
        let sets = vec![(SET, DataSetId(6))];
        log.log(0, &CatalogRecord::Recovered(Recovered { to, sets }).into());
        assert_eq!(log.trace.met().get(&DataSetId(6)).map_or(0, BTreeSet::len), 0);
        let named = &log.trace.named;
        assert_eq!(named[&UowId(7)].changes[0].set, DataSetId(6));
        assert_eq!((named[&UowId(8)].changes.len(), named[&UowId(8)].void), (0, 1));
    }
}
