//! Writing one archive file, to all folders at once.
//!
//! Invariants:
//! 1. The file grows under the name `archive-N.SYSTEM.new`; its header is written last, then it is
//!    synced, then it gets its name, then the folder is synced. A crash leaves it whole or unnamed.
//!    It takes no other file's place (`place.rs`).
//! 2. A folder that refuses is given up for this file and named; the file goes on in the others.
//!    Only when none is left is there an error.
//! 3. What is staged and not kept leaves no trace: a group that a damaged log copy gave is staged
//!    again from the other.
//! 4. A group that comes from the log's memory was sealed there a moment ago and is not opened; one
//!    that was read back is. Both must name their predecessor's tag.
//! 5. A group that fills whole blocks is written from where the log has sealed it, not copied; it
//!    begins on a whole block.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use base::{GroupNumber, KeyGeneration, Lsn};
use seal::{Salt, Tag, WorkingKey};
use seam::disk::{BLOCK, Create, File, Open};
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;
use wal::{GROUP_HEADER, GroupHead, KeyBook, Log, RecentGroup, SealedGroups};

use crate::block::{PAYLOAD_MAX, Packer};
use crate::header::{HEADER_BYTES, key_of, name_of};
use crate::place::{Replaces, fresh_name, give_name, refuse_foreign};
use crate::{ArchiveConfig, ArchiveEnv, ArchiveError, ArchiveInfo};

/// How much is written at once. Twice as much costs two thirds of the processor's time, but the
/// log's own writes wait behind it where both are on one device.
const WRITE_BYTES: usize = 4 << 20;
/// How much of it is copied at most.
const COPIED_BYTES: usize = 2 << 20;

/// The lengths of so many groups are kept.
const LENGTHS_KEPT: usize = 64;

/// The copy of a file in one folder, while it is written.
struct Copy {
    folder: PathBuf,
    fresh: PathBuf,
    file: Arc<dyn File>,
}

impl Copy {
    fn failed(&self, verb: &'static str, error: std::io::Error) -> ArchiveError {
        ArchiveError::io(verb, &self.fresh, error)
    }
}

/// A file that is being written.
pub(crate) struct Writer {
    env: ArchiveEnv,
    book: KeyBook,
    copies: Vec<Copy>,
    refused: Vec<ArchiveError>,
    key: Arc<WorkingKey>,
    info: ArchiveInfo,
    packer: Option<Packer>,
    /// A group from memory, opened to be compressed.
    opened: Vec<u8>,
    /// Lengths of the last groups.
    lengths: VecDeque<u32>,
    buffer: AlignedBuf,
    /// Bytes of `buffer` that are kept, and that are staged behind them.
    kept: usize,
    staged: usize,
    /// What is to be written before `buffer[open..kept]`, in order, whole blocks of 4 KiB.
    pieces: Vec<Piece>,
    /// Bytes of them.
    pieces_bytes: usize,
    open: usize,
    /// Where the first of them goes in the file.
    offset: u64,
}

/// Bytes that wait to be written.
enum Piece {
    /// From here to there in the writer's buffer.
    Copied(usize, usize),
    /// A group where the log has sealed it.
    Lent(RecentGroup),
}

/// What came of a file.
pub(crate) struct Written {
    pub(crate) info: ArchiveInfo,
    /// Its copies.
    pub(crate) files: Vec<PathBuf>,
    /// Why the others are missing.
    pub(crate) refused: Vec<ArchiveError>,
    /// Memory for the next file.
    pub(crate) buffer: AlignedBuf,
}

/// Memory for a file that is written.
pub(crate) fn new_buffer() -> AlignedBuf {
    AlignedBuf::zeroed((COPIED_BYTES + PAYLOAD_MAX / 8 + BLOCK).next_multiple_of(BLOCK))
}

