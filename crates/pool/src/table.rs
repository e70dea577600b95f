//! The translation table: which frame holds an interval.
//!
//! Chains of frames hang on buckets. Readers walk them without a lock and may be misled by a
//! concurrent change, so what they find is a guess that pinning verifies, and what they do not find
//! is looked up again under the pool's mutex, under which alone chains change.

use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Release};

use base::hash::avalanche;

use crate::frame::{Frame, FrameId, Frames};

/// An interval of a data set as one word; 0 stands for none (data sets are numbered from 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key(pub(crate) u64);

impl Key {
    pub(crate) const NONE: Key = Key(0);

    pub(crate) fn new(set: base::DataSetId, ci: base::CiNumber) -> Key {
        Key(u64::from(set.0) << 32 | u64::from(ci.0))
    }

    pub(crate) fn set(self) -> base::DataSetId {
        base::DataSetId((self.0 >> 32) as u32)
    }

    pub(crate) fn ci(self) -> base::CiNumber {
        base::CiNumber(self.0 as u32)
    }
}

/// More steps than a chain has: the reader was misled onto another chain.
const STEPS_MAX: usize = 64;

pub(crate) struct Table {
    buckets: seam::mem::Table<AtomicU32>,
    mask: usize,
}

impl Table {
    pub(crate) fn new(frames_max: usize) -> Table {
        let count = (frames_max * 2).next_power_of_two().max(16);
        let buckets = seam::mem::Table::new(count, |_| AtomicU32::new(FrameId::NONE.0));
        Table { buckets, mask: count - 1 }
    }

    fn bucket(&self, key: Key) -> &AtomicU32 {
        &self.buckets[avalanche(key.0) as usize & self.mask]
    }

    /// A guess: the frame that may hold the interval.
    #[inline]
    pub(crate) fn probe<'f>(&self, frames: &'f Frames, key: Key) -> Option<&'f Frame> {
        let mut at = FrameId(self.bucket(key).load(Acquire));
        for _ in 0..STEPS_MAX {
            if at == FrameId::NONE {
                return None;
            }
            frames.fetch(at, 0);
            let frame = frames.get(at);
            if frame.key() == key {
                return Some(frame);
            }
            at = frame.next();
        }
        None
    }

    /// Has the processor fetch what the next [`probe`](Table::probe) for the interval will look at.
    #[inline]
    pub(crate) fn fetch(&self, frames: &Frames, key: Key) {
        let at = FrameId(self.bucket(key).load(Acquire));
        if at != FrameId::NONE {
            frames.fetch(at, 0);
        }
    }

    /// Hangs a frame into its chain. Under the pool's mutex.
    pub(crate) fn insert(&self, frame: &Frame, key: Key) {
        let bucket = self.bucket(key);
        frame.set_next(FrameId(bucket.load(Acquire)));
        frame.set_key(key);
        bucket.store(frame.id().0, Release);
    }

    /// Takes a frame out of its chain. Under the pool's mutex.
    pub(crate) fn remove(&self, frames: &Frames, frame: &Frame) {
        let bucket = self.bucket(frame.key());
        let mut at = FrameId(bucket.load(Acquire));
        if at == frame.id() {
            bucket.store(frame.next().0, Release);
        } else {
            loop {
                assert!(at != FrameId::NONE, "a frame with a key hangs in that key's chain");
                let before = frames.get(at);
                at = before.next();
                if at == frame.id() {
                    before.set_next(frame.next());
                    break;
                }
            }
        }
        frame.take_key();
    }
}
