//! A segment type: SEGM, and the LCHILD statements that stand behind it.

use super::dbd::Exit;
use super::field::{Field, IndexedField};
use super::names::{DbdName, FieldName, ModuleName, SegmentName};
use super::words::{
    ChildPointer, DeleteRule, KeyStorage, LchildPointer, Rule, SegmentPart, TwinPlace,
};
use super::{Attribute, Extra};

/// A segment type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// `NAME=`.
    pub name: SegmentName,
    /// 1 for the root, at most 15.
    pub level: u8,
    /// The place in hierarchic order, from 1: the segment code.
    pub code: u8,
    /// The physical parent's place in the DBD; none for the root.
    pub parent: Option<u8>,
    /// `PARENT=((name,SNGL|DBLE))`.
    pub parent_pointer: Option<ChildPointer>,
    /// The logical parent: this is a logical child.
    pub logical_parent: Option<LogicalParent>,
    /// The longest length, LL included; 0 where `SOURCE=` decides.
    pub max: u16,
    /// The shortest length; equal to `max` for a fixed length.
    pub min: u16,
    /// Whether it has a variable length: `BYTES=(max,min)`.
    pub variable: bool,
    /// `POINTER=`.
    pub pointers: Pointers,
    /// `RULES=`.
    pub rules: Rules,
    /// `SOURCE=`: of a virtual logical child, and of every segment of a LOGICAL database.
    pub sources: Vec<SourceSegment>,
    /// `COMPRTN=`.
    pub compression: Option<Compression>,
    /// `TYPE=SEQ`: a sequential dependent of a DEDB.
    pub sequential: bool,
    /// `SSPTR=`: subset pointers, up to 8.
    pub subset_pointers: u8,
    /// `DSGROUP=`: the letter of the data set group of a HALDB.
    pub group: Option<char>,
    /// The place of its data set in the DBD.
    pub data_set: u8,
    /// `EXIT=`.
    pub exits: Vec<Exit>,
    /// `FREQ=`, as written.
    pub frequency: Option<String>,
    /// Its fields in the order of the source, the key first if there is one.
    pub fields: Vec<Field>,
    /// Its LCHILD statements.
    pub children: Vec<LogicalChild>,
    /// `EXTERNALNAME=` and the like.
    pub metadata: Vec<Attribute>,
    /// DFSMAP and DFSCASE statements.
    pub extras: Vec<Extra>,
}

impl Segment {
    /// A segment of fixed length that says nothing else.
    #[must_use]
    pub fn new(name: SegmentName, parent: Option<(u8, u8)>, code: u8, len: u16) -> Segment {
        Segment {
            name,
            level: parent.map_or(1, |(_, level)| level.saturating_add(1)),
            code,
            parent: parent.map(|(at, _)| at),
            parent_pointer: None,
            logical_parent: None,
            max: len,
            min: len,
            variable: false,
            pointers: Pointers::default(),
            rules: Rules::default(),
            sources: Vec::new(),
            compression: None,
            sequential: false,
            subset_pointers: 0,
            group: None,
            data_set: 0,
            exits: Vec::new(),
            frequency: None,
            fields: Vec::new(),
            children: Vec::new(),
            metadata: Vec::new(),
            extras: Vec::new(),
        }
    }

    /// The sequence field.
    #[must_use]
    pub fn key(&self) -> Option<&Field> {
        self.fields.iter().find(|field| field.is_key())
    }

    /// Whether twins cannot have equal keys.
    #[must_use]
    pub fn has_unique_key(&self) -> bool {
        use super::field::FieldKind;
        self.fields.iter().any(|field| field.kind == FieldKind::Key { unique: true })
    }

    /// A field by its name.
    #[must_use]
    pub fn field(&self, name: FieldName) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == Some(name))
    }

    /// Whether it is a virtual logical child: it shows what its source stores.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        !self.sources.is_empty()
    }

    pub(super) fn is_sound(&self) -> bool {
        use super::field::FieldKind;
        let known = self.max == 0 && self.is_virtual();
        self.fields.iter().all(|field| match field.kind {
            FieldKind::Key { .. } => {
                field.name.is_some()
                    && field.start > 0
                    && field.len > 0
                    && (known || field.end() <= u32::from(self.min))
            }
            FieldKind::Data => known || field.end() <= u32::from(self.max),
            FieldKind::ConcatenatedKey => field.start > 0 && field.len > 0,
            FieldKind::Unique => true,
        })
    }
}

