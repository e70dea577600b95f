//! A control block as a slot of the control file has it: its bytes, and its seal.
//!
//! Two slots of 4 KiB that are written in turn, each durably, so that one is always whole (K21):
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `HFCONTRL` |
//! | 8 | 2 | layout version, 3 |
//! | 10 | 6 | zero |
//! | 16 | 16 | system |
//! | 32 | 4 | key generation of the system's key |
//! | 36 | 4 | zero |
//! | 40 | 16 | salt of this open |
//! | 56 | 8 | sequence number, which is also the nonce's counter |
//! | 64 | 16 | tag |
//! | 80 | 8 | checkpoint's LSN, sealed from here |
//! | 88 | 8 | oldest LSN that restart reads |
//! | 96 | 8 | an LSN that the log has reached durably (K6) |
//! | 104 | 1 | stale copy of the log: 0 or 1; 255 for none (K9) |
//! | 105 | 1 | 1 if the system was stopped in order |
//! | 106 | 1 | 1 if the write-ahead data set may hold what the log lacks (K11) |
//! | 107 | 5 | since which of its beginnings; zero if an earlier release began it |
//! | 112 | 8 | group from which that copy is stale |
//! | 120 | 8 | UTC in microseconds |
//! | 128 | 8 | after an orderly stop: the group that the log would have next; otherwise zero |
//! | 136 | 16 | the tag of its last group then |
//! | 152 | 3,944 | what the system's bytes must prove (`protection`), zeros behind it |
//!
//! Version 2 did not say where the log ended: what is bound stood from 128 on. Version 1 ended at
//! 128: it bound nothing, which counts as [`Protection::SEALED`].
//!
//! Invariants:
//! 1. Bytes that do not prove themselves under the system's key are no block.

use std::sync::Arc;

use base::bytes::{Reader, get_u64, put_u16, put_u32, put_u64};
use base::{GroupNumber, KeyGeneration, Lsn, SystemId};
use seal::{KeyProvider, Salt, Tag, WorkingKey};
use seam::disk::BLOCK;
use wal::{BEGINNING_BYTES, Beginning, LogEnd};

use crate::protection::Protection;

const MAGIC: &[u8; 8] = b"HFCONTRL";
const VERSION: u16 = 3;
/// Blocks of this version do not say where the log ended.
const ENDLESS_VERSION: u16 = 2;
/// Blocks of this version bind nothing.
const UNBOUND_VERSION: u16 = 1;
const TAG_AT: usize = 64;
const SEALED_AT: usize = 80;
/// Where the log ended.
const ENDED_AT: usize = 128;
const BOUND_AT: usize = 152;
/// Where what is sealed ended in version 1, and what is bound began in version 2.
const EARLIER_BOUND_AT: usize = 128;
const SEALED_END: usize = BLOCK;
const NO_COPY: u8 = 255;

/// What the control file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlBlock {
    /// Where the first part of the newest checkpoint stands.
    pub checkpoint: Lsn,
    /// The oldest LSN that restart reads.
    pub needed_from: Lsn,
    /// The log reached this far.
    pub proven: Lsn,
    /// The log copy that misses groups, and from which one on.
    pub stale: Option<(u8, GroupNumber)>,
    /// Whether the system was stopped in order.
    pub orderly: bool,
    /// Where the log ended then.
    pub ended: Option<LogEnd>,
    /// Since which of its beginnings the write-ahead data set may hold what the log lacks.
    pub ahead: Option<Beginning>,
    /// When it was written, UTC in microseconds.
    pub utc_us: u64,
}

/// What it takes to seal the control file.
#[derive(Clone)]
pub struct ControlKeys {
    /// Where keys come from.
    pub keys: Arc<dyn KeyProvider>,
    /// The label of the system's own key.
    pub label: String,
    /// The system.
    pub system: SystemId,
}

/// A control block as a slot has it.
#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    /// Counts the blocks that a system has written.
    pub(crate) sequence: u64,
    /// Two blocks with one number have the same tag, or one of them stems from another history.
    pub(crate) tag: Tag,
    pub(crate) block: ControlBlock,
    pub(crate) protection: Protection,
}

/// What blocks are sealed with since the control file was opened.
pub(crate) struct BlockSealer {
    system: SystemId,
    generation: KeyGeneration,
    salt: Salt,
    working: WorkingKey,
}

impl BlockSealer {
    /// With the newest generation of the system's key.
    pub(crate) fn new(keys: &ControlKeys, salt: Salt) -> Result<BlockSealer, seal::SealError> {
        let generation = keys.keys.current(&keys.label)?;
        let working = working_key(keys, generation, &salt)?;
        Ok(BlockSealer { system: keys.system, generation, salt, working })
    }

    /// Fills a slot. What is bound fits: [`has_room`] was asked before.
    pub(crate) fn seal(
        &self,
        (sequence, block): (u64, &ControlBlock),
        protection: &Protection,
        slot: &mut [u8],
    ) {
        slot.fill(0);
        slot[..8].copy_from_slice(MAGIC);
        put_u16(slot, 8, VERSION);
        slot[16..32].copy_from_slice(&self.system.0);
        put_u32(slot, 32, self.generation.0);
        slot[40..56].copy_from_slice(&self.salt.0);
        put_u64(slot, 56, sequence);
        encode(block, &mut slot[SEALED_AT..BOUND_AT]);
        let bound = protection.encode(SEALED_END - BOUND_AT).unwrap_or_default();
        slot[BOUND_AT..BOUND_AT + bound.len()].copy_from_slice(&bound);
        let (clear, sealed) = slot.split_at_mut(SEALED_AT);
        let sealed = &mut sealed[..SEALED_END - SEALED_AT];
        let tag = self.working.seal(sequence, &clear[..TAG_AT], sealed);
        clear[TAG_AT..].copy_from_slice(&tag.0);
    }
}

