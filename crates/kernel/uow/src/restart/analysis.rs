//! Analysis: one pass over the log from the redo point to its end.

use std::collections::{BTreeMap, BTreeSet};

use base::hash::FixedMap;
use base::{CiNumber, DataSetId, Lsn, UowId};
use log::{Log, Record};
use space::{Definition, Overlay};

use crate::active::{ActiveUow, AnchoredRecord};
use crate::checkpoint::Checkpoint;
use crate::record::{
    Change, Recovered, Written, WrittenEntry, decode_places, decode_settled, flag, kind,
};
use crate::resource::Target;
use crate::{Resource, UowError};

/// A batch of writes that the log does not say is done.
pub(crate) struct OpenBatch {
    pub(crate) number: u64,
    pub(crate) entries: Vec<(DataSetId, WrittenEntry)>,
    /// Whether all of it was logged, so that writing may have begun.
    pub(crate) begun: bool,
}

/// What the log says.
pub(crate) struct Analysis {
    pub(crate) sets: BTreeMap<DataSetId, (u64, Definition)>,
    /// Data sets whose end is logged; files may be left.
    pub(crate) gone: Vec<Definition>,
    /// Data sets that wait for their recovery.
    pub(crate) offline: BTreeMap<DataSetId, Definition>,
    pub(crate) active: BTreeMap<UowId, ActiveUow>,
    /// What the checkpoint carries for those of them that were anchored.
    pub(crate) anchored: BTreeMap<UowId, Vec<AnchoredRecord>>,
    pub(crate) frees: BTreeMap<UowId, Vec<(DataSetId, CiNumber)>>,
    pub(crate) overlays: FixedMap<DataSetId, Overlay>,
    pub(crate) open_batch: Option<OpenBatch>,
    pub(crate) next_uow: u64,
    pub(crate) next_set: u32,
    pub(crate) last_batch: u64,
    /// The newest edition of what the control file binds, as far as the log knows.
    pub(crate) protection: u32,
    pub(crate) records: u64,
    /// Intervals that changes are made to which need what was there before.
    pub(crate) wanted: FixedMap<DataSetId, FixedMap<u32, ()>>,
    /// Those of the data sets that were being built.
    building: BTreeSet<DataSetId>,
    begin: Lsn,
    /// What units of work that are not over want freed.
    uncommitted: BTreeMap<UowId, Vec<(DataSetId, CiNumber)>>,
}

impl Analysis {
    pub(crate) fn run(
        log: &Log,
        from: &Checkpoint,
        end: Lsn,
        resource: &dyn Resource,
    ) -> Result<Analysis, UowError> {
        let mut analysis = Analysis {
            sets: from.sets.iter().map(|(top, def)| (def.id, (*top, def.clone()))).collect(),
            gone: Vec::new(),
            offline: from.offline.iter().map(|def| (def.id, def.clone())).collect(),
            active: from.active.iter().map(|active| (active.uow, *active)).collect(),
            anchored: from.anchored.clone(),
            frees: from.frees.clone(),
            overlays: FixedMap::default(),
            open_batch: None,
            next_uow: from.next_uow,
            next_set: from.next_set,
            last_batch: from.last_batch,
            protection: 0,
            records: 0,
            wanted: FixedMap::default(),
            building: from.building.iter().copied().collect(),
            begin: from.begin,
            uncommitted: BTreeMap::new(),
        };
        // Frees that a unit of work logged before the checkpoint stand behind the record that it
        // pins the log with: it has pinned it for them if for nothing else.
        let oldest = from.active.iter().map(|active| active.first).min();
        let start = oldest.map_or(from.redo, |oldest| oldest.min(from.redo));
        let mut reader = log.read(start.min(end), end);
        let mut targets = Vec::new();
        while let Some(record) = reader.next()? {
            let damaged = || UowError::Damaged {
                object: format!("the log record at {}", record.lsn),
                why: format!("its body is none of kind {}", record.kind),
            };
            analysis.records += 1;
            analysis.see(&record, from.redo).ok_or_else(damaged)?;
            if record.lsn >= from.redo {
                analysis.see_change(&record, resource, &mut targets);
            }
        }
        for uow in analysis.active.keys() {
            analysis.uncommitted.remove(uow);
        }
        analysis.anchored.retain(|uow, _| analysis.active.contains_key(uow));
        // Whoever was building them begins again.
        for set in std::mem::take(&mut analysis.building) {
            analysis.remove_set(set);
        }
        Ok(analysis)
    }

    fn see(&mut self, record: &Record<'_>, redo: Lsn) -> Option<()> {
        if record.kind == kind::FREES_AT_COMMIT {
            self.uncommitted.entry(record.uow).or_default().extend(decode_places(record.body)?);
        }
        if record.lsn >= self.begin {
            self.see_unit(record)?;
            self.see_set(record)?;
        }
        if record.lsn >= redo { self.see_map(record) } else { Some(()) }
    }

    /// Which intervals redo will want to read. Whatever does not decode, redo will name.
    fn see_change(
        &mut self,
        record: &Record<'_>,
        resource: &dyn Resource,
        targets: &mut Vec<Target>,
    ) {
        if !(kind::RESOURCE_FIRST..=kind::RESOURCE_LAST).contains(&record.kind) {
            return;
        }
        let Some(change) = Change::decode(record.flags, record.body) else { return };
        targets.clear();
        if resource.targets(record.kind, change.body, targets).is_ok() {
            let wanted = self.wanted.entry(change.set).or_default();
            for target in targets.iter().filter(|target| !target.fresh) {
                wanted.insert(target.ci.0, ());
            }
        }
    }

