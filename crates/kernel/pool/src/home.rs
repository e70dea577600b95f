//! Where the intervals of a data set are held: its pool, which may be changed for another while
//! everybody works.
//!
//! From the moment of the change, whoever comes goes to the new pool. An interval that is not there
//! is looked for in the old one: if nobody has it, it is carried over, with its changes; if
//! somebody has, it is used where it is. The old pool takes nothing of the data set in any more.
//! Meanwhile whoever ordered the change carries over the rest, until nothing is left.
//!
//! Invariants:
//! 1. An interval is in one pool at most. It enters the new one under the mutexes of both, or, once
//!    it was seen under the old one's mutex not to be there, under the new one's.
//! 2. Which pool is the home changes under the mutex of the old one; a pool takes an interval in
//!    only if it is the home then, which it looks at under its own mutex.
//! 3. An interval goes from one pool to another only while the data set does, which is looked at
//!    under the mutexes of both.
//! 4. Nobody waits for a pin: two who each have what the other one wants would wait for ever.
//! 5. Every pool that was ever the home lives as long as the data set is open.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{AcqRel, Acquire, Release},
};

use base::{CiNumber, DataSetId, Lsn};
use seam::failpoint::{Failpoint, armed};
use seam::sync::{Mutex, MutexGuard};

use crate::PoolError;
use crate::frame::Frame;
use crate::frame_id::FrameId;
use crate::key::Key;
use crate::pool::{Asker, Pool, State};
use crate::resize::{LOOK, PATIENCE};

/// The pool of a data set.
pub struct Home {
    current: AtomicPtr<Pool>,
    /// The pool that is being left; null if there is none.
    leaving: AtomicPtr<Pool>,
    /// How often either has changed.
    changes: AtomicU64,
    /// Every pool that was one of the two.
    kept: Mutex<Vec<Arc<Pool>>>,
    /// Held by whoever changes them.
    moving: Mutex<()>,
}

/// What a change of the pool took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Intervals that were carried over by whoever ordered it.
    pub carried: usize,
    /// Intervals that are not in memory any more.
    pub dropped: usize,
}

#[allow(unsafe_code)]
impl Home {
    /// A home in a pool.
    #[must_use]
    pub fn new(pool: Arc<Pool>) -> Home {
        Home {
            current: AtomicPtr::new(Arc::as_ptr(&pool).cast_mut()),
            leaving: AtomicPtr::default(),
            changes: AtomicU64::new(0),
            kept: Mutex::new(vec![pool]),
            moving: Mutex::new(()),
        }
    }

    /// The pool.
    #[inline]
    #[must_use]
    pub fn pool(&self) -> &Pool {
        // SAFETY: it points to one of `kept`, which nobody takes away as long as `self` lives.
        unsafe { &*self.current.load(Acquire) }
    }

    /// The pool that is being left, if there is one.
    #[must_use]
    pub fn leaving(&self) -> Option<&Pool> {
        // SAFETY: it is null or points to one of `kept`, which nobody takes away.
        unsafe { self.leaving.load(Acquire).as_ref() }
    }

    /// The pool, to keep.
    #[must_use]
    pub fn shared(&self) -> Arc<Pool> {
        let kept = self.kept.lock();
        let current = self.current.load(Acquire).cast_const();
        let found = kept.iter().find(|pool| ptr::eq(Arc::as_ptr(pool), current));
        Arc::clone(found.unwrap_or(&kept[0]))
    }

    /// Whether a pool holds intervals of the data set, or may.
    #[must_use]
    pub fn uses(&self, pool: &Pool) -> bool {
        self.is_in(pool) || self.leaving().is_some_and(|old| ptr::eq(old, pool))
    }

    /// Whether an interval is in memory, in either pool; see [`Pool::is_resident`].
    #[must_use]
    pub fn is_resident(&self, set: DataSetId, ci: CiNumber) -> bool {
        // In the order in which intervals go.
        self.leaving().is_some_and(|old| old.is_resident(set, ci))
            || self.pool().is_resident(set, ci)
    }

