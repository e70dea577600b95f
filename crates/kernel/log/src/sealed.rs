//! Sealed groups as they stand in the log, for the archive: proven, and not sealed again.
//!
//! Invariants:
//! 1. Only durable groups are handed out, in order, none left out.
//! 2. Each one has been opened: it is whole, and it names its predecessor's tag. So a group that
//!    one copy lost is taken from the other, and damage is never archived as if it were log.

use std::sync::Arc;

use base::GroupNumber;
use seal::Tag;
use seam::plant::{Plant, planted};

use crate::core::Core;
use crate::group::Flaw;
use crate::lens::LENS_BYTES;
use crate::read::{Groups, View};
use crate::{GroupHead, LogError};

/// Reads the groups of a running log one by one.
pub struct SealedGroups {
    core: Arc<Core>,
    groups: Groups,
    next: GroupNumber,
    to: GroupNumber,
    previous: Option<Tag>,
    view: Option<View>,
}

impl SealedGroups {
    pub(crate) fn new(core: Arc<Core>, from: GroupNumber, to: GroupNumber) -> SealedGroups {
        let undurable = core.board.lock().undurable();
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
        let undurable = self.core.board.lock().undurable();
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
            if tries == 1 || !planted(Plant::ArchivedUnproven) {
                keep(bytes);
            }
        })?;
        let head = view.head;
        if self.previous.is_some_and(|previous| previous != head.previous) {
            return Err(self.core.damaged(self.next, &Flaw::Chain));
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

/// Groups that wait to be archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToArchive {
    /// The first of them.
    pub from: GroupNumber,
    /// The group behind the last one.
    pub to: GroupNumber,
    /// Whether they are the last ones of a segment.
    pub full: bool,
}

impl Core {
    fn damaged(&self, number: GroupNumber, flaw: &Flaw) -> LogError {
        let place = self.directory.lock().locate(number);
        let (slot, stripe, offset) =
            place.map_or((0, 0, 0), |place| (place.files.slot, place.stripe, place.offset));
        LogError::Damaged {
            group: number,
            path: crate::segment::FileAt { copy: 0, slot, stripe }.path(&self.layout()),
            offset,
            why: flaw.to_string(),
        }
    }

    /// The oldest groups of one segment that wait for the archive.
    pub(crate) fn to_archive(&self, partial: bool) -> Option<ToArchive> {
        let undurable = {
            let board = self.board.lock();
            let all = planted(Plant::ArchivedUndurable);
            if all { GroupNumber(board.next) } else { board.undurable() }
        };
        self.directory.lock().unarchived(undurable, partial)
    }
}
