//! Going ahead: entries of the write-ahead data set while the log runs, and what a restart takes
//! from them. They are written as groups are, in `writer.rs`.
//!
//! Invariants (see `wads.rs` for those of the data set):
//! 1. `taken <= ahead <= taken + one group` while entries are written; what they hold stays in the
//!    ring until its group is sealed.
//! 2. The log is durable up to the end of an entry once every file has it. It is *landed* only up
//!    to where groups are durable; readers and whoever lets segments go rely on that alone.
//! 3. What a restart finds stands in the ring before anything else, becomes one group, whole or
//!    absent, and has landed before anybody is let in.
//! 4. That the data set may hold what the log lacks, and which beginning of it, is recorded before
//!    the first entry that holds something, and that it does not any more after the log has landed
//!    and before the files are made anew. So it is never left out by mistake, and never missed
//!    where nothing is in it.
//!
//! Lock order: as for sealing; `recorded` is taken before all of them.

use std::collections::VecDeque;
use std::sync::Arc;

use base::{GroupNumber, KeyGeneration, Lsn};
use log_ring::Taker;
use seal::{Salt, Tag, WorkingKey};
use seam::disk::BLOCK;
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;

use crate::beginning::Beginning;
use crate::disk_len;
use crate::flush::Flush;
use crate::group::TAG_AT;
use crate::wads::{ENTRY_HEADER, EntryHead, FIRST_ENTRY_BYTES, WadsFile};

/// The write-ahead data set as the sealer sees it.
pub(crate) struct Ahead {
    files: Arc<[WadsFile]>,
    beginning: Beginning,
    key: Arc<WorkingKey>,
    generation: KeyGeneration,
    salt: Salt,
    counter: u64,
    /// Runs before the sealer's own taker.
    scout: Taker,
    /// The group that entries are written for, and how many there are.
    group: u64,
    index: u32,
    room: Room,
}

/// A key with a salt under which the first entry alone is sealed.
pub(crate) struct Salted {
    pub(crate) key: Arc<WorkingKey>,
    pub(crate) generation: KeyGeneration,
    pub(crate) salt: Salt,
}

/// The counter of a beginning's first entry.
pub(crate) const FIRST_COUNTER: u64 = 1;

/// Where entries begin.
pub(crate) struct Position {
    pub(crate) scout: Taker,
    /// The next group to be sealed.
    pub(crate) group: u64,
    /// Bytes that each file has.
    pub(crate) bytes: u64,
}

/// Blocks in use, from the oldest on.
struct Room {
    blocks: u64,
    next: u64,
    used: u64,
    /// Group and blocks of each entry, those skipped before it included.
    entries: VecDeque<(u64, u64)>,
}

impl Room {
    /// Frees what belongs to groups before `undurable`.
    fn free(&mut self, undurable: GroupNumber) {
        while let Some((group, blocks)) = self.entries.front().copied()
            && group < undurable.0
        {
            self.used -= blocks;
            self.entries.pop_front();
        }
    }

    /// A place for so many blocks in a row; `None` if it is not free.
    fn place(&mut self, blocks: u64, group: u64) -> Option<u64> {
        let wraps = self.next + blocks > self.blocks;
        let taken = if wraps { self.blocks - self.next + blocks } else { blocks };
        if self.used + taken > self.blocks {
            return None;
        }
        let at = if wraps { 0 } else { self.next };
        (self.next, self.used) = (at + blocks, self.used + taken);
        self.entries.push_back((group, taken));
        Some(FIRST_ENTRY_BYTES as u64 + at * BLOCK as u64)
    }
}

/// An entry to be written.
pub(crate) struct Entry {
    pub(crate) files: Arc<[WadsFile]>,
    pub(crate) offset: u64,
    pub(crate) len: usize,
    pub(crate) end: Lsn,
    /// The beginning that it belongs to.
    pub(crate) beginning: Beginning,
    pub(crate) buffer: AlignedBuf,
}

impl Ahead {
    /// The first entry of `beginning` is written; entries are for the group that `sealer`'s taker
    /// is at.
    pub(crate) fn new(
        files: Arc<[WadsFile]>,
        beginning: Beginning,
        salted: Salted,
        at: Position,
    ) -> Ahead {
        let Salted { key, generation, salt } = salted;
        let Position { scout, group, bytes } = at;
        let blocks = bytes.saturating_sub(FIRST_ENTRY_BYTES as u64) / BLOCK as u64;
        let room = Room { blocks, next: 0, used: 0, entries: VecDeque::new() };
        let counter = FIRST_COUNTER;
        Ahead { files, beginning, key, generation, salt, counter, scout, group, index: 0, room }
    }

