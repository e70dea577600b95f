//! The running log: what appenders, the sealer and the writers share.
//!
//! Invariants:
//! 1. `landed <= durable <= max(taken, ahead) <= next`; `landed <= taken`. All but `ahead` only
//!    grow; without a write-ahead data set it is 0, and `landed` is `durable`.
//! 2. Whoever wants a position durable raises `wanted` first and looks for a writer second; whoever
//!    publishes a record looks at `wanted` after, and calls. A writer that finds a record which is
//!    not whole looks again after [`HOLE_POLL`], for that call may be missed (see the ring).
//! 3. `idle` and `ahead` repeat what the board says; they are changed under its lock and only
//!    spare others from taking it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Duration;

use base::{GroupNumber, Lsn, UowId};
use seal::Salt;
use seam::sync::{Condvar, Mutex};

use crate::ahead::WadsState;
use crate::directory::Directory;
use crate::flow::{Board, Parker, Waiting};
use crate::read::ReadCache;
use crate::record::{self, RECORD_HEADER};
use crate::sealer::{Sealer, Why};
use crate::segment::HeadSealer;
use crate::stats::Stats;
use crate::{DurableSink, LogConfig, LogEnv, LogError, Place};
use log_ring::{Claim, Reserved, Ring};

/// How the log is laid out: as it was opened, or by now.
pub(crate) struct Layout {
    opened: Arc<LogConfig>,
    /// It is another one by now; spares everybody else the lock.
    changed: AtomicBool,
    now: Mutex<Arc<LogConfig>>,
}

impl Layout {
    pub(crate) fn new(config: &LogConfig) -> Layout {
        let opened = Arc::new(config.clone());
        let now = Mutex::new(Arc::clone(&opened));
        Layout { opened, changed: AtomicBool::new(false), now }
    }

    /// It is this one from now on.
    pub(crate) fn change(&self, layout: LogConfig) {
        *self.now.lock() = Arc::new(layout);
        self.changed.store(true, SeqCst);
    }
}

/// The running log.
pub(crate) struct Core {
    pub(crate) env: LogEnv,
    /// As it was opened; `layout` is how it is laid out by now.
    pub(crate) config: LogConfig,
    /// The same with the stripes of the next segment, and all folders there are.
    pub(crate) layout: Layout,
    pub(crate) payload_max: usize,
    pub(crate) record_max: u64,
    pub(crate) ring: Ring,
    /// The salts of this run, and the first group that is sealed under one of them.
    pub(crate) salts: Mutex<Vec<Salt>>,
    pub(crate) first_of_run: GroupNumber,
    /// Everything before has been sealed.
    pub(crate) taken: AtomicU64,
    /// Everything before is on all living copies.
    pub(crate) durable: AtomicU64,
    /// Somebody waits for everything before.
    pub(crate) wanted: AtomicU64,
    /// What is only in the write-ahead data set, and what is in the log itself.
    pub(crate) wads: WadsState,
    /// A group that waits for company waits no longer once the log ends here.
    pub(crate) enough: AtomicU64,
    /// Where ordinary records and the reserve must end together.
    pub(crate) limit: AtomicU64,
    /// Bytes that all segments have that ordinary records may fill.
    pub(crate) capacity: AtomicU64,
    /// Bytes that undo has reserved.
    pub(crate) reserved: AtomicU64,
    pub(crate) idle: AtomicBool,
    pub(crate) ahead: AtomicBool,
    /// A writer has been called and has not answered yet; spares the second call.
    pub(crate) called: AtomicBool,
    /// All copies of a group are written by one thread: the disk has not refused so far.
    pub(crate) together: AtomicBool,
    /// The next group begins a segment, whether or not the current one has room.
    pub(crate) turns: AtomicBool,
    /// The writers are to end.
    pub(crate) closed: AtomicBool,
    pub(crate) ring_waiters: AtomicU32,
    pub(crate) sealer: Mutex<Sealer>,
    pub(crate) directory: Mutex<Directory>,
    /// Called when a slot may have to be made ahead; waits under the directory's mutex.
    pub(crate) keeper_wake: Condvar,
    /// Called when there is something to archive; waits under the board's mutex.
    pub(crate) archive_wake: Condvar,
    /// What keeps the archive from going on, as it has said itself.
    pub(crate) archive_trouble: Mutex<Option<String>>,
    /// What is wrong with each copy.
    pub(crate) troubles: Mutex<Vec<Option<String>>>,
    /// Held while a slot is being made.
    pub(crate) making: Mutex<()>,
    /// Held while damaged groups are written again.
    pub(crate) mending: Mutex<()>,
    /// Held while a lost copy is brought back.
    pub(crate) resyncing: Mutex<()>,
    /// Lanes that have threads, a bit for each.
    pub(crate) laned: Mutex<u16>,
    pub(crate) board: Mutex<Board>,
    /// One for each lane; waits under the board's mutex.
    pub(crate) lanes: Vec<Condvar>,
    /// Room in the ring; waits under the board's mutex.
    pub(crate) ring_room: Condvar,
    pub(crate) parkers: Mutex<Vec<Arc<Parker>>>,
    pub(crate) read_cache: Mutex<ReadCache>,
    pub(crate) heads: HeadSealer,
    pub(crate) stats: Stats,
}

