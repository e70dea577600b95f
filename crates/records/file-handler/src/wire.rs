//! Requests for data sets as bytes: from a program's process to whoever has the catalog.
//!
//! Integers have their least byte first.
//!
//! | offset | bytes | of a request |
//! |---|---|---|
//! | 0 | 1 | 1 open, 2 close, 3 start, 4 read next, 5 read, 6 write, 7 rewrite, 8 delete, 9 read ahead, 15 empty |
//! | 1 | 4 | the file's number; not of an open; of an empty the name of the data set |
//! | | | start: relation 1, which; read next: 1 for previous; read, delete: which |
//! | | | write: 1 in sequence, number 8, record; rewrite: which, record |
//! | | | write in sequence: in place of the number the greatest that the program can be told |
//! | | | read ahead: 1 for previous, records to step back before 4, records 4 and bytes 4 at most |
//! | | | open: mode 1, organization 1, access 1, optional 1, least 4, most 4, name, keys 1, each |
//! | | | key: offset 4, bytes 4, 1 for duplicates, the path's name, empty for none |
//!
//! Kinds from 32 on are requests of [`crate::acb_wire`], 10 to 14 those of an owner's connection.
//!
//! Which: 0 current; 1, key 2, value; 2, number 8. Names and values have 2 bytes of length in
//! front.
//!
//! | offset | bytes | of an answer |
//! |---|---|---|
//! | 0 | 2 | file status |
//! | 2 | 8 | the record's number, or the file's; 0 for none; where a request is refused what VSAM has |
//! | | | said to it: return code, function, feedback |
//! | 10 | | the record |
//!
//! What answers a read ahead is any number of answers, each behind its length in 4 bytes; the last
//! one may be of a read that failed.
//!
//! Invariants:
//! 1. Both sides treat what arrives as bytes from outside.

use base::bytes::{Reader, push_string16};

use crate::body::{Found, Which};
use crate::data_set::Opening;
use crate::fcd::{Access, KeyDefinition, OpenMode, Organization};
use crate::machine::Shape;
use crate::opcode::Relation;
use crate::status::FileStatus;

/// The most keys that a request names.
const KEYS_MAX: usize = 254;
/// What an answer has in front of its record.
const ANSWER: usize = 10;
/// The kind of a read ahead.
pub(crate) const AHEAD: u8 = 9;
/// The kind of a request that empties.
pub(crate) const EMPTY: u8 = 15;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Opens a data set.
    Open(Box<Opening>),
    /// Closes a file.
    Close(u32),
    /// Takes a place.
    Start(u32, Relation, Which<'a>),
    /// Reads the next record, or the previous one.
    Next(u32, bool),
    /// Reads a record.
    Read(u32, Which<'a>),
    /// Writes a record.
    Write {
        /// The file.
        file: u32,
        /// At the end or in sequence of keys.
        in_sequence: bool,
        /// The record's number, if it is not; otherwise the greatest that the program can be told.
        number: u64,
        /// The record.
        record: &'a [u8],
    },
    /// Replaces a record.
    Rewrite(u32, Which<'a>, &'a [u8]),
    /// Removes a record.
    Delete(u32, Which<'a>),
    /// Reads several records at once.
    Ahead(u32, Batch),
    /// Takes all records of a data set away.
    Empty(&'a str),
}

/// What is read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Backward.
    pub previous: bool,
    /// So many records of the batch before were not wanted: it begins in front of them.
    pub back: u32,
    /// Records at most.
    pub records: u32,
    /// No further record is read when there are so many bytes.
    pub bytes: u32,
}

const ORGANIZATIONS: [Organization; 4] = [
    Organization::LineSequential,
    Organization::Sequential,
    Organization::Indexed,
    Organization::Relative,
];

const ACCESSES: [Access; 3] = [Access::Sequential, Access::Random, Access::Dynamic];

fn index<T: PartialEq>(all: &[T], one: &T) -> u8 {
    all.iter().position(|known| known == one).unwrap_or_default() as u8
}

impl Request<'_> {
    /// Whether it may change records, or what of them is to be seen.
    #[must_use]
    pub fn changes(&self) -> bool {
        match self {
            Request::Write { .. } | Request::Rewrite(..) | Request::Delete(..) => true,
            Request::Open(opening) => opening.mode != OpenMode::Input,
            _ => false,
        }
    }

    /// Puts it in place of what `out` has.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        let begin = |out: &mut Vec<u8>, kind: u8, file: u32| {
            out.push(kind);
            out.extend_from_slice(&file.to_le_bytes());
        };
        match self {
            Request::Open(opening) => put_opening(opening, out),
            Request::Empty(name) => {
                out.push(EMPTY);
                push_string16(out, name.as_bytes());
            }
            Request::Close(file) => begin(out, 2, *file),
            Request::Start(file, relation, which) => {
                begin(out, 3, *file);
                out.push(index(&Relation::ALL, relation));
                put_which(*which, out);
            }
            Request::Next(file, previous) => {
                begin(out, 4, *file);
                out.push(u8::from(*previous));
            }
            Request::Read(file, which) => {
                begin(out, 5, *file);
                put_which(*which, out);
            }
            Request::Write { file, in_sequence, number, record } => {
                begin(out, 6, *file);
                out.push(u8::from(*in_sequence));
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(record);
            }
            Request::Rewrite(file, which, record) => {
                begin(out, 7, *file);
                put_which(*which, out);
                out.extend_from_slice(record);
            }
            Request::Delete(file, which) => {
                begin(out, 8, *file);
                put_which(*which, out);
            }
            Request::Ahead(file, batch) => {
                begin(out, AHEAD, *file);
                out.push(u8::from(batch.previous));
                for number in [batch.back, batch.records, batch.bytes] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
            }
        }
    }
}

