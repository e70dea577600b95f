//! The tree's log records. The kernel puts the data set in front of these bodies.
//!
//! Little-endian; `image` is a node without its free gap; the last field takes what is left.
//!
//! | kind | name | intervals | body |
//! |---|---|---|---|
//! | 32 | insert | ci | ci 4, slot 2, flags 1 (1: overflow), key 2+n, value |
//! | 33 | remove | ci | the same; undone by inserting it again |
//! | 34 | replace | ci | ci 4, slot 2, flags 1 (1: was, 2: is overflow), key 2+n, `span` |
//! | 35 | remove run | ci | ci 4, slot 2, entries 2, each: flags 1, key 2+n, value 2+n |
//! | 40 | split | left, right | left 4, right 4, stay 2, separator 2+n, image of right |
//! | 41 | post | parent | parent 4, slot 2, child 4, separator |
//! | 42 | root split | root, left, right | left 4, right 4, separator 2+n, left image 4+n, right |
//! | 43 | merge | parent, left, right | parent 4, left 4, right 4, slot 2, image of right |
//! | 44 | root collapse | root, child | child 4, image of child |
//! | 45 | relocate | parent, left, new, old | parent 4, slot 2, left 4 or 0, new 4, old 4, image |
//! | 48 | overflow | ci | ci 4, next 4, first 4, piece 4, data; undone by freeing it |
//! | 49 | free | ci | ci 4 |
//! | 56 | load begins | root | nothing; undone by emptying the data set |
//! | 57 | load | ci | ci 4, image |
//! | 58 | root | root | image |
//!
//! A `span` is: bytes before it that stay 2, old bytes 2+n, new bytes; what follows it stays.
//! Slots are numbers of entries: redo finds the interval exactly as it was and needs no search.

use base::CiNumber;
use base::bytes::{Reader, common_prefix, common_suffix};
use uow::RecordDamage;

use crate::node::Value;

/// Kinds; see the table above.
pub mod kind {
    /// An entry of a leaf is inserted.
    pub const INSERT: u8 = 32;
    /// An entry of a leaf is removed.
    pub const REMOVE: u8 = 33;
    /// A value in a leaf is replaced.
    pub const REPLACE: u8 = 34;
    /// Neighbouring entries of a leaf are removed.
    pub const REMOVE_RUN: u8 = 35;
    /// A node is split.
    pub const SPLIT: u8 = 40;
    /// A parent learns of a child.
    pub const POST: u8 = 41;
    /// The root gets two children.
    pub const ROOT_SPLIT: u8 = 42;
    /// A node takes over its right sibling.
    pub const MERGE: u8 = 43;
    /// The root takes over its only child.
    pub const ROOT_COLLAPSE: u8 = 44;
    /// A node moves to another interval.
    pub const RELOCATE: u8 = 45;
    /// A piece of a long value is written.
    pub const OVERFLOW: u8 = 48;
    /// An interval becomes free.
    pub const FREE: u8 = 49;
    /// A bulk load begins.
    pub const LOAD_BEGINS: u8 = 56;
    /// A node is loaded.
    pub const LOAD: u8 = 57;
    /// The root is written whole.
    pub const ROOT: u8 = 58;
}

/// The name of a tree's record, for people; `None` if the kind is not the tree's.
#[must_use]
pub fn name_of(kind: u8) -> Option<&'static str> {
    Some(match kind {
        kind::INSERT => "insert",
        kind::REMOVE => "remove",
        kind::REPLACE => "replace",
        kind::REMOVE_RUN => "remove-run",
        kind::SPLIT => "split",
        kind::POST => "post",
        kind::ROOT_SPLIT => "root-split",
        kind::MERGE => "merge",
        kind::ROOT_COLLAPSE => "root-collapse",
        kind::RELOCATE => "relocate",
        kind::OVERFLOW => "overflow",
        kind::FREE => "free",
        kind::LOAD_BEGINS => "load-begins",
        kind::LOAD => "load",
        kind::ROOT => "root",
        _ => return None,
    })
}

