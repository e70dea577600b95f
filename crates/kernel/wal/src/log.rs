//! The log as its callers see it.

use std::sync::Arc;

use base::{GroupNumber, Lsn, UowId};
use log_ring::Ring;
use seal::Salt;
use seam::sync::Mutex;
use seam::thread::JoinHandle;

use crate::append::Append;
use crate::config::LANE_DEPTH;
use crate::directory::{Directory, room_left};
use crate::flush::{Begun, Flush};
use crate::flush_state::{CopyState, FlushState};
use crate::group::{KeyBook, Purpose};
use crate::read::{LogReader, Reading};
use crate::record::NewRecord;
use crate::restore::{Restored, restore};
use crate::sealer::{Current, Sealer, Sealing};
use crate::segment::{FileAt, HeadSealer, make_slot, sync_folders};
use crate::slots::Slots;
use crate::writer::Writing;
use crate::{
    AheadInfo, COPIES_MAX, CopyInfo, DurableSink, LogConfig, LogEnd, LogEnv, LogError, LogSpace,
    LogStart, LogStatistics, Opened, Origin, Place, RecordHead, SegmentInfo,
};

/// A running log.
pub struct Log {
    pub(crate) core: Arc<Reading>,
    pub(crate) threads: Mutex<Vec<JoinHandle>>,
    /// Held while damaged groups are written again.
    pub(crate) repairing: Mutex<()>,
    /// Held while a lost copy is brought back, or stripes are changed.
    pub(crate) resyncing: Mutex<()>,
}

impl Log {
    /// Makes the files of a new log, empty.
    ///
    /// # Errors
    /// [`LogError::Exists`] if a folder holds segments already; otherwise whatever the disk says.
    pub fn create(env: &LogEnv, config: &LogConfig) -> Result<(), LogError> {
        Log::create_at(env, config, &Origin::NEW)
    }

    /// The same for a log that goes on from archives: its first segment's header says where.
    /// Until something is durable in it, it is opened with [`LogStart::from`] at its origin.
    ///
    /// # Errors
    /// As for [`Log::create`].
    pub fn create_at(env: &LogEnv, config: &LogConfig, origin: &Origin) -> Result<(), LogError> {
        config.check()?;
        let disk = env.seam.disk.as_ref();
        if let Some(why) = config.shared_folder(disk) {
            return Err(LogError::Config { why });
        }
        for dir in (0..config.copies.len() as u8).flat_map(|copy| config.folders(copy)) {
            disk.create_dir(&dir).map_err(|error| LogError::io("make", &dir, error))?;
            let names = disk.list(&dir).map_err(|error| LogError::io("list", &dir, error))?;
            if let Some(name) = names.iter().find(|name| FileAt::parse(name).is_some()) {
                return Err(LogError::Exists { path: dir.join(name) });
            }
        }
        let mut book = KeyBook::new(Arc::clone(&env.keys), &config.key_label, env.system);
        let salt = Salt::draw(env.seam.entropy.as_ref()).map_err(LogError::Entropy)?;
        let generation = book.current(config.format)?;
        let heads = HeadSealer::new(&mut book, config.format, generation, salt)?;
        for copy in 0..config.copies.len() as u8 {
            for slot in 0..config.slots_at_once() {
                let files = make_slot(env, config, &heads, copy, slot, config.stripes)?;
                if slot == 0 && *origin != Origin::NEW {
                    heads.begin(config, origin, copy, &files)?;
                }
            }
            sync_folders(disk, config, copy, true)?;
        }
        Ok(())
    }

