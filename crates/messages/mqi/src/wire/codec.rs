//! Numbers, bytes and structures in a frame's fields.
//!
//! | kind | bytes |
//! |---|---|
//! | number | 4, little endian |
//! | handle of a message | 8, little endian |
//! | flag | 1: 0 or 1 |
//! | bytes, text | a number that says how many, and the bytes |
//! | list | a number that says how many, and its members |
//! | structure | what differs from its initial form, or from what the request had: see `table` |
//!
//! Invariants:
//! 1. Reading never goes past the fields, and never takes memory that the fields do not fill.
//! 2. A reader of fields reads all of them: what is left over makes the frame invalid.

use crate::table::Structure;

/// Writes the fields of a frame.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Without any field.
    #[must_use]
    pub fn new() -> Writer {
        Writer::default()
    }

    /// What was written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A number.
    pub fn number(&mut self, value: i32) -> &mut Writer {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A number of eight bytes.
    pub fn long(&mut self, value: i64) -> &mut Writer {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A flag.
    pub fn flag(&mut self, value: bool) -> &mut Writer {
        self.bytes.push(u8::from(value));
        self
    }

    /// Bytes, with their length.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Writer {
        self.count(value.len());
        self.bytes.extend_from_slice(value);
        self
    }

    /// Bytes whose number is known to both sides.
    pub fn fixed(&mut self, value: &[u8]) -> &mut Writer {
        self.bytes.extend_from_slice(value);
        self
    }

    /// Numbers, with their count.
    pub fn numbers(&mut self, values: &[i32]) -> &mut Writer {
        self.count(values.len());
        for value in values {
            self.number(*value);
        }
        self
    }

    /// How many members a list has.
    pub fn count(&mut self, count: usize) -> &mut Writer {
        self.number(i32::try_from(count).unwrap_or(i32::MAX))
    }

    /// A structure, as what differs from a base.
    pub fn structure<T: Structure>(&mut self, value: &T, base: &T) -> &mut Writer {
        value.changes(base, &mut self.bytes);
        self
    }
}

/// Reads the fields of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Of a frame's fields.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    /// Whether everything was read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.bytes.is_empty()
    }

    /// So many bytes.
    pub fn fixed(&mut self, len: usize) -> Option<&'a [u8]> {
        let (these, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(these)
    }

    /// Bytes of an array.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.fixed(N)?.try_into().ok()
    }

    /// A number.
    pub fn number(&mut self) -> Option<i32> {
        self.array().map(i32::from_le_bytes)
    }

    /// A number of eight bytes.
    pub fn long(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// A flag.
    pub fn flag(&mut self) -> Option<bool> {
        match self.array()? {
            [0_u8] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    /// Bytes with their length.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        self.fixed(len)
    }

    /// How many members a list has, of which each takes at least so many bytes.
    pub fn count(&mut self, least: usize) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count.checked_mul(least.max(1))? <= self.bytes.len()).then_some(count)
    }

    /// Numbers with their count.
    pub fn numbers(&mut self) -> Option<Vec<i32>> {
        let count = self.count(4)?;
        (0..count).map(|_| self.number()).collect()
    }

    /// A structure, as what differs from a base.
    pub fn structure<T: Structure>(&mut self, base: &T) -> Option<T> {
        let mut value = base.clone();
        let taken = value.change(self.bytes)?;
        self.fixed(taken)?;
        Some(value)
    }
}
