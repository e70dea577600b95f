//! How records stand in the sets of the store.
//!
//! | object | key | value |
//! |---|---|---|
//! | keyed cluster | prime key | the record without its prime key, trailer |
//! | entry-sequenced cluster | relative byte address, 8 bytes | the record, trailer |
//! | relative cluster | record number, 4 bytes | the record |
//! | linear cluster | relative byte address, 8 bytes | 4096 bytes |
//! | unique alternate index | alternate key | key of the base |
//! | other alternate index | alternate key, arrival, 8 bytes | key of the base |
//! | the same, as it is built | alternate key, 8 bytes of zero, key of the base | key of the base |
//! | trailer | | arrivals in the indexes of the upgrade set that are not unique, 8 bytes each; how many, 1 byte |
//!
//! Numbers are big-endian, so that keys sort by them.
//!
//! 1. An address is the sum of the lengths of all records that were ever added before; it belongs
//!    to its record for ever.
//! 2. Arrivals in a trailer are hints for finding an index entry at once among many with the same
//!    key. An entry that a hint leads to counts only if it names the record.
//! 3. A relative byte address is less than 2^63, an arrival greater than 0.

use store::{Cursor as _, Damage, Position, Read, SetId, Store, StoreError, Unit as _};

use crate::attributes::{ClusterAttributes, KeyField, Organization};

/// Bytes of an arrival.
pub(crate) const ARRIVAL_BYTES: usize = 8;

/// How records of a cluster become entries of its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The key is taken out of the record.
    Keyed(KeyField),
    /// By address, with a trailer.
    Entries,
    /// By number.
    Numbers,
    /// Blocks by address.
    Blocks,
}

impl Shape {
    pub(crate) fn of(attributes: &ClusterAttributes) -> Shape {
        match (attributes.organization, attributes.key) {
            (Organization::Keyed, Some(key)) => Shape::Keyed(key),
            // Without a key it cannot be defined.
            (Organization::EntrySequenced | Organization::Keyed, _) => Shape::Entries,
            (Organization::Relative | Organization::VariableRelative, _) => Shape::Numbers,
            (Organization::Linear, _) => Shape::Blocks,
        }
    }

    /// Where the last record of an entry-sequenced cluster ends, whose set this is.
    pub(crate) fn end_address<S: Store>(
        self,
        store: &S,
        unit: &mut S::Unit,
        set: SetId,
    ) -> Result<u64, StoreError> {
        let mut cursor = store.cursor(set)?;
        cursor.seek(Position::Back);
        let Some(last) = unit.previous(&mut cursor, Read::Unlocked)? else { return Ok(0) };
        let mut record = Vec::new();
        self.copy(last.key, last.value, &mut record)?;
        Ok(u64_of(last.key) + record.len() as u64)
    }

    /// Bytes of a key of the base.
    pub(crate) fn key_bytes(self) -> usize {
        match self {
            Shape::Keyed(key) => key.bytes as usize,
            Shape::Entries | Shape::Blocks => 8,
            Shape::Numbers => 4,
        }
    }

    /// The value for a record, made in `buffer` if it is another one.
    #[inline]
    pub(crate) fn value<'v>(
        self,
        record: &'v [u8],
        arrivals: &[u64],
        buffer: &'v mut Vec<u8>,
    ) -> &'v [u8] {
        buffer.clear();
        match self {
            Shape::Numbers | Shape::Blocks => return record,
            Shape::Keyed(key) => {
                buffer.extend_from_slice(&record[..key.offset as usize]);
                buffer.extend_from_slice(&record[key.end()..]);
            }
            Shape::Entries => buffer.extend_from_slice(record),
        }
        for arrival in arrivals {
            buffer.extend_from_slice(&arrival.to_be_bytes());
        }
        buffer.push(arrivals.len() as u8);
        buffer
    }

    /// Makes the record of a value that was read into `record`.
    #[inline]
    pub(crate) fn restore(
        self,
        key: &[u8],
        record: &mut Vec<u8>,
        arrivals: Option<&mut Vec<u64>>,
    ) -> Result<(), StoreError> {
        if matches!(self, Shape::Numbers | Shape::Blocks) {
            return Ok(());
        }
        let rest = split(record, arrivals).ok_or_else(damaged)?;
        record.truncate(rest);
        if let Shape::Keyed(field) = self {
            let offset = field.offset as usize;
            if offset > rest || key.len() != field.bytes as usize {
                return Err(damaged());
            }
            record.resize(rest + key.len(), 0);
            record.copy_within(offset..rest, offset + key.len());
            record[offset..offset + key.len()].copy_from_slice(key);
        }
        Ok(())
    }

    /// Makes the record of an entry.
    #[inline]
    pub(crate) fn copy(
        self,
        key: &[u8],
        value: &[u8],
        record: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        record.clear();
        if matches!(self, Shape::Numbers | Shape::Blocks) {
            record.extend_from_slice(value);
            return Ok(());
        }
        let value = &value[..split(value, None).ok_or_else(damaged)?];
        if let Shape::Keyed(field) = self {
            let (front, back) =
                value.split_at_checked(field.offset as usize).ok_or_else(damaged)?;
            record.extend_from_slice(front);
            record.extend_from_slice(key);
            record.extend_from_slice(back);
        } else {
            record.extend_from_slice(value);
        }
        Ok(())
    }
}