/// A record taken apart; it borrows from the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// See the table of the module.
    Insert(Entry<'a>),
    /// See the table of the module.
    Remove(Entry<'a>),
    /// See the table of the module.
    Replace(Replace<'a>),
    /// See the table of the module.
    RemoveRun {
        /// The leaf.
        ci: CiNumber,
        /// The first entry.
        slot: usize,
        /// What was removed.
        entries: Vec<(&'a [u8], Value<'a>)>,
    },
    /// See the table of the module.
    Split {
        /// The node that is split.
        left: CiNumber,
        /// The new node.
        right: CiNumber,
        /// How many entries stay.
        left_count: usize,
        /// The fence between them.
        separator: &'a [u8],
        /// The new node's image.
        image: &'a [u8],
    },
    /// See the table of the module.
    Post {
        /// The parent.
        parent: CiNumber,
        /// Where the entry goes.
        slot: usize,
        /// The child.
        child: CiNumber,
        /// The child's low fence.
        separator: &'a [u8],
    },
    /// See the table of the module.
    RootSplit {
        /// The new left child.
        left: CiNumber,
        /// The new right child.
        right: CiNumber,
        /// The fence between them.
        separator: &'a [u8],
        /// The left child's image.
        left_image: &'a [u8],
        /// The right child's image.
        right_image: &'a [u8],
    },
    /// See the table of the module.
    Merge {
        /// The parent of both.
        parent: CiNumber,
        /// The node that stays.
        left: CiNumber,
        /// The node that becomes free.
        right: CiNumber,
        /// The parent's entry for it.
        slot: usize,
        /// The right node's image.
        image: &'a [u8],
    },
    /// See the table of the module.
    RootCollapse {
        /// The child that becomes free.
        child: CiNumber,
        /// Its image.
        image: &'a [u8],
    },
    /// See the table of the module.
    Relocate(Relocate<'a>),
    /// See the table of the module.
    Overflow(Piece<'a>),
    /// See the table of the module.
    Free {
        /// The interval.
        ci: CiNumber,
    },
    /// See the table of the module.
    LoadBegins,
    /// See the table of the module.
    Load {
        /// The interval.
        ci: CiNumber,
        /// The node's image.
        image: &'a [u8],
    },
    /// See the table of the module.
    Root {
        /// The root's image.
        image: &'a [u8],
    },
}

/// An entry that comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The leaf.
    pub ci: CiNumber,
    /// Which entry.
    pub slot: usize,
    /// Its key.
    pub key: &'a [u8],
    /// Its value.
    pub value: Value<'a>,
}

/// A value that changes, given by the span that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replace<'a> {
    /// The leaf.
    pub ci: CiNumber,
    /// Which entry.
    pub slot: usize,
    /// Its key.
    pub key: &'a [u8],
    /// Where the span begins.
    pub prefix: usize,
    /// The span before.
    pub before: &'a [u8],
    /// The span after.
    pub after: &'a [u8],
    /// Whether the value before is a reference.
    pub was_overflow: bool,
    /// Whether the value after is one.
    pub is_overflow: bool,
}

/// A node that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocate<'a> {
    /// Its parent.
    pub parent: CiNumber,
    /// The parent's entry for it.
    pub slot: usize,
    /// Its left sibling.
    pub left: Option<CiNumber>,
    /// Where it goes.
    pub new: CiNumber,
    /// Where it was.
    pub old: CiNumber,
    /// Its image, with the new number.
    pub image: &'a [u8],
}

/// A piece of a long value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Where it stands.
    pub ci: CiNumber,
    /// The next piece.
    pub next: Option<CiNumber>,
    /// The first piece.
    pub first: CiNumber,
    /// Which piece, from 0.
    pub number: u32,
    /// The data.
    pub data: &'a [u8],
}

impl Replace<'_> {
    /// The value after the change, or before it if `backwards`, from the other one.
    ///
    /// # Errors
    /// If the value does not have the span.
    pub fn apply(&self, value: &[u8], backwards: bool) -> Result<Vec<u8>, RecordDamage> {
        let (from, to) =
            if backwards { (self.after, self.before) } else { (self.before, self.after) };
        let (head, rest) = value.split_at_checked(self.prefix).ok_or_else(misfit)?;
        let tail = rest.strip_prefix(from).ok_or_else(misfit)?;
        Ok([head, to, tail].concat())
    }
}

fn misfit() -> RecordDamage {
    RecordDamage("the value is not the one that was replaced".into())
}

/// Up to 40 bytes of fields in front of a body's longer parts.
pub(crate) struct Fields {
    bytes: [u8; 40],
    len: usize,
}

impl Fields {
    pub(crate) fn new() -> Fields {
        Fields { bytes: [0; 40], len: 0 }
    }

    fn push(mut self, bytes: &[u8]) -> Fields {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
        self
    }