    /// Who is active.
    fn see_unit(&mut self, record: &Record<'_>) -> Option<()> {
        if record.uow == UowId::NONE || record.kind == kind::TAKEN_BACK {
            return Some(());
        }
        self.next_uow = self.next_uow.max(record.uow.0 + 1);
        match record.kind {
            kind::COMMIT => {
                self.active.remove(&record.uow);
                if let Some(places) = self.uncommitted.remove(&record.uow) {
                    self.frees.insert(record.uow, places);
                }
            }
            kind::BACKED_OUT => {
                self.active.remove(&record.uow);
                self.uncommitted.remove(&record.uow);
            }
            _ => {
                let new = ActiveUow { uow: record.uow, first: record.lsn, last: record.lsn };
                let active = self.active.entry(record.uow).or_insert(new);
                if record.flags & flag::COMPENSATION != 0 {
                    // Undo does not read it, so it does not pin it.
                    active.last = Change::decode(record.flags, record.body)?.undo_next?;
                } else {
                    active.first = active.first.min(record.lsn);
                    active.last = record.lsn;
                }
            }
        }
        Some(())
    }

    /// Which data sets exist.
    fn see_set(&mut self, record: &Record<'_>) -> Option<()> {
        let mut body = base::bytes::Reader::new(record.body);
        match record.kind {
            kind::SET_MADE | kind::SET_BUILDING => {
                let top = body.u64()?;
                let definition = Definition::decode(body.rest()).ok()?;
                self.next_set = self.next_set.max(definition.id.0 + 1);
                if record.kind == kind::SET_BUILDING {
                    self.building.insert(definition.id);
                }
                self.sets.insert(definition.id, (top, definition));
            }
            kind::SET_CHANGED => {
                let changed = Definition::decode(record.body).ok()?;
                if let Some((_, definition)) = self.sets.get_mut(&changed.id) {
                    *definition = changed;
                }
            }
            kind::SET_GONE => self.remove_set(DataSetId(body.u32()?)),
            kind::SETS_RECOVERED => {
                for (old, new) in Recovered::decode(record.body)?.sets {
                    self.remove_set(old);
                    self.building.remove(&new);
                }
            }
            kind::SET_OFFLINE => self.put_offline(DataSetId(body.u32()?)),
            kind::PROTECTED => self.protection = self.protection.max(body.u32()?),
            _ => {}
        }
        Some(())
    }

    fn remove_set(&mut self, set: DataSetId) {
        let open = self.sets.remove(&set).map(|(_, definition)| definition);
        self.gone.extend(open.or(self.offline.remove(&set)));
        self.building.remove(&set);
    }

    /// A data set is not opened, and nothing of it is repeated or undone.
    pub(crate) fn put_offline(&mut self, set: DataSetId) {
        if let Some((_, definition)) = self.sets.remove(&set) {
            self.offline.insert(set, definition);
        }
    }

    /// What the maps must say.
    fn see_map(&mut self, record: &Record<'_>) -> Option<()> {
        let mut body = base::bytes::Reader::new(record.body);
        match record.kind {
            kind::GIVEN_OUT | kind::TAKEN_BACK => {
                let (set, ci) = (DataSetId(body.u32()?), CiNumber(body.u32()?));
                let given_out = record.kind == kind::GIVEN_OUT;
                self.overlays.entry(set).or_default().used.insert(ci.0, given_out);
                if let Some(places) = self.frees.get_mut(&record.uow)
                    && !given_out
                {
                    places.retain(|place| *place != (set, ci));
                }
            }
            kind::WRITTEN => self.see_written(&Written::decode(record.body)?),
            kind::BATCH_BEGINS => {
                let number = body.u64()?;
                self.last_batch = self.last_batch.max(number);
                if let Some(batch) = &mut self.open_batch
                    && batch.number == number
                {
                    batch.begun = true;
                }
            }
            kind::BATCH_DONE => {
                let number = body.u64()?;
                self.open_batch.take_if(|batch| batch.number == number);
            }
            kind::BATCH_SETTLED => {
                let (number, entries) = decode_settled(record.body)?;
                for entry in entries {
                    let overlay = self.overlays.entry(entry.set).or_default();
                    overlay.written.insert(entry.ci.0, (entry.prefix, entry.page_lsn));
                }
                self.open_batch.take_if(|batch| batch.number == number);
            }
            _ => {}
        }
        Some(())
    }

    fn see_written(&mut self, written: &Written) {
        self.last_batch = self.last_batch.max(written.batch);
        if self.open_batch.as_ref().is_none_or(|batch| batch.number != written.batch) {
            let entries = Vec::new();
            self.open_batch = Some(OpenBatch { number: written.batch, entries, begun: false });
        }
        let overlay = self.overlays.entry(written.set).or_default();
        for entry in &written.entries {
            overlay.written.insert(entry.ci.0, (entry.new, entry.page_lsn));
        }
        if let Some(batch) = &mut self.open_batch {
            batch.entries.extend(written.entries.iter().map(|entry| (written.set, *entry)));
        }
    }
}
