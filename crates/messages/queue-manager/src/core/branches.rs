//! The branches of a queue manager: who works in which, which are prepared, what becomes of them.
//!
//! 1. A branch is in the hands of one caller at a time: while it is being ended it is `Busy`.
//! 2. The latch over the branches is held across no call of the store.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use seam::sync::Mutex;
use store::{Cursor, KeyRange, Read, SetId, Store, StoreError, Unit, UnitOptions};

use super::{Client, Core, Work};
use crate::branch::{
    BranchError, BranchId, BranchState, BranchStatus, LISTED_MAX, Record, WorkEnd,
};
use crate::error::AdminError;
use crate::queue::Queue;
use crate::reason::Reason;

/// More branches at a time are not begun.
const BRANCHES_MAX: usize = 100_000;
/// Nor more of one user: no user keeps all others out.
const USER_BRANCHES_MAX: usize = BRANCHES_MAX / 2;

/// Where a branch stands.
enum Phase<S: Store> {
    /// A connection works in it.
    Active,
    /// It waits for its end, or goes on later.
    Idle { work: Work<S>, failed: bool, suspended: bool },
    /// It is prepared.
    Prepared { work: Work<S>, recovered: bool },
    /// An operator has decided.
    Decided { committed: bool },
    /// A call ends it at this moment.
    Busy,
}

struct Branch<S: Store> {
    /// The connection that has worked in it last.
    owner: u64,
    user: String,
    since_ms: u64,
    phase: Phase<S>,
}

/// The branches of a queue manager.
pub(crate) struct Branches<S: Store> {
    set: SetId,
    all: Mutex<BTreeMap<BranchId, Branch<S>>>,
}

impl<S: Store> Branches<S> {
    pub(crate) fn new(set: SetId) -> Branches<S> {
        Branches { set, all: Mutex::new(BTreeMap::new()) }
    }

    /// Removes a branch that has ended.
    fn remove(&self, branch: &BranchId) {
        self.all.lock().remove(branch);
    }

    /// A branch that could not be ended is as it was.
    fn put_back(&self, branch: &BranchId, phase: Phase<S>) {
        if let Some(known) = self.all.lock().get_mut(branch) {
            known.phase = phase;
        }
    }
}

/// Why a call on the store did not end a branch.
fn error_of(reason: Reason) -> BranchError {
    match reason {
        Reason::BACKED_OUT => BranchError::BackedOut,
        Reason::Q_MGR_STOPPING | Reason::OUTCOME_PENDING => BranchError::Stopping,
        _ => BranchError::Failed,
    }
}

type Result<T> = std::result::Result<T, BranchError>;

impl<S: Store> Core<S> {
    /// A new branch for a connection to work in.
    pub(crate) fn start_branch(&self, client: &Client, branch: &BranchId) -> Result<Work<S>> {
        let mut all = self.branches.all.lock();
        if all.contains_key(branch) {
            return Err(BranchError::Exists);
        }
        let (owner, user) = (client.number, client.options.user.clone());
        // Only when there are so many it has to be counted whose they are.
        let own = match all.len() {
            few if few < USER_BRANCHES_MAX => few,
            _ => all.values().filter(|known| known.user == user).count(),
        };
        if all.len() >= BRANCHES_MAX || own >= USER_BRANCHES_MAX {
            return Err(BranchError::Failed);
        }
        let new = Branch { owner, user, since_ms: self.now_ms(), phase: Phase::Active };
        all.insert(branch.clone(), new);
        Ok(Work::of_branch(self))
    }

    /// A branch that there is, for a connection to work in.
    pub(crate) fn join_branch(
        &self,
        client: &Client,
        branch: &BranchId,
        resumes: bool,
    ) -> Result<Work<S>> {
        let mut all = self.branches.all.lock();
        let known = all.get_mut(branch).ok_or(BranchError::Unknown)?;
        self.is_for(client, &known.user)?;
        match std::mem::replace(&mut known.phase, Phase::Active) {
            Phase::Idle { work, failed: false, suspended } if suspended == resumes => {
                known.owner = client.number;
                Ok(work)
            }
            other => {
                known.phase = other;
                Err(BranchError::Protocol)
            }
        }
    }

    /// A connection works in a branch no longer.
    pub(crate) fn end_work(&self, branch: &BranchId, work: Work<S>, how: WorkEnd) {
        let (failed, suspended) = (how == WorkEnd::Failed, how == WorkEnd::Suspended);
        self.branches.put_back(branch, Phase::Idle { work, failed, suspended });
    }

    /// A branch that is suspended is not gone on with.
    pub(crate) fn end_suspended(
        &self,
        client: &Client,
        branch: &BranchId,
        how: WorkEnd,
    ) -> Result<()> {
        let mut all = self.branches.all.lock();
        let known = all.get_mut(branch).ok_or(BranchError::Unknown)?;
        self.is_for(client, &known.user)?;
        match &mut known.phase {
            Phase::Idle { failed, suspended, .. } if *suspended && how != WorkEnd::Suspended => {
                *failed = how == WorkEnd::Failed;
                *suspended = false;
                Ok(())
            }
            _ => Err(BranchError::Protocol),
        }
    }

