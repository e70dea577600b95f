//! What there is to know for a recovery: the records of RECON.
//!
//! A record in an entry: kind, 2 bytes; length of the rest, 4 bytes; the parts of its structure
//! one behind the other, as [`crate::coding`] writes them.
//!
//! Invariants:
//! 1. A kind keeps its number and its parts; what is new gets a new number.
//! 2. Archives, accumulations, image copies and recoveries have numbers of one series that is
//!    never used twice, so that a person can name one of them without saying what it is.

use std::path::PathBuf;

use base::bytes::Reader;
use base::{DataSetId, GroupNumber, KeyGeneration, Lsn};

use crate::coding::{Coding, coded, worded};

worded! {
    /// How something is protected.
    pub enum Protection {
        /// A checksum only.
        Plain = 1,
        /// Sealed.
        Sealed = 2,
    }

    /// How much an image copy holds.
    pub enum CopyKind {
        /// Every interval in use.
        Full = 1,
        /// What has changed since the copy that it names.
        Incremental = 2,
    }
}

coded! {
    /// How far the log has been seen to reach (K6).
    pub struct Reached {
        /// An LSN that was durable.
        pub lsn: Lsn,
        /// When, in microseconds since 1970-01-01 UTC.
        pub utc_us: u64,
    }

    /// A data set.
    pub struct DataSetEntry {
        /// Its number.
        pub set: DataSetId,
        /// Its name.
        pub name: String,
        /// How it is protected now.
        pub protection: Protection,
        /// The label of its key.
        pub label: String,
        /// The generations of that key that its intervals may be sealed with.
        pub generations: Vec<KeyGeneration>,
        /// The log position at which it came to be.
        pub made: Lsn,
    }

    /// A database and the data sets that belong together: partitions, indexes, relations.
    pub struct Database {
        /// The name of its DBD.
        pub name: String,
        /// The names of its data sets.
        pub sets: Vec<String>,
    }

    /// One file of an archive, an accumulation or an image copy.
    pub struct ArchiveFile {
        /// Where it is.
        pub path: PathBuf,
        /// Whether it was found missing or damaged.
        pub lost: bool,
    }

    /// A piece of the log in an archive; each of its files holds all of it.
    pub struct Archive {
        /// Its number.
        pub number: u32,
        /// Its files: one, or two with the same bytes.
        pub files: Vec<ArchiveFile>,
        /// Where its first record begins, or the rest of one that began before.
        pub first: Lsn,
        /// Where it ends.
        pub end: Lsn,
        /// Its first group.
        pub first_group: GroupNumber,
        /// Its last group.
        pub last_group: GroupNumber,
        /// When its oldest group was closed, at the earliest: UTC in microseconds.
        pub from_us: u64,
        /// When its newest group was closed, at the latest.
        pub to_us: u64,
        /// The label of the log's key.
        pub label: String,
        /// The generations of that key that its groups are sealed with.
        pub generations: Vec<KeyGeneration>,
        /// The bytes of one of its files.
        pub bytes: u64,
        /// What proves that a file is the one that was registered.
        pub tag: [u8; 16],
    }

    /// The changes of some data sets, merged from a piece of the log.
    pub struct Accumulation {
        /// Its number.
        pub number: u32,
        /// Its files: one, or two with the same bytes.
        pub files: Vec<ArchiveFile>,
        /// The data sets.
        pub sets: Vec<DataSetId>,
        /// Where the merged piece of the log begins.
        pub first: Lsn,
        /// Where it ends.
        pub end: Lsn,
        /// When it was made: UTC in microseconds.
        pub made_us: u64,
        /// The label of the key that it is sealed with.
        pub label: String,
        /// The generation of that key.
        pub generation: KeyGeneration,
        /// The bytes of one of its files.
        pub bytes: u64,
        /// What proves that a file is the one that was registered.
        pub tag: [u8; 16],
    }

    /// A data set within an image copy.
    pub struct SetExtent {
        /// The data set.
        pub set: DataSetId,
        /// Its name.
        pub name: String,
        /// How many intervals the copy holds.
        pub intervals: u32,
        /// The label of its key.
        pub label: String,
        /// The generations that the copied intervals are sealed with.
        pub generations: Vec<KeyGeneration>,
    }

    /// An image copy of one or several data sets (K18).
    pub struct ImageCopy {
        /// Its number.
        pub number: u32,
        /// Full or incremental.
        pub kind: CopyKind,
        /// The copy that an incremental one goes on from; 0 for a full one.
        pub base: u32,
        /// Its files: one, or two with the same bytes. Empty if it went to standard output.
        pub files: Vec<ArchiveFile>,
        /// What it holds.
        pub sets: Vec<SetExtent>,
        /// Redo of its intervals begins here.
        pub start: Lsn,
        /// Its intervals hold nothing newer; recovery to a point before is refused.
        pub end: Lsn,
        /// When it was begun: UTC in microseconds.
        pub from_us: u64,
        /// When it was complete.
        pub to_us: u64,
        /// The label of the key that its manifest is sealed with.
        pub label: String,
        /// The generation of that key.
        pub generation: KeyGeneration,
        /// The bytes of one of its files.
        pub bytes: u64,
        /// The tag of its manifest.
        pub tag: [u8; 16],
    }

    /// A recovery that was done.
    pub struct Recovery {
        /// Its number.
        pub number: u32,
        /// The data sets.
        pub sets: Vec<DataSetId>,
        /// The data sets that took their places, in the same order.
        pub became: Vec<DataSetId>,
        /// The image copy that each of them was restored from, in the same order; 0 for none.
        pub copies: Vec<u32>,
        /// The point they were brought to.
        pub to: Lsn,
        /// The end of the log then: between the two the log is void for these sets (K17).
        pub void_to: Lsn,
        /// When: UTC in microseconds.
        pub utc_us: u64,
        /// Whether it went back to a point instead of to the end.
        pub to_point: bool,
    }

    /// A data set that a recovery has built to take the place of another one.
    pub struct Built {
        /// The data set.
        pub set: DataSetId,
        /// The log has nothing of it in front of here.
        pub from: Lsn,
    }

    /// The system went on elsewhere, from archives alone: what the log held between the two
    /// positions is lost, and so is everything that was made then.
    pub struct Restored {
        /// The archives ended here.
        pub end: Lsn,
        /// The log began anew here.
        pub began: Lsn,
    }

    /// Somebody has something open.
    pub struct Authorisation {
        /// The process.
        pub process: u32,
        /// The PSB; nothing for whoever has the system open.
        pub psb: String,
        /// The database; nothing for the system.
        pub database: String,
        /// `read`, `update` or `exclusive`.
        pub access: String,
        /// Since when: UTC in microseconds.
        pub since_us: u64,
    }
}

