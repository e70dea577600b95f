//! What a pool asks of the layers around it.

use std::io::IoSliceMut;

use base::{CiNumber, DataSetId, Lsn};

use crate::{Home, PoolError};

/// A data set as its pool sees it: numbered units on disk that are sealed and opened.
pub trait Backing: Send + Sync {
    /// The data set's number.
    fn id(&self) -> DataSetId;

    /// The data set's name, for messages.
    fn name(&self) -> &str;

    /// Its home, if it may move from pool to pool.
    fn home(&self) -> Option<&Home> {
        None
    }

    /// Reads consecutive intervals as they lie on disk into buffers of a whole number of units
    /// each, in one operation as far as they lie in one file.
    ///
    /// # Errors
    /// [`PoolError::Read`]; nothing is known then about what stands in any of the buffers.
    fn read_into(&self, first: CiNumber, bufs: &mut [IoSliceMut<'_>]) -> Result<(), PoolError>;

    /// Reads consecutive intervals as they lie on disk; `units` is a whole number of units.
    ///
    /// # Errors
    /// As for [`Backing::read_into`].
    fn read_raw(&self, first: CiNumber, units: &mut [u8]) -> Result<(), PoolError> {
        self.read_into(first, &mut [IoSliceMut::new(units)])
    }

    /// Checks one interval that was read and turns it into plaintext: its tag, its place and its
    /// freshness. May fetch other intervals (the map); no latch is held by the caller.
    ///
    /// # Errors
    /// [`PoolError::Damaged`] naming what does not fit.
    fn open(&self, ci: CiNumber, unit: &mut [u8]) -> Result<(), PoolError>;

    /// Whether [`Backing::open`] of other intervals asks for this one. Such an interval is never
    /// read together with others, for these would wait for it while it waits for them.
    fn is_map(&self, ci: CiNumber) -> bool;

    /// Seals an interval into a copy for writing. Returns the first 8 bytes of its tag. The caller
    /// holds a latch; after [`Backing::prepare_write`] this waits for nothing.
    ///
    /// # Errors
    /// If no key or no randomness is to be had; the kernel stops then.
    fn seal(&self, ci: CiNumber, clear: &[u8], copy: &mut [u8]) -> Result<u64, PoolError>;

    /// Whether a crash takes all of it away, as long as it is being built: its batches need no
    /// copy in the double-write area, wait for no log and are not made durable one by one.
    fn is_provisional(&self) -> bool {
        false
    }

    /// Writes runs of sealed units in place, as deep as the device allows: for each the first
    /// interval, and the units of that one and those behind it.
    ///
    /// # Errors
    /// Whatever the disk says; the kernel stops then.
    fn write_raw(&self, runs: &[(CiNumber, &[u8])]) -> std::io::Result<()>;

    /// Makes what was written durable.
    ///
    /// # Errors
    /// Whatever the disk says; final (the kernel stops).
    fn sync(&self) -> std::io::Result<()>;

    /// Has a key at hand, and makes sure that what [`Journal::begin_batch`] will change for this
    /// interval (its map page) can be had without a further frame, and keeps it so until the batch
    /// is over. `false`: not now, leave the interval to the next batch.
    fn prepare_write(&self, ci: CiNumber) -> bool;

    /// Undoes [`Backing::prepare_write`].
    fn finish_write(&self, ci: CiNumber);
}

/// One interval of a batch, as the log learns of it before the batch is written (K5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchEntry {
    /// The data set.
    pub set: DataSetId,
    /// The interval.
    pub ci: CiNumber,
    /// The first 8 bytes of the tag it will have on disk.
    pub tag_prefix: u64,
    /// The page LSN of the copy that is written.
    pub page_lsn: Lsn,
}

/// The log as the page writer sees it.
pub trait Journal: Send + Sync {
    /// Returns when everything up to `lsn` is durable.
    ///
    /// # Errors
    /// [`PoolError::Stopped`].
    fn wait_durable(&self, lsn: Lsn) -> Result<(), PoolError>;

    /// Logs the new tags and puts them into the freshness map. Returns the position up to which
    /// the log must be durable before any of these intervals is written in place.
    ///
    /// # Errors
    /// [`PoolError::Stopped`], or a map page that cannot be had.
    fn begin_batch(&self, batch: u64, entries: &[BatchEntry]) -> Result<Lsn, PoolError>;

    /// Logs that a batch is wholly on disk.
    ///
    /// # Errors
    /// [`PoolError::Stopped`].
    fn end_batch(&self, batch: u64) -> Result<(), PoolError>;

    /// Where the next record will stand; what dirties a page from now on has at least this LSN.
    fn next_lsn(&self) -> Lsn;
}
