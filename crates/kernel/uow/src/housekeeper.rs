//! The housekeeper: takes checkpoints when they are due, frees intervals behind durable commits,
//! makes room in the log, looks for copies that were unmounted, and wakes everybody when the kernel
//! stops.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::{CiNumber, DataSetId, Lsn, UowId};
use seam::plant::{Plant, planted};
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::checkpoint::Checkpoint;
use crate::{Kernel, SpanLimit, SpanSetting, UowError};

/// Intervals that a committed unit of work freed, and the LSN that must be durable before.
type Frees = BTreeMap<UowId, (Lsn, Vec<(DataSetId, CiNumber)>)>;

#[derive(Default)]
pub(crate) struct Housekeeper {
    state: Mutex<State>,
    changed: Condvar,
    frees: Mutex<Frees>,
    /// Data sets with a free end, and when that was seen.
    tails: Mutex<BTreeMap<DataSetId, Lsn>>,
    /// One checkpoint, or one round of freeing, at a time: so a checkpoint never carries a free
    /// that has been logged already.
    pub(crate) work: Mutex<()>,
}

#[derive(Default)]
struct State {
    ended: bool,
    /// Somebody waits for room in the log.
    urgent: bool,
    thread: Option<JoinHandle>,
    /// Where the log stood at the last checkpoint, and when that was.
    last: (Lsn, Duration),
    /// When the log's files and devices were looked at.
    looked: Duration,
}

/// How often the housekeeper looks when nobody calls it.
const LOOK: Duration = Duration::from_millis(50);
/// How often it looks at the log's files and devices.
const LOOK_AROUND: Duration = Duration::from_secs(5);
/// One wait for room in the log, and how many of them are enough.
const ROOM_WAIT: Duration = Duration::from_millis(20);
const ROOM_ROUNDS: u32 = 1_000;
/// With more than this part of the log free, it is kept for data sets that wait for a recovery.
const KEPT_ROOM: u64 = 4;

impl Housekeeper {
    pub(crate) fn start(kernel: &Arc<Kernel>) -> std::io::Result<()> {
        let weak = Arc::downgrade(kernel);
        let thread = seam::thread::spawn("housekeeper", move || {
            while let Some(kernel) = weak.upgrade() {
                if !kernel.housekeep() {
                    return;
                }
            }
        })?;
        kernel.housekeeper.state.lock().thread = Some(thread);
        Ok(())
    }

    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        let thread = state.thread.take();
        drop(state);
        self.changed.notify_all();
        if let Some(thread) = thread {
            thread.join();
        }
    }

    pub(crate) fn free_later(&self, uow: UowId, after: Lsn, places: Vec<(DataSetId, CiNumber)>) {
        self.frees.lock().insert(uow, (after, places));
    }
}

/// One sees a free end, with the next one the redo point passes that look, the third one cuts.
const CHECKPOINTS_TO_CUT: u32 = 3;

impl Kernel {
    /// One round; `false` when the housekeeper shall end.
    fn housekeep(&self) -> bool {
        let keeper = &self.housekeeper;
        let mut state = keeper.state.lock();
        if !state.ended && !state.urgent {
            keeper.changed.wait_for(&mut state, LOOK);
        }
        if state.ended {
            return false;
        }
        let urgent = std::mem::take(&mut state.urgent);
        let (lsn, time) = state.last;
        let now = self.parts.seam.clock.monotonic();
        let looks = now.saturating_sub(state.looked) >= LOOK_AROUND;
        if looks {
            state.looked = now;
        }
        drop(state);
        if let Err(stopped) = self.stop.check() {
            self.locks.wake_all_stopped(&stopped);
            self.log.wake_stopped();
            return true;
        }
        let logged = self.log.next_lsn().0.saturating_sub(lsn.0);
        let old = now.saturating_sub(time) > self.config.checkpoint_interval;
        if looks {
            self.log.look_around();
        }
        let mut relieved = false;
        let done = self.free_after_commit().and_then(|()| {
            let helps = urgent && self.make_room()?;
            let due = logged > self.config.checkpoint_bytes || (old && logged > SELF_BYTES);
            relieved = helps || due;
            if relieved { self.checkpoint_now(false) } else { Ok(()) }
        });
        if let Err(error) = done
            && !error.is_stopped()
        {
            self.stop.stop(format!("the housekeeper cannot go on: {error}"));
        }
        // Where no room can be made, whoever waits for it goes on waiting: woken at once he would
        // only ask again, and nobody else would get far.
        if urgent && relieved {
            keeper.changed.notify_all();
        }
        true
    }

    /// Writes the oldest changes to disk. Returns whether a checkpoint would now free log: one that
    /// does not would only use up what is left, as long as somebody waits for room.
    fn make_room(&self) -> Result<bool, UowError> {
        let oldest = self.log.segments().first().and_then(|segment| segment.end);
        let Some(end) = oldest else { return Ok(false) };
        let keep = self.log.capacity_bytes() / 8;
        let before = Lsn(self.log.next_lsn().0.saturating_sub(keep));
        let holder = self.active.oldest().map(|active| active.first);
        let tried = self.control.block().needed_from >= end;
        if tried || holder.is_some_and(|first| first < end) {
            return Ok(false);
        }
        self.writer.write_before(before.max(end))?;
        Ok(true)
    }