impl<'a> Request<'a> {
    /// Reads one; `None` if the bytes are none.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Request<'a>> {
        let mut reader = Reader::new(bytes);
        let kind = reader.u8()?;
        if kind == 1 {
            return Some(Request::Open(Box::new(read_opening(&mut reader)?)));
        }
        if kind == EMPTY {
            return std::str::from_utf8(reader.string16()?).ok().map(Request::Empty);
        }
        let file = reader.u32()?;
        Some(match kind {
            2 => Request::Close(file),
            3 => {
                let relation = *Relation::ALL.get(usize::from(reader.u8()?))?;
                Request::Start(file, relation, read_which(&mut reader)?)
            }
            4 => Request::Next(file, reader.u8()? != 0),
            5 => Request::Read(file, read_which(&mut reader)?),
            6 => {
                let in_sequence = reader.u8()? != 0;
                let number = reader.u64()?;
                Request::Write { file, in_sequence, number, record: reader.rest() }
            }
            7 => {
                let which = read_which(&mut reader)?;
                Request::Rewrite(file, which, reader.rest())
            }
            8 => Request::Delete(file, read_which(&mut reader)?),
            AHEAD => {
                let previous = reader.u8()? != 0;
                let (back, records, bytes) = (reader.u32()?, reader.u32()?, reader.u32()?);
                Request::Ahead(file, Batch { previous, back, records, bytes })
            }
            _ => return None,
        })
    }
}

