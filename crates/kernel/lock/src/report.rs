//! What operators see: counters, the share of time under latches, and who holds and waits.

use base::UowId;
use base::stats::Quantiles;

use crate::manager::{LATCH_SAMPLE, LockManager};
use crate::table::{Counts, NONE};
use crate::{LockName, Mode};

/// The lock manager's counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockStatistics {
    /// Locks held now.
    pub held: u64,
    /// Requests that wait now.
    pub waiting: u64,
    /// Locks granted so far, conversions and those of instant duration among them.
    pub acquired: u64,
    /// Requests that had to wait.
    pub waits: u64,
    /// Waits ended to break a deadlock.
    pub deadlocks: u64,
    /// Waits that took too long.
    pub timeouts: u64,
    /// Changes from locks on keys to a lock on their data set.
    pub escalations: u64,
    /// Owners dropped with locks held; zero in a healthy system.
    pub owners_abandoned: u64,
    /// How long waits took, in microseconds.
    pub wait_us: Quantiles,
    /// Time under the graph latch, which all waits share, in microseconds.
    pub graph_latch_us: u64,
    /// Time under the shards' latches together, in microseconds, estimated from one taking in
    /// 1,024.
    pub shard_latch_us: u64,
    /// How many shards share that time.
    pub shards: usize,
}

/// One holder or waiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldInfo {
    /// What is locked.
    pub name: LockName,
    /// The unit of work that holds it or waits for it.
    pub uow: UowId,
    /// The mode it holds, or wants.
    pub mode: Mode,
    /// Whether it waits.
    pub waiting: bool,
    /// The units of work it waits for, in order and each once.
    pub waits_for: Vec<UowId>,
}

impl LockManager {
    /// The counters now. Shards are read one after the other.
    #[must_use]
    pub fn statistics(&self) -> LockStatistics {
        let mut sum = Counts::default();
        for shard in 0..self.shards() {
            let counts = self.latch(shard).table.counts;
            sum.held += counts.held;
            sum.waiting += counts.waiting;
            sum.acquired += counts.acquired;
            sum.latch_ns += counts.latch_ns;
        }
        let totals = &self.totals;
        LockStatistics {
            held: sum.held,
            waiting: sum.waiting,
            acquired: sum.acquired,
            waits: totals.waits.get(),
            deadlocks: totals.deadlocks.get(),
            timeouts: totals.timeouts.get(),
            escalations: totals.escalations.get(),
            owners_abandoned: self.owners_abandoned(),
            wait_us: totals.wait_us.quantiles(),
            graph_latch_us: totals.graph_ns.get() / 1_000,
            shard_latch_us: sum.latch_ns * LATCH_SAMPLE / 1_000,
            shards: self.shards(),
        }
    }

    /// Who holds what and who waits for whom, by name, holders before waiters. Each shard is seen
    /// at one moment, different shards at different ones.
    #[must_use]
    pub fn print(&self) -> Vec<HeldInfo> {
        let mut all = Vec::new();
        for number in 0..self.shards() {
            let shard = self.latch(number);
            let mut entries = Vec::new();
            shard.table.entries(&mut entries);
            for entry in entries {
                let mut waits_for = Vec::new();
                if entry.waiting != NONE {
                    shard.table.blockers(entry.waiting, |other| {
                        waits_for.push(self.owners.slot(other).uow());
                        true
                    });
                    waits_for.sort_unstable();
                    waits_for.dedup();
                }
                let uow = self.owners.slot(entry.owner).uow();
                let (name, mode, waiting) = (entry.name, entry.mode, entry.waiting != NONE);
                all.push(HeldInfo { name, uow, mode, waiting, waits_for });
            }
        }
        all.sort_by_key(|info| (info.name, info.waiting));
        all
    }
}

impl std::fmt::Display for HeldInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.waiting {
            return write!(f, "{} held in {} by {}", self.name, self.mode, self.uow);
        }
        write!(f, "{} wanted in {} by {}, behind", self.name, self.mode, self.uow)?;
        self.waits_for.iter().try_for_each(|uow| write!(f, " {uow}"))
    }
}
