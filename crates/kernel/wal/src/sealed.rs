//! Sealed groups as they stand in the log, for the archive: proven, and not sealed again. The
//! newest ones it has from memory.
//!
//! Invariants:
//! 1. Only durable groups are handed out, in order, none left out.
//! 2. Each one has been opened: it is whole, and it names its predecessor's tag. So a group that
//!    one copy lost is taken from the other, and damage is never archived as if it were log.

use std::sync::Arc;
use std::time::Duration;

use base::GroupNumber;
use seal::Tag;
use seam::disk::BLOCK;
use seam::failpoint::{Failpoint, armed};

use crate::directory::ToArchive;
use crate::group::{Flaw, GROUP_HEADER};
use crate::lens::LENS_BYTES;
use crate::log::Log;
use crate::read::{Groups, Reading, View};
use crate::recent::Bytes;
use crate::segment::FileAt;
use crate::{GroupHead, LogError};

/// Reads the groups of a running log one by one.
pub struct SealedGroups {
    core: Arc<Reading>,
    groups: Groups,
    next: GroupNumber,
    to: GroupNumber,
    previous: Option<Tag>,
    view: Option<View>,
}

impl SealedGroups {
    pub(crate) fn new(core: Arc<Reading>, from: GroupNumber, to: GroupNumber) -> SealedGroups {
        let undurable = core.flush_state.lock().undurable();
        SealedGroups {
            groups: Groups::new(core.book(), LENS_BYTES),
            next: from,
            to: to.min(undurable),
            previous: None,
            view: None,
            core,
        }
    }

    /// Goes on with other groups.
    pub fn seek(&mut self, from: GroupNumber, to: GroupNumber) {
        let undurable = self.core.flush_state.lock().undurable();
        (self.next, self.to) = (from, to.min(undurable));
        (self.previous, self.view) = (None, None);
    }

    /// The group that comes next.
    #[must_use]
    pub fn at(&self) -> GroupNumber {
        self.next
    }

    /// The group that it ends before.
    #[must_use]
    pub fn end(&self) -> GroupNumber {
        self.to
    }

    /// The next group; `None` behind the last one. `keep` sees its bytes as they are sealed:
    /// header and payload without padding. If it is called again before this returns, what it saw
    /// before was damaged.
    ///
    /// # Errors
    /// [`LogError::Damaged`] if no copy has the group whole; [`LogError::Gone`] if it is no longer
    /// in the log.
    pub fn next(&mut self, keep: &mut dyn FnMut(&[u8])) -> Result<Option<GroupHead>, LogError> {
        if self.next >= self.to {
            return Ok(None);
        }
        let mut tries = 0;
        let view = self.groups.load_keeping(&self.core, self.next, &mut |bytes| {
            tries += 1;
            if tries == 1 || !armed(Failpoint::ArchivedUnproven) {
                keep(bytes);
            }
        })?;
        let head = view.head;
        if self.previous.is_some_and(|previous| previous != head.previous) {
            return Err(damaged(&self.core, self.next, &Flaw::Chain));
        }
        self.view = Some(view);
        self.previous = Some(head.tag);
        self.next = GroupNumber(self.next.0 + 1);
        Ok(Some(head))
    }

    /// The payload of the group that was just handed out, opened: a piece of the stream of records.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.view.as_ref().map_or(&[], |view| self.groups.payload(view))
    }
}

/// The error for a group that does not follow its predecessor.
fn damaged(core: &Reading, number: GroupNumber, flaw: &Flaw) -> LogError {
    let place = core.directory.lock().locate(number);
    let (slot, stripe, offset) =
        place.map_or((0, 0, 0), |place| (place.files.slot, place.stripe, place.offset));
    LogError::Damaged {
        group: number,
        path: FileAt { copy: 0, slot, stripe }.path(&core.layout()),
        offset,
        why: flaw.to_string(),
    }
}

/// A durable group, as it is sealed. Its memory goes back to the log when it is dropped.
pub struct RecentGroup {
    sealed: Option<Bytes>,
    core: Arc<Reading>,
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
        self.sealed.as_ref().map_or(&[], Bytes::bytes)
    }

    /// Whether its bytes lie in memory as direct output needs them, and fill whole blocks.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        matches!(self.sealed, Some(Bytes::Buffer(_))) && self.bytes().len().is_multiple_of(BLOCK)
    }
}

impl Drop for RecentGroup {
    fn drop(&mut self) {
        if let Some(Bytes::Buffer(buffer)) = self.sealed.take() {
            self.core.flush_state.lock().with_recent(|_, free| free.push(buffer));
        }
    }
}

impl Log {
    /// Reads sealed groups, from `from` and before `to`, as far as they are durable.
    #[must_use]
    pub fn sealed(&self, from: GroupNumber, to: GroupNumber) -> SealedGroups {
        SealedGroups::new(Arc::clone(&self.core), from, to)
    }

    /// The oldest groups that wait to be archived: those of one full segment, or with `partial`
    /// also what the current one has so far. `None` if nothing waits, or if there is no archive.
    #[must_use]
    pub fn to_archive(&self, partial: bool) -> Option<ToArchive> {
        self.core.to_archive(partial)
    }

    /// A durable group from memory; `None` if it is not there any more. The log forgets it, and
    /// those before it.
    #[must_use]
    pub fn take_recent(&self, number: GroupNumber) -> Option<RecentGroup> {
        let taken =
            self.core.flush_state.lock().with_recent(|recent, free| recent.take(number.0, free));
        let group = RecentGroup { sealed: Some(taken?), core: Arc::clone(&self.core) };
        group.head().is_some_and(|head| head.number == number).then_some(group)
    }

    /// Whether a group can still be had from memory.
    #[must_use]
    pub fn has_recent(&self, number: GroupNumber) -> bool {
        self.core.flush_state.lock().with_recent(|recent, _| recent.has(number.0))
    }

    /// Returns when it is worth to archive something, or after `time`, or at once if `enough` says
    /// so; that is asked again when [`Log::wake_archiver`] is called.
    pub fn await_archivable(&self, time: Duration, enough: impl Fn() -> bool) {
        let core = &*self.core;
        let mut state = core.flush_state.lock();
        let calls = state.with_recent(|recent, _| recent.calls());
        if !calls && !core.writers.are_closed() && !enough() {
            core.writers.await_archivable(&mut state, time);
        }
        state.with_recent(|recent, _| recent.looked());
    }

    /// Wakes whoever waits in [`Log::await_archivable`].
    pub fn wake_archiver(&self) {
        drop(self.core.flush_state.lock());
        self.core.writers.wake_archiver();
    }
}
