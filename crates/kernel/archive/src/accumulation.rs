//! Accumulations: what concerns some data sets, out of a long piece of the log, in one file.
//!
//! A recovery of these data sets reads it in place of the log. A file
//! `accumulation-FIRST-END-SET.hfc` (log positions and the data set, in hexadecimal digits; of
//! several data sets the first, and a sum of all) is a header of 4 KiB, then blocks one behind the
//! other, then zeros up to the next 4 KiB:
//!
//! | at | bytes | field of the header |
//! |---|---|---|
//! | 0 | 4 | magic `HFLC` |
//! | 4 | 2 | version, 1 |
//! | 6 | 1 | format: 1 plain, 2 sealed |
//! | 7 | 1 | zero |
//! | 8 | 16 | system |
//! | 24 | 4 | key generation |
//! | 28 | 4 | data sets |
//! | 32 | 16 | salt of the file |
//! | 48 | 8 | where the merged piece of the log begins |
//! | 56 | 8 | where it ends |
//! | 64 | 8 | UTC of making, in microseconds |
//! | 72 | 8 | bytes of all blocks |
//! | 80 | 8 | records |
//! | 88 | 8 | zero |
//! | 96 | 16 | tag over all of the header but itself, counter 0 of the file's key |
//! | 112 | 4 each | the data sets, ascending; then zeros |
//!
//! | at | bytes | field of a block |
//! |---|---|---|
//! | 0 | 4 | magic `HFLD` |
//! | 4 | 4 | length of the sealed part |
//! | 8 | 4 | its length before compression |
//! | 12 | 4 | zero |
//! | 16 | 8 | number of the block, from 1: the counter |
//! | 24 | 16 | tag |
//! | 40 | | records, compressed by zstd, then sealed |
//!
//! A record in a block: LSN 8, previous LSN 8, unit of work 8, length of the body 4, kind 1,
//! flags 1, zero 2, body.
//!
//! Invariants:
//! 1. It holds, in the order of the log, every record of its piece that concerns its data sets,
//!    and what says how units of work ended that are among them. What it leaves out, no recovery
//!    of these data sets to a point at or behind its end needs.
//! 2. The file is whole or not there, and its copies are the same bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::bytes::{Reader, get_u32, get_u64, put_u32, put_u64};
use base::{DataSetId, KeyGeneration, Lsn, SystemId, UowId};
use seal::{Format, Salt, Tag, WorkingKey};
use seam::disk::{BLOCK, File, Open};
use wal::{
    Flaw, KeyBook, Purpose, RECORD_BYTES_MAX, RECORD_HEADER, Record, read_front, write_front,
};
use zstd::bulk::Decompressor;

use crate::header::HEADER_BYTES;
use crate::{ArchiveEnv, ArchiveError, Span};

/// Most data sets of one accumulation.
pub const SETS_MAX: usize = 900;
/// A block holds no more before compression than this and one record.
pub(crate) const BLOCK_BYTES: usize = 1 << 20;
pub(crate) const BLOCK_HEAD: usize = 40;

/// The newest version known here.
const VERSION: u16 = 1;
pub(crate) const MAGIC: [u8; 4] = *b"HFLC";
const BLOCK_MAGIC: [u8; 4] = *b"HFLD";
const TAG_AT: usize = 96;
const SETS_AT: usize = 112;
const RAW_MAX: usize = BLOCK_BYTES + RECORD_BYTES_MAX + 32;

/// What an accumulation says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccumulationInfo {
    /// Its data sets, ascending.
    pub sets: Vec<DataSetId>,
    /// Where the merged piece of the log begins.
    pub first: Lsn,
    /// Where it ends.
    pub end: Lsn,
    /// When it was made, in microseconds of UTC.
    pub made_us: u64,
    /// Plain or sealed.
    pub format: Format,
    /// The generation of the log's key.
    pub generation: KeyGeneration,
    /// Bytes of its blocks.
    pub block_bytes: u64,
    /// Records.
    pub records: u64,
    /// The salt of the file.
    pub salt: Salt,
}