    /// What one unit of work may keep of the log: beyond, others would starve.
    pub(crate) fn log_bytes_for_one(&self) -> u64 {
        self.log.capacity_bytes() / 2
    }

    /// How much log one unit of work may span, and which setting says so: what is configured, but
    /// never more than half of the log.
    #[must_use]
    pub fn span_limit(&self) -> SpanLimit {
        let (wanted, half) = (self.config.uow_log_bytes_max, self.log_bytes_for_one());
        match wanted <= half {
            true => SpanLimit { bytes_max: wanted, set_by: SpanSetting::Units },
            false => SpanLimit { bytes_max: half, set_by: self.log_size() },
        }
    }

    fn log_size(&self) -> SpanSetting {
        let log = &self.config.log;
        SpanSetting::Log { segments_max: log.segments_max, segment_bytes: log.segment_bytes }
    }

    /// Whether `bytes` can be logged and a share is left for undo.
    pub(crate) fn has_log_room(&self, bytes: u64) -> bool {
        self.log.room() >= bytes + self.log.capacity_bytes() / 8
    }

    /// Asks for room in the log and waits a moment for it. Nobody else may be there to ask: whoever
    /// lacks room asks himself.
    pub(crate) fn ask_for_log_room(&self) {
        pool::assert_none_held("a wait for room in the log");
        let mut state = self.housekeeper.state.lock();
        state.urgent = true;
        self.housekeeper.changed.notify_all();
        self.housekeeper.changed.wait_for(&mut state, ROOM_WAIT);
    }

    /// Waits, without a latch, until `bytes` can be logged and a share is left for undo.
    pub(crate) fn wait_for_log_room(&self, uow: UowId, bytes: u64) -> Result<(), UowError> {
        for round in 0..ROOM_ROUNDS {
            if self.has_log_room(bytes) {
                return Ok(());
            }
            self.stop.check()?;
            // The one who keeps the log full must not wait for himself.
            if let Some(oldest) = self.active.oldest()
                && oldest.uow == uow
                && round > 4
            {
                let bytes = self.log.next_lsn().0.saturating_sub(oldest.first.0);
                let (bytes_max, set_by) = (self.log_bytes_for_one() / 2, self.log_size());
                if bytes > bytes_max {
                    return Err(UowError::PastLogLimit { uow, bytes, bytes_max, set_by });
                }
            }
            self.ask_for_log_room();
        }
        if let Some(error) = self.log.held_by_archive() {
            return Err(error.into());
        }
        let holder = self.active.oldest().map_or(UowId::NONE, |active| active.uow);
        Err(UowError::LogFull { uow, holder })
    }

    /// Between two steps of a long undo, without a latch: makes room in the log if little is left
    /// and that can be done. Undo waits for nobody; it also has what ordinary records leave free.
    ///
    /// # Errors
    /// If a checkpoint cannot be written.
    pub fn make_room_for_undo(&self) -> Result<(), UowError> {
        pool::assert_none_held("a checkpoint");
        if !self.has_log_room(0) && self.make_room()? {
            self.checkpoint_now(false)?;
        }
        Ok(())
    }

    /// Gives back the intervals of units of work whose commit is durable.
    pub(crate) fn free_after_commit(&self) -> Result<(), UowError> {
        let _work = self.housekeeper.work.lock();
        loop {
            let durable = self.log.durable();
            let ready = {
                let frees = self.housekeeper.frees.lock();
                let mut ready = frees.iter().filter(|(_, free)| free.0 <= durable);
                ready.next().map(|(uow, free)| (*uow, free.1.clone()))
            };
            let Some((uow, places)) = ready else { return Ok(()) };
            for (id, ci) in places {
                if let Some(set) = self.set(id) {
                    self.take_back(&set, ci, uow)?;
                }
            }
            self.housekeeper.frees.lock().remove(&uow);
        }
    }

    /// Returns when no committed unit of work has anything of a data set still to be freed: before
    /// all that is in use there is freed at once. No latch is held.
    ///
    /// # Errors
    /// If the kernel has stopped.
    pub fn settle_frees(&self, set: DataSetId) -> Result<(), UowError> {
        loop {
            let pending = {
                let frees = self.housekeeper.frees.lock();
                let of_set = |free: &&(Lsn, Vec<_>)| free.1.iter().any(|(id, _)| *id == set);
                frees.values().filter(of_set).map(|free| free.0).max()
            };
            let Some(pending) = pending else { return Ok(()) };
            self.log.wait_durable(pending)?;
            self.free_after_commit()?;
        }
    }

    /// The state of the kernel at this moment: where a recovery from an image copy that is begun
    /// now goes on in the log. Nothing is written.
    ///
    /// # Errors
    /// If the kernel has stopped.
    pub fn moment(&self) -> Result<Checkpoint, UowError> {
        let _work = self.housekeeper.work.lock();
        self.stop.check()?;
        Ok(self.gather_checkpoint())
    }

