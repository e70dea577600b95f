//! Slots and the segments in them: where the next segment comes from, and how much room there is.
//!
//! Invariants:
//! 1. A thread of its own keeps one slot ready ahead, so that no group waits for files to be made.
//!    If that fails, the log stays as large as it is until there is room again (`watch.rs`):
//!    ordinary records find it full sooner, and undo still has the segment that has just begun.
//!    Undo reserves only what fits into slots that there are; if need be, more are made for it.
//! 2. Slots are made one at a time; whoever needs one waits for the one that is being made.
//! 3. Only undo gets slots beyond the configured number (K15).
//! 4. `limit` and `capacity` repeat what the directory says; they are changed under its lock.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use base::{GroupNumber, Lsn};
use seam::failpoint::{Failpoint, armed};
use seam::sync::{Condvar, Mutex};

use crate::directory::{Directory, ToArchive, early};
use crate::flush::Flush;
use crate::segment::{HeadSealer, SlotFiles, make_slot, sync_folders};
use crate::{LogConfig, LogError};

/// There must be room for so many segments before a full disk is tried again.
const ROOM_SEGMENTS: u64 = 4;

/// The segments of the log, and the room in them.
pub(crate) struct Slots {
    flush: Flush,
    pub(crate) directory: Mutex<Directory>,
    pub(crate) heads: HeadSealer,
    /// Held while a slot is being made.
    pub(crate) making: Mutex<()>,
    /// Called when a slot may have to be made ahead; waits under the directory's mutex.
    pub(crate) keeper_wake: Condvar,
    /// Where ordinary records and the reserve must end together.
    limit: AtomicU64,
    /// Bytes that all segments have that ordinary records may fill.
    capacity: AtomicU64,
    /// Bytes that undo has reserved.
    reserved: AtomicU64,
    /// Where that must end in the slots that there are.
    reserved_limit: AtomicU64,
    /// And from where on another one is made.
    reserved_early: AtomicU64,
    /// What keeps the archive from going on, as it has said itself.
    archive_trouble: Mutex<Option<String>>,
}

impl Deref for Slots {
    type Target = Flush;

    #[inline]
    fn deref(&self) -> &Flush {
        &self.flush
    }
}

impl Slots {
    /// Nothing is reserved.
    pub(crate) fn new(flush: Flush, directory: Directory, heads: HeadSealer) -> Slots {
        let slots = Slots {
            flush,
            heads,
            making: Mutex::new(()),
            keeper_wake: Condvar::new(),
            limit: AtomicU64::new(0),
            capacity: AtomicU64::new(0),
            reserved: AtomicU64::new(0),
            reserved_limit: AtomicU64::new(0),
            reserved_early: AtomicU64::new(0),
            archive_trouble: Mutex::new(None),
            directory: Mutex::new(directory),
        };
        {
            let directory = slots.directory.lock();
            slots.set_limit(&directory, slots.positions.taken());
            slots.set_capacity(&directory);
        }
        slots
    }

    /// The directory has changed, or the stream has been taken up to `taken`.
    pub(crate) fn set_limit(&self, directory: &Directory, taken: u64) {
        let layout = self.layout();
        self.limit.store(directory.limit(&layout, taken), SeqCst);
        let reserved_limit = directory.reserved_limit(&layout, taken);
        self.reserved_limit.store(reserved_limit, SeqCst);
        self.reserved_early.store(early(&layout, reserved_limit), SeqCst);
    }

    /// There are more slots, or none can be made, or the layout is another one.
    pub(crate) fn set_capacity(&self, directory: &Directory) {
        self.capacity.store(directory.capacity_bytes(&self.layout()), SeqCst);
    }

    /// Where ordinary records must end.
    #[inline]
    pub(crate) fn ordinary_limit(&self) -> u64 {
        self.limit.load(SeqCst).saturating_sub(self.reserved.load(SeqCst))
    }

    /// Bytes that ordinary records and undo may still take together.
    #[inline]
    pub(crate) fn free_bytes(&self) -> u64 {
        self.limit.load(SeqCst).saturating_sub(self.ring.next())
    }

    /// Bytes that undo has reserved.
    #[inline]
    pub(crate) fn reserved_bytes(&self) -> u64 {
        self.reserved.load(SeqCst)
    }

