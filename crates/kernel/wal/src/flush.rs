//! The flush: how far the log is sealed, durable and landed, who writes next, and who is told.
//!
//! Invariants:
//! 1. The positions of the log change here and in the layers above, each with what follows from it:
//!    calls, and answers to those who wait.
//! 2. Whoever wants a position durable says so first and looks for a writer second; whoever
//!    publishes a record looks at what is wanted after, and calls. A writer that finds a record
//!    which is not whole looks again after a moment, for that call may be missed (see the ring).
//! 3. The loss of a copy is durable somewhere else before anything is acknowledged without it (K9).
//!    On the last copy it stops the kernel.
//!
//! This is the lowest layer of the running log: each one above holds the one below as a field, and
//! adds what it owns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use base::Lsn;
use log_ring::Ring;
use seam::failpoint::{Failpoint, armed};
use seam::sync::{Condvar, Mutex, MutexGuard};

use crate::commit_delay::Landing;
use crate::flush_state::{FlushState, Losing};
use crate::positions::Positions;
use crate::ring_room::RingRoom;
use crate::stats::Stats;
use crate::waiters::{DurableSink, Waiting};
use crate::writers::Writers;
use crate::{LogConfig, LogEnv, LogError};

/// So many of those told next are looked at, whether they are the same sink.
const SINKS_LOOKED_AT: usize = 16;

/// How the log is laid out: as it was opened, or by now.
pub(crate) struct Layout {
    opened: Arc<LogConfig>,
    /// It is another one by now; spares everybody else the lock.
    changed: AtomicBool,
    now: Mutex<Arc<LogConfig>>,
}

impl Layout {
    pub(crate) fn new(config: &LogConfig) -> Layout {
        let opened = Arc::new(config.clone());
        let now = Mutex::new(Arc::clone(&opened));
        Layout { opened, changed: AtomicBool::new(false), now }
    }

    /// It is this one from now on.
    pub(crate) fn change(&self, layout: LogConfig) {
        *self.now.lock() = Arc::new(layout);
        self.changed.store(true, SeqCst);
    }
}

/// What is ahead of the log, for everybody.
pub(crate) struct WadsState {
    /// Called when groups are durable; waits under the flush state's mutex.
    pub(crate) wake: Condvar,
    /// It is recorded, for all that is known, that the write-ahead data set may hold what the log
    /// lacks.
    pub(crate) recorded: Mutex<bool>,
    /// Why nothing is written ahead any more.
    pub(crate) trouble: Mutex<Option<String>>,
}

impl WadsState {
    /// `recorded` if the write-ahead data set may hold what the log lacks.
    pub(crate) fn new(recorded: bool) -> WadsState {
        WadsState {
            wake: Condvar::new(),
            recorded: Mutex::new(recorded),
            trouble: Mutex::new(None),
        }
    }
}

/// What is sealed, written and told.
pub(crate) struct Flush {
    pub(crate) env: LogEnv,
    /// As it was opened; `layout` is how it is laid out by now.
    pub(crate) config: LogConfig,
    /// The same with the stripes of the next segment, and all folders there are.
    pub(crate) layout: Layout,
    pub(crate) payload_max: usize,
    pub(crate) ring: Ring,
    pub(crate) ring_room: RingRoom,
    pub(crate) positions: Positions,
    pub(crate) wads: WadsState,
    pub(crate) writers: Writers,
    pub(crate) flush_state: Mutex<FlushState>,
    /// What is wrong with each copy.
    troubles: Mutex<Vec<Option<String>>>,
    pub(crate) stats: Stats,
}

/// What a log has that was just opened.
pub(crate) struct Begun {
    pub(crate) ring: Ring,
    pub(crate) state: FlushState,
    /// Where it ends.
    pub(crate) end: Lsn,
    /// Whether the write-ahead data set may hold more.
    pub(crate) ahead: bool,
}

impl Flush {
    /// Nothing is in flight, and nobody waits.
    pub(crate) fn new(env: LogEnv, config: LogConfig, begun: Begun) -> Flush {
        let Begun { ring, state, end: Lsn(end), ahead } = begun;
        Flush {
            layout: Layout::new(&config),
            payload_max: config.payload_max(),
            ring,
            ring_room: RingRoom::default(),
            positions: Positions::new(end),
            wads: WadsState::new(ahead),
            writers: Writers::new(state.lanes().len()),
            flush_state: Mutex::new(state),
            troubles: Mutex::new(vec![None; config.copies.len()]),
            stats: Stats::default(),
            env,
            config,
        }
    }

