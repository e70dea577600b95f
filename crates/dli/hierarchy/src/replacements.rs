//! When the data of a database was replaced by other than programs: a recovery to a point, `empty`,
//! a load. What programs committed behind the point that it went back to is in it no more.
//!
//! It is kept in the set of [`crate::state`]:
//!
//! | key | value |
//! |---|---|
//! | name of a DBD, X'01', position of the log behind that in 8 bytes (big endian) | version 1, the position that the data is from, 8 bytes (little endian), 0 for none |
//!
//! Invariants:
//! 1. It is noted before programs see the new data.

use definitions::DbdName;
use store::Store;

use crate::error::{Damaged, Result};
use crate::record;

const VERSION: u8 = 1;
/// What stands behind the name in the key.
const KIND: u8 = 1;

/// That the data of a database was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// It holds what was committed before this position of the log; 0 if it holds nothing of it.
    pub to: u64,
    /// And what is committed from this position on.
    pub at: u64,
}

/// Notes that a database holds what was committed before a position, and nothing that was committed
/// from there to now.
///
/// # Errors
/// If the store refuses.
pub fn note<S: Store>(store: &S, name: DbdName, to: u64) -> Result<()> {
    let key = [&name.bytes()[..], &[KIND], &store.position().to_be_bytes()].concat();
    let value = [&[VERSION][..], &to.to_le_bytes()].concat();
    record::put_value(store, &key, Some(&value))
}

/// Every time that the data of a database was replaced, the oldest first.
///
/// # Errors
/// If the store refuses, or no release up to this one wrote it.
pub fn all<S: Store>(store: &S, name: DbdName) -> Result<Vec<Replaced>> {
    let what = Damaged("when its data was replaced was written by a later release");
    record::noted(store, name, KIND, what, |at, value| match value.split_first() {
        Some((&VERSION, to)) => Some(Replaced { to: u64::from_le_bytes(to.try_into().ok()?), at }),
        _ => None,
    })
}