/// Where the trailer of a value begins; its arrivals go into `arrivals`.
#[inline]
fn split(value: &[u8], arrivals: Option<&mut Vec<u64>>) -> Option<usize> {
    let (count, rest) = value.split_last()?;
    let begin = rest.len().checked_sub(usize::from(*count) * ARRIVAL_BYTES)?;
    if let Some(arrivals) = arrivals {
        arrivals.clear();
        for bytes in rest[begin..].chunks_exact(ARRIVAL_BYTES) {
            arrivals.push(u64_of(bytes));
        }
    }
    Some(begin)
}

#[cold]
fn damaged() -> StoreError {
    StoreError::Damaged(Box::new(Damage {
        object: "a cluster".into(),
        detail: "a value is too short to be a record".into(),
        recovery: "Recover its data set from an image copy.".into(),
    }))
}

/// A number of 8 bytes; shorter ones count as 0.
pub(crate) fn u64_of(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_be_bytes)
}

/// The key of an entry of an index that is not unique.
#[inline]
pub(crate) fn index_key(alternate: &[u8], arrival: u64, key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(alternate);
    key.extend_from_slice(&arrival.to_be_bytes());
}

/// The same for a record that was there when the index was built: those come first, in the order
/// of the base.
pub(crate) fn built_key(alternate: &[u8], base: &[u8], key: &mut Vec<u8>) {
    index_key(alternate, 0, key);
    key.extend_from_slice(base);
}

/// The lowest key above all that begin with `prefix`; `false` if there is none.
pub(crate) fn successor(prefix: &[u8], key: &mut Vec<u8>) -> bool {
    key.clear();
    let Some(last) = prefix.iter().rposition(|byte| *byte != 0xff) else { return false };
    key.extend_from_slice(&prefix[..=last]);
    key[last] += 1;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_with_its_key_in_place() {
        let record = b"..KEY.....".to_vec();
        for shape in
            [Shape::Keyed(KeyField { offset: 2, bytes: 3 }), Shape::Entries, Shape::Numbers]
        {
            let mut buffer = Vec::new();
            let value = shape.value(&record, &[5, 6], &mut buffer).to_vec();
            let (mut copied, mut arrivals) = (Vec::new(), Vec::new());
            shape.copy(b"KEY", &value, &mut copied).unwrap();
            assert_eq!(copied, record);
            let mut restored = value.clone();
            shape.restore(b"KEY", &mut restored, Some(&mut arrivals)).unwrap();
            assert_eq!(restored, record);
            let known = if shape == Shape::Numbers { vec![] } else { vec![5, 6] };
            assert_eq!(arrivals, known);
        }
    }

    #[test]
    fn a_value_that_is_none_is_damage() {
        let shape = Shape::Keyed(KeyField { offset: 2, bytes: 1 });
        for value in [&b""[..], b"\x01", b"\0", b"a\0", b"abcdefgh\x02"] {
            assert!(shape.copy(b"K", value, &mut Vec::new()).is_err(), "{value:?}");
            assert!(shape.restore(b"K", &mut value.to_vec(), None).is_err(), "{value:?}");
        }
    }

    #[test]
    fn the_successor_of_a_prefix_is_above_all_that_begin_with_it() {
        let mut key = Vec::new();
        assert!(successor(b"a\xff", &mut key) && key == b"b");
        assert!(!successor(b"\xff\xff", &mut key) && !successor(b"", &mut key));
    }
}
