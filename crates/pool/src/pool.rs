//! A pool: finding, reading, making and evicting intervals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use base::stats::{Counter, Striped};
use base::{CiNumber, DataSetId, Lsn};
use seam::stop::StopSwitch;
use seam::sync::{Condvar, Mutex};

use crate::dirty::DirtyQueue;
use crate::frame::{ExclusiveCi, Frame, FrameId, Frames, Pinned, SharedCi};
use crate::landmarks::{Landmarks, PARTS, Spot};
use crate::table::{Key, Table};
use crate::{Backing, EXTENT_BYTES, PoolError, latches};

/// How a pool is made.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Its name, as commands and definitions give it.
    pub name: String,
    /// The unit of its intervals: a multiple of 4096 up to 32768.
    pub unit_bytes: usize,
    /// What of a unit is not the trailer of sealing.
    pub usable_bytes: usize,
    /// How many frames it has.
    pub frames: usize,
}

/// Where an interval was found last, without a pin: worth a try, never a promise (H10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    pub(crate) frame: FrameId,
    pub(crate) version: u64,
}

/// What a pool has done so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolStatistics {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit_bytes: usize,
    /// Its frames.
    pub frames: usize,
    /// Frames that hold nothing.
    pub free: usize,
    /// Intervals found in memory.
    pub hits: u64,
    /// Intervals read from disk.
    pub reads: u64,
    /// Intervals written.
    pub writes: u64,
    /// Frames taken from an interval for another.
    pub steals: u64,
    /// Times that somebody waited for a frame or for another's read.
    pub waits: u64,
    /// Reads of several intervals at once.
    pub multi_block_reads: u64,
    /// Intervals read by them.
    pub multi_block_intervals: u64,
    /// Nanoseconds under the pool's latch, estimated from samples.
    pub latch_ns: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) hits: Striped,
    pub(crate) reads: Counter,
    pub(crate) writes: Counter,
    pub(crate) steals: Counter,
    pub(crate) waits: Counter,
    pub(crate) multi_reads: Counter,
    pub(crate) multi_intervals: Counter,
    pub(crate) latch_ns: Counter,
}

/// Frames for the intervals of any number of data sets with one unit size.
pub struct Pool {
    pub(crate) config: PoolConfig,
    pub(crate) index: u32,
    pub(crate) frames: Frames,
    pub(crate) table: Table,
    landmarks: Landmarks,
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Condvar,
    pub(crate) dirty: Arc<DirtyQueue>,
    /// Somebody waits for a frame: the page writer hurries.
    pub(crate) pressed: AtomicBool,
    pub(crate) counters: Counters,
    stop: Arc<StopSwitch>,
    clock: Arc<dyn seam::clock::Clock>,
}

pub(crate) struct State {
    pub(crate) free: Vec<FrameId>,
    /// Frames claimed for windows that are not read yet.
    pub(crate) ahead: usize,
    hand: usize,
    all: Vec<FrameId>,
    /// Counts calls, so that one in 64 is timed.
    sample: u32,
}

/// Frames that only the page writer may take, so that it never waits for itself.
pub(crate) const FRAMES_OF_WRITER: usize = 4;
/// The smallest pool: the upper levels of maps and a few guests.
pub const FRAMES_MIN: usize = 16;

/// Who asks for a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    Program,
    Writer,
}

