//! Reading a file forward through a large buffer.
//!
//! Invariants:
//! 1. `base + at` is the place in the file; what was looked at is not read until [`Reader::skip`].
//! 2. The file's length is asked for once, and again only where it seems to end, so that records
//!    that another program has appended meanwhile are seen.

use std::io;
use std::sync::Arc;

use seam::disk::File;

/// Bytes of a buffer: many times the longest record.
pub(crate) const BUFFER_BYTES: usize = 256 * 1024;

/// A file being read.
pub(crate) struct Reader {
    file: Arc<dyn File>,
    buffer: Vec<u8>,
    /// The file's offset of the buffer's first byte.
    base: u64,
    /// The place in the buffer.
    at: usize,
    /// How much of the buffer is filled.
    filled: usize,
    len: u64,
}

impl Reader {
    pub(crate) fn new(file: Arc<dyn File>) -> io::Result<Reader> {
        let len = file.len()?;
        // A small file needs no large buffer; one that grows meanwhile is read in small pieces.
        let bytes = usize::try_from(len).map_or(BUFFER_BYTES, |len| len.min(BUFFER_BYTES));
        let buffer = vec![0; bytes.next_multiple_of(1 << 16).max(1 << 16)];
        Ok(Reader { file, buffer, base: 0, at: 0, filled: 0, len })
    }

    /// The place in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The length of the file as it was last seen.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Goes to another place.
    pub(crate) fn seek(&mut self, offset: u64) {
        match offset.checked_sub(self.base) {
            Some(at) if at <= self.filled as u64 => self.at = at as usize,
            _ => (self.base, self.at, self.filled) = (offset, 0, 0),
        }
    }

    /// Steps over bytes that were looked at.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.filled);
    }

    /// The next `want` bytes, or as many as the file has.
    #[inline]
    pub(crate) fn peek(&mut self, want: usize) -> io::Result<&[u8]> {
        if self.filled - self.at < want {
            self.fill()?;
        }
        let end = self.filled.min(self.at + want);
        Ok(&self.buffer[self.at..end])
    }

    /// The next bytes up to the end of the line, without it; the rest of the file if no line ends.
    /// At most `most` bytes are looked at.
    pub(crate) fn peek_line(&mut self, most: usize) -> io::Result<(&[u8], Line)> {
        let mut searched = 0;
        let (len, line) = loop {
            let seen = &self.buffer[self.at..self.filled.min(self.at + most)];
            if let Some(more) = seen[searched..].iter().position(|byte| *byte == b'\n') {
                break (searched + more, Line::Ended);
            }
            searched = seen.len();
            if searched == most {
                break (searched, Line::Longer);
            }
            let before = self.filled - self.at;
            self.fill()?;
            if self.filled - self.at == before {
                break (searched, Line::EndOfFile);
            }
        };
        Ok((&self.buffer[self.at..self.at + len], line))
    }

    /// Whether the byte in front of `offset` is the end of a line.
    pub(crate) fn is_line(&self, offset: u64) -> io::Result<bool> {
        let Some(before) = offset.checked_sub(1) else { return Ok(true) };
        let mut byte = [0];
        self.file.read_at(&mut byte, before)?;
        Ok(byte == *b"\n")
    }

    /// Moves what is left to the front of the buffer and reads more behind it.
    #[cold]
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.base += self.at as u64;
        self.filled -= self.at;
        self.at = 0;
        let end = self.base + self.filled as u64;
        if end >= self.len {
            self.len = self.file.len()?;
        }
        let room = self.buffer.len() - self.filled;
        let more =
            usize::try_from(self.len.saturating_sub(end)).map_or(room, |more| more.min(room));
        let place = &mut self.buffer[self.filled..self.filled + more];
        if more > 0 {
            self.file.read_at(place, end)?;
        }
        self.filled += more;
        Ok(())
    }
}

/// How a line that was looked at goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Its end follows.
    Ended,
    /// The file ends.
    EndOfFile,
    /// It is longer.
    Longer,
}