    /// Opens a log: finds its end, makes its copies alike, and gets ready to go on with a salt of
    /// its own.
    ///
    /// # Errors
    /// [`LogError::Damaged`], [`LogError::RolledBack`], [`LogError::Stale`] if the log may not be
    /// believed; [`LogError::Missing`], [`LogError::Foreign`], [`LogError::Mismatch`],
    /// [`LogError::FutureVersion`] if it is another log; otherwise whatever disk and keys say.
    pub fn open(
        env: LogEnv,
        config: LogConfig,
        start: LogStart,
    ) -> Result<(Arc<Log>, Opened), LogError> {
        config.check()?;
        env.stop.check()?;
        let mut book = KeyBook::new(Arc::clone(&env.keys), &config.key_label, env.system);
        let salt = Salt::draw(env.seam.entropy.as_ref()).map_err(LogError::Entropy)?;
        let generation = book.current(config.format)?;
        let heads = HeadSealer::new(&mut book, config.format, generation, salt)?;
        let mut restored = restore(&env, &config, &mut book, &heads, &start)?;
        for (copy, from, why) in std::mem::take(&mut restored.lost) {
            let recorded = env.events.copy_lost(copy, from, &why);
            recorded.map_err(|why| LogError::Unrecorded { copy: copy + 1, why })?;
        }
        let mut opened = Opened {
            end: restored.end.plus(restored.ahead.bytes.len() as u64),
            next_group: restored.next,
            repaired: restored.repaired,
            single: restored.copies.contains(&CopyState::Lost),
            notes: std::mem::take(&mut restored.notes),
        };
        let key = book.working(Purpose::Group, config.format, generation, &salt)?;
        let (mut ring, mut taker) = Ring::new(config.ring_bytes, restored.end.0);
        let ahead = std::mem::take(&mut restored.ahead);
        ring.preload(&mut taker, &ahead.bytes, ahead.begins);
        let sealer = Sealer {
            taker,
            key,
            format: config.format,
            generation,
            salt,
            first_of_salt: true,
            renewal: None,
            next: restored.next.0,
            previous: restored.previous,
            current: None,
            stripes: config.stripes,
            sequence: restored.sequence,
            ahead: None,
        };
        let parts = Parts { heads, ring, sealer, restored, book };
        let core = Arc::new(build(env, config, &start, parts));
        core.refresh_writers(&core.flush_state.lock());
        let threads = start_threads(&core)?;
        let log = Arc::new(Log {
            core,
            threads: Mutex::new(threads),
            repairing: Mutex::new(()),
            resyncing: Mutex::new(()),
        });
        opened.notes.extend(log.core.go_ahead(start.ahead.is_some())?);
        let shared = log.core.layout().shared_folder(log.core.env.seam.disk.as_ref());
        opened.notes.extend(
            shared.map(|why| format!("{why}: without that folder both copies of the log are lost")),
        );
        opened.next_group = GroupNumber(log.core.flush_state.lock().next);
        Ok((log, opened))
    }

    /// Appends a record: about 300 bytes, no allocation, no lock held while copying. It is durable
    /// once the log is durable up to the returned place's end.
    ///
    /// # Errors
    /// [`LogError::Full`] if what is left is kept for backout, [`LogError::RecordTooLong`],
    /// [`LogError::Stopped`].
    #[inline]
    pub fn append(
        &self,
        kind: u8,
        flags: u8,
        uow: UowId,
        previous: Lsn,
        body: &[&[u8]],
    ) -> Result<Place, LogError> {
        self.core.append(NewRecord { kind, flags, uow, previous }, body, false)
    }

    /// The same for undo and for the kernel itself: never finds the log full. It gives back nothing
    /// of what [`Log::reserve`] has kept: whoever has reserved room for this record does.
    ///
    /// # Errors
    /// [`LogError::RecordTooLong`], [`LogError::Stopped`].
    pub fn append_reserved(
        &self,
        kind: u8,
        flags: u8,
        uow: UowId,
        previous: Lsn,
        body: &[&[u8]],
    ) -> Result<Place, LogError> {
        self.core.append(NewRecord { kind, flags, uow, previous }, body, true)
    }

    /// Keeps `bytes` of records for undo (K15). `false` if the log has no room for them, or not
    /// before its next segment is made: then the update that they would undo must not be made.
    #[must_use]
    pub fn reserve(&self, bytes: u64) -> bool {
        self.core.keep(bytes)
    }

    /// Gives back what was reserved: it is not needed, or what it was for is logged.
    pub fn release(&self, bytes: u64) {
        self.core.release(bytes);
    }

