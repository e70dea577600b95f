//! Reading one archive file, group by group.
//!
//! Invariants:
//! 1. Nothing is believed before it has proven itself: the header by its tag, each group by its
//!    own and by the chain, the last one by what the header says of it.
//! 2. No length in the file makes more memory be taken than a group may have.
//! 3. Copies of an archive are the same bytes, so what one of them has lost stands in the same
//!    place of another one: a group that does not prove itself is read there. One that was cut
//!    short serves up to its end.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::GroupNumber;
use seal::{Format, Tag, WorkingKey};
use seam::disk::{BLOCK, Create, File, Open};
use seam::mem::AlignedBuf;
use wal::{Flaw, GROUP_HEADER, GroupHead, KeyBook};
use zstd::bulk::Decompressor;

use crate::block::{self, BLOCK_HEADER, PAYLOAD_MAX};
use crate::header::{HEAD_BYTES, HEADER_BYTES, VERSION, key_of};
use crate::{ArchiveEnv, ArchiveError, ArchiveInfo};

/// How much is read at once.
const READ_BYTES: usize = 2 << 20;

/// An archive file, read from front to back.
pub struct ArchiveFile {
    env: ArchiveEnv,
    book: KeyBook,
    /// The copy that is being read, and others that may have what it has lost (3).
    path: PathBuf,
    others: VecDeque<PathBuf>,
    info: ArchiveInfo,
    key: Arc<WorkingKey>,
    window: Window,
    offset: u64,
    next: GroupNumber,
    previous: Tag,
    unpacker: Decompressor<'static>,
    payload: Vec<u8>,
    /// Where the payload stands, if it was not compressed: in the window.
    inside: Option<(u64, usize)>,
}

impl ArchiveFile {
    /// Opens a file and proves its header.
    ///
    /// # Errors
    /// [`ArchiveError::Damaged`], [`ArchiveError::FutureVersion`], whatever the disk says.
    pub fn open(env: &ArchiveEnv, path: &Path) -> Result<ArchiveFile, ArchiveError> {
        let file = ArchiveFile::open_cut(env, path)?;
        match file.window.len == file.info.file_bytes() {
            true => Ok(file),
            false => Err(refused(path, file.window.len, &Flaw::Length)),
        }
    }

    /// Opens a file that may be shorter than it says.
    ///
    /// # Errors
    /// As for [`ArchiveFile::open`].
    pub(crate) fn open_cut(env: &ArchiveEnv, path: &Path) -> Result<ArchiveFile, ArchiveError> {
        let opened = ArchiveFile::try_open(env, path)?;
        opened.map_err(|(offset, flaw)| refused(path, offset, &flaw))
    }

    /// Whether the file is none, whoever reads it: not one that needs another key or release, nor
    /// one that the disk does not give.
    pub(crate) fn is_damaged(env: &ArchiveEnv, path: &Path) -> bool {
        let opened = ArchiveFile::try_open(env, path);
        match opened {
            Ok(Ok(file)) => file.window.len != file.info.file_bytes(),
            Ok(Err((_, flaw))) => matches!(flaw, Flaw::NoHeader | Flaw::Length | Flaw::Tag),
            Err(_) => false,
        }
    }

    fn try_open(
        env: &ArchiveEnv,
        path: &Path,
    ) -> Result<Result<ArchiveFile, (u64, Flaw)>, ArchiveError> {
        let opened = Window::open(env, path);
        let mut window = opened.map_err(|error| ArchiveError::io("open", path, error))?;
        let mut book = env.book();
        let proven = window.bring(0, HEADER_BYTES).and_then(|header| {
            if !all_zero(&header[HEAD_BYTES..]) {
                return Err(Flaw::NoHeader);
            }
            let info = ArchiveInfo::decode(header, env, &mut book)?;
            let key = key_of(&mut book, &info)?;
            Ok((info, key))
        });
        let (info, key) = match proven {
            Ok(proven) => proven,
            Err(flaw) => return Ok(Err((0, flaw))),
        };
        let unpacker =
            Decompressor::new().map_err(|error| ArchiveError::io("read", path, error))?;
        let (next, previous) = (info.from, info.previous);
        Ok(Ok(ArchiveFile {
            env: env.clone(),
            book,
            path: path.to_owned(),
            others: VecDeque::new(),
            info,
            key,
            window,
            offset: HEADER_BYTES as u64,
            next,
            previous,
            unpacker,
            payload: Vec::new(),
            inside: None,
        }))
    }

