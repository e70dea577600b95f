//! A secondary index as the call engine needs it.

use crate::model::{
    Dbd, DbdName, FieldKind, FieldName, FieldType, IndexedField, LchildPointer, LogicalChild,
    ModuleName, NullValue, Protection, SegmentName,
};

/// A secondary index: from a source segment to a target segment of one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The XDFLD, by which SSAs name the search fields.
    pub name: FieldName,
    /// The index database.
    pub dbd: DbdName,
    /// Its segment.
    pub segment: SegmentName,
    /// The database of target and source.
    pub target_dbd: DbdName,
    /// The target segment.
    pub target: SegmentName,
    /// The code of the target segment.
    pub target_code: u8,
    /// The source segment.
    pub source: SegmentName,
    /// The code of the source segment.
    pub source_code: u8,
    /// The byte in front of each key.
    pub constant: Option<u8>,
    /// `SRCH=`: what SSAs compare (DLI-12.64).
    pub search: Vec<IndexPart>,
    /// `SUBSEQ=`.
    pub subsequence: Vec<IndexPart>,
    /// `DDATA=`.
    pub data: Vec<IndexPart>,
    /// Sources whose search fields hold only this have no entry (DLI-12.66).
    pub null: Option<NullValue>,
    /// The exit that decides whether there is an entry.
    pub exit: Option<ModuleName>,
    /// Whether two entries cannot have the same key (DLI-12.67).
    pub unique: bool,
    /// Whether programs that use the index as a database cannot delete.
    pub protected: bool,
    /// Whether entries hold the target's concatenated key.
    pub symbolic: bool,
    /// The length of that key.
    pub target_key_len: u32,
    /// The length of the index segment: what its key and its data leave is user data.
    pub segment_len: u16,
}

/// One field of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexPart {
    /// Its name.
    pub name: FieldName,
    /// Where it comes from.
    pub from: PartSource,
    /// Its length.
    pub len: u16,
    /// Its type, which decides on its fill (DLI-12.66).
    pub kind_of_data: FieldType,
}

/// Where a field of an index comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartSource {
    /// The source segment, at this offset from 0.
    Segment(u16),
    /// The source segment's concatenated key, at this offset from 0 (`/CK`).
    ConcatenatedKey(u16),
    /// A stable number of the source segment (`/SX`, DLI-12.68).
    Unique,
}

impl Index {
    /// The length of the search fields together, as SSAs give them.
    #[must_use]
    pub fn search_len(&self) -> u32 {
        total(&self.search)
    }

    /// The length of the index segment's key.
    #[must_use]
    pub fn key_len(&self) -> u32 {
        u32::from(self.constant.is_some()) + total(&self.search) + total(&self.subsequence)
    }

    /// The length of the data that is copied behind the key.
    #[must_use]
    pub fn data_len(&self) -> u32 {
        total(&self.data)
    }

    /// The length of the key and the data that is copied behind it.
    #[must_use]
    pub fn entry_len(&self) -> u32 {
        self.key_len() + self.data_len()
    }

    /// Where user data stands in the index segment: behind key, data and symbolic pointer.
    #[must_use]
    pub fn user_data(&self) -> std::ops::Range<usize> {
        let pointer = if self.symbolic { self.target_key_len } else { 0 };
        let end = u32::from(self.segment_len);
        let from = (self.entry_len() + pointer).min(end);
        from as usize..end as usize
    }
}

fn total(parts: &[IndexPart]) -> u32 {
    parts.iter().map(|part| u32::from(part.len)).sum()
}

/// The index that an LCHILD with its XDFLD defines, without what the index DBD says. `None` if
/// source or fields are not there, which the check of the DBD has told.
pub(super) fn describe(
    dbd: &Dbd,
    target: usize,
    child: &LogicalChild,
    indexed: &IndexedField,
) -> Option<Index> {
    let source = match indexed.source {
        None => target,
        Some(name) => dbd.position(name)?,
    };
    let parts = |names: &[FieldName]| -> Option<Vec<IndexPart>> {
        names.iter().map(|name| part(dbd, source, *name)).collect()
    };
    let target_at = target;
    let target = dbd.segments.get(target)?;
    let source = dbd.segments.get(source)?;
    Some(Index {
        name: indexed.name,
        dbd: child.dbd,
        segment: child.segment,
        target_dbd: dbd.name,
        target: target.name,
        target_code: target.code,
        source: source.name,
        source_code: source.code,
        constant: indexed.constant,
        search: parts(&indexed.search)?,
        subsequence: parts(&indexed.subsequence)?,
        data: parts(&indexed.data)?,
        null: indexed.null,
        exit: indexed.exit,
        unique: false,
        protected: false,
        symbolic: child.pointer == Some(LchildPointer::Symb),
        target_key_len: dbd.concatenated_key_len(target_at),
        segment_len: 0,
    })
}

fn part(dbd: &Dbd, source: usize, name: FieldName) -> Option<IndexPart> {
    let field = dbd.field(source, name)?;
    let offset = field.start.saturating_sub(1);
    let from = match field.kind {
        FieldKind::Unique => PartSource::Unique,
        FieldKind::ConcatenatedKey => PartSource::ConcatenatedKey(offset),
        FieldKind::Data | FieldKind::Key { .. } => PartSource::Segment(offset),
    };
    Some(IndexPart { name, from, len: field.len, kind_of_data: field.kind_of_data })
}

/// Adds what the index DBD says.
pub(super) fn complete(index: &mut Index, of: &Dbd) {
    let segment = of.segment(index.segment);
    index.segment_len = segment.map_or(0, |segment| segment.max);
    index.unique = segment.is_some_and(|segment| segment.has_unique_key());
    index.protected = of.protection == Some(Protection::Prot);
}