    /// Where the next record will begin.
    #[inline]
    #[must_use]
    pub fn next_lsn(&self) -> Lsn {
        Lsn(self.core.ring.next())
    }

    /// How far the log is durable, on all copies that are not lost.
    #[inline]
    #[must_use]
    pub fn durable(&self) -> Lsn {
        self.core.positions.durable()
    }

    /// Waits until the log is durable up to `up_to`. If nobody is writing, the caller does.
    ///
    /// # Errors
    /// [`LogError::Stopped`]; [`LogError::Beyond`] if no such position has been handed out.
    pub fn wait_durable(&self, up_to: Lsn) -> Result<(), LogError> {
        self.core.wait_durable(up_to)
    }

    /// Has `sink` told when the log is durable up to `up_to`; calls a writer if none is at it.
    /// May call `sink` before it returns.
    pub fn when_durable(&self, up_to: Lsn, sink: &Arc<dyn DurableSink>, token: u64) {
        self.core.when_durable(up_to, sink, token, true);
    }

    /// The same without calling a writer: the caller promises to call [`Log::drive`] before it
    /// rests.
    pub fn when_driven(&self, up_to: Lsn, sink: &Arc<dyn DurableSink>, token: u64) {
        self.core.when_durable(up_to, sink, token, false);
    }

    /// Inline mode: a thread that has nothing else to do seals and writes what has gathered, and
    /// says whether it has. If somebody else is writing, that one will go on with it.
    pub fn drive(&self) -> bool {
        self.core.drive()
    }

    /// Waits until the log itself holds everything before `up_to`, not only the write-ahead data
    /// set: where there is none, that is [`Log::wait_durable`].
    ///
    /// # Errors
    /// As for [`Log::wait_durable`].
    pub fn land(&self, up_to: Lsn) -> Result<(), LogError> {
        self.core.land(up_to)
    }

    /// Where the log ends now. It is where it ends for good if everything has landed, and nobody
    /// appends any more.
    #[must_use]
    pub fn last_group(&self) -> LogEnd {
        let sealer = self.core.sealer.lock();
        LogEnd { next: GroupNumber(sealer.next), last: sealer.previous }
    }

    /// How far the log itself holds everything, durably. What is durable beyond is in the
    /// write-ahead data set.
    #[must_use]
    pub fn landed(&self) -> Lsn {
        self.core.positions.landed()
    }

    /// Reads the durable records that begin at `from` or behind and before `to`. `from` must be
    /// where a record begins.
    #[must_use]
    pub fn read(&self, from: Lsn, to: Lsn) -> LogReader {
        // A log that has stopped is read as far as it has landed.
        let _ = self.core.land(to.min(self.durable()));
        LogReader::new(Arc::clone(&self.core), from, to)
    }

    /// Reads one record, forcing the log if need be; its body replaces what is in `out`.
    ///
    /// # Errors
    /// [`LogError::Gone`], [`LogError::Beyond`], [`LogError::NotARecord`], [`LogError::Damaged`].
    pub fn read_record(&self, lsn: Lsn, out: &mut Vec<u8>) -> Result<RecordHead, LogError> {
        self.core.read_record(lsn, out)
    }

    /// Restart will not read anything before `needed_from`: segments before it may be used again.
    /// Never goes back.
    pub fn truncate(&self, needed_from: Lsn) {
        self.core.truncate(Some(needed_from), None);
    }

    /// Every group before `archived` is archived, durably on all that shall have it: segments
    /// before it may be used again. Never goes back.
    pub fn archived(&self, archived: GroupNumber) {
        self.core.truncate(None, Some(archived));
    }

    /// What keeps the archive from going on, for errors that follow from it; `None` if nothing.
    pub fn set_archive_trouble(&self, trouble: Option<String>) {
        self.core.set_archive_trouble(trouble);
    }

    /// The error to give to whoever waits for room, if full segments wait for the archive alone.
    #[must_use]
    pub fn held_by_archive(&self) -> Option<LogError> {
        self.core.held_by_archive()
    }