impl ImageCopy {
    /// Whether RECON knows a file of it.
    #[must_use]
    pub fn is_at_hand(&self) -> bool {
        self.files.iter().any(|file| !file.lost)
    }
}

macro_rules! records {
    ($($(#[$about:meta])* $kind:literal $name:ident($type:ty);)*) => {
        /// One thing to know, or no longer so. The newest one about a thing counts.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Record { $($(#[$about])* $name($type),)* }

        impl Record {
            /// Appends it to `out`.
            pub(crate) fn put(&self, out: &mut Vec<u8>) {
                let (kind, mut body): (u16, Vec<u8>) = match self {
                    $(Record::$name(_) => ($kind, Vec::new()),)*
                };
                match self { $(Record::$name(value) => value.put(&mut body),)* }
                kind.put(out);
                (body.len() as u32).put(out);
                out.append(&mut body);
            }

            fn get(reader: &mut Reader<'_>) -> Option<Record> {
                let kind = reader.u16()?;
                let len = reader.u32()? as usize;
                let mut body = Reader::new(reader.take(len)?);
                let record = match kind {
                    $($kind => Record::$name(Coding::get(&mut body)?),)*
                    _ => return None,
                };
                body.is_empty().then_some(record)
            }
        }
    };
}

records! {
    /// The log has been seen to reach this far.
    1 Reached(Reached);
    /// A data set is there, and is so.
    2 Set(DataSetEntry);
    /// A data set is gone.
    3 SetGone(DataSetId);
    /// A database has these data sets.
    4 Database(Database);
    /// A database is gone.
    5 DatabaseGone(String);
    /// An archive is there.
    6 Archive(Archive);
    /// The files of an archive were deleted.
    7 ArchiveGone(u32);
    /// An accumulation is there.
    8 Accumulation(Accumulation);
    /// The files of an accumulation were deleted.
    9 AccumulationGone(u32);
    /// An image copy is there.
    10 ImageCopy(ImageCopy);
    /// The files of an image copy were deleted.
    11 ImageCopyGone(u32);
    /// A recovery was done.
    12 Recovery(Recovery);
    /// Somebody has a database open.
    13 Authorised(Authorisation);
    /// A process has nothing open any more.
    14 Ended(u32);
    /// This copy of RECON, 1 or 2, misses entries from here on (K9); 0 says that none does.
    15 Stale(u8);
    /// Numbers up to this one were given away.
    16 Numbers(u32);
    /// The log is archived up to here.
    17 ArchivedThrough(Lsn);
    /// The system was restored from archives alone.
    18 Restored(Restored);
    /// Somebody has a database open no more.
    19 Released(Authorisation);
    /// A data set was built in a recovery.
    20 Built(Built);
    /// RECON was lost and begun anew where the log reached so far: of image copies and recoveries
    /// of before it knows nothing. 0 says that it was rebuilt since.
    21 Recreated(Lsn);
    /// The control file has bound this edition of what the system's bytes must prove.
    22 Protected(u32);
}

/// Takes the records of an entry apart; `None` if it is not one that this release writes.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Record>> {
    let mut reader = Reader::new(bytes);
    let mut records = Vec::new();
    while !reader.is_empty() {
        records.push(Record::get(&mut reader)?);
    }
    Some(records)
}

/// The bytes of these records.
pub(crate) fn encode(records: &[Record]) -> Vec<u8> {
    let mut out = Vec::new();
    records.iter().for_each(|record| record.put(&mut out));
    out
}
