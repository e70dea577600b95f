//! How long a queue manager runs, in which mode, and what it numbers meanwhile.
//!
//! 1. It goes from running over quiescing to stopping, and never back.
//! 2. No number is given twice in a run.

use std::sync::atomic::{
    AtomicU8, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use crate::reason::{Answer, Reason, fail};

const RUNNING: u8 = 0;
const QUIESCING: u8 = 1;
const STOPPING: u8 = 2;

/// The run of a queue manager.
pub(crate) struct Running {
    opened_ms: u64,
    mode: AtomicU8,
    /// The next number of a connection, a handle or a unit of work.
    numbers: AtomicU64,
    /// When messages that have expired were last looked for.
    scanned_ms: AtomicU64,
}

impl Running {
    pub(super) fn new(now_ms: u64) -> Running {
        Running {
            opened_ms: now_ms,
            mode: AtomicU8::new(RUNNING),
            numbers: AtomicU64::new(1),
            scanned_ms: AtomicU64::new(now_ms),
        }
    }

    /// A moment in tenths of a second since the queue manager was opened; at least 1.
    pub(super) fn tenths_of(&self, ms: u64) -> u32 {
        let tenths = ms.saturating_sub(self.opened_ms) / 100;
        u32::try_from(tenths).unwrap_or(u32::MAX - 1).max(1)
    }

    /// A number that is unique in this run.
    pub(super) fn serial(&self) -> u64 {
        self.numbers.fetch_add(1, Relaxed)
    }

    /// Fails while the queue manager stops; while it quiesces, if the caller asked for that.
    pub(super) fn goes_on(&self, fail_if_quiescing: bool) -> Answer<()> {
        match self.mode.load(Acquire) {
            STOPPING => fail(Reason::Q_MGR_STOPPING),
            QUIESCING if fail_if_quiescing => fail(Reason::Q_MGR_QUIESCING),
            _ => Ok(()),
        }
    }

    pub(super) fn quiesce(&self) {
        let _ = self.mode.compare_exchange(RUNNING, QUIESCING, AcqRel, Acquire);
    }

    pub(super) fn stop(&self) {
        self.mode.store(STOPPING, Release);
    }

    /// Whether the last scan was so long ago; notes the moment if so.
    pub(super) fn scan_is_due(&self, now_ms: u64, interval_ms: u64) -> bool {
        let due = now_ms.saturating_sub(self.scanned_ms.load(Relaxed)) >= interval_ms;
        if due {
            self.scanned_ms.store(now_ms, Relaxed);
        }
        due
    }
}
