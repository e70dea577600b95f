//! Indexed files of the machine ([`indexed_files`]), and those that the run time has made before.
//!
//! | there is | INPUT | I-O, EXTEND | OUTPUT |
//! |---|---|---|---|
//! | nothing, or a file without bytes | 35; 05 if optional | 35; 05 and a new file if optional | a new file |
//! | an indexed file | opened | opened | emptied |
//! | one of the run time's (Berkeley DB) | opened by the run time | the same | replaced |
//! | any other file | 39 | 39 | 39 |
//!
//! A file with other keys or another length of records is 39, one that somebody else has open 93.
//!
//! Invariants:
//! 1. A file of somebody else's is never written. One of the run time's is said, once for each
//!    program: it does not survive a kill.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indexed_files::{Definition, IndexedFile, Key, Kind, Part, Purpose, Refusal, kind_of};
use seam::clock::RealClock;

use super::Shape;
use crate::body::{Absent, Body, Done, Found, Place, Which};
use crate::fcd::{KeyDefinition, OpenMode};
use crate::opcode::Relation;
use crate::status::FileStatus;

/// Whether it was said that a file is the run time's.
static WARNED: AtomicBool = AtomicBool::new(false);

/// Opens a file; answers 00 or 05 with it. `None`: it is the run time's.
///
/// # Errors
/// Why it cannot be opened.
pub fn open(
    path: &Path,
    shape: &Shape,
    mode: OpenMode,
    keys: &[KeyDefinition],
) -> Done<Option<(Box<dyn Body>, FileStatus)>> {
    let (purpose, status) = match (kind_of(path).map_err(|refusal| of(&refusal))?, mode) {
        (Kind::Foreign, _) => return Err(FileStatus::ATTRIBUTES),
        (Kind::BerkeleyDb, OpenMode::Output) => {
            remove_indexes(path, keys.len());
            (Purpose::Create, FileStatus::DONE)
        }
        (Kind::BerkeleyDb, _) => {
            say(path);
            return Ok(None);
        }
        (_, OpenMode::Output) => (Purpose::Create, FileStatus::DONE),
        (Kind::Missing | Kind::Empty, _) if !shape.optional => return Err(FileStatus::NO_FILE),
        (Kind::Missing | Kind::Empty, OpenMode::Input) => {
            return Ok(Some((Box::new(Absent::default()), FileStatus::OPTIONAL)));
        }
        (Kind::Missing | Kind::Empty, _) => (Purpose::CreateIfMissing, FileStatus::OPTIONAL),
        (Kind::Indexed, OpenMode::Input) => (Purpose::Read, FileStatus::DONE),
        (Kind::Indexed, _) => (Purpose::Change, FileStatus::DONE),
    };
    let definition = definition(shape, keys);
    let clock = Arc::new(RealClock::new());
    let file = IndexedFile::open(path, &definition, purpose, clock);
    let file = file.map_err(|refusal| match (refusal, purpose) {
        // The folder is not there: nothing can be made in it.
        (Refusal::Missing, Purpose::Create | Purpose::CreateIfMissing) => FileStatus::ERROR,
        (refusal, _) => of(&refusal),
    })?;
    Ok(Some((Box::new(Indexed { file }), status)))
}

/// Takes a file away; `false`: it is the run time's.
///
/// # Errors
/// Why it cannot be taken away.
pub fn delete(path: &Path) -> Done<bool> {
    match kind_of(path).map_err(|refusal| of(&refusal))? {
        Kind::BerkeleyDb => Ok(false),
        Kind::Foreign => Err(FileStatus::ATTRIBUTES),
        Kind::Missing => Err(FileStatus::NO_FILE),
        Kind::Empty | Kind::Indexed => {
            indexed_files::remove(path).map_err(|refusal| of(&refusal))?;
            Ok(true)
        }
    }
}

/// The run time keeps alternate keys in files beside a file.
fn remove_indexes(path: &Path, keys: usize) {
    for number in 1..keys {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        let index = Path::new(&name);
        if kind_of(index).is_ok_and(|kind| kind == Kind::BerkeleyDb) {
            // One that stays harms nobody.
            let _ = indexed_files::remove(index);
        }
    }
}

