//! The kernel's log records: what each kind means, and its bytes.
//!
//! The log keeps kind, flags, unit of work and previous LSN; bodies are, little-endian:
//!
//! | kind | record | body |
//! |---|---|---|
//! | 1 | commit | UTC in microseconds 8 |
//! | 2 | backed out | UTC 8 |
//! | 3 | frees at commit | data set 4, interval 4, repeated |
//! | 4 | end of undo | data set 4, undo-next LSN 8 |
//! | 5 | undo skipped | the same: its data set is offline, and its recovery will undo the record |
//! | 8 | checkpoint | part 4, parts 4, bytes of the [`crate::checkpoint::Checkpoint`] |
//! | 9 | data set made | tag prefix of its topmost map 8, definition |
//! | 10 | data set gone | data set 4 |
//! | 11 | data set changed | its definition from now on |
//! | 12 | data set building | as data set made; a restart removes it |
//! | 13 | data sets recovered | point 8, then data set 4 and what takes its place 4, repeated |
//! | 14 | data set offline | data set 4 |
//! | 15 | protected | edition of what the control file binds 4 |
//! | 16 | interval given out | data set 4, interval 4 |
//! | 17 | interval taken back | data set 4, interval 4; the unit of work is the one that freed it |
//! | 18 | written | batch 8, data set 4, then entries of interval 4, page LSN 8, new prefix 8, old prefix 8 |
//! | 19 | batch begins | batch 8, intervals 4 |
//! | 20 | batch done | batch 8 |
//! | 21 | batch settled | batch 8, then entries of data set 4, interval 4, page LSN 8, prefix 8 |
//! | 32-127 | a [`crate::Resource`]'s | data set 4, undo-next LSN 8 if a compensation, the resource's body |
//!
//! Flags: 1 compensation (redo only; the chain goes on at undo-next), 2 undoable.
//!
//! Invariants:
//! 1. Kinds are written down here and nowhere else: whoever reads records matches on
//!    [`KernelRecord`], so that a new kind does not compile before everybody has an answer to it.
//! 2. What encodes decodes to the same record, and what decodes encodes to the same bytes; only a
//!    definition that an older release has written encodes to bytes of this one.
//! 3. Decoding and encoding a change copies nothing of its body and allocates nothing.

mod list;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use base::bytes::Reader;
use base::{CiNumber, DataSetId, Lsn, UowId};
use space::Definition;
use wal::{Log, LogError, Place, Record};

use crate::UowError;
pub use list::{Entry, List};

/// Kinds of records; see the table above.
mod kind {
    pub(super) const COMMIT: u8 = 1;
    pub(super) const BACKED_OUT: u8 = 2;
    pub(super) const FREES_AT_COMMIT: u8 = 3;
    pub(super) const UNDO_END: u8 = 4;
    pub(super) const UNDO_SKIPPED: u8 = 5;
    pub(super) const CHECKPOINT: u8 = 8;
    pub(super) const SET_MADE: u8 = 9;
    pub(super) const SET_GONE: u8 = 10;
    pub(super) const SET_CHANGED: u8 = 11;
    pub(super) const SET_BUILDING: u8 = 12;
    pub(super) const SETS_RECOVERED: u8 = 13;
    pub(super) const SET_OFFLINE: u8 = 14;
    pub(super) const PROTECTED: u8 = 15;
    pub(super) const GIVEN_OUT: u8 = 16;
    pub(super) const TAKEN_BACK: u8 = 17;
    pub(super) const WRITTEN: u8 = 18;
    pub(super) const BATCH_BEGINS: u8 = 19;
    pub(super) const BATCH_DONE: u8 = 20;
    pub(super) const BATCH_SETTLED: u8 = 21;
    pub(super) const RESOURCE_FIRST: u8 = 32;
    pub(super) const RESOURCE_LAST: u8 = 127;
}

/// The kinds that belong to the [`crate::Resource`], which alone knows what they mean.
pub const RESOURCE_KINDS: RangeInclusive<u8> = kind::RESOURCE_FIRST..=kind::RESOURCE_LAST;