    pub(crate) fn ci(self, ci: CiNumber) -> Fields {
        self.push(&ci.0.to_le_bytes())
    }

    pub(crate) fn u32(self, value: u32) -> Fields {
        self.push(&value.to_le_bytes())
    }

    /// Slots, counts and lengths: all are below 64 Ki by the limits of a node.
    pub(crate) fn u16(self, value: usize) -> Fields {
        assert!(value <= usize::from(u16::MAX), "{value} is no length within a node");
        self.push(&(value as u16).to_le_bytes())
    }

    pub(crate) fn u8(self, value: u8) -> Fields {
        self.push(&[value])
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The fields of an insert or a remove; key and value follow.
pub(crate) fn entry_fields(ci: CiNumber, slot: usize, key: &[u8], overflow: bool) -> Fields {
    Fields::new().ci(ci).u16(slot).u8(u8::from(overflow)).u16(key.len())
}

const WAS_OVERFLOW: u8 = 1;
const IS_OVERFLOW: u8 = 2;

/// The change from one value to another as the span that differs: body parts are fields, key,
/// spans' fields, old middle, new middle.
pub(crate) struct ReplaceParts<'a> {
    pub(crate) fields: Fields,
    pub(crate) key: &'a [u8],
    pub(crate) span: Fields,
    pub(crate) before: &'a [u8],
    pub(crate) after: &'a [u8],
}

impl<'a> ReplaceParts<'a> {
    pub(crate) fn new(
        ci: CiNumber,
        slot: usize,
        key: &'a [u8],
        old: Value<'a>,
        new: Value<'a>,
    ) -> ReplaceParts<'a> {
        let (before, after) = (old.bytes, new.bytes);
        let prefix = common_prefix(before, after);
        let (before, after) = (&before[prefix..], &after[prefix..]);
        let suffix = common_suffix(before, after);
        let before = &before[..before.len() - suffix];
        let after = &after[..after.len() - suffix];
        let flags =
            (u8::from(old.overflow) * WAS_OVERFLOW) | (u8::from(new.overflow) * IS_OVERFLOW);
        ReplaceParts {
            fields: Fields::new().ci(ci).u16(slot).u8(flags).u16(key.len()),
            key,
            span: Fields::new().u16(prefix).u16(before.len()),
            before,
            after,
        }
    }

    pub(crate) fn body(&self) -> [&[u8]; 5] {
        [self.fields.bytes(), self.key, self.span.bytes(), self.before, self.after]
    }
}

/// Appends an entry of a "remove run".
pub(crate) fn push_run_entry(out: &mut Vec<u8>, key: &[u8], value: Value<'_>) {
    out.push(u8::from(value.overflow));
    base::bytes::push_string16(out, key);
    base::bytes::push_string16(out, value.bytes);
}

impl<'a> Record<'a> {
    /// Takes a body apart.
    ///
    /// # Errors
    /// If it is too short or the kind is not the tree's.
    pub fn decode(kind: u8, body: &'a [u8]) -> Result<Record<'a>, RecordDamage> {
        let decoded = decode(kind, &mut Reader::new(body));
        decoded.ok_or_else(|| match name_of(kind) {
            Some(name) => RecordDamage(format!("the body of a record \"{name}\" is too short")),
            None => RecordDamage(format!("kind {kind} is not one of a tree")),
        })
    }
}

fn decode<'a>(kind: u8, reader: &mut Reader<'a>) -> Option<Record<'a>> {
    Some(match kind {
        kind::INSERT => Record::Insert(entry(reader)?),
        kind::REMOVE => Record::Remove(entry(reader)?),
        kind::REPLACE => Record::Replace(replace(reader)?),
        kind::REMOVE_RUN => remove_run(reader)?,
        kind::SPLIT => Record::Split {
            left: ci(reader)?,
            right: ci(reader)?,
            left_count: slot(reader)?,
            separator: reader.string16()?,
            image: reader.rest(),
        },
        kind::POST => Record::Post {
            parent: ci(reader)?,
            slot: slot(reader)?,
            child: ci(reader)?,
            separator: reader.rest(),
        },
        kind::ROOT_SPLIT => {
            let (left, right) = (ci(reader)?, ci(reader)?);
            let separator = reader.string16()?;
            let bytes = reader.u32()? as usize;
            let left_image = reader.take(bytes)?;
            Record::RootSplit { left, right, separator, left_image, right_image: reader.rest() }
        }
        kind::MERGE => Record::Merge {
            parent: ci(reader)?,
            left: ci(reader)?,
            right: ci(reader)?,
            slot: slot(reader)?,
            image: reader.rest(),
        },
        kind::ROOT_COLLAPSE => Record::RootCollapse { child: ci(reader)?, image: reader.rest() },
        kind::RELOCATE => Record::Relocate(relocate(reader)?),
        kind::OVERFLOW => Record::Overflow(Piece {
            ci: ci(reader)?,
            next: some_ci(reader)?,
            first: ci(reader)?,
            number: reader.u32()?,
            data: reader.rest(),
        }),
        kind::FREE => Record::Free { ci: ci(reader)? },
        kind::LOAD_BEGINS => Record::LoadBegins,
        kind::LOAD => Record::Load { ci: ci(reader)?, image: reader.rest() },
        kind::ROOT => Record::Root { image: reader.rest() },
        _ => return None,
    })
}

