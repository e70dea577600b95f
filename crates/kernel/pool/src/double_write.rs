//! The double-write area: where a batch of sealed intervals goes before it goes in place, so that a
//! torn write in place never costs an interval (K12).
//!
//! One file of two slots that are used in turn. A slot is written with one durable write:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `HFDOUBLE` |
//! | 8 | 2 | layout version, 1 |
//! | 10 | 1 | format: 1 plain, 2 sealed |
//! | 11 | 1 | zero |
//! | 12 | 4 | key generation |
//! | 16 | 16 | system |
//! | 32 | 16 | salt of this open |
//! | 48 | 8 | batch number, which is also the nonce's counter |
//! | 56 | 4 | entries |
//! | 60 | 4 | zero |
//! | 64 | 16 | tag over all of the above and the entries |
//! | 80 | 24 each | entries, sealed: data set 4, interval 4, unit 4, zero 4, tag prefix 8 |
//! | 4096 | | the sealed units in the order of the entries |
//!
//! Invariants:
//! 1. A slot is written again only when its batch is done: its last sync returned and the log says
//!    so.
//! 2. The units are the bytes that go in place; each proves itself by its own tag.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::bytes::{Reader, get_u32, put_u16, put_u32, put_u64};
use base::{CiNumber, Code, Coded, DataSetId, KeyGeneration, SystemId};
use seal::{Format, KeyProvider, Salt, Tag, WorkingKey};
use seam::Seam;
use seam::disk::{Create, File, Open, is_misplaced};
use seam::mem::{AlignedBuf, HUGE_BYTES};

use crate::backing::BatchEntry;

/// The most intervals in a batch, and the most bytes of them.
pub const BATCH_INTERVALS_MAX: usize = 128;
/// See [`BATCH_INTERVALS_MAX`].
pub const BATCH_BYTES_MAX: usize = 1 << 20;

const HEADER_BYTES: usize = 4096;
const ENTRIES_AT: usize = 80;
const ENTRY_BYTES: usize = 24;
const TAG_AT: usize = 64;
const SLOTS: u64 = 2;
const SLOT_BYTES: u64 = (HEADER_BYTES + BATCH_BYTES_MAX) as u64;
const MAGIC: &[u8; 8] = b"HFDOUBLE";
const VERSION: u16 = 1;
const IDENTITY: &[u8] = b"double-write area";

/// Why the double-write area cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DoubleWriteError {
    /// The disk said no.
    #[error("the double-write area {path} cannot be used: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the disk said.
        source: io::Error,
    },
    /// A newer release wrote it.
    #[error("the double-write area {path} has layout version {found}, this release knows {VERSION}", path = path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: u16,
    },
    /// No key for it.
    #[error("the double-write area {path} cannot be sealed: {why}", path = path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What the keyset said.
        why: String,
    },
}

impl Coded for DoubleWriteError {
    fn code(&self) -> Code {
        match self {
            DoubleWriteError::Io { .. } => Code("HFP010"),
            DoubleWriteError::Version { .. } => Code("HFP011"),
            DoubleWriteError::Key { .. } => Code("HFP012"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            DoubleWriteError::Io { .. } => "Check the device and the permissions of the file.",
            DoubleWriteError::Version { .. } => "Start the system with the release that wrote it.",
            DoubleWriteError::Key { .. } => "Put back the key file that belongs to this system.",
        }
        .into()
    }
}

/// What sealing the area takes.
#[derive(Clone)]
pub struct DoubleWriteKeys {
    /// Where keys come from.
    pub keys: Arc<dyn KeyProvider>,
    /// The label of the system's own key.
    pub label: String,
    /// Plain or sealed.
    pub format: Format,
    /// The system.
    pub system: SystemId,
}

/// One slot as restart finds it.
pub struct FoundBatch {
    /// Its number.
    pub batch: u64,
    /// Its intervals with their units, sealed.
    pub units: Vec<(DataSetId, CiNumber, u64, Vec<u8>)>,
}

/// The area, open for writing.
pub struct DoubleWrite {
    seam: Seam,
    file: Arc<dyn File>,
    path: PathBuf,
    keys: DoubleWriteKeys,
    generation: KeyGeneration,
    salt: Salt,
    working: WorkingKey,
}

/// The file of the area, made if it is missing.
fn prepared(seam: &Seam, path: &Path) -> io::Result<Arc<dyn File>> {
    let file = seam.disk.open(path, Open::DURABLE.create(Create::IfMissing))?;
    if file.len()? < SLOTS * SLOT_BYTES {
        // Written once through, so that later writes change no metadata.
        let zeros = AlignedBuf::zeroed(SLOT_BYTES as usize);
        for slot in 0..SLOTS {
            file.write_at(&zeros, slot * SLOT_BYTES)?;
        }
        file.sync()?;
        seam.disk.sync_dir(path.parent().unwrap_or(Path::new(".")))?;
    }
    Ok(file)
}

impl DoubleWrite {
    /// Opens the area, making it if it is missing.
    ///
    /// # Errors
    /// See [`DoubleWriteError`].
    pub fn open(
        seam: &Seam,
        path: &Path,
        keys: DoubleWriteKeys,
    ) -> Result<DoubleWrite, DoubleWriteError> {
        let io = |source| DoubleWriteError::Io { path: path.to_owned(), source };
        let file = prepared(seam, path).map_err(io)?;
        let mut salt = Salt([0; 16]);
        seam.entropy.fill(&mut salt.0).map_err(io)?;
        let no_key = |why: String| DoubleWriteError::Key { path: path.to_owned(), why };
        let generation = keys.keys.current(&keys.label).map_err(|e| no_key(e.to_string()))?;
        let working = working_key(&keys, generation, &salt).map_err(no_key)?;
        let (seam, path) = (seam.clone(), path.to_owned());
        Ok(DoubleWrite { seam, file, path, keys, generation, salt, working })
    }

