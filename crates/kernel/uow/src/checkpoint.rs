//! Checkpoints: what restart needs to know besides the log behind them. Fuzzy: nobody waits.
//!
//! A checkpoint is a byte string that stands in the log in parts (kind 8):
//!
//! | bytes | field |
//! |---|---|
//! | 2 | layout version, 2; version 1 ends before the data sets that are building |
//! | 8 | begin: units of work and data sets are as of this LSN |
//! | 8 | redo point: every change before it is on disk |
//! | 8 | next unit of work |
//! | 4 | next data set |
//! | 8 | latest batch |
//! | 4, then 24 each | active units of work: number, oldest LSN that undo reads, where it begins |
//! | 4, then each | data sets: tag prefix of the topmost map 8, length 2, definition |
//! | 4, then each | frees that follow from commits: unit 8, count 4, (data set 4, interval 4) each |
//! | 4, then 8 each | intervals in transit: data set, interval |
//! | 4, then each | anchored: unit 8, LSN 8, previous 8, data set 4, kind 1, length 2, body |
//! | 4, then 4 each | those of the data sets that are building |
//! | 4, then each | data sets that are offline: length 2, definition |

use std::collections::BTreeMap;

use base::bytes::{Reader, push_string16};
use base::{CiNumber, DataSetId, Lsn, UowId};
use space::Definition;
use wal::{Log, LogError};

use crate::active::{ActiveUow, AnchoredRecord};
use crate::record::{Interval, KernelRecord, List, Part};

/// The state of the kernel that is not in intervals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Units of work and data sets are as of this LSN.
    pub begin: Lsn,
    /// Every change before this LSN is on disk.
    pub redo: Lsn,
    /// The next unit of work's number.
    pub next_uow: u64,
    /// The next data set's number.
    pub next_set: u32,
    /// The latest batch of the page writer.
    pub last_batch: u64,
    /// Who was active.
    pub active: Vec<ActiveUow>,
    /// Which data sets there are, with the tag prefix of each one's topmost map.
    pub sets: Vec<(u64, Definition)>,
    /// Intervals that committed units of work have freed, not taken back yet.
    pub frees: BTreeMap<UowId, Vec<(DataSetId, CiNumber)>>,
    /// Intervals that are in use and belong to nothing yet, or no longer.
    pub transit: Vec<(DataSetId, CiNumber)>,
    /// What anchored units of work among the active ones have logged that can be undone.
    pub anchored: BTreeMap<UowId, Vec<AnchoredRecord>>,
    /// Those of the data sets that are being built: a restart removes them.
    pub building: Vec<DataSetId>,
    /// Data sets that wait for their recovery.
    pub offline: Vec<Definition>,
}

const VERSION: u16 = 2;
/// A checkpoint stands in the log in parts of at most this size.
const PART_BYTES: usize = 8 << 10;

impl Checkpoint {
    /// The state of a system in which nothing has happened.
    #[must_use]
    pub fn initial() -> Checkpoint {
        Checkpoint {
            begin: Lsn::FIRST,
            redo: Lsn::FIRST,
            next_uow: 1,
            next_set: 1,
            last_batch: 0,
            active: Vec::new(),
            sets: Vec::new(),
            frees: BTreeMap::new(),
            transit: Vec::new(),
            anchored: BTreeMap::new(),
            building: Vec::new(),
            offline: Vec::new(),
        }
    }

    /// The oldest LSN that restart from this checkpoint reads.
    #[must_use]
    pub fn needed_from(&self) -> Lsn {
        let oldest = self.active.iter().map(|active| active.first).min();
        self.redo.min(self.begin).min(oldest.unwrap_or(self.begin))
    }

