//! The blocking path: joining a queue, sleeping, and every way in which a wait ends.
//!
//! Invariants:
//! 1. A request joins a queue, and leaves one other than by a grant, only under the graph latch.
//!    So while that is held nobody new waits and no wait is given up, and a cycle found is real.
//! 2. A wait ends exactly once: under the latch of the shard where the request stands, whoever
//!    ends it sets the outcome, and everybody else finds that it is no longer waiting.

use std::time::Duration;

use seam::stop::Stopped;

use crate::LockError;
use crate::graph::Graph;
use crate::manager::{LockManager, Wait};
use crate::owner::{Outcome, Owner};
use crate::table::{Ask, NONE};

impl LockManager {
    /// Waits for what `ask` was refused. Returns the holder's request.
    #[cold]
    pub(crate) fn wait_for(&self, owner: &Owner, ask: Ask, wait: Wait) -> Result<u32, LockError> {
        let limit = match wait {
            Wait::No => return self.refuse_to_wait(ask),
            Wait::Yes => self.config.timeout,
            Wait::AtMost(time) => Some(time),
        };
        let start = self.clock.monotonic();
        if let Some(request) = self.join_queue(owner, ask)? {
            return Ok(request);
        }
        let slot = owner.slot();
        let outcome = match slot.sleep(&*self.clock, limit.map(|limit| start + limit)) {
            Some(outcome) => outcome,
            None => match self.give_up(owner) {
                Ok(outcome) => outcome,
                Err(holder) => {
                    self.totals.timeouts.one();
                    let waited = self.waited_since(start);
                    let holder =
                        holder.map_or(base::UowId::NONE, |slot| self.owners.slot(slot).uow());
                    let (object, mode, waiter) = (ask.name, ask.mode, owner.uow);
                    return Err(LockError::Timeout { object, mode, waiter, holder, waited });
                }
            },
        };
        self.waited_since(start);
        match outcome {
            Outcome::Granted(request) => Ok(request),
            Outcome::Deadlock(cycle) => {
                Err(LockError::Deadlock { object: ask.name, victim: owner.uow, cycle })
            }
            Outcome::Stopped(stopped) => Err(LockError::Stopped(stopped)),
            Outcome::Idle | Outcome::Waiting => unreachable!("a wait ended without an outcome"),
        }
    }

    fn waited_since(&self, start: Duration) -> Duration {
        let waited = self.clock.monotonic().saturating_sub(start);
        self.totals.wait_us.record(waited.as_micros() as u64);
        waited
    }

    /// The request could not be granted a moment ago: grants it after all, or says who is before.
    fn refuse_to_wait(&self, ask: Ask) -> Result<u32, LockError> {
        let mut shard = self.shard(ask.name);
        if let Some(request) = self.try_grant(&mut shard, ask) {
            return Ok(request);
        }
        let holder = shard.table.some_blocker(ask);
        drop(shard);
        let holder = holder.map_or(base::UowId::NONE, |slot| self.owners.slot(slot).uow());
        Err(LockError::WouldBlock { object: ask.name, mode: ask.mode, holder })
    }

    /// Puts the request into its queue and breaks every cycle that this closes. `Some` if it was
    /// granted after all.
    fn join_queue(&self, owner: &Owner, ask: Ask) -> Result<Option<u32>, LockError> {
        let mut graph = self.graph.lock();
        let latched = self.clock.monotonic();
        let joined = self.join_queue_latched(&mut graph, owner, ask);
        let held = self.clock.monotonic().saturating_sub(latched);
        self.totals.graph_ns.add(held.as_nanos() as u64);
        joined
    }

    fn join_queue_latched(
        &self,
        graph: &mut Graph,
        owner: &Owner,
        ask: Ask,
    ) -> Result<Option<u32>, LockError> {
        if let Some(stopped) = self.stopped.get() {
            return Err(LockError::Stopped(stopped.clone()));
        }
        let mut shard = self.shard(ask.name);
        if let Some(request) = self.try_grant(&mut shard, ask) {
            return Ok(Some(request));
        }
        let request = shard.table.enqueue(ask);
        shard.table.blockers(request, |other| {
            self.owners.slot(other).blocks_others();
            true
        });
        if ask.held != NONE {
            // It stands before new requests that came earlier, and once it is granted perhaps
            // before conversions that did not have to wait for it until then.
            owner.slot().blocks_others();
        }
        {
            let mut parking = owner.slot().parking();
            assert!(matches!(parking.outcome, Outcome::Idle), "an owner waits twice");
            parking.outcome = Outcome::Waiting;
            (parking.shard, parking.request) = (self.shard_of(ask.name), request);
        }
        drop(shard);
        self.totals.waits.one();
        self.break_cycles(graph, owner.slot);
        Ok(None)
    }

    /// Ends the wait of `slot` with `outcome`, if it still waits; its neighbours in the queue may
    /// then go on. The caller holds the graph latch.
    pub(crate) fn end_wait(&self, _: &mut Graph, slot: u32, outcome: Outcome) -> bool {
        let Some((number, request)) = self.waits_at(slot) else { return false };
        let mut shard = self.latch(number);
        if !shard.table.is_waiting(request, slot) {
            return false;
        }
        let mut grants = Vec::new();
        shard.table.cancel(request, &mut grants);
        self.owners.slot(slot).end_wait(outcome);
        self.tell(shard, &mut grants);
        self.owners.slot(slot).wake();
        true
    }

    /// Where `slot` waits; it may have been granted by now.
    pub(crate) fn waits_at(&self, slot: u32) -> Option<(usize, u32)> {
        let parking = self.owners.slot(slot).parking();
        matches!(parking.outcome, Outcome::Waiting).then_some((parking.shard, parking.request))
    }

    /// The time is over: leaves the queue and names one who stood before, unless the wait ended
    /// otherwise at the last moment.
    fn give_up(&self, owner: &Owner) -> Result<Outcome, Option<u32>> {
        let slot = owner.slot();
        let graph = self.graph.lock();
        let Some((number, request)) = self.waits_at(owner.slot) else {
            return Ok(std::mem::take(&mut slot.parking().outcome));
        };
        let mut shard = self.latch(number);
        if !shard.table.is_waiting(request, owner.slot) {
            drop(shard);
            return Ok(std::mem::take(&mut slot.parking().outcome));
        }
        let mut holder = None;
        shard.table.blockers(request, |other| {
            holder = Some(other);
            false
        });
        let mut grants = Vec::new();
        shard.table.cancel(request, &mut grants);
        slot.parking().outcome = Outcome::Idle;
        self.tell(shard, &mut grants);
        drop(graph);
        Err(holder)
    }

    /// Ends every wait with `stopped`, and every later one before it begins.
    pub fn wake_all_stopped(&self, stopped: &Stopped) {
        let mut graph = self.graph.lock();
        let first = self.stopped.get_or_init(|| stopped.clone()).clone();
        for slot in 0..self.owners.slots() {
            self.end_wait(&mut graph, slot, Outcome::Stopped(first.clone()));
        }
    }
}
