//! Symbolic checkpoints: what they keep, and where.
//!
//! Owns the set [`SET`].
//!
//! | key | bytes |
//! |---|---|
//! | name of the PSB | 8 |
//! | number, drawn from the set's sequence, big-endian | 8 |
//!
//! | value | bytes, integers little-endian |
//! |---|---|
//! | version, 1 | 1 |
//! | id | 8 |
//! | time stamp: 0000, day of the year, HHMMSST | 14 |
//! | number of areas | 1 |
//! | each area: length, bytes | 4, ... |
//! | number of places | 2 |
//! | each place: its place in the PSB, DBD, `F` file or `D` database, length, bytes | 2, 8, 1, 4, ... |
//!
//! The bytes of a database's place are the number of its levels (2), for each the segment's place
//! in the view (2), and the path; those of a file's place are the file's own.
//!
//! Invariants:
//! 1. A record is put into the unit of work that it is a checkpoint of, right before the commit.
//! 2. The newest [`KEPT`] checkpoints of a PSB are kept; older ones go with the next checkpoint.
//! 3. Bytes that are none are refused, never a panic.

use std::collections::VecDeque;

use base::bytes::Reader;
use definitions::PsbName;
use dli::Place;
use region::shape::Name;
use store::{
    Cursor, KeyRange, Position, Read, SetAttributes, SetId, Store, StoreError, Unit, UnitOptions,
};

/// The set that holds checkpoints.
pub const SET: &str = "HOLDFAST.CHECKPOINTS";

/// How many checkpoints of a PSB are kept.
pub(crate) const KEPT: usize = 1_000;
/// Areas that a checkpoint saves at most.
pub(crate) const AREAS_MAX: usize = 7;

const VERSION: u8 = 1;
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
    /// As the bytes of its record.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        out.extend_from_slice(&self.id);
        out.extend_from_slice(&self.stamp);
        out.push(self.areas.len() as u8);
        self.areas.iter().for_each(|area| push(&mut out, area));
        out.extend_from_slice(&(self.spots.len() as u16).to_le_bytes());
        for spot in &self.spots {
            out.extend_from_slice(&spot.slot.to_le_bytes());
            out.extend_from_slice(&spot.dbd);
            match &spot.stood {
                Stood::File(place) => {
                    out.push(FILE);
                    push(&mut out, &place.encode());
                }
                Stood::Database(place) => {
                    out.push(DATABASE);
                    push(&mut out, &encode_place(place));
                }
            }
        }
        out
    }

    /// From the bytes of a record; `None` if they are none.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Checkpoint> {
        let mut reader = Reader::new(bytes);
        if reader.u8()? != VERSION {
            return None;
        }
        let (id, stamp, count) = (reader.array()?, reader.array()?, reader.u8()?);
        let areas: Option<Vec<Vec<u8>>> = (0..count).map(|_| taken(&mut reader)).collect();
        let count = reader.u16()?;
        let spots: Option<Vec<Spot>> = (0..count).map(|_| decode_spot(&mut reader)).collect();
        let checkpoint = Checkpoint { id, stamp, areas: areas?, spots: spots? };
        reader.is_empty().then_some(checkpoint)
    }

    /// Whether somebody who asks for `wanted` means this one.
    fn is(&self, wanted: &str) -> bool {
        let id = String::from_utf8_lossy(&self.id);
        id.trim_end() == wanted || self.stamp == wanted.as_bytes()
    }

    /// Its id and its time stamp, for people.
    fn title(&self) -> String {
        let id = region::shape::text(&self.id);
        format!("{id} ({})", String::from_utf8_lossy(&self.stamp))
    }
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

/// What a search for a checkpoint came to.
pub(crate) enum Sought {
    Found(Box<Checkpoint>),
    /// There is none; those that there are, the newest first, for people.
    Absent(Vec<String>),
    /// Its record cannot be read.
    Damaged,
}

/// The checkpoints of a PSB.
pub(crate) struct Records {
    psb: PsbName,
    set: Option<SetId>,
    /// The numbers of those that there are, once a checkpoint was taken.
    numbers: Option<VecDeque<u64>>,
}

impl Records {
    pub(crate) fn new(psb: PsbName) -> Records {
        Records { psb, set: None, numbers: None }
    }

