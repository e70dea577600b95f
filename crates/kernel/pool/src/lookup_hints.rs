//! Lookup hints: where something was found the last time. The next search for it begins there
//! instead of at a root.
//!
//! An entry is a word:
//!
//! | bits | holds |
//! |---|---|
//! | 28, highest | of the hash of what is sought; the lowest of them is set, so that no entry is 0 |
//! | 8 | where in the frame it stood, in parts of 256: for a prefetch, nothing else |
//! | 28 | the frame |
//!
//! What is sought is known here as a hash alone; what a lookup hint leads to is for the seeker to
//! check. So an entry may be wrong, stale or another's, and costs a search then and nothing else.
//!
//! Invariants:
//! 1. A lookup hint is never a promise: a search that follows it pins the frame, latches it, and
//!    looks at what it holds (H10).
//! 2. There are at least [`PER_FRAME`] entries of eight bytes for each frame, and fewer than twice
//!    as many, since their number is a power of two: a small share of the pool (K23).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use seam::reserve::Growing;

use crate::frame_id::FrameId;

/// Entries for each frame, at least: somewhat fewer than small records have room in one, because
/// what belongs together shares an entry.
const PER_FRAME: usize = 8;

const FRAME_BITS: u32 = 28;
/// Into so many parts a frame is divided to say where in it something stands.
pub(crate) const PARTS: usize = 256;
const TAG_SHIFT: u32 = FRAME_BITS + 8;

/// Where something was found: the frame, and the part of it, of 256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) frame: FrameId,
    pub(crate) part: u8,
}

/// The lookup hints of a pool.
pub(crate) struct LookupHints {
    entries: Growing<AtomicU64>,
    mask: AtomicUsize,
}

impl LookupHints {
    /// Hints for `frames` frames, which may come to be `frames_max`.
    pub(crate) fn new(frames: usize, frames_max: usize) -> LookupHints {
        let count = Self::count(frames);
        let entries = Growing::new(count, Self::count(frames_max));
        LookupHints { entries, mask: AtomicUsize::new(count - 1) }
    }

    fn count(frames: usize) -> usize {
        (frames * PER_FRAME).next_power_of_two()
    }

    /// The pool has so many frames now. Whoever looks meanwhile may miss what was noted.
    ///
    /// # Errors
    /// If there is no memory for more; they stay as they are then.
    pub(crate) fn resize(&self, frames: usize) -> std::io::Result<()> {
        let count = Self::count(frames);
        self.entries.grow(count)?;
        self.mask.store(count - 1, Relaxed);
        self.entries.clear_from(count);
        Ok(())
    }

    #[inline]
    pub(crate) fn get(&self, hash: u64) -> Option<Spot> {
        let places = self.places(hash).map(|place| self.entries.at(place).load(Relaxed));
        places.into_iter().find(|entry| entry >> TAG_SHIFT == tag(hash)).map(|entry| Spot {
            frame: FrameId(entry as u32 & ((1 << FRAME_BITS) - 1)),
            part: (entry >> FRAME_BITS) as u8,
        })
    }

    /// Prefetches the entry that [`get`](LookupHints::get) will look at.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        let [first, _] = self.places(hash);
        seam::mem::prefetch_line(self.entries.at(first));
    }

    /// Notes a spot in the first of two places; what was there goes to the other one.
    #[inline]
    pub(crate) fn set(&self, hash: u64, spot: Spot) {
        let [first, second] = self.places(hash).map(|place| self.entries.at(place));
        let found = u64::from(spot.part) << FRAME_BITS | u64::from(spot.frame.0);
        let before = first.swap(tag(hash) << TAG_SHIFT | found, Relaxed);
        if before >> TAG_SHIFT != tag(hash) {
            second.store(before, Relaxed);
        }
    }

    /// Two neighbours, in one line of the processor's cache.
    #[inline]
    fn places(&self, hash: u64) -> [usize; 2] {
        let first = hash as usize & self.mask.load(Relaxed);
        [first, first ^ 1]
    }
}

#[inline]
fn tag(hash: u64) -> u64 {
    hash >> TAG_SHIFT | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_found_until_two_others_take_its_places() {
        let hints = LookupHints::new(2, 4);
        let at = |frame, part| Spot { frame: FrameId(frame), part };
        assert_eq!(hints.get(0), None, "an entry that nobody wrote leads nowhere");
        let [one, two, three] = [0x1234_5678, 0x9999_9999, 0x7777_7777].map(|tag| tag << 32 | 3);
        hints.set(one, at(7, 255));
        assert_eq!((hints.get(one), hints.get(two)), (Some(at(7, 255)), None));
        hints.set(two, at(9, 0));
        assert_eq!((hints.get(one), hints.get(two)), (Some(at(7, 255)), Some(at(9, 0))));
        hints.set(two, at((1 << FRAME_BITS) - 1, 3));
        assert_eq!(hints.get(one), Some(at(7, 255)), "noting again takes no other place");
        hints.set(three, at(5, 1));
        let two_now = Some(at((1 << FRAME_BITS) - 1, 3));
        assert_eq!((hints.get(one), hints.get(two)), (None, two_now));
    }

    #[test]
    fn a_pool_that_grows_and_shrinks_has_its_share_of_them() {
        let hints = LookupHints::new(2, 1 << 16);
        let spot = |frame| Spot { frame: FrameId(frame), part: 0 };
        let hashes: Vec<u64> = (0..10_000).map(base::hash::avalanche).collect();
        for frames in [1 << 16, 2, 1 << 15] {
            hints.resize(frames).unwrap();
            let note = |(number, hash): (usize, &u64)| hints.set(*hash, spot(number as u32));
            hashes.iter().enumerate().for_each(note);
            let found = hashes.iter().filter(|hash| hints.get(**hash).is_some()).count();
            assert!(found <= frames * PER_FRAME && (frames == 2 || found > 9_500), "{found}");
        }
    }
}
