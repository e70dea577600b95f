//! Undo: taking the changes of a unit of work back one by one.

use std::sync::Arc;

use base::{Lsn, UowId};
use pool::ExclusiveCi;
use seam::failpoint::{Failpoint, armed};
use space::DataSet;
use wal::{Record, RecordHead};

use super::Kernel;
use crate::UowError;
use crate::active::{AnchoredRecord, SlotNumber};
use crate::record::{Change, KernelRecord, Undone};
use crate::reserve::UndoReserve;
use crate::undo_list::UndoList;

/// One unit of work being undone, wholly or back to a savepoint.
pub struct Undo<'k> {
    kernel: &'k Arc<Kernel>,
    uow: UowId,
    slot: SlotNumber,
    last: Lsn,
    /// The record being undone, and where the chain goes on behind it.
    current: Lsn,
    next: Lsn,
    complete: bool,
    /// What is reserved in the log for this; nothing at a restart, when nobody else logs.
    reserve: UndoReserve,
}

impl<'k> Undo<'k> {
    pub(crate) fn new(
        kernel: &'k Arc<Kernel>,
        uow: UowId,
        slot: SlotNumber,
        last: Lsn,
    ) -> Undo<'k> {
        let (current, next, reserve) = (Lsn::NONE, Lsn::NONE, UndoReserve::default());
        Undo { kernel, uow, slot, last, current, next, complete: false, reserve }
    }

    /// The same with what its unit of work has reserved for it.
    pub(crate) fn drawing_on(self, reserve: UndoReserve) -> Undo<'k> {
        Undo { reserve, ..self }
    }

    /// What is left of it.
    pub(crate) fn into_reserve(self) -> UndoReserve {
        self.reserve
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &'k Arc<Kernel> {
        self.kernel
    }

    /// Where undo goes on: what is undone is no longer part of the chain, so that nobody need read
    /// its compensation.
    pub(crate) fn last(&self) -> Lsn {
        self.last
    }

    /// Logs and applies the compensation that completes the undo of the current record.
    ///
    /// # Errors
    /// If the log refuses; the kernel stops.
    pub fn compensate(
        &mut self,
        set: &DataSet,
        kind: u8,
        body: &[&[u8]],
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), UowError> {
        self.complete = true;
        self.log_compensation(set, kind, body, page, self.next)
    }

    /// Logs and applies a part of it: after a crash the record is undone again.
    ///
    /// # Errors
    /// If the log refuses; the kernel stops.
    pub fn compensate_part(
        &mut self,
        set: &DataSet,
        kind: u8,
        body: &[&[u8]],
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), UowError> {
        self.log_compensation(set, kind, body, page, self.current)
    }

    fn log_compensation(
        &mut self,
        set: &DataSet,
        kind: u8,
        body: &[&[u8]],
        page: &mut ExclusiveCi<'_>,
        undo_next: Lsn,
    ) -> Result<(), UowError> {
        let whole = body.concat();
        page.begin_change(self.kernel.log.next_lsn());
        let lsn = if armed(Failpoint::NoCompensation) {
            self.kernel.log.next_lsn()
        } else {
            let steps = self.kernel.steps(set, kind, &whole)?;
            let kernel = self.kernel;
            let (set, next) = (set.id(), Some(undo_next));
            let change = Change { kind, set, undo_next: next, undoable: false, body: &whole };
            let record = KernelRecord::Change(change);
            let mut append = || self.append(&record, undo_next);
            if steps.is_empty() { append()? } else { kernel.work.transit.log(&steps, append)? }
        };
        self.kernel.apply(set, kind, &whole, page, lsn)
    }

    /// Appends a compensation; undo goes on at `undo_next`.
    fn append(&mut self, record: &KernelRecord<'_>, undo_next: Lsn) -> Result<Lsn, UowError> {
        let kernel = self.kernel;
        kernel.work.active.begin_append(self.slot);
        let appended = record.append_for(&kernel.log, self.uow, self.last);
        if let Ok(place) = &appended {
            self.last = undo_next;
            self.reserve.undone(&kernel.log, place.end.0 - place.lsn.0);
        }
        kernel.work.active.end_append(self.slot, self.last);
        Ok(appended?.lsn)
    }

    /// Undoes everything behind `until`, newest first.
    pub(crate) fn back_to(&mut self, until: Lsn, list: &mut UndoList) -> Result<(), UowError> {
        let mut at = self.last;
        while at > until {
            at = match list.pop(at) {
                Some(AnchoredRecord { lsn, previous, set, kind, body }) => {
                    self.undo_record(lsn, previous, set, kind, &body)?;
                    previous
                }
                None => self.undo_at(at)?,
            };
        }
        Ok(())
    }

    /// Undoes the record at `lsn`, anchored or in the log; returns where the chain goes on.
    pub(crate) fn undo_at(&mut self, lsn: Lsn) -> Result<Lsn, UowError> {
        if let Some(record) = self.kernel.work.active.anchored_at(self.uow, lsn) {
            self.undo_record(lsn, record.previous, record.set, record.kind, &record.body)?;
            return Ok(record.previous);
        }
        let mut body = Vec::new();
        let head = self.kernel.log.read_record(lsn, &mut body)?;
        let previous = head.previous;
        let RecordHead { lsn, end, kind, flags, uow, .. } = head;
        let record = Record { lsn, end, kind, flags, uow, previous, body: &body };
        let change = match KernelRecord::of(&record)? {
            KernelRecord::Change(change) => change,
            KernelRecord::UndoEnd(undone) | KernelRecord::UndoSkipped(undone) => {
                return Ok(undone.undo_next);
            }
            KernelRecord::Commit { .. }
            | KernelRecord::BackedOut { .. }
            | KernelRecord::FreesAtCommit(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::Catalog(_)
            | KernelRecord::GivenOut(_)
            | KernelRecord::TakenBack(_)
            | KernelRecord::Write(_) => return Ok(previous),
        };
        match change.undo_next {
            Some(next) => return Ok(next),
            None if !change.undoable => return Ok(previous),
            None => {}
        }
        self.undo_record(lsn, previous, change.set, change.kind, change.body)?;
        Ok(previous)
    }

    /// Ends a unit of work that restart has undone.
    pub(crate) fn end_at_restart(&mut self) -> Result<(), UowError> {
        let kernel = self.kernel;
        let utc_us = kernel.parts.seam.clock.utc_us();
        kernel.work.active.begin_append(self.slot);
        let backed_out = KernelRecord::BackedOut { utc_us };
        backed_out.append_for(&kernel.log, self.uow, self.last)?;
        kernel.work.active.leave(self.slot);
        Ok(())
    }

    fn undo_record(
        &mut self,
        lsn: Lsn,
        previous: Lsn,
        set: base::DataSetId,
        kind: u8,
        body: &[u8],
    ) -> Result<(), UowError> {
        self.current = lsn;
        self.next = previous;
        self.complete = false;
        let kernel = self.kernel;
        if let Some(set) = kernel.set(set) {
            kernel.parts.resource.undo(self, &set, kind, body)?;
        }
        if !self.complete {
            let undone = Undone { set, undo_next: previous };
            let offline = kernel.sets.lock().is_offline(set);
            let record = match offline {
                true => KernelRecord::UndoSkipped(undone),
                false => KernelRecord::UndoEnd(undone),
            };
            self.append(&record, previous)?;
        }
        Ok(())
    }

    /// Undoes a change that another unit of work has made to what `set` is rebuilt from.
    pub(crate) fn undo_for(
        &mut self,
        set: &DataSet,
        kind: u8,
        body: &[u8],
    ) -> Result<(), UowError> {
        (self.current, self.next, self.complete) = (Lsn::NONE, Lsn::NONE, false);
        let kernel = self.kernel;
        kernel.parts.resource.undo(self, set, kind, body)
    }
}
