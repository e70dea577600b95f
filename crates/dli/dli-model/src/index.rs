//! Secondary indexes: kept by comparing what they should hold with what they hold
//! (DLI-12.64 to DLI-12.70).
//!
//! Invariants:
//! 1. There is one entry for each source that is there and has one, in the order search fields,
//!    SUBSEQ, last in first out (DLI-12.65).
//! 2. The key of an entry never changes: where its source did, it is gone and another one is new.
//! 3. An entry that a program deleted stays known for its source until it would be another one.

use std::sync::Arc;

use definitions::resolve::{Definitions, Index, IndexPart, PartSource, resolve_dbd};
use definitions::{Dbd, DbdName, NullValue, Psb, PsbName};

use crate::bytes::{field_or_zeros, part};
use crate::forest::{Entry, Forest, Id, Type};
use crate::keys::concatenated_key;
use crate::types::Databases;

struct Known<'d>(&'d Databases);

impl Definitions for Known<'_> {
    fn dbd(&self, name: DbdName) -> Option<Arc<Dbd>> {
        self.0.get(&name).cloned()
    }

    fn psb(&self, _: PsbName) -> Option<Arc<Psb>> {
        None
    }
}

/// The secondary indexes of all databases.
pub(crate) fn of(dbds: &Databases) -> Vec<Index> {
    dbds.values().flat_map(|dbd| resolve_dbd(dbd, &Known(dbds)).0).collect()
}

/// Brings all indexes up to date; `false` if a unique one would have a duplicate (DLI-12.67).
pub(crate) fn maintain(forest: &mut Forest, dbds: &Databases, indexes: &[Index]) -> bool {
    indexes.iter().all(|index| maintain_one(forest, dbds, index))
}

fn maintain_one(forest: &mut Forest, dbds: &Databases, index: &Index) -> bool {
    let wanted = wanted(forest, dbds, index);
    let mut order = forest.indexes.get(&index.dbd).cloned().unwrap_or_default();
    for id in &order {
        let entry = &mut forest.entries[*id];
        let is_wanted = wanted.iter().any(|one| same(one, entry));
        entry.gone |= !is_wanted;
        entry.deleted &= is_wanted;
    }
    for new in wanted {
        let known = |entry: &Entry| (!entry.gone || entry.deleted) && same(entry, &new);
        if let Some(id) = order.iter().find(|id| known(&forest.entries[**id])) {
            forest.entries[*id].data = new.data;
            continue;
        }
        let key = |entry: &Entry| (entry.search.clone(), entry.subsequence.clone());
        let equal = |id: &&Id| {
            let old = &forest.entries[**id];
            !old.gone && key(old) == key(&new)
        };
        if index.unique && order.iter().any(|id| equal(&id)) {
            return false;
        }
        let at = order.iter().position(|id| key(&forest.entries[*id]) >= key(&new));
        order.insert(at.unwrap_or(order.len()), forest.entries.len());
        forest.entries.push(new);
    }
    forest.indexes.insert(index.dbd, order);
    true
}

fn same(one: &Entry, other: &Entry) -> bool {
    let key = |entry: &Entry| (entry.source, entry.target);
    key(one) == key(other) && one.search == other.search && one.subsequence == other.subsequence
}

/// The entries that an index should hold.
fn wanted(forest: &Forest, dbds: &Databases, index: &Index) -> Vec<Entry> {
    let source = Type { dbd: index.target_dbd, code: index.source_code };
    let mut entries = Vec::new();
    for id in forest.of_type(source) {
        let target = forest.upward(id).find(|up| forest.get(*up).kind.code == index.target_code);
        let Some(target) = target else { continue };
        let data = &forest.get(id).data;
        // DLI-12.66: a search field beyond LL means no entry.
        let there = |one: &IndexPart| match one.from {
            PartSource::Segment(at) => usize::from(at) + usize::from(one.len) <= data.len(),
            PartSource::ConcatenatedKey(_) | PartSource::Unique => true,
        };
        let search = value(forest, dbds, id, &index.search);
        if index.search.iter().all(there) && !is_null(index, &search) {
            let subsequence = value(forest, dbds, id, &index.subsequence);
            let data = value(forest, dbds, id, &index.data);
            let (source, user_data) = (id, Vec::new());
            let (gone, deleted) = (false, false);
            entries.push(Entry {
                search,
                subsequence,
                data,
                user_data,
                source,
                target,
                gone,
                deleted,
            });
        }
    }
    entries
}

/// DLI-12.66: only if every byte of the search fields is that value.
fn is_null(index: &Index, search: &[u8]) -> bool {
    let byte = match index.null {
        None => return false,
        Some(NullValue::Byte(byte)) => byte,
        Some(NullValue::Blank) => b' ',
        Some(NullValue::Zero) => 0,
    };
    search.iter().all(|one| *one == byte)
}

fn value(forest: &Forest, dbds: &Databases, id: Id, parts: &[IndexPart]) -> Vec<u8> {
    let mut value = Vec::new();
    for one in parts {
        let len = usize::from(one.len);
        match one.from {
            PartSource::Segment(at) => {
                let data = &forest.get(id).data;
                value.extend(field_or_zeros(data, usize::from(at), len, one.kind_of_data));
            }
            PartSource::ConcatenatedKey(at) => {
                let key = concatenated_key(forest, dbds, id);
                let mut field = part(&key, usize::from(at), len).to_vec();
                field.resize(len, 0);
                value.extend(field);
            }
            // DLI-12.68: opaque; here the number of the occurrence, which ascends.
            PartSource::Unique => {
                let number = u64::try_from(id).unwrap_or(u64::MAX).to_be_bytes();
                value.extend(&number[number.len().saturating_sub(len)..]);
            }
        }
    }
    value
}

/// The key of an entry as a segment (DLI-12.64).
pub(crate) fn entry_key(index: &Index, entry: &Entry) -> Vec<u8> {
    let constant: Vec<u8> = index.constant.into_iter().collect();
    [&constant[..], &entry.search, &entry.subsequence].concat()
}

/// An entry as a segment: key, duplicate data, symbolic pointer, user data (DLI-12.64 and
/// DLI-12.70).
///
/// decision: where nothing was stored there are binary zeros.
pub(crate) fn image(forest: &Forest, dbds: &Databases, index: &Index, entry: &Entry) -> Vec<u8> {
    let mut image = entry_key(index, entry);
    image.extend(&entry.data);
    if index.symbolic {
        image.extend(concatenated_key(forest, dbds, entry.target));
    }
    let user_data = index.user_data();
    image.resize(user_data.start, 0);
    image.extend(&entry.user_data);
    image.resize(user_data.end, 0);
    image
}
