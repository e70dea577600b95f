//! A unit of work's calls.

use std::sync::Arc;

use base::UowId;
use lock::{Acquired, LockError, Mode};
use store::{
    CommitOrder, CommitSink, Committed, Cover, Cursor as _, Entry, Grant, KeyRange, Limit,
    LockMode, Outcome, Position, Read, Result, Savepoint, SetId, StoreError, Unit, UnitOptions,
    Wait,
};
use uow::{Uow, UowError};
use wal::DurableSink;

use crate::commit;
use crate::cursor::KernelCursor;
use crate::error::{StoreOrUow, of_stopped, of_uow};
use crate::locks::{name_of, named_mode, store_mode, wait_of};
use crate::shared::Shared;
use crate::work::{Used, UsedSets, Work};

/// A unit of work of the kernel's store.
pub struct KernelUnit {
    used: UsedSets,
    work: Work,
    read_only: bool,
    savepoints: Vec<uow::Savepoint>,
    failure: Option<StoreError>,
}

/// A name that a caller wants to lock.
#[derive(Clone, Copy)]
struct LockRequest<'n> {
    name: store::LockName<'n>,
    mode: Mode,
    wait: lock::Wait,
    /// The unit of work reads only, so that a shared lock on the whole set may take its place.
    read_only: bool,
}

/// Locks a name that stands for a part of a set whose locking is the caller's: with the set's own
/// lock above it, which is taken in its place when there are too many (K23). A unit of work that
/// then wants a name waits for that one, and it waits for all who have any.
fn lock_part(
    work: &mut Work,
    used: &mut Used,
    request: LockRequest<'_>,
) -> std::result::Result<Acquired, StoreOrUow> {
    let LockRequest { name, mode, wait, read_only } = request;
    // A unit of work that means to change says so when it does.
    let reads = Mode::Update.covers(mode);
    work.intend_within(used, if reads { Mode::IntentShared } else { mode.intent() }, wait)?;
    if used.covers(mode) {
        return Ok(Acquired::AlreadyHeld);
    }
    match work.uow.lock(name_of(name), mode, wait) {
        Err(UowError::Lock(LockError::Budget { .. })) => {
            let shares = read_only && Mode::Shared.covers(mode);
            let whole = if shares { Mode::Shared } else { Mode::Exclusive };
            work.escalate_names(used, name.space, whole, wait)?;
            Ok(Acquired::New)
        }
        locked => locked.map_err(StoreOrUow::Uow),
    }
}

/// Names to lock are hashed; longer ones are hardly meant.
pub(crate) const LOCK_NAME_BYTES_MAX: usize = 1 << 16;

impl KernelUnit {
    pub(crate) fn new(shared: Arc<Shared>, uow: Uow, options: UnitOptions) -> KernelUnit {
        KernelUnit {
            used: UsedSets::default(),
            work: Work::new(shared, uow, wait_of(options.wait)),
            read_only: options.read_only,
            savepoints: Vec::new(),
            failure: None,
        }
    }

    /// The unit of work beneath.
    #[must_use]
    pub fn uow(&self) -> &Uow {
        &self.work.uow
    }

    /// Remembers an error that dooms the unit of work; names who stood in the way.
    #[cold]
    fn note(&mut self, mut error: StoreError) -> StoreError {
        if let StoreError::Timeout(waited) = &mut error {
            let owners = &self.work.shared.owners;
            waited.holder = waited.holder.and_then(|uow| owners.of(UowId(uow)));
        }
        if error.dooms_unit() && self.failure.is_none() {
            self.failure = Some(error.clone());
        }
        error
    }

    #[inline]
    fn check(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    /// Runs a call on a set. If it takes more locks than a unit of work may hold, the set is locked
    /// as a whole and the call repeated.
    #[inline]
    fn on_set<T>(
        &mut self,
        set: SetId,
        mut call: impl FnMut(&mut Work, &mut Used) -> Result<T>,
    ) -> Result<T> {
        self.check()?;
        let called = match self.used.of(set, &self.work.shared) {
            Ok(used) => call(&mut self.work, used),
            Err(error) => Err(error),
        };
        match called {
            Ok(answer) => Ok(answer),
            Err(error) => self.on_whole_set(set, error, call),
        }
    }

    /// The same for a call that changes something.
    #[inline]
    fn on_set_to_change<T>(
        &mut self,
        set: SetId,
        call: impl FnMut(&mut Work, &mut Used) -> Result<T>,
    ) -> Result<T> {
        if self.read_only {
            self.check()?;
            return Err(StoreError::ReadOnly);
        }
        self.on_set(set, call)
    }

    #[cold]
    fn on_whole_set<T>(
        &mut self,
        set: SetId,
        error: StoreError,
        mut call: impl FnMut(&mut Work, &mut Used) -> Result<T>,
    ) -> Result<T> {
        let too_many =
            matches!(&error, StoreError::TooLarge(excess) if excess.limit == Limit::UnitLocks);
        if !too_many {
            return Err(self.note(error));
        }
        let mode = if self.read_only { Mode::Shared } else { Mode::Exclusive };
        let Work { shared, .. } = &self.work;
        let shared = Arc::clone(shared);
        let called = self.used.of(set, &shared).and_then(|used| {
            self.work.escalate(used, mode)?;
            call(&mut self.work, used)
        });
        called.map_err(|error| self.note(error))
    }
}

impl Unit for KernelUnit {
    type Cursor = KernelCursor;