fn say(path: &Path) {
    if !WARNED.swap(true, Ordering::Relaxed) {
        eprintln!(
            "{} was made by the COBOL run time (Berkeley DB) and does not survive a kill. \
             A program that reads it and writes its records to a new file moves it.",
            path.display()
        );
    }
}

fn definition(shape: &Shape, keys: &[KeyDefinition]) -> Definition {
    let key = |key: &KeyDefinition| {
        let first = Part { offset: key.offset, bytes: key.bytes };
        let rest = key.rest.iter().map(|(offset, bytes)| Part { offset: *offset, bytes: *bytes });
        Key {
            parts: std::iter::once(first).chain(rest).collect(),
            duplicates: key.duplicates,
            sparse: key.sparse,
        }
    };
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    let (least, most) = (length(shape.least), length(shape.most));
    Definition { least, most, keys: keys.iter().map(key).collect() }
}

/// The status of a request that was not carried out.
fn of(refusal: &Refusal) -> FileStatus {
    match refusal {
        Refusal::Duplicate => FileStatus::KEY_EXISTS,
        Refusal::Sequence => FileStatus::SEQUENCE,
        Refusal::NotFound => FileStatus::NOT_FOUND,
        Refusal::End => FileStatus::END,
        Refusal::Length => FileStatus::RECORD_LENGTH,
        Refusal::NoKey => FileStatus::LOGIC,
        Refusal::NoRoom => FileStatus::NO_SPACE,
        Refusal::InUse => FileStatus::RESOURCE,
        Refusal::Attributes | Refusal::Foreign => FileStatus::ATTRIBUTES,
        Refusal::Missing => FileStatus::NO_FILE,
        Refusal::Forbidden => FileStatus::MODE,
        _ => FileStatus::ERROR,
    }
}

/// An open file.
struct Indexed {
    file: IndexedFile,
}

/// 02 where a duplicate is to be told.
fn duplicate_status(duplicate: bool) -> FileStatus {
    if duplicate { FileStatus::DUPLICATE } else { FileStatus::DONE }
}

impl Body for Indexed {
    fn read_next(&mut self, previous: bool, record: &mut Vec<u8>) -> Done<Found> {
        let seen = self.file.next(previous, record).map_err(|refusal| of(&refusal))?;
        Ok(Found { status: duplicate_status(seen.duplicate_follows), number: None })
    }

    fn read(&mut self, which: Which<'_>, record: &mut Vec<u8>) -> Done<Found> {
        let Which::Key { number, value } = which else { return Err(FileStatus::LOGIC) };
        let seen = self.file.read(number, value, record).map_err(|refusal| of(&refusal))?;
        Ok(Found { status: duplicate_status(seen.duplicate_follows), number: None })
    }

    fn start(&mut self, relation: Relation, which: Which<'_>) -> Done<()> {
        let Which::Key { number, value } = which else { return Err(FileStatus::LOGIC) };
        self.file.start(number, relation, value).map_err(|refusal| of(&refusal))
    }

    fn write(&mut self, record: &[u8], place: Place) -> Done<Found> {
        let written = self.file.write(record, place.in_sequence);
        let written = written.map_err(|refusal| of(&refusal))?;
        Ok(Found { status: duplicate_status(written.duplicate), number: None })
    }

    fn rewrite(&mut self, record: &[u8], which: Which<'_>) -> Done<FileStatus> {
        let written = self.file.rewrite(record, which == Which::Current);
        written.map(|written| duplicate_status(written.duplicate)).map_err(|refusal| of(&refusal))
    }

    fn delete(&mut self, which: Which<'_>) -> Done<()> {
        let prime = match which {
            Which::Key { value, .. } => Some(value),
            _ => None,
        };
        self.file.delete(prime).map_err(|refusal| of(&refusal))
    }

    fn close(&mut self) -> Done<()> {
        self.file.close().map_err(|refusal| of(&refusal))
    }
}
