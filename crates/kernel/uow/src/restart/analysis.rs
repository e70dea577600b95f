//! Analysis: one pass over the log from the redo point to its end.

use std::collections::BTreeMap;

use base::hash::FixedMap;
use base::{DataSetId, Lsn, UowId};
use space::Overlay;
use wal::{Log, Record};

use crate::active::{ActiveUow, AnchoredRecord};
use crate::checkpoint::Checkpoint;
use crate::record::{Change, Interval, KernelRecord, Target, WriteRecord, Written, WrittenEntry};
use crate::{Catalog, Resource, UowError};

/// A batch of writes that the log does not say is done.
pub(crate) struct OpenBatch {
    pub(crate) number: u64,
    pub(crate) entries: Vec<(DataSetId, WrittenEntry)>,
    /// Whether all of it was logged, so that writing may have begun.
    pub(crate) begun: bool,
}

/// What the log says.
pub(crate) struct Analysis {
    /// Which data sets there are.
    pub(crate) catalog: Catalog,
    pub(crate) active: BTreeMap<UowId, ActiveUow>,
    /// What the checkpoint carries for those of them that were anchored.
    pub(crate) anchored: BTreeMap<UowId, Vec<AnchoredRecord>>,
    pub(crate) frees: BTreeMap<UowId, Vec<Interval>>,
    pub(crate) overlays: FixedMap<DataSetId, Overlay>,
    pub(crate) open_batch: Option<OpenBatch>,
    pub(crate) next_uow: u64,
    pub(crate) last_batch: u64,
    pub(crate) records: u64,
    /// Intervals that changes are made to which need what was there before.
    pub(crate) wanted: FixedMap<DataSetId, FixedMap<u32, ()>>,
    begin: Lsn,
    /// What units of work that are not over want freed.
    uncommitted: BTreeMap<UowId, Vec<Interval>>,
}

impl Analysis {
    /// What a checkpoint says.
    fn at(from: &Checkpoint) -> Analysis {
        Analysis {
            catalog: Catalog::at(from),
            active: from.active.iter().map(|active| (active.uow, *active)).collect(),
            anchored: from.anchored.clone(),
            frees: from.frees.clone(),
            overlays: FixedMap::default(),
            open_batch: None,
            next_uow: from.next_uow,
            last_batch: from.last_batch,
            records: 0,
            wanted: FixedMap::default(),
            begin: from.begin,
            uncommitted: BTreeMap::new(),
        }
    }

    pub(crate) fn run(
        log: &Log,
        from: &Checkpoint,
        end: Lsn,
        resource: &dyn Resource,
    ) -> Result<Analysis, UowError> {
        let mut analysis = Analysis::at(from);
        // Frees that a unit of work logged before the checkpoint stand behind the record that it
        // pins the log with: it has pinned it for them if for nothing else.
        let oldest = from.active.iter().map(|active| active.first).min();
        let start = oldest.map_or(from.redo, |oldest| oldest.min(from.redo));
        let mut reader = log.read(start.min(end), end);
        let mut targets = Vec::new();
        while let Some(record) = reader.next()? {
            analysis.records += 1;
            let decoded = KernelRecord::of(&record)?;
            analysis.see(&record, &decoded);
            if record.lsn >= from.redo {
                analysis.see_redo(&record, &decoded, resource, &mut targets);
            }
        }
        for uow in analysis.active.keys() {
            analysis.uncommitted.remove(uow);
        }
        analysis.anchored.retain(|uow, _| analysis.active.contains_key(uow));
        analysis.catalog.end_building();
        Ok(analysis)
    }

    /// Who is active, which data sets there are.
    fn see(&mut self, record: &Record<'_>, decoded: &KernelRecord<'_>) {
        if let KernelRecord::FreesAtCommit(places) = decoded {
            self.uncommitted.entry(record.uow).or_default().extend(places.iter());
        }
        if record.lsn >= self.begin {
            self.see_unit(record, decoded);
        }
        if let KernelRecord::Catalog(catalog) = decoded {
            self.catalog.apply(record.lsn, catalog);
        }
    }

