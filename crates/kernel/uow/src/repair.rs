//! Repairing while everything is in use: what stands damaged on disk is written again from wherever
//! a good version is left (K20).
//!
//! | damaged | written again from |
//! |---|---|
//! | an interval that is in memory | its frame, which proved itself when it was read |
//! | an interval of the newest batches | the double-write area |
//! | a slot of the control file | what the kernel knows: checkpoints write slots in turn |
//! | a slot of the double-write area | nothing: it is cleared, for its batch is done |
//!
//! Invariants:
//! 1. An interval is put back from the double-write area only if it is the version that the map
//!    expects, and while no batch is in flight.

use base::CiNumber;
use pool::PoolError;
use space::DataSet;

use crate::{Kernel, UowError};

/// Where a good version of an interval was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairedFrom {
    /// In a frame of its pool.
    Memory,
    /// In the double-write area.
    DoubleWrite,
}

/// Slots of the control file and of the double-write area.
const SLOTS: usize = 2;

impl Kernel {
    /// Returns when the batch of page writes in flight, if there is one, is on disk. What stands on
    /// disk is then what the map says, unless another batch has begun since.
    pub fn settle_writes(&self) {
        self.buffers.writer.settle();
    }

    /// Whether an interval was given out and is not yet part of anything: what stands in its place
    /// need not make sense.
    #[must_use]
    pub fn is_in_transit(&self, set: &DataSet, ci: CiNumber) -> bool {
        self.work.transit.has((set.id(), ci))
    }

    /// Where a good version of an interval is left, if it stands damaged on disk.
    ///
    /// # Errors
    /// If its map or the double-write area cannot be read.
    pub fn mendable(&self, set: &DataSet, ci: CiNumber) -> Result<Option<RepairedFrom>, UowError> {
        if set.is_resident(ci) {
            return Ok(Some(RepairedFrom::Memory));
        }
        let expected = set.expected_prefix(ci)?;
        let found = self.buffers.writer.found_batches()?;
        let mut units = found.iter().flat_map(|batch| &batch.units);
        let fits = units.any(|(of, at, prefix, _)| (*of, *at, *prefix) == (set.id(), ci, expected));
        Ok(fits.then_some(RepairedFrom::DoubleWrite))
    }

    /// Writes an interval again from memory or from the double-write area; `None` if no good
    /// version of it is left in either.
    ///
    /// # Errors
    /// If the disk refuses; the kernel stops then.
    pub fn repair_interval(
        &self,
        set: &DataSet,
        ci: CiNumber,
    ) -> Result<Option<RepairedFrom>, UowError> {
        self.stop.check()?;
        // The data set stays for as long as this takes.
        let _work = self.upkeep.converter.work.lock();
        if self.set(set.id()).is_none() {
            return Err(UowError::NoSuchSet { name: set.name().to_owned() });
        }
        match set.pin(ci) {
            Ok(pin) => {
                while self.buffers.writer.write_again(std::slice::from_ref(&pin))? == 0 {
                    seam::thread::yield_now();
                }
                return Ok(Some(RepairedFrom::Memory));
            }
            Err(PoolError::Damaged { .. } | PoolError::Read { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        // While its map is in memory, what it expects can be asked without reading.
        let map = set.layout().guardian(ci).map(|guardian| set.pin(guardian.map)).transpose()?;
        let put_back = self.buffers.writer.put_back(set, ci)?;
        drop(map);
        Ok(put_back.then_some(RepairedFrom::DoubleWrite))
    }

    /// Takes checkpoints until every slot of the control file was written; a file that was removed
    /// or replaced is made anew.
    ///
    /// # Errors
    /// If log or disk refuse; the kernel stops then.
    pub fn renew_control(&self) -> Result<(), UowError> {
        self.control.find_again()?;
        (0..SLOTS).try_for_each(|_| self.checkpoint_now(false))
    }

    /// Files that were removed or replaced while they are in use, so that the next start would not
    /// find what they hold, each with the command that makes it anew.
    #[must_use]
    pub fn misplaced_files(&self) -> Vec<(&'static str, &'static str)> {
        let control = self.control.is_misplaced();
        let area = self.buffers.writer.area_is_misplaced();
        let control = control.then_some(("control file", "holdfast repair --control"));
        let area = area.then_some(("double-write area", "holdfast repair --double-write"));
        control.into_iter().chain(area).collect()
    }

    /// Clears the double-write area, whose batches are done.
    ///
    /// # Errors
    /// If the disk refuses; the kernel stops then.
    pub fn clear_double_write(&self) -> Result<(), UowError> {
        Ok(self.buffers.writer.clear_area()?)
    }
}