    /// How much room there is.
    #[must_use]
    pub fn space(&self) -> LogSpace {
        let reserved_bytes = self.core.reserved_bytes();
        let free = self.core.free_bytes();
        let (used_bytes, unarchived_bytes) = {
            let directory = self.core.directory.lock();
            let config = &self.core.config;
            (directory.used_bytes(config), directory.unarchived_bytes(config))
        };
        LogSpace {
            capacity_bytes: self.core.capacity_bytes(),
            used_bytes,
            unarchived_bytes,
            ordinary_bytes: free.saturating_sub(reserved_bytes),
            reserved_bytes,
        }
    }

    /// Bytes that ordinary records may still take: what [`LogSpace::ordinary_bytes`] says, without
    /// a latch, for the hot path.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u64 {
        self.core.free_bytes().saturating_sub(self.core.reserved_bytes())
    }

    /// Bytes that ordinary records and what undo has reserved may take together.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.core.free_bytes()
    }

    /// What [`LogSpace::capacity_bytes`] says, without a latch.
    #[inline]
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.core.capacity_bytes()
    }

    /// Up to where nobody may need the log before its oldest segment is used again; `None` while
    /// it has too few of them.
    #[must_use]
    pub fn first_relief(&self) -> Option<Lsn> {
        self.core.directory.lock().first_relief()
    }

    /// Bytes on disk that cannot be used again as long as the log is needed from `lsn` on.
    #[must_use]
    pub fn area_from(&self, lsn: Lsn) -> u64 {
        self.core.directory.lock().area_from(&self.core.config, lsn)
    }

    /// What it would be if the disk had room for all segments.
    #[must_use]
    pub fn capacity_bytes_max(&self) -> u64 {
        let layout = self.core.layout();
        u64::from(layout.segments_max) * layout.segment_area(layout.stripes)
    }

    /// The segments in use, oldest first.
    #[must_use]
    pub fn segments(&self) -> Vec<SegmentInfo> {
        self.core.directory.lock().list()
    }

    /// The oldest position that can be read; [`Lsn::NONE`] if nothing was logged yet.
    #[must_use]
    pub fn oldest(&self) -> Lsn {
        self.segments().first().map_or(Lsn::NONE, |oldest| oldest.first)
    }

    /// What the log has counted since it was opened.
    #[must_use]
    pub fn statistics(&self) -> LogStatistics {
        let stats = &self.core.stats;
        let (states, in_flight) = {
            let state = self.core.flush_state.lock();
            (state.copies().to_vec(), state.in_flight() as u64)
        };
        let troubles = self.core.troubles();
        let copy = |(copy, state): (u8, CopyState)| CopyInfo {
            path: self.core.config.folder(copy),
            living: state == CopyState::Living,
            trouble: troubles.get(usize::from(copy)).cloned().flatten(),
        };
        let cramped = {
            let directory = self.core.directory.lock();
            directory.stuck && directory.slots < self.core.config.segments_max
        };
        LogStatistics {
            groups: stats.groups.get(),
            bytes: stats.bytes.get(),
            padding_bytes: stats.disk_bytes.get() - stats.bytes.get(),
            flush_us: stats.flush_us.quantiles(),
            group_bytes: stats.group_bytes.quantiles(),
            waits: stats.waits.get(),
            ring_waits: stats.ring_waits.get(),
            full: stats.full.get(),
            overflow_segments: stats.overflowed.get(),
            growth_failed: stats.growth_failed.get(),
            cramped,
            serial_ns: stats.reserve_ns_estimate(),
            serial_samples: stats.reserve_samples(),
            reserved_bytes: self.core.reserved_bytes(),
            copies: (0..).zip(states).map(copy).collect(),
            ahead: self.core.config.wads.as_ref().map(|wads| AheadInfo {
                paths: wads.paths().collect(),
                entries: stats.entries.get(),
                bytes: stats.ahead_bytes.get(),
                trouble: self.core.wads.trouble.lock().clone(),
            }),
            in_flight,
            segments: self.segments(),
        }
    }

    /// Tells everybody who waits that the kernel has stopped, if it has. For whoever notices: a
    /// stop for a reason outside of the log wakes nobody here by itself.
    pub fn wake_stopped(&self) {
        self.core.wake_stopped();
    }

    /// Makes everything durable and ends the log's threads.
    ///
    /// # Errors
    /// [`LogError::Stopped`] if the kernel has stopped; the threads have ended all the same.
    pub fn close(&self) -> Result<(), LogError> {
        let drained = self.wait_durable(self.next_lsn()).and_then(|()| self.core.end_ahead());
        self.end_threads();
        let threads = std::mem::take(&mut *self.threads.lock());
        threads.into_iter().for_each(JoinHandle::join);
        drained
    }

    fn end_threads(&self) {
        // Under the lock, so that no writer is just between its look and its sleep.
        let state = self.core.flush_state.lock();
        self.core.writers.close();
        drop(state);
        self.core.writers.wake_all();
        drop(self.core.directory.lock());
        self.core.keeper_wake.notify_all();
        self.core.writers.wake_archiver();
    }
}

