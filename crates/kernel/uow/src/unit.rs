//! A unit of work: locks, changes, savepoints, and its end.
//!
//! It belongs to one thread at a time. Dropping one that has not ended backs it out.

use std::sync::Arc;

use base::{CiNumber, DataSetId, Lsn, UowId};
use lock::{Acquired, LockName, Mode, Owner, Wait};
use pool::ExclusiveCi;
use seam::failpoint::{Failpoint, armed};
use space::DataSet;
use wal::DurableSink;

use crate::active::{SlotNumber, UNPINNED};
use crate::housekeeping::RoomWanted;
use crate::record::{Change, KernelRecord, List};
use crate::reserve::UndoReserve;
use crate::transit::Step;
use crate::undo_list::UndoList;
use crate::{Kernel, SpanLimit, Undo, UowError};

/// How a unit of work begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct UowOptions {
    /// How often the same work was chosen to break a deadlock before (K14).
    pub times_chosen: u32,
}

/// A moment to which a unit of work can go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint {
    last: Lsn,
    frees: usize,
    /// What changes needed of the reserve for undo.
    needed: u64,
}

/// Is told that a unit of work is over, by whoever ends it and on his thread.
pub trait AtEnd: Send + Sync {
    /// Its commit is published, or its changes are undone; it still holds its locks. Not called if
    /// the kernel stops before that.
    fn at_end(&self);
}

/// A unit of work.
pub struct Uow {
    kernel: Arc<Kernel>,
    id: UowId,
    owner: Owner,
    slot: Option<SlotNumber>,
    /// The oldest record that its undo would read in the log, if it is not [`UNPINNED`].
    first: Lsn,
    /// Where its undo begins.
    last: Lsn,
    undo: UndoList,
    reserve: UndoReserve,
    frees: Vec<(DataSetId, CiNumber)>,
    at_end: Option<Arc<dyn AtEnd>>,
    ended: bool,
}

/// What checkpoints carry for one unit of work at most.
const ANCHORED_BYTES_MAX: usize = 4 << 10;

impl Kernel {
    /// Begins a unit of work. It costs nothing until it locks or changes something.
    ///
    /// # Errors
    /// [`UowError::Stopped`].
    pub fn begin(self: &Arc<Self>, options: UowOptions) -> Result<Uow, UowError> {
        self.stop.check()?;
        let (id, undo) = (self.work.units.number(), self.work.units.buffer());
        Ok(Uow {
            kernel: Arc::clone(self),
            id,
            owner: self.locks.owner(id, options.times_chosen),
            slot: None,
            first: UNPINNED,
            last: Lsn::NONE,
            undo,
            reserve: UndoReserve::default(),
            frees: Vec::new(),
            at_end: None,
            ended: false,
        })
    }
}

impl Uow {
    /// Its number.
    #[must_use]
    pub fn id(&self) -> UowId {
        self.id
    }

    /// The kernel it belongs to.
    #[must_use]
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// How often it, or the work it repeats, was chosen to break a deadlock.
    #[must_use]
    pub fn times_chosen(&self) -> u32 {
        self.owner.times_chosen()
    }

    /// Has somebody told when it ends, before its locks go. One at most.
    pub fn tell_at_end(&mut self, listener: Arc<dyn AtEnd>) {
        assert!(self.at_end.is_none(), "one is told of the end of a unit of work");
        self.at_end = Some(listener);
    }

    /// Lets go of all locks: the end is decided and in the log.
    fn release_locks(&mut self) {
        if let Some(listener) = self.at_end.take() {
            listener.at_end();
        }
        self.kernel.locks.release_all(&mut self.owner);
    }

