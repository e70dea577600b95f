//! Changes of redirected clusters as they are kept until they are sent on, in a set of the store.
//!
//! | key | value |
//! |---|---|
//! | `Q`, number of the cluster (4 bytes), number of the change (8 bytes) | the change |
//!
//! | bytes of a change | |
//! |---|---|
//! | 1 | version 1 |
//! | 1 | 0 put, 1 delete, 2 clear |
//! | 2 | bytes of the key |
//! | n | the key |
//! | the rest | the record |
//!
//! Numbers are big-endian.
//!
//! Invariants:
//! 1. A change stands here in the unit of work that made it: it is committed and backed out with
//!    it.
//! 2. Numbers of changes are drawn while the record is locked: two changes of one record have
//!    theirs in the order in which they were committed.

use base::bytes::Reader;
use store::{SetAttributes, SetId, Store, StoreError, Unit as _};

use crate::entry::ObjectNumber;
use crate::handler::{Change, Row};

/// The set of all unsent changes of a system.
pub const SET: &str = "HOLDFAST.UNSENT";

const VERSION: u8 = 1;
const PUT: u8 = 0;
const DELETE: u8 = 1;
const CLEAR: u8 = 2;

/// That set; made if it is not there.
pub(crate) fn unsent_set<S: Store>(store: &S) -> Result<SetId, StoreError> {
    if let Some(set) = store.set(SET)? {
        return Ok(set);
    }
    match store.create_set(SET, &SetAttributes::default()) {
        Err(StoreError::SetExists(_)) => {
            store.set(SET)?.ok_or(StoreError::Unsupported("the set of unsent changes"))
        }
        made => made,
    }
}

/// Where the changes of an open file are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forward {
    pub(crate) set: SetId,
    pub(crate) cluster: ObjectNumber,
}

impl Forward {
    /// Keeps a change in the unit of work that makes it.
    pub(crate) fn keep<S: Store>(
        &self,
        store: &S,
        unit: &mut S::Unit,
        change: Kept<'_>,
    ) -> Result<(), StoreError> {
        let number = store.draw(self.set, 1)?;
        let key = change_key(self.cluster, number);
        unit.put(self.set, &key, &change.encode())
    }
}

/// A change as it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kept<'a> {
    Put { key: &'a [u8], record: &'a [u8] },
    Delete { key: &'a [u8] },
    Clear,
}

impl Kept<'_> {
    fn encode(&self) -> Vec<u8> {
        let (kind, key, record): (u8, &[u8], &[u8]) = match self {
            Kept::Put { key, record } => (PUT, key, record),
            Kept::Delete { key } => (DELETE, key, &[]),
            Kept::Clear => (CLEAR, &[], &[]),
        };
        let mut bytes = Vec::with_capacity(4 + key.len() + record.len());
        bytes.extend_from_slice(&[VERSION, kind]);
        // No key of a cluster is longer than 255 bytes.
        bytes.extend_from_slice(&u16::try_from(key.len()).unwrap_or(u16::MAX).to_be_bytes());
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(record);
        bytes
    }
}

pub(crate) fn decode(bytes: &[u8]) -> Option<Change> {
    let mut reader = Reader::new(bytes);
    if reader.u8()? != VERSION {
        return None;
    }
    let kind = reader.u8()?;
    let [high, low] = reader.array()?;
    let (key, record) = reader.rest().split_at_checked(u16::from_be_bytes([high, low]).into())?;
    Some(match kind {
        PUT => Change::Put(Row { key: key.to_vec(), record: record.to_vec() }),
        DELETE => Change::Delete(key.to_vec()),
        CLEAR => Change::Clear,
        _ => return None,
    })
}

pub(crate) fn prefix(cluster: ObjectNumber) -> [u8; 5] {
    let [a, b, c, d] = cluster.0.to_be_bytes();
    [b'Q', a, b, c, d]
}

pub(crate) fn change_key(cluster: ObjectNumber, number: u64) -> Vec<u8> {
    let mut key = prefix(cluster).to_vec();
    key.extend_from_slice(&number.to_be_bytes());
    key
}

pub(crate) fn number_of(key: &[u8]) -> Option<u64> {
    key.get(5..).and_then(|number| number.try_into().ok()).map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_as_it_was_kept() {
        let put = Kept::Put { key: b"key", record: b"keyrecord" }.encode();
        let row = Row { key: b"key".to_vec(), record: b"keyrecord".to_vec() };
        assert_eq!(decode(&put), Some(Change::Put(row)));
        let delete = Kept::Delete { key: b"key" }.encode();
        assert_eq!(decode(&delete), Some(Change::Delete(b"key".to_vec())));
        assert_eq!(decode(&Kept::Clear.encode()), Some(Change::Clear));
        for bad in [&[][..], &[2, 0, 0, 0], &[1, 3, 0, 0], &[1, 0, 0, 9, 1], &[1, 0, 0]] {
            assert_eq!(decode(bad), None, "{bad:?}");
        }
    }
}
