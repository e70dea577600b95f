//! Which locks a call takes on a set and its keys (invariants 1 to 3 of the crate).

use lock::{LockName, Mode, Wait};
use store::{LockMode, Read};
use uow::{Uow, UowError};

use crate::sets::SetHandle;

/// The lock that a read takes on what it returns.
pub(crate) fn mode_of(read: Read) -> Option<Mode> {
    match read {
        Read::Unlocked => None,
        Read::Shared => Some(Mode::Shared),
        Read::Update => Some(Mode::Update),
        Read::Exclusive => Some(Mode::Exclusive),
    }
}

/// The store's mode in the lock manager's words.
pub(crate) fn named_mode(mode: LockMode) -> Mode {
    match mode {
        LockMode::IntentShared => Mode::IntentShared,
        LockMode::IntentExclusive => Mode::IntentExclusive,
        LockMode::Shared => Mode::Shared,
        LockMode::SharedIntentExclusive => Mode::SharedIntentExclusive,
        LockMode::Update => Mode::Update,
        LockMode::Exclusive => Mode::Exclusive,
    }
}

/// And back.
pub(crate) fn store_mode(mode: Mode) -> LockMode {
    match mode {
        Mode::IntentShared => LockMode::IntentShared,
        Mode::IntentExclusive => LockMode::IntentExclusive,
        Mode::Shared => LockMode::Shared,
        Mode::SharedIntentExclusive => LockMode::SharedIntentExclusive,
        Mode::Update => LockMode::Update,
        Mode::Exclusive => LockMode::Exclusive,
    }
}

/// The store's wait in the lock manager's words.
pub(crate) fn wait_of(wait: store::Wait) -> Wait {
    match wait {
        store::Wait::No => Wait::No,
        store::Wait::AtMost(time) => Wait::AtMost(time),
        store::Wait::Forever => Wait::Yes,
    }
}

/// The name of a named lock: space and bytes mixed into the lock manager's 12 bytes. Two names may
/// share one, which may cost a wait and lets no unit of work through.
pub(crate) fn name_of(name: store::LockName<'_>) -> LockName {
    let hash = base::hash::bytes(name.name) ^ base::hash::avalanche(u64::from(name.space) + 1);
    LockName::user(name.space & !lock::USER_SPACE, hash)
}

/// The lock of the record of a key.
#[inline]
pub(crate) fn record(set: &SetHandle, key: &[u8]) -> LockName {
    LockName::key(set.data.id(), key)
}

/// The lock of the gap below a key, or of the last gap. Another name than the record's own, so that
/// a unit of work that has a record alone does not keep others from the keys beside it.
#[inline]
pub(crate) fn gap(set: &SetHandle, next: Option<&[u8]>) -> LockName {
    match next {
        Some(key) => gap_below(record(set, key)),
        None => LockName::end(set.data.id()),
    }
}

/// The lock of the gap below a key whose record's lock has this name.
#[inline]
pub(crate) fn gap_below(record: LockName) -> LockName {
    LockName { hash: base::hash::avalanche(record.hash ^ GAP).max(2), ..record }
}

/// The lock that stands for all changes of a set which the callers' own locks cover.
#[inline]
pub(crate) fn covered(set: &SetHandle) -> LockName {
    LockName::user(set.data.id().0, COVERED)
}

/// Tells it from the names that callers choose.
const COVERED: u64 = 0xbb67_ae85_84ca_a73b;

/// Tells the hashes of gaps from those of keys.
const GAP: u64 = 0x6a09_e667_f3bc_c908;

/// Waits until the unit of work is over that has deleted a key.
pub(crate) fn wait_for_ghost(
    set: &SetHandle,
    uow: &mut Uow,
    ghost: &[u8],
    wait: Wait,
) -> Result<(), UowError> {
    uow.lock_instant(record(set, ghost), Mode::Shared, wait)?;
    seam::thread::yield_now();
    Ok(())
}
