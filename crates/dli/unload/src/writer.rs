//! Writes an unload file.
//!
//! Invariants:
//!
//! 1. A segment that is refused leaves the file as it was; others can follow.
//! 2. Only [`Writer::finish`] makes a whole file: without it there is no trailer, and a reader
//!    says so.

use std::io::Write;

use crate::counts::Counts;
use crate::deleted::Deleted;
use crate::error::{Place, UnloadError};
use crate::hierarchy::{Form, Hierarchy, SegmentType};
use crate::layout::{DATA, ENTRY, HEAD, PLAIN, PREFIX, TRAILER};
use crate::name::Encoding;
use crate::tally::Tally;

/// How much is written at once.
const BUFFER: usize = 256 << 10;

/// Writes an unload file, with names in EBCDIC as hosts have them.
#[derive(Debug)]
pub struct Writer<W: Write> {
    target: W,
    buffer: Vec<u8>,
    /// The record that is written next.
    place: Place,
    hierarchy: Hierarchy,
    /// By type: the first bytes of its records, up to the data, with lengths of zero.
    fronts: Vec<[u8; DATA]>,
    forms: Vec<Option<Form>>,
    tally: Tally,
}

impl<W: Write> Writer<W> {
    /// Writes the header. The types stand in order of their codes.
    ///
    /// # Errors
    /// If the types are no hierarchy, or writing fails.
    pub fn new(target: W, segments: &[SegmentType]) -> Result<Self, UnloadError> {
        let hierarchy = Hierarchy::new(segments.to_vec())?;
        let mut writer = Writer {
            target,
            buffer: Vec::with_capacity(BUFFER + usize::from(u16::MAX)),
            place: Place { record: 1, offset: 0 },
            fronts: segments.iter().map(front).collect(),
            forms: vec![None; segments.len()],
            tally: Tally::new(segments.len()),
            hierarchy,
        };
        writer.table(PLAIN)?;
        Ok(writer)
    }

    /// Declares what lengths the segments of a type have, so that each is checked from now on.
    ///
    /// # Errors
    /// If there is no such type.
    pub fn declare(&mut self, code: u8, form: Form) -> Result<(), UnloadError> {
        let at = self.hierarchy.find(code).ok_or(UnloadError::UnknownCode(code))?;
        self.forms[at] = Some(form);
        Ok(())
    }

    /// What was written so far, by segment type.
    #[must_use]
    pub fn counts(&self) -> &[Counts] {
        self.tally.counts()
    }

    /// Writes a segment. Its data begins with its length if that varies.
    ///
    /// # Errors
    /// If it has no type, cannot have that length or cannot stand here, or writing fails.
    pub fn segment(&mut self, code: u8, data: &[u8]) -> Result<(), UnloadError> {
        self.marked(code, Deleted::default(), data)
    }

    /// The same, of a segment that may have been deleted on one of its paths.
    ///
    /// # Errors
    /// Those of [`Writer::segment`].
    pub fn marked(&mut self, code: u8, deleted: Deleted, data: &[u8]) -> Result<(), UnloadError> {
        let at = self.hierarchy.find(code).ok_or(UnloadError::UnknownCode(code))?;
        let length = self.length(at, data)?;
        self.tally
            .add(&self.hierarchy, at)
            .map_err(|refused| refused.error(&self.hierarchy, at, self.place))?;
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&self.fronts[at]);
        self.buffer.extend_from_slice(data);
        self.buffer.push(0);
        self.buffer[start + 5] = deleted.flags();
        self.buffer[start + 8..start + 10].copy_from_slice(&length.to_be_bytes());
        self.end_record(start)
    }

    /// Writes the trailer and everything that is still in the buffer, and gives the target back:
    /// making it durable is the caller's.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> Result<W, UnloadError> {
        self.table(TRAILER)?;
        self.target.write_all(&self.buffer)?;
        self.target.flush()?;
        Ok(self.target)
    }

    fn length(&self, at: usize, data: &[u8]) -> Result<u16, UnloadError> {
        let SegmentType { name, stored_length, .. } = self.hierarchy.types()[at];
        let length = u16::try_from(data.len()).ok();
        let length = length.filter(|length| (1..=stored_length).contains(length));
        let reason = match length {
            None => Some(format!("it can be 1 to {stored_length}")),
            Some(_) => self.forms[at].and_then(|form| form.fault(data)),
        };
        match (length, reason) {
            (Some(length), None) => Ok(length),
            (_, reason) => Err(UnloadError::Length {
                place: self.place,
                segment: name,
                length: data.len(),
                reason: reason.unwrap_or_default(),
            }),
        }
    }

    /// Header or trailer.
    fn table(&mut self, flags: u8) -> Result<(), UnloadError> {
        let start = self.buffer.len();
        let table_bytes = (self.hierarchy.types().len() * ENTRY) as u16;
        self.buffer.extend_from_slice(&[0, 0, 0, 0, 0, flags]);
        self.buffer.extend_from_slice(&table_bytes.to_be_bytes());
        self.hierarchy.encode(self.tally.counts(), &mut self.buffer);
        debug_assert_eq!(self.buffer.len() - start, HEAD + usize::from(table_bytes));
        self.end_record(start)
    }

    /// Fills in a record's length, and writes the buffer if it is full.
    fn end_record(&mut self, start: usize) -> Result<(), UnloadError> {
        let length = self.buffer.len() - start;
        self.buffer[start..start + 2].copy_from_slice(&(length as u16).to_be_bytes());
        self.place.record += 1;
        self.place.offset += length as u64;
        if self.buffer.len() >= BUFFER {
            self.target.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// What the records of a type begin with.
fn front(segment: &SegmentType) -> [u8; DATA] {
    let mut front = [0; DATA];
    front[4..6].copy_from_slice(&[segment.code, PLAIN]);
    front[6..8].copy_from_slice(&PREFIX.to_be_bytes());
    front[10..18].copy_from_slice(&segment.name.encoded(Encoding::Ebcdic));
    front
}