    /// How the log is laid out by now.
    pub(crate) fn layout(&self) -> Arc<LogConfig> {
        match self.layout.changed.load(SeqCst) {
            true => Arc::clone(&self.layout.now.lock()),
            false => Arc::clone(&self.layout.opened),
        }
    }

    /// Groups are durable up to `durable`.
    pub(crate) fn grown(&self, durable: Option<Lsn>) -> Option<Lsn> {
        let durable = durable.filter(|_| !self.env.stop.is_set())?;
        self.positions.grow_landed(durable);
        if self.positions.landing_wanted() > 0 {
            self.wads.wake.notify_all();
        }
        Some(durable)
    }

    /// The flush state has changed.
    pub(crate) fn refresh_writers(&self, state: &FlushState) {
        self.writers.refresh(state, self.ring.next());
    }

    /// Waits until the ring has room for `len` bytes, and for some more, so that not every group
    /// that is taken wakes everybody. There will be: while a full group is there it gets sealed,
    /// and a group is half a ring at most.
    #[cold]
    pub(crate) fn await_ring(&self, len: u64) {
        self.stats.ring_waits.one();
        let room = len.max(self.config.ring_bytes as u64 / 4);
        self.ring_room.begin();
        let mut state = self.flush_state.lock();
        while !self.ring.has_room(room) && !self.env.stop.is_set() {
            if self.demand(&state) {
                self.writers.nudge(&state);
            }
            self.ring_room.wait(&mut state);
        }
        drop(state);
        self.ring_room.end();
    }

    /// Calls a writer, if there is something to do.
    #[cold]
    pub(crate) fn kick(&self) {
        let state = self.flush_state.lock();
        let demand = self.demand(&state);
        self.writers.set_called(demand);
        if demand {
            self.writers.nudge(&state);
        }
    }

    /// Whether a group should be sealed now and nobody is at it.
    pub(crate) fn demand(&self, state: &FlushState) -> bool {
        let taken = self.positions.taken();
        let next = self.ring.next();
        let full = next.saturating_sub(taken) >= self.payload_max as u64;
        let uncovered = self.positions.wanted() > self.positions.covered();
        let waited = uncovered && !state.commit_delay.is_expected(next);
        let wanted = waited || self.positions.landing_wanted() > taken;
        let admitted = (full && state.admits(true)) || (wanted && state.admits(false));
        admitted && !self.env.stop.is_set()
    }

    /// The log is at rest: shall those who are there wait for those who are told now?
    pub(crate) fn begin_delay(&self, state: &mut FlushState, lane: usize, durable: Lsn) {
        let (taken, next) = (self.positions.covered(), self.ring.next());
        let landed = durable.0.saturating_sub(self.positions.durable().0);
        let now = self.env.seam.clock.monotonic();
        let landing = Landing { bytes: landed, taken, next, now };
        if let Some(enough) = state.commit_delay.landed(lane, landing) {
            self.positions.set_enough(enough);
        }
    }

    /// Nobody is waited for any longer.
    pub(crate) fn end_wait(&self, state: &mut FlushState) {
        self.positions.end_delay();
        state.commit_delay.end();
    }

