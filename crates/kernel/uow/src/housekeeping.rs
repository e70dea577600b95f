//! What the housekeeper does: has checkpoints taken when they are due, intervals freed behind
//! durable commits, makes room in the log, looks for copies that were unmounted and for the
//! system's lock, and wakes everybody when the kernel stops.

use std::sync::Arc;
use std::time::Duration;

use base::{Lsn, UowId};
use seam::disk::LockPlace;

use crate::active::ActiveUow;
use crate::housekeeper::Round;
use crate::{Kernel, SpanLimit, SpanSetting, UowError};

/// How long somebody waits for room in the log while nothing is done that leads to some.
const ROOM_PATIENCE: Duration = Duration::from_secs(20);
/// So often somebody who keeps the log full waits for others to give back what they have reserved.
const OWN_ROUNDS: u32 = 4;
/// How long somebody waits at all: others who want less may take whatever room there comes.
const ROOM_PATIENCE_MAX: Duration = Duration::from_secs(5 * 60);

/// Room that somebody wants in the log.
pub(crate) struct RoomWanted {
    pub(crate) uow: UowId,
    /// What its undo has reserved already.
    pub(crate) reserved: u64,
    /// What is to be logged.
    pub(crate) bytes: u64,
}

/// What has become of a try to make room in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relief {
    /// Nothing helps now.
    None,
    /// Segments are free that were not.
    Freed,
    /// A checkpoint frees some.
    ByCheckpoint,
}

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
            self.buffers.writer.bound_redo(self.scaled(self.config.writer.redo_bytes_max));
        }
        let mut relieved = false;
        let done = self.free_after_commit().and_then(|()| {
            let relief = if urgent { self.make_room()? } else { Relief::None };
            let due = logged > self.scaled(self.config.checkpoint_bytes);
            let due = due || (old && logged > SELF_BYTES);
            relieved = due || relief != Relief::None;
            let takes = due || relief == Relief::ByCheckpoint;
            if takes { self.checkpoint_now(false) } else { Ok(()) }
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

    /// Bytes of log that were chosen for a log with all its segments, in one whose disk has room
    /// for fewer: what was changed reaches the disk long before that is full, too.
    fn scaled(&self, bytes: u64) -> u64 {
        let (now, whole) = (self.log.capacity_bytes(), self.log.capacity_bytes_max());
        if now >= whole {
            return bytes;
        }
        let share = u128::from(bytes) * u128::from(now) / u128::from(whole);
        u64::try_from(share).unwrap_or(bytes)
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

    /// Writes the oldest changes to disk. Says whether a checkpoint would now free log: one that
    /// does not would only use up what is left, as long as somebody waits for room.
    fn make_room(&self) -> Result<Relief, UowError> {
        let Some(relief) = self.log.first_relief() else {
            // What is still in memory may fill a segment.
            self.log.land(self.log.next_lsn())?;
            let is_some = self.log.first_relief().is_some();
            return Ok(if is_some { Relief::Freed } else { Relief::None });
        };
        let needed_from = self.control.block().needed_from;
        if needed_from >= relief {
            // When the log was told so, it kept what had not landed yet.
            self.log.truncate(needed_from);
            let is_kept = self.log.first_relief() == Some(relief);
            return Ok(if is_kept { Relief::None } else { Relief::Freed });
        }
        if self.log_keeper(relief).is_some() {
            return Ok(Relief::None);
        }
        let before = Lsn(self.log.next_lsn().0.saturating_sub(self.share_kept()));
        self.buffers.writer.write_before(before.max(relief))?;
        Ok(Relief::ByCheckpoint)
    }

    /// The unit of work without whose end the log is not free up to `relief`.
    fn log_keeper(&self, relief: Lsn) -> Option<ActiveUow> {
        self.work.active.oldest().filter(|oldest| oldest.first < relief)
    }

    /// The unit of work that keeps the log full for whoever wants `bytes`: the one without whose
    /// end no segment is free; the oldest, where there would be room but for what undo has
    /// reserved, or so few segments are in use that nobody's end frees one.
    fn keeper_of_full_log(&self, relief: Option<Lsn>, bytes: u64) -> Option<ActiveUow> {
        let oldest = self.work.active.oldest();
        // Without what is reserved there would be room.
        let is_reserved = || self.log.free_bytes() >= bytes + self.share_kept();
        match relief {
            // A checkpoint frees it, unless a unit of work keeps it.
            Some(relief) if self.control.block().needed_from < relief => self.log_keeper(relief),
            Some(relief) => self.log_keeper(relief).or(oldest.filter(|_| is_reserved())),
            None => oldest,
        }
    }

    /// What one unit of work may keep of the log: beyond, others would starve.
    pub(crate) fn log_bytes_for_one(&self) -> u64 {
        self.log.capacity_bytes() / 2
    }

    /// What it may keep while others wait for room.
    fn log_bytes_for_keeper(&self) -> u64 {
        self.log_bytes_for_one() / 2
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
        let (usual, quarter) = (self.span_limit(), self.log_bytes_for_keeper());
        match usual.bytes_max <= quarter {
            true => usual,
            false => SpanLimit { bytes_max: quarter, set_by: self.log_size() },
        }
    }

    fn log_size(&self) -> SpanSetting {
        let log = &self.config.log;
        SpanSetting::Log { segments_max: log.segments_max, segment_bytes: log.segment_bytes }
    }

    /// The share of the log that is kept from whoever can wait.
    fn share_kept(&self) -> u64 {
        self.log.capacity_bytes() / 8
    }

    /// Whether `bytes` can be logged and that share is left.
    pub(crate) fn has_log_room(&self, bytes: u64) -> bool {
        self.log.room() >= bytes + self.share_kept()
    }

    /// Asks for room in the log and waits a moment for it. Nobody else may be there to ask: whoever
    /// lacks room asks himself.
    pub(crate) fn ask_for_log_room(&self) {
        pool::assert_none_held("a wait for room in the log");
        self.upkeep.housekeeper.ask_for_room();
    }

    /// Waits, without a latch, until something can be logged and a share is left for undo: as long
    /// as the oldest changes reach the disk, or segments are used again.
    pub(crate) fn wait_for_log_room(&self, wanted: &RoomWanted) -> Result<(), UowError> {
        if self.has_log_room(wanted.bytes) {
            return Ok(());
        }
        let clock = &self.parts.seam.clock;
        let (began, mut seen, mut round) = (clock.monotonic(), None, 0);
        while !self.has_log_room(wanted.bytes) {
            self.stop.check()?;
            let relief = self.log.first_relief();
            let keeper = self.keeper_of_full_log(relief, wanted.bytes);
            if (round > OWN_ROUNDS || relief.is_none()) && self.may_go_on(keeper, relief, wanted)? {
                break;
            }
            let state = (relief, keeper.map(|keeper| keeper.uow), self.buffers.dirty.head());
            let now = clock.monotonic();
            let (before, since) = *seen.get_or_insert((state, now));
            if before != state {
                seen = Some((state, now));
            } else if now.saturating_sub(since) >= ROOM_PATIENCE {
                return Err(self.log_stays_full(wanted.uow, keeper));
            }
            if now.saturating_sub(began) >= ROOM_PATIENCE_MAX {
                return Err(self.log_stays_full(wanted.uow, keeper));
            }
            self.ask_for_log_room();
            round += 1;
        }
        Ok(())
    }

    /// Reserves room in the log for undo, and waits for it: there may be room, but in a segment
    /// that is just being made.
    pub(crate) fn reserve_log(&self, wanted: &RoomWanted) -> Result<(), UowError> {
        let clock = &self.parts.seam.clock;
        let mut began = None;
        while !self.log.reserve(wanted.bytes) {
            self.stop.check()?;
            let now = clock.monotonic();
            if now.saturating_sub(*began.get_or_insert(now)) >= ROOM_PATIENCE_MAX {
                let keeper = self.keeper_of_full_log(self.log.first_relief(), wanted.bytes);
                return Err(self.log_stays_full(wanted.uow, keeper));
            }
            self.ask_for_log_room();
            self.wait_for_log_room(wanted)?;
        }
        Ok(())
    }

    /// The one who keeps the log full must not wait for himself: he is told if he keeps too much
    /// of it, and may otherwise have of the share that is kept from others. What counts is the room
    /// on disk that his end would free: a group of the log may hold much less than it takes there.
    fn may_go_on(
        &self,
        keeper: Option<ActiveUow>,
        relief: Option<Lsn>,
        wanted: &RoomWanted,
    ) -> Result<bool, UowError> {
        let fits = self.log.room() >= wanted.bytes;
        // Where a segment has to be filled before another one is free, everybody may.
        let Some(keeper) = keeper.filter(|keeper| keeper.uow == wanted.uow) else {
            return Ok(fits && relief.is_none());
        };
        let kept = match relief {
            Some(_) => self.log.area_from(keeper.first),
            None if fits => return Ok(true),
            None => self.log.next_lsn().0.saturating_sub(keeper.first.0),
        };
        let (bytes, bytes_max) = (kept + wanted.reserved, self.log_bytes_for_keeper());
        if bytes > bytes_max {
            let (uow, set_by) = (wanted.uow, self.log_size());
            return Err(UowError::PastLogLimit { uow, bytes, bytes_max, set_by });
        }
        Ok(fits)
    }

    /// Whether a unit of work may stay open that changes nothing at the moment. It needs no room,
    /// and waits for none; but where others lack some, and it keeps the log, it is told if it keeps
    /// too much.
    pub(crate) fn may_stay(&self, uow: UowId, reserved: u64) -> Result<(), UowError> {
        for _ in 0..=OWN_ROUNDS {
            if self.has_log_room(0) {
                return Ok(());
            }
            self.stop.check()?;
            self.ask_for_log_room();
        }
        let relief = self.log.first_relief();
        let keeper = self.keeper_of_full_log(relief, 0);
        self.may_go_on(keeper, relief, &RoomWanted { uow, reserved, bytes: 0 }).map(drop)
    }

    fn log_stays_full(&self, uow: UowId, keeper: Option<ActiveUow>) -> UowError {
        match self.log.held_by_archive() {
            Some(error) => error.into(),
            None => UowError::LogFull { uow, keeper: keeper.map(|keeper| keeper.uow) },
        }
    }

    /// Between two steps of a long undo, without a latch: makes room in the log if little is left
    /// and that can be done. Undo waits for nobody; it also has what ordinary records leave free.
    ///
    /// # Errors
    /// If a checkpoint cannot be written.
    pub fn make_room_for_undo(&self) -> Result<(), UowError> {
        pool::assert_none_held("a checkpoint");
        if !self.has_log_room(0) && self.make_room()? == Relief::ByCheckpoint {
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