    /// Reads what this copy has lost from others.
    pub(crate) fn joined(mut self, others: Vec<PathBuf>) -> ArchiveFile {
        self.others = others.into();
        self
    }

    /// The copy that is being read, and how far: everything before has proven itself.
    pub(crate) fn place(&self) -> (&Path, u64) {
        (&self.path, self.offset)
    }

    /// What the file holds.
    #[must_use]
    pub fn info(&self) -> &ArchiveInfo {
        &self.info
    }

    /// The next group, proven; `None` behind the last one.
    ///
    /// # Errors
    /// [`ArchiveError::Damaged`] with the place.
    pub fn next_group(&mut self) -> Result<Option<GroupHead>, ArchiveError> {
        let from = self.offset;
        let damaged = match self.step() {
            Ok(found) => return Ok(found),
            Err(flaw) => self.damaged(&flaw),
        };
        for _ in 0..self.others.len() {
            self.offset = from;
            if self.go_over()
                && let Ok(found) = self.step()
            {
                return Ok(found);
            }
        }
        Err(damaged)
    }

    /// Goes over to the next of the other copies, in the same place (3).
    fn go_over(&mut self) -> bool {
        let Some(other) = self.others.pop_front() else { return false };
        let Ok(window) = Window::open(&self.env, &other) else {
            self.others.push_back(other);
            return false;
        };
        self.window = window;
        self.others.push_back(std::mem::replace(&mut self.path, other));
        true
    }

    fn step(&mut self) -> Result<Option<GroupHead>, Flaw> {
        if self.next < self.info.to {
            return self.load().map(Some);
        }
        let behind = HEADER_BYTES as u64 + self.info.block_bytes;
        if self.previous != self.info.last || self.offset != behind {
            return Err(Flaw::Chain);
        }
        (self.inside, self.payload) = (None, Vec::new());
        let padding = (self.info.file_bytes() - behind) as usize;
        if all_zero(self.window.bring(behind, padding)?) { Ok(None) } else { Err(Flaw::Length) }
    }

    /// Goes through the rest of the file.
    ///
    /// # Errors
    /// The first damage.
    pub fn prove(&mut self) -> Result<(), ArchiveError> {
        while self.next_group()?.is_some() {}
        Ok(())
    }

    /// The payload of the group that was read last: a piece of the stream of records.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        match self.inside {
            Some((offset, len)) => self.window.view(offset, len),
            None => &self.payload,
        }
    }

    fn damaged(&self, flaw: &Flaw) -> ArchiveError {
        refused(&self.path, self.offset, flaw)
    }

    fn load(&mut self) -> Result<GroupHead, Flaw> {
        let limit = HEADER_BYTES as u64 + self.info.block_bytes;
        let left = limit.saturating_sub(self.offset);
        let peeked = left.min(BLOCK_HEADER as u64) as usize;
        if peeked < GROUP_HEADER {
            return Err(Flaw::Length);
        }
        let front = self.window.bring(self.offset, peeked)?;
        let in_block = self.offset % BLOCK as u64;
        if in_block > 0 && front[0] == 0 {
            // The next block begins with a whole 4 KiB.
            let padding = BLOCK as u64 - in_block;
            let zeros = self.window.bring(self.offset, padding.min(left) as usize)?;
            if padding >= left || !all_zero(zeros) {
                return Err(Flaw::Length);
            }
            self.offset += padding;
            return self.load();
        }
        let (len, head, packed) = if front.starts_with(&block::MAGIC) {
            let (len, head) = block::peek(front)?;
            (len, head, true)
        } else {
            let head = GroupHead::decode(front)?;
            (GROUP_HEADER + head.payload_len as usize, head, false)
        };
        if len as u64 > left || len > BLOCK_HEADER + PAYLOAD_MAX {
            return Err(Flaw::Length);
        }
        self.follows(&head)?;
        let bytes = self.window.bring(self.offset, len)?;
        if packed {
            block::unpack(&self.key, &head, bytes, &mut self.unpacker, &mut self.payload)?;
            self.inside = None;
        } else {
            self.book.open(&head, bytes)?;
            self.inside = Some((self.offset + GROUP_HEADER as u64, head.payload_len as usize));
        }
        self.offset += len as u64;
        self.next = GroupNumber(head.number.0 + 1);
        self.previous = head.tag;
        Ok(head)
    }

    fn follows(&self, head: &GroupHead) -> Result<(), Flaw> {
        let may_be_plain = self.env.plain_span().has_group(head.first, head.end());
        if head.system != self.env.system {
            Err(Flaw::Foreign(head.system))
        } else if head.number != self.next {
            Err(Flaw::Number(head.number))
        } else if head.previous != self.previous {
            Err(Flaw::Chain)
        } else if head.format == Format::Plain && !may_be_plain {
            Err(Flaw::Plain)
        } else {
            Ok(())
        }
    }
}

