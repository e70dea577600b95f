//! What restart knows about a data set's map before the map itself is up to date.
//!
//! The log says which intervals were written, given out and given back since the redo point. Until
//! that has been put into the map intervals, the overlay answers first (K5: map = checkpoint +
//! these records).

use base::hash::FixedMap;
use base::{CiNumber, Lsn};

/// The newest word of the log on each interval that it mentions.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    /// Tag prefix on disk, and the page LSN that the interval has there.
    pub written: FixedMap<u32, (u64, Lsn)>,
    /// Whether it is in use.
    pub used: FixedMap<u32, bool>,
}

impl Overlay {
    /// The tag prefix that the interval has on disk, if the log says so.
    #[must_use]
    pub fn tag_prefix(&self, ci: CiNumber) -> Option<u64> {
        self.written.get(&ci.0).map(|(prefix, _)| *prefix)
    }

    /// The page LSN that the interval has on disk, if the log says so.
    #[must_use]
    pub fn page_lsn(&self, ci: CiNumber) -> Option<Lsn> {
        self.written.get(&ci.0).map(|(_, lsn)| *lsn)
    }

    /// The last interval that must have room on the device.
    #[must_use]
    pub fn last_in_use(&self) -> Option<CiNumber> {
        let used = self.used.iter().filter(|(_, used)| **used).map(|(ci, _)| *ci);
        self.written.keys().copied().chain(used).max().map(CiNumber)
    }

    /// Every interval that the overlay knows something of, ascending.
    #[must_use]
    pub fn intervals(&self) -> Vec<CiNumber> {
        let mut all: Vec<u32> = self.written.keys().chain(self.used.keys()).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(CiNumber).collect()
    }
}
