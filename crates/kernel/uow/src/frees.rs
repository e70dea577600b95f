//! Intervals that committed units of work have freed: they are given back once the commit is
//! durable, so that no crash finds them used again by a unit of work that came later.
//!
//! Invariants:
//! 1. They are here from before their unit of work is no longer active until the last of them is
//!    given back, so that every checkpoint has them in one place or the other.

use std::collections::BTreeMap;

use base::{DataSetId, Lsn, UowId};
use seam::sync::Mutex;

use crate::record::Interval;

/// What is to be given back, by the unit of work that has freed it.
#[derive(Default)]
pub(crate) struct Frees {
    /// With each the LSN that must be durable before.
    waiting: Mutex<BTreeMap<UowId, (Lsn, Vec<Interval>)>>,
}

impl Frees {
    /// A unit of work is committed; its record ends at `after`.
    pub(crate) fn add(&self, uow: UowId, after: Lsn, intervals: Vec<Interval>) {
        self.waiting.lock().insert(uow, (after, intervals));
    }

    /// All of it, for the checkpoint.
    pub(crate) fn list(&self) -> BTreeMap<UowId, Vec<Interval>> {
        let waiting = self.waiting.lock().clone();
        waiting.into_iter().map(|(uow, (_, intervals))| (uow, intervals)).collect()
    }

    /// What a unit of work has freed whose commit is durable.
    pub(crate) fn ready(&self, durable: Lsn) -> Option<(UowId, Vec<Interval>)> {
        let waiting = self.waiting.lock();
        let mut ready = waiting.iter().filter(|(_, (after, _))| *after <= durable);
        ready.next().map(|(uow, (_, intervals))| (*uow, intervals.clone()))
    }

    /// All that a unit of work has freed is given back.
    pub(crate) fn remove(&self, uow: UowId) {
        self.waiting.lock().remove(&uow);
    }

    /// What must be durable before nothing of a data set waits; nothing if nothing does.
    pub(crate) fn pending(&self, set: DataSetId) -> Option<Lsn> {
        let waiting = self.waiting.lock();
        let of_set = |free: &&(Lsn, Vec<Interval>)| free.1.iter().any(|(id, _)| *id == set);
        waiting.values().filter(of_set).map(|(after, _)| *after).max()
    }
}
