//! The kernel's own log records, and what all records have in common.
//!
//! The log keeps kind, flags, unit of work and previous LSN; bodies are, little-endian:
//!
//! | kind | name | body |
//! |---|---|---|
//! | 1 | commit | UTC in microseconds 8 |
//! | 2 | backed out | UTC 8 |
//! | 3 | frees at commit | data set 4, interval 4, repeated |
//! | 4 | end of undo | nothing; only its compensation prefix counts |
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

use base::bytes::Reader;
use base::{CiNumber, DataSetId, Lsn};
use space::Definition;

/// Kinds of records; see the table above.
pub mod kind {
    /// A unit of work is committed.
    pub const COMMIT: u8 = 1;
    /// A unit of work is backed out.
    pub const BACKED_OUT: u8 = 2;
    /// Intervals to free once the unit of work is durably committed.
    pub const FREES_AT_COMMIT: u8 = 3;
    /// The undo of a record is complete.
    pub const UNDO_END: u8 = 4;
    /// The undo of a record was left to the recovery of its data set.
    pub const UNDO_SKIPPED: u8 = 5;
    /// A part of a checkpoint.
    pub const CHECKPOINT: u8 = 8;
    /// A data set exists.
    pub const SET_MADE: u8 = 9;
    /// A data set is gone.
    pub const SET_GONE: u8 = 10;
    /// A data set is something else: its form, its conversion, its pool.
    pub const SET_CHANGED: u8 = 11;
    /// A data set is being built that may take the place of another one.
    pub const SET_BUILDING: u8 = 12;
    /// Data sets that were built have taken the place of others, all at once.
    pub const SETS_RECOVERED: u8 = 13;
    /// A data set is of no use until it is recovered.
    pub const SET_OFFLINE: u8 = 14;
    /// The control file has bound what the system's bytes must prove.
    pub const PROTECTED: u8 = 15;
    /// An interval is in use.
    pub const GIVEN_OUT: u8 = 16;
    /// An interval is free.
    pub const TAKEN_BACK: u8 = 17;
    /// Intervals are about to be written (K5).
    pub const WRITTEN: u8 = 18;
    /// All of a batch's intervals have been logged.
    pub const BATCH_BEGINS: u8 = 19;
    /// A batch is wholly on disk.
    pub const BATCH_DONE: u8 = 20;
    /// What restart found of a batch that was cut short.
    pub const BATCH_SETTLED: u8 = 21;
    /// The first kind that belongs to the resource.
    pub const RESOURCE_FIRST: u8 = 32;
    /// The last one.
    pub const RESOURCE_LAST: u8 = 127;
}

/// Flags of records.
pub mod flag {
    /// Redo only; the undo chain goes on at the LSN in the body.
    pub const COMPENSATION: u8 = 1;
    /// Undone when its unit of work is backed out.
    pub const UNDOABLE: u8 = 2;
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

/// The data set that a record is about, if it is about one.
#[must_use]
pub fn set_of(kind: u8, body: &[u8]) -> Option<DataSetId> {
    let mut reader = Reader::new(body);
    match kind {
        kind::SET_GONE | kind::SET_OFFLINE | kind::GIVEN_OUT | kind::TAKEN_BACK => {}
        kind::RESOURCE_FIRST..=kind::RESOURCE_LAST => {}
        kind::WRITTEN => {
            reader.u64()?;
        }
        kind::SET_CHANGED => return Definition::decode(body).ok().map(|set| set.id),
        _ => return None,
    }
    reader.u32().map(DataSetId)
}

/// A record of the resource, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The data set.
    pub set: DataSetId,
    /// Where the undo chain goes on, if this is a compensation.
    pub undo_next: Option<Lsn>,
    /// What belongs to the resource.
    pub body: &'a [u8],
}

impl<'a> Change<'a> {
    /// Takes a record's body apart; `None` if it is too short.
    #[must_use]
    pub fn decode(flags: u8, body: &'a [u8]) -> Option<Change<'a>> {
        let mut reader = Reader::new(body);
        let set = DataSetId(reader.u32()?);
        let compensation = flags & flag::COMPENSATION != 0;
        let undo_next = if compensation { Some(Lsn(reader.u64()?)) } else { None };
        Some(Change { set, undo_next, body: reader.rest() })
    }
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

/// A "written" record, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The batch.
    pub batch: u64,
    /// The data set.
    pub set: DataSetId,
    /// Its intervals.
    pub entries: Vec<WrittenEntry>,
}

impl Written {
    /// The record's body.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(12 + self.entries.len() * 28);
        out.extend_from_slice(&self.batch.to_le_bytes());
        out.extend_from_slice(&self.set.0.to_le_bytes());
        for entry in &self.entries {
            out.extend_from_slice(&entry.ci.0.to_le_bytes());
            out.extend_from_slice(&entry.page_lsn.0.to_le_bytes());
            out.extend_from_slice(&entry.new.to_le_bytes());
            out.extend_from_slice(&entry.old.to_le_bytes());
        }
        out
    }