    fn key(&self, number: u64) -> [u8; 16] {
        let mut key = [0; 16];
        key[..8].copy_from_slice(self.psb.bytes());
        key[8..].copy_from_slice(&number.to_be_bytes());
        key
    }

    /// The set and a number for the next checkpoint. Outside of the unit of work.
    pub(crate) fn prepare<S: Store>(&mut self, store: &S) -> Result<(SetId, u64), StoreError> {
        let set = match self.set {
            Some(set) => set,
            None => *self.set.insert(named_set(store, SET)?),
        };
        if self.numbers.is_none() {
            let mut numbers = VecDeque::new();
            self.each(store, set, |number, _| {
                numbers.push_front(number);
                true
            })?;
            self.numbers = Some(numbers);
        }
        Ok((set, store.draw(set, 1)?))
    }

    /// Puts a checkpoint into its unit of work; the oldest goes.
    pub(crate) fn put<U: Unit>(
        &mut self,
        unit: &mut U,
        (set, number): (SetId, u64),
        checkpoint: &Checkpoint,
    ) -> Result<(), StoreError> {
        unit.put(set, &self.key(number), &checkpoint.encode())?;
        let mut numbers = self.numbers.take().unwrap_or_default();
        numbers.push_back(number);
        while numbers.len() > KEPT
            && let Some(oldest) = numbers.pop_front()
        {
            // Another run of the PSB may have removed it already.
            let _ = unit.delete(set, &self.key(oldest))?;
        }
        self.numbers = Some(numbers);
        Ok(())
    }

    /// Looks for a checkpoint: the newest of that id or time stamp, or with `LAST` of all.
    pub(crate) fn find<S: Store>(&self, store: &S, wanted: &str) -> Result<Sought, StoreError> {
        const SHOWN: usize = 5;
        let Some(set) = store.set(SET)? else { return Ok(Sought::Absent(Vec::new())) };
        let (mut found, mut titles) = (None, Vec::new());
        self.each(store, set, |_, value| {
            match Checkpoint::decode(value) {
                Some(one) if wanted == "LAST" || one.is(wanted) => {
                    found = Some(Sought::Found(Box::new(one)));
                }
                Some(one) if titles.len() < SHOWN => titles.push(one.title()),
                None if wanted == "LAST" => found = Some(Sought::Damaged),
                _ => {}
            }
            found.is_none()
        })?;
        Ok(found.unwrap_or(Sought::Absent(titles)))
    }

    /// Shows the checkpoints of the PSB, the newest first, until `take` has enough.
    fn each<S: Store>(
        &self,
        store: &S,
        set: SetId,
        mut take: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(), StoreError> {
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = store.cursor(set)?;
        let mut end = Vec::new();
        cursor.limit(KeyRange::prefix(self.psb.bytes(), &mut end));
        cursor.seek(Position::Back);
        while let Some(entry) = unit.previous(&mut cursor, Read::Shared)? {
            let number = entry.key.get(8..).and_then(|number| number.try_into().ok());
            if !take(number.map_or(0, u64::from_be_bytes), entry.value) {
                break;
            }
        }
        unit.commit().map(drop)
    }
}

/// The set of that name, made if there is none. Another program may make it at the same moment.
pub(crate) fn named_set<S: Store>(store: &S, name: &str) -> Result<SetId, StoreError> {
    if let Some(set) = store.set(name)? {
        return Ok(set);
    }
    match store.create_set(name, &SetAttributes::default()) {
        Err(StoreError::SetExists(exists)) => store.set(name)?.ok_or(StoreError::SetExists(exists)),
        made => made,
    }
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

    #[test]
    fn a_record_comes_back_and_anything_else_is_refused() {
        let bytes = sample().encode();
        assert_eq!(Checkpoint::decode(&bytes), Some(sample()));
        for len in 0..bytes.len() {
            assert_eq!(Checkpoint::decode(&bytes[..len]), None, "{len} bytes");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xFF;
            let _ = Checkpoint::decode(&damaged);
        }
    }

    #[test]
    fn a_checkpoint_is_asked_for_by_its_id_or_its_stamp() {
        let checkpoint = sample();
        assert_eq!(&checkpoint.stamp, b"00000601234567");
        assert!(checkpoint.is("CKPT0004") && checkpoint.is("00000601234567"));
        assert!(!checkpoint.is("CKPT") && !checkpoint.is(""));
    }
}
