//! How long is waited before something that cannot be done now is tried again.
//!
//! Invariants:
//! 1. Waits become longer while nothing succeeds, up to a limit, and end at once with the bridge.

use std::time::Duration;

use seam::sync::{Condvar, Mutex};

const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// Whether the bridge goes on, and who waits.
#[derive(Default)]
pub(crate) struct Gate {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn is_over(&self) -> bool {
        *self.is_over.lock()
    }

    pub(crate) fn close(&self) {
        *self.is_over.lock() = true;
        self.changed.notify_all();
    }

    /// Waits so long, or until the end; answers whether it goes on.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let mut is_over = self.is_over.lock();
        if !*is_over {
            self.changed.wait_for(&mut is_over, time);
        }
        !*is_over
    }
}

/// The wait before the next try.
pub(crate) struct Pause(Duration);

impl Default for Pause {
    fn default() -> Pause {
        Pause(SHORTEST)
    }
}

impl Pause {
    /// It has succeeded.
    pub(crate) fn reset(&mut self) {
        self.0 = SHORTEST;
    }

    /// Waits; answers whether the bridge goes on.
    pub(crate) fn wait(&mut self, gate: &Gate) -> bool {
        let time = self.0;
        self.0 = (time * 2).min(LONGEST);
        gate.wait(time)
    }
}