    /// What has gathered and is not covered yet becomes an entry for `group`, whose predecessor has
    /// tag `before`; `None` if there is no place for it.
    pub(crate) fn seal(
        &mut self,
        flush: &Flush,
        taker: &Taker,
        number: GroupNumber,
        before: Tag,
    ) -> Option<Entry> {
        let group = number.0;
        if self.group != group {
            (self.group, self.index, self.scout) = (group, 0, taker.scout());
        }
        let most = (taker.taken() + flush.payload_max as u64).checked_sub(self.scout.taken())?;
        let gathered = flush.ring.gather(&self.scout, most);
        let len = (gathered.to - gathered.from) as usize;
        if len == 0 {
            return None;
        }
        let mut state = flush.flush_state.lock();
        let early = armed(Failpoint::WadsReusedEarly).then_some(GroupNumber(u64::MAX));
        self.room.free(early.unwrap_or(state.undurable()));
        let offset = self.room.place((disk_len(len) / BLOCK) as u64, group)?;
        let mut buffer = state.take_buffer();
        state.ahead_begins();
        drop(state);
        self.counter += 1;
        let head = self.head(flush, len, Lsn(gathered.from), before);
        let (header, rest) = buffer.split_at_mut(ENTRY_HEADER);
        head.encode(header);
        let (payload, padding) = rest.split_at_mut(len);
        let tag = flush.ring.lend(&self.scout, &gathered, |parts| {
            self.key.seal_into(head.counter, &header[..TAG_AT], parts, payload)
        });
        header[TAG_AT..].copy_from_slice(&tag.0);
        padding[..disk_len(len) - ENTRY_HEADER - len].fill(0);
        self.index += 1;
        flush.ring.pass(&mut self.scout, &gathered);
        flush.positions.set_ahead(gathered.to);
        flush.stats.went_ahead(len as u64, disk_len(len) as u64);
        let files = Arc::clone(&self.files);
        let mut state = flush.flush_state.lock();
        flush.end_wait(&mut state);
        flush.writers.set_called(false);
        flush.refresh_writers(&state);
        let end = Lsn(gathered.to);
        let (len, beginning) = (disk_len(len), self.beginning);
        Some(Entry { files, offset, len, end, beginning, buffer })
    }

    pub(crate) fn files(&self) -> Arc<[WadsFile]> {
        Arc::clone(&self.files)
    }

    /// The group that entries are for, and how many there are.
    pub(crate) fn written(&self) -> (u64, u32) {
        (self.group, self.index)
    }

    /// The beginning that they belong to.
    pub(crate) fn beginning(&self) -> Beginning {
        self.beginning
    }

    /// Goes over to another key, with a salt under which nothing is sealed yet.
    pub(crate) fn renew(&mut self, key: Arc<WorkingKey>, generation: KeyGeneration, salt: Salt) {
        (self.key, self.generation, self.salt, self.counter) = (key, generation, salt, 0);
    }

    fn head(&self, flush: &Flush, len: usize, first: Lsn, before: Tag) -> EntryHead {
        EntryHead {
            format: flush.config.format,
            is_first: false,
            system: flush.env.system,
            generation: self.generation,
            payload_len: len as u32,
            salt: self.salt,
            counter: self.counter,
            first,
            group: GroupNumber(self.group),
            before,
            index: self.index,
            beginning: self.beginning,
            tag: Tag([0; 16]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_used_around_and_around_and_never_twice_at_once() {
        let mut room = Room { blocks: 8, next: 0, used: 0, entries: VecDeque::new() };
        let block = BLOCK as u64;
        assert_eq!(room.place(3, 1), Some(block), "the first entry stands before");
        assert_eq!(room.place(4, 1), Some(4 * block));
        assert_eq!(room.place(2, 2), None, "the first ones are still needed");
        room.free(GroupNumber(1));
        assert_eq!(room.place(1, 2), Some(8 * block));
        room.free(GroupNumber(2));
        assert_eq!(room.place(5, 2), Some(block));
        assert_eq!(room.place(3, 2), None, "one of the last two is in use");
        room.free(GroupNumber(3));
        assert_eq!(room.place(8, 3), None, "it would begin in the middle and end there");
        assert_eq!(room.place(4, 3), Some(block));
    }
}