    /// The buffer for a batch: the header's place, then the units'. A little longer than both, so
    /// that it lies in a huge page: to the device it is one piece of memory instead of hundreds.
    #[must_use]
    pub fn buffer() -> AlignedBuf {
        AlignedBuf::zeroed((SLOT_BYTES as usize).max(HUGE_BYTES))
    }

    /// The part of the buffer where the units stand.
    #[must_use]
    pub fn units(buffer: &mut AlignedBuf) -> &mut [u8] {
        &mut buffer[HEADER_BYTES..]
    }

    /// Writes a batch durably: `entries` with their unit sizes, and `bytes` of units in the buffer.
    ///
    /// # Errors
    /// [`DoubleWriteError::Io`]; the kernel stops then.
    pub fn write(
        &self,
        batch: u64,
        entries: &[(BatchEntry, usize)],
        buffer: &mut AlignedBuf,
        bytes: usize,
    ) -> Result<(), DoubleWriteError> {
        assert!(entries.len() <= BATCH_INTERVALS_MAX && bytes <= BATCH_BYTES_MAX);
        let (header, _) = buffer.split_at_mut(HEADER_BYTES);
        header.fill(0);
        header[..8].copy_from_slice(MAGIC);
        put_u16(header, 8, VERSION);
        header[10] = self.keys.format as u8;
        put_u32(header, 12, self.generation.0);
        header[16..32].copy_from_slice(&self.keys.system.0);
        header[32..48].copy_from_slice(&self.salt.0);
        put_u64(header, 48, batch);
        put_u32(header, 56, entries.len() as u32);
        for (number, (entry, unit_bytes)) in entries.iter().enumerate() {
            let at = ENTRIES_AT + number * ENTRY_BYTES;
            put_u32(header, at, entry.set.0);
            put_u32(header, at + 4, entry.ci.0);
            put_u32(header, at + 8, *unit_bytes as u32);
            put_u64(header, at + 16, entry.tag_prefix);
        }
        let (clear, entries_sealed) = header.split_at_mut(ENTRIES_AT);
        let len = entries.len() * ENTRY_BYTES;
        let tag = self.working.seal(batch, &clear[..TAG_AT], &mut entries_sealed[..len]);
        clear[TAG_AT..].copy_from_slice(&tag.0);
        let at = (batch % SLOTS) * SLOT_BYTES;
        self.file
            .write_at(&buffer[..HEADER_BYTES + bytes], at)
            .map_err(|source| DoubleWriteError::Io { path: self.path.clone(), source })
    }