    /// Whether an interval is in memory, and there is more of it there than on disk. A guess by the
    /// time it returns.
    #[must_use]
    pub fn is_changed(&self, set: DataSetId, ci: CiNumber) -> bool {
        // In the order in which intervals go.
        self.leaving().is_some_and(|old| old.is_changed(set, ci)) || self.pool().is_changed(set, ci)
    }

    /// Whether the data set is leaving one pool for the other; it stays so under the mutex of the
    /// new one, but for the end of it, when the old one has nothing left.
    fn goes(&self, from: &Pool, to: &Pool) -> bool {
        self.is_in(to) && self.leaving().is_some_and(|old| ptr::eq(old, from))
    }

    fn is_in(&self, pool: &Pool) -> bool {
        ptr::eq(self.pool(), pool)
    }

    /// Forgets every interval from `from` on; see [`Pool::forget`].
    ///
    /// # Errors
    /// As for [`Pool::forget`].
    pub fn forget(&self, set: DataSetId, from: CiNumber) -> Result<(), PoolError> {
        loop {
            let before = self.changes.load(Acquire);
            // In the order in which intervals go.
            if let Some(old) = self.leaving() {
                old.forget(set, from)?;
            }
            self.pool().forget(set, from)?;
            if self.changes.load(Acquire) == before {
                return Ok(());
            }
        }
    }

    /// Gives back a pin of [`Pool::hold_for_writer`], wherever it is.
    pub fn unhold(&self, set: DataSetId, ci: CiNumber) {
        let found = self.pool().unhold(set, ci)
            || self.leaving().is_some_and(|old| old.unhold(set, ci))
            // The change may have begun between the two looks.
            || self.pool().unhold(set, ci);
        assert!(found, "a pinned interval stays in its frame");
    }

    /// Moves the data set, whose home this is, to another pool of the same unit size, while
    /// everybody works.
    ///
    /// # Errors
    /// [`PoolError::Busy`]: the new pool is its home, but some intervals stay in the old one until
    /// somebody wants them, or this is called again. [`PoolError::Stopped`].
    pub fn move_to(&self, set: DataSetId, to: &Arc<Pool>) -> Result<Moved, PoolError> {
        assert_eq!(to.unit_bytes(), self.pool().unit_bytes(), "a pool serves one unit size");
        let _alone = self.moving.lock();
        let mut moved = Moved::default();
        self.finish(set, &mut moved)?;
        if self.is_in(to) {
            return Ok(moved);
        }
        {
            let mut kept = self.kept.lock();
            if !kept.iter().any(|pool| Arc::ptr_eq(pool, to)) {
                kept.push(Arc::clone(to));
            }
        }
        {
            let old = self.pool();
            let _state = old.state.lock();
            self.leaving.store(ptr::from_ref(old).cast_mut(), Release);
            self.current.store(Arc::as_ptr(to).cast_mut(), Release);
            self.changes.fetch_add(1, AcqRel);
        }
        self.finish(set, &mut moved)?;
        Ok(moved)
    }