/// Flags of records.
mod flag {
    /// Redo only; the undo chain goes on at the LSN in the body.
    pub(super) const COMPENSATION: u8 = 1;
    /// Undone when its unit of work is backed out.
    pub(super) const UNDOABLE: u8 = 2;
}

/// An interval of a data set.
pub type Interval = (DataSetId, CiNumber);

/// An interval that a record touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its number.
    pub ci: CiNumber,
    /// The record holds all of it: what it was before is of no interest.
    pub fresh: bool,
    /// The record leaves nothing in it: it belongs to nobody from now on and is about to be taken
    /// back. If a crash comes between, restart takes it back.
    pub frees: bool,
}

/// A record of the kernel, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelRecord<'a> {
    /// A unit of work is committed.
    Commit {
        /// When: UTC in microseconds.
        utc_us: u64,
    },
    /// A unit of work is backed out.
    BackedOut {
        /// When: UTC in microseconds.
        utc_us: u64,
    },
    /// Intervals to free once the unit of work is durably committed.
    FreesAtCommit(List<'a, Interval>),
    /// The undo of a record is complete.
    UndoEnd(Undone),
    /// The undo of a record was left to the recovery of its data set.
    UndoSkipped(Undone),
    /// A part of a checkpoint.
    Checkpoint(Part<'a>),
    /// Something about which data sets exist.
    Catalog(CatalogRecord),
    /// An interval is in use.
    GivenOut(Interval),
    /// An interval is free.
    TakenBack(Interval),
    /// Something about which version of an interval is on disk.
    Write(WriteRecord<'a>),
    /// A change of intervals, known to the resource.
    Change(Change<'a>),
}

/// What was undone without a compensation of the resource, or left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The data set.
    pub set: DataSetId,
    /// Where the undo chain goes on.
    pub undo_next: Lsn,
}

/// A part of a checkpoint: its bytes are spread over several records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Which one, from 0.
    pub number: u32,
    /// How many there are.
    pub count: u32,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// What changes the [`crate::Catalog`]. Such records are rare, so this owns what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogRecord {
    /// A data set exists.
    Made {
        /// The tag prefix of its topmost map.
        top: u64,
        /// What it is.
        definition: Box<Definition>,
    },
    /// A data set is being built that may take the place of another one.
    Building {
        /// The tag prefix of its topmost map.
        top: u64,
        /// What it is.
        definition: Box<Definition>,
    },
    /// A data set is something else: its form, its conversion, its pool.
    Changed(Box<Definition>),
    /// A data set is gone.
    Gone(DataSetId),
    /// Data sets that were built have taken the place of others, all at once.
    Recovered(Recovered),
    /// A data set is of no use until it is recovered.
    Offline(DataSetId),
    /// The control file has bound what the system's bytes must prove.
    Protected {
        /// Which edition of that.
        edition: u32,
    },
}

/// What has taken the place of which data set, and the point that it was brought to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The point.
    pub to: Lsn,
    /// The old data sets, and the new ones.
    pub sets: Vec<(DataSetId, DataSetId)>,
}

/// What the page writer and restart say of batches of writes (K5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteRecord<'a> {
    /// Intervals are about to be written.
    Written(Written<'a>),
    /// All of a batch's intervals have been logged.
    BatchBegins {
        /// The batch.
        batch: u64,
        /// How many intervals it has.
        intervals: u32,
    },
    /// A batch is wholly on disk.
    BatchDone {
        /// The batch.
        batch: u64,
    },
    /// What restart found of a batch that was cut short.
    BatchSettled {
        /// The batch.
        batch: u64,
        /// Its intervals.
        entries: List<'a, SettledEntry>,
    },
}

/// Intervals of one data set that are about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written<'a> {
    /// The batch.
    pub batch: u64,
    /// The data set.
    pub set: DataSetId,
    /// Its intervals.
    pub entries: List<'a, WrittenEntry>,
}

/// One interval of a "written" record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenEntry {
    /// The interval.
    pub ci: CiNumber,
    /// The page LSN of the version that is written.
    pub page_lsn: Lsn,
    /// Its tag prefix.
    pub new: u64,
    /// The tag prefix of the version before; 0 if there was none.
    pub old: u64,
}

