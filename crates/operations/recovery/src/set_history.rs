//! What the log says of a system besides the contents of its data sets: which there are, since
//! when, and what took whose place. It is read where RECON and the system itself are lost.
//!
//! Invariants:
//! 1. Which data sets there are at the end is known once a whole checkpoint was seen, or the log
//!    was read from its first record; before, [`SetHistory::catalog`] says that it is not.
//! 2. Positions ascend without gaps, so a gap is a restore, and what would stand in it is lost.
//! 3. Behind a piece of the log that cannot be read, what was known is known no longer, but for
//!    what cannot change any more; and a checkpoint counts only if it was begun behind it.

use std::collections::BTreeMap;

use archive::{ArchiveError, LogSource};
use base::{DataSetId, GroupNumber, Lsn};
use recon::{Built, Record as Note, Recovery, Restored, State};
use uow::Catalog;
use uow::checkpoint::{Checkpoint, Gathered};
use uow::record::{CatalogRecord, KernelRecord};
use wal::Record;

use crate::void_end::VoidEnds;
use crate::{History, RecoveryError};

/// What a piece of the log says.
pub struct SetHistory {
    /// From here on nothing is left out.
    from: Lsn,
    /// The data sets, once that is known.
    catalog: Option<Catalog>,
    /// What was said of them before.
    before: Vec<(Lsn, CatalogRecord)>,
    /// Where the log begins to speak of those that were built.
    built: BTreeMap<DataSetId, Lsn>,
    /// Where each data set came to be that did.
    pub births: BTreeMap<DataSetId, Lsn>,
    /// The recoveries, oldest first; their numbers are 0.
    pub recoveries: Vec<Recovery>,
    /// The restores, oldest first.
    pub restored: Vec<Restored>,
    /// Nothing has these numbers or later ones.
    pub next_uow: u64,
    /// The same for data sets.
    pub next_set: u32,
    /// The latest batch of the page writer that a checkpoint names.
    pub last_batch: u64,
    /// Where the last record ends; [`Lsn::NONE`] if there was none.
    pub end: Lsn,
    /// When the newest commit happened: UTC in microseconds.
    pub committed_us: u64,
    checkpoint: Gathered,
    void_ends: VoidEnds,
}

/// A piece of the log that cannot be read any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What is in front of it was read.
    pub from: Lsn,
    /// Where reading went on; the greatest position if it did not.
    pub to: Lsn,
    /// The first group of it.
    pub group: GroupNumber,
    /// Why.
    pub why: String,
}

impl SetHistory {
    /// The past as of a position, of which nothing is known but that it is the log's first one, if
    /// it is.
    #[must_use]
    pub fn from(from: Lsn) -> SetHistory {
        SetHistory {
            from,
            catalog: (from == Lsn::FIRST).then(|| Catalog::at(&Checkpoint::initial())),
            before: Vec::new(),
            built: BTreeMap::new(),
            births: BTreeMap::new(),
            recoveries: Vec::new(),
            restored: Vec::new(),
            next_uow: 1,
            next_set: 1,
            last_batch: 0,
            end: Lsn::NONE,
            committed_us: 0,
            checkpoint: Gathered::default(),
            void_ends: VoidEnds::from(from),
        }
    }

    /// Reads a piece of the log; `tell` hears how far it is.
    ///
    /// # Errors
    /// Whatever reading the log says; a record that is none.
    pub fn read(
        history: &dyn History,
        (from, to): (Lsn, Lsn),
        tell: &mut dyn FnMut(Lsn),
    ) -> Result<SetHistory, RecoveryError> {
        let mut past = SetHistory::from(from);
        past.go_on(history, (from, to), tell)?;
        Ok(past)
    }