/// How soon a writer looks again at a record that was reserved and is not whole: its appender has
/// lost its processor between two instructions.
pub(crate) const HOLE_POLL: Duration = Duration::from_micros(50);

/// Threads that wait for the log and keep their parking place.
const PARKERS_KEPT: usize = 256;

impl Core {
    /// How the log is laid out by now.
    pub(crate) fn layout(&self) -> Arc<LogConfig> {
        match self.layout.changed.load(SeqCst) {
            true => Arc::clone(&self.layout.now.lock()),
            false => Arc::clone(&self.layout.opened),
        }
    }

    pub(crate) fn durable(&self) -> Lsn {
        Lsn(self.durable.load(SeqCst))
    }

    /// Bytes that the log can have: less than it is made for, if its disk has no room for more.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity.load(SeqCst)
    }

    pub(crate) fn refresh_idle(&self, board: &Board) {
        let idle = board.admits(false) && !board.company.is_expected(self.ring.next());
        self.idle.store(idle, SeqCst);
        self.ahead.store(board.admits(true), SeqCst);
    }

    /// Appends one record. `undo` records may use what is kept for backout.
    #[inline]
    pub(crate) fn append(
        &self,
        head: (u8, u8, UowId, Lsn),
        body: &[&[u8]],
        undo: bool,
    ) -> Result<Place, LogError> {
        let len = body.iter().fold(RECORD_HEADER as u64, |sum, part| sum + part.len() as u64);
        if len > self.record_max {
            return Err(LogError::RecordTooLong { bytes: len, bytes_max: self.record_max });
        }
        seam::thread::point();
        let mut claim = self.reserve(len, undo)?;
        seam::thread::point();
        let (kind, flags, uow, previous) = head;
        let place = Place { lsn: Lsn(claim.start()), end: Lsn(claim.end()) };
        debug_assert!(previous < place.lsn, "a record's predecessor stands before it");
        claim.fill(&record::encode(len as u32, kind, flags, uow, previous));
        body.iter().for_each(|part| claim.fill(part));
        claim.publish();
        let full = place.end.0 >= self.taken.load(SeqCst) + self.payload_max as u64
            && self.ahead.load(SeqCst)
            && !self.called.load(SeqCst);
        let enough = place.end.0 >= self.enough.load(SeqCst);
        if full || enough || self.wanted.load(SeqCst) > place.lsn.0 {
            self.kick();
        }
        Ok(place)
    }

    #[inline]
    fn reserve(&self, len: u64, undo: bool) -> Result<Claim<'_>, LogError> {
        loop {
            if self.env.stop.is_set() {
                self.env.stop.check()?;
            }
            let limit = if undo {
                u64::MAX
            } else {
                self.limit.load(SeqCst).saturating_sub(self.reserved.load(SeqCst))
            };
            let next = self.ring.next();
            let reserved = if self.stats.samples(next) {
                let begin = self.env.seam.clock.monotonic();
                let reserved = self.ring.reserve(next, len, limit);
                self.stats.sampled(self.env.seam.clock.monotonic().saturating_sub(begin));
                reserved
            } else {
                self.ring.reserve(next, len, limit)
            };
            match reserved {
                Reserved::Claim(claim) => {
                    if undo {
                        self.release(len);
                    }
                    return Ok(claim);
                }
                Reserved::Beyond => return Err(self.full()),
                Reserved::RingFull => self.await_ring(len),
            }
        }
    }

    #[cold]
    fn full(&self) -> LogError {
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

    /// Keeps `bytes` of log for undo.
    pub(crate) fn keep(&self, bytes: u64) -> bool {
        let kept = self.reserved.fetch_update(SeqCst, SeqCst, |reserved| {
            let wanted = reserved.checked_add(bytes)?;
            let end = self.ring.next().checked_add(wanted)?;
            (end <= self.limit.load(SeqCst)).then_some(wanted)
        });
        kept.is_ok()
    }

    /// Gives `bytes` of what was kept back.
    pub(crate) fn release(&self, bytes: u64) {
        let less = |reserved: u64| Some(reserved.saturating_sub(bytes));
        let _ = self.reserved.fetch_update(SeqCst, SeqCst, less);
    }

    /// Waits until the ring has room for `len` bytes, and for some more, so that not every group
    /// that is taken wakes everybody. There will be: while a full group is there it gets sealed,
    /// and a group is half a ring at most.
    #[cold]
    fn await_ring(&self, len: u64) {
        self.stats.ring_waits.one();
        let room = len.max(self.config.ring_bytes as u64 / 4);
        self.ring_waiters.fetch_add(1, SeqCst);
        let mut board = self.board.lock();
        while !self.ring.has_room(room) && !self.env.stop.is_set() {
            if self.demand(&board) {
                self.nudge(&board);
            }
            self.ring_room.wait(&mut board);
        }
        drop(board);
        self.ring_waiters.fetch_sub(1, SeqCst);
    }

    /// Calls a writer, if there is something to do.
    #[cold]
    fn kick(&self) {
        let board = self.board.lock();
        let demand = self.demand(&board);
        self.called.store(demand, SeqCst);
        if demand {
            self.nudge(&board);
        }
    }

    /// Seals and writes what has gathered, if nobody else is at it; whoever is goes on with it.
    pub(crate) fn drive(&self) -> bool {
        let end = self.ring.next();
        if end == self.covered() {
            return false;
        }
        self.wanted.fetch_max(end, SeqCst);
        if !self.idle.load(SeqCst) {
            return false;
        }
        let Some(mut sealer) = self.sealer.try_lock() else {
            self.kick();
            return false;
        };
        let sealed = self.seal_next(Why::Driven, &mut sealer);
        drop(sealer);
        let Some(sealed) = sealed else { return false };
        self.send(sealed, None);
        true
    }

    pub(crate) fn wait_durable(&self, up_to: Lsn) -> Result<(), LogError> {
        self.check_wanted(up_to)?;
        if self.durable() >= up_to {
            return Ok(());
        }
        self.wanted.fetch_max(up_to.0, SeqCst);
        // With nobody writing, the shortest way to the disk is to go there oneself.
        if self.idle.load(SeqCst)
            && let Some(mut sealer) = self.sealer.try_lock()
        {
            let sealed = self.seal_next(Why::Wanted, &mut sealer);
            drop(sealer);
            if let Some(sealed) = sealed {
                self.send(sealed, None);
            }
        }
        if self.durable() < up_to {
            self.stats.waits.one();
            let parker = self.parkers.lock().pop().unwrap_or_default();
            let sink: Arc<dyn DurableSink> = parker.clone();
            self.enlist(Waiting { up_to, sink, token: 0 }, true);
            if !parker.wait(|| self.env.stop.is_set()) {
                // Stopped for a reason outside of the log, and perhaps nobody writes any more.
                self.wake_stopped();
                parker.wait(|| false);
            }
            let mut parkers = self.parkers.lock();
            if parkers.len() < PARKERS_KEPT {
                parkers.push(parker);
            }
        }
        Ok(self.env.stop.check()?)
    }

    /// Has `sink` told when `up_to` is durable. With `wish` a writer is called if none is at it.
    pub(crate) fn when_durable(
        &self,
        up_to: Lsn,
        sink: &Arc<dyn DurableSink>,
        token: u64,
        wish: bool,
    ) {
        if let Err(error) = self.check_wanted(up_to) {
            sink.durable(token, Err(&error));
            sink.told();
            return;
        }
        if wish {
            self.wanted.fetch_max(up_to.0, SeqCst);
        }
        self.enlist(Waiting { up_to, sink: Arc::clone(sink), token }, wish);
    }

    fn check_wanted(&self, up_to: Lsn) -> Result<(), LogError> {
        self.env.stop.check()?;
        let end = Lsn(self.ring.next());
        if up_to > end { Err(LogError::Beyond { lsn: up_to, end }) } else { Ok(()) }
    }

    fn enlist(&self, waiting: Waiting, wish: bool) {
        let mut board = self.board.lock();
        board.enlist(waiting);
        if wish && self.demand(&board) {
            self.nudge(&board);
        }
        // Durable meanwhile, or stopped: then nobody else may come by to say so.
        let first = board.sinks.front().map(|waiting| waiting.up_to);
        if self.env.stop.is_set() || first.is_some_and(|first| first <= self.durable()) {
            self.deliver(board);
        }
    }

    /// Other writers are at work from now on, or have other files; nothing was in flight.
    pub(crate) fn writers_changed(&self, board: &mut Board) {
        self.end_wait(board);
        self.refresh_idle(board);
        // Whoever was called to seal may not be the one to do it any more.
        self.called.store(false, SeqCst);
        self.lanes.iter().for_each(Condvar::notify_all);
    }

    /// Everything before `needed` is no longer needed; every group before `archived` is archived.
    pub(crate) fn truncate(&self, needed: Option<Lsn>, archived: Option<GroupNumber>) {
        let mut directory = self.directory.lock();
        // What has not landed is needed, whatever the caller says; and the last byte that has, for
        // with it the header of the segment that restart begins with has landed. A segment before
        // one whose header a crash takes away would be walked in its place.
        let landed = Lsn(self.landed().0.saturating_sub(1));
        if let Some(needed) = needed {
            directory.needed = directory.needed.max(needed.min(landed));
        }
        if let Some(archived) = archived {
            directory.archived = directory.archived.max(archived);
        }
        if directory.free_unneeded() {
            let limit = directory.limit(&self.layout(), self.taken.load(Relaxed));
            self.limit.store(limit, SeqCst);
        }
    }
}