/// What an interval of a batch that was cut short really is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledEntry {
    /// The data set.
    pub set: DataSetId,
    /// The interval.
    pub ci: CiNumber,
    /// The page LSN that it has on disk.
    pub page_lsn: Lsn,
    /// Its tag prefix.
    pub prefix: u64,
}

/// A record of the resource, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// Which of [`RESOURCE_KINDS`].
    pub kind: u8,
    /// The data set.
    pub set: DataSetId,
    /// Where the undo chain goes on, if this is a compensation.
    pub undo_next: Option<Lsn>,
    /// It is undone when its unit of work is backed out.
    pub undoable: bool,
    /// What belongs to the resource.
    pub body: &'a [u8],
}

impl<'a> KernelRecord<'a> {
    /// Takes a record apart.
    ///
    /// # Errors
    /// [`UowError::Damaged`] if its body is none of its kind, or its kind is none.
    #[inline]
    pub fn of(record: &Record<'a>) -> Result<KernelRecord<'a>, UowError> {
        let decoded = KernelRecord::decode(record.kind, record.flags, record.body);
        decoded.ok_or_else(|| damaged(record))
    }

    /// The same from what the log keeps of a record; `None` if it is none.
    #[must_use]
    #[inline]
    pub fn decode(kind: u8, flags: u8, body: &'a [u8]) -> Option<KernelRecord<'a>> {
        match RESOURCE_KINDS.contains(&kind) {
            true => Change::decode(kind, flags, body).map(KernelRecord::Change),
            false => decode_own(kind, flags, body),
        }
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> u8 {
        match self {
            KernelRecord::Commit { .. } => kind::COMMIT,
            KernelRecord::BackedOut { .. } => kind::BACKED_OUT,
            KernelRecord::FreesAtCommit(_) => kind::FREES_AT_COMMIT,
            KernelRecord::UndoEnd(_) => kind::UNDO_END,
            KernelRecord::UndoSkipped(_) => kind::UNDO_SKIPPED,
            KernelRecord::Checkpoint(_) => kind::CHECKPOINT,
            KernelRecord::Catalog(record) => record.kind(),
            KernelRecord::GivenOut(_) => kind::GIVEN_OUT,
            KernelRecord::TakenBack(_) => kind::TAKEN_BACK,
            KernelRecord::Write(record) => record.kind(),
            KernelRecord::Change(change) => change.kind,
        }
    }

    /// Its flags.
    #[must_use]
    pub fn flags(&self) -> u8 {
        let undoable = matches!(self, KernelRecord::Change(change) if change.undoable);
        let compensation = self.undo_next().map_or(0, |_| flag::COMPENSATION);
        compensation | if undoable { flag::UNDOABLE } else { 0 }
    }

    /// Where the undo chain goes on, if it is a compensation.
    #[must_use]
    #[inline]
    pub fn undo_next(&self) -> Option<Lsn> {
        match self {
            KernelRecord::UndoEnd(undone) | KernelRecord::UndoSkipped(undone) => {
                Some(undone.undo_next)
            }
            KernelRecord::Change(change) => change.undo_next,
            KernelRecord::Commit { .. }
            | KernelRecord::BackedOut { .. }
            | KernelRecord::FreesAtCommit(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::Catalog(_)
            | KernelRecord::GivenOut(_)
            | KernelRecord::TakenBack(_)
            | KernelRecord::Write(_) => None,
        }
    }

    /// Its body.
    #[must_use]
    #[inline]
    pub fn encode(&self) -> Encoded<'_> {
        match self {
            KernelRecord::Commit { utc_us } | KernelRecord::BackedOut { utc_us } => {
                Encoded::EMPTY.u64(*utc_us)
            }
            KernelRecord::FreesAtCommit(places) => Encoded::EMPTY.tail(places.bytes()),
            KernelRecord::UndoEnd(undone) | KernelRecord::UndoSkipped(undone) => {
                Encoded::EMPTY.u32(undone.set.0).u64(undone.undo_next.0)
            }
            KernelRecord::Checkpoint(part) => {
                Encoded::EMPTY.u32(part.number).u32(part.count).tail(part.bytes)
            }
            KernelRecord::Catalog(record) => record.encode(),
            KernelRecord::GivenOut((set, ci)) | KernelRecord::TakenBack((set, ci)) => {
                Encoded::EMPTY.u32(set.0).u32(ci.0)
            }
            KernelRecord::Write(record) => record.encode(),
            KernelRecord::Change(change) => {
                let head = Encoded::EMPTY.u32(change.set.0);
                match change.undo_next {
                    Some(next) => head.u64(next.0).tail(change.body),
                    None => head.tail(change.body),
                }
            }
        }
    }

    /// The data set that it is about, if it is about one.
    #[must_use]
    pub fn set(&self) -> Option<DataSetId> {
        match self {
            KernelRecord::UndoEnd(undone) | KernelRecord::UndoSkipped(undone) => Some(undone.set),
            KernelRecord::Catalog(record) => record.set(),
            KernelRecord::GivenOut((set, _)) | KernelRecord::TakenBack((set, _)) => Some(*set),
            KernelRecord::Write(WriteRecord::Written(written)) => Some(written.set),
            KernelRecord::Change(change) => Some(change.set),
            KernelRecord::Commit { .. }
            | KernelRecord::BackedOut { .. }
            | KernelRecord::FreesAtCommit(_)
            | KernelRecord::Checkpoint(_)
            | KernelRecord::Write(_) => None,
        }
    }

    /// Appends it; see [`Log::append`].
    pub(crate) fn append(&self, log: &Log) -> Result<Place, LogError> {
        log.append(self.kind(), self.flags(), UowId::NONE, Lsn::NONE, &self.encode().parts())
    }

    /// Appends it where the log never is full, for no unit of work; see [`Log::append_reserved`].
    pub(crate) fn append_reserved(&self, log: &Log) -> Result<Place, LogError> {
        self.append_for(log, UowId::NONE, Lsn::NONE)
    }

    /// The same for a unit of work, whose record before it is `previous`.
    #[inline]
    pub(crate) fn append_for(
        &self,
        log: &Log,
        uow: UowId,
        previous: Lsn,
    ) -> Result<Place, LogError> {
        log.append_reserved(self.kind(), self.flags(), uow, previous, &self.encode().parts())
    }
}

/// A record that does not decode.
#[must_use]
pub fn damaged(record: &Record<'_>) -> UowError {
    UowError::Damaged {
        object: format!("the log record at {}", record.lsn),
        why: format!("its body is none of kind {}", record.kind),
    }
}

/// The name of a kind, for people.
#[must_use]
pub fn name_of(kind: u8) -> &'static str {
    match kind {
        kind::COMMIT => "commit",
        kind::BACKED_OUT => "backed-out",
        kind::FREES_AT_COMMIT => "frees-at-commit",
        kind::UNDO_END => "undo-end",
        kind::UNDO_SKIPPED => "undo-skipped",
        kind::CHECKPOINT => "checkpoint",
        kind::SET_MADE => "set-made",
        kind::SET_GONE => "set-gone",
        kind::SET_CHANGED => "set-changed",
        kind::SET_BUILDING => "set-building",
        kind::SETS_RECOVERED => "sets-recovered",
        kind::SET_OFFLINE => "set-offline",
        kind::PROTECTED => "protected",
        kind::GIVEN_OUT => "given-out",
        kind::TAKEN_BACK => "taken-back",
        kind::WRITTEN => "written",
        kind::BATCH_BEGINS => "batch-begins",
        kind::BATCH_DONE => "batch-done",
        kind::BATCH_SETTLED => "batch-settled",
        kind::RESOURCE_FIRST..=kind::RESOURCE_LAST => "change",
        _ => "unknown",
    }
}

impl<'a> Change<'a> {
    #[inline]
    fn decode(kind: u8, flags: u8, body: &'a [u8]) -> Option<Change<'a>> {
        let mut reader = Reader::new(body);
        let set = DataSetId(reader.u32()?);
        let compensation = flags & flag::COMPENSATION != 0;
        let undo_next = if compensation { Some(Lsn(reader.u64()?)) } else { None };
        let undoable = flags & flag::UNDOABLE != 0;
        Some(Change { kind, set, undo_next, undoable, body: reader.rest() })
    }
}

impl CatalogRecord {
    fn kind(&self) -> u8 {
        match self {
            CatalogRecord::Made { .. } => kind::SET_MADE,
            CatalogRecord::Building { .. } => kind::SET_BUILDING,
            CatalogRecord::Changed(_) => kind::SET_CHANGED,
            CatalogRecord::Gone(_) => kind::SET_GONE,
            CatalogRecord::Recovered(_) => kind::SETS_RECOVERED,
            CatalogRecord::Offline(_) => kind::SET_OFFLINE,
            CatalogRecord::Protected { .. } => kind::PROTECTED,
        }
    }

    fn encode(&self) -> Encoded<'_> {
        match self {
            CatalogRecord::Made { top, definition }
            | CatalogRecord::Building { top, definition } => {
                Encoded::EMPTY.u64(*top).tail(definition.encode())
            }
            CatalogRecord::Changed(definition) => Encoded::EMPTY.tail(definition.encode()),
            CatalogRecord::Gone(set) | CatalogRecord::Offline(set) => Encoded::EMPTY.u32(set.0),
            CatalogRecord::Recovered(Recovered { to, sets }) => {
                Encoded::EMPTY.u64(to.0).tail(List::of(sets).into_bytes())
            }
            CatalogRecord::Protected { edition } => Encoded::EMPTY.u32(*edition),
        }
    }

    fn set(&self) -> Option<DataSetId> {
        match self {
            CatalogRecord::Made { definition, .. }
            | CatalogRecord::Building { definition, .. }
            | CatalogRecord::Changed(definition) => Some(definition.id),
            CatalogRecord::Gone(set) | CatalogRecord::Offline(set) => Some(*set),
            CatalogRecord::Recovered(_) | CatalogRecord::Protected { .. } => None,
        }
    }
}

impl From<CatalogRecord> for KernelRecord<'_> {
    fn from(record: CatalogRecord) -> Self {
        KernelRecord::Catalog(record)
    }
}

impl WriteRecord<'_> {
    fn kind(&self) -> u8 {
        match self {
            WriteRecord::Written(_) => kind::WRITTEN,
            WriteRecord::BatchBegins { .. } => kind::BATCH_BEGINS,
            WriteRecord::BatchDone { .. } => kind::BATCH_DONE,
            WriteRecord::BatchSettled { .. } => kind::BATCH_SETTLED,
        }
    }