impl Pool {
    /// A pool with all its frames. `index` is its place among the pools that share `dirty`.
    #[must_use]
    pub fn new(
        config: PoolConfig,
        index: u32,
        dirty: Arc<DirtyQueue>,
        stop: Arc<StopSwitch>,
        clock: Arc<dyn seam::clock::Clock>,
    ) -> Pool {
        assert!(config.unit_bytes.is_multiple_of(4096) && config.unit_bytes <= 32_768, "K19");
        let wanted = config.frames.max(FRAMES_MIN);
        let per_extent = EXTENT_BYTES / config.unit_bytes;
        let extents = wanted.div_ceil(per_extent);
        let frames = Frames::new(config.unit_bytes, config.usable_bytes, extents);
        let mut all = Vec::with_capacity(wanted);
        for extent in 0..extents {
            let count = per_extent.min(wanted - extent * per_extent);
            all.extend(frames.add_extent(extent, count));
        }
        let free = all.iter().rev().copied().collect();
        let state = Mutex::new(State { free, ahead: 0, hand: 0, all, sample: 0 });
        Pool {
            config: PoolConfig { frames: wanted, ..config },
            index,
            table: Table::new(wanted),
            landmarks: Landmarks::new(wanted),
            frames,
            state,
            changed: Condvar::new(),
            dirty,
            pressed: AtomicBool::new(false),
            counters: Counters::default(),
            stop,
            clock,
        }
    }

    /// The pool's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// The unit of its intervals.
    #[must_use]
    pub fn unit_bytes(&self) -> usize {
        self.config.unit_bytes
    }

    /// What of a unit belongs to the interval's content.
    #[must_use]
    pub fn usable_bytes(&self) -> usize {
        self.config.usable_bytes
    }