    fn get(&mut self, set: SetId, key: &[u8], read: Read, value: &mut Vec<u8>) -> Result<bool> {
        self.on_set(set, |work, used| work.get(used, key, read, value))
    }

    #[inline]
    fn prefetch(&self, set: SetId, key: &[u8]) {
        if let Some(handle) = self.used.known(set) {
            handle.data.prefetch(key);
        }
    }

    fn insert(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        self.on_set_to_change(set, |work, used| work.insert(used, key, value))
    }

    fn insert_beside(
        &mut self,
        cursor: &mut KernelCursor,
        key: &[u8],
        value: &[u8],
        prefix: usize,
    ) -> Result<(Outcome, bool)> {
        let set = cursor.handle.id;
        let (outcome, beside) =
            self.on_set_to_change(set, |work, used| work.insert_beside(used, key, value, prefix))?;
        if let (Outcome::Done, None) = (outcome, beside) {
            cursor.seek(Position::Before(key));
            let before = self.previous(cursor, Read::Unlocked)?;
            let prefix = key.get(..prefix).unwrap_or(key);
            return Ok((outcome, before.is_some_and(|before| before.key.starts_with(prefix))));
        }
        Ok((outcome, beside == Some(true)))
    }

    fn replace(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        self.on_set_to_change(set, |work, used| work.replace(used, key, value))
    }

    fn put(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<()> {
        self.on_set_to_change(set, |work, used| work.put(used, key, value))
    }

    fn delete(&mut self, set: SetId, key: &[u8]) -> Result<Outcome> {
        self.on_set_to_change(set, |work, used| work.delete(used, key, None))
    }

    fn delete_equal(
        &mut self,
        set: SetId,
        key: &[u8],
        value: &[u8],
        buffer: &mut Vec<u8>,
    ) -> Result<Outcome> {
        let deleted = self.on_set_to_change(set, |work, used| work.delete_equal(used, key, value));
        match deleted? {
            Some(outcome) => Ok(outcome),
            None if self.get(set, key, Read::Exclusive, buffer)? && buffer[..] == *value => {
                self.delete(set, key)
            }
            None => Ok(Outcome::Absent),
        }
    }

    fn delete_range(&mut self, set: SetId, range: KeyRange<'_>) -> Result<u64> {
        self.on_set_to_change(set, |work, used| work.delete_range(used, range))
    }

    fn next<'c>(&mut self, cursor: &'c mut KernelCursor, read: Read) -> Result<Option<Entry<'c>>> {
        let set = cursor.handle.id;
        let stepped = self.on_set(set, |work, used| work.step(used, cursor, read, true));
        Ok(stepped?.then(|| cursor.entry()))
    }

