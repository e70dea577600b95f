//! Going ahead: entries of the write-ahead data set while the log runs, and what a restart takes
//! from them.
//!
//! Invariants (see `wads.rs` for those of the data set):
//! 1. `taken <= ahead <= taken + one group` while entries are written; what they hold stays in the
//!    ring until its group is sealed.
//! 2. The log is durable up to the end of an entry once every file has it. It is *landed* only up
//!    to where groups are durable; readers and whoever lets segments go rely on that alone.
//! 3. What a restart finds stands in the ring before anything else, becomes one group, whole or
//!    absent, and has landed before anybody is let in.
//! 4. That the data set may hold what the log lacks is recorded before the first entry, and that
//!    it does not any more after the log has landed. So it is never left out by mistake.
//!
//! Lock order: as for sealing; `recorded` is taken before all of them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use base::{GroupNumber, KeyGeneration, Lsn};
use seal::{Salt, Tag, WorkingKey};
use seam::disk::{BLOCK, File};
use seam::mem::AlignedBuf;
use seam::plant::{Plant, planted};
use seam::sync::{Condvar, Mutex};

use crate::core::Core;
use crate::group::{KeyBook, Purpose, TAG_AT};
use crate::sealer::{Sealer, Why};
use crate::wads::{ENTRY_HEADER, EntryHead, WadsFile, prepare};
use crate::{Log, LogError, disk_len};
use log_ring::Taker;

/// How often somebody who waits for the log to land looks whether the kernel has stopped.
const LOOK: Duration = Duration::from_millis(100);

/// What is ahead of the log, for everybody.
pub(crate) struct WadsState {
    /// The log itself has everything before: without a write-ahead data set as much as is durable.
    pub(crate) landed: AtomicU64,
    /// Everything before has been sealed in entries, or in groups.
    pub(crate) to: AtomicU64,
    /// Somebody waits for everything before to be in the log itself.
    pub(crate) wanted: AtomicU64,
    /// Called when groups are durable; waits under the board's mutex.
    pub(crate) wake: Condvar,
    /// It is recorded that the write-ahead data set may hold what the log lacks.
    pub(crate) recorded: Mutex<bool>,
    /// Why nothing is written ahead any more.
    pub(crate) trouble: Mutex<Option<String>>,
}

impl WadsState {
    /// A log that has landed up to `end`; `recorded` if more may be ahead of it.
    pub(crate) fn new(end: u64, recorded: bool) -> WadsState {
        WadsState {
            landed: AtomicU64::new(end),
            to: AtomicU64::new(0),
            wanted: AtomicU64::new(0),
            wake: Condvar::new(),
            recorded: Mutex::new(recorded),
            trouble: Mutex::new(None),
        }
    }
}

/// The write-ahead data set as the sealer sees it.
pub(crate) struct Ahead {
    files: Arc<[WadsFile]>,
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
        Some(at * BLOCK as u64)
    }
}

/// An entry to be written.
pub(crate) struct Entry {
    files: Arc<[WadsFile]>,
    offset: u64,
    len: usize,
    end: Lsn,
    buffer: AlignedBuf,
}

impl Core {
    /// Everything before is sealed, in a group or in an entry.
    pub(crate) fn covered(&self) -> u64 {
        self.taken.load(SeqCst).max(self.wads.to.load(SeqCst))
    }

    /// The log itself holds everything before, durably.
    pub(crate) fn landed(&self) -> Lsn {
        Lsn(self.wads.landed.load(SeqCst))
    }

    /// What has gathered and is not covered yet becomes an entry; `None` if there is no place for
    /// it, or nothing to write ahead to.
    pub(crate) fn seal_ahead(&self, sealer: &mut Sealer) -> Option<Entry> {
        let (group, taken) = (sealer.next, sealer.taker.taken());
        let before = sealer.previous;
        let ahead = sealer.ahead.as_mut().filter(|_| sealer.renewal.is_none())?;
        if ahead.group != group {
            (ahead.group, ahead.index, ahead.scout) = (group, 0, sealer.taker.scout());
        }
        let most = (taken + self.payload_max as u64).checked_sub(ahead.scout.taken())?;
        let gathered = self.ring.gather(&ahead.scout, most);
        let len = (gathered.to - gathered.from) as usize;
        if len == 0 {
            return None;
        }
        let mut board = self.board.lock();
        let early = planted(Plant::WadsReusedEarly).then_some(GroupNumber(u64::MAX));
        ahead.room.free(early.unwrap_or(board.undurable()));
        let offset = ahead.room.place((disk_len(len) / BLOCK) as u64, group)?;
        let mut buffer = board.take_buffer();
        board.ahead_begins();
        drop(board);
        ahead.counter += 1;
        let head = ahead.head(self, len, Lsn(gathered.from), before);
        let (header, rest) = buffer.split_at_mut(ENTRY_HEADER);
        head.encode(header);
        let (payload, padding) = rest.split_at_mut(len);
        let tag = self.ring.lend(&ahead.scout, &gathered, |parts| {
            ahead.key.seal_into(head.counter, &header[..TAG_AT], parts, payload)
        });
        header[TAG_AT..].copy_from_slice(&tag.0);
        padding[..disk_len(len) - ENTRY_HEADER - len].fill(0);
        ahead.index += 1;
        self.ring.pass(&mut ahead.scout, &gathered);
        self.wads.to.store(gathered.to, SeqCst);
        self.stats.went_ahead(len as u64, disk_len(len) as u64);
        let files = Arc::clone(&ahead.files);
        let mut board = self.board.lock();
        self.end_wait(&mut board);
        self.called.store(false, SeqCst);
        self.refresh_idle(&board);
        let end = Lsn(gathered.to);
        Some(Entry { files, offset, len: disk_len(len), end, buffer })
    }