impl Writer {
    /// Begins the file whose first group is `from`.
    pub(crate) fn begin(
        env: &ArchiveEnv,
        config: &ArchiveConfig,
        from: GroupNumber,
        buffer: AlignedBuf,
    ) -> Result<Writer, ArchiveError> {
        let mut book = env.book();
        let salt = Salt::draw(env.seam.entropy.as_ref()).map_err(ArchiveError::Entropy)?;
        let info = ArchiveInfo {
            from,
            to: from,
            first: Lsn::NONE,
            end: Lsn::NONE,
            whole: Lsn::NONE,
            first_commit_us: None,
            last_commit_us: None,
            archived_us: 0,
            format: env.format,
            compressed: config.compress.is_some(),
            generation: book.current(env.format)?,
            generations: (KeyGeneration(u32::MAX), KeyGeneration(0)),
            previous: Tag([0; 16]),
            last: Tag([0; 16]),
            block_bytes: 0,
            record_bytes: 0,
            salt,
        };
        let key = key_of(&mut book, &info)
            .map_err(|flaw| ArchiveError::Config { why: format!("its key: {flaw}") })?;
        let packer = config.compress.map(Packer::new).transpose();
        let packer =
            packer.map_err(|error| ArchiveError::Config { why: format!("zstd: {error}") })?;
        let (mut copies, mut refused) = (Vec::new(), Vec::new());
        for folder in &config.folders {
            let fresh = fresh_name(env.system, &folder.join(name_of(info.from)));
            let how = Open { create: Create::IfMissing, write: true, direct: true, dsync: false };
            let opened = refuse_foreign(env, &folder.join(name_of(info.from))).and_then(|()| {
                let opened = env.seam.disk.open(&fresh, how);
                let emptied = opened.and_then(|file| file.set_len(0).map(|()| file));
                emptied.map_err(|error| ArchiveError::io("make", &fresh, error))
            });
            match opened {
                Ok(file) => copies.push(Copy { folder: folder.clone(), fresh, file }),
                Err(error) => refused.push(error),
            }
        }
        let writer = Writer {
            env: env.clone(),
            book,
            copies,
            refused,
            key,
            info,
            packer,
            opened: Vec::new(),
            lengths: VecDeque::with_capacity(LENGTHS_KEPT),
            buffer,
            kept: 0,
            staged: 0,
            pieces: Vec::new(),
            pieces_bytes: 0,
            open: 0,
            offset: HEADER_BYTES as u64,
        };
        writer.some_left()
    }

    /// Its first group.
    pub(crate) fn from(&self) -> GroupNumber {
        self.info.from
    }

    /// The group that it goes on with.
    pub(crate) fn next(&self) -> GroupNumber {
        self.info.to
    }

    /// The group from which on about `bytes` of records follow.
    pub(crate) fn near_end(&self, bytes: u64) -> GroupNumber {
        let mut sum = 0;
        let fits = self.lengths.iter().take_while(|len| {
            sum += u64::from(**len);
            sum <= bytes
        });
        GroupNumber(self.info.to.0 - (fits.count() as u64).max(1))
    }

    /// The tag of the last group that it has; `None` if it is empty.
    pub(crate) fn last(&self) -> Option<Tag> {
        (self.info.record_bytes > 0).then_some(self.info.last)
    }

    /// Takes the next group from the memory of the log, if it is there. Returns its header.
    pub(crate) fn take_recent(&mut self, log: &Log) -> Result<Option<GroupHead>, ArchiveError> {
        let Some(group) = log.take_recent(self.next()) else { return Ok(None) };
        // What is odd is read back, and proven.
        let follows = |head: &GroupHead| self.last().is_none_or(|last| last == head.previous);
        let Some(head) = group.head().filter(follows) else { return Ok(None) };
        if self.packer.is_none() && group.is_aligned() {
            self.lend(&head, group);
            self.write_what_is_much()?;
            return Ok(Some(head));
        }
        let mut opened = std::mem::take(&mut self.opened);
        opened.clear();
        if self.packer.is_some() {
            opened.extend_from_slice(group.bytes());
            if self.book.open(&head, &mut opened).is_err() {
                return Ok(None);
            }
        }
        self.stage(group.bytes());
        drop(group);
        self.keep(&head, opened.get(GROUP_HEADER..).unwrap_or(&[]))?;
        self.opened = opened;
        Ok(Some(head))
    }