    /// Whether a connection may decide about the branches of a user.
    fn is_for(&self, client: &Client, user: &str) -> Result<()> {
        let own = &client.options.user;
        match own == user || self.is_administrator(own) {
            true => Ok(()),
            false => Err(BranchError::Unknown),
        }
    }

    /// Takes a branch in hand, if it is where `fits` says.
    fn take_branch(
        &self,
        client: &Client,
        branch: &BranchId,
        fits: impl Fn(&Phase<S>) -> bool,
    ) -> Result<(Phase<S>, String)> {
        let mut all = self.branches.all.lock();
        let known = all.get_mut(branch).ok_or(BranchError::Unknown)?;
        self.is_for(client, &known.user)?;
        match known.phase {
            Phase::Decided { committed: true } => return Err(BranchError::DecidedCommit),
            Phase::Decided { committed: false } => return Err(BranchError::DecidedBackOut),
            ref phase if !fits(phase) => return Err(BranchError::Protocol),
            _ => {}
        }
        Ok((std::mem::replace(&mut known.phase, Phase::Busy), known.user.clone()))
    }

    /// Prepares a branch; `false`: there is nothing to be decided, and it is over.
    pub(crate) fn prepare_branch(&self, client: &Client, branch: &BranchId) -> Result<bool> {
        let is_idle = |phase: &Phase<S>| matches!(phase, Phase::Idle { suspended: false, .. });
        let (phase, user) = self.take_branch(client, branch, is_idle)?;
        let Phase::Idle { mut work, failed, .. } = phase else { return Err(BranchError::Protocol) };
        if failed {
            work.back(self);
            self.branches.remove(branch);
            return Err(BranchError::BackedOut);
        }
        if work.is_idle() {
            self.branches.remove(branch);
            return Ok(false);
        }
        let since_ms = self.now_ms();
        let record = work.record(BranchState::Prepared, since_ms, &user).write();
        match work.prepare(self, (self.branches.set, &branch.key()), &record) {
            Ok(()) => {
                self.branches.put_back(branch, Phase::Prepared { work, recovered: false });
                Ok(true)
            }
            Err(failed) => {
                self.branches.remove(branch);
                Err(error_of(failed.0))
            }
        }
    }

    /// Commits a branch, or backs it out.
    pub(crate) fn end_branch(
        &self,
        client: &Client,
        branch: &BranchId,
        (commits, one_phase): (bool, bool),
    ) -> Result<()> {
        let fits = |phase: &Phase<S>| match phase {
            Phase::Idle { .. } => !commits || one_phase,
            Phase::Prepared { .. } => !one_phase,
            _ => false,
        };
        match self.take_branch(client, branch, fits)?.0 {
            Phase::Idle { mut work, failed, .. } => {
                let done = match commits && !failed {
                    true => work.commit(self).map_err(|failed| error_of(failed.0)),
                    false => {
                        work.back(self);
                        if commits { Err(BranchError::BackedOut) } else { Ok(()) }
                    }
                };
                self.branches.remove(branch);
                done
            }
            prepared => {
                let (set, key) = (self.branches.set, branch.key());
                self.decide(branch, prepared, commits, |unit| unit.delete(set, &key).map(drop))?;
                self.branches.remove(branch);
                Ok(())
            }
        }
    }

    /// Ends a prepared branch; it is as it was if that cannot be done.
    fn decide(
        &self,
        branch: &BranchId,
        phase: Phase<S>,
        commits: bool,
        record: impl FnOnce(&mut S::Unit) -> store::Result<()>,
    ) -> Result<()> {
        let Phase::Prepared { mut work, recovered } = phase else {
            self.branches.put_back(branch, phase);
            return Err(BranchError::Protocol);
        };
        let publishes = work.publishes();
        if let Err(error) = work.resolve(self, commits, record) {
            let stopped = matches!(error, StoreError::CommitUnknown(_) | StoreError::Stopped(_));
            self.branches.put_back(branch, Phase::Prepared { work, recovered });
            return Err(if stopped { BranchError::Stopping } else { BranchError::Failed });
        }
        if recovered && publishes {
            // What it would have replaced was not known as retained since the start.
            let _ = self.find_retained();
        }
        Ok(())
    }

    /// Decides about a prepared branch, as an operator; the transaction manager is told when it
    /// asks.
    pub(crate) fn decide_as_operator(&self, branch: &BranchId, commits: bool) -> Result<()> {
        let (phase, user) = {
            let mut all = self.branches.all.lock();
            let known = all.get_mut(branch).ok_or(BranchError::Unknown)?;
            if !matches!(known.phase, Phase::Prepared { .. }) {
                return Err(BranchError::Protocol);
            }
            (std::mem::replace(&mut known.phase, Phase::Busy), known.user.clone())
        };
        let state = match commits {
            true => BranchState::DecidedCommit,
            false => BranchState::DecidedBackOut,
        };
        let (puts, gets, retained) = (Vec::new(), Vec::new(), Vec::new());
        let since_ms = self.now_ms();
        let record = Record { state, since_ms, user, puts, gets, retained }.write();
        let (set, key) = (self.branches.set, branch.key());
        self.decide(branch, phase, commits, |unit| unit.put(set, &key, &record))?;
        self.branches.put_back(branch, Phase::Decided { committed: commits });
        Ok(())
    }

