//! A pool that grows and shrinks while it is in use.
//!
//! A pool has the frames with the lowest numbers. To grow, it gets memory, buckets for its table,
//! and then the frames, some at a time. To shrink, it gives no frame beyond its new size to anybody
//! any more, and goes through those that it shall lose: what nobody has wanted lately is dropped,
//! everything else is carried to another frame, changes included. Then their memory goes back, in
//! one call. Nobody waits for any of it longer than for one interval to be copied.
//!
//! Invariants:
//! 1. A frame changes its place under the pool's mutex, claimed: nobody has it pinned, and whoever
//!    wants it finds it at its new place a moment later.
//! 2. A dirty frame that is carried is announced at its new place before it is clean at its old
//!    one, so that the redo point never passes it.
//! 3. A pool that cannot be made smaller has all its frames again.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::time::Duration;

use base::Lsn;
use seam::failpoint::{Failpoint, armed};

use crate::frame::Frame;
use crate::frame_id::FrameId;
use crate::key::Key;
use crate::pool::{Asker, Pool, State};
use crate::{FRAMES_MIN, PoolError, latches};

/// What changing a pool's size took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resized {
    /// Frames before.
    pub before: usize,
    /// Frames now.
    pub now: usize,
    /// Intervals that went to another frame.
    pub carried: usize,
    /// Intervals that are not in memory any more.
    pub dropped: usize,
}

/// What became of a frame that the pool shall lose.
enum Lost {
    /// It held nothing.
    Free,
    Carried,
    Dropped,
    /// Somebody has it, or there is no room for what it holds.
    NotYet,
}

/// Frames that are handed out, and buckets that are added, before others get the mutex again.
const STEP: usize = 1024;
/// In a tick of this length whatever is in use is wanted at least once.
const TICK: Duration = Duration::from_millis(2);
/// Between two looks at frames that are in use.
pub(crate) const LOOK: Duration = Duration::from_millis(1);
/// So long a pool tries to get rid of frames.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// So many there must be beside those that are kept for good, the upper levels of the maps of data
/// sets: what the page writer, the housekeeper, a backout and a few programs pin at a time.
const FRAMES_BESIDE_KEPT: usize = 12;

impl Pool {
    /// How many frames it needs if it has to keep so many more for good.
    #[must_use]
    pub fn least_frames(&self, more: usize) -> usize {
        let kept = self.frames.iter().filter(|frame| frame.is_sticky()).count();
        FRAMES_MIN.max(kept + more + FRAMES_BESIDE_KEPT)
    }

    /// Whether it can keep so many more frames for good: with too few beside them everybody, even
    /// who has to back out, would wait for frames that never come free.
    ///
    /// # Errors
    /// [`PoolError::TooSmall`].
    pub fn room_to_keep(&self, more: usize) -> Result<(), PoolError> {
        let (wanted, least) = (self.frames(), self.least_frames(more));
        match wanted < least {
            true => Err(PoolError::TooSmall { pool: self.name().to_owned(), wanted, least }),
            false => Ok(()),
        }
    }

    /// Gives the pool so many frames. Others go on using it; one at a time changes its size.
    ///
    /// # Errors
    /// Too many or too few, no memory, or frames that stay in use ([`PoolError::Busy`]); the pool
    /// is as large as before then.
    pub fn resize(&self, frames: usize) -> Result<Resized, PoolError> {
        latches::assert_none_held("a change of a pool's size");
        let _alone = self.resizing.lock();
        let pool = || self.name().to_owned();
        let least = self.least_frames(0);
        if frames < least {
            return Err(PoolError::TooSmall { pool: pool(), wanted: frames, least });
        }
        if frames > self.frames_max() {
            let (most, unit_bytes) = (self.frames_max(), self.unit_bytes());
            return Err(PoolError::TooLarge { pool: pool(), wanted: frames, most, unit_bytes });
        }
        let before = self.frames();
        match frames > before {
            true => self.grow(before, frames).map_err(|error| PoolError::NoMemory {
                pool: pool(),
                wanted: frames,
                why: error.to_string(),
            })?,
            false => return self.shrink(before, frames),
        }
        Ok(Resized { before, now: frames, ..Resized::default() })
    }

    /// Gives back the memory of a pool that nobody uses any more.
    pub(crate) fn empty(&self) -> Result<Resized, PoolError> {
        latches::assert_none_held("the end of a pool");
        let _alone = self.resizing.lock();
        self.shrink(self.frames(), 0)
    }

    fn grow(&self, before: usize, frames: usize) -> std::io::Result<()> {
        self.table.make_room(frames)?;
        self.lookup_hints.resize(frames)?;
        self.frames.make(frames)?;
        self.frames.touch(before..frames);
        loop {
            let _state = self.state.lock();
            if !(0..STEP).all(|_| self.table.split(&self.frames, frames)) {
                break;
            }
        }
        self.hand_out(before, frames);
        Ok(())
    }