    fn encode(&self) -> Encoded<'_> {
        match self {
            WriteRecord::Written(Written { batch, set, entries }) => {
                Encoded::EMPTY.u64(*batch).u32(set.0).tail(entries.bytes())
            }
            WriteRecord::BatchBegins { batch, intervals } => {
                Encoded::EMPTY.u64(*batch).u32(*intervals)
            }
            WriteRecord::BatchDone { batch } => Encoded::EMPTY.u64(*batch),
            WriteRecord::BatchSettled { batch, entries } => {
                Encoded::EMPTY.u64(*batch).tail(entries.bytes())
            }
        }
    }
}

/// The records that are the kernel's own.
fn decode_own(kind: u8, flags: u8, body: &[u8]) -> Option<KernelRecord<'_>> {
    let mut reader = Reader::new(body);
    let record = match kind {
        kind::COMMIT => KernelRecord::Commit { utc_us: reader.u64()? },
        kind::BACKED_OUT => KernelRecord::BackedOut { utc_us: reader.u64()? },
        kind::FREES_AT_COMMIT => return List::decode(body).map(KernelRecord::FreesAtCommit),
        kind::UNDO_END | kind::UNDO_SKIPPED if flags & flag::COMPENSATION != 0 => {
            let undone = Undone { set: DataSetId(reader.u32()?), undo_next: Lsn(reader.u64()?) };
            match kind {
                kind::UNDO_END => KernelRecord::UndoEnd(undone),
                _ => KernelRecord::UndoSkipped(undone),
            }
        }
        kind::CHECKPOINT => {
            let (number, count) = (reader.u32()?, reader.u32()?);
            let bytes = reader.rest();
            return Some(KernelRecord::Checkpoint(Part { number, count, bytes }));
        }
        kind::SET_MADE..=kind::PROTECTED => {
            return decode_catalog(kind, body).map(KernelRecord::Catalog);
        }
        kind::GIVEN_OUT => KernelRecord::GivenOut(Entry::get(&mut reader)?),
        kind::TAKEN_BACK => KernelRecord::TakenBack(Entry::get(&mut reader)?),
        kind::WRITTEN..=kind::BATCH_SETTLED => {
            return decode_write(kind, body).map(KernelRecord::Write);
        }
        _ => return None,
    };
    reader.is_empty().then_some(record)
}

