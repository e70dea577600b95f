//! A pool: its frames, finding what is in them, taking them from what is not wanted any more.

use std::alloc::{Layout, handle_alloc_error};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed},
};
use std::time::Duration;

use base::stats::{Counter, Striped};
use base::{CiNumber, DataSetId, Lsn};
use seam::stop::StopSwitch;
use seam::sync::{Condvar, Mutex};

use crate::PoolError;
use crate::dirty::DirtyQueue;
use crate::frame::{ExclusiveCi, Frame, Frames, Pinned, SharedCi};
use crate::frame_id::{FrameHint, FrameId};
use crate::key::Key;
use crate::lookup_hints::{LookupHints, PARTS, Spot};
use crate::table::Table;

/// How a pool is made.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Its name, as commands and definitions give it.
    pub name: String,
    /// The unit of its intervals: a multiple of 4096 up to 32768.
    pub unit_bytes: usize,
    /// What of a unit is not the trailer of sealing.
    pub usable_bytes: usize,
    /// How many frames it has at first.
    pub frames: usize,
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
    /// Of these, because too many frames held changes.
    pub writes_crowded: u64,
    /// Of these, because somebody waited for a frame.
    pub writes_pressed: u64,
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
    pub(crate) writes_crowded: Counter,
    pub(crate) writes_pressed: Counter,
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
    pub(crate) lookup_hints: LookupHints,
    /// How many frames it has: `State::frames`, for those who do not hold the mutex.
    pub(crate) size: AtomicUsize,
    /// Held by whoever changes the size.
    pub(crate) resizing: Mutex<()>,
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Condvar,
    pub(crate) dirty: Arc<DirtyQueue>,
    /// Somebody waits for a frame: the page writer hurries.
    pub(crate) pressed: AtomicBool,
    pub(crate) counters: Counters,
    pub(crate) stop: Arc<StopSwitch>,
    pub(crate) clock: Arc<dyn seam::clock::Clock>,
}

pub(crate) struct State {
    pub(crate) free: Vec<FrameId>,
    /// Frames claimed for windows that are not read yet.
    pub(crate) ahead: usize,
    pub(crate) hand: usize,
    /// The pool has the frames with lower numbers. Others it may have had, and is getting rid of.
    pub(crate) frames: usize,
    /// Counts calls, so that one in 64 is timed.
    sample: u32,
}

