//! What is called back for a connection, and how far that is.

use std::time::Duration;

use mqi::wire::Wanted;
use seam::clock::{Clock as _, RealClock};
use seam::thread::JoinHandle;

/// A program that is called back.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) function: usize,
    pub(crate) area: u64,
    pub(crate) options: i32,
}

/// A consumer of one object's messages.
#[derive(Clone)]
pub(crate) struct Consumer {
    pub(crate) program: Program,
    pub(crate) hobj: i32,
    pub(crate) wanted: Wanted,
    pub(crate) suspended: bool,
    /// When it had its last message; `None` once it was told that there is none.
    pub(crate) idle_since: Option<Duration>,
}

impl Consumer {
    fn is(&self, other: &Consumer) -> bool {
        self.hobj == other.hobj && self.program == other.program
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Stopped,
    Started,
    Suspended,
}

/// What is called back for a connection.
#[derive(Default)]
pub(crate) struct Consumers {
    pub(crate) list: Vec<Consumer>,
    pub(crate) event: Option<Program>,
    pub(crate) phase: Phase,
    /// Whether the consuming thread has seen that it is to rest.
    pub(crate) rests: bool,
    /// Whether START has not returned yet.
    pub(crate) is_starting: bool,
    pub(crate) area: u64,
    /// The thread that consumes, or has consumed, unless somebody waits for its end already.
    pub(crate) thread: Option<JoinHandle>,
    /// How often consumption has begun.
    pub(crate) runs: u64,
    /// Which of these goes on, or has not ended yet though it is to.
    pub(crate) running: Option<u64>,
    /// A program that was called has stopped and started it.
    pub(crate) again: bool,
    /// How many threads wait in STOP for the end.
    pub(crate) stoppers: u32,
    /// Whose turn was the last.
    pub(crate) served: i32,
    clock: RealClock,
}

impl Consumers {
    /// The time by which consumers wait.
    pub(crate) fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Those that were not told yet wait from now on.
    pub(crate) fn wait_from_now(&mut self) {
        let now = self.now();
        self.list.iter_mut().for_each(|one| one.idle_since = one.idle_since.map(|_| now));
    }

    /// An object is closed: nothing of it is consumed any more.
    pub(crate) fn forget(&mut self, hobj: i32) {
        self.list.retain(|one| one.hobj != hobj);
    }

    /// Those that are not suspended. Behind the one whose turn was the last they come in their
    /// order: one whose queue never runs empty keeps no message from the others.
    pub(crate) fn active(&self) -> Vec<Consumer> {
        let last = self.list.iter().position(|one| one.hobj == self.served);
        let (front, behind) = self.list.split_at(last.map_or(0, |last| last + 1));
        behind.iter().chain(front).filter(|one| !one.suspended).cloned().collect()
    }

    /// Whether a consumer is still there as it was, whatever programs have done meanwhile.
    pub(crate) fn has(&self, consumer: &Consumer) -> bool {
        self.list.iter().any(|one| one.is(consumer))
    }

    /// Whether it may be called without a message of its own.
    pub(crate) fn may_call(&self, consumer: &Consumer) -> bool {
        let is_active = |one: &Consumer| !one.suspended && one.is(consumer);
        self.phase == Phase::Started && self.list.iter().any(is_active)
    }
}