fn put_which(which: Which<'_>, out: &mut Vec<u8>) {
    match which {
        Which::Current => out.push(0),
        Which::Key { number, value } => {
            out.push(1);
            out.extend_from_slice(&(number as u16).to_le_bytes());
            push_string16(out, value);
        }
        Which::Number(number) => {
            out.push(2);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

fn read_which<'a>(reader: &mut Reader<'a>) -> Option<Which<'a>> {
    Some(match reader.u8()? {
        0 => Which::Current,
        1 => {
            let number = usize::from(reader.u16()?);
            Which::Key { number, value: reader.string16()? }
        }
        2 => Which::Number(reader.u64()?),
        _ => return None,
    })
}

fn put_opening(opening: &Opening, out: &mut Vec<u8>) {
    let Opening { data_set, paths, shape, mode, access, keys } = opening;
    out.extend_from_slice(&[1, mode.byte(), index(&ORGANIZATIONS, &shape.organization)]);
    out.extend_from_slice(&[index(&ACCESSES, access), u8::from(shape.optional)]);
    for length in [shape.least, shape.most] {
        out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
    push_string16(out, data_set.as_bytes());
    out.push(keys.len().min(KEYS_MAX) as u8);
    for (number, key) in keys.iter().enumerate().take(KEYS_MAX) {
        out.extend_from_slice(&key.offset.to_le_bytes());
        out.extend_from_slice(&key.bytes.to_le_bytes());
        out.push(u8::from(key.duplicates));
        let path = paths.get(number).cloned().flatten().unwrap_or_default();
        push_string16(out, path.as_bytes());
    }
}

fn read_opening(reader: &mut Reader<'_>) -> Option<Opening> {
    let mode = OpenMode::of(reader.u8()?)?;
    let organization = *ORGANIZATIONS.get(usize::from(reader.u8()?))?;
    let access = *ACCESSES.get(usize::from(reader.u8()?))?;
    let optional = reader.u8()? != 0;
    let (least, most) = (reader.u32()? as usize, reader.u32()? as usize);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let data_set = text(reader.string16()?)?;
    let (mut keys, mut paths) = (Vec::new(), Vec::new());
    for _ in 0..reader.u8()? {
        let (offset, bytes) = (reader.u32()?, reader.u32()?);
        let duplicates = reader.u8()? != 0;
        let (sparse, rest) = (None, Vec::new());
        keys.push(KeyDefinition { offset, bytes, duplicates, sparse, rest });
        paths.push(text(reader.string16()?).filter(|path| !path.is_empty()));
    }
    let shape = Shape { organization, least, most, optional };
    Some(Opening { data_set, paths, shape, mode, access, keys })
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The file status.
    pub status: FileStatus,
    /// The record's number, or the file's.
    pub number: u64,
    /// The record.
    pub record: &'a [u8],
}

impl<'a> Answer<'a> {
    /// What VSAM has said, if the request was refused: return code, function, feedback.
    #[must_use]
    pub fn feedback(&self) -> [u8; 3] {
        let [return_code, function, feedback, ..] = self.number.to_le_bytes();
        if self.status.is_done() { [0; 3] } else { [return_code, function, feedback] }
    }

    /// Reads one; `None` if the bytes are none.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Answer<'a>> {
        let mut reader = Reader::new(bytes);
        let status = FileStatus(reader.array()?);
        Some(Answer { status, number: reader.u64()?, record: reader.rest() })
    }

    /// What a program is told of it, with its record in place of what `record` has.
    pub fn found(&self, record: Option<&mut Vec<u8>>) -> Found {
        if let Some(record) = record {
            record.clear();
            record.extend_from_slice(self.record);
        }
        let number = (self.number > 0).then_some(self.number);
        Found { status: self.status, number }
    }
}

/// Puts one of several answers behind the others.
pub(crate) fn push_answer(answer: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&u32::try_from(answer.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(answer);
}

/// The first of several answers, and what follows it; `None` if the bytes are none.
#[must_use]
pub fn first_answer(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut reader = Reader::new(bytes);
    let len = reader.u32()? as usize;
    Some((reader.take(len)?, reader.rest()))
}

/// Refuses a request for a file, in the form that it is answered in.
pub fn refuse(request: &[u8], status: FileStatus, out: &mut Vec<u8>) {
    plain_answer(status, 0, out);
    if request.first() == Some(&AHEAD) {
        let one = std::mem::take(out);
        push_answer(&one, out);
    }
}

/// Writes an answer in place: the record is put behind what stands in front of it.
pub(crate) fn answer(status: FileStatus, number: u64, out: &mut Vec<u8>) {
    if out.len() < ANSWER {
        out.resize(ANSWER, 0);
    }
    out[..2].copy_from_slice(&status.0);
    out[2..ANSWER].copy_from_slice(&number.to_le_bytes());
}

/// Puts what VSAM has said into an answer that refuses.
pub(crate) fn put_feedback(feedback: [u8; 3], out: &mut [u8]) {
    if let (ANSWER, Some(place)) = (out.len(), out.get_mut(2..5)) {
        place.copy_from_slice(&feedback);
    }
}

/// An answer without a record.
pub fn plain_answer(status: FileStatus, number: u64, out: &mut Vec<u8>) {
    out.clear();
    answer(status, number, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening() -> Opening {
        let key = |offset, bytes, duplicates| KeyDefinition {
            offset,
            bytes,
            duplicates,
            sparse: None,
            rest: Vec::new(),
        };
        Opening {
            data_set: "BANK.ACCOUNT".to_owned(),
            paths: vec![None, Some("BANK.ACCOUNT.BYNAME".to_owned())],
            shape: Shape {
                organization: Organization::Indexed,
                least: 10,
                most: 80,
                optional: true,
            },
            mode: OpenMode::InputOutput,
            access: Access::Dynamic,
            keys: vec![key(0, 8, false), key(8, 20, true)],
        }
    }

    #[test]
    fn every_request_is_read_as_it_was_written() {
        let key = Which::Key { number: 1, value: b"KEY" };
        let requests = [
            Request::Open(Box::new(opening())),
            Request::Close(7),
            Request::Start(1, Relation::LessOrEqual, key),
            Request::Next(2, true),
            Request::Read(3, Which::Number(9)),
            Request::Write { file: 4, in_sequence: true, number: 5, record: b"record" },
            Request::Rewrite(5, Which::Current, b"another"),
            Request::Delete(6, key),
            Request::Empty("BANK.ACCOUNT"),
            Request::Ahead(7, Batch { previous: true, back: 3, records: 9, bytes: 1 << 16 }),
        ];
        let mut bytes = Vec::new();
        for request in requests {
            request.write(&mut bytes);
            assert_eq!(Request::read(&bytes), Some(request.clone()));
            let has_record = matches!(request, Request::Write { .. } | Request::Rewrite(..));
            for len in 0..bytes.len() {
                let cut = Request::read(&bytes[..len]);
                assert!(cut.is_none() || has_record, "{request:?} {len}");
            }
        }
    }
}