    /// Overwrites both slots with zeros, durably. Every batch is done. A file that was removed or
    /// replaced is made anew.
    ///
    /// # Errors
    /// [`DoubleWriteError::Io`]; the kernel stops then.
    pub fn clear(&mut self, buffer: &mut AlignedBuf) -> Result<(), DoubleWriteError> {
        let io = |source| DoubleWriteError::Io { path: self.path.clone(), source };
        if self.is_misplaced() {
            self.file = prepared(&self.seam, &self.path).map_err(io)?;
        }
        let zeros = &mut buffer[..SLOT_BYTES as usize];
        zeros.fill(0);
        for slot in 0..SLOTS {
            self.file.write_at(zeros, slot * SLOT_BYTES).map_err(io)?;
        }
        Ok(())
    }

    /// Whether a restart would not find what is written here: the file was removed or replaced.
    #[must_use]
    pub fn is_misplaced(&self) -> bool {
        is_misplaced(&*self.seam.disk, &self.path, &*self.file)
    }

    /// The batches that stand in the area, newest first. A slot whose header does not prove itself
    /// holds none: its write was cut short, so nothing of its batch went in place.
    ///
    /// # Errors
    /// A slot of a newer release, or a disk that cannot be read.
    pub fn found(&self) -> Result<Vec<FoundBatch>, DoubleWriteError> {
        let mut buffer = AlignedBuf::zeroed(SLOT_BYTES as usize);
        let mut batches = Vec::new();
        for slot in 0..SLOTS {
            self.file
                .read_at(&mut buffer, slot * SLOT_BYTES)
                .map_err(|source| DoubleWriteError::Io { path: self.path.clone(), source })?;
            batches.extend(self.decode(&mut buffer)?);
        }
        batches.sort_by_key(|batch| std::cmp::Reverse(batch.batch));
        Ok(batches)
    }

    fn decode(&self, slot: &mut [u8]) -> Result<Option<FoundBatch>, DoubleWriteError> {
        let (header, units) = slot.split_at_mut(HEADER_BYTES);
        let mut reader = Reader::new(header);
        if reader.array() != Some(*MAGIC) {
            return Ok(None);
        }
        let found = reader.u16().unwrap_or(0);
        if found > VERSION {
            return Err(DoubleWriteError::Version { path: self.path.clone(), found });
        }
        let format = reader.u8();
        let _zero = reader.u8();
        let generation = KeyGeneration(reader.u32().unwrap_or(0));
        let system = reader.array::<16>();
        let salt = Salt(reader.array().unwrap_or_default());
        let batch = reader.u64().unwrap_or(0);
        let count = get_u32(header, 56) as usize;
        let known = format == Some(self.keys.format as u8) && system == Some(self.keys.system.0);
        if !known || count > BATCH_INTERVALS_MAX {
            return Ok(None);
        }
        let Ok(key) = working_key(&self.keys, generation, &salt) else { return Ok(None) };
        let (clear, sealed) = header.split_at_mut(ENTRIES_AT);
        let mut tag = Tag([0; 16]);
        tag.0.copy_from_slice(&clear[TAG_AT..]);
        let entries = &mut sealed[..count * ENTRY_BYTES];
        if key.open(batch, &clear[..TAG_AT], entries, &tag).is_err() {
            return Ok(None);
        }
        Ok(collect(batch, entries, units))
    }
}

/// Cuts the units of a slot whose header proved itself.
fn collect(batch: u64, entries: &[u8], units: &[u8]) -> Option<FoundBatch> {
    let mut rest = units;
    let mut found = Vec::with_capacity(entries.len() / ENTRY_BYTES);
    for entry in entries.chunks_exact(ENTRY_BYTES) {
        let mut reader = Reader::new(entry);
        let (set, ci) = (DataSetId(reader.u32()?), CiNumber(reader.u32()?));
        let unit_bytes = reader.u32()? as usize;
        let _zero = reader.u32()?;
        let tag_prefix = reader.u64()?;
        let (unit, behind) = rest.split_at_checked(unit_bytes)?;
        found.push((set, ci, tag_prefix, unit.to_vec()));
        rest = behind;
    }
    Some(FoundBatch { batch, units: found })
}

fn working_key(
    keys: &DoubleWriteKeys,
    generation: KeyGeneration,
    salt: &Salt,
) -> Result<WorkingKey, String> {
    let identity = [IDENTITY, &keys.system.0].concat();
    if keys.format == Format::Plain {
        return Ok(WorkingKey::plain(&identity));
    }
    let key = keys.keys.key(&keys.label, generation).map_err(|error| error.to_string())?;
    Ok(WorkingKey::derive(&key, salt, &identity))
}
