//! The log as its callers see it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};

use base::{GroupNumber, Lsn, UowId};
use seal::Salt;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::ahead::WadsState;
use crate::core::{Core, Layout};
use crate::directory::{Directory, room_left};
use crate::flow::{Board, CopyState, LANE_DEPTH};
use crate::group::{KeyBook, Purpose};
use crate::read::{LogReader, ReadCache};
use crate::restore::{Restored, restore};
use crate::sealer::{Current, Sealer};
use crate::segment::{FileAt, HeadSealer, make_slot, sync_folders};
use crate::stats::Stats;
use crate::{
    AheadInfo, COPIES_MAX, CopyInfo, LogConfig, LogEnv, LogError, LogSpace, LogStart,
    LogStatistics, Opened, Origin, RecordHead, SealedGroups, SegmentInfo, ToArchive,
};
use log_ring::Ring;

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The position of its first byte.
    pub lsn: Lsn,
    /// The position behind its last byte: it is durable once the log is durable up to here.
    pub end: Lsn,
}

/// Somebody who is told that a position is durable.
pub trait DurableSink: Send + Sync {
    /// The position given with `token` is durable, or never will be. Called once for each
    /// registration, in the order of positions, by a thread that the device waits for: be brief,
    /// never block. It may append and register anew.
    fn durable(&self, token: u64, outcome: Result<(), &LogError>);

    /// No more are known to be durable for now: called by the same thread after the last of the
    /// calls that came together, sometimes also before it. The moment to wake whoever waits, once
    /// for many.
    fn told(&self) {}
}

/// A running log.
pub struct Log {
    pub(crate) core: Arc<Core>,
    pub(crate) threads: Mutex<Vec<JoinHandle>>,
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
            for slot in 0..config.segments_min {
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
        let core = Arc::new(build(env, config, &start, heads, ring, sealer, restored, book));
        core.refresh_idle(&core.board.lock());
        let threads = start_threads(&core)?;
        let log = Arc::new(Log { core, threads: Mutex::new(threads) });
        opened.notes.extend(log.go_ahead(start.ahead)?);
        let shared = log.core.layout().shared_folder(log.core.env.seam.disk.as_ref());
        opened.notes.extend(
            shared.map(|why| format!("{why}: without that folder both copies of the log are lost")),
        );
        opened.next_group = GroupNumber(log.core.board.lock().next);
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
        self.core.append((kind, flags, uow, previous), body, false)
    }

    /// The same for undo: draws on what [`Log::reserve`] has kept, and never finds the log full.
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
        self.core.append((kind, flags, uow, previous), body, true)
    }

    /// Keeps `bytes` of records for undo (K15). `false` if the log has no room for them: then the
    /// update that they would undo must not be made.
    #[must_use]
    pub fn reserve(&self, bytes: u64) -> bool {
        self.core.keep(bytes)
    }

    /// Gives back what was reserved and not used.
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
        self.core.durable()
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

    /// The oldest groups that wait to be archived: those of one full segment, or with `partial`
    /// also what the current one has so far. `None` if nothing waits, or if there is no archive.
    #[must_use]
    pub fn to_archive(&self, partial: bool) -> Option<ToArchive> {
        self.core.to_archive(partial)
    }

    /// Reads sealed groups, from `from` and before `to`, as far as they are durable.
    #[must_use]
    pub fn sealed(&self, from: GroupNumber, to: GroupNumber) -> SealedGroups {
        SealedGroups::new(Arc::clone(&self.core), from, to)
    }

    /// What keeps the archive from going on, for errors that follow from it; `None` if nothing.
    pub fn set_archive_trouble(&self, trouble: Option<String>) {
        *self.core.archive_trouble.lock() = trouble;
    }

    /// The error to give to whoever waits for room, if full segments wait for the archive alone.
    #[must_use]
    pub fn held_by_archive(&self) -> Option<LogError> {
        self.core.held_by_archive()
    }

    /// How much room there is.
    #[must_use]
    pub fn space(&self) -> LogSpace {
        let reserved_bytes = self.core.reserved.load(SeqCst);
        let next = self.core.ring.next();
        let free = self.core.limit.load(SeqCst).saturating_sub(next);
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
        let free = self.core.limit.load(SeqCst).saturating_sub(self.core.ring.next());
        free.saturating_sub(self.core.reserved.load(SeqCst))
    }

    /// What [`LogSpace::capacity_bytes`] says, without a latch.
    #[inline]
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.core.capacity_bytes()
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
            let board = self.core.board.lock();
            (board.copies().to_vec(), board.in_flight() as u64)
        };
        let troubles = self.core.troubles.lock().clone();
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
            reserved_bytes: self.core.reserved.load(SeqCst),
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
        let drained = self.wait_durable(self.next_lsn()).and_then(|()| self.end_ahead());
        self.end_threads();
        let threads = std::mem::take(&mut *self.threads.lock());
        threads.into_iter().for_each(JoinHandle::join);
        drained
    }

    fn end_threads(&self) {
        // Under the lock, so that no writer is just between its look and its sleep.
        let board = self.core.board.lock();
        self.core.closed.store(true, SeqCst);
        drop(board);
        self.core.lanes.iter().for_each(Condvar::notify_all);
        drop(self.core.directory.lock());
        self.core.keeper_wake.notify_all();
        self.core.archive_wake.notify_all();
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
        self.core.closed.store(true, SeqCst);
        self.core.lanes.iter().for_each(Condvar::notify_all);
        self.core.keeper_wake.notify_all();
    }
}

