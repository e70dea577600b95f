//! An image copy as a stream of pieces, and how a piece is sealed.
//!
//! A copy is written once from front to back, so it can go to a file, a tape or a pipe. Intervals
//! stand in it as they stand on disk, sealed for their data set; what says which they are is sealed
//! once more, piece by piece, and the last piece says that the copy is complete (K18).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `HFCOPY` and two zeros |
//! | 8 | 2 | layout version, 1 |
//! | 10 | 2 | kind: 1 beginning, 2 map, 3 intervals, 4 manifest |
//! | 12 | 4 | key generation of the system's key |
//! | 16 | 16 | system |
//! | 32 | 16 | salt of this copy |
//! | 48 | 8 | number of the piece, from 0 |
//! | 56 | 4 | bytes that are sealed |
//! | 60 | 4 | bytes of intervals behind them |
//! | 64 | 16 | tag |
//! | 80 | | the payload, sealed; then intervals, as many bytes as the head says |
//!
//! Payloads, little-endian:
//!
//! | kind | payload |
//! |---|---|
//! | beginning | 1 full or 2 incremental, 1; number 4; base 4; UTC 8; changes before this LSN are in the base 8; state of the kernel, length 4 and bytes; data sets 2, then each: length 2, definition |
//! | map | data set, as the beginning counts them 2; first interval 4; intervals 4; a bit for each |
//! | intervals | data set 2; then for each interval: number 4, format 1, key generation 4, tag prefix 8 |
//! | manifest | pieces in front 8; end LSN 8; UTC 8; intervals of each data set 4 |
//!
//! Invariants:
//! 1. Everything in front of a tag is authenticated with the payload. A copy has a salt of its own,
//!    and a piece's nonce is its number (K3).
//! 2. An interval counts only if its piece names its tag, so an older, genuine one in its place is
//!    noticed. Which form it may have comes from the piece, never from itself (K4).
//! 3. Pieces follow each other by number, and a copy without its manifest is none.

use std::sync::Arc;

use base::bytes::{Reader, put_u16, put_u32, put_u64};
use base::{KeyGeneration, SystemId};
use seal::{KeyProvider, Salt, SealError, Tag, WorkingKey};

/// The version that is written, and the newest one that is read.
pub(crate) const VERSION: u16 = 1;
const MAGIC: &[u8; 8] = b"HFCOPY\0\0";
const COVERED: usize = 64;
/// The bytes of a piece's head.
pub(crate) const HEAD: usize = 80;
/// The most that a payload, or the intervals of a piece, may have.
pub(crate) const PART_BYTES_MAX: usize = 64 << 20;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Beginning = 1,
    Map = 2,
    Intervals = 3,
    Manifest = 4,
}

/// Whose copies these are, and where their keys come from.
#[derive(Clone)]
pub struct CopyKeys {
    /// Where keys come from.
    pub keys: Arc<dyn KeyProvider>,
    /// The label of the system's own key.
    pub label: String,
    /// The system.
    pub system: SystemId,
}

impl CopyKeys {
    fn working(&self, generation: KeyGeneration, salt: &Salt) -> Result<WorkingKey, SealError> {
        let key = self.keys.key(&self.label, generation)?;
        let identity = [b"image copy".as_slice(), &self.system.0].concat();
        Ok(WorkingKey::derive(&key, salt, &identity))
    }
}

/// Seals the pieces of one copy.
pub(crate) struct Sealer {
    system: SystemId,
    pub(crate) generation: KeyGeneration,
    salt: Salt,
    key: WorkingKey,
    pub(crate) pieces: u64,
}

impl Sealer {
    pub(crate) fn new(keys: &CopyKeys, salt: Salt) -> Result<Sealer, SealError> {
        let generation = keys.keys.current(&keys.label)?;
        let key = keys.working(generation, &salt)?;
        Ok(Sealer { system: keys.system, generation, salt, key, pieces: 0 })
    }

    /// A head with its sealed payload, behind which `behind` bytes of intervals will stand.
    pub(crate) fn seal(&mut self, kind: Kind, payload: &[u8], behind: usize) -> (Vec<u8>, Tag) {
        let mut out = vec![0; HEAD + payload.len()];
        out[..8].copy_from_slice(MAGIC);
        put_u16(&mut out, 8, VERSION);
        put_u16(&mut out, 10, kind as u16);
        put_u32(&mut out, 12, self.generation.0);
        out[16..32].copy_from_slice(&self.system.0);
        out[32..48].copy_from_slice(&self.salt.0);
        put_u64(&mut out, 48, self.pieces);
        put_u32(&mut out, 56, payload.len() as u32);
        put_u32(&mut out, 60, behind as u32);
        let (head, sealed) = out.split_at_mut(HEAD);
        sealed.copy_from_slice(payload);
        self.pieces += 1;
        let tag = self.key.seal(self.pieces, &head[..COVERED], sealed);
        head[COVERED..].copy_from_slice(&tag.0);
        (out, tag)
    }
}