    /// Reads the log from a position to its end, around what cannot be read any more.
    ///
    /// # Errors
    /// As for [`SetHistory::read`], but for archives that are lost.
    pub fn read_around(
        source: &LogSource,
        from: Lsn,
        tell: &mut dyn FnMut(Lsn),
    ) -> Result<(SetHistory, Vec<Unread>), RecoveryError> {
        let (mut past, mut unread) = (SetHistory::from(from), Vec::new());
        let mut next = Some(from);
        while let Some(from) = next.take() {
            match past.go_on(source, (from, Lsn(u64::MAX)), tell) {
                Ok(()) => {}
                Err(RecoveryError::Archive(error @ ArchiveError::Missing { from: group, .. })) => {
                    next = source.begins_behind(group);
                    let to = next.unwrap_or(Lsn(u64::MAX));
                    let (from, why) = (past.end.max(from), error.to_string());
                    unread.push(Unread { from, to, group, why });
                    past.pass_over(to);
                }
                Err(error) => return Err(error),
            }
        }
        Ok((past, unread))
    }

    fn go_on(
        &mut self,
        history: &dyn History,
        (from, to): (Lsn, Lsn),
        tell: &mut dyn FnMut(Lsn),
    ) -> Result<(), RecoveryError> {
        let mut reported = from;
        history.each(from, to, &mut |record| {
            self.see(record)?;
            if record.lsn.0 > reported.0 + TELL_EACH {
                reported = record.lsn;
                tell(record.lsn);
            }
            Ok(true)
        })
    }

    /// What comes next begins there, and what was in front of it is not known (3).
    fn pass_over(&mut self, to: Lsn) {
        self.from = to;
        self.catalog = None;
        self.before.clear();
        self.checkpoint = Gathered::default();
        self.lose_track();
    }

