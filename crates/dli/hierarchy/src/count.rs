//! How many segments of each type there are, and how much they take.

use definitions::{DbdName, SegmentName};
use store::{Read, SetId, Store, Unit, UnitOptions};

use crate::database::Database;
use crate::error::Result;

/// What there is of a segment type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The type.
    pub segment: SegmentName,
    /// Its level, from 1.
    pub level: u8,
    /// Segments.
    pub segments: u64,
    /// Bytes of their values as they are stored.
    pub bytes: u64,
    /// Bytes of their keys, before those are shortened.
    pub key_bytes: u64,
}

/// The entries of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexCount {
    /// The index.
    pub index: DbdName,
    /// Its entries.
    pub entries: u64,
}

impl Database {
    /// Counts the segments of each type that is stored, in the order of the definition.
    ///
    /// # Errors
    /// If a key is no path, or the store refuses.
    pub fn count<S: Store>(&self, store: &S, mut progress: impl FnMut(u64)) -> Result<Vec<Count>> {
        let counts = self.schema.types.iter().map(|kind| Count {
            segment: kind.name,
            level: kind.level,
            segments: 0,
            bytes: 0,
            key_bytes: 0,
        });
        let (mut counts, mut all): (Vec<Count>, u64) = (counts.collect(), 0);
        self.walk(store, |seen| {
            let count = &mut counts[seen.of.index()];
            count.segments += 1;
            count.bytes += seen.value.len() as u64;
            count.key_bytes += seen.path.len() as u64;
            all += 1;
            progress(all);
            Ok(())
        })?;
        let kinds = self.schema.types.iter();
        let stored = counts.into_iter().zip(kinds).filter(|(_, kind)| !kind.is_virtual);
        Ok(stored.map(|(count, _)| count).collect())
    }

    /// Counts the entries of each secondary index.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn count_indexes<S: Store>(&self, store: &S) -> Result<Vec<IndexCount>> {
        let count = |tree: &crate::IndexTree| {
            Ok(IndexCount { index: tree.index.dbd, entries: count_entries(store, tree.set)? })
        };
        self.indexes.iter().map(count).collect()
    }
}

pub(crate) fn count_entries<S: Store>(store: &S, set: SetId) -> Result<u64> {
    let mut unit = store.begin(UnitOptions::READ_ONLY)?;
    let (mut cursor, mut entries) = (store.cursor(set)?, 0);
    while unit.next(&mut cursor, Read::Unlocked)?.is_some() {
        entries += 1;
    }
    unit.commit()?;
    Ok(entries)
}
