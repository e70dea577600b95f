//! Which units of work have logged and are not over, which log their undo needs, and where it goes
//! on.
//!
//! Feeding the table costs a unit of work two words a record and no lock; the checkpoint reads it.
//!
//! A unit of work may be *anchored*: what it has logged so far is carried by checkpoints, so that
//! its undo need not read the log for it, and the log can be used again. A bulk load logs one
//! undoable record and then images of nodes without end; anchored, it keeps no log at all.
//!
//! Invariants:
//! 1. While a unit of work appends, its `last` reads [`APPENDING`]; a reader that sees this looks
//!    again. So the table, read after some LSN was noted, knows every record before that LSN.
//! 2. A slot's `first` is at or before the oldest record that the unit's undo reads in the log;
//!    [`UNPINNED`] if there is none.
//! 3. A slot's `last` is where undo begins: the latest record, or where a compensation leads.
//! 4. The anchored records of a unit are in the table before `first` passes them, and stay until
//!    its last record is appended. So a checkpoint that first reads the slots and then the anchored
//!    records has every record that undo needs, or the unit's end stands before it in the log.

use std::collections::BTreeMap;
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use base::{DataSetId, Lsn, UowId};
use seam::sync::Mutex;

use crate::UowError;

/// More units of work than this cannot have changes in flight at once.
const SLOTS: usize = 4096;
const APPENDING: u64 = u64::MAX;
/// The `first` of a unit of work whose undo reads nothing in the log.
pub(crate) const UNPINNED: Lsn = Lsn(u64::MAX);

pub(crate) struct Active {
    slots: Box<[Slot]>,
    free: Mutex<Vec<u32>>,
    anchored: Mutex<BTreeMap<UowId, Vec<AnchoredRecord>>>,
    /// How many are anchored, for those who only want to know that nobody is.
    anchored_count: AtomicUsize,
}

#[derive(Default)]
#[repr(align(64))]
struct Slot {
    uow: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
}

/// A unit of work as the checkpoint carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveUow {
    /// The unit of work.
    pub uow: UowId,
    /// At or before the oldest record that its undo reads in the log; the highest LSN there is if
    /// it reads none.
    pub first: Lsn,
    /// Where its undo begins.
    pub last: Lsn,
}

/// An undoable record of an anchored unit of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchoredRecord {
    /// Where it stands, or stood, in the log.
    pub lsn: Lsn,
    /// Where undo goes on behind it.
    pub previous: Lsn,
    /// The data set.
    pub set: DataSetId,
    /// What it is.
    pub kind: u8,
    /// What belongs to the resource.
    pub body: Vec<u8>,
}

/// A place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotNumber(u32);

impl Active {
    pub(crate) fn new() -> Active {
        Active {
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
            free: Mutex::new((0..SLOTS as u32).rev().collect()),
            anchored: Mutex::default(),
            anchored_count: AtomicUsize::new(0),
        }
    }

    /// Takes a slot for a unit of work that is about to log its first record.
    pub(crate) fn enter(&self, uow: UowId) -> Result<SlotNumber, UowError> {
        let number = self.free.lock().pop().ok_or_else(|| UowError::Damaged {
            object: "the table of active units of work".into(),
            why: "it is full".into(),
        })?;
        let slot = &self.slots[number as usize];
        slot.first.store(UNPINNED.0, SeqCst);
        slot.last.store(0, SeqCst);
        slot.uow.store(uow.0, SeqCst);
        Ok(SlotNumber(number))
    }

    /// The unit of work is about to append.
    #[inline]
    pub(crate) fn begin_append(&self, slot: SlotNumber) {
        self.slots[slot.0 as usize].last.store(APPENDING, SeqCst);
    }

    /// The unit of work pins the log from `first` on. It is appending, so that whoever reads the
    /// table meanwhile looks again.
    pub(crate) fn pin(&self, slot: SlotNumber, first: Lsn) {
        self.slots[slot.0 as usize].first.store(first.0, SeqCst);
    }

    /// The unit of work's undo finds `records`, which are all that it has logged, here; it pins no
    /// log until [`Active::pin`].
    pub(crate) fn anchor(&self, slot: SlotNumber, records: Vec<AnchoredRecord>) {
        let at = &self.slots[slot.0 as usize];
        // First the records, then the slot.
        self.carry(UowId(at.uow.load(SeqCst)), records);
        self.unpin(slot);
    }

    /// Nothing that the unit of work's undo needs is in the log alone.
    pub(crate) fn unpin(&self, slot: SlotNumber) {
        self.slots[slot.0 as usize].first.store(UNPINNED.0, SeqCst);
    }