    /// Puts it into the log, durably. Returns where its first part begins and its last one ends.
    pub(crate) fn log(&self, log: &Log) -> Result<(Lsn, Lsn), LogError> {
        let bytes = self.encode();
        let parts = bytes.chunks(PART_BYTES);
        let count = parts.len() as u32;
        let (mut first, mut end) = (Lsn::NONE, Lsn::NONE);
        for (number, bytes) in (0..).zip(parts) {
            let part = Part { number, count, bytes };
            let place = KernelRecord::Checkpoint(part).append_reserved(log)?;
            if number == 0 {
                first = place.lsn;
            }
            end = place.end;
        }
        log.wait_durable(end)?;
        Ok((first, end))
    }

    /// The checkpoint as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256 + self.active.len() * 24 + self.sets.len() * 128);
        out.extend_from_slice(&VERSION.to_le_bytes());
        for word in [self.begin.0, self.redo.0, self.next_uow] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&self.next_set.to_le_bytes());
        out.extend_from_slice(&self.last_batch.to_le_bytes());
        out.extend_from_slice(&(self.active.len() as u32).to_le_bytes());
        for active in &self.active {
            for word in [active.uow.0, active.first.0, active.last.0] {
                out.extend_from_slice(&word.to_le_bytes());
            }
        }
        out.extend_from_slice(&(self.sets.len() as u32).to_le_bytes());
        for (top, definition) in &self.sets {
            out.extend_from_slice(&top.to_le_bytes());
            push_string16(&mut out, &definition.encode());
        }
        out.extend_from_slice(&(self.frees.len() as u32).to_le_bytes());
        for (uow, places) in &self.frees {
            out.extend_from_slice(&uow.0.to_le_bytes());
            out.extend_from_slice(&(places.len() as u32).to_le_bytes());
            out.extend_from_slice(List::of(places).bytes());
        }
        out.extend_from_slice(&(self.transit.len() as u32).to_le_bytes());
        out.extend_from_slice(List::of(&self.transit).bytes());
        let count: usize = self.anchored.values().map(Vec::len).sum();
        out.extend_from_slice(&(count as u32).to_le_bytes());
        for (uow, records) in &self.anchored {
            for record in records {
                for word in [uow.0, record.lsn.0, record.previous.0] {
                    out.extend_from_slice(&word.to_le_bytes());
                }
                out.extend_from_slice(&record.set.0.to_le_bytes());
                out.push(record.kind);
                push_string16(&mut out, &record.body);
            }
        }
        out.extend_from_slice(&(self.building.len() as u32).to_le_bytes());
        self.building.iter().for_each(|set| out.extend_from_slice(&set.0.to_le_bytes()));
        out.extend_from_slice(&(self.offline.len() as u32).to_le_bytes());
        self.offline.iter().for_each(|set| push_string16(&mut out, &set.encode()));
        out
    }

    /// The checkpoint from bytes.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn decode(bytes: &[u8]) -> Result<Checkpoint, String> {
        let mut reader = Reader::new(bytes);
        let version = match reader.u16() {
            Some(version @ 1..=VERSION) => version,
            Some(found) => return Err(format!("it has layout version {found}")),
            None => return Err("it is empty".into()),
        };
        decode_fields(&mut reader, version).ok_or_else(|| "a field is cut short or bad".into())
    }
}

/// Puts the parts of a checkpoint together, as the log has them.
#[derive(Default)]
pub struct Gathered {
    bytes: Vec<u8>,
    parts: u32,
}

impl Gathered {
    /// Takes the next part; returns the checkpoint with its last one. A first part
    /// begins anew: a crash may have cut off the rest of the one before.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn part(&mut self, part: &Part<'_>) -> Result<Option<Checkpoint>, String> {
        let Part { number, count, bytes } = *part;
        if number == 0 {
            *self = Gathered::default();
        }
        if number != self.parts {
            return Err(format!("part {number} stands where part {} should", self.parts));
        }
        self.bytes.extend_from_slice(bytes);
        self.parts += 1;
        if self.parts < count {
            return Ok(None);
        }
        let whole = std::mem::take(self);
        Checkpoint::decode(&whole.bytes).map(Some)
    }
}

