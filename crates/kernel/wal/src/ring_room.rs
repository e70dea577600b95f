//! Who waits for room in the ring.
//!
//! Invariants:
//! 1. Whoever waits counts itself before it looks at the ring, and whoever makes room looks at the
//!    count after: a call is missed by nobody who needs it.
//! 2. Waiting happens under the flush state's mutex.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use seam::sync::{Condvar, MutexGuard};

use crate::flush_state::FlushState;

/// Appenders that wait for room.
#[derive(Default)]
pub(crate) struct RingRoom {
    waiters: AtomicU32,
    room: Condvar,
}

impl RingRoom {
    pub(crate) fn begin(&self) {
        self.waiters.fetch_add(1, SeqCst);
    }

    pub(crate) fn wait(&self, state: &mut MutexGuard<'_, FlushState>) {
        self.room.wait(state);
    }

    pub(crate) fn end(&self) {
        self.waiters.fetch_sub(1, SeqCst);
    }

    /// There is room again.
    pub(crate) fn has_room(&self) {
        if self.waiters.load(SeqCst) > 0 {
            self.wake_all();
        }
    }

    pub(crate) fn wake_all(&self) {
        self.room.notify_all();
    }
}
