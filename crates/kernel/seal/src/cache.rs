//! Working keys of earlier opens, found again without a lock.
//!
//! After a restart nearly every page is of an earlier open, so this is as hot as the current key.
//!
//! 1. A key is kept only after it has opened a page: forged salts cannot push good keys out.
//! 2. The first [`SEATS`] keys stay for the life of the data set's sealer and are found without a
//!    lock; [`SPARES_MAX`] more share a list under a mutex, the one not used for longest leaves.
//!    A list is enough: who opens a data set more often between two reorganizations or image
//!    copies than there are seats pays a mutex, and beyond the list 2 us for deriving a key.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use base::KeyGeneration;
use seam::sync::Mutex;

use crate::{Salt, WorkingKey};

/// How many keys are found without a lock.
const SEATS: usize = 8;
/// How many more are kept.
const SPARES_MAX: usize = 24;

/// The working key of one earlier open.
pub(crate) struct OldKey {
    pub(crate) generation: KeyGeneration,
    pub(crate) salt: Salt,
    pub(crate) key: WorkingKey,
}

/// See the head of this file.
#[derive(Default)]
pub(crate) struct KeyCache {
    seats: [OnceLock<OldKey>; SEATS],
    spares: Mutex<Vec<Arc<OldKey>>>,
}

/// A key that was found.
pub(crate) enum Found<'a> {
    Seat(&'a OldKey),
    Spare(Arc<OldKey>),
}

impl KeyCache {
    /// The key of that generation and salt, if it is here.
    #[inline]
    pub(crate) fn find(&self, generation: KeyGeneration, salt: &Salt) -> Option<Found<'_>> {
        for seat in &self.seats {
            let key = seat.get()?;
            if key.is(generation, salt) {
                return Some(Found::Seat(key));
            }
        }
        self.find_spare(generation, salt)
    }

    fn find_spare(&self, generation: KeyGeneration, salt: &Salt) -> Option<Found<'_>> {
        let mut spares = self.spares.lock();
        let at = spares.iter().position(|spare| spare.is(generation, salt))?;
        // The front is what was used last.
        spares[..=at].rotate_right(1);
        Some(Found::Spare(Arc::clone(&spares[0])))
    }

    /// Keeps a key that has opened a page.
    pub(crate) fn keep(&self, key: OldKey) {
        if self.find(key.generation, &key.salt).is_some() {
            return;
        }
        // Two threads that keep the same key at once may give it two seats, which does no harm.
        let mut key = key;
        for seat in &self.seats {
            match seat.set(key) {
                Ok(()) => return,
                Err(taken) => key = taken,
            }
        }
        let mut spares = self.spares.lock();
        spares.truncate(SPARES_MAX - 1);
        spares.insert(0, Arc::new(key));
    }
}

impl OldKey {
    #[inline]
    fn is(&self, generation: KeyGeneration, salt: &Salt) -> bool {
        self.salt == *salt && self.generation == generation
    }
}

impl Deref for Found<'_> {
    type Target = WorkingKey;

    #[inline]
    fn deref(&self) -> &WorkingKey {
        match self {
            Found::Seat(old) => &old.key,
            Found::Spare(old) => &old.key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old(number: u8) -> OldKey {
        let key = WorkingKey::plain(&[number]);
        OldKey { generation: KeyGeneration(1), salt: Salt([number; 16]), key }
    }

    fn has(cache: &KeyCache, number: u8) -> bool {
        let found = cache.find(KeyGeneration(1), &Salt([number; 16]));
        let payload = &mut [0; 4];
        found.is_some_and(|key| {
            // The right key, not merely some key.
            key.seal(1, b"", payload) == WorkingKey::plain(&[number]).seal(1, b"", payload)
        })
    }

    #[test]
    fn seats_stay_and_the_spare_not_used_for_longest_leaves() {
        let cache = KeyCache::default();
        let full = (SEATS + SPARES_MAX) as u8;
        (0..full).for_each(|number| cache.keep(old(number)));
        assert!((0..full).all(|number| has(&cache, number)));
        // Looking at all in order made the first spare the oldest; look at it again.
        assert!(has(&cache, SEATS as u8));
        cache.keep(old(200));
        assert!(has(&cache, 200) && has(&cache, SEATS as u8) && has(&cache, 0));
        assert!(!has(&cache, SEATS as u8 + 1));
    }

    #[test]
    fn a_key_of_another_generation_or_salt_is_not_found() {
        let cache = KeyCache::default();
        cache.keep(old(1));
        assert!(cache.find(KeyGeneration(2), &Salt([1; 16])).is_none());
        assert!(cache.find(KeyGeneration(1), &Salt([2; 16])).is_none());
        assert!(has(&cache, 1));
    }

    #[test]
    fn keeping_a_key_twice_uses_one_place() {
        let cache = KeyCache::default();
        for _ in 0..100 {
            cache.keep(old(1));
        }
        assert!(cache.seats[1].get().is_none());
    }
}
