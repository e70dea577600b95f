//! Secondary indexes: the entries that stand for source segments (H6).
//!
//! An index is a set of its own, under the name of its index database.
//!
//! | part of the key | bytes | where |
//! |---|---|---|
//! | constant | 1 | `CONST=` |
//! | search fields | their lengths | in the database's collation, where they hold characters |
//! | subsequence fields | their lengths | likewise |
//! | order | 8 | in an index that is not unique: the inverse of the source's identity, or of the number that the entry got when it moved ([`crate::order`]) |
//!
//! The value is the source's path with its length in two bytes (big endian) in front, then the
//! duplicate data fields, then the user data if a program has stored some. The target's path is
//! the beginning of the source's.
//!
//! To programs that use the index as a database an entry is a segment (DLI-12.70): its key without
//! order, the duplicate data, the symbolic pointer, that is the target's concatenated key, if it
//! has one, and the user data, as much as the segment has room for; binary zeros where nothing
//! was stored.
//!
//! Invariants:
//! 1. Each source has one entry in each of its indexes, unless its search fields are suppressed.
//! 2. Among equal search and subsequence fields the newest entry stands first (DLI-12.65):
//!    identities and orders ascend with time.

use std::sync::Arc;

use definitions::resolve::{Index, IndexPart, PartSource};
use definitions::{FieldType, NullValue};
use placement::{Collation, Placement};
use store::SetId;

use crate::order::Orders;
use crate::schema::TypeAt;
use crate::value::Stored;

/// Bytes that order entries of equal fields.
const ORDER_BYTES: usize = 8;

/// A secondary index of a database, and where its entries are.
#[derive(Clone, Debug)]
pub struct IndexTree {
    /// What it says.
    pub index: Index,
    /// Its set.
    pub set: SetId,
    /// Its source.
    pub source: TypeAt,
    /// Its target.
    pub target: TypeAt,
    /// The level of the target, from 1.
    pub target_level: usize,
    /// Where its own partitions end, if it has a definition: they limit what a PCB sees, the
    /// entries of all of them stand in one set.
    pub placement: Option<Arc<Placement>>,
}

/// What an entry is made from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// The source segment as the program knows it.
    pub data: &'s [u8],
    /// Its concatenated key.
    pub concatenated: &'s [u8],
    /// Its identity.
    pub identity: u64,
    /// The order of its entries where they have moved.
    pub orders: Orders<'s>,
    /// Its path.
    pub path: &'s [u8],
    /// The byte that stands for a blank in its data.
    pub blank: u8,
}

/// An entry: key and value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexEntry {
    /// Its key.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Vec<u8>,
}

impl<'s> Source<'s> {
    /// A stored segment as a source, with its data, its path and its concatenated key.
    #[must_use]
    pub fn new(
        stored: &Stored<'s>,
        data: &'s [u8],
        path: &'s [u8],
        concatenated: &'s [u8],
        blank: u8,
    ) -> Source<'s> {
        let (identity, orders) = (stored.identity, stored.orders);
        Source { data, concatenated, identity, orders, path, blank }
    }
}

impl IndexTree {
    /// Whether its sources need an identity: to order equal entries, or for `/SX`.
    #[must_use]
    pub fn needs_identity(index: &Index) -> bool {
        let all = index.search.iter().chain(&index.subsequence).chain(&index.data);
        !index.unique || all.into_iter().any(|part| part.from == PartSource::Unique)
    }

    /// How many bytes the keys of entries with the same search fields have in common.
    #[must_use]
    pub fn prefix_bytes(index: &Index) -> u16 {
        let search: u16 = index.search.iter().map(|part| part.len).sum();
        search + u16::from(index.constant.is_some())
    }

    /// Makes the entry of a source; `false` if it has none (DLI-12.66).
    pub fn make(&self, collation: Collation, source: &Source<'_>, entry: &mut IndexEntry) -> bool {
        entry.key.clear();
        entry.value.clear();
        entry.key.extend(self.index.constant);
        let search_at = entry.key.len();
        for part in &self.index.search {
            if !self.put(part, source, true, &mut entry.key) {
                return false;
            }
        }
        if self.is_suppressed(&entry.key[search_at..], source.blank) {
            return false;
        }
        for part in &self.index.subsequence {
            self.put(part, source, false, &mut entry.key);
        }
        self.apply(collation, &mut entry.key);
        if !self.index.unique {
            let order = source.orders.of(self.index.dbd).unwrap_or(source.identity);
            entry.key.extend_from_slice(&(!order).to_be_bytes());
        }
        // A path is shorter than a key of the store may be.
        entry.value.extend_from_slice(&(source.path.len() as u16).to_be_bytes());
        entry.value.extend_from_slice(source.path);
        for part in &self.index.data {
            self.put(part, source, false, &mut entry.value);
        }
        true
    }

