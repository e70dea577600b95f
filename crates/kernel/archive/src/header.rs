//! The header of an archive file: what it holds, said by itself and authentic.
//!
//! A file `archive-N.hfa`, N its first group in 16 digits, is a header of 4 KiB, then blocks one
//! behind the other, then zeros up to the next 4 KiB. A block that fills whole 4 KiB may have zeros
//! before it, so that it begins with one (version 2). A block is a group as it
//! stands in the log (`wal/src/group.rs`), or a compressed one (`block.rs`). The header:
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `HFLA` |
//! | 4 | 2 | version, 2; 1 has no zeros between blocks |
//! | 6 | 1 | format: 1 plain, 2 sealed |
//! | 7 | 1 | flags; bit 0: some blocks are compressed |
//! | 8 | 16 | system |
//! | 24 | 4 | key generation of header and compressed blocks |
//! | 28 | 4 | lowest key generation of its groups |
//! | 32 | 16 | salt of the file |
//! | 48 | 8 | first group |
//! | 56 | 8 | group behind the last one |
//! | 64 | 8 | LSN of the first byte |
//! | 72 | 8 | LSN behind the last byte |
//! | 80 | 8 | LSN of a record that begins in its last groups: the log is whole up to there; or 0 |
//! | 88 | 8 | UTC of the first commit in it, in microseconds, or 0 |
//! | 96 | 8 | UTC of the last one that was looked for, or 0 |
//! | 104 | 8 | UTC of archiving |
//! | 112 | 8 | bytes of all blocks, and of the zeros between them |
//! | 120 | 8 | bytes of records in them |
//! | 128 | 16 | tag of the group before the first one |
//! | 144 | 16 | tag of the last group |
//! | 160 | 4 | highest key generation of its groups |
//! | 164 | 12 | zero |
//! | 176 | 16 | tag over all of the above, counter 0 of the file's key |
//! | 192 | | zeros |
//!
//! Invariants:
//! 1. Each try at an archive draws its own salt, so no counter is used twice under one key (K3).
//! 2. Its copies are the same bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::bytes::{Reader, put_u32, put_u64};
use base::{GroupNumber, KeyGeneration, Lsn, SystemId};
use seal::{Format, Salt, Tag, WorkingKey};
use wal::{Flaw, KeyBook, Purpose, read_front, write_front};

use crate::ArchiveEnv;

/// Bytes before the first block.
pub(crate) const HEADER_BYTES: usize = 4096;
/// The newest version known here.
pub(crate) const VERSION: u16 = 2;

pub(crate) const MAGIC: [u8; 4] = *b"HFLA";
const TAG_AT: usize = 176;
/// Bytes of it that say something; the others are zero.
pub(crate) const HEAD_BYTES: usize = 192;
const COMPRESSED: u8 = 1;

/// What an archive file says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveInfo {
    /// Its first group.
    pub from: GroupNumber,
    /// The group behind its last one.
    pub to: GroupNumber,
    /// The position of its first byte.
    pub first: Lsn,
    /// The position behind its last byte.
    pub end: Lsn,
    /// The log is whole up to here: a record begins here, or [`Lsn::NONE`] if none is known.
    pub whole: Lsn,
    /// When the first commit in it happened, in microseconds of UTC.
    pub first_commit_us: Option<u64>,
    /// When the last one did that was found near its end.
    pub last_commit_us: Option<u64>,
    /// When it was archived.
    pub archived_us: u64,
    /// Plain or sealed.
    pub format: Format,
    /// Whether blocks are compressed.
    pub compressed: bool,
    /// The generation of the log's key that header and compressed blocks are sealed with.
    pub generation: KeyGeneration,
    /// The lowest and the highest generation of its groups (K18).
    pub generations: (KeyGeneration, KeyGeneration),
    /// The tag of the group before.
    pub previous: Tag,
    /// The tag of its last group.
    pub last: Tag,
    /// Bytes of its blocks.
    pub block_bytes: u64,
    /// Bytes of records in them.
    pub record_bytes: u64,
    /// The salt of the file.
    pub salt: Salt,
}

impl ArchiveInfo {
    /// The name of its files.
    #[must_use]
    pub fn file_name(&self) -> PathBuf {
        name_of(self.from)
    }