    /// Whether it has changed anything.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.last != Lsn::NONE
    }

    /// Locks something. No latch is held.
    ///
    /// # Errors
    /// See [`lock::LockError`]; after a deadlock it must be backed out.
    pub fn lock(&mut self, name: LockName, mode: Mode, wait: Wait) -> Result<Acquired, UowError> {
        if wait != Wait::No {
            pool::assert_none_held("a wait for a lock");
        }
        Ok(self.kernel.locks.acquire(&mut self.owner, name, mode, wait)?)
    }

    /// Waits until it could lock something, without keeping it (K14: inserts and deletes test the
    /// next key).
    ///
    /// # Errors
    /// As for [`Uow::lock`].
    pub fn lock_instant(&mut self, name: LockName, mode: Mode, wait: Wait) -> Result<(), UowError> {
        if wait != Wait::No {
            pool::assert_none_held("a wait for a lock");
        }
        self.kernel.locks.acquire_instant(&mut self.owner, name, mode, wait)?;
        Ok(())
    }

    /// Locks a whole data set and gives back the locks on its keys that this speaks for; returns
    /// how many those were.
    ///
    /// # Errors
    /// As for [`Uow::lock`].
    pub fn escalate(&mut self, set: DataSetId, mode: Mode, wait: Wait) -> Result<usize, UowError> {
        if wait != Wait::No {
            pool::assert_none_held("a wait for a lock");
        }
        Ok(self.kernel.locks.escalate(&mut self.owner, set, mode, wait)?)
    }

    /// The same for the names of a space that stand for parts of the data set:
    /// [`lock::LockManager::escalate_names`].
    ///
    /// # Errors
    /// As for [`Uow::lock`].
    pub fn escalate_names(
        &mut self,
        set: DataSetId,
        space: u32,
        mode: Mode,
        wait: Wait,
    ) -> Result<usize, UowError> {
        if wait != Wait::No {
            pool::assert_none_held("a wait for a lock");
        }
        Ok(self.kernel.locks.escalate_names(&mut self.owner, set, space, mode, wait)?)
    }

    /// Gives a lock back before the end. The caller knows that he may (H1).
    pub fn unlock(&mut self, name: LockName) -> bool {
        self.kernel.locks.release(&mut self.owner, name)
    }

    /// Whether it holds something in a mode at least as strong.
    #[must_use]
    pub fn holds(&self, name: LockName, mode: Mode) -> bool {
        self.kernel.locks.holds(&self.owner, name, mode)
    }

    /// The mode in which it holds something.
    #[must_use]
    pub fn mode_of(&self, name: LockName) -> Option<Mode> {
        self.owner.mode_of(name)
    }

    /// Makes sure, before anything is latched, that a change of about `log_bytes` can be logged and
    /// undone. May wait for the log to be emptied behind a checkpoint.
    ///
    /// # Errors
    /// [`UowError::PastLogLimit`]: it must be backed out. [`UowError::LogFull`].
    pub fn prepare(&mut self, log_bytes: usize) -> Result<(), UowError> {
        self.check_span()?;
        let kernel = Arc::clone(&self.kernel);
        let log_bytes = log_bytes as u64;
        let reserved = self.reserve.bytes();
        let room = |bytes| RoomWanted { uow: self.id, reserved, bytes };
        kernel.wait_for_log_room(&room(log_bytes))?;
        if let Some(piece) = self.reserve.lacks(log_bytes, kernel.log.capacity_bytes()) {
            kernel.reserve_log(&room(piece))?;
            self.reserve.grow(piece);
        }
        Ok(())
    }

    /// Makes sure that it may stay open while its owner waits for somebody else: it waits for no
    /// room in the log.
    ///
    /// # Errors
    /// [`UowError::PastLogLimit`]: it must be backed out, for it spans too much log, or keeps too
    /// much of a full one.
    pub fn keep_open(&self) -> Result<(), UowError> {
        self.check_span()?;
        self.kernel.may_stay(self.id, self.reserve.bytes())
    }

    fn check_span(&self) -> Result<(), UowError> {
        let (kernel, uow) = (&self.kernel, self.id);
        kernel.stop.check()?;
        if self.first != UNPINNED {
            let bytes = kernel.log.next_lsn().0.saturating_sub(self.first.0);
            let SpanLimit { bytes_max, set_by } = kernel.span_limit();
            if bytes > bytes_max {
                return Err(UowError::PastLogLimit { uow, bytes, bytes_max, set_by });
            }
        }
        Ok(())
    }

    /// From now on checkpoints carry what it has logged so far, so that it keeps no log from being
    /// used again, until it logs something undoable again. For work that logs little that can be
    /// undone and much besides. Returns whether that could be done: not if its undo is long.
    pub fn anchor(&mut self) -> bool {
        let Some(slot) = self.slot else { return false };
        let Some(records) = self.undo.whole(self.last, ANCHORED_BYTES_MAX) else { return false };
        self.kernel.work.active.anchor(slot, records);
        self.first = UNPINNED;
        true
    }

    /// Its next record must stay in the log. It is appending.
    fn pin(&mut self, slot: SlotNumber) {
        if self.first == UNPINNED {
            self.first = self.kernel.log.next_lsn();
            self.kernel.work.active.pin(slot, self.first);
        }
    }

    /// Logs an undoable change of one interval and applies it. [`Uow::prepare`] came before the
    /// latch; the caller has made sure that the change fits.
    ///
    /// # Errors
    /// If the log refuses. If the record does not fit the interval the kernel stops.
    pub fn change(
        &mut self,
        set: &DataSet,
        kind: u8,
        body: &[&[u8]],
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), UowError> {
        let undo_bytes = body.iter().map(|part| part.len() as u64).sum();
        self.change_undone_by(undo_bytes, set, kind, body, page)
    }

    /// Whether what is reserved suffices for an undo that logs so many bytes; otherwise
    /// [`Uow::prepare`] reserves it.
    #[must_use]
    pub fn covers(&self, undo_bytes: u64) -> bool {
        self.reserve.lacks(undo_bytes, self.kernel.log.capacity_bytes()).is_none()
    }

    /// The same for a change whose undo logs another number of bytes.
    ///
    /// # Errors
    /// As for [`Uow::change`].
    pub fn change_undone_by(
        &mut self,
        undo_bytes: u64,
        set: &DataSet,
        kind: u8,
        body: &[&[u8]],
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), UowError> {
        let kernel = Arc::clone(&self.kernel);
        let staged = self.undo.stage(body);
        page.begin_change(kernel.log.next_lsn());
        let previous = self.last;
        let slot = match self.slot {
            Some(slot) => slot,
            None => {
                let slot = kernel.work.active.enter(self.id)?;
                self.slot = Some(slot);
                slot
            }
        };
        kernel.work.active.begin_append(slot);
        self.pin(slot);
        let record = KernelRecord::Change(Change {
            kind,
            set: set.id(),
            undo_next: None,
            undoable: true,
            body: self.undo.staged(staged.clone()),
        });
        let append = || record.append_for(&kernel.log, self.id, previous);
        let interval = (set.id(), page.ci());
        let appended = match kernel.work.transit.has(interval) {
            true => kernel.work.transit.log(&[(interval, Step::Arrives)], append),
            false => append(),
        };
        if let Ok(place) = &appended {
            self.last = place.lsn;
        }
        kernel.work.active.end_append(slot, self.last);
        if appended.is_err() {
            self.undo.unstage(staged.start);
        }
        let place = appended?;
        self.owner.add_log_weight(place.end.0 - place.lsn.0);
        self.reserve.logged(undo_bytes);
        kernel.apply(set, kind, self.undo.staged(staged.clone()), page, place.lsn)?;
        let budget = kernel.config.uow_undo_bytes_max;
        self.undo.keep(staged, place.lsn, previous, set.id(), kind, budget);
        Ok(())
    }

    /// The interval is given back once this unit of work is durably committed; if it is backed out,
    /// not at all.
    pub fn free_at_commit(&mut self, set: &DataSet, ci: CiNumber) {
        if armed(Failpoint::SpaceReusedEarly) {
            let _ = self.kernel.take_back(set, ci, UowId::NONE);
            return;
        }
        self.frees.push((set.id(), ci));
    }

    /// The moment now.
    #[must_use]
    pub fn savepoint(&self) -> Savepoint {
        Savepoint { last: self.last, frees: self.frees.len(), needed: self.reserve.needed() }
    }

    /// Undoes everything since a savepoint of this unit of work. Locks stay.
    ///
    /// # Errors
    /// If something cannot be undone the kernel stops.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<(), UowError> {
        assert!(savepoint.last <= self.last, "savepoints come from this unit of work");
        self.frees.truncate(savepoint.frees);
        self.undo_to(savepoint.last)?;
        self.reserve.shrink_to(&self.kernel.log, savepoint.needed);
        Ok(())
    }

    fn undo_to(&mut self, until: Lsn) -> Result<(), UowError> {
        let kernel = Arc::clone(&self.kernel);
        let Some(slot) = self.slot else { return Ok(()) };
        let reserve = std::mem::take(&mut self.reserve);
        let mut undo = Undo::new(&kernel, self.id, slot, self.last).drawing_on(reserve);
        let undone = undo.back_to(until, &mut self.undo);
        (self.last, self.reserve) = (undo.last(), undo.into_reserve());
        undone.map_err(|error| kernel.cannot_undo(self.id, &error))?;
        if self.last == Lsn::NONE {
            self.reserve.give_back(&kernel.log);
        }
        // What is left to undo, if anything, is not in the log alone.
        if self.last == Lsn::NONE || kernel.work.active.anchored_at(self.id, self.last).is_some() {
            self.first = UNPINNED;
            kernel.work.active.unpin(slot);
        }
        Ok(())
    }

    /// Commits. When this returns, the unit of work, or what it read, is durable. Returns the LSN
    /// up to which the log had to be: its place in the order of commits.
    ///
    /// # Errors
    /// [`UowError::Stopped`]: whether it is committed is then known only after restart.
    pub fn commit(self) -> Result<Lsn, UowError> {
        let kernel = Arc::clone(&self.kernel);
        let gate = self.commit_early()?;
        pool::assert_none_held("a wait for the log");
        kernel.log.wait_durable(gate)?;
        Ok(gate)
    }

    /// Commits without waiting; its locks are free at once. Nobody may be told of the commit, or of
    /// what it read, before the log is durable up to the LSN returned (K2): see
    /// [`wal::Log::when_durable`].
    ///
    /// # Errors
    /// [`UowError::Stopped`].
    pub fn commit_early(mut self) -> Result<Lsn, UowError> {
        self.commit_up_to_gate()
    }

    /// Commits without waiting; `sink` is told `token` when the unit of work, or what it read, is
    /// durable.
    ///
    /// # Errors
    /// [`UowError::Stopped`]; the sink is then not told.
    pub fn commit_queued(self, sink: &Arc<dyn DurableSink>, token: u64) -> Result<(), UowError> {
        let kernel = Arc::clone(&self.kernel);
        let gate = self.commit_early()?;
        kernel.log.when_durable(gate, sink, token);
        Ok(())
    }

    /// Appends the commit record and lets go of the locks. Returns the LSN up to which the log must
    /// be durable before anybody is told.
    fn commit_up_to_gate(&mut self) -> Result<Lsn, UowError> {
        let kernel = Arc::clone(&self.kernel);
        kernel.stop.check()?;
        let Some(slot) = self.slot else {
            self.ended = true;
            let gate = kernel.read_gate();
            self.release_locks();
            kernel.work.units.read_only.one();
            return Ok(gate);
        };
        if armed(Failpoint::LocksDroppedEarly) {
            kernel.locks.release_all(&mut self.owner);
            seam::thread::yield_now();
        }
        self.log_frees(slot)?;
        let commit = KernelRecord::Commit { utc_us: kernel.parts.seam.clock.utc_us() };
        kernel.work.active.begin_append(slot);
        let place = match commit.append_for(&kernel.log, self.id, self.last) {
            Ok(place) => place,
            Err(error) => {
                kernel.work.active.end_append(slot, self.last);
                return Err(error.into());
            }
        };
        // The frees are known to the housekeeper before the unit of work is no longer active, so
        // that every checkpoint has them in one place or the other.
        if !self.frees.is_empty() {
            kernel.work.frees.add(self.id, place.end, std::mem::take(&mut self.frees));
        }
        kernel.work.active.leave(slot);
        self.ended = true;
        kernel.work.units.publish_commit(place.end);
        self.release_locks();
        kernel.work.units.commits.one();
        Ok(place.end)
    }

    fn log_frees(&mut self, slot: SlotNumber) -> Result<(), UowError> {
        let lists = self.frees.chunks(FREES_A_RECORD).map(List::of);
        for list in lists.collect::<Vec<_>>() {
            self.kernel.work.active.begin_append(slot);
            // Analysis reads them when it sees the commit.
            self.pin(slot);
            let kernel = &self.kernel;
            let record = KernelRecord::FreesAtCommit(list);
            let appended = record.append_for(&kernel.log, self.id, self.last);
            if let Ok(place) = &appended {
                self.last = place.lsn;
            }
            kernel.work.active.end_append(slot, self.last);
            appended?;
        }
        Ok(())
    }

    /// Backs out: undoes every change, then lets go of the locks.
    ///
    /// # Errors
    /// If something cannot be undone the kernel stops; restart will do it.
    pub fn backout(mut self) -> Result<(), UowError> {
        self.end_by_backout()
    }

    fn end_by_backout(&mut self) -> Result<(), UowError> {
        self.ended = true;
        let kernel = Arc::clone(&self.kernel);
        if let Some(slot) = self.slot {
            self.undo_to(Lsn::NONE)?;
            let backed_out = KernelRecord::BackedOut { utc_us: kernel.parts.seam.clock.utc_us() };
            kernel.work.active.begin_append(slot);
            let appended = backed_out.append_for(&kernel.log, self.id, self.last);
            if let Err(error) = appended {
                kernel.work.active.end_append(slot, self.last);
                return Err(error.into());
            }
            kernel.work.active.leave(slot);
            kernel.work.units.backouts.one();
        }
        self.release_locks();
        Ok(())
    }
}

/// Places in one "frees at commit" record.
const FREES_A_RECORD: usize = 1024;

impl Drop for Uow {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        if !self.ended && self.end_by_backout().is_err() {
            // The kernel has stopped, or stops for this; nobody else may see what is half there.
            return;
        }
        self.reserve.give_back(&self.kernel.log);
        self.undo.clear();
        self.kernel.work.units.keep_buffer(std::mem::take(&mut self.undo));
    }
}