    /// After the flight has changed: moves the durable end, keeps the device busy, tells who
    /// waits.
    pub(crate) fn settled<'a>(&'a self, state: MutexGuard<'a, FlushState>, durable: Option<Lsn>) {
        if let Some(durable) = durable
            && !self.env.stop.is_set()
        {
            self.positions.grow_durable(durable);
        }
        for stripe in 0..state.stripes() {
            self.writers.wake_busy(&state, stripe, self.config.copies.len());
        }
        if state.calls_archiver() {
            self.writers.wake_archiver();
        }
        self.refresh_writers(&state);
        if self.demand(&state) {
            self.writers.nudge(&state);
        }
        self.deliver(state);
    }

    /// Tells everybody whose position is durable, in order; or that the kernel has stopped.
    pub(crate) fn deliver<'a>(&'a self, mut state: MutexGuard<'a, FlushState>) {
        while !state.delivering {
            let stopped = self.env.stop.check().err().map(LogError::Stopped);
            let durable = self.positions.durable();
            let mut ready = std::mem::take(&mut state.ready);
            while let Some(first) = state.sinks.front()
                && (stopped.is_some() || first.up_to <= durable)
            {
                ready.extend(state.sinks.pop_front());
            }
            if ready.is_empty() {
                state.ready = ready;
                return;
            }
            state.delivering = true;
            drop(state);
            for (at, waiting) in ready.iter().enumerate() {
                waiting.sink.durable(waiting.token, stopped.as_ref().map_or(Ok(()), Err));
                let same = |later: &Waiting| Arc::ptr_eq(&later.sink, &waiting.sink);
                if !ready[at + 1..].iter().take(SINKS_LOOKED_AT).any(same) {
                    waiting.sink.batch_settled();
                }
            }
            ready.clear();
            state = self.flush_state.lock();
            state.ready = ready;
            state.delivering = false;
        }
    }

    /// Has `sink` called when `up_to` is durable. With `wake_writer` a writer is called if none is
    /// at it.
    pub(crate) fn when_durable(
        &self,
        up_to: Lsn,
        sink: &Arc<dyn DurableSink>,
        token: u64,
        wake_writer: bool,
    ) {
        if let Err(error) = self.check_wanted(up_to) {
            sink.durable(token, Err(&error));
            sink.batch_settled();
            return;
        }
        if wake_writer {
            self.positions.want(up_to.0);
        }
        self.enlist(Waiting { up_to, sink: Arc::clone(sink), token }, wake_writer);
    }

    pub(crate) fn check_wanted(&self, up_to: Lsn) -> Result<(), LogError> {
        self.env.stop.check()?;
        let end = Lsn(self.ring.next());
        if up_to > end { Err(LogError::Beyond { lsn: up_to, end }) } else { Ok(()) }
    }

    pub(crate) fn enlist(&self, waiting: Waiting, wake_writer: bool) {
        let mut state = self.flush_state.lock();
        state.enlist(waiting);
        if wake_writer && self.demand(&state) {
            self.writers.nudge(&state);
        }
        // Durable meanwhile, or stopped: then nobody else may come by to say so.
        let first = state.sinks.front().map(|waiting| waiting.up_to);
        if self.env.stop.is_set() || first.is_some_and(|first| first <= self.positions.durable()) {
            self.deliver(state);
        }
    }

    /// Other writers are at work from now on, or have other files; nothing was in flight.
    pub(crate) fn writers_changed(&self, state: &mut FlushState) {
        self.end_wait(state);
        self.refresh_writers(state);
        self.writers.changed();
    }

    /// A copy cannot be written any more. Goes on with the other one, once that is recorded.
    pub(crate) fn lose(&self, copy: u8, error: &LogError) -> Result<(), LogError> {
        let losing = self.flush_state.lock().start_losing(copy);
        self.lost_from(copy, losing, error)
    }

    /// Records that a copy is being lost, and goes on without it.
    pub(crate) fn lost_from(
        &self,
        copy: u8,
        losing: Losing,
        error: &LogError,
    ) -> Result<(), LogError> {
        let from = match losing {
            Losing::Known => return Ok(()),
            Losing::Last => return Err(self.stop(error)),
            Losing::From(from) => from,
        };
        if !armed(Failpoint::LostCopyUnrecorded) {
            let recorded = self.env.events.copy_lost(copy, from, &error.to_string());
            if let Err(why) = recorded {
                return Err(self.stop(&LogError::Unrecorded { copy: copy + 1, why }));
            }
        }
        self.set_trouble(copy, Some(error.to_string()));
        let mut state = self.flush_state.lock();
        let durable = self.grown(state.lost(copy));
        // It may have been this copy's thread that looked at the clock.
        self.end_wait(&mut state);
        self.writers.wake_all();
        self.settled(state, durable);
        Ok(())
    }

    /// Has a copy count as lost although it can be written. `false` if there is no other one.
    pub(crate) fn lose_spare(&self, copy: u8, error: &LogError) -> Result<bool, LogError> {
        let losing = {
            let mut state = self.flush_state.lock();
            if state.lead().is_none() || state.living().all(|living| living == copy) {
                return Ok(false);
            }
            state.start_losing(copy)
        };
        self.lost_from(copy, losing, error)?;
        Ok(true)
    }

    /// What is wrong with a copy from now on, or nothing.
    pub(crate) fn set_trouble(&self, copy: u8, trouble: Option<String>) {
        if let Some(known) = self.troubles.lock().get_mut(usize::from(copy)) {
            *known = trouble;
        }
    }

    /// What is wrong with each copy.
    pub(crate) fn troubles(&self) -> Vec<Option<String>> {
        self.troubles.lock().clone()
    }

    /// Tells everybody who waits that the kernel has stopped, if it has.
    pub(crate) fn wake_stopped(&self) {
        if let Err(stopped) = self.env.stop.check() {
            self.stop(&LogError::Stopped(stopped));
        }
    }

    /// Stops the kernel for good and tells everybody who waits.
    pub(crate) fn stop(&self, error: &LogError) -> LogError {
        let stopped = self.env.stop.stop(error.to_string());
        let state = self.flush_state.lock();
        self.writers.wake_all();
        self.ring_room.wake_all();
        self.wads.wake.notify_all();
        self.deliver(state);
        LogError::Stopped(stopped)
    }
}
