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
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use base::GroupNumber;
use seam::disk::BLOCK;
use seam::mem::AlignedBuf;

use crate::core::Core;
use crate::group::{GROUP_HEADER, GroupHead};
use crate::log::Log;

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
    sealed: Sealed,
}

/// The bytes of a group, padding included.
enum Sealed {
    Buffer(Arc<AlignedBuf>),
    Copy(Box<[u8]>),
}

impl Sealed {
    fn bytes(&self) -> &[u8] {
        match self {
            Sealed::Buffer(buffer) => buffer,
            Sealed::Copy(copy) => copy,
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
            let copy = Sealed::Copy(buffer[..len].into());
            free.push(buffer);
            copy
        } else {
            Sealed::Buffer(buffer)
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

    fn drop_one(&mut self, sealed: Sealed, free: &mut Vec<Arc<AlignedBuf>>) {
        self.bytes -= sealed.bytes().len();
        if let Sealed::Buffer(buffer) = sealed {
            free.push(buffer);
        }
    }

    /// Hands out one group, and drops those before it.
    fn take(&mut self, number: u64, free: &mut Vec<Arc<AlignedBuf>>) -> Option<Sealed> {
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

    fn has(&self, number: u64) -> bool {
        let front = self.groups.front().map_or(u64::MAX, |oldest| oldest.number);
        (front..front.saturating_add(self.groups.len() as u64)).contains(&number)
    }

    /// Whether there is enough to call the archiver.
    pub(crate) fn calls(&self) -> bool {
        self.bytes_max > 0 && self.news >= CALL_BYTES.min(self.bytes_max / 4)
    }
}

/// A durable group, as it is sealed. Its memory goes back to the log when it is dropped.
pub struct RecentGroup {
    sealed: Option<Sealed>,
    core: Arc<Core>,
}

impl RecentGroup {
    /// Its header.
    #[must_use]
    pub fn head(&self) -> Option<GroupHead> {
        GroupHead::decode(self.all()).ok()
    }

    /// Header and payload, without padding.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let len = self.head().map_or(0, |head| GROUP_HEADER + head.payload_len as usize);
        self.all().get(..len).unwrap_or(&[])
    }

    fn all(&self) -> &[u8] {
        self.sealed.as_ref().map_or(&[], Sealed::bytes)
    }

    /// Whether its bytes lie in memory as direct output needs them, and fill whole blocks.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        matches!(self.sealed, Some(Sealed::Buffer(_))) && self.bytes().len().is_multiple_of(BLOCK)
    }
}

impl Drop for RecentGroup {
    fn drop(&mut self) {
        if let Some(Sealed::Buffer(buffer)) = self.sealed.take() {
            self.core.board.lock().with_recent(|_, free| free.push(buffer));
        }
    }
}

impl Log {
    /// A durable group from memory; `None` if it is not there any more. The log forgets it, and
    /// those before it.
    #[must_use]
    pub fn take_recent(&self, number: GroupNumber) -> Option<RecentGroup> {
        let taken = self.core.board.lock().with_recent(|recent, free| recent.take(number.0, free));
        let group = RecentGroup { sealed: Some(taken?), core: Arc::clone(&self.core) };
        group.head().is_some_and(|head| head.number == number).then_some(group)
    }

    /// Whether a group can still be had from memory.
    #[must_use]
    pub fn has_recent(&self, number: GroupNumber) -> bool {
        self.core.board.lock().with_recent(|recent, _| recent.has(number.0))
    }

    /// Returns when it is worth to archive something, or after `time`, or at once if `enough` says
    /// so; that is asked again when [`Log::wake_archiver`] is called.
    pub fn await_archivable(&self, time: Duration, enough: impl Fn() -> bool) {
        let core: &Core = &self.core;
        let mut board = core.board.lock();
        let calls = board.with_recent(|recent, _| recent.calls());
        if !calls && !core.closed.load(SeqCst) && !enough() {
            core.archive_wake.wait_for(&mut board, time);
        }
        board.with_recent(|recent, _| recent.news = 0);
    }

    /// Wakes whoever waits in [`Log::await_archivable`].
    pub fn wake_archiver(&self) {
        drop(self.core.board.lock());
        self.core.archive_wake.notify_all();
    }
}