    /// The transaction manager knows what an operator has decided.
    pub(crate) fn forget_branch(&self, client: &Client, branch: &BranchId) -> Result<()> {
        let phase = {
            let mut all = self.branches.all.lock();
            let known = all.get_mut(branch).ok_or(BranchError::Unknown)?;
            self.is_for(client, &known.user)?;
            if !matches!(known.phase, Phase::Decided { .. }) {
                return Err(BranchError::Protocol);
            }
            std::mem::replace(&mut known.phase, Phase::Busy)
        };
        let forgotten = self.store.begin(UnitOptions::default()).and_then(|mut unit| {
            let _ = unit.delete(self.branches.set, &branch.key())?;
            unit.commit().map(drop)
        });
        match forgotten {
            Ok(()) => {
                self.branches.remove(branch);
                Ok(())
            }
            Err(_) => {
                self.branches.put_back(branch, phase);
                Err(BranchError::Failed)
            }
        }
    }

    /// The branches that a transaction manager has to decide about, or to forget: the first of
    /// them, or the first behind a branch.
    pub(crate) fn branches_in_doubt(
        &self,
        client: &Client,
        after: Option<&BranchId>,
    ) -> Vec<BranchId> {
        let all = self.branches.all.lock();
        let waits = |known: &Branch<S>| {
            matches!(known.phase, Phase::Prepared { .. } | Phase::Decided { .. })
                && self.is_for(client, &known.user).is_ok()
        };
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let found =
            all.range::<BranchId, _>((from, Bound::Unbounded)).filter(|(_, known)| waits(known));
        found.map(|(branch, _)| branch.clone()).take(LISTED_MAX).collect()
    }

    /// A connection has gone: what it has not prepared is backed out.
    pub(crate) fn leave_branches(&self, owner: u64) {
        let mut works = Vec::new();
        self.branches.all.lock().retain(|_, known| {
            if known.owner != owner {
                return true;
            }
            match std::mem::replace(&mut known.phase, Phase::Busy) {
                Phase::Active => false,
                Phase::Idle { work, .. } => {
                    works.push(work);
                    false
                }
                other => {
                    known.phase = other;
                    true
                }
            }
        });
        works.iter_mut().for_each(|work| work.back(self));
    }

    /// What displays show.
    pub(crate) fn branch_statuses(&self) -> Vec<BranchStatus> {
        let all = self.branches.all.lock();
        let shown = all.iter().map(|(branch, known)| {
            let (state, messages) = match &known.phase {
                Phase::Active | Phase::Busy => (BranchState::Active, 0),
                Phase::Idle { work, .. } => (BranchState::Idle, work.messages()),
                Phase::Prepared { work, .. } => (BranchState::Prepared, work.messages()),
                Phase::Decided { committed: true } => (BranchState::DecidedCommit, 0),
                Phase::Decided { committed: false } => (BranchState::DecidedBackOut, 0),
            };
            let (user, since_ms) = (known.user.clone(), known.since_ms);
            BranchStatus { branch: branch.clone(), state, user, since_ms, messages }
        });
        shown.collect()
    }

    /// Finds the branches that were prepared when the queue manager ended, and holds what is
    /// theirs.
    pub(super) fn recover_branches(&self) -> std::result::Result<(), AdminError> {
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = self.store.cursor(self.branches.set)?;
        let mut found = Vec::new();
        cursor.limit(KeyRange::ALL);
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let known = BranchId::of_key(entry.key).zip(Record::read(entry.value));
            let damaged = || AdminError::Damaged {
                object: format!("what is kept of branch {}", entry.key.escape_ascii()),
                what: "it was not written by this release".into(),
            };
            found.push(known.ok_or_else(damaged)?);
        }
        unit.backout()?;
        let queues: BTreeMap<u32, Arc<Queue>> = {
            let registry = self.definitions.registry();
            registry.queues().map(|queue| (queue.number, Arc::clone(queue))).collect()
        };
        let mut all = self.branches.all.lock();
        for (branch, record) in found {
            let phase = match record.state {
                BranchState::DecidedCommit => Phase::Decided { committed: true },
                BranchState::DecidedBackOut => Phase::Decided { committed: false },
                _ => Phase::Prepared {
                    work: Work::recovered(self, &record, &queues),
                    recovered: true,
                },
            };
            let (user, since_ms) = (record.user, record.since_ms);
            all.insert(branch, Branch { owner: 0, user, since_ms, phase });
        }
        Ok(())
    }
}