    /// Whether an interval of the data set may enter a pool; under the pool's mutex. `seen` is the
    /// change since which it was seen not to be in the old one.
    pub(crate) fn entry(&self, pool: &Pool, seen: Option<u64>) -> Entry<'_> {
        let changes = self.changes.load(Acquire);
        if !self.is_in(pool) {
            return Entry::Elsewhere(self.pool());
        }
        match self.leaving() {
            Some(old) if seen != Some(changes) && !armed(Failpoint::OldPoolNotAsked) => {
                Entry::After(old, changes)
            }
            _ => Entry::Open,
        }
    }

    /// Finds an interval in the pool that its data set is leaving: brings it to this pool, or, if
    /// somebody has it there or there is no room in this one, pins it there. `None`: it is not
    /// there (any more), or the data set is not on its way from there any more.
    pub(crate) fn fetch_over<'p>(
        &self,
        pool: &'p Pool,
        old: &'p Pool,
        key: Key,
        asker: Asker,
    ) -> Result<Option<&'p Frame>, PoolError> {
        loop {
            let (mut mine, mut theirs) = pool.lock_both(old);
            // It may have moved on since it was asked, even back to `old`: what is there is at home
            // then, and nobody would look for it in the new pool.
            if !self.goes(old, pool) && !armed(Failpoint::CarriedTooLate) {
                return Ok(None);
            }
            let Some(frame) = old.table.probe(&old.frames, key) else { return Ok(None) };
            if frame.is_loading() {
                drop(mine);
                pool.stop.check()?;
                old.counters.waits.one();
                old.changed.wait(&mut theirs);
                continue;
            }
            if frame.try_claim() {
                if let Some(room) = pool.take_frame(&mut mine, asker) {
                    old.carry(frame, pool, room);
                    room.end_claim(1);
                    old.release(&mut theirs, frame);
                    return Ok(Some(room));
                }
                frame.end_claim(0);
            }
            assert!(frame.try_pin(), "claims begin and end under the pool's mutex");
            frame.touch();
            return Ok(Some(frame));
        }
    }

    fn finish(&self, set: DataSetId, moved: &mut Moved) -> Result<(), PoolError> {
        let Some(old) = self.leaving() else { return Ok(()) };
        old.evacuate(set, self.pool(), moved)?;
        self.leaving.store(ptr::null_mut(), Release);
        self.changes.fetch_add(1, AcqRel);
        Ok(())
    }
}

/// Whether an interval may enter a pool.
pub(crate) enum Entry<'p> {
    Open,
    /// It may be in this pool, as far as is known from before so many changes.
    After(&'p Pool, u64),
    Elsewhere(&'p Pool),
}

impl Pool {
    /// Both mutexes, always in the same order.
    fn lock_both<'p>(&'p self, other: &'p Pool) -> (MutexGuard<'p, State>, MutexGuard<'p, State>) {
        if self.index < other.index {
            let mine = self.state.lock();
            (mine, other.state.lock())
        } else {
            let theirs = other.state.lock();
            (self.state.lock(), theirs)
        }
    }

    /// Carries what is left of a data set to its new pool, or drops it if nobody wants it.
    fn evacuate(&self, set: DataSetId, to: &Pool, moved: &mut Moved) -> Result<(), PoolError> {
        let has_one = |frame: &&Frame| frame.key() != Key::NONE && frame.key().set() == set;
        let mut left: Vec<FrameId> = self.frames.iter().filter(has_one).map(Frame::id).collect();
        let begun = self.clock.monotonic();
        loop {
            let mut has_room = true;
            left.retain(|id| !self.leave(*id, set, to, moved, &mut has_room));
            if left.is_empty() {
                return Ok(());
            }
            self.stop.check()?;
            if self.clock.monotonic().saturating_sub(begun) > PATIENCE {
                return Err(PoolError::Busy { pool: self.name().to_owned(), busy: left.len() });
            }
            to.press();
            self.changed.wait_for(&mut self.state.lock(), LOOK);
        }
    }

    /// Whether a frame holds nothing of the data set any more, after a try to make it so.
    fn leave(
        &self,
        id: FrameId,
        set: DataSetId,
        to: &Pool,
        moved: &mut Moved,
        has_room: &mut bool,
    ) -> bool {
        let frame = self.frames.get(id);
        let (mut mine, mut theirs) = self.lock_both(to);
        let key = frame.key();
        if key == Key::NONE || key.set() != set {
            return true;
        }
        if !frame.try_claim() {
            return false;
        }
        let needed = frame.rec_lsn() != Lsn::NONE || frame.is_sticky();
        let wanted = needed || frame.take_referenced();
        let room =
            if wanted && *has_room { to.take_frame(&mut theirs, Asker::Program) } else { None };
        match room {
            Some(room) => {
                self.carry(frame, to, room);
                room.end_claim(0);
                moved.carried += 1;
            }
            None if needed => {
                *has_room = false;
                frame.end_claim(0);
                return false;
            }
            None => {
                *has_room &= !wanted;
                self.table.remove(&self.frames, frame);
                moved.dropped += 1;
            }
        }
        self.release(&mut mine, frame);
        true
    }
}

#[cfg(test)]
mod tests;
