//! Control intervals whose newest version in a chain of copies has not proven itself yet.
//!
//! Invariants:
//! 1. Of an interval only the newest version in the chain has to prove itself: an older one that
//!    is lost costs nothing if a newer copy holds the interval.
//! 2. What the newest copy does not call used is no longer needed.

use std::collections::{BTreeMap, BTreeSet};

use base::CiNumber;
use seam::failpoint::{Failpoint, armed};

use crate::RecoveryError;

/// Intervals that copies of a chain have lost, and no newer one has given yet.
#[derive(Default)]
pub(crate) struct Unproven {
    /// By which copy, and what was wrong there.
    lost: BTreeMap<CiNumber, (u32, RecoveryError)>,
    /// Those of them that the copy which is read has not called used.
    unused: BTreeSet<CiNumber>,
}

impl Unproven {
    /// The next copy of the chain begins.
    pub(crate) fn begin_copy(&mut self) {
        self.unused = self.lost.keys().copied().collect();
    }

    /// The copy calls an interval used.
    pub(crate) fn used(&mut self, ci: CiNumber) {
        self.unused.remove(&ci);
    }

    /// The copy has lost an interval.
    pub(crate) fn lose(&mut self, ci: CiNumber, copy: u32, error: RecoveryError) {
        if !armed(Failpoint::LostIntervalForgiven) {
            self.lost.insert(ci, (copy, error));
        }
    }

    /// The copy gives an interval.
    pub(crate) fn give(&mut self, ci: CiNumber) {
        self.lost.remove(&ci);
    }

    /// The copy was read whole.
    pub(crate) fn end_copy(&mut self) {
        for ci in std::mem::take(&mut self.unused) {
            self.lost.remove(&ci);
        }
    }

    /// What is unproven at the end of the chain: the first interval's copy, and what is wrong.
    pub(crate) fn take_first(&mut self) -> Option<(u32, RecoveryError)> {
        self.lost.pop_first().map(|(_, unproven)| unproven)
    }
}