    /// Bytes that the log can have: less than it is made for, if its disk has no room for more.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity.load(SeqCst)
    }

    /// Keeps `bytes` of log for undo.
    pub(crate) fn keep(&self, bytes: u64) -> bool {
        let kept = self.reserved.fetch_update(SeqCst, SeqCst, |reserved| {
            let wanted = reserved.checked_add(bytes)?;
            let end = self.ring.next().checked_add(wanted)?;
            let limit = self.limit.load(SeqCst).min(self.reserved_limit.load(SeqCst));
            (end <= limit).then_some(wanted)
        });
        match kept {
            // Should the keeper be about to sleep, the next one calls it again.
            Ok(_) if self.reserved_end() > self.reserved_early.load(SeqCst) => {
                self.keeper_wake.notify_one();
            }
            // It would fit into a log with another slot.
            Err(reserved)
                if self.ring.next().saturating_add(reserved).saturating_add(bytes)
                    <= self.limit.load(SeqCst) =>
            {
                self.directory.lock().tries = true;
                self.keeper_wake.notify_one();
            }
            _ => {}
        }
        kept.is_ok()
    }

    /// Where what undo has reserved ends, if nothing else is logged; nowhere if it has nothing.
    fn reserved_end(&self) -> u64 {
        match self.reserved_bytes() {
            0 => 0,
            reserved => self.ring.next() + reserved,
        }
    }

    /// Whether a slot should be made ahead.
    fn wants_slot(&self, directory: &Directory) -> bool {
        directory.wants_slot(&self.layout(), self.positions.taken(), self.reserved_end())
    }

    /// Gives `bytes` of what was kept back.
    pub(crate) fn release(&self, bytes: u64) {
        let less = |reserved: u64| Some(reserved.saturating_sub(bytes));
        let _ = self.reserved.fetch_update(SeqCst, SeqCst, less);
    }

    #[cold]
    pub(crate) fn full(&self) -> LogError {
        self.stats.full.one();
        self.held_by_archive().unwrap_or_else(|| LogError::Full {
            used_bytes: self.directory.lock().used_bytes(&self.config),
            capacity_bytes: self.capacity_bytes(),
        })
    }

    /// What to say if the log is full: whether segments wait for the archive alone.
    pub(crate) fn held_by_archive(&self) -> Option<LogError> {
        let segments = self.directory.lock().held_by_archive();
        let why = || match self.archive_trouble.lock().clone() {
            Some(trouble) => trouble,
            None => "it is slower than the log".into(),
        };
        (segments > 0).then(|| LogError::ArchiveBehind { segments, why: why() })
    }

    /// What keeps the archive from going on; `None` if nothing.
    pub(crate) fn set_archive_trouble(&self, trouble: Option<String>) {
        *self.archive_trouble.lock() = trouble;
    }

    /// Everything before `needed` is no longer needed; every group before `archived` is archived.
    pub(crate) fn truncate(&self, needed: Option<Lsn>, archived: Option<GroupNumber>) {
        let mut directory = self.directory.lock();
        // What has not landed is needed, whatever the caller says; and the last byte that has, for
        // with it the header of the segment that restart begins with has landed. A segment before
        // one whose header a crash takes away would be walked in its place.
        let landed = Lsn(self.positions.landed().0.saturating_sub(1));
        if let Some(needed) = needed {
            directory.needed = directory.needed.max(needed.min(landed));
        }
        if let Some(archived) = archived {
            directory.archived = directory.archived.max(archived);
        }
        if directory.free_unneeded() {
            self.set_limit(&directory, self.positions.taken());
        }
    }

    /// The oldest groups of one segment that wait for the archive.
    pub(crate) fn to_archive(&self, partial: bool) -> Option<ToArchive> {
        let undurable = {
            let state = self.flush_state.lock();
            let all = armed(Failpoint::ArchivedUndurable);
            if all { GroupNumber(state.next) } else { state.undurable() }
        };
        self.directory.lock().unarchived(undurable, partial)
    }

    /// Keeps the segment of a group from being used again; its files, or `None` if it was freed
    /// already.
    pub(crate) fn hold(&self, number: GroupNumber) -> Option<Arc<SlotFiles>> {
        let mut directory = self.directory.lock();
        let (sequence, files) = {
            let segment = directory.holding(number)?;
            (segment.id.sequence, Arc::clone(&segment.files))
        };
        if !armed(Failpoint::RepairedUnheld) {
            directory.held = Some(sequence);
        }
        Some(files)
    }

    pub(crate) fn let_go(&self) {
        let mut directory = self.directory.lock();
        directory.held = None;
        if directory.free_unneeded() {
            self.set_limit(&directory, self.positions.taken());
        }
    }

    pub(crate) fn span_of(&self, number: GroupNumber) -> Option<(Lsn, Lsn)> {
        let directory = self.directory.lock();
        let first = |number: GroupNumber| {
            let segment = directory.holding(number)?;
            let index = (number.0 - segment.id.first_group.0) as usize;
            segment.groups.get(index).map(|group| group.first)
        };
        let begins = first(number)?;
        Some((begins, first(GroupNumber(number.0 + 1)).unwrap_or_else(|| self.positions.landed())))
    }

    /// A slot for the next segment: a free one, or a new one.
    pub(crate) fn obtain_slot(&self) -> Result<Arc<SlotFiles>, LogError> {
        let free = || self.directory.lock().free.pop_front();
        if let Some(files) = free() {
            return Ok(files);
        }
        let _making = self.making.lock();
        if let Some(files) = free() {
            return Ok(files);
        }
        let slot = self.directory.lock().slots;
        if slot >= self.config.segments_max.saturating_mul(2).saturating_add(2) {
            return Err(LogError::Full {
                used_bytes: self.directory.lock().used_bytes(&self.config),
                capacity_bytes: self.capacity_bytes(),
            });
        }
        if slot >= self.config.segments_max {
            self.stats.overflowed.one();
        }
        // One copy's disk may be full or gone; the other one carries on.
        let files = self.make(slot, |copy, error| self.lose(copy, &error))?;
        self.directory.lock().slots = slot + 1;
        Ok(Arc::new(files))
    }

    /// The body of the thread that makes slots ahead.
    pub(crate) fn keeper_loop(&self) {
        let mut directory = self.directory.lock();
        while !self.writers.are_closed() {
            if self.wants_slot(&directory) && !self.env.stop.is_set() {
                drop(directory);
                self.prepare_slot();
                directory = self.directory.lock();
            } else {
                self.keeper_wake.wait(&mut directory);
            }
        }
    }

    fn prepare_slot(&self) {
        let _making = self.making.lock();
        let (wanted, slot) = {
            let directory = self.directory.lock();
            (self.wants_slot(&directory), directory.slots)
        };
        if !wanted {
            return;
        }
        let made = self.make(slot, |copy, error| {
            // A full disk is no reason to lose a copy that is whole; a dying one is.
            if error.lacks_room() { Err(error) } else { self.lose(copy, &error) }
        });
        let mut directory = self.directory.lock();
        directory.tries = false;
        directory.stuck = made.is_err();
        match made {
            Ok(files) => {
                directory.slots = slot + 1;
                directory.free.push_back(Arc::new(files));
            }
            Err(_) => self.stats.growth_failed.one(),
        }
        self.set_capacity(&directory);
        self.set_limit(&directory, self.positions.taken());
    }

    /// Makes a slot's files on all living copies; `failed` decides about a copy that refuses.
    fn make(
        &self,
        slot: u32,
        failed: impl Fn(u8, LogError) -> Result<(), LogError>,
    ) -> Result<SlotFiles, LogError> {
        let mut files = SlotFiles::new(slot);
        let living: Vec<u8> = self.flush_state.lock().living().collect();
        // Whoever changes the layout makes slots as well, under the same lock.
        let layout = self.layout();
        for copy in living {
            let made = make_slot(&self.env, &layout, &self.heads, copy, slot, layout.stripes);
            let made = made.and_then(|made| {
                sync_folders(self.env.seam.disk.as_ref(), &layout, copy, false)?;
                Ok(made)
            });
            match made {
                Err(error) => failed(copy, error)?,
                Ok(made) => files = files.with(copy, &made),
            }
        }
        Ok(files)
    }

    pub(crate) fn look_for_room(&self) {
        let is_cramped =
            |directory: &Directory| directory.stuck && directory.slots < self.config.segments_max;
        if !is_cramped(&self.directory.lock()) {
            return;
        }
        let layout = self.layout();
        let living: Vec<u8> = self.flush_state.lock().living().collect();
        let folders: Vec<PathBuf> = living.iter().flat_map(|copy| layout.folders(*copy)).collect();
        if !folders.iter().all(|folder| self.has_room(&layout, &folders, folder)) {
            return;
        }
        let mut directory = self.directory.lock();
        directory.tries = is_cramped(&directory);
        drop(directory);
        self.keeper_wake.notify_all();
    }

    /// Whether the device of a folder has room for several segments of all that share it; yes, if
    /// it does not say.
    fn has_room(&self, layout: &LogConfig, folders: &[PathBuf], folder: &Path) -> bool {
        let disk = self.env.seam.disk.as_ref();
        let Ok(room) = disk.room(folder) else { return true };
        let shares =
            |other: &&PathBuf| disk.room(other).is_ok_and(|other| other.device == room.device);
        let sharing = folders.iter().filter(shares).count() as u64;
        let segment = layout.segment_bytes.saturating_mul(u64::from(layout.stripes));
        room.free_bytes >= segment.saturating_mul(sharing * ROOM_SEGMENTS)
    }
}
