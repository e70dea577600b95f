//! The control file: where restart begins, and what must not be forgotten about the log's copies.
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
//! A release with another layout writes both slots before it does anything else, so a slot of an
//! unknown version beside a sound one is damage, and the sound one serves (K20).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::bytes::{Reader, get_u64, put_u16, put_u32, put_u64};
use base::{GroupNumber, KeyGeneration, Lsn, SystemId};
use seal::{KeyProvider, Salt, Tag, WorkingKey};
use seam::Seam;
use seam::disk::{BLOCK, Create, File, Open, is_misplaced};
use seam::mem::AlignedBuf;
use seam::plant::{Plant, planted};
use seam::sync::Mutex;
use wal::{BEGINNING_BYTES, Beginning, LogEnd, LogEvents};

use crate::UowError;
use crate::anchor::{Anchor, AnchorPlan};
use crate::protection::Protection;

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

/// The control file, open.
pub struct ControlFile {
    seam: Seam,
    path: PathBuf,
    keys: ControlKeys,
    generation: KeyGeneration,
    salt: Salt,
    working: WorkingKey,
    /// The blocks that it had when it was opened.
    found: Vec<Numbered>,
    anchor: Option<Anchor>,
    state: Mutex<State>,
}

struct State {
    file: Arc<dyn File>,
    sequence: u64,
    block: ControlBlock,
    protection: Protection,
    buffer: AlignedBuf,
}

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

impl ControlFile {
    /// Makes the control file of a new system, whose bytes must prove what `protection` says.
    ///
    /// # Errors
    /// If there is one already, or the disk or the key ring refuses.
    pub fn create(
        seam: &Seam,
        path: &Path,
        keys: &ControlKeys,
        protection: &Protection,
    ) -> Result<(), UowError> {
        let file = seam
            .disk
            .open(path, Open::DURABLE.create(Create::New))
            .map_err(|error| bad(path, error.to_string(), CHECK_DISK))?;
        let block = ControlBlock {
            checkpoint: Lsn::NONE,
            needed_from: Lsn::FIRST,
            proven: Lsn::NONE,
            stale: None,
            orderly: false,
            ended: None,
            ahead: None,
            utc_us: seam.clock.utc_us(),
        };
        let first = (0, block, Protection::SEALED);
        let control = ControlFile::around(seam, path, file, keys, first, Vec::new())?;
        control.bind(protection)?;
        seam.disk
            .sync_dir(path.parent().unwrap_or(Path::new(".")))
            .map_err(|error| bad(path, error.to_string(), CHECK_DISK))
    }

    /// Opens it and reads the newest slot that proves itself.
    ///
    /// # Errors
    /// If it is missing, foreign, of a newer release, or neither slot proves itself.
    pub fn open(
        seam: &Seam,
        path: &Path,
        keys: &ControlKeys,
    ) -> Result<(ControlFile, ControlBlock), UowError> {
        let refuse = |why: String, remedy| bad(path, why, remedy);
        let file =
            seam.disk.open(path, Open::DURABLE).map_err(|error| refuse(error.to_string(), LOST))?;
        let mut found: Vec<Numbered> = Vec::new();
        let mut faults = Vec::new();
        let mut future = None;
        for slot in 0..2_u64 {
            let mut buffer = AlignedBuf::zeroed(BLOCK);
            if let Err(error) = file.read_at(&mut buffer, slot * BLOCK as u64) {
                faults.push(format!("slot {slot}: {error}"));
                continue;
            }
            match decode(&mut buffer, keys) {
                Ok(numbered) => found.push(numbered),
                Err(Fault::Version(version)) => future = Some(version),
                Err(fault) => faults.push(format!("slot {slot}: {fault}")),
            }
        }
        let newest = found.iter().max_by_key(|numbered| numbered.sequence).cloned();
        let Some(Numbered { sequence, block, protection, .. }) = newest else {
            if let Some(version) = future {
                let why = Fault::Version(version).to_string();
                return Err(refuse(why, "Start the system with the release that wrote it."));
            }
            return Err(refuse(faults.join("; "), RESTORE));
        };
        let newest = (sequence, block, protection);
        let control = ControlFile::around(seam, path, file, keys, newest, found)?;
        Ok((control, block))
    }

    fn around(
        seam: &Seam,
        path: &Path,
        file: Arc<dyn File>,
        keys: &ControlKeys,
        (sequence, block, protection): (u64, ControlBlock, Protection),
        found: Vec<Numbered>,
    ) -> Result<ControlFile, UowError> {
        let mut salt = Salt([0; 16]);
        seam.entropy
            .fill(&mut salt.0)
            .map_err(|error| bad(path, error.to_string(), "Entropy is needed."))?;
        let generation = keys.keys.current(&keys.label)?;
        let working = working_key(keys, generation, &salt)?;
        Ok(ControlFile {
            seam: seam.clone(),
            path: path.to_owned(),
            keys: keys.clone(),
            generation,
            salt,
            working,
            found,
            anchor: None,
            state: Mutex::new(State {
                file,
                sequence,
                block,
                protection,
                buffer: AlignedBuf::zeroed(BLOCK),
            }),
        })
    }

    /// Compares it with its anchor, which is told from now on what the file says.
    ///
    /// # Errors
    /// [`UowError::Anchor`].
    pub fn anchor_to(&mut self, plan: &AnchorPlan) -> Result<(), UowError> {
        self.anchor = Some(Anchor::open(&self.seam, plan, &self.keys, &self.found)?);
        Ok(())
    }

    /// Why the anchor is behind, if it is.
    pub(crate) fn anchor_trouble(&self) -> Option<String> {
        self.anchor.as_ref()?.trouble()
    }

