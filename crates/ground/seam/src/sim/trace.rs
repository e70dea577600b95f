//! What a run leaves behind of its course: counts, the fingerprint, the schedule.
//!
//! Invariants:
//! 1. The fingerprint depends on who ran when and on nothing else.
//! 2. Nothing here decides anything: a run with and without a schedule goes the same way.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::{Rarely, Step};

/// The course of a run.
#[derive(Default)]
pub(super) struct Trace {
    /// Scheduling points passed.
    pub(super) points: Cell<u64>,
    /// Changes of the running task.
    pub(super) switches: Cell<u64>,
    pub(super) fingerprint: Cell<u64>,
    pub(super) schedule: RefCell<Vec<Step>>,
    pub(super) rarely: RefCell<BTreeMap<&'static str, Rarely>>,
}

impl Trace {
    /// Counts a scheduling point, and says how many there were.
    #[inline]
    pub(super) fn point(&self) -> u64 {
        let points = self.points.get() + 1;
        self.points.set(points);
        points
    }

    /// A task goes on, after another one or after itself.
    pub(super) fn resume(&self, task: usize, is_switch: bool) {
        self.switches.set(self.switches.get() + u64::from(is_switch));
        let mark = self.fingerprint.get() ^ ((task as u64) << 48) ^ self.points.get();
        self.fingerprint.set(base::hash::avalanche(mark));
    }

    /// Keeps a change of the running task.
    pub(super) fn note(&self, step: Step) {
        self.schedule.borrow_mut().push(step);
    }

    /// Counts a question for a rare branch.
    pub(super) fn rarely(&self, name: &'static str, taken: bool) {
        let mut counts = self.rarely.borrow_mut();
        let count = counts.entry(name).or_default();
        count.asked += 1;
        count.taken += u64::from(taken);
    }
}
