//! The segment types of a file, which one is whose parent, and their table in the file.
//!
//! Invariants:
//!
//! 1. Types stand in order of their codes, the root first; each other one is at most one level
//!    below the one before it. So every type but the root has a parent before it.
//! 2. Codes and names are unique, levels are 1 to [`LEVELS`], stored lengths 1 to [`STORED_MAX`].

use std::fmt;

use crate::counts::Counts;
use crate::error::UnloadError;
use crate::layout::{ENTRY, LAST};
use crate::name::{Encoding, NAME_BYTES, Name};

/// The levels that a database can have.
pub(crate) const LEVELS: u8 = 15;
/// The longest segment with its prefix.
pub(crate) const STORED_MAX: u16 = LAST - 1;
/// That no type has a code.
const NONE: u8 = u8::MAX;

/// A segment type, as header and trailer name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentType {
    /// Its code: 1 for the root, and so on in hierarchic order; at most 255.
    pub code: u8,
    /// Its level: 1 for the root.
    pub level: u8,
    /// Its name.
    pub name: Name,
    /// The longest that a segment can be together with its prefix. How much of that is prefix is
    /// not in the file, so this only bounds the data.
    pub stored_length: u16,
}

impl fmt::Display for SegmentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SegmentType { code, level, name, stored_length } = self;
        write!(f, "{name} with code {code}, on level {level}, {stored_length} bytes long")
    }
}

/// What lengths the segments of a type can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Always the same.
    Fixed(u16),
    /// Between two lengths, and nothing in the data says which.
    Within {
        /// The shortest.
        min: u16,
        /// The longest.
        max: u16,
    },
    /// Between two lengths; the data begins with its length, two bytes, these included.
    Variable {
        /// The shortest that a database definition allows for.
        min: u16,
        /// The longest.
        max: u16,
    },
}

impl Form {
    /// Why data is not of this form, if it is not.
    pub(crate) fn fault(self, data: &[u8]) -> Option<String> {
        match self {
            Form::Fixed(length) if data.len() == usize::from(length) => None,
            Form::Fixed(length) => Some(format!("its definition says {length}")),
            Form::Within { min, max } => {
                let is_allowed = (usize::from(min)..=usize::from(max)).contains(&data.len());
                (!is_allowed).then(|| format!("its definition allows for {min} to {max}"))
            }
            Form::Variable { min, max } => {
                let stated = match data {
                    [high, low, ..] => u16::from_be_bytes([*high, *low]),
                    _ => return Some("there is no room for its length field".to_owned()),
                };
                if usize::from(stated) != data.len() {
                    return Some(format!("its length field says {stated}"));
                }
                let is_allowed = (min..=max).contains(&stated);
                (!is_allowed).then(|| format!("its definition says {min} to {max}"))
            }
        }
    }
}

/// The segment types of a file.
#[derive(Clone, Debug)]
pub(crate) struct Hierarchy {
    types: Vec<SegmentType>,
    parents: Vec<Option<usize>>,
    by_code: [u8; 256],
}

impl Hierarchy {
    pub(crate) fn new(types: Vec<SegmentType>) -> Result<Self, UnloadError> {
        let mut parents: Vec<Option<usize>> = Vec::with_capacity(types.len());
        let mut by_code = [NONE; 256];
        for (at, segment) in types.iter().enumerate() {
            check(segment, &types[..at]).map_err(UnloadError::Types)?;
            let above = |earlier: &SegmentType| earlier.level + 1 == segment.level;
            parents.push(types[..at].iter().rposition(above));
            by_code[usize::from(segment.code)] = at as u8;
        }
        if types.is_empty() {
            return Err(UnloadError::Types("there are none".to_owned()));
        }
        Ok(Hierarchy { types, parents, by_code })
    }

    pub(crate) fn types(&self) -> &[SegmentType] {
        &self.types
    }

    pub(crate) fn find(&self, code: u8) -> Option<usize> {
        let at = usize::from(self.by_code[usize::from(code)]);
        (at < self.types.len()).then_some(at)
    }

    pub(crate) fn parent(&self, at: usize) -> Option<usize> {
        self.parents[at]
    }

    /// The table of a header or trailer.
    pub(crate) fn encode(&self, counts: &[Counts], out: &mut Vec<u8>) {
        let last = self.types.len() - 1;
        for (at, (segment, counts)) in self.types.iter().zip(counts).enumerate() {
            out.extend(segment.name.encoded(Encoding::Ebcdic));
            let words = [counts.max_twins, counts.twins, 0, counts.max_children, counts.children];
            for word in words.into_iter().chain([0, counts.segments]) {
                out.extend(word.to_be_bytes());
            }
            out.extend([segment.code, segment.level]);
            let mark = if at == last { LAST } else { 0 };
            out.extend((segment.stored_length | mark).to_be_bytes());
        }
    }

    /// The types of a table, their counts, and the encoding of their names.
    pub(crate) fn decode(table: &[u8]) -> Result<(Self, Vec<Counts>, Encoding), UnloadError> {
        let encoding = table.first().and_then(|first| Encoding::of(*first));
        let encoding = encoding.ok_or_else(|| UnloadError::Foreign {
            expected: "the name of the root segment at offset 8",
            found: show(&table[..table.len().min(NAME_BYTES)]),
        })?;
        let mut types = Vec::with_capacity(table.len() / ENTRY);
        let mut counts = Vec::with_capacity(table.len() / ENTRY);
        for entry in table.chunks_exact(ENTRY) {
            let name = Name::decoded(&entry[..NAME_BYTES], encoding).ok_or_else(|| {
                let number = types.len() + 1;
                UnloadError::Types(format!("name {number} is {}", show(&entry[..NAME_BYTES])))
            })?;
            let stored_length = u16::from_be_bytes([entry[38], entry[39]]) & !LAST;
            types.push(SegmentType { code: entry[36], level: entry[37], name, stored_length });
            counts.push(Counts::decode(entry));
        }
        Ok((Hierarchy::new(types)?, counts, encoding))
    }
}

/// Whether a type can stand behind those.
fn check(segment: &SegmentType, before: &[SegmentType]) -> Result<(), String> {
    let SegmentType { code, level, name, stored_length } = *segment;
    let previous = before.last();
    if code <= previous.map_or(0, |previous| previous.code) {
        return Err(format!("the code of {name}, {code}, does not ascend from 1"));
    }
    if before.len() >= usize::from(NONE) {
        return Err(format!("{name} is one too many; there can be {NONE}"));
    }
    let levels = previous.map_or(1..=1, |previous| 2..=(previous.level + 1).min(LEVELS));
    if !levels.contains(&level) {
        let (low, high) = levels.into_inner();
        return Err(format!("{name} is on level {level}; it can be {low} to {high} here"));
    }
    if before.iter().any(|earlier| earlier.name == name) {
        return Err(format!("{name} stands twice"));
    }
    if stored_length == 0 || stored_length > STORED_MAX {
        return Err(format!("{name} has a length of {stored_length}; it can be 1 to {STORED_MAX}"));
    }
    Ok(())
}

/// Bytes for a message.
pub(crate) fn show(bytes: &[u8]) -> String {
    format!("x'{}'", base::hex::lower(bytes))
}
