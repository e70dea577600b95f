//! The lists of root keys by which the roots of a database stand, kept beside its definition.
//!
//! A list comes from a file of the operating system; the data needs it for as long as it is there.
//! So what a list said when roots were placed by it stays in the system.
//!
//! | key | value |
//! |---|---|
//! | `L`, name of the DBD in eight bytes with blanks, version in 4 bytes, big endian | where roots stand by it: the identity of the placement, as text |
//! | that, and a number from 0 in 4 bytes, big endian | a piece of the files |
//!
//! The pieces one behind the other are, for each file, the length of its name in 4 bytes, the name,
//! the length of its contents in 8 bytes, the contents; both lengths little endian.
//!
//! Invariants:
//! 1. The text of a version is written last, in a unit of work of its own: without it there are no
//!    such files.
//! 2. A version is never changed. Older ones stay: a recovery may lead back to data that needs one.

use base::bytes::Reader;
use definitions::DbdName;
use store::{Cursor, Position, Read, SetAttributes, SetId, Store, Unit, UnitOptions};

use crate::repository::{RepositoryError, SET};

/// The files that a placement was made from: name and contents.
pub type Files = Vec<(String, Vec<u8>)>;

pub(crate) const LIST: u8 = b'L';
/// Bytes of a piece.
const PIECE: usize = 16 << 10;
/// Pieces of a unit of work.
const PIECES: usize = 256;
/// Bytes of a key without the number of a piece.
const HEAD: usize = 13;

/// The files by which roots stand as `identity` says, if they are kept.
///
/// # Errors
/// If the store refuses.
pub fn files<S: Store>(
    store: &S,
    dbd: DbdName,
    identity: &str,
) -> Result<Option<Files>, RepositoryError> {
    let Some(set) = store.set(SET)? else { return Ok(None) };
    let versions = versions(store, set, dbd)?;
    let Some((version, _)) = versions.iter().find(|(_, text)| text == identity.as_bytes()) else {
        return Ok(None);
    };
    let (head, mut bytes) = (head(dbd, *version), Vec::new());
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    cursor.seek(Position::After(&head));
    while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
        if !entry.key.starts_with(&head) {
            break;
        }
        bytes.extend_from_slice(entry.value);
    }
    unit.commit()?;
    Ok(apart(&bytes))
}

/// Keeps the files by which roots stand as `identity` says, unless they are kept already. Answers
/// whether that is new.
///
/// # Errors
/// If the store refuses; then they are not kept.
pub fn keep<S: Store>(
    store: &S,
    dbd: DbdName,
    identity: &str,
    files: &[(String, Vec<u8>)],
) -> Result<bool, RepositoryError> {
    let set = match store.set(SET)? {
        Some(set) => set,
        None => store.create_set(SET, &SetAttributes::default())?,
    };
    let versions = versions(store, set, dbd)?;
    if versions.iter().any(|(_, text)| text == identity.as_bytes()) {
        return Ok(false);
    }
    // A version whose pieces were begun and not ended has no text; its number is taken again.
    let version = versions.iter().map(|(version, _)| version + 1).max().unwrap_or(0);
    let head = head(dbd, version);
    let bytes = together(files);
    let pieces: Vec<(Vec<u8>, &[u8])> = (0_u32..)
        .zip(bytes.chunks(PIECE))
        .map(|(number, piece)| ([&head[..], &number.to_be_bytes()].concat(), piece))
        .collect();
    remove_pieces(store, set, &head)?;
    for some in pieces.chunks(PIECES) {
        store::run(store, UnitOptions::default(), |unit| {
            some.iter().try_for_each(|(key, piece)| unit.put(set, key, piece))
        })?;
    }
    store::run(store, UnitOptions::default(), |unit| unit.put(set, &head, identity.as_bytes()))?;
    Ok(true)
}

/// Takes out what a version that was not ended has left.
fn remove_pieces<S: Store>(store: &S, set: SetId, head: &[u8]) -> Result<(), RepositoryError> {
    let mut left = Vec::new();
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    cursor.seek(Position::Before(head));
    while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
        if !entry.key.starts_with(head) {
            break;
        }
        left.push(entry.key.to_vec());
    }
    unit.commit()?;
    for some in left.chunks(PIECES) {
        store::run(store, UnitOptions::default(), |unit| {
            some.iter().try_for_each(|key| unit.delete(set, key).map(drop))
        })?;
    }
    Ok(())
}

/// The versions of a database with their texts.
fn versions<S: Store>(
    store: &S,
    set: SetId,
    dbd: DbdName,
) -> Result<Vec<(u32, Vec<u8>)>, RepositoryError> {
    let prefix = &head(dbd, 0)[..HEAD - 4];
    let mut found = Vec::new();
    let mut next = Some(0_u32);
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let mut cursor = store.cursor(set)?;
    while let Some(version) = next {
        // Over the pieces of the version before.
        cursor.seek(Position::Before(&head(dbd, version)));
        let Some(entry) = unit.next(&mut cursor, Read::Shared)? else { break };
        let Some(rest) = entry.key.strip_prefix(prefix) else { break };
        let Some(number) = rest.first_chunk().map(|number| u32::from_be_bytes(*number)) else {
            break;
        };
        if rest.len() == 4 {
            found.push((number, entry.value.to_vec()));
        }
        next = number.checked_add(1);
    }
    unit.commit()?;
    Ok(found)
}

fn head(dbd: DbdName, version: u32) -> [u8; HEAD] {
    let mut key = [LIST; HEAD];
    key[1..9].copy_from_slice(dbd.bytes());
    key[9..].copy_from_slice(&version.to_be_bytes());
    key
}

fn together(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, contents) in files {
        let len = u32::try_from(name.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(&(contents.len() as u64).to_le_bytes());
        bytes.extend_from_slice(contents);
    }
    bytes
}

fn apart(bytes: &[u8]) -> Option<Files> {
    let (mut reader, mut files) = (Reader::new(bytes), Files::new());
    while !reader.is_empty() {
        let len = usize::try_from(reader.u32()?).ok()?;
        let name = str::from_utf8(reader.take(len)?).ok()?.to_owned();
        let len = usize::try_from(reader.u64()?).ok()?;
        files.push((name, reader.take(len)?.to_vec()));
    }
    Some(files)
}