/// Whether a slot has room for what is to be bound.
pub(crate) fn has_room(protection: &Protection) -> bool {
    protection.encode(SEALED_END - BOUND_AT).is_some()
}

fn encode(block: &ControlBlock, out: &mut [u8]) {
    put_u64(out, 0, block.checkpoint.0);
    put_u64(out, 8, block.needed_from.0);
    put_u64(out, 16, block.proven.0);
    out[24] = block.stale.map_or(NO_COPY, |(copy, _)| copy);
    out[25] = u8::from(block.orderly);
    out[26] = u8::from(block.ahead.is_some());
    let beginning = block.ahead.unwrap_or(Beginning::UNNAMED);
    out[27..27 + BEGINNING_BYTES].copy_from_slice(&beginning.0);
    put_u64(out, 32, block.stale.map_or(0, |(_, group)| group.0));
    put_u64(out, 40, block.utc_us);
    if let Some(LogEnd { next, last }) = block.ended {
        put_u64(out, ENDED_AT - SEALED_AT, next.0);
        out[ENDED_AT - SEALED_AT + 8..][..16].copy_from_slice(&last.0);
    }
}

/// What is wrong with a slot.
pub(crate) enum Fault {
    Version(u16),
    Damaged(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Version(version) => {
                write!(f, "it has layout version {version}, this release knows {VERSION}")
            }
            Fault::Damaged(why) => f.write_str(why),
        }
    }
}

/// Opens the seal of a slot, in place.
pub(crate) fn decode(slot: &mut [u8], keys: &ControlKeys) -> Result<Numbered, Fault> {
    let damaged = |why: &str| Fault::Damaged(why.to_owned());
    let mut reader = Reader::new(slot);
    if reader.array() != Some(*MAGIC) {
        return Err(damaged("it does not begin as a control block"));
    }
    let version = reader.u16().unwrap_or(0);
    if version > VERSION {
        return Err(Fault::Version(version));
    }
    let _zero = reader.array::<6>();
    if reader.array() != Some(keys.system.0) {
        return Err(damaged("it belongs to another system"));
    }
    let generation = KeyGeneration(reader.u32().unwrap_or(0));
    let _zero = reader.u32();
    let salt = Salt(reader.array().unwrap_or_default());
    let sequence = reader.u64().unwrap_or(0);
    let mut tag = Tag([0; 16]);
    tag.0.copy_from_slice(&slot[TAG_AT..SEALED_AT]);
    let working = working_key(keys, generation, &salt).map_err(|e| damaged(&e.to_string()))?;
    let (clear, sealed) = slot.split_at_mut(SEALED_AT);
    let end = if version == UNBOUND_VERSION { EARLIER_BOUND_AT } else { SEALED_END };
    let sealed = &mut sealed[..end - SEALED_AT];
    working
        .open(sequence, &clear[..TAG_AT], sealed, &tag)
        .map_err(|_| damaged("it does not prove itself"))?;
    let stale = (sealed[24] != NO_COPY).then(|| (sealed[24], GroupNumber(get_u64(sealed, 32))));
    let mut beginning = Beginning::UNNAMED;
    beginning.0.copy_from_slice(&sealed[27..27 + BEGINNING_BYTES]);
    let block = ControlBlock {
        checkpoint: Lsn(get_u64(sealed, 0)),
        needed_from: Lsn(get_u64(sealed, 8)),
        proven: Lsn(get_u64(sealed, 16)),
        stale,
        orderly: sealed[25] == 1,
        ended: if version > ENDLESS_VERSION { ended(sealed) } else { None },
        ahead: (sealed[26] == 1).then_some(beginning),
        utc_us: get_u64(sealed, 40),
    };
    let protection = match version {
        UNBOUND_VERSION => Protection::SEALED,
        _ => {
            let earlier = version == ENDLESS_VERSION;
            let at = if earlier { EARLIER_BOUND_AT } else { BOUND_AT } - SEALED_AT;
            let bound = Protection::decode(&sealed[at..]);
            bound.ok_or_else(|| damaged("what it binds makes no sense"))?
        }
    };
    Ok(Numbered { sequence, tag, block, protection })
}

/// Where the log ended, if a block of the present layout says so.
fn ended(sealed: &[u8]) -> Option<LogEnd> {
    let at = ENDED_AT - SEALED_AT;
    let next = GroupNumber(get_u64(sealed, at));
    let mut last = Tag([0; 16]);
    last.0.copy_from_slice(&sealed[at + 8..at + 24]);
    (next.0 > 0).then_some(LogEnd { next, last })
}

fn working_key(
    keys: &ControlKeys,
    generation: KeyGeneration,
    salt: &Salt,
) -> Result<WorkingKey, seal::SealError> {
    let key = keys.keys.key(&keys.label, generation)?;
    Ok(WorkingKey::derive(&key, salt, &[b"control file".as_slice(), &keys.system.0].concat()))
}