/// `PARENT=(..,(lparent,VIRTUAL|PHYSICAL,db))`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogicalParent {
    /// The logical parent's name.
    pub segment: SegmentName,
    /// Whether its concatenated key is stored in the child.
    pub storage: KeyStorage,
    /// Its database.
    pub dbd: DbdName,
}

/// One `SOURCE=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSegment {
    /// The physical segment.
    pub segment: SegmentName,
    /// Whether gets return its data, or its key alone.
    pub part: SegmentPart,
    /// Its database.
    pub dbd: DbdName,
}

/// `COMPRTN=(rtn,DATA|KEY,INIT,MAX..)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The routine; the system's configuration names a built-in one.
    pub module: ModuleName,
    /// Whether the key is compressed too.
    pub part: SegmentPart,
    /// `INIT`: the routine is called at open and close.
    pub initialize: bool,
    /// What stood behind these, as written.
    pub more: Vec<String>,
}

/// `RULES=`: who may insert, delete and replace over which path (DLI-12.72 to DLI-12.74).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Insert rule.
    pub insert: Rule,
    /// Delete rule.
    pub delete: DeleteRule,
    /// Replace rule.
    pub replace: Rule,
    /// Where a twin goes that no unique key places (DLI-12.29).
    pub place: TwinPlace,
}

impl Default for Rules {
    /// `RULES=(LLL,LAST)`.
    fn default() -> Rules {
        Rules {
            insert: Rule::Logical,
            delete: DeleteRule::Logical,
            replace: Rule::Logical,
            place: TwinPlace::Last,
        }
    }
}

/// `POINTER=`: a set. But for NOTWIN and PAIRED it is kept only to be shown again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pointers(u16);

impl Pointers {
    /// All words with their short forms, in the order of their bits.
    pub const WORDS: &'static [(&'static str, &'static str)] = &[
        ("HIER", "H"),
        ("HIERBWD", "HB"),
        ("TWIN", "T"),
        ("TWINBWD", "TB"),
        ("NOTWIN", "NT"),
        ("LTWIN", "LT"),
        ("LTWINBWD", "LTB"),
        ("LPARNT", "LP"),
        ("CTR", "C"),
        ("PAIRED", "PAIRED"),
    ];

    /// Adds a word; `false` if there is no such one.
    pub fn add(&mut self, word: &str) -> bool {
        let bit = Pointers::WORDS.iter().position(|(long, short)| *long == word || *short == word);
        if let Some(bit) = bit {
            self.0 |= 1 << bit;
        }
        bit.is_some()
    }

    /// Whether the word, in its long form, is among them.
    #[must_use]
    pub fn has(self, word: &str) -> bool {
        self.words().any(|one| one == word)
    }

    /// The words in their long form.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let words = Pointers::WORDS.iter().enumerate();
        words.filter(move |(bit, _)| self.0 & (1 << bit) != 0).map(|(_, (long, _))| *long)
    }

    /// The bits, as they are stored.
    #[must_use]
    pub fn bits(self) -> u16 {
        self.0
    }

    /// The set of these bits, unless one of them has no meaning.
    #[must_use]
    pub fn from_bits(bits: u16) -> Option<Pointers> {
        (bits >> Pointers::WORDS.len() == 0).then_some(Pointers(bits))
    }
}

/// An LCHILD: a logical child, an index, or what an index is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogicalChild {
    /// The segment of `NAME=(segment,db)`.
    pub segment: SegmentName,
    /// Its database; the own one if not given.
    pub dbd: DbdName,
    /// `POINTER=`.
    pub pointer: Option<LchildPointer>,
    /// `PAIR=`: the virtual or paired logical child in this DBD.
    pub pair: Option<SegmentName>,
    /// `INDEX=`: in an index DBD, the field of the target.
    pub index: Option<FieldName>,
    /// `RULES=`: where logical twins go.
    pub place: Option<TwinPlace>,
    /// `RKSIZE=`: the root key length of the target (PSINDEX).
    pub root_key_size: Option<u16>,
    /// `PSELRTN=`, `PSELOPT=`, `MULTISEG=` and what else only Fast Path indexes know.
    pub metadata: Vec<Attribute>,
    /// The XDFLD behind it: this is a secondary index.
    pub indexed: Option<IndexedField>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_a_set() {
        let mut pointers = Pointers::default();
        assert!(pointers.add("TB") && pointers.add("LPARNT") && !pointers.add("TWINS"));
        assert!(pointers.has("TWINBWD") && pointers.has("LPARNT") && !pointers.has("TWIN"));
        assert_eq!(Pointers::from_bits(pointers.bits()), Some(pointers));
        assert_eq!(Pointers::from_bits(1 << 10), None);
    }
}
