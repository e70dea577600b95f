//! Symbolic checkpoints and ends of steps: what their records keep.
//!
//! The set is [`SET`]; `step_records` writes it and reads it.
//!
//! | key | bytes |
//! |---|---|
//! | name of the PSB | 8 |
//! | number, drawn from the set's sequence, big-endian | 8 |
//!
//! | value | bytes, integers little-endian |
//! |---|---|
//! | version, 3; 2 has no position, and 1 neither kind nor step either, and is a checkpoint | 1 |
//! | kind: `C` checkpoint, `E` normal end | 1 |
//! | name of the step: length, bytes | 1, ... |
//! | where the store's log stood right before it was committed | 8 |
//! | id; of an end blanks | 8 |
//! | time stamp: 0000, day of the year, HHMMSST | 14 |
//! | of a checkpoint: number of areas | 1 |
//! | each area: length, bytes | 4, ... |
//! | number of places | 2 |
//! | each place: its place in the PSB, DBD, `F` file or `D` database, length, bytes | 2, 8, 1, 4, ... |
//!
//! The bytes of a database's place are the number of its levels (2), for each the segment's place
//! in the view (2), and the path; those of a file's place are the file's own.
//!
//! Invariants:
//! 1. Bytes that are none are refused, never a panic.

use base::bytes::Reader;
use dli::Place;
use region::layout::Name;

/// The set that holds checkpoints.
pub const SET: &str = "HOLDFAST.CHECKPOINTS";

/// Areas that a checkpoint saves at most.
pub(crate) const AREAS_MAX: usize = 7;

/// Bytes that the name of a step has at most.
pub const STEP_BYTES_MAX: usize = 64;

const VERSION: u8 = 3;
/// The version whose records do not say where the log stood.
const WITHOUT_POSITION: u8 = 2;
/// The version whose records name no step.
const WITHOUT_STEP: u8 = 1;
const CHECKPOINT: u8 = b'C';
const END: u8 = b'E';
const FILE: u8 = b'F';
const DATABASE: u8 = b'D';

/// Where a PCB stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stood {
    /// A file.
    File(gsam::Place),
    /// A database.
    Database(Place),
}

/// A place, with the PCB that stood there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The PCB's place in the PSB.
    pub(crate) slot: u16,
    /// Its DBD.
    pub(crate) dbd: Name,
    pub(crate) stood: Stood,
}

/// A symbolic checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The id that the program gave it.
    pub id: Name,
    /// Its time stamp.
    pub stamp: [u8; 14],
    /// The areas that the program saved.
    pub areas: Vec<Vec<u8>>,
    pub(crate) spots: Vec<Spot>,
}

impl Checkpoint {
    /// Whether a job that asks for `wanted` means this one.
    pub(crate) fn is(&self, wanted: &str) -> bool {
        let id = String::from_utf8_lossy(&self.id);
        id.trim_end() == wanted || self.stamp == wanted.as_bytes()
    }

    /// Its id and its time stamp, for people.
    pub(crate) fn title(&self) -> String {
        let id = region::layout::text(&self.id);
        format!("{id} ({})", String::from_utf8_lossy(&self.stamp))
    }
}

/// What a record says of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It took a checkpoint.
    Checkpoint(Box<Checkpoint>),
    /// It ended normally, at this time.
    End([u8; 14]),
}

/// A record of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The step's name; none in a record of version 1.
    pub step: Option<String>,
    /// Where the store's log stood right before the record was committed; none before version 3.
    pub position: Option<u64>,
    /// What happened.
    pub event: Event,
}

impl Record {
    /// As bytes, of the newest version.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let kind = match self.event {
            Event::Checkpoint(_) => CHECKPOINT,
            Event::End(_) => END,
        };
        let step = self.step.as_deref().unwrap_or_default().as_bytes();
        let mut out = vec![VERSION, kind, step.len() as u8];
        out.extend_from_slice(step);
        out.extend_from_slice(&self.position.unwrap_or_default().to_le_bytes());
        match &self.event {
            Event::Checkpoint(checkpoint) => encode_checkpoint(checkpoint, &mut out),
            Event::End(stamp) => {
                out.extend_from_slice(&region::layout::NO_NAME);
                out.extend_from_slice(stamp);
            }
        }
        out
    }

    /// From bytes; `None` if they are no record.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Record> {
        let mut reader = Reader::new(bytes);
        let (kind, step, position) = match reader.u8()? {
            version @ (VERSION | WITHOUT_POSITION) => {
                let (kind, len) = (reader.u8()?, reader.u8()?);
                let step = std::str::from_utf8(reader.take(usize::from(len))?).ok()?;
                let position = if version == VERSION { Some(reader.u64()?) } else { None };
                (kind, Some(step.to_owned()), position)
            }
            WITHOUT_STEP => (CHECKPOINT, None, None),
            _ => return None,
        };
        let (id, stamp) = (reader.array()?, reader.array()?);
        let event = match kind {
            CHECKPOINT => Event::Checkpoint(Box::new(decode_checkpoint(id, stamp, &mut reader)?)),
            END if id == region::layout::NO_NAME => Event::End(stamp),
            _ => return None,
        };
        reader.is_empty().then_some(Record { step, position, event })
    }

    /// Whether a step of this name sees it.
    pub(crate) fn is_of(&self, step: &str) -> bool {
        self.step.as_deref().is_none_or(|own| own == step)
    }

    /// A checkpoint of another step, for people.
    pub(crate) fn title(&self) -> Option<String> {
        match (&self.event, &self.step) {
            (Event::Checkpoint(checkpoint), Some(step)) => {
                Some(format!("{} of step {step}", checkpoint.title()))
            }
            (Event::Checkpoint(checkpoint), None) => Some(checkpoint.title()),
            (Event::End(_), _) => None,
        }
    }
}

