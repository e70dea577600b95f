//! What the page writer tells the log, and how its news get into the freshness maps (K5).

use std::sync::Arc;

use base::{DataSetId, Lsn};
use pool::{BatchEntry, ExclusiveCi, Journal, PoolError};
use seam::stop::StopSwitch;
use seam::sync::Mutex;
use space::{DataSet, map};
use wal::Log;

use crate::record::{KernelRecord, List, WriteRecord, Written, WrittenEntry};
use crate::registry::Registry;

/// The log as the page writer sees it.
pub(crate) struct LogJournal {
    pub(crate) log: Arc<Log>,
    pub(crate) sets: Arc<Registry>,
    pub(crate) stop: Arc<StopSwitch>,
    /// Held while a topmost map's prefix is logged and changed, and while a checkpoint reads it.
    pub(crate) tops: Mutex<()>,
}

impl LogJournal {
    fn stopped(&self, error: impl std::fmt::Display) -> PoolError {
        PoolError::Stopped(self.stop.stop(error.to_string()))
    }

    fn append(&self, record: WriteRecord<'_>) -> Result<wal::Place, PoolError> {
        let place = KernelRecord::Write(record).append_reserved(&self.log);
        place.map_err(|error| self.stopped(error))
    }

    /// Logs and applies the entries that one map interval holds.
    fn write_map(
        &self,
        set: &DataSet,
        batch: u64,
        page: &mut ExclusiveCi<'_>,
        entries: &[(u32, BatchEntry)],
    ) -> Result<(), PoolError> {
        let written = entries.iter().map(|(index, entry)| WrittenEntry {
            ci: entry.ci,
            page_lsn: entry.page_lsn,
            new: entry.tag_prefix,
            old: map::tag_prefix(page.bytes(), *index),
        });
        let written = List::of(&written.collect::<Vec<_>>());
        page.begin_change(self.log.next_lsn());
        let written = Written { batch, set: set.id(), entries: written };
        let place = self.append(WriteRecord::Written(written))?;
        for (index, entry) in entries {
            map::set_tag_prefix(page.bytes_mut(), *index, entry.tag_prefix);
            set.note_written(entry.ci, entry.tag_prefix, entry.page_lsn);
        }
        page.set_lsn(place.lsn);
        Ok(())
    }

    /// The same for a topmost map, whose prefix the checkpoint holds.
    fn write_top(&self, set: &DataSet, batch: u64, entry: BatchEntry) -> Result<(), PoolError> {
        let _tops = self.tops.lock();
        let BatchEntry { ci, page_lsn, tag_prefix: new, .. } = entry;
        let entries = List::of(&[WrittenEntry { ci, page_lsn, new, old: set.top() }]);
        self.append(WriteRecord::Written(Written { batch, set: set.id(), entries }))?;
        set.set_top(entry.tag_prefix);
        set.note_written(entry.ci, entry.tag_prefix, entry.page_lsn);
        Ok(())
    }

    /// Logs and applies all entries of one data set, map interval by map interval.
    fn write_set(
        &self,
        set: &DataSet,
        batch: u64,
        entries: &mut [BatchEntry],
    ) -> Result<(), PoolError> {
        let layout = set.layout();
        entries.sort_by_key(|entry| (layout.guardian(entry.ci).map(|g| g.map), entry.ci));
        let mut rest = &entries[..];
        while let Some(first) = rest.first() {
            let guardian = layout.guardian(first.ci);
            let same = |entry: &&BatchEntry| {
                layout.guardian(entry.ci).map(|g| g.map) == guardian.map(|g| g.map)
            };
            let count = rest.iter().take_while(same).count();
            match set.guardian_for_writer(first.ci)? {
                None => self.write_top(set, batch, *first)?,
                Some((mut page, _)) => {
                    let indexed: Vec<(u32, BatchEntry)> = rest[..count]
                        .iter()
                        .filter_map(|entry| Some((layout.guardian(entry.ci)?.index, *entry)))
                        .collect();
                    self.write_map(set, batch, &mut page, &indexed)?;
                }
            }
            rest = &rest[count..];
        }
        Ok(())
    }
}

impl Journal for LogJournal {
    fn wait_durable(&self, lsn: Lsn) -> Result<(), PoolError> {
        self.log.wait_durable(lsn).map_err(|error| self.stopped(error))
    }

    fn begin_batch(&self, batch: u64, entries: &[BatchEntry]) -> Result<Lsn, PoolError> {
        let mut sets: Vec<DataSetId> = entries.iter().map(|entry| entry.set).collect();
        sets.sort_unstable();
        sets.dedup();
        for id in sets {
            let set = self.sets.lock().get(id);
            let Some(set) = set else { continue };
            let mut mine: Vec<BatchEntry> =
                entries.iter().filter(|entry| entry.set == id).copied().collect();
            self.write_set(&set, batch, &mut mine)?;
        }
        let intervals = entries.len() as u32;
        Ok(self.append(WriteRecord::BatchBegins { batch, intervals })?.end)
    }

    fn end_batch(&self, batch: u64) -> Result<(), PoolError> {
        self.append(WriteRecord::BatchDone { batch }).map(drop)
    }

    fn next_lsn(&self) -> Lsn {
        self.log.next_lsn()
    }
}