    fn previous<'c>(
        &mut self,
        cursor: &'c mut KernelCursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>> {
        let set = cursor.handle.id;
        let stepped = self.on_set(set, |work, used| work.step(used, cursor, read, false));
        Ok(stepped?.then(|| cursor.entry()))
    }

    fn current<'c>(
        &mut self,
        cursor: &'c mut KernelCursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>> {
        self.check()?;
        if !cursor.is_on() {
            return Err(StoreError::NoPosition);
        }
        let set = cursor.handle.id;
        let there = self.on_set(set, |work, used| work.current(used, cursor, read));
        Ok(there?.then(|| cursor.entry()))
    }

    fn claim_next<'c>(&mut self, cursor: &'c mut KernelCursor) -> Result<Option<Entry<'c>>> {
        let set = cursor.handle.id;
        let claimed = self.on_set(set, |work, used| work.claim(used, cursor));
        Ok(claimed?.then(|| cursor.entry()))
    }

    fn replace_at(&mut self, cursor: &mut KernelCursor, value: &[u8]) -> Result<Outcome> {
        if !cursor.is_on() {
            return Err(StoreError::NoPosition);
        }
        let set = cursor.handle.id;
        self.on_set_to_change(set, |work, used| work.replace_at(used, cursor, value))
    }

    fn delete_at(&mut self, cursor: &mut KernelCursor) -> Result<Outcome> {
        let (set, seen) = (cursor.handle.id, cursor.record());
        let key = cursor.key().ok_or(StoreError::NoPosition)?;
        self.on_set_to_change(set, |work, used| work.delete(used, key, seen))
    }

    fn lock(&mut self, name: store::LockName<'_>, mode: LockMode, wait: Wait) -> Result<Grant> {
        self.check()?;
        if name.name.len() > LOCK_NAME_BYTES_MAX {
            let (len, most) = (name.name.len(), LOCK_NAME_BYTES_MAX);
            return Err(StoreError::too_large(Limit::LockNameBytes, len, most));
        }
        let (mode, wait) = (named_mode(mode), wait_of(wait));
        let locked = match self.used.whose_parts(SetId(name.space), &self.work.shared) {
            Some(used) => {
                let request = LockRequest { name, mode, wait, read_only: self.read_only };
                lock_part(&mut self.work, used, request)
            }
            None => self.work.uow.lock(name_of(name), mode, wait).map_err(StoreOrUow::Uow),
        };
        match locked {
            Ok(Acquired::New) => Ok(Grant::New),
            Ok(_) => Ok(Grant::Again),
            Err(StoreOrUow::Uow(UowError::Lock(
                LockError::WouldBlock { .. } | LockError::Timeout { .. },
            ))) => Ok(Grant::Busy),
            Err(StoreOrUow::Uow(error)) => Err(self.note(of_uow(error))),
            Err(StoreOrUow::Store(error)) => Err(self.note(error)),
        }
    }

    fn cover(&mut self, set: SetId, cover: Cover) -> Result<()> {
        self.on_set(set, |work, used| work.cover(used, cover))
    }

    fn uses_alone(&mut self, set: SetId) -> Result<bool> {
        self.on_set(set, |work, used| work.try_whole(used))
    }

    fn unlock(&mut self, name: store::LockName<'_>) -> Result<bool> {
        self.check()?;
        Ok(self.work.uow.unlock(name_of(name)))
    }

    fn held(&self, name: store::LockName<'_>) -> Option<LockMode> {
        let own = self.work.uow.mode_of(name_of(name));
        let whole = self.used.whole_of(SetId(name.space));
        match (own, whole) {
            (Some(own), Some(whole)) => Some(own.join(whole)),
            (own, whole) => own.or(whole),
        }
        .map(store_mode)
    }

    fn savepoint(&mut self) -> Result<Savepoint> {
        self.check()?;
        self.savepoints.push(self.work.uow.savepoint());
        let number = self.savepoints.len() as u32 - 1;
        Ok(Savepoint { point: u64::from(number), number })
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        self.check()?;
        let kept = savepoint.number as usize;
        let to = self.savepoints.get(kept).copied().ok_or(StoreError::NoSuchSavepoint)?;
        self.savepoints.truncate(kept + 1);
        self.work.uow.rollback_to(to).map_err(|error| self.note(of_uow(error)))
    }

    fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    fn commit(self) -> Result<Committed> {
        if let Some(failure) = self.failure.clone() {
            self.backout()?;
            return Err(failure);
        }
        let order = self.work.uow.commit().map_err(of_uow)?;
        Ok(Committed { order: Some(CommitOrder(order.0)) })
    }

    fn commit_queued(self, sink: &Arc<dyn CommitSink>, token: u64) -> Result<()> {
        if let Some(failure) = self.failure.clone() {
            self.backout()?;
            return Err(failure);
        }
        let shared = Arc::clone(&self.work.shared);
        let gate = self.work.uow.commit_early().map_err(of_uow)?;
        let adapter: Arc<commit::Adapter> = shared.sinks.adapter(sink);
        let number = adapter.wait(sink, token, gate.0);
        let adapter: Arc<dyn DurableSink> = adapter;
        shared.kernel.log().when_durable(gate, &adapter, number);
        Ok(())
    }

    fn keep_open(&mut self) -> Result<()> {
        self.check()?;
        if !self.work.uow.has_changes() {
            // It keeps no log from being used again.
            return Ok(());
        }
        self.work.uow.keep_open().map_err(|error| self.note(of_uow(error)))
    }

    fn backout(self) -> Result<()> {
        let stopped = self.work.shared.kernel.stop_switch().check().map_err(of_stopped);
        self.work.uow.backout().map_err(of_uow)?;
        stopped
    }
}
