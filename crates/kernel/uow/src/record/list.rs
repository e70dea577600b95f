//! Lists of entries of one size, as records have them: encoded once, read where they stand.

use std::borrow::Cow;
use std::marker::PhantomData;

use base::bytes::Reader;
use base::{CiNumber, DataSetId, Lsn};

use super::{Interval, SettledEntry, WrittenEntry};

/// What a [`List`] has: fields of fixed sizes.
pub trait Entry: Copy {
    /// How many bytes it takes.
    const BYTES: usize;

    /// The next one; `None` if it is cut short.
    fn get(reader: &mut Reader<'_>) -> Option<Self>;

    /// Appends its bytes.
    fn put(&self, out: &mut Vec<u8>);
}

/// Entries as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<'a, T> {
    bytes: Cow<'a, [u8]>,
    entries: PhantomData<T>,
}

impl<'a, T: Entry> List<'a, T> {
    /// These entries.
    #[must_use]
    pub fn of(entries: &[T]) -> List<'a, T> {
        let mut bytes = Vec::with_capacity(entries.len() * T::BYTES);
        entries.iter().for_each(|entry| entry.put(&mut bytes));
        List { bytes: Cow::Owned(bytes), entries: PhantomData }
    }

    /// The entries that these bytes are; `None` if the last one is cut short.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<List<'a, T>> {
        let whole = bytes.len().is_multiple_of(T::BYTES);
        whole.then_some(List { bytes: Cow::Borrowed(bytes), entries: PhantomData })
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.bytes.chunks_exact(T::BYTES).filter_map(|entry| T::get(&mut Reader::new(entry)))
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its bytes, to keep.
    #[must_use]
    pub fn into_bytes(self) -> Cow<'a, [u8]> {
        self.bytes
    }
}

impl Entry for Interval {
    const BYTES: usize = 8;

    fn get(reader: &mut Reader<'_>) -> Option<Interval> {
        Some((DataSetId(reader.u32()?), CiNumber(reader.u32()?)))
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.0.to_le_bytes());
        out.extend_from_slice(&self.1.0.to_le_bytes());
    }
}

/// What takes the place of a data set.
impl Entry for (DataSetId, DataSetId) {
    const BYTES: usize = 8;

    fn get(reader: &mut Reader<'_>) -> Option<(DataSetId, DataSetId)> {
        Some((DataSetId(reader.u32()?), DataSetId(reader.u32()?)))
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.0.to_le_bytes());
        out.extend_from_slice(&self.1.0.to_le_bytes());
    }
}

impl Entry for WrittenEntry {
    const BYTES: usize = 28;

    fn get(reader: &mut Reader<'_>) -> Option<WrittenEntry> {
        Some(WrittenEntry {
            ci: CiNumber(reader.u32()?),
            page_lsn: Lsn(reader.u64()?),
            new: reader.u64()?,
            old: reader.u64()?,
        })
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.ci.0.to_le_bytes());
        out.extend_from_slice(&self.page_lsn.0.to_le_bytes());
        out.extend_from_slice(&self.new.to_le_bytes());
        out.extend_from_slice(&self.old.to_le_bytes());
    }
}

impl Entry for SettledEntry {
    const BYTES: usize = 24;

    fn get(reader: &mut Reader<'_>) -> Option<SettledEntry> {
        Some(SettledEntry {
            set: DataSetId(reader.u32()?),
            ci: CiNumber(reader.u32()?),
            page_lsn: Lsn(reader.u64()?),
            prefix: reader.u64()?,
        })
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.set.0.to_le_bytes());
        out.extend_from_slice(&self.ci.0.to_le_bytes());
        out.extend_from_slice(&self.page_lsn.0.to_le_bytes());
        out.extend_from_slice(&self.prefix.to_le_bytes());
    }
}
