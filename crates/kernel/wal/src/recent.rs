//! Groups that are durable and still in memory, for the archive: what it takes from here it need
//! neither read nor open.
//!
//! Invariants:
//! 1. Here are durable groups only, as they are sealed, in order, none left out between the oldest
//!    and the newest.
//! 2. They take at most `bytes_max` bytes of memory. The oldest go first, so the log never waits
//!    for the archive; whoever comes too late reads the log.
//! 3. A buffer is in flight, here, with the archive, or free. A small group leaves its buffer and
//!    keeps a copy, so that many of them fit.

use std::collections::VecDeque;
use std::sync::Arc;

use seam::mem::AlignedBuf;

/// So much makes it worth to call the archiver.
const CALL_BYTES: usize = 4 << 20;
/// Groups up to this size are copied.
const SMALL_BYTES: usize = 32 << 10;

/// The newest durable groups.
pub(crate) struct Recent {
    bytes_max: usize,
    groups: VecDeque<Kept>,
    /// Memory that they take.
    bytes: usize,
    /// What has come since the archiver looked.
    news: usize,
}

struct Kept {
    number: u64,
    sealed: Bytes,
}

/// The bytes of a group, padding included.
pub(crate) enum Bytes {
    Buffer(Arc<AlignedBuf>),
    Copy(Box<[u8]>),
}

impl Bytes {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Bytes::Buffer(buffer) => buffer,
            Bytes::Copy(copy) => copy,
        }
    }
}

impl Recent {
    /// Keeps up to `bytes_max` bytes; none at all if there is no archive.
    pub(crate) fn new(bytes_max: usize) -> Recent {
        Recent { bytes_max, groups: VecDeque::new(), bytes: 0, news: 0 }
    }

    /// Takes a durable group in, `len` bytes on disk. Buffers that are not needed go to `free`.
    pub(crate) fn push(
        &mut self,
        number: u64,
        len: usize,
        buffer: Arc<AlignedBuf>,
        free: &mut Vec<Arc<AlignedBuf>>,
    ) {
        if self.bytes_max == 0 {
            return free.push(buffer);
        }
        let sealed = if len <= SMALL_BYTES {
            let copy = Bytes::Copy(buffer[..len].into());
            free.push(buffer);
            copy
        } else {
            Bytes::Buffer(buffer)
        };
        self.bytes += sealed.bytes().len();
        self.news += len;
        self.groups.push_back(Kept { number, sealed });
        while self.bytes > self.bytes_max
            && let Some(oldest) = self.groups.pop_front()
        {
            self.drop_one(oldest.sealed, free);
        }
    }

    fn drop_one(&mut self, sealed: Bytes, free: &mut Vec<Arc<AlignedBuf>>) {
        self.bytes -= sealed.bytes().len();
        if let Bytes::Buffer(buffer) = sealed {
            free.push(buffer);
        }
    }

    /// Hands out one group, and drops those before it.
    pub(crate) fn take(&mut self, number: u64, free: &mut Vec<Arc<AlignedBuf>>) -> Option<Bytes> {
        while self.groups.front()?.number < number {
            let oldest = self.groups.pop_front()?;
            self.drop_one(oldest.sealed, free);
        }
        if !self.has(number) {
            return None;
        }
        let taken = self.groups.pop_front()?.sealed;
        self.bytes -= taken.bytes().len();
        Some(taken)
    }

    pub(crate) fn has(&self, number: u64) -> bool {
        let front = self.groups.front().map_or(u64::MAX, |oldest| oldest.number);
        (front..front.saturating_add(self.groups.len() as u64)).contains(&number)
    }

    /// The archiver has looked.
    pub(crate) fn looked(&mut self) {
        self.news = 0;
    }

    /// Whether there is enough to call the archiver.
    pub(crate) fn calls(&self) -> bool {
        self.bytes_max > 0 && self.news >= CALL_BYTES.min(self.bytes_max / 4)
    }
}
