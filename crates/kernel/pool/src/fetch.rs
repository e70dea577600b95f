//! Getting at intervals: in the frame where they are, read from their data set, or brought over
//! from the pool that their data set is leaving.
//!
//! Invariants:
//! 1. An interval enters a pool only while that is its data set's home, which is looked at under
//!    the pool's mutex ([`crate::Home`]).
//! 2. A frame that is being filled is pinned, loading, and in the table: whoever wants the interval
//!    waits for that one.

use base::CiNumber;

use crate::frame::{ExclusiveCi, Frame, Pinned, SharedCi};
use crate::home::Entry;
use crate::key::Key;
use crate::pool::{Asker, FRAME_WAIT, Pool};
use crate::{Backing, PoolError, latches};

/// How many waits for a frame mean that there is none.
const FRAME_WAIT_ROUNDS: u32 = 500;

/// What became of the wish for a frame.
pub(crate) enum Claim<'p> {
    /// A frame to fill: pinned, loading, in the table.
    Empty(&'p Frame),
    /// The interval is in memory: pinned, here or where the data set was before.
    There(&'p Frame),
    /// Somebody else was faster.
    Raced,
    /// The data set has another home.
    Elsewhere(&'p Pool),
}

impl Pool {
    /// An interval to read.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn shared<'p>(
        &'p self,
        set: &'p dyn Backing,
        ci: CiNumber,
    ) -> Result<SharedCi<'p>, PoolError> {
        Ok(self.pin(set, ci)?.shared())
    }

    /// An interval to change.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn exclusive<'p>(
        &'p self,
        set: &'p dyn Backing,
        ci: CiNumber,
    ) -> Result<ExclusiveCi<'p>, PoolError> {
        Ok(self.pin(set, ci)?.exclusive())
    }

    /// An interval that stays in memory and is latched later.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn pin<'p>(&'p self, set: &'p dyn Backing, ci: CiNumber) -> Result<Pinned<'p>, PoolError> {
        let frame = self.pinned(set, ci, Asker::Program)?;
        Ok(Pinned::new(frame, &self.dirty, false))
    }

    /// An interval that is about to be formatted: whatever it held is of no interest, so it is not
    /// read. Its bytes are zero when it is latched exclusively.
    ///
    /// # Errors
    /// [`PoolError::NoFrames`], [`PoolError::Stopped`].
    pub fn pin_fresh<'p>(
        &'p self,
        set: &'p dyn Backing,
        ci: CiNumber,
    ) -> Result<Pinned<'p>, PoolError> {
        let key = Key::new(set.id(), ci);
        let mut pool = self;
        loop {
            let frame = match pool.resident(key)? {
                Some(frame) => frame,
                None => match pool.claim_for(set, key, Asker::Program)? {
                    Claim::Empty(frame) => {
                        pool.loaded(frame, true);
                        frame
                    }
                    Claim::There(frame) => frame,
                    Claim::Raced => continue,
                    Claim::Elsewhere(home) => {
                        pool = home;
                        continue;
                    }
                },
            };
            return Ok(Pinned::new(frame, &self.dirty, true));
        }
    }

    /// As [`Pool::pin_fresh`], latched.
    ///
    /// # Errors
    /// As for [`Pool::pin_fresh`].
    pub fn fresh<'p>(
        &'p self,
        set: &'p dyn Backing,
        ci: CiNumber,
    ) -> Result<ExclusiveCi<'p>, PoolError> {
        Ok(self.pin_fresh(set, ci)?.exclusive())
    }

    /// Pins an interval for the page writer (a map page): takes a reserved frame if need be.
    ///
    /// # Errors
    /// See [`PoolError`]; [`PoolError::NoFrames`] if even the reserve is used up.
    pub fn exclusive_for_writer<'p>(
        &'p self,
        set: &'p dyn Backing,
        ci: CiNumber,
    ) -> Result<ExclusiveCi<'p>, PoolError> {
        let frame = self.pinned(set, ci, Asker::Writer)?;
        frame.latch().lock_exclusive();
        Ok(ExclusiveCi::new(frame, &self.dirty))
    }

    /// Pins an interval without a latch until [`Home::unhold`](crate::Home::unhold). For the page
    /// writer.
    ///
    /// # Errors
    /// As for [`Pool::exclusive_for_writer`].
    pub fn hold_for_writer(&self, set: &dyn Backing, ci: CiNumber) -> Result<(), PoolError> {
        self.pinned(set, ci, Asker::Writer).map(|_| ())
    }

    #[inline]
    fn pinned<'p>(
        &'p self,
        set: &'p dyn Backing,
        ci: CiNumber,
        asker: Asker,
    ) -> Result<&'p Frame, PoolError> {
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
    fn pinned_slowly<'p>(
        &'p self,
        set: &'p dyn Backing,
        key: Key,
        asker: Asker,
    ) -> Result<&'p Frame, PoolError> {
        let mut pool = self;
        loop {
            if let Some(frame) = pool.resident(key)? {
                pool.counters.hits.one(seam::thread::slot());
                return Ok(frame);
            }
            match pool.claim_for(set, key, asker)? {
                Claim::Empty(frame) => {
                    let read = pool.fill(set, frame);
                    pool.loaded(frame, read.is_ok());
                    read?;
                    pool.counters.reads.one();
                    return Ok(frame);
                }
                Claim::There(frame) => {
                    pool.counters.hits.one(seam::thread::slot());
                    return Ok(frame);
                }
                Claim::Raced => {}
                Claim::Elsewhere(home) => pool = home,
            }
        }
    }

    /// A frame for an interval that is not in this pool.
    fn claim_for<'p>(
        &'p self,
        set: &'p dyn Backing,
        key: Key,
        asker: Asker,
    ) -> Result<Claim<'p>, PoolError> {
        latches::assert_none_held("a wait for a frame");
        let (mut rounds, mut seen) = (0, None);
        let mut state = self.state.lock();
        loop {
            if self.table.probe(&self.frames, key).is_some() {
                return Ok(Claim::Raced);
            }
            match self.entry(set, seen) {
                Entry::Open => {}
                Entry::Elsewhere(home) => return Ok(Claim::Elsewhere(home)),
                Entry::After(old, changes) => {
                    drop(state);
                    if let Some(frame) = after(set, self, (old, key), asker)? {
                        return Ok(Claim::There(frame));
                    }
                    seen = Some(changes);
                    state = self.state.lock();
                    continue;
                }
            }
            if let Some(frame) = self.take_frame(&mut state, asker) {
                frame.set_loading(true);
                self.table.insert(frame, key);
                frame.end_claim(1);
                frame.touch();
                return Ok(Claim::Empty(frame));
            }
            self.stop.check()?;
            rounds += 1;
            if asker == Asker::Writer || rounds > FRAME_WAIT_ROUNDS {
                let pool = self.config.name.clone();
                return Err(PoolError::NoFrames { pool, frames: state.frames });
            }
            self.press();
            self.counters.waits.one();
            self.changed.wait_for(&mut state, FRAME_WAIT);
        }
    }

    /// Reads one interval into the frame claimed for it, and opens it.
    #[allow(unsafe_code)] // what is in a frame belongs to whoever loads it
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

    /// Whether an interval of the data set may enter this pool; see [`crate::Home`].
    pub(crate) fn entry<'p>(&self, set: &'p dyn Backing, seen: Option<u64>) -> Entry<'p> {
        set.home().map_or(Entry::Open, |home| home.entry(self, seen))
    }
}

/// The interval in the pool that its data set was in before, if it is there.
fn after<'p>(
    set: &dyn Backing,
    pool: &'p Pool,
    (old, key): (&'p Pool, Key),
    asker: Asker,
) -> Result<Option<&'p Frame>, PoolError> {
    match set.home() {
        Some(home) => home.fetch_over(pool, old, key, asker),
        None => Ok(None),
    }
}
