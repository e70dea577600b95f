//! The threads that write the log and the one that archives it: what they wait for, and what
//! others see of them without a lock.
//!
//! Invariants:
//! 1. All of them wait under the flush state's mutex.
//! 2. `idle` and `admits_full` repeat what the flush state says; they are changed under its lock
//!    and only spare others from taking it.
//! 3. `called` is true only between a call and the answer of the writer that seals next. It only
//!    spares the second call.
//! 4. Once they are to end that stays.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use seam::sync::{Condvar, Mutex, MutexGuard};

use crate::flush_state::FlushState;

/// Who writes, and who is called.
pub(crate) struct Writers {
    /// One for each lane.
    lanes: Vec<Condvar>,
    /// Lanes that have threads, a bit for each.
    laned: Mutex<u16>,
    /// A group may be sealed that is not full.
    idle: AtomicBool,
    /// A full group may be sealed.
    admits_full: AtomicBool,
    /// A writer has been called and has not answered yet.
    called: AtomicBool,
    /// All copies of a group are written by one thread: the disk has not refused so far.
    together: AtomicBool,
    closed: AtomicBool,
    /// Called when there is something to archive.
    archive_wake: Condvar,
}

impl Writers {
    /// Nobody is at work on any of so many lanes.
    pub(crate) fn new(lanes: usize) -> Writers {
        Writers {
            lanes: (0..lanes).map(|_| Condvar::new()).collect(),
            laned: Mutex::new(0),
            idle: AtomicBool::new(true),
            admits_full: AtomicBool::new(true),
            called: AtomicBool::new(false),
            together: AtomicBool::new(true),
            closed: AtomicBool::new(false),
            archive_wake: Condvar::new(),
        }
    }

    /// The flush state has changed; `next` is where the ring ends.
    pub(crate) fn refresh(&self, state: &FlushState, next: u64) {
        let idle = state.admits(false) && !state.commit_delay.is_expected(next);
        self.idle.store(idle, SeqCst);
        self.admits_full.store(state.admits(true), SeqCst);
    }

    /// Whether a group may be sealed that is not full.
    pub(crate) fn are_idle(&self) -> bool {
        self.idle.load(SeqCst)
    }

    /// Whether a full group can be sealed, and nobody was called for that.
    #[inline]
    pub(crate) fn needs_call(&self) -> bool {
        self.admits_full.load(SeqCst) && !self.called.load(SeqCst)
    }

    /// A writer is being called, or has answered.
    pub(crate) fn set_called(&self, called: bool) {
        self.called.store(called, SeqCst);
    }

    /// Wakes the writer that seals next.
    pub(crate) fn nudge(&self, state: &FlushState) {
        if let Some(lead) = state.lead() {
            self.lanes[state.lane_index(state.next_stripe(), lead)].notify_one();
        }
    }

    /// Wakes the writers of a stripe that have something to write.
    pub(crate) fn wake_busy(&self, state: &FlushState, stripe: u8, copies: usize) {
        for copy in 0..copies as u8 {
            if state.has_job(stripe, copy) {
                self.lanes[state.lane_index(stripe, copy)].notify_one();
            }
        }
    }

    pub(crate) fn wake_all(&self) {
        self.lanes.iter().for_each(Condvar::notify_all);
    }

    /// A writer waits to be called.
    pub(crate) fn wait(&self, lane: usize, state: &mut MutexGuard<'_, FlushState>) {
        self.lanes[lane].wait(state);
    }

    /// The same, no longer than `time`.
    pub(crate) fn wait_for(
        &self,
        lane: usize,
        state: &mut MutexGuard<'_, FlushState>,
        time: Duration,
    ) {
        self.lanes[lane].wait_for(state, time);
    }

    /// Others are at work from now on, or have other files. Whoever was called to seal may not be
    /// the one to do it any more.
    pub(crate) fn changed(&self) {
        self.set_called(false);
        self.wake_all();
    }

    /// Lanes that have threads, a bit for each.
    pub(crate) fn laned(&self) -> u16 {
        *self.laned.lock()
    }

    /// A lane has its threads.
    pub(crate) fn add_lane(&self, bit: u16) {
        *self.laned.lock() |= bit;
    }

    /// Whether one thread writes all copies of a group.
    pub(crate) fn write_together(&self) -> bool {
        self.together.load(SeqCst)
    }

    /// From the next group on each copy has its thread.
    pub(crate) fn write_apart(&self) {
        self.together.store(false, SeqCst);
    }

    pub(crate) fn are_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    /// They are to end, when they look.
    pub(crate) fn close(&self) {
        self.closed.store(true, SeqCst);
    }

    /// There is something to archive, or the archiver is to look for another reason.
    pub(crate) fn wake_archiver(&self) {
        self.archive_wake.notify_all();
    }

    /// The archiver waits, no longer than `time`.
    pub(crate) fn await_archivable(&self, state: &mut MutexGuard<'_, FlushState>, time: Duration) {
        self.archive_wake.wait_for(state, time);
    }
}
