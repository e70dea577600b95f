//! The thread that converts data sets: when it runs, what it waits for, and what it has met.
//!
//! Invariants:
//! 1. There is at most one such thread; it ends when there is nothing to convert.
//! 2. What could not be converted any further waits until somebody resumes it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::DataSetId;
use seam::clock::Clock;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;
use space::DataSet;

/// Why data sets cannot be converted any further.
pub(crate) type Troubles = BTreeMap<DataSetId, String>;

/// The thread that converts, and what it has met.
#[derive(Default)]
pub(crate) struct Converter {
    /// Held during a chunk, at the beginning and the end of a conversion, and by whoever ends a
    /// data set.
    pub(crate) work: Mutex<()>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ended: bool,
    running: bool,
    thread: Option<JoinHandle>,
    troubles: Troubles,
    /// When the next chunk may begin, by the limits on the rate.
    due: Duration,
}

/// What the thread does next.
pub(crate) enum Turn {
    /// It has waited, and asks again.
    Waited,
    /// Nothing: it ends.
    End,
    /// A chunk of this data set.
    Chunk(Arc<DataSet>),
}

/// The longest wait in one go: somebody may want the thread to end.
const WAIT_MAX: Duration = Duration::from_millis(50);

impl Converter {
    /// Starts the thread if there is work and it does not run. `retry` is a data set whose trouble
    /// is to be forgotten. `next` finds the data set that is converted next, `first_due` says when
    /// its first chunk may begin; each round of the thread is one call of `round`, until that
    /// answers `false`.
    pub(crate) fn wake(
        &self,
        retry: Option<DataSetId>,
        next: impl FnOnce(&Troubles) -> Option<Arc<DataSet>>,
        first_due: impl FnOnce(&DataSet) -> Duration,
        mut round: impl FnMut() -> bool + Send + 'static,
    ) -> std::io::Result<()> {
        let mut state = self.state.lock();
        if let Some(set) = retry {
            state.troubles.remove(&set);
        }
        let next = next(&state.troubles);
        state.due = match retry {
            Some(_) => Duration::ZERO,
            // The rate holds over a restart, too.
            None => next.as_ref().map_or(Duration::ZERO, |set| first_due(set)),
        };
        if state.ended || state.running || next.is_none() {
            self.changed.notify_all();
            return Ok(());
        }
        let before = state.thread.take();
        state.running = true;
        match seam::thread::spawn("converter", move || while round() {}) {
            Ok(thread) => state.thread = Some(thread),
            Err(error) => {
                state.running = false;
                return Err(error);
            }
        }
        drop(state);
        if let Some(thread) = before {
            thread.join();
        }
        Ok(())
    }

    /// The thread's next turn.
    pub(crate) fn turn(
        &self,
        clock: &dyn Clock,
        next: impl FnOnce(&Troubles) -> Option<Arc<DataSet>>,
    ) -> Turn {
        let mut state = self.state.lock();
        let now = clock.monotonic();
        if !state.ended && state.due > now {
            let wait = (state.due - now).min(WAIT_MAX);
            self.changed.wait_for(&mut state, wait);
            return Turn::Waited;
        }
        match next(&state.troubles).filter(|_| !state.ended) {
            Some(set) => Turn::Chunk(set),
            None => {
                state.running = false;
                Turn::End
            }
        }
    }

    /// The next chunk may begin then.
    pub(crate) fn wait_until(&self, due: Duration) {
        self.state.lock().due = due;
    }

    /// A data set cannot be converted any further.
    pub(crate) fn give_up(&self, set: DataSetId, why: String) {
        self.state.lock().troubles.insert(set, why);
    }

    /// Why a data set cannot be, if it cannot.
    pub(crate) fn trouble_of(&self, set: DataSetId) -> Option<String> {
        self.state.lock().troubles.get(&set).cloned()
    }

    /// Ends the thread; conversions go on when the system is opened again.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        let thread = state.thread.take();
        drop(state);
        self.changed.notify_all();
        if let Some(thread) = thread {
            thread.join();
        }
    }
}