/// What a head says, unproven.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) generation: KeyGeneration,
    pub(crate) salt: Salt,
    pub(crate) number: u64,
    pub(crate) sealed: usize,
    pub(crate) behind: usize,
    pub(crate) tag: Tag,
}

/// Why bytes are no piece of a copy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    Future(u16),
    Foreign(SystemId),
    Damaged(&'static str),
}

impl Head {
    /// Reads the head of a piece.
    pub(crate) fn decode(bytes: &[u8], system: SystemId) -> Result<Head, Flaw> {
        let mut reader = Reader::new(bytes);
        if reader.array() != Some(*MAGIC) {
            return Err(Flaw::Damaged("it does not begin as a piece of an image copy"));
        }
        match reader.u16() {
            Some(version @ VERSION..) if version > VERSION => return Err(Flaw::Future(version)),
            Some(_) => {}
            None => return Err(Flaw::Damaged("it is cut off")),
        }
        let head = decode_fields(&mut reader).ok_or(Flaw::Damaged("a field of a piece is bad"))?;
        let (head, owner) = head;
        if owner != system {
            return Err(Flaw::Foreign(owner));
        }
        if head.sealed > PART_BYTES_MAX || head.behind > PART_BYTES_MAX {
            return Err(Flaw::Damaged("a piece is longer than any can be"));
        }
        Ok(head)
    }
}

fn decode_fields(reader: &mut Reader<'_>) -> Option<(Head, SystemId)> {
    let kind = match reader.u16()? {
        1 => Kind::Beginning,
        2 => Kind::Map,
        3 => Kind::Intervals,
        4 => Kind::Manifest,
        _ => return None,
    };
    let generation = KeyGeneration(reader.u32()?);
    let owner = SystemId(reader.array()?);
    let salt = Salt(reader.array()?);
    let number = reader.u64()?;
    let (sealed, behind) = (reader.u32()? as usize, reader.u32()? as usize);
    let tag = Tag(reader.array()?);
    Some((Head { kind, generation, salt, number, sealed, behind, tag }, owner))
}

/// Opens the pieces of one copy, in order.
pub(crate) struct Opener {
    keys: CopyKeys,
    salt: Option<(Salt, KeyGeneration, WorkingKey)>,
    next: u64,
}

impl Opener {
    pub(crate) fn new(keys: &CopyKeys) -> Opener {
        Opener { keys: keys.clone(), salt: None, next: 0 }
    }

    /// The same from a piece on.
    pub(crate) fn at(keys: &CopyKeys, number: u64) -> Opener {
        Opener { next: number, ..Opener::new(keys) }
    }

    pub(crate) fn system(&self) -> SystemId {
        self.keys.system
    }

    /// Proves the payload of the next piece and puts it in clear.
    pub(crate) fn open(
        &mut self,
        head: &Head,
        clear: &[u8],
        payload: &mut [u8],
    ) -> Result<Result<(), Flaw>, SealError> {
        if head.number != self.next {
            return Ok(Err(Flaw::Damaged("a piece is missing, or stands elsewhere")));
        }
        let same = |(salt, generation, _): &(Salt, KeyGeneration, WorkingKey)| {
            *salt == head.salt && *generation == head.generation
        };
        let first = match self.salt {
            Some(_) => None,
            None => {
                let key = self.keys.working(head.generation, &head.salt)?;
                Some((head.salt, head.generation, key))
            }
        };
        let known = self.salt.as_ref().or(first.as_ref());
        let Some((_, _, key)) = known.filter(|known| same(known)) else {
            return Ok(Err(Flaw::Damaged("a piece is of another copy")));
        };
        if key.open(self.next + 1, &clear[..COVERED], payload, &head.tag).is_err() {
            return Ok(Err(Flaw::Damaged("a piece does not prove itself")));
        }
        // What does not prove itself in one file may do so in another.
        self.next += 1;
        self.salt = self.salt.take().or(first);
        Ok(Ok(()))
    }
}
