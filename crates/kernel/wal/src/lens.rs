//! A moving window over one file, so that a stream of groups is read in large pieces.

use std::io;
use std::sync::Arc;

use seal::Format;
use seam::disk::{BLOCK, File};
use seam::mem::AlignedBuf;

use crate::LogConfig;
use crate::group::{Flaw, GROUP_HEADER, GroupHead, KeyBook};

/// How much is read at once.
pub(crate) const LENS_BYTES: usize = 2 << 20;

/// What a lens shows of its file. Groups are opened in place, so a piece is looked at once.
pub(crate) struct Lens {
    file: Arc<dyn File>,
    file_len: u64,
    window: AlignedBuf,
    from: u64,
    filled: usize,
}

impl Lens {
    /// A lens over the first `file_len` bytes of a file, `bytes_max` at a time.
    pub(crate) fn new(file: Arc<dyn File>, file_len: u64, bytes_max: usize) -> Lens {
        let size = bytes_max.min(file_len as usize).next_multiple_of(BLOCK).max(BLOCK);
        Lens { file, file_len, window: AlignedBuf::zeroed(size), from: 0, filled: 0 }
    }

    /// Looks at another file from now on.
    pub(crate) fn point_at(&mut self, file: Arc<dyn File>) {
        self.file = file;
        self.filled = 0;
    }

    /// Reads everything anew from now on.
    pub(crate) fn forget(&mut self) {
        self.filled = 0;
    }

    /// Looks at the first `file_len` bytes only.
    pub(crate) fn limit(&mut self, file_len: u64) {
        self.file_len = file_len / BLOCK as u64 * BLOCK as u64;
    }

    /// Brings `offset..offset + len` into view; both are multiples of 4,096. What is in view
    /// behind `offset` already is moved, not read again.
    pub(crate) fn bring(&mut self, offset: u64, len: usize) -> io::Result<()> {
        debug_assert!(offset.is_multiple_of(BLOCK as u64) && len.is_multiple_of(BLOCK));
        let end = offset + len as u64;
        if end > self.file_len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let seen = self.from..self.from + self.filled as u64;
        if seen.start <= offset && end <= seen.end {
            return Ok(());
        }
        let kept = if seen.contains(&offset) { (seen.end - offset) as usize } else { 0 };
        if len > self.window.len() {
            let mut window = AlignedBuf::zeroed(len);
            window[..kept].copy_from_slice(&self.window[self.filled - kept..self.filled]);
            self.window = window;
        } else {
            self.window.copy_within(self.filled - kept..self.filled, 0);
        }
        self.from = offset;
        self.filled = kept;
        let room = (self.window.len() as u64).min(self.file_len - offset) as usize;
        let from = offset + kept as u64;
        if self.file.read_at(&mut self.window[kept..room], from).is_ok() {
            self.filled = room;
            return Ok(());
        }
        // A block that cannot be read must not take its neighbours with it.
        self.file.read_at(&mut self.window[kept..len], from)?;
        self.filled = len;
        Ok(())
    }

    /// Brings a group into view, checks its header with `accept`, and opens it in place.
    pub(crate) fn load(
        &mut self,
        offset: u64,
        book: &mut KeyBook,
        config: &LogConfig,
        accept: impl FnOnce(&GroupHead) -> Result<(), Flaw>,
    ) -> Result<GroupHead, Flaw> {
        self.load_keeping(offset, book, config, accept, &mut |_| ())
    }

    /// The same; `keep` sees the group as it is sealed, without padding, before it is opened: what
    /// it sees is worth something only if this succeeds.
    pub(crate) fn load_keeping(
        &mut self,
        offset: u64,
        book: &mut KeyBook,
        config: &LogConfig,
        accept: impl FnOnce(&GroupHead) -> Result<(), Flaw>,
        keep: &mut dyn FnMut(&[u8]),
    ) -> Result<GroupHead, Flaw> {
        let unread = |error: io::Error| Flaw::Io(error.to_string());
        if offset + BLOCK as u64 > self.file_len {
            return Err(Flaw::Length);
        }
        self.bring(offset, BLOCK).map_err(unread)?;
        let head = GroupHead::decode(self.view(offset, BLOCK))?;
        if head.system != book.system() {
            return Err(Flaw::Foreign(head.system));
        }
        accept(&head)?;
        let may_be_plain = config.plain_span().has_group(head.first, head.end());
        if head.format == Format::Plain && !may_be_plain {
            return Err(Flaw::Plain);
        }
        let len = head.disk_len();
        if offset + len as u64 > self.file_len {
            return Err(Flaw::Length);
        }
        self.bring(offset, len).map_err(unread)?;
        keep(&self.view(offset, len)[..GROUP_HEADER + head.payload_len as usize]);
        book.open(&head, self.view_mut(offset, len))?;
        Ok(head)
    }

    /// The payload of a group that was loaded.
    pub(crate) fn payload(&self, offset: u64, head: &GroupHead) -> &[u8] {
        &self.view(offset, head.disk_len())[GROUP_HEADER..][..head.payload_len as usize]
    }

    /// What was brought into view.
    pub(crate) fn view(&self, offset: u64, len: usize) -> &[u8] {
        let at = (offset - self.from) as usize;
        &self.window[..self.filled][at..at + len]
    }

    /// The same, to be opened in place.
    pub(crate) fn view_mut(&mut self, offset: u64, len: usize) -> &mut [u8] {
        let at = (offset - self.from) as usize;
        &mut self.window[..self.filled][at..at + len]
    }
}