    /// Writes an entry and tells everybody. If a file refuses, the log goes on alone.
    pub(crate) fn run_ahead(&self, entry: Entry, lane: Option<usize>) {
        let begin = self.env.seam.clock.monotonic();
        let written = self.record_ahead().and_then(|()| self.write_entry(&entry));
        let took = self.env.seam.clock.monotonic().saturating_sub(begin);
        let Entry { end, buffer, .. } = entry;
        if let Err(error) = written {
            return self.stay_behind(buffer, &error);
        }
        let mut board = self.board.lock();
        board.ahead_ends(buffer);
        self.stats.flush_us.record(took.as_micros() as u64);
        board.company.wrote(took);
        if let Some(lane) = lane
            && board.in_flight() == 0
        {
            self.expect_company(&mut board, lane, end);
        }
        self.settled(board, Some(end));
    }

    fn write_entry(&self, entry: &Entry) -> Result<(), LogError> {
        let bytes = &entry.buffer[..entry.len];
        let files: Vec<&dyn File> = entry.files.iter().map(|one| one.file.as_ref()).collect();
        let together = match &files[..] {
            [_] => None,
            several => self.env.seam.disk.write_copies(several, entry.offset, &[bytes]),
        };
        let outcomes = together.unwrap_or_else(|| {
            files.iter().map(|file| file.write_at(bytes, entry.offset)).collect()
        });
        for (one, outcome) in entry.files.iter().zip(outcomes) {
            outcome.map_err(|error| LogError::io("write", &one.path, error))?;
        }
        Ok(())
    }

    /// Has it recorded, once, that the write-ahead data set may hold what the log lacks (4).
    fn record_ahead(&self) -> Result<(), LogError> {
        let mut recorded = self.wads.recorded.lock();
        if !*recorded && !planted(Plant::WadsUnrecorded) {
            let told = self.env.events.ahead(true);
            told.map_err(|why| LogError::NoWads { why })?;
            *recorded = true;
        }
        Ok(())
    }

    /// Nothing is written ahead any more; what would have been goes to the log at once.
    fn stay_behind(&self, buffer: AlignedBuf, error: &LogError) {
        *self.wads.trouble.lock() = Some(error.to_string());
        let mut sealer = self.sealer.lock();
        sealer.ahead = None;
        self.wads.to.store(0, SeqCst);
        self.wads.wanted.fetch_max(self.ring.next(), SeqCst);
        let mut board = self.board.lock();
        board.ahead_ends(buffer);
        board.set_ahead(false);
        drop(sealer);
        self.settled(board, None);
    }

    /// Waits until the log itself holds everything before `up_to`.
    pub(crate) fn land(&self, up_to: Lsn) -> Result<(), LogError> {
        self.wait_durable(up_to)?;
        if self.landed() >= up_to {
            return Ok(());
        }
        self.wads.wanted.fetch_max(up_to.0, SeqCst);
        let mut board = self.board.lock();
        while self.landed() < up_to {
            self.env.stop.check()?;
            if self.demand(&board) {
                self.nudge(&board);
            }
            self.wads.wake.wait_for(&mut board, LOOK);
        }
        Ok(())
    }

    /// Groups are durable up to `durable`.
    pub(crate) fn grown(&self, durable: Option<Lsn>) -> Option<Lsn> {
        let durable = durable.filter(|_| !self.env.stop.is_set())?;
        self.wads.landed.fetch_max(durable.0, SeqCst);
        if self.wads.wanted.load(SeqCst) > 0 {
            self.wads.wake.notify_all();
        }
        Some(durable)
    }
}

impl Ahead {
    pub(crate) fn files(&self) -> Arc<[WadsFile]> {
        Arc::clone(&self.files)
    }