    /// How many frames it has.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.config.frames
    }

    /// An interval to read.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn shared(&self, set: &dyn Backing, ci: CiNumber) -> Result<SharedCi<'_>, PoolError> {
        Ok(self.pin(set, ci)?.shared())
    }

    /// An interval to change.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn exclusive(&self, set: &dyn Backing, ci: CiNumber) -> Result<ExclusiveCi<'_>, PoolError> {
        Ok(self.pin(set, ci)?.exclusive())
    }

    /// An interval that stays in memory and is latched later.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn pin(&self, set: &dyn Backing, ci: CiNumber) -> Result<Pinned<'_>, PoolError> {
        let frame = self.pinned(set, ci, Asker::Program)?;
        Ok(Pinned::new(frame, &self.dirty, self.index, false))
    }

    /// An interval that is about to be formatted: whatever it held is of no interest, so it is not
    /// read. Its bytes are zero when it is latched exclusively.
    ///
    /// # Errors
    /// [`PoolError::NoFrames`], [`PoolError::Stopped`].
    pub fn pin_fresh(&self, set: &dyn Backing, ci: CiNumber) -> Result<Pinned<'_>, PoolError> {
        let key = Key::new(set.id(), ci);
        loop {
            if let Some(frame) = self.resident(key)? {
                return Ok(Pinned::new(frame, &self.dirty, self.index, true));
            }
            if let Some(frame) = self.claim_for(key, Asker::Program)? {
                self.loaded(frame, true);
                return Ok(Pinned::new(frame, &self.dirty, self.index, true));
            }
        }
    }

    /// As [`Pool::pin_fresh`], latched.
    ///
    /// # Errors
    /// As for [`Pool::pin_fresh`].
    pub fn fresh(&self, set: &dyn Backing, ci: CiNumber) -> Result<ExclusiveCi<'_>, PoolError> {
        Ok(self.pin_fresh(set, ci)?.exclusive())
    }

    /// The interval, if it is still where it was and has not changed since.
    #[inline]
    #[must_use]
    pub fn by_hint(&self, hint: Hint, set: DataSetId, ci: CiNumber) -> Option<SharedCi<'_>> {
        let frame = self.frames.get(hint.frame);
        if frame.version() != hint.version || !frame.try_pin() {
            return None;
        }
        if !frame.holds(Key::new(set, ci)) {
            frame.unpin();
            return None;
        }
        frame.touch();
        frame.latch().lock_shared();
        if frame.version() == hint.version {
            return Some(SharedCi::new(frame));
        }
        drop(SharedCi::new(frame));
        None
    }

    /// The interval to change, if it is still where it was, changed or not.
    #[inline]
    #[must_use]
    pub fn exclusive_at(
        &self,
        hint: Hint,
        set: DataSetId,
        ci: CiNumber,
    ) -> Option<ExclusiveCi<'_>> {
        let frame = self.frames.get(hint.frame);
        if !frame.try_pin() {
            return None;
        }
        if !frame.holds(Key::new(set, ci)) {
            frame.unpin();
            return None;
        }
        frame.touch();
        frame.latch().lock_exclusive();
        Some(ExclusiveCi::new(frame, &self.dirty, self.index))
    }

    /// An interval of a data set where something was found the last time, and about where in it:
    /// which one, and whether it still is there, is for the caller to see.
    #[inline]
    #[must_use]
    pub fn at_landmark(&self, set: DataSetId, hash: u64) -> Option<(Pinned<'_>, usize)> {
        let Spot { frame: id, part } = self.landmarks.get(hash)?;
        let near = usize::from(part) * self.config.unit_bytes / PARTS;
        self.frames.fetch(id, near);
        let frame = self.frames.get(id);
        if !frame.try_pin() {
            return None;
        }
        let key = frame.key();
        if key.set() != set || !frame.holds(key) {
            frame.unpin();
            return None;
        }
        frame.touch();
        self.counters.hits.one(seam::thread::slot());
        Some((Pinned::new(frame, &self.dirty, self.index, false), near))
    }

    /// Has the processor fetch what [`at_landmark`](Pool::at_landmark) will look at first.
    #[inline]
    pub fn foresee(&self, hash: u64) {
        self.landmarks.foresee(hash);
    }

    /// Notes where something is, for the next search: the interval, and the offset in it.
    #[inline]
    pub fn note_landmark(&self, hash: u64, hint: Hint, offset: usize) {
        let part = (offset * PARTS / self.config.unit_bytes).min(PARTS - 1) as u8;
        self.landmarks.set(hash, Spot { frame: hint.frame, part });
    }

    /// Whether a landmark that leads to `near` is that of something which stands at `offset`.
    #[inline]
    #[must_use]
    pub fn is_near(&self, near: usize, offset: usize) -> bool {
        offset.wrapping_sub(near) < self.config.unit_bytes / PARTS
    }

    /// Whether the interval is unchanged since the hint was taken; one load.
    #[inline]
    #[must_use]
    pub fn is_unchanged(&self, hint: Hint) -> bool {
        self.frames.get(hint.frame).version() == hint.version
    }

    /// Whether the interval is in memory. A guess by the time it returns.
    #[must_use]
    pub fn is_resident(&self, set: DataSetId, ci: CiNumber) -> bool {
        self.table.probe(&self.frames, Key::new(set, ci)).is_some()
    }

    /// Has the processor fetch an interval that is wanted soon, if it is in memory.
    #[inline]
    pub fn fetch(&self, set: DataSetId, ci: CiNumber) {
        self.table.fetch(&self.frames, Key::new(set, ci));
    }

    /// Forgets every interval of a data set from `from` on, changed or not: they are gone. Nobody
    /// else uses them any more, but the page writer may just be done with one.
    ///
    /// # Errors
    /// [`PoolError::Stopped`]: the page writer will never be done.
    pub fn forget(&self, set: DataSetId, from: CiNumber) -> Result<(), PoolError> {
        for frame in self.frames.iter() {
            loop {
                let mut state = self.state.lock();
                let key = frame.key();
                if key == Key::NONE || key.set() != set || key.ci() < from {
                    break;
                }
                if frame.try_claim() {
                    frame.mark_clean();
                    frame.set_sticky(false);
                    self.table.remove(&self.frames, frame);
                    state.free.push(frame.id());
                    break;
                }
                self.stop.check()?;
                self.changed.wait_for(&mut state, FRAME_WAIT);
            }
        }
        Ok(())
    }

    /// What the pool has done so far.
    #[must_use]
    pub fn statistics(&self) -> PoolStatistics {
        let free = self.state.lock().free.len();
        let counters = &self.counters;
        PoolStatistics {
            name: self.config.name.clone(),
            unit_bytes: self.config.unit_bytes,
            frames: self.config.frames,
            free,
            hits: counters.hits.get(),
            reads: counters.reads.get(),
            writes: counters.writes.get(),
            steals: counters.steals.get(),
            waits: counters.waits.get(),
            multi_block_reads: counters.multi_reads.get(),
            multi_block_intervals: counters.multi_intervals.get(),
            latch_ns: counters.latch_ns.get(),
        }
    }

    /// How many pins are held; 0 when no program is inside a call.
    #[must_use]
    pub fn pins(&self) -> u64 {
        self.frames.iter().map(|frame| u64::from(frame.pins())).sum()
    }

    /// Pins an interval for the page writer (a map page): takes a reserved frame if need be.
    ///
    /// # Errors
    /// See [`PoolError`]; [`PoolError::NoFrames`] if even the reserve is used up.
    pub fn exclusive_for_writer(
        &self,
        set: &dyn Backing,
        ci: CiNumber,
    ) -> Result<ExclusiveCi<'_>, PoolError> {
        let frame = self.pinned(set, ci, Asker::Writer)?;
        frame.latch().lock_exclusive();
        Ok(ExclusiveCi::new(frame, &self.dirty, self.index))
    }

    /// Pins an interval without a latch until [`Pool::unhold`]. For the page writer.
    ///
    /// # Errors
    /// As for [`Pool::exclusive_for_writer`].
    pub fn hold_for_writer(&self, set: &dyn Backing, ci: CiNumber) -> Result<(), PoolError> {
        self.pinned(set, ci, Asker::Writer).map(|_| ())
    }

    /// Gives back a pin of [`Pool::hold_for_writer`].
    pub fn unhold(&self, set: DataSetId, ci: CiNumber) {
        let _state = self.state.lock();
        let frame = self.table.probe(&self.frames, Key::new(set, ci));
        frame.expect("a pinned interval stays in its frame").unpin();
    }

    #[inline]
    fn pinned(&self, set: &dyn Backing, ci: CiNumber, asker: Asker) -> Result<&Frame, PoolError> {
        let key = Key::new(set.id(), ci);
        if let Some(frame) = self.table.probe(&self.frames, key)
            && frame.try_pin()
        {
            if frame.holds(key) {
                frame.touch();
                self.counters.hits.one(seam::thread::slot());
                return Ok(frame);
            }
            frame.unpin();
        }
        self.pinned_slowly(set, key, asker)
    }

    #[cold]
    fn pinned_slowly(
        &self,
        set: &dyn Backing,
        key: Key,
        asker: Asker,
    ) -> Result<&Frame, PoolError> {
        loop {
            if let Some(frame) = self.resident(key)? {
                self.counters.hits.one(seam::thread::slot());
                return Ok(frame);
            }
            let Some(frame) = self.claim_for(key, asker)? else { continue };
            let read = self.fill(set, frame);
            self.loaded(frame, read.is_ok());
            read?;
            self.counters.reads.one();
            return Ok(frame);
        }
    }

    /// The frame that holds the interval, pinned, after its load is over; `None` if there is none.
    fn resident(&self, key: Key) -> Result<Option<&Frame>, PoolError> {
        let mut state = self.state.lock();
        loop {
            let Some(frame) = self.table.probe(&self.frames, key) else { return Ok(None) };
            if frame.is_loading() {
                self.counters.waits.one();
                self.stop.check()?;
                self.changed.wait(&mut state);
                continue;
            }
            assert!(frame.try_pin(), "claims begin and end under the pool's mutex");
            frame.touch();
            return Ok(Some(frame));
        }
    }

    /// A frame for an interval that is not in memory: pinned, loading, in the table.
    /// `None` if somebody else was faster.
    fn claim_for(&self, key: Key, asker: Asker) -> Result<Option<&Frame>, PoolError> {
        latches::assert_none_held("a wait for a frame");
        let mut rounds = 0;
        let mut state = self.state.lock();
        loop {
            if self.table.probe(&self.frames, key).is_some() {
                return Ok(None);
            }
            if let Some(frame) = self.take_frame(&mut state, asker) {
                frame.set_loading(true);
                self.table.insert(frame, key);
                frame.end_claim(1);
                frame.touch();
                return Ok(Some(frame));
            }
            self.stop.check()?;
            rounds += 1;
            if asker == Asker::Writer || rounds > FRAME_WAIT_ROUNDS {
                let pool = self.config.name.clone();
                return Err(PoolError::NoFrames { pool, frames: self.config.frames });
            }
            self.pressed.store(true, Relaxed);
            self.counters.waits.one();
            self.changed.wait_for(&mut state, FRAME_WAIT);
        }
    }

    /// A claimed frame that holds nothing: a free one, or the clock's next victim.
    pub(crate) fn take_frame(&self, state: &mut State, asker: Asker) -> Option<&Frame> {
        let sampled = state.sample.is_multiple_of(64).then(|| self.clock.monotonic());
        state.sample = state.sample.wrapping_add(1);
        let frame = self.take_free(state, asker).or_else(|| self.evict(state, asker));
        if let Some(start) = sampled {
            let ns = self.clock.monotonic().saturating_sub(start).as_nanos() as u64;
            self.counters.latch_ns.add(ns * 64);
        }
        frame
    }

    fn take_free(&self, state: &mut State, asker: Asker) -> Option<&Frame> {
        let reserve = if asker == Asker::Writer { 0 } else { FRAMES_OF_WRITER };
        if state.free.len() <= reserve {
            return None;
        }
        state.free.pop().map(|id| self.frames.get(id))
    }

    /// The clock's next victim, claimed and out of the table.
    fn evict(&self, state: &mut State, asker: Asker) -> Option<&Frame> {
        // Two rounds: the first takes the second chance away from everything it passes.
        for _ in 0..state.all.len() * 2 {
            state.hand = (state.hand + 1) % state.all.len();
            let frame = self.frames.get(state.all[state.hand]);
            if frame.key() == Key::NONE || frame.is_sticky() || frame.pins() != 0 {
                continue;
            }
            if frame.rec_lsn() != Lsn::NONE || frame.take_referenced() || !frame.try_claim() {
                continue;
            }
            if frame.rec_lsn() != Lsn::NONE || frame.is_loading() {
                frame.end_claim(0);
                continue;
            }
            self.table.remove(&self.frames, frame);
            self.counters.steals.one();
            if asker == Asker::Writer || state.free.len() >= FRAMES_OF_WRITER {
                return Some(frame);
            }
            // The page writer's reserve comes first.
            state.free.push(frame.id());
        }
        None
    }

    /// Reads one interval into the frame claimed for it, and opens it.
    #[allow(unsafe_code)]
    fn fill(&self, set: &dyn Backing, frame: &Frame) -> Result<(), PoolError> {
        // SAFETY: this thread claimed the frame and set it loading.
        let unit = unsafe { frame.unit_of_loader() };
        set.read_raw(frame.key().ci(), unit)?;
        set.open(frame.key().ci(), unit)
    }

    /// Ends a load. A frame whose load failed is free again; whoever waited tries for itself.
    fn loaded(&self, frame: &Frame, good: bool) {
        let mut state = self.state.lock();
        match good {
            true => frame.set_loading(false),
            false => self.give_up(&mut state, frame),
        }
        drop(state);
        self.changed.notify_all();
    }

    /// A load failed: the frame is free again.
    pub(crate) fn give_up(&self, state: &mut State, frame: &Frame) {
        self.table.remove(&self.frames, frame);
        frame.set_loading(false);
        frame.claim_from_pin();
        state.free.push(frame.id());
    }

    /// Frames became clean: whoever waits for one looks again.
    pub(crate) fn wake(&self) {
        self.pressed.store(false, Relaxed);
        drop(self.state.lock());
        self.changed.notify_all();
    }
}

/// How long one wait for a frame lasts, and how many of them mean that there is none.
const FRAME_WAIT: Duration = Duration::from_millis(20);
const FRAME_WAIT_ROUNDS: u32 = 500;
