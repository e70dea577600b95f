//! A data set in memory, for the tests of this crate: it notes which runs were read and written.

use std::collections::BTreeMap;
use std::io::IoSliceMut;
use std::sync::{Arc, OnceLock};

use base::{CiNumber, DataSetId, Lsn};
use seam::clock::RealClock;
use seam::sync::Mutex;

use crate::backing::{Backing, BatchEntry, Journal};
use crate::dirty::DirtyQueue;
use crate::writer::Sets;
use crate::{Home, Pool, PoolConfig, PoolError, Pools};

pub(crate) const UNIT: usize = 4096;
pub(crate) const SET: DataSetId = DataSetId(7);

/// Some pools without a pool, and the queue of their dirty frames.
pub(crate) fn pools() -> (Arc<Pools>, Arc<DirtyQueue>) {
    let dirty = Arc::new(DirtyQueue::new());
    let clock = Arc::new(RealClock::new());
    (Arc::new(Pools::new(Arc::clone(&dirty), Arc::default(), clock)), dirty)
}

/// How a pool is made.
pub(crate) fn config(name: &str, frames: usize) -> PoolConfig {
    PoolConfig { name: name.into(), unit_bytes: UNIT, usable_bytes: UNIT - 48, frames }
}

/// A pool with `frames` frames, and the queue of its dirty ones.
pub(crate) fn pool(frames: usize) -> (Arc<Pool>, Arc<DirtyQueue>) {
    let (pools, dirty) = pools();
    (pools.add(config("default", frames)).unwrap(), dirty)
}

/// The data set [`SET`]. What was never written is zero.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) home: OnceLock<Home>,
    pub(crate) units: Mutex<BTreeMap<u32, Vec<u8>>>,
    /// Intervals that do not open.
    pub(crate) damaged: Vec<u32>,
    /// First interval and count of each.
    pub(crate) reads: Mutex<Vec<(u32, usize)>>,
    pub(crate) writes: Mutex<Vec<(u32, usize)>>,
}

impl Backing for Memory {
    fn id(&self) -> DataSetId {
        SET
    }

    fn name(&self) -> &'static str {
        "MEMORY"
    }

    fn home(&self) -> Option<&Home> {
        self.home.get()
    }

    fn read_into(&self, first: CiNumber, bufs: &mut [IoSliceMut<'_>]) -> Result<(), PoolError> {
        self.reads.lock().push((first.0, bufs.len()));
        let units = self.units.lock();
        for (ci, buf) in (first.0..).zip(bufs) {
            match units.get(&ci) {
                Some(unit) => buf.copy_from_slice(unit),
                None => buf.fill(0),
            }
        }
        Ok(())
    }

    fn open(&self, ci: CiNumber, _unit: &mut [u8]) -> Result<(), PoolError> {
        match self.damaged.contains(&ci.0) {
            true => Err(PoolError::Damaged {
                name: self.name().into(),
                set: SET,
                ci,
                why: "the test wants it so".into(),
            }),
            false => Ok(()),
        }
    }

    fn is_map(&self, _ci: CiNumber) -> bool {
        false
    }

    fn seal(&self, ci: CiNumber, clear: &[u8], copy: &mut [u8]) -> Result<u64, PoolError> {
        copy.copy_from_slice(clear);
        copy[UNIT - 48..].fill(ci.0 as u8);
        Ok(u64::from(ci.0))
    }

    fn write_raw(&self, runs: &[(CiNumber, &[u8])]) -> std::io::Result<()> {
        for (first, bytes) in runs {
            self.writes.lock().push((first.0, bytes.len() / UNIT));
            let units = bytes.chunks(UNIT).map(<[u8]>::to_vec);
            self.units.lock().extend((first.0..).zip(units));
        }
        Ok(())
    }

    fn sync(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn prepare_write(&self, _ci: CiNumber) -> bool {
        true
    }

    fn finish_write(&self, _ci: CiNumber) {}
}

/// Knows one data set.
pub(crate) struct Only(pub(crate) Arc<Memory>);

impl Sets for Only {
    fn backing(&self, set: DataSetId) -> Option<Arc<dyn Backing>> {
        (set == SET).then(|| Arc::clone(&self.0) as Arc<dyn Backing>)
    }
}

/// A log that keeps nothing.
pub(crate) struct NoLog;

impl Journal for NoLog {
    fn wait_durable(&self, _lsn: Lsn) -> Result<(), PoolError> {
        Ok(())
    }

    fn begin_batch(&self, _batch: u64, _entries: &[BatchEntry]) -> Result<Lsn, PoolError> {
        Ok(Lsn(1))
    }

    fn end_batch(&self, _batch: u64) -> Result<(), PoolError> {
        Ok(())
    }

    fn next_lsn(&self) -> Lsn {
        Lsn(1)
    }
}