fn encode_checkpoint(checkpoint: &Checkpoint, out: &mut Vec<u8>) {
    out.extend_from_slice(&checkpoint.id);
    out.extend_from_slice(&checkpoint.stamp);
    out.push(checkpoint.areas.len() as u8);
    checkpoint.areas.iter().for_each(|area| push(out, area));
    out.extend_from_slice(&(checkpoint.spots.len() as u16).to_le_bytes());
    for spot in &checkpoint.spots {
        out.extend_from_slice(&spot.slot.to_le_bytes());
        out.extend_from_slice(&spot.dbd);
        match &spot.stood {
            Stood::File(place) => {
                out.push(FILE);
                push(out, &place.encode());
            }
            Stood::Database(place) => {
                out.push(DATABASE);
                push(out, &encode_place(place));
            }
        }
    }
}

fn decode_checkpoint(id: Name, stamp: [u8; 14], reader: &mut Reader<'_>) -> Option<Checkpoint> {
    let count = reader.u8()?;
    let areas: Option<Vec<Vec<u8>>> = (0..count).map(|_| taken(reader)).collect();
    let count = reader.u16()?;
    let spots: Option<Vec<Spot>> = (0..count).map(|_| decode_spot(reader)).collect();
    Some(Checkpoint { id, stamp, areas: areas?, spots: spots? })
}

fn push(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn taken(reader: &mut Reader<'_>) -> Option<Vec<u8>> {
    let len = reader.u32()? as usize;
    reader.take(len).map(<[u8]>::to_vec)
}

fn encode_place(place: &Place) -> Vec<u8> {
    let mut out = (place.nodes.len() as u16).to_le_bytes().to_vec();
    for node in &place.nodes {
        out.extend_from_slice(&node.to_le_bytes());
    }
    out.extend_from_slice(&place.key);
    out
}

fn decode_spot(reader: &mut Reader<'_>) -> Option<Spot> {
    let (slot, dbd, kind) = (reader.u16()?, reader.array()?, reader.u8()?);
    let bytes = taken(reader)?;
    let stood = match kind {
        FILE => Stood::File(gsam::Place::decode(&bytes)?),
        DATABASE => {
            let mut reader = Reader::new(&bytes);
            let count = reader.u16()?;
            let nodes: Option<Vec<u16>> = (0..count).map(|_| reader.u16()).collect();
            Stood::Database(Place { nodes: nodes?, key: reader.rest().to_vec() })
        }
        _ => return None,
    };
    Some(Spot { slot, dbd, stood })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Moment;

    fn sample() -> Checkpoint {
        let file = gsam::Place::Input { offset: 320, records: 4 };
        let database = Place { nodes: vec![0, 2], key: b"000017\x03\x01".to_vec() };
        Checkpoint {
            id: *b"CKPT0004",
            stamp: Moment::new(951_827_696_700_000, 0).checkpoint(),
            areas: vec![b"COUNTERS".to_vec(), Vec::new()],
            spots: vec![
                Spot { slot: 0, dbd: *b"SHOPDB  ", stood: Stood::Database(database) },
                Spot { slot: 3, dbd: *b"SHOPIN  ", stood: Stood::File(file) },
            ],
        }
    }

    fn records() -> [Record; 2] {
        let checkpoint = Event::Checkpoint(Box::new(sample()));
        [checkpoint, Event::End(sample().stamp)].map(|event| Record {
            step: Some("TELLER".to_owned()),
            position: Some(7),
            event,
        })
    }

    #[test]
    fn a_record_comes_back_and_anything_else_is_refused() {
        for record in records() {
            let bytes = record.encode();
            assert_eq!(Record::decode(&bytes), Some(record));
            for len in 0..bytes.len() {
                assert_eq!(Record::decode(&bytes[..len]), None, "{len} bytes");
            }
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0xFF;
                let _ = Record::decode(&damaged);
            }
        }
    }

    #[test]
    fn a_record_of_version_2_says_not_where_the_log_stood() {
        for record in records() {
            let mut bytes = record.encode();
            bytes[0] = WITHOUT_POSITION;
            bytes.drain(9..17);
            assert_eq!(Record::decode(&bytes), Some(Record { position: None, ..record }));
        }
    }

    #[test]
    fn a_record_of_version_1_is_a_checkpoint_of_any_step() {
        let mut bytes = vec![WITHOUT_STEP];
        encode_checkpoint(&sample(), &mut bytes);
        let record = Record::decode(&bytes).expect("a record");
        assert_eq!(record.event, Event::Checkpoint(Box::new(sample())));
        assert!(record.is_of("TELLER") && record.is_of("OTHER"));
    }

    #[test]
    fn a_checkpoint_is_asked_for_by_its_id_or_its_stamp() {
        let checkpoint = sample();
        assert_eq!(&checkpoint.stamp, b"00000601234567");
        assert!(checkpoint.is("CKPT0004") && checkpoint.is("00000601234567"));
        assert!(!checkpoint.is("CKPT") && !checkpoint.is(""));
    }
}
