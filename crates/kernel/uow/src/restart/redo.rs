//! Redo: repeating history. Forward recovery will feed the same code from copies and archives.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{CiNumber, DataSetId, Lsn};
use space::DataSet;
use wal::Record;

use super::analysis::Analysis;
use crate::record::{KernelRecord, Target};
use crate::redo_workers::{Item, Redo, RedoWorkers};
use crate::runs::runs;
use crate::transit::{Step, steps_of};
use crate::{Kernel, UowError};

/// The most that one read brings.
const READ_BYTES: usize = 1 << 20;

impl Kernel {
    /// Reads what redo will want, in the order of the disk instead of the order of history, as far
    /// as the pools have room. Only a favour: what cannot be read is named when it is wanted.
    pub(super) fn read_wanted(&self, analysis: &Analysis) {
        for (id, wanted) in &analysis.wanted {
            let Some(set) = self.set(*id) else { continue };
            let mut intervals: Vec<CiNumber> = wanted.keys().copied().map(CiNumber).collect();
            intervals.sort_unstable();
            let run_max = (READ_BYTES / set.unit_bytes()) as u32;
            let mut room = set.pool().statistics().free as u32 * 3 / 4;
            for (first, count) in runs(intervals.into_iter(), run_max) {
                let count = count.min(room);
                set.pool().read_ahead(&*set, first, count);
                room -= count;
                if room == 0 {
                    break;
                }
            }
        }
    }

    /// Repeats every change between two LSNs that is not on disk. Returns how many.
    pub(super) fn redo(self: &Arc<Self>, from: Lsn, end: Lsn) -> Result<u64, UowError> {
        let sets: BTreeMap<DataSetId, Arc<DataSet>> =
            self.all_sets().into_iter().map(|set| (set.id(), set)).collect();
        let sets = Arc::new(sets);
        let history = History { kernel: Arc::clone(self), sets: Arc::clone(&sets) };
        let mut workers = RedoWorkers::start(&(Arc::new(history) as Arc<dyn Redo>))?;
        let read = self.give_out(from, end, &sets, &mut workers);
        let redone = workers.finish();
        read.and(redone)
    }

    /// Reads the log for the workers.
    fn give_out(
        &self,
        from: Lsn,
        end: Lsn,
        sets: &BTreeMap<DataSetId, Arc<DataSet>>,
        workers: &mut RedoWorkers,
    ) -> Result<(), UowError> {
        let mut reader = self.log.read(from.min(end), end);
        let mut targets = Vec::new();
        while let Some(record) = reader.next()? {
            let change = match KernelRecord::of(&record)? {
                KernelRecord::Change(change) => change,
                KernelRecord::GivenOut(interval) => {
                    self.work.transit.see(&[(interval, Step::Leaves)]);
                    continue;
                }
                KernelRecord::TakenBack(interval) => {
                    self.work.transit.see(&[(interval, Step::Arrives)]);
                    continue;
                }
                // Analysis has seen all that they say.
                KernelRecord::Commit { .. }
                | KernelRecord::BackedOut { .. }
                | KernelRecord::FreesAtCommit(_)
                | KernelRecord::UndoEnd(_)
                | KernelRecord::UndoSkipped(_)
                | KernelRecord::Checkpoint(_)
                | KernelRecord::Catalog(_)
                | KernelRecord::Write(_) => continue,
            };
            let Some(set) = sets.get(&change.set) else { continue };
            targets.clear();
            let resource = &self.parts.resource;
            resource
                .targets(change.kind, change.body, &mut targets)
                .map_err(|damage| damaged(&record, damage.0))?;
            let steps = steps_of(set.id(), &targets);
            if !steps.is_empty() {
                self.work.transit.see(&steps);
            }
            for target in targets.iter().copied() {
                let (set, kind, lsn) = (set.id(), change.kind, record.lsn);
                workers.give(Item { set, kind, lsn, target }, change.body);
            }
        }
        Ok(())
    }

    /// Repeats a change of one interval, if it is not on disk; whether it was not.
    pub(super) fn redo_target(
        &self,
        set: &DataSet,
        item: &Item,
        body: &[u8],
    ) -> Result<bool, UowError> {
        let Item { kind, lsn, target: Target { ci, fresh, .. }, .. } = *item;
        if set.page_lsn_on_disk(ci).is_some_and(|on_disk| lsn <= on_disk) {
            return Ok(false);
        }
        // A version on disk that the log does not mention is older than the redo point, so a record
        // that formats the interval need not read it.
        let unread = fresh && !set.pool().is_resident(set.id(), ci);
        let mut page = if unread { set.pin_fresh(ci)?.exclusive() } else { set.exclusive(ci)? };
        if !unread && page.lsn() >= lsn {
            return Ok(false);
        }
        page.begin_change(lsn);
        self.apply(set, kind, body, &mut page, lsn)?;
        Ok(true)
    }
}

/// Repeats history in the data sets that are open.
struct History {
    kernel: Arc<Kernel>,
    sets: Arc<BTreeMap<DataSetId, Arc<DataSet>>>,
}

impl Redo for History {
    fn redo(&self, item: &Item, body: &[u8]) -> Result<bool, UowError> {
        let set = self.sets.get(&item.set);
        set.map_or(Ok(false), |set| self.kernel.redo_target(set, item, body))
    }

    fn prefetch(&self, item: &Item) {
        if let Some(set) = self.sets.get(&item.set) {
            set.pool().prefetch(item.set, item.target.ci);
        }
    }
}

fn damaged(record: &Record<'_>, why: String) -> UowError {
    UowError::Damaged { object: format!("the log record at {}", record.lsn), why }
}