    /// Bytes of each of its files.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        (HEADER_BYTES as u64 + self.block_bytes).next_multiple_of(seam::disk::BLOCK as u64)
    }

    /// Whether it holds a group.
    #[must_use]
    pub fn holds(&self, group: GroupNumber) -> bool {
        self.from <= group && group < self.to
    }

    /// Writes the header, sealed, to the front of `out`.
    pub(crate) fn encode(&self, system: SystemId, key: &WorkingKey, out: &mut [u8]) {
        out[..HEAD_BYTES].fill(0);
        write_front(out, MAGIC, VERSION, self.format);
        out[7] = if self.compressed { COMPRESSED } else { 0 };
        out[8..24].copy_from_slice(&system.0);
        put_u32(out, 24, self.generation.0);
        put_u32(out, 28, self.generations.0.0);
        out[32..48].copy_from_slice(&self.salt.0);
        let numbers = [
            self.from.0,
            self.to.0,
            self.first.0,
            self.end.0,
            self.whole.0,
            self.first_commit_us.unwrap_or(0),
            self.last_commit_us.unwrap_or(0),
            self.archived_us,
            self.block_bytes,
            self.record_bytes,
        ];
        for (index, number) in numbers.into_iter().enumerate() {
            put_u64(out, 48 + 8 * index, number);
        }
        out[128..144].copy_from_slice(&self.previous.0);
        out[144..160].copy_from_slice(&self.last.0);
        put_u32(out, 160, self.generations.1.0);
        let tag = key.seal(0, &out[..TAG_AT], &mut []);
        out[TAG_AT..HEAD_BYTES].copy_from_slice(&tag.0);
    }

    /// Reads and proves a header.
    pub(crate) fn decode(
        bytes: &[u8],
        env: &ArchiveEnv,
        book: &mut KeyBook,
    ) -> Result<ArchiveInfo, Flaw> {
        let mut reader = Reader::new(bytes);
        let format = read_front(&mut reader, MAGIC, 1..=VERSION)?;
        let (info, system, tag) = parse(reader, format).ok_or(Flaw::NoHeader)?;
        if system != env.system {
            return Err(Flaw::Foreign(system));
        }
        if info.format == Format::Plain && !env.plain_span().has_file(info.end) {
            return Err(Flaw::Plain);
        }
        let key = key_of(book, &info)?;
        key.open(0, &bytes[..TAG_AT], &mut [], &tag).map_err(|_| Flaw::Tag)?;
        let follows = info.from < info.to && info.first < info.end;
        if follows { Ok(info) } else { Err(Flaw::Length) }
    }
}

/// The key of header and compressed blocks.
pub(crate) fn key_of(book: &mut KeyBook, info: &ArchiveInfo) -> Result<Arc<WorkingKey>, Flaw> {
    let key = book.working(Purpose::Archive, info.format, info.generation, &info.salt);
    key.map_err(|error| Flaw::Key(error.to_string()))
}

type Parsed = (ArchiveInfo, SystemId, Tag);

/// What follows the front of a header.
fn parse(mut reader: Reader<'_>, format: Format) -> Option<Parsed> {
    let flags = reader.u8()?;
    let system = SystemId(reader.array()?);
    let generation = KeyGeneration(reader.u32()?);
    let lowest = KeyGeneration(reader.u32()?);
    let salt = Salt(reader.array()?);
    let (from, to) = (GroupNumber(reader.u64()?), GroupNumber(reader.u64()?));
    let (first, end) = (Lsn(reader.u64()?), Lsn(reader.u64()?));
    let whole = Lsn(reader.u64()?);
    let (first_commit, last_commit) = (reader.u64()?, reader.u64()?);
    let archived_us = reader.u64()?;
    let (block_bytes, record_bytes) = (reader.u64()?, reader.u64()?);
    let (previous, last) = (Tag(reader.array()?), Tag(reader.array()?));
    let highest = KeyGeneration(reader.u32()?);
    let zeros = reader.array::<12>()?;
    let tag = Tag(reader.array()?);
    if flags & !COMPRESSED != 0 || zeros != [0; 12] || block_bytes > 1 << 48 {
        return None;
    }
    let info = ArchiveInfo {
        from,
        to,
        first,
        end,
        whole,
        first_commit_us: (first_commit > 0).then_some(first_commit),
        last_commit_us: (last_commit > 0).then_some(last_commit),
        archived_us,
        format,
        compressed: flags & COMPRESSED != 0,
        generation,
        generations: (lowest, highest),
        previous,
        last,
        block_bytes,
        record_bytes,
        salt,
    };
    Some((info, system, tag))
}

/// The name of the archive that begins with a group.
pub(crate) fn name_of(from: GroupNumber) -> PathBuf {
    PathBuf::from(format!("archive-{:016}.hfa", from.0))
}

/// The first group of the archive that a file name stands for.
pub(crate) fn parse_name(name: &Path) -> Option<GroupNumber> {
    let number = name.to_str()?.strip_prefix("archive-")?.strip_suffix(".hfa")?;
    let from = GroupNumber(number.parse().ok()?);
    (name_of(from) == name).then_some(from)
}
