//! A local queue: its settings, its index of messages, who has it open, who waits.
//!
//! 1. The latch of a queue is never held across a call of the store or a wait for anything but
//!    its own condition.
//! 2. All messages of a queue are in one page set. It changes only while the queue has none.

mod bodies;
mod getters;
mod index;
mod openings;
mod settings;
mod statistics;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use seam::sync::{Condvar, Mutex, MutexGuard};

pub(crate) use bodies::{Bodies, Broken, Location, PageSet, Stored, set_of};
use getters::{Getters, Wake};
pub(crate) use index::{By, Entry, Hashes, Hold, Index, Place, Seeker, hashes, place};
use openings::Openings;
pub(crate) use settings::{Origin, PropertyControl, Settings, Trigger, TriggerKind};
pub(crate) use watch::{DepthEvent, DepthWatch, ServiceWatch};

use crate::name::ObjectName;
use crate::reason::{Answer, Reason, fail, require};
use crate::status::QueueStatistics;

/// A local queue.
pub(crate) struct Queue {
    pub(crate) name: ObjectName,
    /// Under which its messages are kept.
    pub(crate) number: u32,
    /// The page set that has its messages.
    page_set: AtomicU8,
    pub(crate) state: Mutex<State>,
    arrived: Condvar,
    /// Held by the thread that builds an index, so that no other does.
    pub(crate) building: Mutex<()>,
}

/// What the latch of a queue guards.
pub(crate) struct State {
    pub(crate) settings: Arc<Settings>,
    pub(crate) index: Index,
    pub(crate) statistics: QueueStatistics,
    pub(crate) watch: DepthWatch,
    pub(crate) service: ServiceWatch,
    pub(crate) deleted: bool,
    /// A permanent dynamic queue goes when the last handle is closed.
    pub(crate) delete_at_last_close: bool,
    pub(crate) openings: Openings,
    pub(crate) getters: Getters,
    /// Marks of browsers that cooperate, and until when they count, in milliseconds.
    pub(crate) marks: BTreeMap<Place, u64>,
    /// Messages that were found damaged: they are passed over.
    pub(crate) damaged: BTreeSet<Place>,
    /// When a trigger message was last made for it, in milliseconds.
    pub(crate) triggered_ms: u64,
    /// Since when there have been puts or gets that are not committed, as far as anybody looked.
    uncommitted_since_ms: Option<u64>,
}

impl Queue {
    pub(crate) fn new(
        name: ObjectName,
        number: u32,
        settings: Settings,
        (now_ms, in_memory): (u64, &Arc<AtomicU64>),
    ) -> Queue {
        let page_set = settings.page_set;
        let state = State {
            watch: settings.watch,
            service: settings.service,
            settings: Arc::new(settings),
            index: Index::counting(in_memory),
            statistics: QueueStatistics::new(now_ms),
            deleted: false,
            delete_at_last_close: false,
            openings: Openings::default(),
            getters: Getters::default(),
            marks: BTreeMap::new(),
            damaged: BTreeSet::new(),
            triggered_ms: 0,
            uncommitted_since_ms: None,
        };
        Queue {
            name,
            number,
            page_set: AtomicU8::new(page_set.0),
            state: Mutex::new(state),
            arrived: Condvar::new(),
            building: Mutex::new(()),
        }
    }

    /// Where its messages are kept.
    pub(crate) fn location(&self) -> Location {
        let page_set = PageSet(self.page_set.load(Ordering::Acquire));
        Location { queue: self.number, page_set }
    }

    /// Its messages were found in that page set.
    pub(crate) fn found_in(&self, page_set: PageSet) {
        self.page_set.store(page_set.0, Ordering::Release);
    }

    /// A message is to come: while there is none, it is kept where the storage class says now.
    /// The latch is held.
    pub(crate) fn choose_page_set(&self, state: &State) {
        if state.index.is_empty() {
            self.found_in(state.settings.page_set);
        }
    }

    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.state.lock().settings)
    }

    /// Lets getters look again: `count` messages may have come.
    pub(crate) fn notify(&self, state: &mut State, count: usize) {
        self.wake(state.getters.arrived(count));
    }

    fn wake(&self, wake: Wake) {
        match wake {
            Wake::All => self.arrived.notify_all(),
            Wake::Some(count) => (0..count).for_each(|_| self.arrived.notify_one()),
        }
    }

    /// Waits for an arrival, at most for so long; `choosy`: for particular messages.
    pub(crate) fn wait(
        &self,
        state: &mut MutexGuard<'_, State>,
        left: Option<Duration>,
        choosy: bool,
    ) {
        state.getters.begin_wait(choosy);
        match left {
            Some(left) => {
                let _ = self.arrived.wait_for(state, left);
            }
            None => self.arrived.wait(state),
        }
        state.getters.end_wait(choosy);
    }

    /// Gives a message back that was taken and is not got after all.
    pub(crate) fn give_back(&self, at: Place, before: Option<Hold>) {
        let mut state = self.state.lock();
        state.index.untake(at, before);
        self.notify(&mut state, 1);
    }

    /// Lets all getters look again: something is not as it was.
    pub(crate) fn alarm(&self) {
        self.alarm_all(&mut self.state.lock());
    }

    /// Lets all getters look again. The latch is held.
    pub(crate) fn alarm_all(&self, state: &mut State) {
        self.wake(state.getters.alarmed());
    }

    /// Admits a handle.
    pub(crate) fn enter(&self, input: bool, output: bool, exclusive: bool) -> Answer<()> {
        let mut state = self.state.lock();
        require(!state.deleted, Reason::Q_DELETED)?;
        state.openings.enter(input, output, exclusive)
    }

    /// Lets a handle go. Answers whether it was the last one.
    pub(crate) fn leave(&self, input: bool, output: bool) -> bool {
        let mut state = self.state.lock();
        state.openings.leave(input, output);
        state.openings.handles() == 0
    }
}

impl State {
    /// How long there have been puts or gets that are not committed: to be asked every second.
    pub(crate) fn uncommitted_ms(&mut self, now_ms: u64) -> u64 {
        if self.index.uncommitted() == 0 {
            self.uncommitted_since_ms = None;
            return 0;
        }
        now_ms.saturating_sub(*self.uncommitted_since_ms.get_or_insert(now_ms))
    }

    /// Whether a message of so many bytes may come.
    pub(crate) fn admits(&self, bytes: usize) -> Answer<()> {
        require(!self.deleted, Reason::Q_DELETED)?;
        require(self.settings.put_enabled, Reason::PUT_INHIBITED)?;
        require(bytes <= self.settings.length_max, Reason::MSG_TOO_BIG_FOR_Q)?;
        if self.index.depth() >= self.settings.depth_max {
            return fail(Reason::Q_FULL);
        }
        Ok(())
    }
}
