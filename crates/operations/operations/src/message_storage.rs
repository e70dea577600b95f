//! The storage beneath a system's queue manager: data sets, pools, the log and its archives, as the
//! queue manager shows them.
//!
//! Invariants:
//! 1. It holds no system open: one that has been closed archives nothing.

use std::sync::Arc;

use queue_manager::storage::{DataSetFigures, LogCopy, LogFigures, PoolFigures, Storage};
use seal::Format;
use system::{ArchiveHandle, System};
use uow::Kernel;

/// What a queue manager is told of its system.
pub(crate) struct MessageStorage {
    kernel: Arc<Kernel>,
    archive: ArchiveHandle,
}

impl MessageStorage {
    pub(crate) fn of(system: &System) -> MessageStorage {
        MessageStorage { kernel: Arc::clone(system.kernel()), archive: system.archive_handle() }
    }
}

impl Storage for MessageStorage {
    fn data_set(&self, name: &str) -> Option<DataSetFigures> {
        let set = self.kernel.set_named(name)?;
        let (definition, counted) = (set.definition(), set.statistics());
        let pool = set.pool();
        Some(DataSetFigures {
            pages: u64::from(counted.intervals),
            page_bytes: pool.unit_bytes() as u64,
            pool: pool.name().to_owned(),
            sealed: definition.format == Format::Sealed,
            pages_got: counted.intervals_read,
            pages_written: counted.intervals_written,
        })
    }

    fn pools(&self) -> Vec<PoolFigures> {
        let pools = self.kernel.statistics().pools.into_iter();
        pools
            .map(|pool| PoolFigures {
                buffers: pool.frames as u64,
                free: pool.free as u64,
                found: pool.hits,
                got: pool.reads,
                written: pool.writes,
                written_crowded: pool.writes_crowded,
                written_pressed: pool.writes_pressed,
                name: pool.name,
            })
            .collect()
    }

    fn log(&self) -> LogFigures {
        let log = self.kernel.log();
        let counted = log.statistics();
        let copies = counted
            .copies
            .iter()
            .map(|copy| LogCopy { place: copy.path.display().to_string(), living: copy.living });
        let first = counted.segments.first().map_or(0, |segment| segment.first.0);
        LogFigures {
            copies: copies.collect(),
            sealed: self.archive.log_is_sealed(),
            segments: counted.segments.len() as u64,
            restart_at: first,
            latest_at: log.next_lsn().0,
            archives: self.archive.folders(),
            archive_trouble: self.archive.trouble(),
        }
    }

    fn archive_log(&self) -> Result<u64, String> {
        self.archive.archive_now()
    }
}
