//! What units of work share besides the log and their locks: the numbers that they get, the newest
//! commit, buffers that ended ones leave to the next ones, and how many ended how.
//!
//! Invariants:
//! 1. The end of a commit record is published before the unit's locks go: whoever reads what it has
//!    changed finds it in [`UnitsOfWork::read_gate`] (K2).
//! 2. Numbers ascend, and none is given twice.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, SeqCst},
};

use base::stats::Counter;
use base::{Lsn, UowId};
use seam::sync::Mutex;

use crate::undo_list::UndoList;

/// The units of work of an open system.
pub(crate) struct UnitsOfWork {
    next: AtomicU64,
    /// The end of the newest commit record: what a reader's reply waits for (K2).
    last_commit: AtomicU64,
    /// Buffers of ended units of work, for the next ones.
    spare: Mutex<Vec<UndoList>>,
    pub(crate) commits: Counter,
    pub(crate) read_only: Counter,
    pub(crate) backouts: Counter,
}

impl UnitsOfWork {
    /// The next one has this number.
    pub(crate) fn new(next: u64) -> UnitsOfWork {
        UnitsOfWork {
            next: AtomicU64::new(next),
            last_commit: AtomicU64::new(0),
            spare: Mutex::default(),
            commits: Counter::default(),
            read_only: Counter::default(),
            backouts: Counter::default(),
        }
    }

    /// A number for a new one.
    pub(crate) fn number(&self) -> UowId {
        UowId(self.next.fetch_add(1, Relaxed))
    }

    /// The number that the next one gets, for the checkpoint.
    pub(crate) fn next_number(&self) -> u64 {
        self.next.load(SeqCst)
    }

    /// A buffer for what a new one will have to undo.
    pub(crate) fn buffer(&self) -> UndoList {
        self.spare.lock().pop().unwrap_or_default()
    }

    /// The buffer of one that has ended; it is empty.
    pub(crate) fn keep_buffer(&self, buffer: UndoList) {
        self.spare.lock().push(buffer);
    }

    /// A commit record ends there; the locks of its unit of work are still held.
    pub(crate) fn publish_commit(&self, end: Lsn) {
        self.last_commit.fetch_max(end.0, AcqRel);
    }

    /// Up to where the log must be durable before anybody is told what he reads now.
    pub(crate) fn read_gate(&self) -> Lsn {
        Lsn(self.last_commit.load(Acquire))
    }
}
