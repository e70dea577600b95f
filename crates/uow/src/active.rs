//! Which units of work have logged and are not over, and where their records begin and end.
//!
//! Feeding the table costs a unit of work two words a record and no lock; the checkpoint reads it.
//!
//! Invariants:
//! 1. While a unit of work appends, its `last` reads [`APPENDING`]; a reader that sees this looks
//!    again. So the table, read after some LSN was noted, knows every record before that LSN.
//! 2. A slot's `first` is at or before the unit's first record.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use base::{Lsn, UowId};
use seam::sync::Mutex;

/// More units of work than this cannot have changes in flight at once.
const SLOTS: usize = 4096;
const APPENDING: u64 = u64::MAX;

pub(crate) struct Active {
    slots: Box<[Slot]>,
    free: Mutex<Vec<u32>>,
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
    /// At or before its first record.
    pub first: Lsn,
    /// Its latest record.
    pub last: Lsn,
}

/// A place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotNumber(u32);

impl Active {
    pub(crate) fn new() -> Active {
        Active {
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
            free: Mutex::new((0..SLOTS as u32).rev().collect()),
        }
    }

    /// Takes a slot for a unit of work that is about to log its first record at or behind `first`.
    /// `None` if all are taken.
    pub(crate) fn enter(&self, uow: UowId, first: Lsn) -> Option<SlotNumber> {
        let number = self.free.lock().pop()?;
        let slot = &self.slots[number as usize];
        slot.first.store(first.0, SeqCst);
        slot.last.store(0, SeqCst);
        slot.uow.store(uow.0, SeqCst);
        Some(SlotNumber(number))
    }

    /// The unit of work is about to append.
    #[inline]
    pub(crate) fn begin_append(&self, slot: SlotNumber) {
        self.slots[slot.0 as usize].last.store(APPENDING, SeqCst);
    }

    /// It has appended; `last` is its latest record.
    #[inline]
    pub(crate) fn end_append(&self, slot: SlotNumber, last: Lsn) {
        self.slots[slot.0 as usize].last.store(last.0, SeqCst);
    }

    /// The unit of work is over. Called between begin and end of the append of its last record, so
    /// that no checkpoint takes a finished one for active.
    pub(crate) fn leave(&self, slot: SlotNumber) {
        let at = &self.slots[slot.0 as usize];
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

    /// Who has the oldest first record, as of about now.
    pub(crate) fn oldest(&self) -> Option<ActiveUow> {
        let used = self.slots.iter().filter(|slot| slot.uow.load(Relaxed) != 0);
        let all = used.map(|slot| ActiveUow {
            uow: UowId(slot.uow.load(Relaxed)),
            first: Lsn(slot.first.load(Relaxed)),
            last: Lsn::NONE,
        });
        all.min_by_key(|active| active.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_entered_is_listed_until_he_leaves() {
        let active = Active::new();
        let slot = active.enter(UowId(7), Lsn(100)).unwrap();
        assert_eq!(active.list(), vec![], "nothing is logged yet");
        active.begin_append(slot);
        active.end_append(slot, Lsn(120));
        let listed = ActiveUow { uow: UowId(7), first: Lsn(100), last: Lsn(120) };
        assert_eq!(active.list(), vec![listed]);
        assert_eq!(active.oldest().unwrap().first, Lsn(100));
        active.leave(slot);
        assert_eq!(active.list(), vec![]);
    }
}