    /// Which data sets there are where the log ends; `None` if this piece of it does not say.
    #[must_use]
    pub fn catalog(&self) -> Option<&Catalog> {
        self.catalog.as_ref()
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// Damage, if it does not decode.
    pub fn see(&mut self, record: &Record<'_>) -> Result<(), RecoveryError> {
        if self.end != Lsn::NONE && record.lsn > self.end {
            self.restored.push(Restored { end: self.end, began: record.lsn });
        }
        if self.end == Lsn::NONE {
            self.void_ends = VoidEnds::from(record.lsn);
        }
        self.end = record.end;
        self.next_uow = self.next_uow.max(record.uow.0.saturating_add(1));
        let kernel_record = KernelRecord::of(record)?;
        self.void_ends.see(record, &kernel_record);
        match kernel_record {
            KernelRecord::Commit { utc_us } => self.committed_us = utc_us,
            KernelRecord::Checkpoint(part) => {
                // A piece of one that a crash has cut off says nothing; the next one is whole.
                if let Ok(Some(checkpoint)) = self.checkpoint.part(&part) {
                    self.begin_with(&checkpoint);
                }
            }
            KernelRecord::Catalog(change) => self.see_catalog(record.lsn, change),
            KernelRecord::BackedOut { .. }
            | KernelRecord::FreesAtCommit(_)
            | KernelRecord::UndoEnd(_)
            | KernelRecord::UndoSkipped(_)
            | KernelRecord::GivenOut(_)
            | KernelRecord::TakenBack(_)
            | KernelRecord::Write(_)
            | KernelRecord::Change(_) => {}
        }
        Ok(())
    }

    /// What comes next need not follow what was seen: a gap says nothing.
    pub fn lose_track(&mut self) {
        self.end = Lsn::NONE;
    }

    /// The records of recoveries and restores that RECON does not know, with numbers of its own.
    #[must_use]
    pub fn unrecorded(&self, state: &State) -> Vec<Note> {
        let known = |one: &Recovery| {
            let mut all = state.recoveries.values();
            all.any(|known| known.became == one.became)
        };
        let new = self.recoveries.iter().filter(|one| !known(one));
        let numbered = new.zip(state.next_number()..);
        let recoveries =
            numbered.map(|(one, number)| Note::Recovery(Recovery { number, ..one.clone() }));
        let became = self.recoveries.iter().flat_map(|one| &one.became);
        let built = became.filter(|set| !state.built.contains_key(set));
        let built = built.filter_map(|set| Some(Built { set: *set, from: *self.built.get(set)? }));
        let restored = self.restored.iter().cloned().map(Note::Restored);
        recoveries.chain(built.map(Note::Built)).chain(restored).collect()
    }

    fn see_catalog(&mut self, lsn: Lsn, record: CatalogRecord) {
        match &record {
            CatalogRecord::Made { definition, .. } => {
                self.next_set = self.next_set.max(definition.id.0.saturating_add(1));
                self.births.insert(definition.id, lsn);
            }
            CatalogRecord::Building { definition, .. } => {
                self.next_set = self.next_set.max(definition.id.0.saturating_add(1));
                self.built.insert(definition.id, lsn);
            }
            CatalogRecord::Recovered(recovered) => self.recoveries.push(Recovery {
                number: 0,
                sets: recovered.sets.iter().map(|(old, _)| *old).collect(),
                became: recovered.sets.iter().map(|(_, new)| *new).collect(),
                copies: vec![0; recovered.sets.len()],
                to: recovered.to,
                void_to: self.void_ends.of(recovered),
                utc_us: self.committed_us,
                to_point: true,
            }),
            CatalogRecord::Changed(_)
            | CatalogRecord::Gone(_)
            | CatalogRecord::Offline(_)
            | CatalogRecord::Protected { .. } => {}
        }
        match &mut self.catalog {
            Some(catalog) => catalog.apply(lsn, &record),
            None => self.before.push((lsn, record)),
        }
    }

    /// A checkpoint says what there was when it was begun.
    fn begin_with(&mut self, checkpoint: &Checkpoint) {
        self.next_uow = self.next_uow.max(checkpoint.next_uow);
        self.next_set = self.next_set.max(checkpoint.next_set);
        self.last_batch = self.last_batch.max(checkpoint.last_batch);
        if self.catalog.is_some() || checkpoint.begin < self.from {
            return;
        }
        let mut catalog = Catalog::at(checkpoint);
        for (lsn, record) in std::mem::take(&mut self.before) {
            catalog.apply(lsn, &record);
        }
        self.catalog = Some(catalog);
    }
}

/// How often the caller that waits is told, in bytes of log.
const TELL_EACH: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use base::UowId;
    use uow::record::{Change, Recovered, WriteRecord};

    use super::*;

    #[test]
    fn what_is_logged_between_the_end_of_a_successor_and_its_taking_the_place_is_not_void() {
        let change = |set| {
            let (set, undo_next) = (DataSetId(set), Some(Lsn::NONE));
            KernelRecord::Change(Change { kind: 32, set, undo_next, undoable: false, body: &[] })
        };
        let sets = vec![(DataSetId(1), DataSetId(7))];
        let recovered = CatalogRecord::Recovered(Recovered { to: Lsn(50), sets });
        let records = [
            change(7),
            change(2),
            KernelRecord::Write(WriteRecord::BatchDone { batch: 3 }),
            KernelRecord::Catalog(recovered),
        ];
        let mut past = SetHistory::from(Lsn(100));
        for (record, lsn) in records.iter().zip((100..).step_by(10)) {
            let body = record.encode().parts().concat();
            let (lsn, end, uow) = (Lsn(lsn), Lsn(lsn + 10), UowId(u64::from(record.kind())));
            let (kind, flags, previous) = (record.kind(), record.flags(), Lsn::NONE);
            past.see(&Record { lsn, end, kind, flags, uow, previous, body: &body }).unwrap();
        }
        let known: Vec<_> = past.recoveries.iter().map(|one| (one.to, one.void_to)).collect();
        assert_eq!(known, [(Lsn(50), Lsn(110))]);
    }
}