/// Frames that only the page writer may take, so that it never waits for itself.
pub(crate) const FRAMES_OF_WRITER: usize = 4;
/// The smallest pool: the upper levels of maps and a few guests.
pub const FRAMES_MIN: usize = 16;
/// The largest: so many frames a lookup hint can name.
const FRAMES_MAX: usize = 1 << 28;

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
        let installed = seam::reserve::installed_bytes() / config.unit_bytes;
        let most = installed.max(wanted * 4).min(FRAMES_MAX).max(wanted);
        let frames = Frames::new(index, config.unit_bytes, config.usable_bytes, wanted, most);
        if frames.make(wanted).is_err() {
            let layout = Layout::array::<u8>(wanted * config.unit_bytes);
            handle_alloc_error(layout.unwrap_or(Layout::new::<u8>()));
        }
        let most = frames.most();
        let free = (0..wanted as u32).rev().map(FrameId).collect();
        let state = Mutex::new(State { free, ahead: 0, hand: 0, frames: wanted, sample: 0 });
        Pool {
            config,
            index,
            table: Table::new(wanted, most),
            lookup_hints: LookupHints::new(wanted, most),
            frames,
            size: AtomicUsize::new(wanted),
            resizing: Mutex::new(()),
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
        self.size.load(Acquire)
    }

    /// How many it may have at most: what fits into the machine's memory.
    #[must_use]
    pub fn frames_max(&self) -> usize {
        self.frames.most()
    }

    /// The interval, if it is still where it was and has not changed since.
    #[inline]
    #[must_use]
    pub fn by_hint(&self, hint: FrameHint, set: DataSetId, ci: CiNumber) -> Option<SharedCi<'_>> {
        if hint.pool != self.index {
            return None;
        }
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
        hint: FrameHint,
        set: DataSetId,
        ci: CiNumber,
    ) -> Option<ExclusiveCi<'_>> {
        if hint.pool != self.index {
            return None;
        }
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
        Some(ExclusiveCi::new(frame, &self.dirty))
    }

    /// An interval of a data set where something was found the last time, and about where in it:
    /// which one, and whether it still is there, is for the caller to see.
    #[inline]
    #[must_use]
    pub fn at_lookup_hint(&self, set: DataSetId, hash: u64) -> Option<(Pinned<'_>, usize)> {
        let Spot { frame: id, part } = self.lookup_hints.get(hash)?;
        let near = usize::from(part) * self.config.unit_bytes / PARTS;
        self.frames.prefetch(id, near);
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
        Some((Pinned::new(frame, &self.dirty, false), near))
    }

    /// Prefetches what [`at_lookup_hint`](Pool::at_lookup_hint) will look at first.
    #[inline]
    pub fn prefetch_lookup_hint(&self, hash: u64) {
        self.lookup_hints.prefetch(hash);
    }

    /// Notes where something is, for the next search: the interval, and the offset in it.
    #[inline]
    pub fn note_lookup_hint(&self, hash: u64, hint: FrameHint, offset: usize) {
        let part = (offset * PARTS / self.config.unit_bytes).min(PARTS - 1) as u8;
        self.lookup_hints.set(hash, Spot { frame: hint.frame, part });
    }

    /// Whether a lookup hint that leads to `near` is that of something which stands at `offset`.
    #[inline]
    #[must_use]
    pub fn is_near(&self, near: usize, offset: usize) -> bool {
        offset.wrapping_sub(near) < self.config.unit_bytes / PARTS
    }

    /// Whether the interval is unchanged since the hint was taken; one load.
    #[inline]
    #[must_use]
    pub fn is_unchanged(&self, hint: FrameHint) -> bool {
        hint.pool == self.index && self.frames.get(hint.frame).version() == hint.version
    }

    /// Whether the interval is in memory. A guess by the time it returns.
    #[must_use]
    pub fn is_resident(&self, set: DataSetId, ci: CiNumber) -> bool {
        self.table.probe(&self.frames, Key::new(set, ci)).is_some()
    }

    /// Whether it is in memory, and changed since it was written. A guess by the time it returns.
    #[must_use]
    pub fn is_changed(&self, set: DataSetId, ci: CiNumber) -> bool {
        let key = Key::new(set, ci);
        let frame = self.table.probe(&self.frames, key);
        // It may have become another interval's in between.
        frame.is_some_and(|frame| frame.rec_lsn() != Lsn::NONE && frame.holds(key))
    }

    /// Prefetches an interval that is wanted soon, if it is in memory.
    #[inline]
    pub fn prefetch(&self, set: DataSetId, ci: CiNumber) {
        self.table.prefetch(&self.frames, Key::new(set, ci));
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
                    self.release(&mut state, frame);
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
            frames: self.frames(),
            free,
            hits: counters.hits.get(),
            reads: counters.reads.get(),
            writes: counters.writes.get(),
            writes_crowded: counters.writes_crowded.get(),
            writes_pressed: counters.writes_pressed.get(),
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

    /// Gives back a pin of [`Pool::hold_for_writer`]; whether the interval is in this pool.
    pub(crate) fn unhold(&self, set: DataSetId, ci: CiNumber) -> bool {
        let _state = self.state.lock();
        let frame = self.table.probe(&self.frames, Key::new(set, ci));
        frame.inspect(|frame| frame.unpin()).is_some()
    }

    /// The frame that holds the interval, pinned, after its load is over; `None` if there is none.
    pub(crate) fn resident(&self, key: Key) -> Result<Option<&Frame>, PoolError> {
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
        for _ in 0..state.frames * 2 {
            state.hand = (state.hand + 1) % state.frames;
            let frame = self.frames.get(FrameId(state.hand as u32));
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

    /// A load failed: the frame is free again.
    pub(crate) fn give_up(&self, state: &mut State, frame: &Frame) {
        self.table.remove(&self.frames, frame);
        frame.set_loading(false);
        frame.claim_from_pin();
        self.release(state, frame);
    }

    /// A claimed frame that holds nothing is free, if the pool still has it.
    pub(crate) fn release(&self, state: &mut State, frame: &Frame) {
        if (frame.id().0 as usize) < state.frames {
            state.free.push(frame.id());
        }
    }

    /// Frames became clean: whoever waits for one looks again.
    pub(crate) fn wake(&self) {
        self.pressed.store(false, Relaxed);
        drop(self.state.lock());
        self.changed.notify_all();
    }
}

/// How long one wait for a frame lasts.
pub(crate) const FRAME_WAIT: Duration = Duration::from_millis(20);
