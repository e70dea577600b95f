//! Landmarks: in which frame something was found the last time, so that the next search for it
//! begins there instead of at a root.
//!
//! What is sought is known here as a hash alone; what a landmark leads to is for the seeker to
//! check. So an entry may be wrong, stale or another's, and costs a search then and nothing else.
//!
//! Invariants:
//! 1. A landmark is never a promise: whoever follows it pins the frame, latches it, and looks at
//!    what it holds (H10).
//! 2. There are [`PER_FRAME`] entries of eight bytes for each frame: a small and fixed share of the
//!    pool (K23).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::frame::FrameId;

/// Entries for each frame: somewhat fewer than small records have room in one, because what
/// belongs together shares an entry.
const PER_FRAME: usize = 8;

/// One entry: the upper half is that of the hash, with the lowest bit set so that no entry is 0;
/// the lower half is the frame.
pub(crate) struct Landmarks {
    entries: Box<[AtomicU64]>,
    mask: usize,
}

impl Landmarks {
    pub(crate) fn new(frames: usize) -> Landmarks {
        let count = (frames * PER_FRAME).next_power_of_two();
        let entries = seam::mem::table(count, |_| AtomicU64::new(0));
        Landmarks { entries, mask: count - 1 }
    }

    #[inline]
    pub(crate) fn get(&self, hash: u64) -> Option<FrameId> {
        let places = self.places(hash).map(|place| self.entries[place].load(Relaxed));
        places.into_iter().find(|entry| entry >> 32 == tag(hash)).map(|entry| FrameId(entry as u32))
    }

    /// Notes a frame in the first of two places; what was there goes to the other one.
    #[inline]
    pub(crate) fn set(&self, hash: u64, frame: FrameId) {
        let [first, second] = self.places(hash).map(|place| &self.entries[place]);
        let before = first.swap(tag(hash) << 32 | u64::from(frame.0), Relaxed);
        if before >> 32 != tag(hash) {
            second.store(before, Relaxed);
        }
    }

    /// Two neighbours, in one line of the processor's cache.
    #[inline]
    fn places(&self, hash: u64) -> [usize; 2] {
        let first = hash as usize & self.mask;
        [first, first ^ 1]
    }
}

#[inline]
fn tag(hash: u64) -> u64 {
    hash >> 32 | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_found_until_two_others_take_its_places() {
        let landmarks = Landmarks::new(2);
        assert_eq!(landmarks.get(0), None, "an entry that nobody wrote leads nowhere");
        let [one, two, three] = [0x1234_5678, 0x9999_9999, 0x7777_7777].map(|tag| tag << 32 | 3);
        landmarks.set(one, FrameId(7));
        assert_eq!((landmarks.get(one), landmarks.get(two)), (Some(FrameId(7)), None));
        landmarks.set(two, FrameId(9));
        assert_eq!((landmarks.get(one), landmarks.get(two)), (Some(FrameId(7)), Some(FrameId(9))));
        landmarks.set(two, FrameId(8));
        assert_eq!(landmarks.get(one), Some(FrameId(7)), "noting again takes no other place");
        landmarks.set(three, FrameId(5));
        assert_eq!((landmarks.get(one), landmarks.get(two)), (None, Some(FrameId(8))));
    }
}
