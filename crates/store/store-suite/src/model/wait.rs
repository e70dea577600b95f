//! Waiting in the model: for locks, with deadlock detection, and for the log.

use std::time::Duration;

use seam::sync::MutexGuard;

use super::Shared;
use super::locks::Request;
use super::state::{Queued, State};
use store::Wait;
use store::error::{Result, StoreError, Waited};

/// What one look at the state came to.
pub(super) enum Attempt<T> {
    /// The locks were free, have been taken, and what was to be done under them is done.
    Done(T),
    /// Somebody else holds this.
    Blocked(Request),
}

impl Shared {
    /// Repeats `attempt` under the mutex until it is done, waiting while it is blocked. A wait
    /// that would close a circle is resolved at once.
    pub(super) fn wait_until_done<T>(
        &self,
        unit: u64,
        wait: Wait,
        attempt: impl FnMut(&mut State) -> Result<Attempt<T>>,
    ) -> Result<std::result::Result<T, Waited>> {
        let mut state = self.state.lock();
        let answer = self.wait_under(&mut state, unit, wait, attempt);
        if let Some(unit) = state.units.get_mut(&unit)
            && unit.ticket.take().is_some()
        {
            unit.asked = None;
            // It stands in nobody's way any more, whether it was granted or gave up.
            self.changed.notify_all();
        }
        answer
    }

    fn wait_under<T>(
        &self,
        state: &mut MutexGuard<'_, State>,
        unit: u64,
        wait: Wait,
        mut attempt: impl FnMut(&mut State) -> Result<Attempt<T>>,
    ) -> Result<std::result::Result<T, Waited>> {
        let start = self.clock.monotonic();
        loop {
            self.check_alive(state, unit)?;
            let request = match attempt(state)? {
                Attempt::Done(answer) => return Ok(Ok(answer)),
                Attempt::Blocked(request) => request,
            };
            let waited = self.clock.monotonic().saturating_sub(start);
            let left = match wait {
                Wait::Forever => None,
                Wait::No => Some(Duration::ZERO),
                Wait::AtMost(most) => Some(most.saturating_sub(waited)),
            };
            if left.is_some_and(|left| left.is_zero()) {
                let holder = state.blockers(unit, &request, u64::MAX).next();
                let holder = holder.map(|holder| state.unit(holder).options.owner);
                return Ok(Err(Waited { what: request.to_string(), waited, holder }));
            }
            if state.wait_for(unit, request) {
                // Those who queued up behind what it asked for before may go on.
                self.changed.notify_all();
            }
            match state.deadlock_victim(unit) {
                Some(victim) => {
                    state.unit(victim).victim = true;
                    self.changed.notify_all();
                }
                None => match left {
                    None => self.changed.wait(state),
                    Some(left) => drop(self.changed.wait_for(state, left)),
                },
            }
            if let Some(unit) = state.units.get_mut(&unit) {
                unit.waiting = None;
            }
        }
    }

    fn check_alive(&self, state: &mut State, unit: u64) -> Result<()> {
        state.check_running()?;
        let unit = state.unit(unit);
        if unit.victim {
            return Err(StoreError::Deadlock);
        }
        let age = self.clock.monotonic().saturating_sub(unit.begun);
        match self.capabilities.unit_age_max {
            Some(most) if age > most => Err(StoreError::TooOld(most)),
            _ => Ok(()),
        }
    }

    /// Returns when the first `order` commits are durable.
    pub(super) fn wait_for(&self, order: u64) -> Result<()> {
        let mut state = self.state.lock();
        while state.durable < order {
            state.check_running()?;
            self.changed.wait(&mut state);
        }
        Ok(())
    }

    /// Tells the sinks of all queued commits that are durable, in order. Only one thread does so
    /// at a time; what is queued meanwhile is left to it.
    pub(super) fn settle(&self) {
        let mut state = self.state.lock();
        if state.settling {
            return;
        }
        state.settling = true;
        loop {
            let outcome = state.check_running();
            let durable = if outcome.is_ok() { state.durable } else { u64::MAX };
            let ready = state.queue.iter().take_while(|queued| queued.order <= durable).count();
            if ready == 0 {
                break;
            }
            let batch: Vec<Queued> = state.queue.drain(..ready).collect();
            drop(state);
            for queued in &batch {
                let outcome = outcome.clone().map(|()| super::committed(queued.order));
                queued.sink.settled(queued.token, outcome);
            }
            for pair in
                batch.chunk_by(|a, b| std::ptr::addr_eq(&raw const *a.sink, &raw const *b.sink))
            {
                pair[0].sink.batch_settled();
            }
            state = self.state.lock();
        }
        state.settling = false;
    }
}