fn decode_catalog(kind: u8, body: &[u8]) -> Option<CatalogRecord> {
    let mut reader = Reader::new(body);
    let definition = |bytes| Definition::decode(bytes).ok().map(Box::new);
    let record = match kind {
        kind::SET_MADE => {
            let top = reader.u64()?;
            return Some(CatalogRecord::Made { top, definition: definition(reader.rest())? });
        }
        kind::SET_BUILDING => {
            let top = reader.u64()?;
            return Some(CatalogRecord::Building { top, definition: definition(reader.rest())? });
        }
        kind::SET_CHANGED => return definition(body).map(CatalogRecord::Changed),
        kind::SET_GONE => CatalogRecord::Gone(DataSetId(reader.u32()?)),
        kind::SETS_RECOVERED => {
            let to = Lsn(reader.u64()?);
            let sets = List::decode(reader.rest())?.iter().collect();
            return Some(CatalogRecord::Recovered(Recovered { to, sets }));
        }
        kind::SET_OFFLINE => CatalogRecord::Offline(DataSetId(reader.u32()?)),
        kind::PROTECTED => CatalogRecord::Protected { edition: reader.u32()? },
        _ => return None,
    };
    reader.is_empty().then_some(record)
}

fn decode_write(kind: u8, body: &[u8]) -> Option<WriteRecord<'_>> {
    let mut reader = Reader::new(body);
    let batch = reader.u64()?;
    let record = match kind {
        kind::WRITTEN => {
            let set = DataSetId(reader.u32()?);
            let entries = List::decode(reader.rest())?;
            return Some(WriteRecord::Written(Written { batch, set, entries }));
        }
        kind::BATCH_BEGINS => WriteRecord::BatchBegins { batch, intervals: reader.u32()? },
        kind::BATCH_DONE => WriteRecord::BatchDone { batch },
        kind::BATCH_SETTLED => {
            let entries = List::decode(reader.rest())?;
            return Some(WriteRecord::BatchSettled { batch, entries });
        }
        _ => return None,
    };
    reader.is_empty().then_some(record)
}

