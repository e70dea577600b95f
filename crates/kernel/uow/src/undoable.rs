//! What a recovery would have to undo of the units of work that it has seen begin.
//!
//! Invariants:
//! 1. Changes of a unit of work stand in the order of the log.
//! 2. What belonged to a unit of work that is over is used again for the next one: in a long log
//!    most of them are over after a few records.

use base::hash::FixedMap;
use base::{Lsn, UowId};

/// A change that its unit of work has not undone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undoable {
    pub(crate) lsn: Lsn,
    /// The record of its unit of work in front of it.
    pub(crate) previous: Lsn,
    pub(crate) kind: u8,
    /// Its undo was left to this recovery.
    pub(crate) skipped: bool,
    body: (usize, usize),
}

/// The changes of one unit of work.
#[derive(Default)]
pub(crate) struct Unit {
    changes: Vec<Undoable>,
    bodies: Vec<u8>,
}

/// A unit's memory is used again only if it is not larger than this.
const SPARE_BYTES_MAX: usize = 4 << 10;
/// So many units are kept to be used again.
const SPARE_MAX: usize = 256;

impl Unit {
    /// Adds a change unless it is known already, which one that is not newer is.
    pub(crate) fn add(&mut self, (lsn, previous): (Lsn, Lsn), kind: u8, body: &[u8]) {
        if self.changes.last().is_some_and(|last| last.lsn >= lsn) {
            return;
        }
        let from = self.bodies.len();
        self.bodies.extend_from_slice(body);
        let body = (from, self.bodies.len());
        self.changes.push(Undoable { lsn, previous, kind, skipped: false, body });
    }

    /// Keeps only some of the changes.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&Undoable) -> bool) {
        self.changes.retain(keep);
    }

    /// The newest change whose undo was not skipped.
    pub(crate) fn newest_mut(&mut self) -> Option<&mut Undoable> {
        self.changes.iter_mut().rev().find(|change| !change.skipped)
    }

    /// Its oldest change.
    pub(crate) fn first(&self) -> Option<&Undoable> {
        self.changes.first()
    }
}

/// Units of work that have changed something, and are not over as far as the log was seen.
#[derive(Default)]
pub(crate) struct Units {
    known: FixedMap<UowId, Unit>,
    spare: Vec<Unit>,
}

impl Units {
    /// What is known of a unit of work.
    pub(crate) fn get_mut(&mut self, uow: UowId) -> Option<&mut Unit> {
        self.known.get_mut(&uow)
    }

    /// The same; it is known from now on.
    pub(crate) fn enter(&mut self, uow: UowId) -> &mut Unit {
        let spare = &mut self.spare;
        self.known.entry(uow).or_insert_with(|| spare.pop().unwrap_or_default())
    }

    /// A unit of work is over: nothing of it is to be undone.
    pub(crate) fn over(&mut self, uow: UowId) {
        let Some(mut unit) = self.known.remove(&uow) else { return };
        if self.spare.len() < SPARE_MAX && unit.bodies.capacity() <= SPARE_BYTES_MAX {
            unit.changes.clear();
            unit.bodies.clear();
            self.spare.push(unit);
        }
    }

    /// Forgets them all.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }

    /// All of them, by their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = (UowId, &Unit)> {
        let mut all: Vec<_> = self.known.iter().map(|(uow, unit)| (*uow, unit)).collect();
        all.sort_unstable_by_key(|(uow, _)| *uow);
        all.into_iter()
    }

    /// The changes of all of them with their bodies, the newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = (Undoable, &[u8])> {
        let mut changes = Vec::new();
        for Unit { changes: own, bodies } in self.known.values() {
            changes.extend(own.iter().map(|one| (*one, &bodies[one.body.0..one.body.1])));
        }
        changes.sort_unstable_by_key(|(change, _)| change.lsn);
        changes.into_iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_all_units_come_newest_first_without_those_that_are_over() {
        let mut units = Units::default();
        for lsn in 1..=9_u64 {
            let (uow, lsns) = (UowId(lsn % 3), (Lsn(lsn), Lsn::NONE));
            units.enter(uow).add(lsns, 40, &lsn.to_le_bytes());
            units.enter(uow).add(lsns, 40, b"twice");
        }
        units.over(UowId(1));
        units.enter(UowId(7)).add((Lsn(20), Lsn::NONE), 41, b"again");
        let found: Vec<_> = units.newest_first().map(|(one, body)| (one.lsn.0, body)).collect();
        assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), [20, 9, 8, 6, 5, 3, 2]);
        assert_eq!((found[0].1, found[1].1), (&b"again"[..], &9_u64.to_le_bytes()[..]));
        assert_eq!(units.all().map(|(uow, _)| uow.0).collect::<Vec<_>>(), [0, 2, 7]);
    }
}
