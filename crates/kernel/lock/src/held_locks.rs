//! The locks that one unit of work holds, as its own thread sees them.
//!
//! A lock that is already held in a mode that covers the request is found here, without a look
//! at the shared table: the intent lock on a data set is asked for at every call and taken once.
//!
//! Invariants:
//! 1. Entries are unique by name.
//! 2. Up to [`SCAN_MAX`] entries are scanned; from there on `index` has one slot for each entry,
//!    reached by linear probing without gaps, and is at most half full.
//! 3. Entries carry rising sequence numbers; marks compare with these, not with places.

use crate::{LockName, Mode};

/// One lock.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub(crate) name: LockName,
    /// Its request in the table of its shard.
    pub(crate) request: u32,
    /// When it was taken, as a count of the locks this owner took.
    pub(crate) sequence: u32,
    pub(crate) mode: Mode,
}

/// How many entries a scan beats the index on.
const SCAN_MAX: usize = 8;

/// For how many entries the memory is kept from one unit of work to the next.
const KEPT_MAX: usize = 4_096;

#[derive(Default)]
pub(crate) struct HeldLocks {
    entries: Vec<Held>,
    /// Places in `entries` plus one; zero is an empty slot. A power of two, or nothing.
    index: Vec<u32>,
    next_sequence: u32,
}

impl HeldLocks {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The sequence number of the next lock.
    pub(crate) fn mark(&self) -> u32 {
        self.next_sequence
    }

    pub(crate) fn entries(&self) -> &[Held] {
        &self.entries
    }

    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut Held {
        &mut self.entries[place]
    }

    /// Where `name` stands.
    #[inline]
    pub(crate) fn find(&self, name: LockName) -> Option<usize> {
        if self.entries.len() <= SCAN_MAX {
            return self.entries.iter().position(|held| held.name == name);
        }
        let mask = self.index.len() - 1;
        let mut slot = name.mixed() as usize & mask;
        loop {
            match self.index[slot] {
                0 => return None,
                entry if self.entries[entry as usize - 1].name == name => {
                    return Some(entry as usize - 1);
                }
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// Adds a lock whose name is not there.
    #[inline]
    pub(crate) fn add(&mut self, name: LockName, request: u32, mode: Mode) {
        debug_assert!(self.find(name).is_none(), "{name} is held twice by one owner");
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.entries.push(Held { name, request, sequence, mode });
        let len = self.entries.len();
        if len > SCAN_MAX {
            if len == SCAN_MAX + 1 || self.index.len() < 2 * len {
                self.rebuild();
            } else {
                self.enter(len - 1);
            }
        }
    }

    /// Takes the lock at `place` out; the last entry moves there.
    pub(crate) fn remove(&mut self, place: usize) -> Held {
        if self.entries.len() > SCAN_MAX + 1 {
            self.leave(place);
            let last = self.entries.len() - 1;
            if place != last {
                let slot = self.slot_of(last);
                self.index[slot] = place as u32 + 1;
            }
        }
        self.entries.swap_remove(place)
    }

    /// Forgets all entries. Their memory stays, unless it is that of an unusual owner.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.next_sequence = 0;
        if self.entries.capacity() > KEPT_MAX {
            *self = HeldLocks::default();
        }
    }

    fn rebuild(&mut self) {
        let slots = (4 * self.entries.len()).next_power_of_two();
        self.index.clear();
        self.index.resize(slots, 0);
        for place in 0..self.entries.len() {
            self.enter(place);
        }
    }

    fn enter(&mut self, place: usize) {
        let mask = self.index.len() - 1;
        let mut slot = self.entries[place].name.mixed() as usize & mask;
        while self.index[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.index[slot] = place as u32 + 1;
    }

    fn slot_of(&self, place: usize) -> usize {
        let mask = self.index.len() - 1;
        let mut slot = self.entries[place].name.mixed() as usize & mask;
        while self.index[slot] != place as u32 + 1 {
            assert!(self.index[slot] != 0, "a held lock is missing from its owner's index");
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Empties the slot of `place` and closes the gap behind it.
    fn leave(&mut self, place: usize) {
        let mask = self.index.len() - 1;
        let mut gap = self.slot_of(place);
        let mut slot = gap;
        loop {
            slot = (slot + 1) & mask;
            let entry = self.index[slot];
            if entry == 0 {
                break;
            }
            let home = self.entries[entry as usize - 1].name.mixed() as usize & mask;
            // The entry may move back only if its home does not lie behind the gap.
            if (slot.wrapping_sub(home) & mask) >= (slot.wrapping_sub(gap) & mask) {
                self.index[gap] = entry;
                gap = slot;
            }
        }
        self.index[gap] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_index_finds_what_a_scan_finds(
            steps in prop::collection::vec((0_u64..64, any::<bool>()), 0..400)
        ) {
            let mut held = HeldLocks::default();
            let mut model: Vec<u64> = Vec::new();
            for (hash, add) in steps {
                let name = LockName::user(1, hash);
                prop_assert_eq!(held.find(name).is_some(), model.contains(&hash));
                match (add, held.find(name)) {
                    (true, None) => {
                        held.add(name, hash as u32, Mode::Shared);
                        model.push(hash);
                    }
                    (false, Some(place)) => {
                        prop_assert_eq!(u64::from(held.remove(place).request), hash);
                        model.retain(|other| *other != hash);
                    }
                    _ => {}
                }
                prop_assert_eq!(held.len(), model.len());
            }
            for hash in 0..64 {
                let found = held.find(LockName::user(1, hash));
                prop_assert_eq!(found.is_some(), model.contains(&hash));
            }
        }
    }
}