/// A record's body as bytes: some fields, and what is borrowed from elsewhere.
#[derive(Clone, Debug)]
pub struct Encoded<'a> {
    head: [u8; HEAD_BYTES_MAX],
    head_bytes: usize,
    tail: Cow<'a, [u8]>,
}

/// No record has more in front of what it borrows.
const HEAD_BYTES_MAX: usize = 12;

impl<'a> Encoded<'a> {
    const EMPTY: Encoded<'a> =
        Encoded { head: [0; HEAD_BYTES_MAX], head_bytes: 0, tail: Cow::Borrowed(&[]) };

    #[inline]
    fn u32(self, word: u32) -> Encoded<'a> {
        self.put(word.to_le_bytes())
    }

    #[inline]
    fn u64(self, word: u64) -> Encoded<'a> {
        self.put(word.to_le_bytes())
    }

    #[inline]
    fn put<const N: usize>(mut self, field: [u8; N]) -> Encoded<'a> {
        self.head[self.head_bytes..][..N].copy_from_slice(&field);
        self.head_bytes += N;
        self
    }

    #[inline]
    fn tail(mut self, tail: impl Into<Cow<'a, [u8]>>) -> Encoded<'a> {
        self.tail = tail.into();
        self
    }

    /// Its pieces, as the log takes them.
    #[must_use]
    #[inline]
    pub fn parts(&self) -> [&[u8]; 2] {
        [&self.head[..self.head_bytes], &self.tail]
    }

    /// All of it in one piece.
    #[must_use]
    pub fn concat(&self) -> Vec<u8> {
        self.parts().concat()
    }
}

#[cfg(test)]
mod tests;
