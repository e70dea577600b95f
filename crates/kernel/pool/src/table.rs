//! The translation table: which frame holds an interval.
//!
//! Chains of frames hang on buckets. Readers walk them without a lock and may be misled by a
//! concurrent change, so what they find is a guess that pinning verifies, and what they do not find
//! is looked up again under the pool's mutex, under which alone chains change.

use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use base::hash::avalanche;
use seam::reserve::Growing;

use crate::frame::{Frame, Frames};
use crate::frame_id::FrameId;
use crate::key::Key;

/// More steps than a chain has: the reader was misled onto another chain.
const STEPS_MAX: usize = 64;

/// The buckets. They become more one by one (linear hashing): the next one takes what belongs to it
/// from the one that had it so far, so nobody waits for all chains to be made anew.
pub(crate) struct Table {
    /// The number of the first frame, plus 1; 0 for none.
    buckets: Growing<AtomicU32>,
    /// How many of them are in use.
    count: AtomicU32,
    /// The power of two that is at least `count`, less 1.
    mask: AtomicU32,
}

impl Table {
    /// A table for `frames` frames, which may come to be `frames_max`.
    pub(crate) fn new(frames: usize, frames_max: usize) -> Table {
        let count = Self::wanted(frames).next_power_of_two();
        let most = Self::wanted(frames_max).next_power_of_two();
        let (buckets, count) = (Growing::new(count, most), count as u32);
        Table { buckets, count: AtomicU32::new(count), mask: AtomicU32::new(count - 1) }
    }

    fn wanted(frames: usize) -> usize {
        (frames * 2).max(16)
    }

    /// Has memory for as many buckets as so many frames want.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn make_room(&self, frames: usize) -> std::io::Result<()> {
        self.buckets.grow(Self::wanted(frames))
    }

    /// Adds a bucket, unless there are enough for so many frames. Under the pool's mutex.
    pub(crate) fn split(&self, frames: &Frames, wanted_for: usize) -> bool {
        let fresh = self.count.load(Relaxed);
        if fresh as usize >= Self::wanted(wanted_for).min(self.buckets.len()) {
            return false;
        }
        let mut mask = self.mask.load(Relaxed);
        if fresh > mask {
            mask = mask << 1 | 1;
            self.mask.store(mask, Release);
        }
        let old = self.buckets.at((fresh & (mask >> 1)) as usize);
        let (mut stay, mut go) = (FrameId::NONE, FrameId::NONE);
        let mut at = first(old);
        while at != FrameId::NONE {
            let frame = frames.get(at);
            let next = frame.next();
            let goes = avalanche(frame.key().0) as u32 & mask == fresh;
            let chain = if goes { &mut go } else { &mut stay };
            frame.set_next(*chain);
            *chain = at;
            at = next;
        }
        set_first(self.buckets.at(fresh as usize), go);
        set_first(old, stay);
        self.count.store(fresh + 1, Release);
        true
    }

    #[inline]
    fn bucket(&self, key: Key) -> &AtomicU32 {
        let (hash, mask) = (avalanche(key.0) as u32, self.mask.load(Acquire));
        let whole = hash & mask;
        let at = if whole < self.count.load(Acquire) { whole } else { hash & (mask >> 1) };
        self.buckets.at(at as usize)
    }

    /// A guess: the frame that may hold the interval.
    #[inline]
    pub(crate) fn probe<'f>(&self, frames: &'f Frames, key: Key) -> Option<&'f Frame> {
        let mut at = first(self.bucket(key));
        for _ in 0..STEPS_MAX {
            if at == FrameId::NONE {
                return None;
            }
            frames.prefetch(at, 0);
            let frame = frames.get(at);
            if frame.key() == key {
                return Some(frame);
            }
            at = frame.next();
        }
        None
    }

    /// Prefetches what the next [`probe`](Table::probe) for the interval will look at.
    #[inline]
    pub(crate) fn prefetch(&self, frames: &Frames, key: Key) {
        let at = first(self.bucket(key));
        if at != FrameId::NONE {
            frames.prefetch(at, 0);
        }
    }

    /// Hangs a frame into its chain. Under the pool's mutex.
    pub(crate) fn insert(&self, frame: &Frame, key: Key) {
        let bucket = self.bucket(key);
        frame.set_next(first(bucket));
        frame.set_key(key);
        set_first(bucket, frame.id());
    }

    /// Takes a frame out of its chain. Under the pool's mutex.
    pub(crate) fn remove(&self, frames: &Frames, frame: &Frame) {
        let bucket = self.bucket(frame.key());
        let mut at = first(bucket);
        if at == frame.id() {
            set_first(bucket, frame.next());
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

fn first(bucket: &AtomicU32) -> FrameId {
    FrameId(bucket.load(Acquire).wrapping_sub(1))
}

fn set_first(bucket: &AtomicU32, frame: FrameId) {
    bucket.store(frame.0.wrapping_add(1), Release);
}