impl Drop for Log {
    /// Lets the threads end. What was not waited for may be lost, as in a crash.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return self.end_threads();
        }
        // The lock may be held by somebody who waits for this thread, so it goes without: a
        // writer that misses the call sleeps on.
        self.core.writers.close();
        self.core.writers.wake_all();
        self.core.keeper_wake.notify_all();
    }
}

/// Puts the layers of a running log one upon the other.
fn build(env: LogEnv, config: LogConfig, start: &LogStart, parts: Parts) -> Reading {
    let Parts { heads, ring, mut sealer, restored, book } = parts;
    let of_current = |current: &Current| {
        (current.offsets.iter().sum::<u64>(), room_left(&config, &current.offsets))
    };
    let (current_used, current_room) = restored.current.as_ref().map_or((0, 0), of_current);
    sealer.current = restored.current;
    let mut directory = Directory::new(start, restored.segments, restored.free, restored.slots);
    (directory.current_used, directory.current_room) = (current_used, current_room);
    directory.walked_before = usize::from(config.wads.is_some());
    directory.free_unneeded();
    let archives = start.archived != LogStart::NO_ARCHIVE;
    let state = FlushState::new(&config, restored.next.0, restored.copies, archives);
    let begun = Begun { ring, state, end: restored.end, ahead: start.ahead.is_some() };
    let flush = Flush::new(env, config, begun);
    let slots = Slots::new(flush, directory, heads);
    let writing = Writing::new(Sealing::new(Append::new(slots), sealer));
    Reading::new(writing, book)
}

/// What a running log is made of.
struct Parts {
    heads: HeadSealer,
    ring: Ring,
    sealer: Sealer,
    restored: Restored,
    book: KeyBook,
}

/// The threads for each lane of a living copy, and the one that makes slots.
fn start_threads(core: &Arc<Reading>) -> Result<Vec<JoinHandle>, LogError> {
    let keeper = Arc::clone(core);
    let started = seam::thread::spawn("log keeper", move || keeper.keeper_loop());
    let mut threads = vec![started.map_err(LogError::Thread)?];
    let living: Vec<u8> = core.flush_state.lock().living().collect();
    start_lanes(core, core.config.stripes, &living, 0, &mut threads)?;
    Ok(threads)
}

/// Starts the threads of so many stripes' lanes on some copies, but for those in `known`.
pub(crate) fn start_lanes(
    core: &Arc<Reading>,
    stripes: u8,
    copies: &[u8],
    known: u16,
    threads: &mut Vec<JoinHandle>,
) -> Result<(), LogError> {
    for stripe in 0..stripes {
        for copy in copies.iter().copied() {
            let bit = 1 << (usize::from(stripe) * COPIES_MAX + usize::from(copy));
            if known & bit != 0 {
                continue;
            }
            for _ in 0..LANE_DEPTH {
                let lane = Arc::clone(core);
                let name = format!("log {}.{stripe}", copy + 1);
                let started = seam::thread::spawn(&name, move || lane.lane_loop(stripe, copy));
                threads.push(started.map_err(LogError::Thread)?);
            }
            core.writers.add_lane(bit);
        }
    }
    Ok(())
}