/// An accumulation, and where its copies are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulation {
    /// What it holds.
    pub info: AccumulationInfo,
    /// Its files, in the order of the folders.
    pub files: Vec<PathBuf>,
}

/// Whether a file is called like an accumulation.
pub(crate) fn is_accumulation(name: &Path) -> bool {
    name.extension().is_some_and(|extension| extension == "hfc")
}

impl AccumulationInfo {
    /// The name of its files.
    #[must_use]
    pub fn file_name(&self) -> PathBuf {
        let set = self.sets.first().map_or(0, |set| set.0);
        let (first, end) = (self.first.0, self.end.0);
        // Others of the same piece of the log may begin with the same data set (FNV-1a).
        let bytes = self.sets.iter().flat_map(|set| set.0.to_le_bytes());
        let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let all = if self.sets.len() > 1 { format!("-{sum:x}") } else { String::new() };
        PathBuf::from(format!("accumulation-{first:x}-{end:x}-{set:x}{all}.hfc"))
    }

    /// Bytes of each of its files.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        (HEADER_BYTES as u64 + self.block_bytes).next_multiple_of(BLOCK as u64)
    }

    /// Whether it has, from a position on, everything of those of the data sets that count there.
    #[must_use]
    pub fn has(&self, spans: &[Span], from: Lsn) -> bool {
        let mut here = spans.iter().filter(|span| span.meets(self.first.max(from), self.end));
        here.all(|span| self.sets.contains(&span.set))
    }

    pub(crate) fn encode(&self, system: SystemId, key: &WorkingKey, out: &mut [u8]) {
        out.fill(0);
        write_front(out, MAGIC, VERSION, self.format);
        out[8..24].copy_from_slice(&system.0);
        put_u32(out, 24, self.generation.0);
        put_u32(out, 28, self.sets.len() as u32);
        out[32..48].copy_from_slice(&self.salt.0);
        let numbers = [self.first.0, self.end.0, self.made_us, self.block_bytes, self.records];
        for (index, number) in numbers.into_iter().enumerate() {
            put_u64(out, 48 + 8 * index, number);
        }
        for (index, set) in self.sets.iter().enumerate() {
            put_u32(out, SETS_AT + 4 * index, set.0);
        }
        let tag = key.seal(0, &associated(out), &mut []);
        out[TAG_AT..SETS_AT].copy_from_slice(&tag.0);
    }

    fn decode(
        bytes: &[u8],
        env: &ArchiveEnv,
        book: &mut KeyBook,
    ) -> Result<AccumulationInfo, Flaw> {
        let mut reader = Reader::new(bytes);
        let format = read_front(&mut reader, MAGIC, VERSION..=VERSION)?;
        let mut parse = || -> Option<(AccumulationInfo, SystemId)> {
            let _zero = reader.u8()?;
            let system = SystemId(reader.array()?);
            let generation = KeyGeneration(reader.u32()?);
            let count = reader.u32()? as usize;
            let salt = Salt(reader.array()?);
            let (first, end) = (Lsn(reader.u64()?), Lsn(reader.u64()?));
            let (made_us, block_bytes, records) = (reader.u64()?, reader.u64()?, reader.u64()?);
            if count > SETS_MAX || block_bytes > 1 << 48 {
                return None;
            }
            let mut sets = Reader::new(bytes.get(SETS_AT..SETS_AT + 4 * count)?);
            let sets = (0..count).map(|_| sets.u32().map(DataSetId)).collect::<Option<_>>()?;
            let info = AccumulationInfo {
                sets,
                first,
                end,
                made_us,
                format,
                generation,
                block_bytes,
                records,
                salt,
            };
            Some((info, system))
        };
        let (info, system) = parse().ok_or(Flaw::NoHeader)?;
        if system != env.system {
            return Err(Flaw::Foreign(system));
        }
        if info.format == Format::Plain && !env.plain_span().has_group(info.first, info.end) {
            return Err(Flaw::Plain);
        }
        let mut tag = Tag([0; 16]);
        tag.0.copy_from_slice(&bytes[TAG_AT..SETS_AT]);
        let key = key_of(book, &info)?;
        key.open(0, &associated(bytes), &mut [], &tag).map_err(|_| Flaw::Tag)?;
        Ok(info)
    }
}

