//! The lock manager: what callers ask for, and the path that needs no wait.
//!
//! Order of latches, each only within the one before it: the graph latch (blocking path only), a
//! shard's latch, an owner's parking mutex. No two shards are latched at once, none of these is
//! held while a thread sleeps, and nobody is woken under a shard's latch.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::stats::{Counter, Histogram};
use base::{DataSetId, UowId};
use seam::clock::Clock;
use seam::stop::Stopped;
use seam::sync::{Mutex, MutexGuard};

use crate::error::Limit;
use crate::graph::Graph;
use crate::owner::{Outcome, Owner, Owners};
use crate::table::{Ask, Grant, NONE, Table};
use crate::{LockError, LockName, Mode};

/// How many locks there may be and how waits end.
#[derive(Clone, Debug)]
pub struct LockConfig {
    /// Locks of all units of work together (K23); about [`BYTES_PER_LOCK`] each.
    pub locks_max: usize,
    /// Locks of one unit of work; past it the request is refused or the caller escalates.
    pub locks_per_owner_max: usize,
    /// How long [`Wait::Yes`] waits; forever without it (deadlocks are found at once anyway).
    pub timeout: Option<Duration>,
    /// Parts of the table with a latch of their own; rounded up to a power of two, 256 at most.
    pub shards: usize,
}

impl Default for LockConfig {
    fn default() -> LockConfig {
        LockConfig { locks_max: 1 << 20, locks_per_owner_max: 100_000, timeout: None, shards: 8 }
    }
}

/// Memory that one lock takes: its head, its request, its bucket and its owner's entry.
pub const BYTES_PER_LOCK: usize = 64 + 28 + 4 + 32 + 16;

/// Whether a request that cannot be granted at once waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It is refused with [`LockError::WouldBlock`].
    No,
    /// It waits, at most for the configured timeout.
    Yes,
    /// It waits at most this long.
    AtMost(Duration),
}

/// How a lock was acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// The owner did not hold it before.
    New,
    /// The owner held it in a mode that covers the request; nothing changed.
    AlreadyHeld,
    /// The owner held it in a weaker mode.
    Converted,
}

/// A moment in the life of an owner, to let go of the locks taken since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u32);

/// The lock manager of a system.
pub struct LockManager {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: LockConfig,
    pub(crate) owners: Arc<Owners>,
    shards: Box<[Shard]>,
    shard_shift: u32,
    pub(crate) graph: Mutex<Graph>,
    pub(crate) stopped: OnceLock<Stopped>,
    pub(crate) totals: Totals,
}

/// On cache lines of its own, so that two shards' latches do not share one.
#[repr(align(128))]
struct Shard(Mutex<Table>);

/// What happened on the blocking path.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) waits: Counter,
    pub(crate) deadlocks: Counter,
    pub(crate) timeouts: Counter,
    pub(crate) escalations: Counter,
    pub(crate) graph_ns: Counter,
    pub(crate) wait_us: Histogram,
}

/// One taking of a shard's latch in so many is timed.
pub(crate) const LATCH_SAMPLE: u64 = 1_024;

/// A latched shard.
pub(crate) struct Latched<'a> {
    pub(crate) table: MutexGuard<'a, Table>,
    since: Option<Duration>,
    clock: &'a dyn Clock,
}