    /// Frames that the pool has got, or has again, are free; those of them that still hold
    /// something go on holding it.
    fn hand_out(&self, before: usize, frames: usize) {
        for first in (before..frames).step_by(STEP) {
            let mut state = self.state.lock();
            self.set_size(&mut state, frames.min(first + STEP));
            for number in (first..state.frames).rev() {
                let frame = self.frames.get(FrameId(number as u32));
                if frame.key() == Key::NONE {
                    state.free.push(frame.id());
                }
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    fn set_size(&self, state: &mut State, frames: usize) {
        state.frames = frames;
        self.size.store(frames, Release);
    }

    fn shrink(&self, before: usize, frames: usize) -> Result<Resized, PoolError> {
        // Whatever is wanted from now on is marked again before its turn comes.
        self.frames.iter().for_each(|frame| _ = frame.take_referenced());
        self.clock.sleep(TICK);
        {
            let mut state = self.state.lock();
            self.set_size(&mut state, frames);
            state.free.retain(|id| (id.0 as usize) < frames);
            state.hand %= frames.max(1);
        }
        let mut resized = Resized { before, now: frames, ..Resized::default() };
        let lost = frames as u32..before as u32;
        let mut left: Vec<FrameId> = lost.map(FrameId).collect();
        let begun = self.clock.monotonic();
        loop {
            self.pass(&mut left, &mut resized);
            if left.is_empty() {
                break;
            }
            let late = self.clock.monotonic().saturating_sub(begun) > PATIENCE;
            if late || self.stop.is_set() {
                self.hand_out(frames, before);
                self.stop.check()?;
                return Err(PoolError::Busy { pool: self.name().to_owned(), busy: left.len() });
            }
            // If it is changes for which there is no room, the page writer makes some.
            self.press();
            self.changed.wait_for(&mut self.state.lock(), LOOK);
        }
        // Lookup hints to what was carried lead nowhere, and cost a search.
        if let Err(error) = self.lookup_hints.resize(frames) {
            self.stop.check()?;
            debug_assert!(false, "fewer lookup hints need no memory: {error}");
        }
        self.give_back(frames, before);
        Ok(resized)
    }

    #[allow(unsafe_code)]
    fn give_back(&self, frames: usize, before: usize) {
        // SAFETY: `shrink` has found each of these frames claimed and empty; whoever changes the
        // size next waits for us.
        unsafe { self.frames.give_back(frames..before) };
    }

    /// Tries to empty each frame once; those that could not be stay in the list.
    fn pass(&self, left: &mut Vec<FrameId>, resized: &mut Resized) {
        // Looking for room once more would find none either, and keep others waiting.
        let mut has_room = true;
        left.retain(|id| {
            let frame = self.frames.get(*id);
            let lost = self.lose(&mut self.state.lock(), frame, &mut has_room);
            match lost {
                Lost::Free => {}
                Lost::Carried => resized.carried += 1,
                Lost::Dropped => resized.dropped += 1,
                Lost::NotYet => {}
            }
            matches!(lost, Lost::NotYet)
        });
    }

    fn lose(&self, state: &mut State, frame: &Frame, has_room: &mut bool) -> Lost {
        if frame.key() == Key::NONE {
            return Lost::Free;
        }
        if !frame.try_claim() {
            return Lost::NotYet;
        }
        let needed = frame.rec_lsn() != Lsn::NONE || frame.is_sticky();
        let wanted = needed || frame.take_referenced();
        let room = if wanted && *has_room { self.take_frame(state, Asker::Program) } else { None };
        match room {
            Some(room) => {
                self.carry(frame, self, room);
                room.end_claim(0);
                Lost::Carried
            }
            None if needed => {
                *has_room = false;
                frame.end_claim(0);
                Lost::NotYet
            }
            None => {
                *has_room &= !wanted;
                self.table.remove(&self.frames, frame);
                Lost::Dropped
            }
        }
    }

    /// Brings what a claimed frame holds into another one that is claimed and empty, of this pool
    /// or of another one; under the mutex of each. The other one stays claimed.
    #[allow(unsafe_code)]
    pub(crate) fn carry(&self, from: &Frame, pool: &Pool, to: &Frame) {
        let (key, changed) = (from.key(), from.rec_lsn());
        assert_eq!(self.unit_bytes(), pool.unit_bytes(), "an interval fits its frame");
        // SAFETY: both frames are claimed by the caller, and of one size.
        unsafe { to.take_over(from) };
        if changed != Lsn::NONE {
            to.mark_dirty(changed);
            if !armed(Failpoint::CarriedUnannounced) {
                self.dirty.push_carried(pool.index, to.id(), changed);
            }
            from.mark_clean();
        }
        self.table.remove(&self.frames, from);
        pool.table.insert(to, key);
    }

    /// Somebody waits for frames: the page writer hurries.
    pub(crate) fn press(&self) {
        self.pressed.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests;
