//! Reads an unload file, record by record, and lends out the data from its buffer.
//!
//! Invariants:
//!
//! 1. A record that is refused is not stepped over: reading on gives the same error again.
//! 2. The end is reached only behind a trailer whose counts are those of what was lent out.

use std::io::Read;

use crate::counts::Counts;
use crate::deleted::Deleted;
use crate::error::{Place, UnloadError};
use crate::hierarchy::{Form, Hierarchy, SegmentType, show};
use crate::input::Input;
use crate::layout::{DATA, DESCRIPTOR, ENTRY, HEAD, NAME, PLAIN, PREFIX, TRAILER};
use crate::name::{Encoding, NAME_BYTES};
use crate::tally::Tally;

/// A segment of an unload file.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Where it stands in the file.
    pub place: Place,
    /// Its type, with code, name and level.
    pub segment: &'a SegmentType,
    /// Its data; with its length in front if that varies.
    pub data: &'a [u8],
    /// Whether it was deleted on one of its paths.
    pub deleted: Deleted,
}

/// Reads an unload file.
#[derive(Debug)]
pub struct Reader<R> {
    input: Input<R>,
    encoding: Encoding,
    hierarchy: Hierarchy,
    /// By type: its name as it stands in records.
    names: Vec<[u8; NAME_BYTES]>,
    forms: Vec<Option<Form>>,
    tally: Tally,
    trailer: Option<Vec<Counts>>,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// If the source fails, or what it has is no header.
    pub fn new(source: R) -> Result<Self, UnloadError> {
        let mut input = Input::new(source);
        let length = match input.length() {
            Ok(Some(length)) => length,
            Ok(None) => return Err(foreign("a header", "the end of the file".to_owned())),
            Err(UnloadError::Damaged { found, .. }) => {
                return Err(foreign("the descriptor word of a header", found));
            }
            Err(error) => return Err(error),
        };
        let (hierarchy, _, encoding) = Hierarchy::decode(header_table(input.take(length))?)?;
        let types = hierarchy.types();
        Ok(Reader {
            input,
            encoding,
            names: types.iter().map(|segment| segment.name.encoded(encoding)).collect(),
            forms: vec![None; types.len()],
            tally: Tally::new(types.len()),
            trailer: None,
            hierarchy,
        })
    }

    /// The segment types, in order of their codes.
    #[must_use]
    pub fn segments(&self) -> &[SegmentType] {
        self.hierarchy.types()
    }

    /// How the names are encoded; data usually is in the same family of code pages.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// What was read so far, by segment type.
    #[must_use]
    pub fn counts(&self) -> &[Counts] {
        self.tally.counts()
    }

    /// What the trailer says, by segment type, once it was read.
    #[must_use]
    pub fn trailer(&self) -> Option<&[Counts]> {
        self.trailer.as_deref()
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

    /// The next segment; `None` behind the last one, with the trailer read and found good.
    ///
    /// # Errors
    /// If the source fails, the record is damaged or misplaced, or the trailer disagrees.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, UnloadError> {
        if self.trailer.is_some() {
            return Ok(None);
        }
        let place = self.input.place();
        let length = self.input.length()?.ok_or(UnloadError::Truncated { place })?;
        let record = self.input.bytes(length);
        let (code, flags) = (record[DESCRIPTOR], record[DESCRIPTOR + 1]);
        if (code, flags) == (0, TRAILER) {
            self.read_trailer(length)?;
            return Ok(None);
        }
        let Some(deleted) = Deleted::of(flags).filter(|_| code != 0) else {
            let found = format!("code {code:02x} and flags {flags:02x}");
            let expected = "a segment code and flags 80 to 83, or the trailer's 00 and 98";
            return Err(damaged(place, expected, found));
        };
        let Some(at) = self.hierarchy.find(code) else {
            let expected = "the code of a segment type of the header";
            return Err(damaged(place, expected, format!("{code}")));
        };
        let data_end = self.check(place, at, record)?;
        self.tally
            .add(&self.hierarchy, at)
            .map_err(|refused| refused.error(&self.hierarchy, at, place))?;
        let record = self.input.take(length);
        let segment = &self.hierarchy.types()[at];
        Ok(Some(Record { place, segment, data: &record[DATA..data_end], deleted }))
    }