    /// The same for a unit of work of which a checkpoint says so.
    pub(crate) fn carry(&self, uow: UowId, records: Vec<AnchoredRecord>) {
        let mut anchored = self.anchored.lock();
        anchored.insert(uow, records);
        self.anchored_count.store(anchored.len(), SeqCst);
    }

    /// The anchored record of a unit of work at `lsn`.
    pub(crate) fn anchored_at(&self, uow: UowId, lsn: Lsn) -> Option<AnchoredRecord> {
        let anchored = self.anchored.lock();
        anchored.get(&uow)?.iter().find(|record| record.lsn == lsn).cloned()
    }

    /// The anchored records of those whom [`Active::list`] has named.
    pub(crate) fn anchored_of(&self, active: &[ActiveUow]) -> BTreeMap<UowId, Vec<AnchoredRecord>> {
        let anchored = self.anchored.lock();
        let named = active.iter().filter_map(|active| anchored.get_key_value(&active.uow));
        named.map(|(uow, records)| (*uow, records.clone())).collect()
    }

    /// It has appended; its undo begins at `last`.
    #[inline]
    pub(crate) fn end_append(&self, slot: SlotNumber, last: Lsn) {
        self.slots[slot.0 as usize].last.store(last.0, SeqCst);
    }

    /// The unit of work is over. Called between begin and end of the append of its last record, so
    /// that no checkpoint takes a finished one for active.
    pub(crate) fn leave(&self, slot: SlotNumber) {
        let at = &self.slots[slot.0 as usize];
        if self.anchored_count.load(SeqCst) > 0 {
            let mut anchored = self.anchored.lock();
            anchored.remove(&UowId(at.uow.load(SeqCst)));
            self.anchored_count.store(anchored.len(), SeqCst);
        }
        at.uow.store(0, SeqCst);
        at.last.store(0, SeqCst);
        self.free.lock().push(slot.0);
    }

    /// Everybody who is active; complete for all records before the LSN that the caller noted.
    pub(crate) fn list(&self) -> Vec<ActiveUow> {
        let mut all = Vec::new();
        for slot in &self.slots {
            loop {
                let uow = slot.uow.load(SeqCst);
                if uow == 0 {
                    break;
                }
                let (first, last) = (slot.first.load(SeqCst), slot.last.load(SeqCst));
                if last == APPENDING || slot.uow.load(SeqCst) != uow {
                    seam::thread::yield_now();
                    continue;
                }
                if last != 0 {
                    all.push(ActiveUow { uow: UowId(uow), first: Lsn(first), last: Lsn(last) });
                }
                break;
            }
        }
        all
    }

    /// Who pins the oldest record, as of about now.
    pub(crate) fn oldest(&self) -> Option<ActiveUow> {
        let used = self.slots.iter().filter(|slot| slot.uow.load(Relaxed) != 0);
        let all = used.map(|slot| ActiveUow {
            uow: UowId(slot.uow.load(Relaxed)),
            first: Lsn(slot.first.load(Relaxed)),
            last: Lsn::NONE,
        });
        all.filter(|active| active.first != UNPINNED).min_by_key(|active| active.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_entered_is_listed_until_he_leaves() {
        let active = Active::new();
        let slot = active.enter(UowId(7)).unwrap();
        assert_eq!(active.list(), vec![], "nothing is logged yet");
        active.begin_append(slot);
        active.pin(slot, Lsn(100));
        active.end_append(slot, Lsn(120));
        let listed = ActiveUow { uow: UowId(7), first: Lsn(100), last: Lsn(120) };
        assert_eq!(active.list(), vec![listed]);
        assert_eq!(active.oldest().unwrap().first, Lsn(100));
        active.leave(slot);
        assert_eq!(active.list(), vec![]);
    }

    #[test]
    fn who_is_anchored_pins_nothing_until_he_changes_something_again() {
        let active = Active::new();
        let slot = active.enter(UowId(7)).unwrap();
        active.begin_append(slot);
        active.pin(slot, Lsn(100));
        active.end_append(slot, Lsn(120));
        let (set, lsn) = (DataSetId(1), Lsn(120));
        let record = AnchoredRecord { lsn, previous: Lsn::NONE, set, kind: 40, body: vec![1] };
        active.anchor(slot, vec![record.clone()]);
        assert_eq!(active.oldest(), None);
        let all = active.list();
        assert_eq!(all, vec![ActiveUow { uow: UowId(7), first: UNPINNED, last: lsn }]);
        assert_eq!(active.anchored_of(&all)[&UowId(7)], vec![record.clone()]);
        assert_eq!(active.anchored_at(UowId(7), lsn), Some(record));
        active.pin(slot, Lsn(200));
        assert_eq!(active.oldest().unwrap().first, Lsn(200));
        active.leave(slot);
        assert_eq!(active.anchored_at(UowId(7), lsn), None);
    }
}
