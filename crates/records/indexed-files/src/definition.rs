//! What a file's records and keys are; it stands in the file.
//!
//! | offset | bytes | of a definition on disk, least byte first |
//! |---|---|---|
//! | 0 | 1 | version, 1 |
//! | 1 | 4, 4 | shortest and longest record |
//! | 9 | 2 | keys; the first is the prime key |
//! | | 1 | each key: 1 has duplicates, 2 is sparse |
//! | | 1 | the character of a sparse key |
//! | | 2 | parts |
//! | | 4, 4 | each part: offset, length |
//!
//! Invariants:
//! 1. A definition that was read has a prime key, and no key without a part.

/// What stands in front of the keys.
const VERSION: u8 = 1;
const DUPLICATES: u8 = 1;
const SPARSE: u8 = 2;

/// A part of a key: where it stands in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins.
    pub offset: u32,
    /// How long it is.
    pub bytes: u32,
}

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its parts; most keys have one.
    pub parts: Vec<Part>,
    /// Whether several records may have the same.
    pub duplicates: bool,
    /// Records whose key has nothing but this character have none.
    pub sparse: Option<u8>,
}

impl Key {
    /// A key of one part, without duplicates.
    #[must_use]
    pub fn new(offset: u32, bytes: u32) -> Key {
        Key { parts: vec![Part { offset, bytes }], duplicates: false, sparse: None }
    }

    /// The same with duplicates.
    #[must_use]
    pub fn with_duplicates(self) -> Key {
        Key { duplicates: true, ..self }
    }

    /// Its length.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes as usize).sum()
    }

    /// Puts a record's key in place of what `out` has; `false` if the record ends before it, or
    /// the key is suppressed.
    pub(crate) fn take(&self, record: &[u8], out: &mut Vec<u8>) -> bool {
        out.clear();
        for part in &self.parts {
            let begin = part.offset as usize;
            match record.get(begin..begin.saturating_add(part.bytes as usize)) {
                Some(bytes) => out.extend_from_slice(bytes),
                None => return false,
            }
        }
        !self.sparse.is_some_and(|fill| out.iter().all(|byte| *byte == fill))
    }
}

/// What a file's records and keys are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The shortest record.
    pub least: u32,
    /// The longest record.
    pub most: u32,
    /// The keys: the prime key, and the alternate keys.
    pub keys: Vec<Key>,
}

impl Definition {
    /// Whether a program that says this of a file finds what it expects: records as long, the same
    /// prime key, and its alternate keys among those of the file.
    pub(crate) fn fits(&self, file: &Definition) -> bool {
        let (prime, alternates) = match (self.keys.split_first(), file.keys.split_first()) {
            (Some((own, alternates)), Some((prime, _))) => (own == prime, alternates),
            _ => return false,
        };
        prime && self.most == file.most && alternates.iter().all(|key| file.keys.contains(key))
    }

    pub(crate) fn is_sound(&self) -> bool {
        let within = |part: &Part| {
            part.bytes > 0
                && part.offset.checked_add(part.bytes).is_some_and(|end| end <= self.most)
        };
        let is_sound = |key: &Key| !key.parts.is_empty() && key.parts.iter().all(within);
        let prime = self.keys.first().is_some_and(|key| !key.duplicates && key.sparse.is_none());
        prime && self.keys.iter().all(is_sound) && self.keys.len() <= usize::from(u16::MAX)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        out.extend_from_slice(&self.least.to_le_bytes());
        out.extend_from_slice(&self.most.to_le_bytes());
        out.extend_from_slice(&(self.keys.len() as u16).to_le_bytes());
        for key in &self.keys {
            let sparse = if key.sparse.is_some() { SPARSE } else { 0 };
            out.push(if key.duplicates { DUPLICATES } else { 0 } | sparse);
            out.push(key.sparse.unwrap_or(0));
            out.extend_from_slice(&(key.parts.len() as u16).to_le_bytes());
            for part in &key.parts {
                out.extend_from_slice(&part.offset.to_le_bytes());
                out.extend_from_slice(&part.bytes.to_le_bytes());
            }
        }
        out
    }

    /// Reads one; `None` if the bytes are none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Definition> {
        let mut rest = Rest(bytes);
        if rest.array()? != [VERSION] {
            return None;
        }
        let (least, most, count) = (rest.u32()?, rest.u32()?, rest.u16()?);
        let mut keys = Vec::new();
        for _ in 0..count {
            let [flags, fill] = rest.array()?;
            let parts = rest.u16()?;
            let part = |_| Some(Part { offset: rest.u32()?, bytes: rest.u32()? });
            keys.push(Key {
                parts: (0..parts).map(part).collect::<Option<_>>()?,
                duplicates: flags & DUPLICATES != 0,
                sparse: (flags & SPARSE != 0).then_some(fill),
            });
        }
        Some(Definition { least, most, keys }).filter(Definition::is_sound)
    }
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_read_as_it_was_written_and_cut_ones_are_none() {
        let split = Key {
            parts: vec![Part { offset: 4, bytes: 2 }, Part { offset: 0, bytes: 3 }],
            duplicates: true,
            sparse: Some(b' '),
        };
        let definition = Definition { least: 8, most: 40, keys: vec![Key::new(0, 4), split] };
        let bytes = definition.to_bytes();
        assert_eq!(Definition::read(&bytes), Some(definition.clone()));
        for len in 0..bytes.len() {
            assert_eq!(Definition::read(&bytes[..len]), None, "{len}");
        }
        let short = Definition { most: 5, ..definition };
        assert_eq!(Definition::read(&short.to_bytes()), None);
    }

    #[test]
    fn a_program_may_know_fewer_alternate_keys_but_no_others() {
        let keys = vec![Key::new(0, 4), Key::new(4, 4).with_duplicates()];
        let file = Definition { least: 20, most: 20, keys };
        let program = |keys: Vec<Key>, most| Definition { least: 20, most, keys };
        assert!(program(vec![Key::new(0, 4)], 20).fits(&file));
        assert!(file.fits(&file));
        assert!(!program(vec![Key::new(0, 4)], 21).fits(&file));
        assert!(!program(vec![Key::new(0, 5)], 20).fits(&file));
        assert!(!program(vec![Key::new(0, 4), Key::new(4, 4)], 20).fits(&file));
    }

    #[test]
    fn a_key_of_blanks_alone_may_be_none() {
        let key = Key { sparse: Some(b' '), ..Key::new(2, 3) };
        let mut out = Vec::new();
        assert!(!key.take(b"ab   ", &mut out));
        assert!(key.take(b"ab  c", &mut out));
        assert_eq!(out, b"  c");
        assert!(!key.take(b"ab c", &mut out), "the record ends before it");
    }
}