fn decode_fields(reader: &mut Reader<'_>, version: u16) -> Option<Checkpoint> {
    let (begin, redo) = (Lsn(reader.u64()?), Lsn(reader.u64()?));
    let (next_uow, next_set, last_batch) = (reader.u64()?, reader.u32()?, reader.u64()?);
    let mut active = Vec::new();
    for _ in 0..reader.u32()? {
        let (uow, first, last) = (reader.u64()?, reader.u64()?, reader.u64()?);
        active.push(ActiveUow { uow: UowId(uow), first: Lsn(first), last: Lsn(last) });
    }
    let mut sets = Vec::new();
    for _ in 0..reader.u32()? {
        let top = reader.u64()?;
        sets.push((top, Definition::decode(reader.string16()?).ok()?));
    }
    let mut frees = BTreeMap::new();
    for _ in 0..reader.u32()? {
        let uow = UowId(reader.u64()?);
        let count = reader.u32()? as usize;
        frees.insert(uow, decode_places(reader, count)?);
    }
    let count = reader.u32()? as usize;
    let transit = decode_places(reader, count)?;
    let anchored = decode_anchored(reader)?;
    let (mut building, mut offline) = (Vec::new(), Vec::new());
    if version > 1 {
        for _ in 0..reader.u32()? {
            building.push(DataSetId(reader.u32()?));
        }
        for _ in 0..reader.u32()? {
            offline.push(Definition::decode(reader.string16()?).ok()?);
        }
    }
    reader.is_empty().then_some(Checkpoint {
        begin,
        redo,
        next_uow,
        next_set,
        last_batch,
        active,
        sets,
        frees,
        transit,
        anchored,
        building,
        offline,
    })
}

fn decode_places(reader: &mut Reader<'_>, count: usize) -> Option<Vec<Interval>> {
    Some(List::decode(reader.take(count.checked_mul(8)?)?)?.iter().collect())
}

fn decode_anchored(reader: &mut Reader<'_>) -> Option<BTreeMap<UowId, Vec<AnchoredRecord>>> {
    let mut anchored: BTreeMap<UowId, Vec<AnchoredRecord>> = BTreeMap::new();
    for _ in 0..reader.u32()? {
        let uow = UowId(reader.u64()?);
        let (lsn, previous) = (Lsn(reader.u64()?), Lsn(reader.u64()?));
        let (set, kind) = (DataSetId(reader.u32()?), reader.u8()?);
        let body = reader.string16()?.to_vec();
        let record = AnchoredRecord { lsn, previous, set, kind, body };
        anchored.entry(uow).or_default().push(record);
    }
    Some(anchored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_comes_back_and_every_cut_is_refused() {
        let mut checkpoint = Checkpoint::initial();
        checkpoint.active.push(ActiveUow { uow: UowId(3), first: Lsn(70), last: Lsn(90) });
        checkpoint.frees.insert(UowId(2), vec![(DataSetId(1), CiNumber(9))]);
        checkpoint.transit = vec![(DataSetId(3), CiNumber(4)), (DataSetId(3), CiNumber(5))];
        let (set, previous) = (DataSetId(3), Lsn::NONE);
        let record = AnchoredRecord { lsn: Lsn(90), previous, set, kind: 40, body: vec![1, 2] };
        let other = AnchoredRecord { previous: Lsn(90), body: Vec::new(), ..record.clone() };
        checkpoint.anchored.insert(UowId(3), vec![record, other]);
        checkpoint.building = vec![DataSetId(9)];
        let bytes = checkpoint.encode();
        assert_eq!(Checkpoint::decode(&bytes), Ok(checkpoint));
        for len in 0..bytes.len() {
            assert!(Checkpoint::decode(&bytes[..len]).is_err(), "{len}");
        }
    }
}
