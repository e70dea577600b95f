//! Who waits for a position: threads, and whatever is told by a call.
//!
//! Invariants:
//! 1. Each of them is told once, that its position is durable or that it never will be.

use std::sync::Arc;
use std::time::Duration;

use base::Lsn;
use seam::sync::{Condvar, Mutex};

use crate::LogError;

/// Somebody who is told that a position is durable.
pub trait DurableSink: Send + Sync {
    /// The position given with `token` is durable, or never will be. Called once for each
    /// registration, in the order of positions, by a thread that the device waits for: be brief,
    /// never block. It may append and register anew.
    fn durable(&self, token: u64, outcome: Result<(), &LogError>);

    /// No more are known to be durable for now: called by the same thread after the last of the
    /// calls that came together, sometimes also before it. The moment to wake whoever waits, once
    /// for many.
    fn batch_settled(&self) {}
}

/// Somebody who waits for a position.
pub(crate) struct Waiting {
    pub(crate) up_to: Lsn,
    pub(crate) sink: Arc<dyn DurableSink>,
    pub(crate) token: u64,
}

/// How often a thread that waits looks whether the kernel has stopped.
const LOOK: Duration = Duration::from_millis(100);

/// A thread that waits for a position.
#[derive(Default)]
pub(crate) struct Parker {
    done: Mutex<bool>,
    wake: Condvar,
}

impl Parker {
    /// Waits until it is told, or until `given_up` says that nobody may come to tell it; whether it
    /// was told.
    pub(crate) fn wait(&self, given_up: impl Fn() -> bool) -> bool {
        let mut done = self.done.lock();
        while !*done {
            if given_up() {
                return false;
            }
            self.wake.wait_for(&mut done, LOOK);
        }
        *done = false;
        true
    }
}

impl DurableSink for Parker {
    fn durable(&self, _token: u64, _outcome: Result<(), &LogError>) {
        // The waiter asks the stop switch itself.
        *self.done.lock() = true;
        self.wake.notify_one();
    }
}
