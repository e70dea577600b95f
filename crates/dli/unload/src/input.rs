//! A source of bytes as whole records in a buffer.
//!
//! Invariants:
//!
//! 1. The buffer is larger than any record, so a record is whole in it when it is looked at.
//! 2. `start <= end <= buffer.len()`; the unread bytes are `start..end`, and `place` is where
//!    they begin.

use std::io::{ErrorKind, Read};

use crate::error::{Place, UnloadError};
use crate::hierarchy::show;
use crate::layout::{DESCRIPTOR, HEAD};

/// How much is read at once; larger than the largest record, 65,535 bytes.
const BUFFER: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct Input<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    place: Place,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(source: R) -> Self {
        let place = Place { record: 1, offset: 0 };
        Input { source, buffer: vec![0; BUFFER], start: 0, end: 0, place }
    }

    /// The next record's place.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Whether anything is left.
    pub(crate) fn is_at_end(&mut self) -> Result<bool, UnloadError> {
        Ok(!self.fill(1)?)
    }

    /// The length of the next record, all of which is in the buffer then; `None` if the source
    /// ends before it or within it.
    pub(crate) fn length(&mut self) -> Result<Option<usize>, UnloadError> {
        if !self.fill(DESCRIPTOR)? {
            return Ok(None);
        }
        let word = &self.buffer[self.start..self.start + DESCRIPTOR];
        let length = usize::from(u16::from_be_bytes([word[0], word[1]]));
        if length < HEAD || word[2..] != [0, 0] {
            return Err(UnloadError::Damaged {
                place: self.place,
                expected: format!("a descriptor word: a length from {HEAD} and two zeros"),
                found: show(word),
            });
        }
        Ok(self.fill(length)?.then_some(length))
    }

    /// The first bytes of the record that [`Input::length`] measured.
    pub(crate) fn bytes(&self, length: usize) -> &[u8] {
        &self.buffer[self.start..self.start + length]
    }

    /// Goes behind the record that [`Input::length`] measured, and returns it.
    pub(crate) fn take(&mut self, length: usize) -> &[u8] {
        let start = self.start;
        self.start += length;
        self.place.record += 1;
        self.place.offset += length as u64;
        &self.buffer[start..start + length]
    }

    /// Makes that many bytes present, if the source has them.
    fn fill(&mut self, count: usize) -> Result<bool, UnloadError> {
        if self.end - self.start >= count {
            return Ok(true);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < count {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}
