//! The kernel's errors in the store's words.

use base::Coded;
use btree::TreeError;
use lock::LockError;
use pool::PoolError;
use seam::stop::Stopped;
use space::SpaceError;
use store::{Damage, Limit, StoreError, Waited};
use uow::UowError;
use wal::LogError;

/// Why a name was not locked.
pub(crate) enum StoreOrUow {
    Store(StoreError),
    Uow(UowError),
}

/// A stop.
pub(crate) fn of_stopped(stopped: Stopped) -> StoreError {
    StoreError::Stopped(stopped.reason.into())
}

/// An error of the tree.
pub(crate) fn of_tree(error: TreeError) -> StoreError {
    match error {
        TreeError::KeyTooLong { bytes, bytes_max, .. } => {
            StoreError::too_large(Limit::KeyBytes, bytes, bytes_max)
        }
        TreeError::ValueTooLong { bytes, bytes_max, .. } => {
            StoreError::too_large(Limit::ValueBytes, bytes, bytes_max)
        }
        TreeError::NotAscending { record, .. } => StoreError::OutOfOrder(record),
        TreeError::Damaged { .. } => damaged(&error),
        TreeError::Pool(error) => of_pool(error),
        TreeError::Uow(error) => of_uow(error),
        other => StoreError::beneath(other),
    }
}

/// An error of a unit of work.
pub(crate) fn of_uow(error: UowError) -> StoreError {
    match error {
        UowError::Lock(error) => of_lock(error),
        UowError::Pool(error) => of_pool(error),
        UowError::Space(error) => of_space(error),
        error @ UowError::LogFull { .. } => StoreError::LogFull(error.to_string().into()),
        UowError::Log(error @ LogError::ArchiveBehind { .. }) => {
            StoreError::LogFull(error.to_string().into())
        }
        UowError::Stopped(stopped) => of_stopped(stopped),
        UowError::Damaged { .. } => damaged(&error),
        other if other.is_stopped() => StoreError::Stopped(other.to_string().into()),
        other => StoreError::beneath(other),
    }
}

fn of_pool(error: PoolError) -> StoreError {
    match error {
        PoolError::Stopped(stopped) => of_stopped(stopped),
        PoolError::Damaged { .. } => damaged(&error),
        other => StoreError::beneath(other),
    }
}

fn of_space(error: SpaceError) -> StoreError {
    match error {
        SpaceError::NoSpace { name, .. } => StoreError::NoSpace(name.into()),
        SpaceError::Pool(error) => of_pool(error),
        other => StoreError::beneath(other),
    }
}

fn of_lock(error: LockError) -> StoreError {
    match &error {
        LockError::Deadlock { .. } => StoreError::Deadlock,
        // The holder is a unit of work's number here; who answers the call knows its owner.
        LockError::Timeout { object, waited, holder, .. } => {
            let (what, holder) = (object.to_string(), Some(holder.0));
            StoreError::Timeout(Box::new(Waited { what, waited: *waited, holder }))
        }
        LockError::WouldBlock { object, holder, .. } => {
            let (what, holder) = (object.to_string(), Some(holder.0));
            let waited = std::time::Duration::ZERO;
            StoreError::Timeout(Box::new(Waited { what, waited, holder }))
        }
        LockError::Budget { max, .. } => StoreError::too_large(Limit::UnitLocks, max + 1, *max),
        LockError::Stopped(stopped) => of_stopped(stopped.clone()),
        _ => StoreError::beneath(error),
    }
}

fn damaged(error: &dyn Coded) -> StoreError {
    StoreError::Damaged(Box::new(Damage {
        object: "the system".into(),
        detail: error.to_string(),
        recovery: error.remedy(),
    }))
}