#[allow(clippy::too_many_arguments)] // the parts of one thing, put together once
fn build(
    env: LogEnv,
    config: LogConfig,
    start: &LogStart,
    heads: HeadSealer,
    ring: Ring,
    mut sealer: Sealer,
    restored: Restored,
    book: KeyBook,
) -> Core {
    let end = restored.end.0;
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
    let board = Board::new(&config, restored.next.0, restored.copies, archives);
    Core {
        payload_max: config.payload_max(),
        record_max: config.record_bytes_max() as u64,
        ring,
        salts: Mutex::new(vec![sealer.salt]),
        first_of_run: restored.next,
        taken: AtomicU64::new(end),
        durable: AtomicU64::new(end),
        wanted: AtomicU64::new(end),
        wads: WadsState::new(end, start.ahead),
        enough: AtomicU64::new(u64::MAX),
        limit: AtomicU64::new(directory.limit(&config, end)),
        capacity: AtomicU64::new(directory.capacity_bytes(&config)),
        reserved: AtomicU64::new(0),
        idle: AtomicBool::new(true),
        ahead: AtomicBool::new(true),
        called: AtomicBool::new(false),
        together: AtomicBool::new(true),
        turns: AtomicBool::new(false),
        closed: AtomicBool::new(false),
        ring_waiters: AtomicU32::new(0),
        sealer: Mutex::new(sealer),
        directory: Mutex::new(directory),
        keeper_wake: Condvar::new(),
        archive_wake: Condvar::new(),
        archive_trouble: Mutex::new(None),
        troubles: Mutex::new(vec![None; config.copies.len()]),
        making: Mutex::new(()),
        mending: Mutex::new(()),
        resyncing: Mutex::new(()),
        laned: Mutex::new(0),
        lanes: board.lanes().map(|_| Condvar::new()).collect(),
        layout: Layout::new(&config),
        board: Mutex::new(board),
        ring_room: Condvar::new(),
        parkers: Mutex::new(Vec::new()),
        read_cache: Mutex::new(ReadCache::new(book, config.group_bytes_max)),
        heads,
        stats: Stats::default(),
        env,
        config,
    }
}

/// The threads for each lane of a living copy, and the one that makes slots.
fn start_threads(core: &Arc<Core>) -> Result<Vec<JoinHandle>, LogError> {
    let keeper = Arc::clone(core);
    let started = seam::thread::spawn("log keeper", move || keeper.keeper_loop());
    let mut threads = vec![started.map_err(LogError::Thread)?];
    let living: Vec<u8> = core.board.lock().living().collect();
    start_lanes(core, core.config.stripes, &living, 0, &mut threads)?;
    Ok(threads)
}

/// Starts the threads of so many stripes' lanes on some copies, but for those in `known`.
pub(crate) fn start_lanes(
    core: &Arc<Core>,
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
            *core.laned.lock() |= bit;
        }
    }
    Ok(())
}