    /// Checks a segment's record on its own, and finds the end of its data.
    fn check(&self, place: Place, at: usize, record: &[u8]) -> Result<usize, UnloadError> {
        let SegmentType { name, stored_length, .. } = self.hierarchy.types()[at];
        if record.len() <= DATA {
            let expected = format!("a record of {name}, of more than {DATA} bytes");
            return Err(damaged(place, &expected, format!("{} bytes", record.len())));
        }
        let prefix = u16::from_be_bytes([record[6], record[7]]);
        if prefix != PREFIX {
            let expected = format!("{PREFIX:04x} at offset 6");
            return Err(damaged(place, &expected, format!("{prefix:04x}")));
        }
        if record[NAME..NAME + NAME_BYTES] != self.names[at] {
            let expected = format!("the name {name}, as the header has it for this code");
            return Err(damaged(place, &expected, show(&record[NAME..NAME + NAME_BYTES])));
        }
        let length = u16::from_be_bytes([record[8], record[9]]);
        let data_end = DATA + usize::from(length);
        if length == 0 || length > stored_length {
            let reason = format!("the header has at most {stored_length} with the prefix");
            let length = usize::from(length);
            return Err(UnloadError::Length { place, segment: name, length, reason });
        }
        if record.len() != data_end && record.len() != data_end + 1 {
            let expected = format!("{} bytes for {length} bytes of data", data_end + 1);
            return Err(damaged(place, &expected, format!("{}", record.len())));
        }
        let data = &record[DATA..data_end];
        match self.forms[at].and_then(|form| form.fault(data)) {
            None => Ok(data_end),
            Some(reason) => {
                Err(UnloadError::Length { place, segment: name, length: data.len(), reason })
            }
        }
    }

    fn read_trailer(&mut self, length: usize) -> Result<(), UnloadError> {
        let place = self.input.place();
        let record = self.input.bytes(length);
        let table_bytes = self.hierarchy.types().len() * ENTRY;
        let stated = usize::from(u16::from_be_bytes([record[6], record[7]]));
        if stated != table_bytes || length != HEAD + table_bytes {
            let expected = format!("a trailer with {table_bytes} bytes of segment types");
            return Err(damaged(place, &expected, format!("{stated} in {length} bytes")));
        }
        let (hierarchy, trailer, _) = Hierarchy::decode(&record[HEAD..])
            .map_err(|error| damaged(place, "a trailer", error.to_string()))?;
        let types = self.hierarchy.types().iter().zip(hierarchy.types());
        if let Some((header, other)) = types.clone().find(|(header, other)| header != other) {
            let expected = format!("the header's segment type: {header}");
            return Err(damaged(place, &expected, other.to_string()));
        }
        for ((segment, _), (stated, found)) in types.zip(trailer.iter().zip(self.tally.counts())) {
            let (counted, found) = (u64::from(stated.segments), u64::from(found.segments));
            if counted != found {
                let segment = segment.name;
                return Err(UnloadError::Counts { place, segment, counted, found });
            }
        }
        self.input.take(length);
        if !self.input.is_at_end()? {
            return Err(UnloadError::Beyond { place: self.input.place() });
        }
        self.trailer = Some(trailer);
        Ok(())
    }
}

/// The table of segment types of a file's first record, if that is a header.
fn header_table(record: &[u8]) -> Result<&[u8], UnloadError> {
    let marks = [record[DESCRIPTOR], record[DESCRIPTOR + 1]];
    if marks != [0, PLAIN] {
        return Err(foreign("a header with 0080 at offset 4", show(&marks)));
    }
    let stated = usize::from(u16::from_be_bytes([record[6], record[7]]));
    if stated == 0 || !stated.is_multiple_of(ENTRY) || record.len() != HEAD + stated {
        let found = format!("{stated} in a record of {}", record.len());
        return Err(foreign("a header whose table has 40 bytes for each segment type", found));
    }
    Ok(&record[HEAD..])
}

fn foreign(expected: &'static str, found: String) -> UnloadError {
    UnloadError::Foreign { expected, found }
}

fn damaged(place: Place, expected: &str, found: String) -> UnloadError {
    UnloadError::Damaged { place, expected: expected.to_owned(), found }
}
