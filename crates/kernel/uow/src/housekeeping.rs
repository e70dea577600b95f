//! What the housekeeper does: has checkpoints taken when they are due, intervals freed behind
//! durable commits, makes room in the log, looks for copies that were unmounted and for the
//! system's lock, and wakes everybody when the kernel stops.

use std::sync::Arc;

use base::{Lsn, UowId};
use seam::disk::LockPlace;

use crate::housekeeper::Round;
use crate::{Kernel, SpanLimit, SpanSetting, UowError};

/// How many waits for room in the log are enough.
const ROOM_ROUNDS: u32 = 1_000;

impl Kernel {
    /// Starts the housekeeper.
    pub(crate) fn start_housekeeper(self: &Arc<Self>) -> std::io::Result<()> {
        let weak = Arc::downgrade(self);
        let round = move || weak.upgrade().is_some_and(|kernel| kernel.housekeep());
        self.upkeep.housekeeper.start(round)
    }

    /// One round; `false` when the housekeeper shall end.
    fn housekeep(&self) -> bool {
        let keeper = &self.upkeep.housekeeper;
        let Some(round) = keeper.next(&*self.parts.seam.clock) else { return false };
        let Round { urgent, looks, now } = round;
        let (lsn, time) = self.upkeep.checkpoints.last();
        if let Err(stopped) = self.stop.check() {
            self.locks.wake_all_stopped(&stopped);
            self.log.wake_stopped();
            return true;
        }
        let logged = self.log.next_lsn().0.saturating_sub(lsn.0);
        let old = now.saturating_sub(time) > self.config.checkpoint_interval;
        if looks {
            self.log.look_around();
            self.stop_without_lock();
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
            keeper.relieve();
        }
        true
    }

    /// Stops where the lock's file was taken away and nothing else keeps others from opening the
    /// system: two kernels would go on with one log.
    pub(crate) fn stop_without_lock(&self) {
        if self.lock.place() == LockPlace::Lost {
            self.stop.stop(format!(
                "the lock of {} was removed or replaced, and another process may have the system \
                 open; look for it before the next start",
                self.parts.home.display()
            ));
        }
    }

    /// Writes the oldest changes to disk. Returns whether a checkpoint would now free log: one that
    /// does not would only use up what is left, as long as somebody waits for room.
    fn make_room(&self) -> Result<bool, UowError> {
        let oldest = self.log.segments().first().and_then(|segment| segment.end);
        let Some(end) = oldest else { return Ok(false) };
        let keep = self.log.capacity_bytes() / 8;
        let before = Lsn(self.log.next_lsn().0.saturating_sub(keep));
        let holder = self.work.active.oldest().map(|active| active.first);
        let tried = self.control.block().needed_from >= end;
        if tried || holder.is_some_and(|first| first < end) {
            return Ok(false);
        }
        self.buffers.writer.write_before(before.max(end))?;
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

    /// The same for the one that keeps a log full in which others wait for room: half of that.
    #[must_use]
    pub fn span_limit_when_full(&self) -> SpanLimit {
        let (usual, quarter) = (self.span_limit(), self.log_bytes_for_one() / 2);
        match usual.bytes_max <= quarter {
            true => usual,
            false => SpanLimit { bytes_max: quarter, set_by: self.log_size() },
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
        self.upkeep.housekeeper.ask_for_room();
    }

    /// Waits, without a latch, until `bytes` can be logged and a share is left for undo.
    pub(crate) fn wait_for_log_room(&self, uow: UowId, bytes: u64) -> Result<(), UowError> {
        for round in 0..ROOM_ROUNDS {
            if self.has_log_room(bytes) {
                return Ok(());
            }
            self.stop.check()?;
            // The one who keeps the log full must not wait for himself.
            if let Some(oldest) = self.work.active.oldest()
                && oldest.uow == uow
                && round > 4
            {
                let bytes = self.log.next_lsn().0.saturating_sub(oldest.first.0);
                let SpanLimit { bytes_max, set_by } = self.span_limit_when_full();
                if bytes > bytes_max {
                    return Err(UowError::PastLogLimit { uow, bytes, bytes_max, set_by });
                }
            }
            self.ask_for_log_room();
        }
        if let Some(error) = self.log.held_by_archive() {
            return Err(error.into());
        }
        let holder = self.work.active.oldest().map_or(UowId::NONE, |active| active.uow);
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

    /// Undo cannot fail in a sound kernel; if it does, nothing may go on.
    pub(crate) fn cannot_undo(&self, uow: UowId, error: &UowError) -> UowError {
        UowError::Stopped(self.stop.stop(format!("{uow} cannot be backed out: {error}")))
    }
}

/// What a checkpoint itself logs does not call for another one.
const SELF_BYTES: u64 = 16 << 10;
