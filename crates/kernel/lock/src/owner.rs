//! Owners: who holds locks and who waits, and where a waiting one is found and woken.
//!
//! Invariants:
//! 1. A slot's address never changes: slots stand in chunks that are added and never moved, so a
//!    thread can wake an owner without any latch.
//! 2. A slot belongs to one [`Owner`] from [`Owners::take`] until that is dropped. An owner that
//!    is dropped while it holds locks keeps its slot for good, and so its locks: letting go of
//!    them would show others what was neither committed nor backed out.
//! 3. `outcome` is changed to anything but `Idle` only under the latch of the shard where the
//!    owner waits, so whoever holds that latch knows whether the wait is over.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::UowId;
use seam::clock::Clock;
use seam::stop::Stopped;
use seam::sync::{Condvar, Mutex, MutexGuard};

use crate::held_locks::HeldLocks;
use crate::{LockName, Mode};

/// The lock owner that stands for one unit of work.
///
/// It is used by one thread at a time. Dropping it with locks held leaks them on purpose: call
/// [`crate::LockManager::release_all`] once the unit of work has committed or was backed out.
pub struct Owner {
    pub(crate) owners: Arc<Owners>,
    pub(crate) slot: u32,
    pub(crate) uow: UowId,
    pub(crate) held: HeldLocks,
    /// Locks of the total budget that this owner may still take without asking.
    pub(crate) credits: usize,
}

impl Owner {
    /// The unit of work.
    #[must_use]
    pub fn uow(&self) -> UowId {
        self.uow
    }

    /// Adds to the bytes of log that the unit of work has written: what backing it out would cost.
    /// The owner with the least is the victim of a deadlock.
    #[inline]
    pub fn add_log_weight(&self, bytes: u64) {
        self.slot().weight.fetch_add(bytes, Relaxed);
    }

    /// How often in a row this work was the victim of a deadlock, this time included. Hand it to
    /// [`crate::LockManager::owner`] for the retry; at two it is not chosen again (K14).
    #[must_use]
    pub fn times_chosen(&self) -> u32 {
        self.slot().times_chosen.load(Relaxed)
    }

    /// How many locks it holds.
    #[must_use]
    pub fn locks_held(&self) -> usize {
        self.held.len()
    }

    /// The mode in which it holds `name`, if it does.
    #[must_use]
    pub fn mode_of(&self, name: LockName) -> Option<Mode> {
        self.held.find(name).map(|place| self.held.entries()[place].mode)
    }

    pub(crate) fn slot(&self) -> &Slot {
        self.owners.slot(self.slot)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if self.held.len() == 0 {
            let held = std::mem::take(&mut self.held);
            self.owners.give_back(self.slot, held, self.credits);
        } else {
            self.owners.abandoned.fetch_add(1, Relaxed);
        }
    }
}

/// What others may see of an owner.
#[derive(Default)]
pub(crate) struct Slot {
    uow: AtomicU64,
    pub(crate) weight: AtomicU64,
    pub(crate) times_chosen: AtomicU32,
    /// Whether somebody may wait for this owner; see `deadlock`.
    blocks: AtomicBool,
    parking: Mutex<Parking>,
    condvar: Condvar,
}

/// Where an owner waits and how the wait went.
#[derive(Default)]
pub(crate) struct Parking {
    pub(crate) outcome: Outcome,
    pub(crate) shard: usize,
    pub(crate) request: u32,
}

/// How a wait went.
#[derive(Default)]
pub(crate) enum Outcome {
    /// It does not wait.
    #[default]
    Idle,
    /// It waits.
    Waiting,
    /// The lock is granted; this is the holder's request.
    Granted(u32),
    /// It was chosen to break this cycle.
    Deadlock(Vec<UowId>),
    /// The kernel stopped.
    Stopped(Stopped),
}

impl Slot {
    pub(crate) fn uow(&self) -> UowId {
        UowId(self.uow.load(Relaxed))
    }

    /// Notes that somebody may wait for this owner from now on.
    #[inline]
    pub(crate) fn blocks_others(&self) {
        if !self.blocks.load(Relaxed) {
            self.blocks.store(true, Relaxed);
        }
    }

    /// Notes that nobody waits for this owner, for it holds nothing.
    #[inline]
    pub(crate) fn blocks_nobody(&self) {
        if self.blocks.load(Relaxed) {
            self.blocks.store(false, Relaxed);
        }
    }

    pub(crate) fn may_block(&self) -> bool {
        self.blocks.load(Relaxed)
    }

    pub(crate) fn parking(&self) -> MutexGuard<'_, Parking> {
        self.parking.lock()
    }

    /// Ends the wait; the caller holds the shard's latch and calls [`Slot::wake`] without it.
    pub(crate) fn end_wait(&self, outcome: Outcome) {
        let mut parking = self.parking.lock();
        assert!(matches!(parking.outcome, Outcome::Waiting), "a wait ended twice");
        parking.outcome = outcome;
    }

    /// Wakes the owner's thread so that it sees how the wait went.
    pub(crate) fn wake(&self) {
        self.condvar.notify_one();
    }

    /// Sleeps until the wait has ended, or `None` at `deadline`.
    pub(crate) fn sleep(&self, clock: &dyn Clock, deadline: Option<Duration>) -> Option<Outcome> {
        let mut parking = self.parking.lock();
        loop {
            if !matches!(parking.outcome, Outcome::Waiting) {
                return Some(std::mem::take(&mut parking.outcome));
            }
            match deadline {
                None => self.condvar.wait(&mut parking),
                Some(deadline) => {
                    let left = deadline.saturating_sub(clock.monotonic());
                    if left.is_zero() {
                        return None;
                    }
                    self.condvar.wait_for(&mut parking, left);
                }
            }
        }
    }
}