fn ci(reader: &mut Reader<'_>) -> Option<CiNumber> {
    reader.u32().map(CiNumber)
}

fn some_ci(reader: &mut Reader<'_>) -> Option<Option<CiNumber>> {
    reader.u32().map(|number| (number != 0).then_some(CiNumber(number)))
}

fn slot(reader: &mut Reader<'_>) -> Option<usize> {
    reader.u16().map(usize::from)
}

fn entry<'a>(reader: &mut Reader<'a>) -> Option<Entry<'a>> {
    let (ci, slot, flags) = (ci(reader)?, slot(reader)?, reader.u8()?);
    let key = reader.string16()?;
    Some(Entry { ci, slot, key, value: Value { bytes: reader.rest(), overflow: flags & 1 != 0 } })
}

fn replace<'a>(reader: &mut Reader<'a>) -> Option<Replace<'a>> {
    let (ci, slot, flags) = (ci(reader)?, slot(reader)?, reader.u8()?);
    let key = reader.string16()?;
    let prefix = usize::from(reader.u16()?);
    let before = reader.string16()?;
    Some(Replace {
        ci,
        slot,
        key,
        prefix,
        before,
        after: reader.rest(),
        was_overflow: flags & WAS_OVERFLOW != 0,
        is_overflow: flags & IS_OVERFLOW != 0,
    })
}

fn remove_run<'a>(reader: &mut Reader<'a>) -> Option<Record<'a>> {
    let (ci, slot, count) = (ci(reader)?, slot(reader)?, reader.u16()?);
    let mut entries = Vec::new();
    for _ in 0..count {
        let overflow = reader.u8()? & 1 != 0;
        let key = reader.string16()?;
        entries.push((key, Value { bytes: reader.string16()?, overflow }));
    }
    Some(Record::RemoveRun { ci, slot, entries })
}

fn relocate<'a>(reader: &mut Reader<'a>) -> Option<Relocate<'a>> {
    Some(Relocate {
        parent: ci(reader)?,
        slot: slot(reader)?,
        left: some_ci(reader)?,
        new: ci(reader)?,
        old: ci(reader)?,
        image: reader.rest(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_logs_the_span_that_differs_and_works_both_ways() {
        for (old, new) in [
            (&b"balance 100 EUR"[..], &b"balance 95 EUR"[..]),
            (b"same", b"same"),
            (b"", b"new"),
            (b"aaaa", b"aa"),
            (b"abcabc", b"abc"),
        ] {
            let (was, is) = (Value::inline(old), Value::inline(new));
            let parts = ReplaceParts::new(CiNumber(9), 3, b"key", was, is);
            let body = parts.body().concat();
            let Ok(Record::Replace(replace)) = Record::decode(kind::REPLACE, &body) else {
                panic!("it decodes")
            };
            assert_eq!((replace.key, replace.slot), (&b"key"[..], 3));
            assert_eq!(replace.apply(old, false), Ok(new.to_vec()));
            assert_eq!(replace.apply(new, true), Ok(old.to_vec()));
        }
    }

    #[test]
    fn short_bodies_are_damage() {
        for kind in 0..=u8::MAX {
            for len in 0..12 {
                let body = vec![1; len];
                let decoded = Record::decode(kind, &body);
                assert!(decoded.is_ok() || decoded.is_err_and(|damage| !damage.0.is_empty()));
            }
        }
        let body = [1, 0, 0, 0, 2, 0, 0, 200, 0, b'k'];
        assert!(Record::decode(kind::INSERT, &body).is_err());
        assert!(Record::decode(31, &[0; 64]).is_err());
    }
}