    /// Appends a field; `false` if the source is too short for a search field.
    fn put(&self, part: &IndexPart, source: &Source<'_>, strict: bool, to: &mut Vec<u8>) -> bool {
        let len = usize::from(part.len);
        let (bytes, from) = match part.from {
            PartSource::Segment(offset) => (source.data, usize::from(offset)),
            PartSource::ConcatenatedKey(offset) => (source.concatenated, usize::from(offset)),
            PartSource::Unique => {
                let identity = source.identity.to_be_bytes();
                let from = ORDER_BYTES.saturating_sub(len);
                to.resize(to.len() + len.saturating_sub(ORDER_BYTES), 0);
                to.extend_from_slice(&identity[from..]);
                return true;
            }
        };
        if let Some(field) = bytes.get(from..from + len) {
            to.extend_from_slice(field);
            return true;
        }
        // DLI-12.66: a field that a short segment does not reach is zero by its type.
        let fill = match part.kind_of_data {
            FieldType::Packed => 0x0F,
            FieldType::Character if source.blank == 0x40 => 0xF0,
            FieldType::Character => b'0',
            _ => 0,
        };
        to.resize(to.len() + len, fill);
        !strict
    }

    fn is_suppressed(&self, search: &[u8], blank: u8) -> bool {
        let null = match self.index.null {
            None => return false,
            Some(NullValue::Blank) => blank,
            Some(NullValue::Zero) => 0,
            Some(NullValue::Byte(byte)) => byte,
        };
        search.iter().all(|byte| *byte == null)
    }

    /// Where the search fields stand in a key.
    #[must_use]
    pub fn search(&self) -> std::ops::Range<usize> {
        let from = usize::from(self.index.constant.is_some());
        from..from + self.index.search_len() as usize
    }

    /// Reverts a key, or the beginning of one, to what the source says. The order is left out.
    pub fn revert(&self, collation: Collation, key: &[u8], to: &mut Vec<u8>) {
        let (len, at) = (self.index.key_len() as usize, to.len());
        to.extend_from_slice(&key[..len.min(key.len())]);
        self.each_field(&mut to[at..], |kind, field| collation.of_field(kind).revert(field));
    }

    /// Brings a key, or the beginning of one, into the order of the set.
    pub fn apply(&self, collation: Collation, key: &mut [u8]) {
        self.each_field(key, |kind, field| collation.of_field(kind).apply(field));
    }

    /// Shows the search and subsequence fields of a key.
    fn each_field(&self, key: &mut [u8], mut show: impl FnMut(FieldType, &mut [u8])) {
        let mut at = self.search().start.min(key.len());
        for part in self.index.search.iter().chain(&self.index.subsequence) {
            let end = (at + usize::from(part.len)).min(key.len());
            show(part.kind_of_data, &mut key[at..end]);
            at = end;
        }
    }

    /// The entry as a segment; `target` is the target's concatenated key.
    pub fn image(
        &self,
        collation: Collation,
        key: &[u8],
        value: &[u8],
        target: &[u8],
        to: &mut Vec<u8>,
    ) {
        to.clear();
        self.revert(collation, key, to);
        let data = self.source_of(value).map_or(&[][..], |(_, data)| data);
        let user_data = self.user_data(value);
        to.extend_from_slice(&data[..data.len() - user_data.len()]);
        if self.index.symbolic {
            to.extend_from_slice(target);
        }
        to.resize(self.index.user_data().start, 0);
        to.extend_from_slice(user_data);
        to.resize(self.index.user_data().end, 0);
    }

    /// How many bytes of user data an entry has room for.
    #[must_use]
    pub fn user_len(&self) -> usize {
        self.index.user_data().len()
    }

    /// The user data of an entry, at the end of its value; empty if none was stored.
    #[must_use]
    pub fn user_data<'v>(&self, value: &'v [u8]) -> &'v [u8] {
        let data = self.source_of(value).map_or(&[][..], |(_, data)| data);
        data.get(self.index.data_len() as usize..).unwrap_or(&[])
    }

    /// The path of an entry's source and what stands behind it: duplicate data and user data.
    #[must_use]
    pub fn source_of<'v>(&self, value: &'v [u8]) -> Option<(&'v [u8], &'v [u8])> {
        let (len, rest) = value.split_first_chunk()?;
        rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))
    }
}