/// The slots of the first chunk; each further chunk doubles their number.
const FIRST_CHUNK: usize = 64;
const CHUNKS: usize = 26;

/// All slots, and the budget that owners draw on.
pub(crate) struct Owners {
    chunks: [OnceLock<Box<[Slot]>>; CHUNKS],
    /// Slots that nobody has, with the memory of their last owner's list of locks.
    free: Mutex<Vec<(u32, HeldLocks)>>,
    made: AtomicU32,
    /// Locks of the total budget that no owner has.
    available: AtomicUsize,
    /// How many an owner takes and gives back at once.
    credit_unit: usize,
    pub(crate) abandoned: AtomicU64,
}

impl Owners {
    pub(crate) fn new(locks_max: usize) -> Owners {
        Owners {
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::default(),
            made: AtomicU32::new(0),
            available: AtomicUsize::new(locks_max),
            credit_unit: (locks_max / 1_024).clamp(1, 16),
            abandoned: AtomicU64::new(0),
        }
    }

    /// A slot for a new owner.
    pub(crate) fn take(self: &Arc<Owners>, uow: UowId, times_chosen: u32) -> Owner {
        let (slot, held) = {
            let mut free = self.free.lock();
            free.pop().unwrap_or_else(|| (self.make_slot(), HeldLocks::default()))
        };
        let owner = Owner { owners: Arc::clone(self), slot, uow, held, credits: 0 };
        let place = owner.slot();
        place.uow.store(uow.0, Relaxed);
        place.weight.store(0, Relaxed);
        place.blocks_nobody();
        place.times_chosen.store(times_chosen, Relaxed);
        owner
    }

    /// Makes one more slot; the caller has `free` locked.
    fn make_slot(&self) -> u32 {
        let slot = self.made.load(Relaxed);
        let (chunk, _) = place(slot);
        self.chunks[chunk]
            .get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| Slot::default()).collect());
        self.made.store(slot + 1, Release);
        slot
    }

    fn give_back(&self, slot: u32, mut held: HeldLocks, credits: usize) {
        held.clear();
        self.available.fetch_add(credits, Relaxed);
        self.free.lock().push((slot, held));
    }

    /// The slot with this number, which must have been taken once.
    #[inline]
    pub(crate) fn slot(&self, slot: u32) -> &Slot {
        let (chunk, at) = place(slot);
        &self.chunks[chunk].get().expect("a slot's chunk exists before the slot is used")[at]
    }

    /// How many slots there are.
    pub(crate) fn slots(&self) -> u32 {
        self.made.load(Acquire)
    }

    /// Lets the owner take one more lock of the total budget, if that has room.
    #[inline]
    pub(crate) fn draw(&self, owner_credits: &mut usize) -> bool {
        if *owner_credits == 0 {
            *owner_credits = self.draw_unit();
        }
        let drawn = *owner_credits > 0;
        *owner_credits -= usize::from(drawn);
        drawn
    }

    /// Gives `count` locks of the total budget back to the owner, and what it has too much to all.
    #[inline]
    pub(crate) fn refund(&self, owner_credits: &mut usize, count: usize) {
        *owner_credits += count;
        // With a unit of one nothing is kept, so that a small budget is exact for everybody.
        let kept = self.credit_unit - 1;
        if *owner_credits > 2 * kept {
            self.available.fetch_add(*owner_credits - kept, Relaxed);
            *owner_credits = kept;
        }
    }

    fn draw_unit(&self) -> usize {
        let mut available = self.available.load(Relaxed);
        loop {
            let drawn = available.min(self.credit_unit);
            let left = available - drawn;
            match self.available.compare_exchange_weak(available, left, Relaxed, Relaxed) {
                Ok(_) => return drawn,
                Err(now) => available = now,
            }
        }
    }
}

/// The chunk of a slot, and its place there.
#[inline]
fn place(slot: u32) -> (usize, usize) {
    let number = slot as usize + FIRST_CHUNK;
    let chunk = (number.ilog2() - FIRST_CHUNK.ilog2()) as usize;
    (chunk, number - (FIRST_CHUNK << chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_one_place() {
        let mut expected = (0, 0);
        for slot in 0..10_000 {
            assert_eq!(place(slot), expected, "slot {slot}");
            expected.1 += 1;
            if expected.1 == FIRST_CHUNK << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn the_budget_is_exact_and_comes_back() {
        let owners = Arc::new(Owners::new(10_000));
        let mut credits = 0;
        let mut drawn = 0;
        while owners.draw(&mut credits) {
            drawn += 1;
        }
        assert_eq!(drawn, 10_000);
        owners.refund(&mut credits, drawn);
        let other = owners.take(UowId(1), 0);
        assert_eq!(owners.available.load(Relaxed) + credits, 10_000);
        drop(other);
    }
}
