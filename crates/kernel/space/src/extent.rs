//! How far a data set reaches: on disk, in use, and where the first free interval may be.
//!
//! Invariants:
//! 1. `intervals` changes only under `growing`, and only after the files did.
//! 2. No block before `lowest` has a free interval, but for one that was given back a moment ago.
//! 3. `peak` is behind all that was given out since somebody began to watch; until then it is
//!    behind everything.

use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use seam::sync::{Mutex, MutexGuard};

/// Where a data set ends.
pub(crate) struct Extent {
    /// Intervals on disk, in use or not.
    intervals: AtomicU32,
    /// The lowest block that may have a free interval.
    lowest: AtomicU32,
    /// Behind the last interval that was in use since somebody began to watch.
    peak: AtomicU32,
    /// Held while an interval is chosen and while the files change their length.
    growing: Mutex<()>,
}

/// Nobody else chooses an interval or changes the length of the files.
pub(crate) struct Growing<'e> {
    extent: &'e Extent,
    _held: MutexGuard<'e, ()>,
}

impl Growing<'_> {
    /// The files have this length now.
    pub(crate) fn set_intervals(&self, intervals: u32) {
        self.extent.intervals.store(intervals, Release);
    }
}

impl Extent {
    pub(crate) fn new(intervals: u32) -> Extent {
        Extent {
            intervals: AtomicU32::new(intervals),
            lowest: AtomicU32::new(0),
            peak: AtomicU32::new(u32::MAX),
            growing: Mutex::new(()),
        }
    }

    pub(crate) fn growing(&self) -> Growing<'_> {
        Growing { extent: self, _held: self.growing.lock() }
    }

    /// Intervals on disk, in use or not.
    pub(crate) fn intervals(&self) -> u32 {
        self.intervals.load(Acquire)
    }

    /// The lowest block that may have a free interval.
    pub(crate) fn lowest(&self) -> u32 {
        self.lowest.load(Relaxed)
    }

    /// A block is full from its front: allocation without a wish need not look there again.
    pub(crate) fn note_full(&self, block: u32) {
        let _ = self.lowest.compare_exchange(block, block + 1, Release, Relaxed);
    }

    /// An interval of a block is free again.
    pub(crate) fn note_free(&self, block: u32) {
        self.lowest.fetch_min(block, Release);
    }

    /// From now on `peak` says how far use gets.
    pub(crate) fn watch_peak(&self) {
        self.peak.store(0, Release);
    }

    /// All before this number may be in use.
    pub(crate) fn note_used_before(&self, behind: u32) {
        self.peak.fetch_max(behind, AcqRel);
    }

    /// Behind the last interval that was in use since somebody began to watch.
    pub(crate) fn peak(&self) -> u32 {
        self.peak.load(Acquire)
    }
}
