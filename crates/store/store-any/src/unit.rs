//! A unit of work of either store.

use std::sync::Arc;

use store::{
    CommitSink, Committed, Cover, Cursor as _, Entry, Grant, KeyRange, LockMode, LockName, Outcome,
    Read, Result, Savepoint, SetId, StoreError, Unit, Wait,
};
use store_kernel::KernelUnit;
use store_postgres::EngineUnit;

use crate::cursor::AnyCursor;

/// A unit of work of an [`AnyStore`](crate::AnyStore).
#[allow(clippy::large_enum_variant)] // the kernel's is the one whose calls must cost little
pub enum AnyUnit {
    /// In a kernel.
    Kernel(KernelUnit),
    /// In an engine.
    Engine(Box<EngineUnit>),
}

/// Does the same with whichever unit of work it is.
macro_rules! on_either {
    ($any:expr, $one:ident => $work:expr) => {
        match $any {
            AnyUnit::Kernel($one) => $work,
            AnyUnit::Engine($one) => $work,
        }
    };
}

/// Does the same with unit of work and cursor, which must be of one store.
macro_rules! with_cursor {
    ($any:expr, $cursor:expr, ($unit:ident, $at:ident) => $work:expr) => {
        match ($any, $cursor) {
            (AnyUnit::Kernel($unit), AnyCursor::Kernel($at)) => $work,
            (AnyUnit::Engine($unit), AnyCursor::Engine($at)) => $work,
            (_, other) => foreign(other.set()),
        }
    };
}

impl Unit for AnyUnit {
    type Cursor = AnyCursor;

    #[inline]
    fn get(&mut self, set: SetId, key: &[u8], read: Read, value: &mut Vec<u8>) -> Result<bool> {
        on_either!(self, one => one.get(set, key, read, value))
    }

    #[inline]
    fn prefetch(&self, set: SetId, key: &[u8]) {
        on_either!(self, one => one.prefetch(set, key));
    }

    #[inline]
    fn insert(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        on_either!(self, one => one.insert(set, key, value))
    }

    #[inline]
    fn insert_beside(
        &mut self,
        cursor: &mut AnyCursor,
        key: &[u8],
        value: &[u8],
        prefix: usize,
    ) -> Result<(Outcome, bool)> {
        with_cursor!(self, cursor, (unit, at) => unit.insert_beside(at, key, value, prefix))
    }

    #[inline]
    fn replace(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        on_either!(self, one => one.replace(set, key, value))
    }

    #[inline]
    fn put(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<()> {
        on_either!(self, one => one.put(set, key, value))
    }

    #[inline]
    fn delete(&mut self, set: SetId, key: &[u8]) -> Result<Outcome> {
        on_either!(self, one => one.delete(set, key))
    }

    #[inline]
    fn delete_equal(
        &mut self,
        set: SetId,
        key: &[u8],
        value: &[u8],
        buffer: &mut Vec<u8>,
    ) -> Result<Outcome> {
        on_either!(self, one => one.delete_equal(set, key, value, buffer))
    }

    fn delete_range(&mut self, set: SetId, range: KeyRange<'_>) -> Result<u64> {
        on_either!(self, one => one.delete_range(set, range))
    }

    #[inline]
    fn next<'c>(&mut self, cursor: &'c mut AnyCursor, read: Read) -> Result<Option<Entry<'c>>> {
        with_cursor!(self, cursor, (unit, at) => unit.next(at, read))
    }

    #[inline]
    fn previous<'c>(&mut self, cursor: &'c mut AnyCursor, read: Read) -> Result<Option<Entry<'c>>> {
        with_cursor!(self, cursor, (unit, at) => unit.previous(at, read))
    }

    #[inline]
    fn current<'c>(&mut self, cursor: &'c mut AnyCursor, read: Read) -> Result<Option<Entry<'c>>> {
        with_cursor!(self, cursor, (unit, at) => unit.current(at, read))
    }

    fn claim_next<'c>(&mut self, cursor: &'c mut AnyCursor) -> Result<Option<Entry<'c>>> {
        with_cursor!(self, cursor, (unit, at) => unit.claim_next(at))
    }

    #[inline]
    fn replace_at(&mut self, cursor: &mut AnyCursor, value: &[u8]) -> Result<Outcome> {
        with_cursor!(self, cursor, (unit, at) => unit.replace_at(at, value))
    }

    #[inline]
    fn delete_at(&mut self, cursor: &mut AnyCursor) -> Result<Outcome> {
        with_cursor!(self, cursor, (unit, at) => unit.delete_at(at))
    }

    #[inline]
    fn lock(&mut self, name: LockName<'_>, mode: LockMode, wait: Wait) -> Result<Grant> {
        on_either!(self, one => one.lock(name, mode, wait))
    }

    #[inline]
    fn lock_along(&mut self, cursor: &mut AnyCursor, mode: LockMode) -> Result<Grant> {
        with_cursor!(self, cursor, (unit, at) => unit.lock_along(at, mode))
    }

    #[inline]
    fn cover(&mut self, set: SetId, cover: Cover) -> Result<()> {
        on_either!(self, one => one.cover(set, cover))
    }

    fn uses_alone(&mut self, set: SetId) -> Result<bool> {
        on_either!(self, one => one.uses_alone(set))
    }

    #[inline]
    fn unlock(&mut self, name: LockName<'_>) -> Result<bool> {
        on_either!(self, one => one.unlock(name))
    }

    #[inline]
    fn held(&self, name: LockName<'_>) -> Option<LockMode> {
        on_either!(self, one => one.held(name))
    }

    fn savepoint(&mut self) -> Result<Savepoint> {
        on_either!(self, one => one.savepoint())
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        on_either!(self, one => one.rollback_to(savepoint))
    }

    fn failure(&self) -> Option<&StoreError> {
        on_either!(self, one => one.failure())
    }

    fn commit(self) -> Result<Committed> {
        on_either!(self, one => one.commit())
    }

    fn commit_queued(self, sink: &Arc<dyn CommitSink>, token: u64) -> Result<()> {
        on_either!(self, one => one.commit_queued(sink, token))
    }

    fn keep_open(&mut self) -> Result<()> {
        on_either!(self, one => one.keep_open())
    }

    fn backout(self) -> Result<()> {
        on_either!(self, one => one.backout())
    }
}

/// What is said of a cursor that belongs to the other store.
#[cold]
fn foreign<T>(set: SetId) -> Result<T> {
    Err(StoreError::NoSuchSet(set))
}
