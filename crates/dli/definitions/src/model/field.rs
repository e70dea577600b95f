//! Fields of a segment, and the fields of a secondary index: FIELD and XDFLD.

use super::names::{FieldName, ModuleName, SegmentName};
use super::words::FieldType;
use super::{Attribute, Extra};

/// A field: FIELD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// `NAME=`; a field that has an external name only cannot be used in calls.
    pub name: Option<FieldName>,
    /// Plain, key, or system field.
    pub kind: FieldKind,
    /// `START=`, from 1; 0 where `STARTAFTER=` stands instead. Counts from LL in segments of
    /// variable length (DLI-12.43); for `/CK` within the concatenated key.
    pub start: u16,
    /// `STARTAFTER=`: the field behind which it begins, at a place that varies.
    pub start_after: Option<String>,
    /// `BYTES=`.
    pub len: u16,
    /// `TYPE=`.
    pub kind_of_data: FieldType,
    /// `DATATYPE=`, `EXTERNALNAME=` and the like.
    pub metadata: Vec<Attribute>,
    /// The DFSMARSH that follows it.
    pub marshal: Option<Extra>,
}

impl FieldType {
    /// The byte that stands for a field that is not there (DLI-12.46 and DLI-12.66).
    #[must_use]
    pub fn fill_byte(self, blank: u8) -> u8 {
        if self == FieldType::Character { blank } else { 0 }
    }

    /// Writes what a field holds that is not there: packed zero has its sign.
    pub fn fill(self, field: &mut [u8], blank: u8) {
        field.fill(self.fill_byte(blank));
        if self == FieldType::Packed
            && let Some(last) = field.last_mut()
        {
            *last = 0x0C;
        }
    }
}

impl Field {
    /// Where it begins, from 0; `None` if that varies.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        usize::from(self.start).checked_sub(1)
    }

    /// The offset behind its last byte, 0 if it has no fixed place.
    #[must_use]
    pub fn end(&self) -> u32 {
        match self.offset() {
            Some(_) => u32::from(self.start) + u32::from(self.len) - 1,
            None => 0,
        }
    }

    /// Whether it is the sequence field.
    #[must_use]
    pub fn is_key(&self) -> bool {
        matches!(self.kind, FieldKind::Key { .. })
    }
}

/// What a field is to its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A field that SSAs may name.
    Data,
    /// The sequence field: `NAME=(n,SEQ,U|M)`.
    Key {
        /// Whether twins must differ in it.
        unique: bool,
    },
    /// `/CKxxx`: a part of the segment's concatenated key.
    ConcatenatedKey,
    /// `/SXxxx`: a number that makes an index entry unique; 4 bytes, 8 in a HALDB.
    Unique,
}

/// The fields of a secondary index: XDFLD, standing behind its LCHILD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedField {
    /// `NAME=`: by which SSAs name the search fields together.
    pub name: FieldName,
    /// `SEGMENT=`: the source segment; the target itself if not given.
    pub source: Option<SegmentName>,
    /// `CONST=`: the byte in front of each key.
    pub constant: Option<u8>,
    /// `SRCH=`: one to five fields of the source segment.
    pub search: Vec<FieldName>,
    /// `SUBSEQ=`: up to five fields that order entries of equal search fields.
    pub subsequence: Vec<FieldName>,
    /// `DDATA=`: up to five fields that are copied into the entry.
    pub data: Vec<FieldName>,
    /// `NULLVAL=`: sources whose search fields hold only this have no entry.
    pub null: Option<NullValue>,
    /// `EXTRTN=`: the exit that decides whether there is an entry.
    pub exit: Option<ModuleName>,
    /// External names and remarks.
    pub metadata: Vec<Attribute>,
}

/// `NULLVAL=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullValue {
    /// This byte.
    Byte(u8),
    /// The blank of the data's code page (DLI-12.66).
    Blank,
    /// Binary zero.
    Zero,
}
