//! Writing a file forward through a large buffer.
//!
//! Invariants:
//! 1. The buffer begins at a whole block of the file and holds everything behind it, so the bytes
//!    of the last, partial block are always at hand: a checkpoint keeps them (see `place`).
//! 2. What was given is written before [`Writer::sync`] returns, and nothing is lost if writing
//!    fails: it stays in the buffer, and the next sync writes it or fails too.
//! 3. A sync that failed is never repeated with success.

use std::io;
use std::sync::Arc;

use seam::disk::File;

use crate::place::BLOCK;
use crate::reader::BUFFER_BYTES;

/// A file being written.
pub(crate) struct Writer {
    file: Arc<dyn File>,
    /// What stands behind `base`.
    buffer: Vec<u8>,
    /// The file's offset of the buffer's first byte.
    base: u64,
    /// How much of the buffer the file has already.
    written: usize,
    /// Whether the file has something that was not synced, its name or length among it.
    unsynced: bool,
    /// Whether a sync failed.
    broken: bool,
}

impl Writer {
    /// Writes behind `offset`, in front of which stands `tail` in its partial block.
    pub(crate) fn new(file: Arc<dyn File>, offset: u64, tail: &[u8]) -> Writer {
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        buffer.extend_from_slice(tail);
        let base = offset - tail.len() as u64;
        Writer { file, buffer, base, written: 0, unsynced: true, broken: false }
    }

    /// Where the next byte goes.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.buffer.len() as u64
    }

    /// What stands behind the last whole block.
    pub(crate) fn tail(&self) -> &[u8] {
        let whole = self.buffer.len() as u64 / BLOCK * BLOCK;
        // The buffer begins at a whole block.
        &self.buffer[whole as usize..]
    }

    /// Makes room for so many bytes, which [`put`](Writer::put) then takes without failing.
    #[inline]
    pub(crate) fn make_room(&mut self, bytes: usize) -> io::Result<()> {
        if self.buffer.len() + bytes > BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    /// Takes bytes for which there is room.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Writes what the file does not have, with its partial block, which is kept.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.written < self.buffer.len() {
            self.file.write_at(&self.buffer, self.base)?;
            self.unsynced = true;
        }
        let whole = self.buffer.len() - self.tail().len();
        self.buffer.drain(..whole);
        self.base += whole as u64;
        self.written = self.buffer.len();
        Ok(())
    }

    /// Makes everything durable; whether the file itself may be new is told to `name_too`.
    pub(crate) fn sync(&mut self, name_too: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier sync of the file failed"));
        }
        self.flush()?;
        if self.unsynced {
            let synced = self.file.sync().and_then(|()| name_too());
            self.broken = synced.is_err();
            synced?;
            self.unsynced = false;
        }
        Ok(())
    }
}