/// Everything of a header but its tag.
fn associated(header: &[u8]) -> Vec<u8> {
    [&header[..TAG_AT], &header[SETS_AT..]].concat()
}

/// The key of header and blocks.
pub(crate) fn key_of(book: &mut KeyBook, info: &AccumulationInfo) -> Result<Arc<WorkingKey>, Flaw> {
    let key = book.working(Purpose::Archive, info.format, info.generation, &info.salt);
    key.map_err(|error| Flaw::Key(error.to_string()))
}

/// Puts a record behind the others of a block.
pub(crate) fn put_record(record: &Record<'_>, out: &mut Vec<u8>) {
    for number in [record.lsn.0, record.previous.0, record.uow.0] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&(record.body.len() as u32).to_le_bytes());
    out.extend_from_slice(&[record.kind, record.flags, 0, 0]);
    out.extend_from_slice(record.body);
}

/// The front of a block, without its tag.
pub(crate) fn block_head(sealed: usize, raw: usize, number: u64) -> [u8; BLOCK_HEAD] {
    let mut head = [0; BLOCK_HEAD];
    head[..4].copy_from_slice(&BLOCK_MAGIC);
    put_u32(&mut head, 4, sealed as u32);
    put_u32(&mut head, 8, raw as u32);
    put_u64(&mut head, 16, number);
    head
}

/// Where the tag of a block stands; what is before is associated data.
pub(crate) const BLOCK_TAG_AT: usize = 24;

/// An accumulation, read from front to back.
pub struct AccumulationFile {
    path: PathBuf,
    info: AccumulationInfo,
    file: Arc<dyn File>,
    key: Arc<WorkingKey>,
    unpacker: Decompressor<'static>,
    offset: u64,
    blocks: u64,
    raw: Vec<u8>,
    at: usize,
}

impl AccumulationFile {
    /// Opens a file and proves its header.
    ///
    /// # Errors
    /// [`ArchiveError::Damaged`], [`ArchiveError::FutureVersion`], whatever the disk says.
    pub fn open(env: &ArchiveEnv, path: &Path) -> Result<AccumulationFile, ArchiveError> {
        let io = |error| ArchiveError::io("read", path, error);
        let file = env.seam.disk.open(path, Open::READ).map_err(io)?;
        let mut header = vec![0; HEADER_BYTES];
        file.read_at(&mut header, 0).map_err(io)?;
        let mut book = env.book();
        let flawed = |flaw| refused(path, 0, &flaw);
        let info = AccumulationInfo::decode(&header, env, &mut book).map_err(flawed)?;
        if file.len().map_err(io)? != info.file_bytes() {
            return Err(flawed(Flaw::Length));
        }
        let key = key_of(&mut book, &info).map_err(flawed)?;
        Ok(AccumulationFile {
            path: path.to_owned(),
            info,
            file,
            key,
            unpacker: Decompressor::new().map_err(io)?,
            offset: HEADER_BYTES as u64,
            blocks: 0,
            raw: Vec::new(),
            at: 0,
        })
    }

    /// What the file holds.
    #[must_use]
    pub fn info(&self) -> &AccumulationInfo {
        &self.info
    }

