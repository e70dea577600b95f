//! What a data set's newest versions are where no map of it says so: the topmost map's, and during
//! restart what the log says beyond the maps.
//!
//! Invariants:
//! 1. The overlay is asked only from [`Freshness::set_overlay`] to [`Freshness::drop_overlay`]; an
//!    interval that is written meanwhile is noted in it.

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Release},
};

use base::{CiNumber, Lsn};
use seam::sync::Mutex;

use crate::Overlay;

/// Tag prefixes that are in force beside the maps.
pub(crate) struct Freshness {
    /// Tag prefix of interval 3, which nothing on this level holds.
    top: AtomicU64,
    overlay: Mutex<Overlay>,
    has_overlay: AtomicBool,
}

impl Freshness {
    pub(crate) fn new(top: u64) -> Freshness {
        Freshness {
            top: AtomicU64::new(top),
            overlay: Mutex::default(),
            has_overlay: AtomicBool::new(false),
        }
    }

    pub(crate) fn top(&self) -> u64 {
        self.top.load(Acquire)
    }

    /// Returns the one before.
    pub(crate) fn set_top(&self, prefix: u64) -> u64 {
        self.top.swap(prefix, AcqRel)
    }

    pub(crate) fn set_overlay(&self, overlay: Overlay) {
        *self.overlay.lock() = overlay;
        self.has_overlay.store(true, Release);
    }

    pub(crate) fn drop_overlay(&self) {
        self.has_overlay.store(false, Release);
        *self.overlay.lock() = Overlay::default();
    }

    pub(crate) fn with_overlay<T>(&self, look: impl FnOnce(&Overlay) -> T) -> T {
        look(&self.overlay.lock())
    }

    /// An interval was written.
    pub(crate) fn note_written(&self, ci: CiNumber, prefix: u64, page_lsn: Lsn) {
        if self.has_overlay.load(Acquire) {
            self.overlay.lock().written.insert(ci.0, (prefix, page_lsn));
        }
    }

    /// What the overlay says of an interval, if it is in force.
    pub(crate) fn overlaid(&self, ci: CiNumber) -> Option<u64> {
        if !self.has_overlay.load(Acquire) {
            return None;
        }
        self.overlay.lock().tag_prefix(ci)
    }
}