    /// Takes a body apart; `None` if it is none.
    #[must_use]
    pub fn decode(body: &[u8]) -> Option<Written> {
        let mut reader = Reader::new(body);
        let (batch, set) = (reader.u64()?, DataSetId(reader.u32()?));
        let mut entries = Vec::new();
        while !reader.is_empty() {
            entries.push(WrittenEntry {
                ci: CiNumber(reader.u32()?),
                page_lsn: Lsn(reader.u64()?),
                new: reader.u64()?,
                old: reader.u64()?,
            });
        }
        Some(Written { batch, set, entries })
    }
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

/// The body of a "batch settled" record.
#[must_use]
pub fn encode_settled(batch: u64, entries: &[SettledEntry]) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 + entries.len() * 24);
    out.extend_from_slice(&batch.to_le_bytes());
    for entry in entries {
        out.extend_from_slice(&entry.set.0.to_le_bytes());
        out.extend_from_slice(&entry.ci.0.to_le_bytes());
        out.extend_from_slice(&entry.page_lsn.0.to_le_bytes());
        out.extend_from_slice(&entry.prefix.to_le_bytes());
    }
    out
}

/// Takes a "batch settled" body apart; `None` if it is none.
#[must_use]
pub fn decode_settled(body: &[u8]) -> Option<(u64, Vec<SettledEntry>)> {
    let mut reader = Reader::new(body);
    let batch = reader.u64()?;
    let mut entries = Vec::new();
    while !reader.is_empty() {
        entries.push(SettledEntry {
            set: DataSetId(reader.u32()?),
            ci: CiNumber(reader.u32()?),
            page_lsn: Lsn(reader.u64()?),
            prefix: reader.u64()?,
        });
    }
    Some((batch, entries))
}

/// What has taken the place of which data set, and the point that it was brought to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The point.
    pub to: Lsn,
    /// The old data sets, and the new ones.
    pub sets: Vec<(DataSetId, DataSetId)>,
}

impl Recovered {
    /// The body of a "data sets recovered" record.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.to.0.to_le_bytes().to_vec();
        let words = self.sets.iter().flat_map(|(old, new)| [old.0, new.0]);
        out.extend(words.flat_map(u32::to_le_bytes));
        out
    }

    /// Takes such a body apart; `None` if it is none.
    #[must_use]
    pub fn decode(body: &[u8]) -> Option<Recovered> {
        let mut reader = Reader::new(body);
        let to = Lsn(reader.u64()?);
        let mut sets = Vec::new();
        while !reader.is_empty() {
            sets.push((DataSetId(reader.u32()?), DataSetId(reader.u32()?)));
        }
        Some(Recovered { to, sets })
    }
}

/// Takes a list of (data set, interval) apart; `None` if it is none.
#[must_use]
pub fn decode_places(body: &[u8]) -> Option<Vec<(DataSetId, CiNumber)>> {
    let mut reader = Reader::new(body);
    let mut places = Vec::new();
    while !reader.is_empty() {
        places.push((DataSetId(reader.u32()?), CiNumber(reader.u32()?)));
    }
    Some(places)
}

/// A list of (data set, interval) as a body.
#[must_use]
pub fn encode_places(places: &[(DataSetId, CiNumber)]) -> Vec<u8> {
    let words = places.iter().flat_map(|(set, ci)| [set.0, ci.0]);
    words.flat_map(u32::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_back_and_cuts_are_refused() {
        let entry = WrittenEntry { ci: CiNumber(9), page_lsn: Lsn(8), new: 7, old: 6 };
        let written = Written { batch: 5, set: DataSetId(4), entries: vec![entry; 3] };
        let bytes = written.encode();
        assert_eq!(Written::decode(&bytes), Some(written));
        assert_eq!(Written::decode(&bytes[..bytes.len() - 1]), None);
        let settled =
            SettledEntry { set: DataSetId(1), ci: CiNumber(2), page_lsn: Lsn(3), prefix: 4 };
        let bytes = encode_settled(11, &[settled; 2]);
        assert_eq!(decode_settled(&bytes), Some((11, vec![settled; 2])));
        assert_eq!(decode_settled(&bytes[..9]), None);
        let places = vec![(DataSetId(1), CiNumber(2)), (DataSetId(3), CiNumber(4))];
        assert_eq!(decode_places(&encode_places(&places)), Some(places));
        assert_eq!(decode_places(&[1, 2, 3]), None);
        let sets = vec![(DataSetId(1), DataSetId(7)), (DataSetId(2), DataSetId(8))];
        let recovered = Recovered { to: Lsn(99), sets };
        let bytes = recovered.encode();
        assert_eq!(Recovered::decode(&bytes[..bytes.len() - 1]), None);
        assert_eq!(Recovered::decode(&bytes), Some(recovered));
    }
}