    /// Whether a start would not find what is written here: the file was removed or replaced.
    pub(crate) fn is_misplaced(&self) -> bool {
        is_misplaced(&*self.seam.disk, &self.path, &*self.state.lock().file)
    }

    /// Makes a file that was removed or replaced anew; the next two blocks fill it.
    ///
    /// # Errors
    /// If the disk refuses. The file that is open stays.
    pub(crate) fn find_again(&self) -> Result<(), UowError> {
        if !self.is_misplaced() {
            return Ok(());
        }
        let failed = |error: std::io::Error| bad(&self.path, error.to_string(), CHECK_DISK);
        let how = Open::DURABLE.create(Create::IfMissing);
        let file = self.seam.disk.open(&self.path, how).map_err(failed)?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        self.seam.disk.sync_dir(folder).map_err(failed)?;
        self.state.lock().file = file;
        Ok(())
    }

    /// What the file says now.
    pub fn block(&self) -> ControlBlock {
        self.state.lock().block
    }

    /// What the system's bytes must prove.
    pub fn protection(&self) -> Protection {
        self.state.lock().protection.clone()
    }

    /// Binds what the system's bytes must prove from now on, durably, in both slots.
    ///
    /// # Errors
    /// If there is no room for so many names, or the disk refuses.
    pub(crate) fn bind(&self, protection: &Protection) -> Result<(), UowError> {
        let edition = self.protection().edition + 1;
        let protection = &Protection { edition, ..protection.clone() };
        if protection.encode(SEALED_END - BOUND_AT).is_none() {
            let why = "it has no room for all databases whose form is an exception, and for all \
                       that doors open";
            return Err(bad(&self.path, why.into(), TOO_MANY_NAMES));
        }
        self.state.lock().protection = protection.clone();
        self.update(|_| ())?;
        self.update(|_| ())
    }

    /// Changes the block and writes it durably.
    ///
    /// # Errors
    /// If the disk refuses; the kernel stops then.
    pub fn update(&self, change: impl FnOnce(&mut ControlBlock)) -> Result<(), UowError> {
        let mut state = self.state.lock();
        let state = &mut *state;
        change(&mut state.block);
        state.block.utc_us = self.seam.clock.utc_us();
        state.sequence += 1;
        let buffer = &mut state.buffer;
        buffer.fill(0);
        buffer[..8].copy_from_slice(MAGIC);
        put_u16(buffer, 8, VERSION);
        buffer[16..32].copy_from_slice(&self.keys.system.0);
        put_u32(buffer, 32, self.generation.0);
        buffer[40..56].copy_from_slice(&self.salt.0);
        put_u64(buffer, 56, state.sequence);
        encode(&state.block, &mut buffer[SEALED_AT..BOUND_AT]);
        // `bind` has seen that it fits.
        let bound = state.protection.encode(SEALED_END - BOUND_AT).unwrap_or_default();
        buffer[BOUND_AT..BOUND_AT + bound.len()].copy_from_slice(&bound);
        let (clear, sealed) = buffer.split_at_mut(SEALED_AT);
        let sealed = &mut sealed[..SEALED_END - SEALED_AT];
        let tag = self.working.seal(state.sequence, &clear[..TAG_AT], sealed);
        clear[TAG_AT..].copy_from_slice(&tag.0);
        let at = (state.sequence % 2) * BLOCK as u64;
        state
            .file
            .write_at(&state.buffer, at)
            .map_err(|error| bad(&self.path, format!("cannot be written: {error}"), CHECK_DISK))?;
        if let Some(anchor) = &self.anchor {
            anchor.store(&state.buffer);
        }
        Ok(())
    }
}

/// What a refusal of the log means to whoever came with what the control file at `path` says.
#[must_use]
pub fn refused_by_log(path: &Path, error: wal::LogError) -> UowError {
    match error {
        wal::LogError::Gone { lsn, oldest } => {
            let why = format!(
                "it is older than the log: it begins at {lsn}, where the log begins at {oldest}"
            );
            bad(path, why, "Put the control file back that belongs to this log.")
        }
        other => other.into(),
    }
}

impl LogEvents for ControlFile {
    fn copy_lost(&self, copy: u8, from: GroupNumber, _why: &str) -> Result<(), String> {
        if planted(Plant::LostCopyUnrecorded) {
            return Ok(());
        }
        self.update(|block| block.stale = Some((copy, from))).map_err(|error| error.to_string())
    }

    fn copy_back(&self, copy: u8) -> Result<(), String> {
        let back = self.update(|block| {
            block.stale.take_if(|(stale, _)| *stale == copy);
        });
        back.map_err(|error| error.to_string())
    }

    fn ahead(&self, holds: Option<Beginning>) -> Result<(), String> {
        self.update(|block| block.ahead = holds).map_err(|error| error.to_string())
    }
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

fn bad(path: &Path, why: String, remedy: &'static str) -> UowError {
    UowError::Control { path: path.to_owned(), why, remedy }
}

const TOO_MANY_NAMES: &str = "Let `[data] format` say what most databases have.";
const CHECK_DISK: &str = "Check the device and the permissions of the file.";
const RESTORE: &str = "Check that key file and folder belong together. If they do, put the \
                       control file back, of the same moment as the log; if there is none, \
                       restore the system in a new folder from its archives and image copies: \
                       `holdfast doctor` says how.";
const LOST: &str = "Put the control file back, of the same moment as the log. If there is none, \
                    restore the system in a new folder from its archives and image copies: \
                    `holdfast doctor` says how.";
