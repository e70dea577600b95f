//! The positions of a running log: up to where it is sealed, durable and landed, and up to where
//! somebody wants it to be.
//!
//! Invariants:
//! 1. `landed <= durable <= covered <= next`, where `covered` is the larger of `taken` and
//!    `ahead`, and `next` is the ring's end; `landed <= taken`. All but `ahead` only grow; without
//!    a write-ahead data set it is 0, and `landed` is `durable`.
//! 2. What is wanted only grows.
//!
//! All of them are read without a lock. Who waits for one of them looks at it again under the
//! flush state's.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use base::Lsn;

/// How far the log is, and how far it shall be.
pub(crate) struct Positions {
    /// Everything before has been sealed in groups.
    taken: AtomicU64,
    /// Everything before has been sealed in entries of the write-ahead data set, or in groups.
    ahead: AtomicU64,
    /// Everything before is on all living copies, or in the write-ahead data set.
    durable: AtomicU64,
    /// The log itself has everything before: without a write-ahead data set as much as is durable.
    landed: AtomicU64,
    /// Somebody waits for everything before to be durable.
    wanted: AtomicU64,
    /// Somebody waits for everything before to be in the log itself.
    landing_wanted: AtomicU64,
    /// A group that is delayed waits no longer once the log ends here.
    enough: AtomicU64,
}

impl Positions {
    /// A log that has landed up to `end`.
    pub(crate) fn new(end: u64) -> Positions {
        Positions {
            taken: AtomicU64::new(end),
            ahead: AtomicU64::new(0),
            durable: AtomicU64::new(end),
            landed: AtomicU64::new(end),
            wanted: AtomicU64::new(end),
            landing_wanted: AtomicU64::new(0),
            enough: AtomicU64::new(u64::MAX),
        }
    }

    /// Everything before is sealed in groups.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(SeqCst)
    }

    /// A group is sealed that ends here.
    pub(crate) fn set_taken(&self, to: u64) {
        self.taken.store(to, SeqCst);
    }

    /// An entry is sealed that ends here; 0: nothing is written ahead any more, and what entries
    /// had is to be sealed in groups.
    pub(crate) fn set_ahead(&self, to: u64) {
        self.ahead.store(to, SeqCst);
    }

    /// Everything before is sealed, in a group or in an entry.
    pub(crate) fn covered(&self) -> u64 {
        self.taken().max(self.ahead.load(SeqCst))
    }

    pub(crate) fn durable(&self) -> Lsn {
        Lsn(self.durable.load(SeqCst))
    }

    pub(crate) fn grow_durable(&self, durable: Lsn) {
        self.durable.fetch_max(durable.0, SeqCst);
    }

    /// The log itself holds everything before, durably.
    pub(crate) fn landed(&self) -> Lsn {
        Lsn(self.landed.load(SeqCst))
    }

    pub(crate) fn grow_landed(&self, landed: Lsn) {
        self.landed.fetch_max(landed.0, SeqCst);
    }

    #[inline]
    pub(crate) fn wanted(&self) -> u64 {
        self.wanted.load(SeqCst)
    }

    pub(crate) fn want(&self, up_to: u64) {
        self.wanted.fetch_max(up_to, SeqCst);
    }

    pub(crate) fn landing_wanted(&self) -> u64 {
        self.landing_wanted.load(SeqCst)
    }

    pub(crate) fn want_landed(&self, up_to: u64) {
        self.landing_wanted.fetch_max(up_to, SeqCst);
    }

    #[inline]
    pub(crate) fn enough(&self) -> u64 {
        self.enough.load(SeqCst)
    }

    /// A group is delayed until the log ends here.
    pub(crate) fn set_enough(&self, end: u64) {
        self.enough.store(end, SeqCst);
    }

    /// No group is delayed.
    pub(crate) fn end_delay(&self) {
        self.set_enough(u64::MAX);
    }
}