    /// The group that entries are for, and how many there are.
    pub(crate) fn written(&self) -> (u64, u32) {
        (self.group, self.index)
    }

    /// Goes over to another key, with a salt under which nothing is sealed yet.
    pub(crate) fn renew(&mut self, key: Arc<WorkingKey>, generation: KeyGeneration, salt: Salt) {
        (self.key, self.generation, self.salt, self.counter) = (key, generation, salt, 0);
    }

    fn head(&self, core: &Core, len: usize, first: Lsn, before: Tag) -> EntryHead {
        EntryHead {
            format: core.config.format,
            system: core.env.system,
            generation: self.generation,
            payload_len: len as u32,
            salt: self.salt,
            counter: self.counter,
            first,
            group: GroupNumber(self.group),
            before,
            index: self.index,
            tag: Tag([0; 16]),
        }
    }
}

impl Log {
    /// Makes the write-ahead data set part of a log that was just opened: what it held is landed,
    /// then it begins anew. Returns what an operator should know if it cannot be used.
    pub(crate) fn go_ahead(&self, held: bool) -> Result<Option<String>, LogError> {
        let core = &self.core;
        core.land(self.next_lsn())?;
        let prepared = core.config.wads.as_ref().map(|wads| prepare(&core.env, wads));
        if held {
            // Not before what it held has landed; from here on it may be missing.
            self.ahead_is_over()?;
        }
        let files = match prepared {
            None => return Ok(None),
            Some(Err(error)) => {
                *core.wads.trouble.lock() = Some(error.to_string());
                return Ok(Some(format!("the write-ahead data set is not used: {error}")));
            }
            Some(Ok(files)) => files,
        };
        let (env, config) = (&core.env, &core.config);
        let blocks = config.wads.as_ref().map_or(0, |wads| wads.bytes / BLOCK as u64);
        let mut book = KeyBook::new(Arc::clone(&env.keys), &config.key_label, env.system);
        let salt = Salt::draw(env.seam.entropy.as_ref()).map_err(LogError::Entropy)?;
        let generation = book.current(config.format)?;
        let key = book.working(Purpose::Wads, config.format, generation, &salt)?;
        let mut sealer = core.sealer.lock();
        sealer.ahead = Some(Ahead {
            files: files.into(),
            key,
            generation,
            salt,
            counter: 0,
            scout: sealer.taker.scout(),
            group: sealer.next,
            index: 0,
            room: Room { blocks, next: 0, used: 0, entries: VecDeque::new() },
        });
        core.board.lock().set_ahead(true);
        Ok(None)
    }

    /// Waits until the log itself holds everything before `up_to`, not only the write-ahead data
    /// set: where there is none, that is [`Log::wait_durable`].
    ///
    /// # Errors
    /// As for [`Log::wait_durable`].
    pub fn land(&self, up_to: Lsn) -> Result<(), LogError> {
        self.core.land(up_to)
    }

    /// How far the log itself holds everything, durably. What is durable beyond is in the
    /// write-ahead data set.
    #[must_use]
    pub fn landed(&self) -> Lsn {
        self.core.landed()
    }

    /// The log holds everything that the write-ahead data set held.
    pub(crate) fn ahead_is_over(&self) -> Result<(), LogError> {
        let mut recorded = self.core.wads.recorded.lock();
        *recorded = false;
        let told = self.core.env.events.ahead(false);
        told.map_err(|why| LogError::NoWads { why })
    }

    /// Lands everything and writes nothing ahead any more.
    pub(crate) fn end_ahead(&self) -> Result<(), LogError> {
        let core = &self.core;
        core.land(self.next_lsn())?;
        core.sealer.lock().ahead = None;
        core.board.lock().set_ahead(false);
        if *core.wads.recorded.lock() { self.ahead_is_over() } else { Ok(()) }
    }
}

impl Why {
    /// Whether what has gathered up to `to` shall be sealed, when `covered` is already.
    pub(crate) fn wishes(self, core: &Core, covered: u64, to: u64) -> bool {
        match self {
            Why::Wanted => core.wanted.load(SeqCst) > covered,
            Why::Driven => to > covered,
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
        assert_eq!(room.place(3, 1), Some(0));
        assert_eq!(room.place(4, 1), Some(3 * block));
        assert_eq!(room.place(2, 2), None, "the first ones are still needed");
        room.free(GroupNumber(1));
        assert_eq!(room.place(1, 2), Some(7 * block));
        room.free(GroupNumber(2));
        assert_eq!(room.place(5, 2), Some(0));
        assert_eq!(room.place(3, 2), None, "one of the last two is in use");
        room.free(GroupNumber(3));
        assert_eq!(room.place(8, 3), None, "it would begin in the middle and end there");
        assert_eq!(room.place(4, 3), Some(0));
    }
}