    /// What a checkpoint says now; `work` is held.
    fn gather_checkpoint(&self) -> Checkpoint {
        let mut checkpoint = Checkpoint::initial();
        {
            let sets = self.sets.lock();
            let _tops = self.journal.tops.lock();
            (checkpoint.transit, checkpoint.begin) = self.transit.list(|| self.log.next_lsn());
            checkpoint.next_set = sets.next.max(1);
            let all = sets.all();
            checkpoint.sets =
                all.iter().map(|set| (set.top(), (*set.definition()).clone())).collect();
            (checkpoint.building, checkpoint.offline) = (sets.building(), sets.offline());
        }
        checkpoint.active = self.active.list();
        checkpoint.anchored = self.active.anchored_of(&checkpoint.active);
        let frees = self.housekeeper.frees.lock().clone();
        checkpoint.frees = frees.into_iter().map(|(uow, free)| (uow, free.1)).collect();
        checkpoint.next_uow = self.next_uow.load(std::sync::atomic::Ordering::SeqCst);
        checkpoint.last_batch = self.writer.last_batch();
        let oldest = self.dirty.oldest().filter(|_| !planted(Plant::CheckpointTooNew));
        checkpoint.redo = oldest.map_or(checkpoint.begin, |oldest| oldest.min(checkpoint.begin));
        checkpoint
    }

    /// Takes a checkpoint now. `orderly`: nobody is active and everything is on disk.
    ///
    /// # Errors
    /// If the log or the control file cannot be written.
    pub fn checkpoint_now(&self, orderly: bool) -> Result<(), UowError> {
        let _work = self.housekeeper.work.lock();
        self.stop.check()?;
        let checkpoint = self.gather_checkpoint();
        self.log_checkpoint(&checkpoint, orderly)?;
        self.counts.checkpoints.one();
        let now = self.parts.seam.clock.monotonic();
        self.housekeeper.state.lock().last = (self.log.next_lsn(), now);
        self.cut_tails(checkpoint.redo)
    }

    /// Gives devices back at once what is free at the ends of data sets, which checkpoints do by
    /// and by. No latch is held.
    ///
    /// # Errors
    /// If log or disk refuse; the kernel stops then.
    pub fn shrink_now(&self) -> Result<(), UowError> {
        self.free_after_commit()?;
        for _ in 0..CHECKPOINTS_TO_CUT {
            self.write_out()?;
            self.checkpoint_now(false)?;
        }
        Ok(())
    }

    /// Cuts the files of data sets whose end is no longer used. What was free at the end of a data
    /// set when an earlier checkpoint looked, and was not used since, no restart can ask for any
    /// more once the redo point has passed that look.
    fn cut_tails(&self, redo: Lsn) -> Result<(), UowError> {
        let mut tails = self.housekeeper.tails.lock();
        for set in self.all_sets() {
            match tails.get(&set.id()) {
                Some(looked) if *looked > redo => continue,
                Some(_) => {
                    tails.remove(&set.id());
                    set.cut()?;
                }
                None => {}
            }
            let used = set.watch_peak()?;
            if set.intervals() > used + used / 8 + TAIL_MIN {
                tails.insert(set.id(), self.log.next_lsn());
            }
        }
        Ok(())
    }

    fn log_checkpoint(&self, checkpoint: &Checkpoint, orderly: bool) -> Result<(), UowError> {
        let (first, end) = checkpoint.log(&self.log)?;
        let mut needed_from = checkpoint.needed_from();
        // What brings back a data set that waits for its recovery may be nowhere but in the log, so
        // that is kept from where it was needed when the set went offline, while there is room.
        let has_room = self.log.room() >= self.log.capacity_bytes() / KEPT_ROOM;
        let keeps = !checkpoint.offline.is_empty() && has_room;
        let updated = self.control.update(|block| {
            if keeps {
                needed_from = needed_from.min(block.needed_from);
            }
            block.checkpoint = first;
            block.needed_from = needed_from;
            // Where a record ends: what is durable behind it may be the piece of a record that a
            // crash cuts off, and the log would then seem to have been cut.
            block.proven = end;
            block.orderly = orderly;
        });
        // The last word of an orderly stop stands in both slots, so that neither can be lost
        // unseen.
        let updated = updated.and_then(|()| match orderly {
            true => self.control.update(|_| ()),
            false => Ok(()),
        });
        // What the file says now is not known: whoever asked for the checkpoint, nobody goes on.
        updated.map_err(|error| UowError::Stopped(self.stop.stop(error.to_string())))?;
        self.log.truncate(needed_from);
        Ok(())
    }

    /// Undo cannot fail in a sound kernel; if it does, nothing may go on.
    pub(crate) fn cannot_undo(&self, uow: UowId, error: &UowError) -> UowError {
        UowError::Stopped(self.stop.stop(format!("{uow} cannot be backed out: {error}")))
    }
}

/// A shorter free end is kept for what comes next.
const TAIL_MIN: u32 = 64;
/// What a checkpoint itself logs does not call for another one.
const SELF_BYTES: u64 = 16 << 10;