impl LockManager {
    /// A lock manager that nobody uses yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, config: LockConfig) -> LockManager {
        let shards = config.shards.clamp(1, 256).next_power_of_two();
        let locks_per_shard = config.locks_max / shards;
        let owners = Arc::new(Owners::new(config.locks_max));
        LockManager {
            clock,
            config,
            owners,
            shards: (0..shards).map(|_| Shard(Mutex::new(Table::new(locks_per_shard)))).collect(),
            shard_shift: 64 - shards.ilog2(),
            graph: Mutex::default(),
            stopped: OnceLock::new(),
            totals: Totals::default(),
        }
    }

    /// The owner that stands for a unit of work. `times_chosen` is what
    /// [`Owner::times_chosen`] said when the same work was last backed out; zero at first.
    #[must_use]
    pub fn owner(&self, uow: UowId, times_chosen: u32) -> Owner {
        self.owners.take(uow, times_chosen)
    }

    /// Locks `name` in `mode`, or in the weakest mode that covers both `mode` and what the owner
    /// holds already. A conversion stands before new requests; these are served in the order of
    /// their arrival.
    ///
    /// # Errors
    /// See [`LockError`]. After `Deadlock` the unit of work must be backed out and its locks
    /// released; after any other error it may go on with what it holds.
    #[inline]
    pub fn acquire(
        &self,
        owner: &mut Owner,
        name: LockName,
        mode: Mode,
        wait: Wait,
    ) -> Result<Acquired, LockError> {
        self.acquire_within(owner, name, mode, wait, self.config.locks_per_owner_max)
    }

    fn acquire_within(
        &self,
        owner: &mut Owner,
        name: LockName,
        mode: Mode,
        wait: Wait,
        locks_max: usize,
    ) -> Result<Acquired, LockError> {
        if let Some(place) = owner.held.find(name) {
            return self.convert(owner, place, mode, wait);
        }
        if owner.held.len() >= locks_max {
            return Err(refuse(owner, name, Limit::PerOwner, locks_max));
        }
        if !self.owners.draw(&mut owner.credits) {
            return Err(refuse(owner, name, Limit::Total, self.config.locks_max));
        }
        let ask = Ask { name, owner: owner.slot, held: NONE, mode, instant: false };
        let granted = self.shard(name).table.try_grant(ask);
        let request = match granted {
            Some(request) => request,
            None => match self.wait_for(owner, ask, wait) {
                Ok(request) => request,
                Err(error) => {
                    self.owners.refund(&mut owner.credits, 1);
                    return Err(error);
                }
            },
        };
        owner.held.add(name, request, mode);
        Ok(Acquired::New)
    }

    fn convert(
        &self,
        owner: &mut Owner,
        place: usize,
        mode: Mode,
        wait: Wait,
    ) -> Result<Acquired, LockError> {
        let held = *owner.held.at(place);
        if held.mode.covers(mode) {
            return Ok(Acquired::AlreadyHeld);
        }
        let mode = held.mode.join(mode);
        let (name, held) = (held.name, held.request);
        let ask = Ask { name, owner: owner.slot, held, mode, instant: false };
        let granted = self.try_grant(&mut self.shard(name), ask);
        if granted.is_none() {
            self.wait_for(owner, ask, wait)?;
        }
        owner.held.at(place).mode = mode;
        Ok(Acquired::Converted)
    }

    /// Waits until `name` could be granted in `mode` and does not keep it: what an insert or a
    /// delete asks of the next key (K14). What the owner holds stays as it is.
    ///
    /// # Errors
    /// As [`LockManager::acquire`]; it uses no budget.
    pub fn acquire_instant(
        &self,
        owner: &mut Owner,
        name: LockName,
        mode: Mode,
        wait: Wait,
    ) -> Result<(), LockError> {
        let (held, mode) = match owner.held.find(name) {
            None => (NONE, mode),
            Some(place) => {
                let held = owner.held.at(place);
                if held.mode.covers(mode) {
                    return Ok(());
                }
                (held.request, held.mode.join(mode))
            }
        };
        let ask = Ask { name, owner: owner.slot, held, mode, instant: true };
        let granted = self.shard(name).table.try_grant(ask);
        if granted.is_none() {
            self.wait_for(owner, ask, wait)?;
        }
        Ok(())
    }

    /// Gives one lock back before the end of the unit of work (H1). `false` if it is not held.
    /// Give back only what [`Acquired::New`] was said for: two keys may share a lock.
    pub fn release(&self, owner: &mut Owner, name: LockName) -> bool {
        let Some(place) = owner.held.find(name) else { return false };
        self.release_at(owner, place);
        true
    }

    /// Weakens a lock that the owner holds to `mode`.
    ///
    /// # Errors
    /// `NotHeld` if the owner does not hold it in a mode that covers `mode`.
    pub fn downgrade(
        &self,
        owner: &mut Owner,
        name: LockName,
        mode: Mode,
    ) -> Result<(), LockError> {
        let place = owner.held.find(name).filter(|place| owner.held.at(*place).mode.covers(mode));
        let Some(place) = place else {
            return Err(LockError::NotHeld { object: name, mode, uow: owner.uow });
        };
        let held = owner.held.at(place);
        held.mode = mode;
        let request = held.request;
        self.granting(name, |table, grants| table.weaken(request, mode, grants));
        Ok(())
    }

    /// Gives all locks back: after the commit record was appended (K2), or after backout's end.
    pub fn release_all(&self, owner: &mut Owner) {
        self.release_since(owner, Mark(0));
    }

    /// The present moment, for [`LockManager::release_since`].
    #[must_use]
    pub fn mark(&self, owner: &Owner) -> Mark {
        Mark(owner.held.mark())
    }

    /// Gives back the locks taken since `mark`: after a partial backout has undone what they
    /// protected. Those that were only converted since keep their stronger mode.
    pub fn release_since(&self, owner: &mut Owner, mark: Mark) {
        if mark == Mark(0) {
            let mut held = std::mem::take(&mut owner.held);
            self.release_entries(&held);
            self.owners.refund(&mut owner.credits, held.len());
            held.clear();
            owner.held = held;
            owner.slot().blocks_nobody();
            return;
        }
        for place in (0..owner.held.len()).rev() {
            if owner.held.at(place).sequence >= mark.0 {
                self.release_at(owner, place);
            }
        }
    }

    /// Whether the owner holds `name` in a mode that covers `mode`.
    #[inline]
    #[must_use]
    pub fn holds(&self, owner: &Owner, name: LockName, mode: Mode) -> bool {
        owner.mode_of(name).is_some_and(|held| held.covers(mode))
    }

    /// Locks the whole data set in `mode` and gives back the locks on its keys which that speaks
    /// for: the way on when a unit of work has reached `locks_per_owner_max`. Returns how many
    /// locks that freed.
    ///
    /// # Errors
    /// As [`LockManager::acquire`]; the budget of one owner does not count.
    pub fn escalate(
        &self,
        owner: &mut Owner,
        set: DataSetId,
        mode: Mode,
        wait: Wait,
    ) -> Result<usize, LockError> {
        self.escalate_parts(owner, set, mode, wait, |name| name.is_part_of(set))
    }

    /// The same where a caller's names, all those of one space, stand for parts of the data set:
    /// whoever locks one of them has the data set locked with the same intent.
    ///
    /// # Errors
    /// As for [`LockManager::escalate`].
    pub fn escalate_names(
        &self,
        owner: &mut Owner,
        set: DataSetId,
        space: u32,
        mode: Mode,
        wait: Wait,
    ) -> Result<usize, LockError> {
        let space = LockName::user(space, 0).space;
        self.escalate_parts(owner, set, mode, wait, |name| name.space == space)
    }

    fn escalate_parts(
        &self,
        owner: &mut Owner,
        set: DataSetId,
        mode: Mode,
        wait: Wait,
        is_part: impl Fn(LockName) -> bool,
    ) -> Result<usize, LockError> {
        let name = LockName::set(set);
        self.acquire_within(owner, name, mode, wait, usize::MAX)?;
        self.totals.escalations.one();
        let whole = owner.mode_of(name).and_then(Mode::on_parts);
        let Some(whole) = whole else { return Ok(0) };
        let before = owner.held.len();
        for place in (0..before).rev() {
            let held = *owner.held.at(place);
            if is_part(held.name) && whole.covers(held.mode) {
                self.release_at(owner, place);
            }
        }
        Ok(before - owner.held.len())
    }

    fn release_at(&self, owner: &mut Owner, place: usize) {
        let held = owner.held.remove(place);
        self.granting(held.name, |table, grants| table.release(held.request, grants));
        self.owners.refund(&mut owner.credits, 1);
    }

    /// Releases many, keeping a shard latched over neighbours of one shard.
    fn release_entries(&self, held: &crate::held_locks::HeldLocks) {
        let mut grants = Vec::new();
        let mut entries = held.entries().iter().peekable();
        while let Some(first) = entries.next() {
            let mut shard = self.shard(first.name);
            shard.table.release(first.request, &mut grants);
            let number = self.shard_of(first.name);
            let mut run = 1;
            while let Some(next) = entries.peek()
                && run < RUN_MAX
                && self.shard_of(next.name) == number
            {
                shard.table.release(next.request, &mut grants);
                entries.next();
                run += 1;
            }
            self.tell(shard, &mut grants);
        }
    }

    /// Runs `change` on the shard of `name`, then tells those whose wait it ended.
    #[inline]
    fn granting(&self, name: LockName, change: impl FnOnce(&mut Table, &mut Vec<Grant>)) {
        let mut grants = Vec::new();
        let mut shard = self.shard(name);
        change(&mut shard.table, &mut grants);
        self.tell(shard, &mut grants);
    }

    /// Grants at once if nobody stands against it. A lock that became stronger may now stand
    /// against some who waited already.
    #[inline]
    pub(crate) fn try_grant(&self, shard: &mut Latched<'_>, ask: Ask) -> Option<u32> {
        let request = shard.table.try_grant(ask)?;
        if ask.held != NONE && shard.table.is_waited_for(ask.held) {
            self.owners.slot(ask.owner).blocks_others();
        }
        Some(request)
    }

    /// Notes the grants under the shard's latch and wakes their owners without it.
    #[inline]
    pub(crate) fn tell(&self, shard: Latched<'_>, grants: &mut Vec<Grant>) {
        for grant in grants.iter() {
            self.owners.slot(grant.owner).end_wait(Outcome::Granted(grant.request));
        }
        drop(shard);
        for grant in grants.drain(..) {
            self.owners.slot(grant.owner).wake();
        }
    }

    #[inline]
    pub(crate) fn shard_of(&self, name: LockName) -> usize {
        name.mixed().checked_shr(self.shard_shift).unwrap_or(0) as usize
    }

    #[inline]
    pub(crate) fn shard(&self, name: LockName) -> Latched<'_> {
        self.latch(self.shard_of(name))
    }

    /// Latches a shard, and notes the time once in a while.
    #[inline]
    pub(crate) fn latch(&self, shard: usize) -> Latched<'_> {
        let mut table = self.shards[shard].0.lock();
        table.counts.latched += 1;
        let timed = table.counts.latched.is_multiple_of(LATCH_SAMPLE);
        let clock = &*self.clock;
        Latched { table, since: timed.then(|| clock.monotonic()), clock }
    }

    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Owners that were dropped with locks held, which stay locked: a caller's mistake, or a
    /// thread that died. Zero in a healthy system.
    #[must_use]
    pub fn owners_abandoned(&self) -> u64 {
        self.owners.abandoned.load(Relaxed)
    }

    /// Checks every invariant of the table.
    ///
    /// # Panics
    /// If one is broken. For tests; it latches one shard after the other.
    pub fn check(&self) {
        (0..self.shards()).for_each(|shard| self.latch(shard).table.check());
    }
}

/// How many locks are released under one latching.
const RUN_MAX: usize = 64;

impl Drop for Latched<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(since) = self.since {
            let time = self.clock.monotonic().saturating_sub(since);
            self.table.counts.latch_ns += time.as_nanos() as u64;
        }
    }
}

#[cold]
fn refuse(owner: &Owner, object: LockName, limit: Limit, max: usize) -> LockError {
    LockError::Budget { limit, max, object, uow: owner.uow }
}