    fn see_unit(&mut self, record: &Record<'_>, decoded: &KernelRecord<'_>) {
        let is_of_unit = record.uow != UowId::NONE;
        if is_of_unit && !matches!(decoded, KernelRecord::TakenBack(_)) {
            self.next_uow = self.next_uow.max(record.uow.0.saturating_add(1));
        }
        match decoded {
            _ if !is_of_unit => return,
            // It names the unit of work that has freed the interval, long committed.
            KernelRecord::TakenBack(_) => return,
            KernelRecord::Commit { .. } => {
                self.active.remove(&record.uow);
                if let Some(places) = self.uncommitted.remove(&record.uow) {
                    // What a checkpoint says of them is all; of what its unit of work logged, the
                    // first records may stand before those that are read.
                    self.frees.entry(record.uow).or_insert(places);
                }
                return;
            }
            KernelRecord::BackedOut { .. } => {
                self.active.remove(&record.uow);
                self.uncommitted.remove(&record.uow);
                return;
            }
            KernelRecord::UndoEnd(_)
            | KernelRecord::UndoSkipped(_)
            | KernelRecord::Change(_)
            | KernelRecord::FreesAtCommit(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::Catalog(_)
            | KernelRecord::GivenOut(_)
            | KernelRecord::Write(_) => {}
        }
        let new = ActiveUow { uow: record.uow, first: record.lsn, last: record.lsn };
        let active = self.active.entry(record.uow).or_insert(new);
        if let Some(next) = decoded.undo_next() {
            // Undo does not read it, so it does not pin it.
            active.last = next;
        } else {
            active.first = active.first.min(record.lsn);
            active.last = record.lsn;
        }
    }

    /// What redo has to know: which intervals it wants to read, and what the maps must say.
    fn see_redo(
        &mut self,
        record: &Record<'_>,
        decoded: &KernelRecord<'_>,
        resource: &dyn Resource,
        targets: &mut Vec<Target>,
    ) {
        match decoded {
            KernelRecord::Change(change) => self.see_change(change, resource, targets),
            KernelRecord::GivenOut((set, ci)) => {
                self.overlays.entry(*set).or_default().used.insert(ci.0, true);
            }
            KernelRecord::TakenBack((set, ci)) => {
                self.overlays.entry(*set).or_default().used.insert(ci.0, false);
                if let Some(places) = self.frees.get_mut(&record.uow) {
                    places.retain(|place| *place != (*set, *ci));
                }
            }
            KernelRecord::Write(write) => self.see_write(write),
            KernelRecord::Commit { .. }
            | KernelRecord::BackedOut { .. }
            | KernelRecord::FreesAtCommit(_)
            | KernelRecord::UndoEnd(_)
            | KernelRecord::UndoSkipped(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::Catalog(_) => {}
        }
    }

    /// Which intervals redo will want to read. Whatever does not decode, redo will name.
    fn see_change(
        &mut self,
        change: &Change<'_>,
        resource: &dyn Resource,
        targets: &mut Vec<Target>,
    ) {
        targets.clear();
        if resource.targets(change.kind, change.body, targets).is_ok() {
            let wanted = self.wanted.entry(change.set).or_default();
            for target in targets.iter().filter(|target| !target.fresh) {
                wanted.insert(target.ci.0, ());
            }
        }
    }

    /// Which version of an interval is on disk.
    fn see_write(&mut self, record: &WriteRecord<'_>) {
        match record {
            WriteRecord::Written(written) => self.see_written(written),
            WriteRecord::BatchBegins { batch: number, .. } => {
                self.last_batch = self.last_batch.max(*number);
                if let Some(batch) = &mut self.open_batch
                    && batch.number == *number
                {
                    batch.begun = true;
                }
            }
            WriteRecord::BatchDone { batch: number } => {
                self.open_batch.take_if(|batch| batch.number == *number);
            }
            WriteRecord::BatchSettled { batch: number, entries } => {
                for entry in entries.iter() {
                    let overlay = self.overlays.entry(entry.set).or_default();
                    overlay.written.insert(entry.ci.0, (entry.prefix, entry.page_lsn));
                }
                self.open_batch.take_if(|batch| batch.number == *number);
            }
        }
    }

    fn see_written(&mut self, written: &Written<'_>) {
        self.last_batch = self.last_batch.max(written.batch);
        if self.open_batch.as_ref().is_none_or(|batch| batch.number != written.batch) {
            let entries = Vec::new();
            self.open_batch = Some(OpenBatch { number: written.batch, entries, begun: false });
        }
        let overlay = self.overlays.entry(written.set).or_default();
        for entry in written.entries.iter() {
            overlay.written.insert(entry.ci.0, (entry.new, entry.page_lsn));
        }
        if let Some(batch) = &mut self.open_batch {
            batch.entries.extend(written.entries.iter().map(|entry| (written.set, entry)));
        }
    }
}

#[cfg(test)]
mod tests {
    use base::CiNumber;

    use super::*;
    use crate::record::List;

    #[test]
    fn what_a_checkpoint_says_of_frees_is_not_cut_short_by_records_that_follow() {
        let (uow, set) = (UowId(3), DataSetId(1));
        let places: Vec<Interval> = (0..1_500).map(|ci| (set, CiNumber(ci))).collect();
        let mut checkpoint =
            Checkpoint { begin: Lsn(500), redo: Lsn(500), ..Checkpoint::initial() };
        checkpoint.frees.insert(uow, places.clone());
        let mut analysis = Analysis::at(&checkpoint);
        let second = KernelRecord::FreesAtCommit(List::of(&places[1_024..]));
        for (lsn, decoded) in [(500, second), (600, KernelRecord::Commit { utc_us: 1 })] {
            let (lsn, end, previous) = (Lsn(lsn), Lsn(lsn + 100), Lsn(lsn - 100));
            let kind = decoded.kind();
            let record = Record { lsn, end, kind, flags: 0, uow, previous, body: &[] };
            analysis.see(&record, &decoded);
        }
        assert_eq!(analysis.frees[&uow], places);
        assert!(analysis.active.is_empty());
    }
}