    /// Has a group written from where it is. It begins on a block of its own.
    fn lend(&mut self, head: &GroupHead, group: RecentGroup) {
        self.close_run();
        self.note(head, group.bytes().len());
        self.pieces_bytes += group.bytes().len();
        self.pieces.push(Piece::Lent(group));
    }

    /// Ends the run of copied bytes with a whole block.
    fn close_run(&mut self) {
        let end = self.open + (self.kept - self.open).next_multiple_of(BLOCK);
        self.make_room(end);
        self.buffer[self.kept..end].fill(0);
        if end > self.open {
            self.info.block_bytes += (end - self.kept) as u64;
            self.pieces_bytes += end - self.open;
            self.pieces.push(Piece::Copied(self.open, end));
        }
        (self.open, self.kept) = (end, end);
    }

    /// Takes the next group of `groups`; `None` behind the last one. Returns its header.
    pub(crate) fn take(
        &mut self,
        groups: &mut SealedGroups,
    ) -> Result<Option<GroupHead>, ArchiveError> {
        let head = groups.next(&mut |sealed| self.stage(sealed))?;
        let Some(head) = head else { return Ok(None) };
        if self.last().is_some_and(|last| last != head.previous) {
            let path = self.copies.first().map(|copy| copy.fresh.clone()).unwrap_or_default();
            return Err(ArchiveError::Fork { group: head.number, path });
        }
        self.keep(&head, groups.payload())?;
        Ok(Some(head))
    }

