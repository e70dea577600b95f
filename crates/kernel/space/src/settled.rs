//! An interval of a data set in use, as it lies on disk while its map stands still.
//!
//! Programs give intervals out, free them and cut files off while somebody looks, and what stands
//! on disk may be behind what the map says. Under the map's latch, with the files at rest, the two
//! can be compared.
//!
//! Invariants:
//! 1. While it is looked at, nobody gives intervals of the map out or takes them back, no batch of
//!    writes changes its tags, and the files keep their length.
//! 2. Where a file was cut off and has grown again zeros stand, and the map still holds the tag of
//!    what stood there before, until what was put there since is written. It is changed in memory
//!    until then.

use base::CiNumber;
use pool::{Backing as _, PoolError};
use seal::{PageFault, PageSealer};

use crate::layout::Guardian;
use crate::{DataSet, map};

/// How an interval lies on disk.
#[derive(Debug)]
pub enum Settled {
    /// It proves itself, and is what the map expects; its plaintext is in the buffer.
    Sound,
    /// Nobody uses it, or it was never written.
    Unused,
    /// It is not there yet: what is changed in memory will be (2).
    Pending,
    /// The map expects something else than before.
    Changed,
    /// It is none of this.
    Wrong(PoolError),
    /// It is genuine, with this tag, and not what the map expects.
    Outdated(u64),
}

impl DataSet {
    /// Looks at an interval of which the map held this tag a moment ago; batches that were in
    /// flight then are on disk by now. What is wrong may still be on its way in a batch that was
    /// begun since: only what is so twice, with the same tag, is damaged. No latch is held.
    ///
    /// # Errors
    /// If the map cannot be read.
    pub fn settled(
        &self,
        ci: CiNumber,
        before: u64,
        unit: &mut [u8],
    ) -> Result<Settled, PoolError> {
        // Nobody cuts files or gives intervals out.
        let _growing = self.extent.growing();
        let Some(Guardian { map, index }) = self.layout.guardian(ci) else {
            return Ok(self.compared(ci, before, self.top(), unit));
        };
        let page = self.shared(map)?;
        let is_used = self.layout.is_reserved(ci)
            || map::is_used(page.bytes(), self.layout, ci.0 % self.layout.per_map());
        if !is_used {
            return Ok(Settled::Unused);
        }
        Ok(self.compared(ci, before, map::tag_prefix(page.bytes(), index), unit))
    }

    fn compared(&self, ci: CiNumber, before: u64, expected: u64, unit: &mut [u8]) -> Settled {
        if expected != before {
            return Settled::Changed;
        }
        if expected == 0 {
            return Settled::Unused;
        }
        if let Err(error) = self.read_raw(ci, unit) {
            return Settled::Wrong(error);
        }
        let is_blank = PageSealer::trailer(unit) == Err(PageFault::NeverWritten);
        match self.prove(ci, unit) {
            Ok(found) if found == expected => Settled::Sound,
            Ok(found) => Settled::Outdated(found),
            Err(_) if is_blank && self.home().is_changed(self.id(), ci) => Settled::Pending,
            Err(error) => Settled::Wrong(error),
        }
    }

    /// Whether an interval is in use, or a map was written, where the files do not reach.
    ///
    /// # Errors
    /// If the map cannot be read.
    pub fn is_missing(&self, ci: CiNumber) -> Result<bool, PoolError> {
        let _growing = self.extent.growing();
        if ci.0 < self.intervals() {
            return Ok(false);
        }
        match self.layout.map_level(ci) {
            Some(_) => Ok(self.expected_prefix(ci)? != 0),
            None => self.is_used(ci),
        }
    }
}
