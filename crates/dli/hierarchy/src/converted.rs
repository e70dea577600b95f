//! With which map the data of a database was converted when it was loaded: a program that converts
//! it back with another one gets other bytes, and nothing in the data tells.
//!
//! It is kept in the set of [`crate::state`]:
//!
//! | key | value |
//! |---|---|
//! | name of a DBD, X'02', position of the log in 8 bytes (big endian) | version 1, then the SHA-256 of the map, 32 bytes; nothing if the data was not converted |
//!
//! Invariants:
//! 1. A load notes it, and so does whatever empties the database.
//! 2. After a recovery to a point, what was noted before that point counts.
//! 3. Data of which nothing is noted fits every map.

use aws_lc_rs::digest::{SHA256, digest};
use definitions::DbdName;
use store::Store;

use crate::error::{Damaged, Result};
use crate::record;
use crate::replacements;

const VERSION: u8 = 1;
/// What stands behind the name in the key.
const KIND: u8 = 2;
const DIGEST_BYTES: usize = 32;

/// The digest of a map.
type Digest = [u8; DIGEST_BYTES];

/// Notes the map, encoded, with which the data of a database is converted from now on, or that it
/// is not.
///
/// # Errors
/// If the store refuses.
pub fn note<S: Store>(store: &S, name: DbdName, map: Option<&[u8]>) -> Result<()> {
    let map = map.map(digest_of);
    if noted(store, name)? == map {
        return Ok(());
    }
    let key = [&name.bytes()[..], &[KIND], &store.position().to_be_bytes()].concat();
    let value = [&[VERSION][..], map.as_ref().map_or(&[][..], |map| &map[..])].concat();
    record::put_value(store, &key, Some(&value))
}

/// Whether the data of a database was converted with this map, encoded, as far as is known.
///
/// # Errors
/// If the store refuses, or no release up to this one wrote what is noted.
pub fn fits<S: Store>(store: &S, name: DbdName, map: &[u8]) -> Result<bool> {
    Ok(noted(store, name)?.is_none_or(|noted| noted == digest_of(map)))
}

fn digest_of(map: &[u8]) -> Digest {
    let mut bytes = [0; DIGEST_BYTES];
    bytes.copy_from_slice(digest(&SHA256, map).as_ref());
    bytes
}

/// What holds now.
fn noted<S: Store>(store: &S, name: DbdName) -> Result<Option<Digest>> {
    let notes = notes(store, name)?;
    let before = |position| notes.iter().rev().find(|(at, _)| *at <= position).copied();
    let Some(mut last) = before(u64::MAX) else { return Ok(None) };
    // The newest replacement first: one to a point takes back what was noted since.
    for replaced in replacements::all(store, name)?.iter().rev() {
        if replaced.to > 0 && last.0 <= replaced.at && last.0 > replaced.to {
            match before(replaced.to) {
                Some(earlier) => last = earlier,
                None => return Ok(None),
            }
        }
    }
    Ok(last.1)
}

/// All that was noted, the oldest first.
fn notes<S: Store>(store: &S, name: DbdName) -> Result<Vec<(u64, Option<Digest>)>> {
    let what = Damaged("with which map it was loaded was written by a later release");
    record::noted(store, name, KIND, what, |at, value| match value.split_first() {
        Some((&VERSION, [])) => Some((at, None)),
        Some((&VERSION, map)) => Some((at, Some(map.try_into().ok()?))),
        _ => None,
    })
}
