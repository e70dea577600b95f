//! Deadlocks: the search for a cycle of waits, and who has to give way.
//!
//! The search runs when a request joins a queue, under the graph latch. Every cycle that this
//! closes goes through the new request, because all edges it adds begin or end there. Granting,
//! releasing and starting anew never close one: the owner that does so is running.
//!
//! Most waits close none: the owner holds nothing that anybody waits for. Each slot has a flag for
//! that, set for everybody who stands before a request when it joins a queue, and for whoever asks
//! for a stronger mode while others wait; cleared when all locks are given back. Only with the flag
//! is there a search, so a crowd before one name costs no more than a walk along its queue.
//!
//! Invariants:
//! 1. When the graph latch is free there is no cycle of waits.
//! 2. A cycle found is real. Its members wait, so they let go of nothing, and the graph latch
//!    keeps them from giving up.
//! 3. Whoever is waited for has the flag. It may be set for longer than that.
//! 4. The victim is the member with the least log among those that were chosen less than
//!    [`CHOSEN_MAX`] times in a row, or among all if there is no such member (K14).

use std::sync::atomic::Ordering::Relaxed;

use base::UowId;

use crate::graph::Graph;
use crate::manager::LockManager;
use crate::owner::Outcome;
use crate::table::NONE;

/// Chosen so often in a row, an owner is chosen again only if everybody in the cycle was.
const CHOSEN_MAX: u32 = 2;

impl LockManager {
    /// Ends waits until no cycle goes through `slot`.
    pub(crate) fn break_cycles(&self, graph: &mut Graph, slot: u32) {
        if !self.owners.slot(slot).may_block() {
            debug_assert!(!self.find_cycle(graph, slot), "a wait for an owner was not noted");
            return;
        }
        while self.find_cycle(graph, slot) {
            let cycle = std::mem::take(&mut graph.cycle);
            let victim = self.victim(&cycle);
            let named: Vec<UowId> = cycle.iter().map(|at| self.owners.slot(*at).uow()).collect();
            self.owners.slot(victim).times_chosen.fetch_add(1, Relaxed);
            self.totals.deadlocks.one();
            let ended = self.end_wait(graph, victim, Outcome::Deadlock(named));
            assert!(ended, "the victim of a deadlock does not wait");
            graph.cycle = cycle;
            if victim == slot {
                break;
            }
        }
    }

    /// Searches breadth first, so that the shortest cycle is found and nobody is chosen who only
    /// stands in the same queue. Leaves the cycle in `graph.cycle`, `start` first.
    fn find_cycle(&self, graph: &mut Graph, start: u32) -> bool {
        graph.search += 1;
        graph.queue.clear();
        graph.queue.push(start);
        let mut next = 0;
        while let Some(slot) = graph.queue.get(next).copied() {
            next += 1;
            if self.reach_blockers(graph, slot, start) {
                graph.cycle.clear();
                let mut at = slot;
                while at != start {
                    graph.cycle.push(at);
                    at = graph.reached[at as usize].1;
                }
                graph.cycle.push(start);
                graph.cycle.reverse();
                return true;
            }
        }
        false
    }

    /// Adds to the queue everybody `slot` waits for. `true` if `start` is among them.
    fn reach_blockers(&self, graph: &mut Graph, slot: u32, start: u32) -> bool {
        let Some((number, request)) = self.waits_at(slot) else { return false };
        let first = if slot == start { None } else { self.waits_at(start) };
        let shard = self.latch(number);
        if !shard.table.is_waiting(request, slot) {
            return false;
        }
        if let Some((first_number, first)) = first
            && first_number == number
            && shard.table.is_waiting(first, start)
            && shard.table.subsumes(first, request)
        {
            return false;
        }
        let mut closed = false;
        shard.table.blockers(request, |other| {
            closed = other == start;
            if other as usize >= graph.reached.len() {
                // An owner that came after the search began, and was granted something.
                graph.reached.resize(other as usize + 1, (0, NONE));
            }
            let seen = &mut graph.reached[other as usize];
            if !closed && seen.0 != graph.search {
                *seen = (graph.search, slot);
                graph.queue.push(other);
            }
            !closed
        });
        closed
    }

    fn victim(&self, cycle: &[u32]) -> u32 {
        let rank = |slot: u32| {
            let owner = self.owners.slot(slot);
            let immune = owner.times_chosen.load(Relaxed) >= CHOSEN_MAX;
            // Among equals the youngest gives way: it has done the least.
            (immune, owner.weight.load(Relaxed), std::cmp::Reverse(owner.uow()))
        };
        let victim = cycle.iter().copied().min_by_key(|slot| rank(*slot));
        victim.expect("a cycle has members")
    }
}
