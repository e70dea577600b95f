//! The housekeeper's thread: when it looks, who calls it, and who waits for what it has done.
//!
//! Invariants:
//! 1. It sleeps at most a look long, and goes on at once for whoever waits for room in the log.
//! 2. Whoever waits for room is woken when there is some, not when somebody else asks for it.

use std::time::Duration;

use seam::clock::Clock;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

#[derive(Default)]
pub(crate) struct Housekeeper {
    state: Mutex<State>,
    /// The housekeeper waits for somebody to ask for something.
    asked: Condvar,
    /// Those who lack room in the log wait for some.
    relieved: Condvar,
}

#[derive(Default)]
struct State {
    ended: bool,
    /// Somebody waits for room in the log.
    urgent: bool,
    thread: Option<JoinHandle>,
    /// When the log's files and devices were looked at.
    looked: Duration,
}

/// What a round is to see to.
pub(crate) struct Round {
    /// Somebody waits for room in the log.
    pub(crate) urgent: bool,
    /// It is time to look at the log's files and devices.
    pub(crate) looks: bool,
    /// When it begins.
    pub(crate) now: Duration,
}

/// How often the housekeeper looks when nobody calls it.
const LOOK: Duration = Duration::from_millis(50);
/// How often it looks at the log's files and devices.
const LOOK_AROUND: Duration = Duration::from_secs(5);
/// One wait for room in the log.
const ROOM_WAIT: Duration = Duration::from_millis(20);

impl Housekeeper {
    /// Starts the thread: round after round, until one answers `false`.
    pub(crate) fn start(
        &self,
        mut round: impl FnMut() -> bool + Send + 'static,
    ) -> std::io::Result<()> {
        let thread = seam::thread::spawn("housekeeper", move || while round() {})?;
        self.state.lock().thread = Some(thread);
        Ok(())
    }

    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        let thread = state.thread.take();
        drop(state);
        self.asked.notify_one();
        self.relieved.notify_all();
        if let Some(thread) = thread {
            thread.join();
        }
    }

    /// Waits for the next round; nothing when the housekeeper shall end.
    pub(crate) fn next(&self, clock: &dyn Clock) -> Option<Round> {
        let mut state = self.state.lock();
        if !state.ended && !state.urgent {
            self.asked.wait_for(&mut state, LOOK);
        }
        if state.ended {
            return None;
        }
        let urgent = std::mem::take(&mut state.urgent);
        let now = clock.monotonic();
        let looks = now.saturating_sub(state.looked) >= LOOK_AROUND;
        if looks {
            state.looked = now;
        }
        Some(Round { urgent, looks, now })
    }

    /// Wakes whoever waits for room.
    pub(crate) fn relieve(&self) {
        self.relieved.notify_all();
    }

    /// Asks for room in the log, and waits a moment for it.
    pub(crate) fn ask_for_room(&self) {
        let mut state = self.state.lock();
        if !state.urgent {
            state.urgent = true;
            self.asked.notify_one();
        }
        self.relieved.wait_for(&mut state, ROOM_WAIT);
    }
}