    /// The next record; `None` behind the last one.
    ///
    /// # Errors
    /// [`ArchiveError::Damaged`] with the place.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ArchiveError> {
        if self.at == self.raw.len() {
            if self.offset == HEADER_BYTES as u64 + self.info.block_bytes {
                return Ok(None);
            }
            let loaded = self.load();
            loaded.map_err(|flaw| refused(&self.path, self.offset, &flaw))?;
        }
        let bytes = &self.raw[self.at..];
        let bad = || refused(&self.path, self.offset, &Flaw::Record);
        let head = bytes.get(..32).ok_or_else(bad)?;
        let len = get_u32(head, 24) as usize;
        let body = bytes.get(32..32 + len).ok_or_else(bad)?;
        let lsn = Lsn(get_u64(head, 0));
        self.at += 32 + len;
        Ok(Some(Record {
            lsn,
            end: Lsn(lsn.0.saturating_add((RECORD_HEADER + len) as u64)),
            kind: head[28],
            flags: head[29],
            uow: UowId(get_u64(head, 16)),
            previous: Lsn(get_u64(head, 8)),
            body,
        }))
    }

    /// Brings the next block into memory.
    fn load(&mut self) -> Result<(), Flaw> {
        let left = HEADER_BYTES as u64 + self.info.block_bytes - self.offset;
        let unread = |error: std::io::Error| Flaw::Io(error.to_string());
        let mut head = [0; BLOCK_HEAD];
        if left < BLOCK_HEAD as u64 {
            return Err(Flaw::Length);
        }
        self.file.read_at(&mut head, self.offset).map_err(unread)?;
        let (sealed, raw) = (get_u32(&head, 4) as usize, get_u32(&head, 8) as usize);
        let bounds = raw > 0 && raw <= RAW_MAX && sealed <= RAW_MAX + (RAW_MAX >> 7) + 1024;
        let fits = (BLOCK_HEAD + sealed) as u64 <= left;
        if head[..4] != BLOCK_MAGIC || !bounds || !fits {
            return Err(Flaw::NoHeader);
        }
        if get_u64(&head, 16) != self.blocks + 1 {
            return Err(Flaw::Chain);
        }
        let mut bytes = vec![0; sealed];
        self.file.read_at(&mut bytes, self.offset + BLOCK_HEAD as u64).map_err(unread)?;
        let mut tag = Tag([0; 16]);
        tag.0.copy_from_slice(&head[BLOCK_TAG_AT..]);
        let opened = self.key.open(self.blocks + 1, &head[..BLOCK_TAG_AT], &mut bytes, &tag);
        opened.map_err(|_| Flaw::Tag)?;
        self.raw.clear();
        self.raw.resize(raw, 0);
        match self.unpacker.decompress_to_buffer(&bytes, &mut self.raw[..]) {
            Ok(unpacked) if unpacked == raw => {}
            _ => return Err(Flaw::Length),
        }
        (self.at, self.blocks) = (0, self.blocks + 1);
        self.offset += (BLOCK_HEAD + sealed) as u64;
        Ok(())
    }
}

fn refused(path: &Path, offset: u64, flaw: &Flaw) -> ArchiveError {
    crate::file::refused(path, offset, flaw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lists_of_data_sets_have_one_name() {
        let named = |sets: &[u32]| {
            let info = AccumulationInfo {
                sets: sets.iter().copied().map(DataSetId).collect(),
                first: Lsn(0x40),
                end: Lsn(0x80),
                made_us: 0,
                format: Format::Sealed,
                generation: KeyGeneration(1),
                block_bytes: 0,
                records: 0,
                salt: Salt([0; 16]),
            };
            info.file_name()
        };
        assert_eq!(named(&[2]), Path::new("accumulation-40-80-2.hfc"));
        let lists = [&[2][..], &[2, 3], &[2, 4], &[2, 3, 4]];
        let names: std::collections::BTreeSet<PathBuf> = lists.map(named).into_iter().collect();
        assert_eq!(names.len(), lists.len());
    }
}