    /// Bytes of blocks so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.info.block_bytes
    }

    /// Puts a sealed group behind what is kept; a second try replaces the first.
    fn stage(&mut self, sealed: &[u8]) {
        let end = self.kept + sealed.len();
        self.make_room(end);
        self.buffer[self.kept..end].copy_from_slice(sealed);
        self.staged = sealed.len();
    }

    fn make_room(&mut self, end: usize) {
        if end > self.buffer.len() {
            let mut larger = AlignedBuf::zeroed((2 * end).next_multiple_of(BLOCK));
            larger[..self.kept].copy_from_slice(&self.buffer[..self.kept]);
            self.buffer = larger;
        }
    }

    /// What is staged was proven: it stays, compressed if that pays.
    fn keep(&mut self, head: &GroupHead, payload: &[u8]) -> Result<(), ArchiveError> {
        let at = self.kept;
        let mut len = std::mem::take(&mut self.staged);
        if let Some(packer) = &mut self.packer {
            let clear = &self.buffer[at..at + GROUP_HEADER];
            if let Some(block) = packer.pack(&self.key, clear, head.number.0, payload) {
                len = block.len();
                self.buffer[at..at + len].copy_from_slice(block);
            }
        }
        self.kept += len;
        self.note(head, len);
        self.write_what_is_much()
    }

    /// Counts a group whose block has `len` bytes.
    fn note(&mut self, head: &GroupHead, len: usize) {
        let info = &mut self.info;
        if info.record_bytes == 0 {
            (info.first, info.previous) = (head.first, head.previous);
        }
        info.block_bytes += len as u64;
        info.record_bytes += u64::from(head.payload_len);
        info.to = GroupNumber(head.number.0 + 1);
        info.end = head.end();
        info.last = head.tag;
        self.lengths.truncate(LENGTHS_KEPT - 1);
        self.lengths.push_front(head.payload_len);
        if let Some(begins) = head.first_record {
            info.whole = head.first.plus(u64::from(begins));
        }
        let (low, high) = info.generations;
        info.generations = (low.min(head.generation), high.max(head.generation));
    }

    /// Notes when something was first and last committed, as far as that is known.
    pub(crate) fn date(&mut self, first: Option<u64>, last: Option<u64>) {
        (self.info.first_commit_us, self.info.last_commit_us) = (first, last);
    }

    fn write_what_is_much(&mut self) -> Result<(), ArchiveError> {
        let waiting = self.pieces_bytes + self.kept - self.open;
        let much = waiting >= WRITE_BYTES || self.kept >= COPIED_BYTES;
        if much { self.flush() } else { Ok(()) }
    }

    /// Writes all that waits in whole blocks of 4 KiB.
    fn flush(&mut self) -> Result<(), ArchiveError> {
        let whole = self.open + (self.kept - self.open) / BLOCK * BLOCK;
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.push(Piece::Copied(self.open, whole));
        let buffer = std::mem::replace(&mut self.buffer, AlignedBuf::zeroed(BLOCK));
        let parts: Vec<&[u8]> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Copied(from, to) => &buffer[*from..*to],
                Piece::Lent(group) => group.bytes(),
            })
            .filter(|part| !part.is_empty())
            .collect();
        let written = self.write_parts(&parts);
        drop(parts);
        drop(pieces);
        self.buffer = buffer;
        written?;
        self.offset += (self.pieces_bytes + whole - self.open) as u64;
        self.buffer.copy_within(whole..self.kept, 0);
        (self.pieces_bytes, self.open, self.kept) = (0, 0, self.kept - whole);
        Ok(())
    }

    /// Writes where the copies end, on all of them at once where the disk can.
    fn write_parts(&mut self, parts: &[&[u8]]) -> Result<(), ArchiveError> {
        let offset = self.offset;
        let files: Vec<&dyn File> = self.copies.iter().map(|copy| copy.file.as_ref()).collect();
        let together = match &files[..] {
            [_] => None,
            several => self.env.seam.disk.write_copies(several, offset, parts),
        };
        let mut outcomes = together.unwrap_or_default().into_iter();
        self.give_up(|copy| {
            let written = outcomes.next();
            let written = written.unwrap_or_else(|| copy.file.write_vectored_at(parts, offset));
            written.map_err(|error| copy.failed("write", error))
        })
    }

    /// Does `step` for each copy; those that fail are given up.
    fn give_up(
        &mut self,
        mut step: impl FnMut(&Copy) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        for copy in std::mem::take(&mut self.copies) {
            match step(&copy) {
                Ok(()) => self.copies.push(copy),
                Err(error) => {
                    // Half a file would only take the room that is missing.
                    let _ = self.env.seam.disk.remove(&copy.fresh);
                    self.refused.push(error);
                }
            }
        }
        if self.copies.is_empty() { Err(self.refused.swap_remove(0)) } else { Ok(()) }
    }

    fn some_left(mut self) -> Result<Writer, ArchiveError> {
        if self.copies.is_empty() { Err(self.refused.swap_remove(0)) } else { Ok(self) }
    }

    /// Ends the file: it is durable and has its name when this returns.
    pub(crate) fn finish(mut self) -> Result<Written, ArchiveError> {
        let block_bytes = self.info.block_bytes;
        self.close_run();
        // What fills the last block is no part of one.
        self.info.block_bytes = block_bytes;
        self.flush()?;
        self.info.archived_us = self.env.seam.clock.utc_us();
        let mut header = AlignedBuf::zeroed(HEADER_BYTES);
        self.info.encode(self.env.system, &self.key, &mut header);
        let write = |copy: &Copy| copy.file.write_at(&header, 0);
        self.give_up(|copy| write(copy).map_err(|error| copy.failed("write", error)))?;
        let env = self.env.clone();
        let is_synced = !armed(Failpoint::ArchiveUnsynced);
        if is_synced {
            self.give_up(|copy| copy.file.sync().map_err(|error| copy.failed("sync", error)))?;
        }
        let name = self.info.file_name();
        self.give_up(|copy| {
            give_name(&env, &copy.folder.join(&name), Replaces::Nothing)?;
            let synced = if is_synced { env.seam.disk.sync_dir(&copy.folder) } else { Ok(()) };
            synced.map_err(|error| copy.failed("name", error))
        })?;
        let files = self.copies.iter().map(|copy| copy.folder.join(&name)).collect();
        let Writer { info, refused, buffer, .. } = self;
        Ok(Written { info, files, refused, buffer })
    }

    /// Leaves nothing behind, and gives its memory back.
    pub(crate) fn abandon(self) -> AlignedBuf {
        for copy in self.copies {
            // What cannot be removed, the next start removes.
            let _ = self.env.seam.disk.remove(&copy.fresh);
        }
        self.buffer
    }
}
