//! Whom the latest units of work stand for, to be named when another waits for one in vain.
//!
//! A small table that forgets: a unit of work's place is its number modulo the table's size. Noting
//! costs three stores and no lock, and the answer is asked for only when a wait was in vain.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

use base::UowId;

/// The table.
pub(crate) struct Owners {
    places: Box<[Place]>,
}

#[derive(Default)]
struct Place {
    uow: AtomicU64,
    owner: AtomicU64,
}

const PLACES: usize = 1_024;

impl Default for Owners {
    fn default() -> Owners {
        Owners { places: (0..PLACES).map(|_| Place::default()).collect() }
    }
}

impl Owners {
    /// Notes whom a unit of work stands for; zero is nobody.
    #[inline]
    pub(crate) fn note(&self, uow: UowId, owner: u64) {
        if owner != 0 {
            let place = &self.places[uow.0 as usize % PLACES];
            place.uow.store(0, Release);
            place.owner.store(owner, Release);
            place.uow.store(uow.0, Release);
        }
    }

    /// Whom it stands for, if that is still known.
    pub(crate) fn of(&self, uow: UowId) -> Option<u64> {
        let place = &self.places[uow.0 as usize % PLACES];
        let before = place.uow.load(Acquire);
        let owner = place.owner.load(Acquire);
        (before == uow.0 && place.uow.load(Acquire) == uow.0).then_some(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_owner_of_a_place_is_known() {
        let owners = Owners::default();
        owners.note(UowId(7), 70);
        owners.note(UowId(8), 0);
        assert_eq!((owners.of(UowId(7)), owners.of(UowId(8))), (Some(70), None));
        owners.note(UowId(7 + PLACES as u64), 71);
        assert_eq!(owners.of(UowId(7)), None);
    }
}