/// The error for a file, or a place in it, that is not what it should be.
pub(crate) fn refused(path: &Path, offset: u64, flaw: &Flaw) -> ArchiveError {
    let path = path.to_owned();
    match flaw {
        Flaw::Version(found) => ArchiveError::FutureVersion { path, found: *found, known: VERSION },
        Flaw::Foreign(system) => ArchiveError::Foreign { path, system: *system },
        flaw => ArchiveError::Damaged { path, offset, why: flaw.to_string() },
    }
}

fn all_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// A moving window over a file of which pieces at any offset are wanted.
struct Window {
    file: Arc<dyn File>,
    len: u64,
    buffer: AlignedBuf,
    from: u64,
    filled: usize,
}

impl Window {
    fn open(env: &ArchiveEnv, path: &Path) -> io::Result<Window> {
        let how = Open { create: Create::Never, write: false, direct: true, dsync: false };
        let file = env.seam.disk.open(path, how)?;
        Ok(Window::new(file.len()?, file))
    }

    fn new(len: u64, file: Arc<dyn File>) -> Window {
        let size = READ_BYTES.min(len as usize).next_multiple_of(BLOCK).max(BLOCK);
        Window { file, len, buffer: AlignedBuf::zeroed(size), from: 0, filled: 0 }
    }

    /// Brings a piece into view, to be opened in place. What is in view already is not read again.
    fn bring(&mut self, offset: u64, len: usize) -> Result<&mut [u8], Flaw> {
        let end = offset + len as u64;
        if end > self.len {
            return Err(Flaw::Length);
        }
        let seen = self.from + self.filled as u64;
        if offset < self.from || end > seen {
            let from = offset / BLOCK as u64 * BLOCK as u64;
            let kept = if (self.from..seen).contains(&from) { (seen - from) as usize } else { 0 };
            let wanted = (end - from) as usize;
            if wanted > self.buffer.len() {
                let mut larger = AlignedBuf::zeroed(wanted.next_multiple_of(BLOCK));
                larger[..kept].copy_from_slice(&self.buffer[self.filled - kept..self.filled]);
                self.buffer = larger;
            } else {
                self.buffer.copy_within(self.filled - kept..self.filled, 0);
            }
            // Whole blocks, as far as there are any.
            let whole = self.len / BLOCK as u64 * BLOCK as u64;
            let room = (self.buffer.len() as u64).min(whole.saturating_sub(from)) as usize;
            (self.from, self.filled) = (from, kept);
            if room < wanted {
                return Err(Flaw::Length);
            }
            let read = self.file.read_at(&mut self.buffer[kept..room], from + kept as u64);
            read.map_err(|error| Flaw::Io(error.to_string()))?;
            self.filled = room;
        }
        let at = (offset - self.from) as usize;
        Ok(&mut self.buffer[at..at + len])
    }

    /// What was brought into view.
    fn view(&self, offset: u64, len: usize) -> &[u8] {
        let at = (offset - self.from) as usize;
        &self.buffer[at..at + len]
    }
}
