//! The page writer: takes dirty intervals, oldest first, and writes them in batches.
//!
//! A batch: seal the frames into copies in the order of their places, log the new tags (K5), write
//! the copies to the double-write area, wait until the log is durable, write in place,
//! neighbours in one piece, sync, log "done". Batches follow one another; at most one is in flight,
//! whoever runs it. What a crash takes away (a successor that a recovery builds) cannot be found
//! torn or ahead of the log: it needs neither the double-write area, nor the log, nor the sync.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::Duration;

use base::stats::{Counter, Histogram, Quantiles};
use base::{CiNumber, DataSetId, Lsn};
use seam::Seam;
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;
use seam::stop::StopSwitch;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::backing::{Backing, BatchEntry, Journal};
use crate::dirty::DirtyQueue;
use crate::double_write::{
    BATCH_BYTES_MAX, BATCH_INTERVALS_MAX, DoubleWrite, DoubleWriteError, FoundBatch,
};
use crate::frame::{Pinned, SharedCi};
use crate::frame_id::FrameId;
use crate::{Pool, PoolError, Pools, latches};

/// When the page writer works.
#[derive(Clone, Debug)]
pub struct WriterConfig {
    /// It writes when more than this share of a pool's frames is dirty.
    pub dirty_share_max: f64,
    /// It writes when the oldest change in memory is this far behind the log's end; what restart
    /// has to redo follows from it.
    pub redo_bytes_max: u64,
    /// How long it sleeps when there is nothing to do.
    pub idle: Duration,
}

impl Default for WriterConfig {
    fn default() -> WriterConfig {
        WriterConfig {
            dirty_share_max: 0.5,
            redo_bytes_max: 512 << 20,
            idle: Duration::from_millis(50),
        }
    }
}

/// What the page writer has done so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriterStatistics {
    /// Batches written.
    pub batches: u64,
    /// Intervals written.
    pub intervals: u64,
    /// How long batches took, in microseconds.
    pub batch_us: Quantiles,
}

/// The page writer of a system.
pub struct PageWriter {
    seam: Seam,
    config: WriterConfig,
    pools: Arc<Pools>,
    dirty: Arc<DirtyQueue>,
    journal: Arc<dyn Journal>,
    sets: Arc<dyn Sets>,
    stop: Arc<StopSwitch>,
    /// What the configuration says, or less.
    redo_bytes_max: AtomicU64,
    batch: Mutex<Batch>,
    last_batch: AtomicU64,
    control: Mutex<Control>,
    kicked: Condvar,
    batches: Counter,
    intervals: Counter,
    batch_us: Histogram,
}

/// Where the page writer finds the data set of a frame.
pub trait Sets: Send + Sync {
    /// The data set, unless it is gone.
    fn backing(&self, set: DataSetId) -> Option<Arc<dyn Backing>>;
}

#[derive(Default)]
struct Control {
    kicked: bool,
    ended: bool,
    thread: Option<JoinHandle>,
}

/// What a batch works with; kept between batches.
struct Batch {
    number: u64,
    area: DoubleWrite,
    buffer: AlignedBuf,
    items: Vec<Item>,
}

/// A frame on its way.
struct Item {
    pool: Arc<Pool>,
    frame: FrameId,
    set: Arc<dyn Backing>,
    /// Without tag and LSN until the frame is copied.
    entry: BatchEntry,
    /// Where its unit stands among those of the batch.
    at: usize,
    unit_bytes: usize,
}

impl PageWriter {
    /// A page writer over `pools`, which share `dirty`. `last_batch` is the number of the last one
    /// in the log.
    #[must_use]
    #[allow(clippy::too_many_arguments)] // a constructor that ties the kernel's parts together
    pub fn new(
        seam: Seam,
        config: WriterConfig,
        pools: Arc<Pools>,
        dirty: Arc<DirtyQueue>,
        journal: Arc<dyn Journal>,
        sets: Arc<dyn Sets>,
        stop: Arc<StopSwitch>,
        area: DoubleWrite,
        last_batch: u64,
    ) -> PageWriter {
        let (buffer, redo_bytes_max) = (DoubleWrite::buffer(), config.redo_bytes_max);
        PageWriter {
            seam,
            config,
            pools,
            dirty,
            journal,
            sets,
            stop,
            redo_bytes_max: AtomicU64::new(redo_bytes_max),
            last_batch: AtomicU64::new(last_batch),
            batch: Mutex::new(Batch { number: last_batch, area, buffer, items: Vec::new() }),
            control: Mutex::default(),
            kicked: Condvar::new(),
            batches: Counter::default(),
            intervals: Counter::default(),
            batch_us: Histogram::default(),
        }
    }

    /// Starts the thread that writes when the configuration says so.
    ///
    /// # Errors
    /// If the operating system refuses a thread.
    pub fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let writer = Arc::clone(self);
        let thread = seam::thread::spawn("page-writer", move || writer.run())?;
        self.control.lock().thread = Some(thread);
        Ok(())
    }

    /// Ends the thread. What is dirty stays dirty.
    pub fn end(&self) {
        let mut control = self.control.lock();
        control.ended = true;
        let thread = control.thread.take();
        drop(control);
        self.kicked.notify_all();
        if let Some(thread) = thread {
            thread.join();
        }
    }

    /// From now on the oldest change in memory may be so far behind the log's end.
    pub fn bound_redo(&self, redo_bytes_max: u64) {
        self.redo_bytes_max.store(redo_bytes_max, Relaxed);
    }

    /// Makes the thread look now.
    pub fn kick(&self) {
        self.control.lock().kicked = true;
        self.kicked.notify_one();
    }

    /// Writes until no change before `lsn` is missing on disk.
    ///
    /// # Errors
    /// [`PoolError::Stopped`], or an interval that cannot be had.
    pub fn write_before(&self, lsn: Lsn) -> Result<(), PoolError> {
        while self.dirty.oldest().is_some_and(|oldest| oldest < lsn) {
            if self.write_batch(None)? == 0 {
                // What remains was changed again or is being looked at; let its user go on.
                self.stop.check()?;
                seam::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Writes everything, until nothing is dirty. For an orderly stop: nobody changes anything.
    ///
    /// # Errors
    /// As for [`PageWriter::write_before`].
    pub fn write_all(&self) -> Result<(), PoolError> {
        while !self.dirty.is_empty() {
            self.write_batch(None)?;
        }
        Ok(())
    }

    /// Writes intervals again in the form that their data set has by now, changed or not, as one
    /// batch. Returns how many of the first ones are on disk: not all, if there is no frame for a
    /// map just now.
    ///
    /// # Errors
    /// [`PoolError::Stopped`].
    pub fn write_again(&self, pins: &[Pinned<'_>]) -> Result<usize, PoolError> {
        assert!(pins.len() <= BATCH_INTERVALS_MAX, "a batch has its bounds");
        self.write(Which::Again(pins), Cause::Redo)
    }

    /// Returns when the batch in flight, if there is one, is on disk.
    pub fn settle(&self) {
        drop(self.batch.lock());
    }

    /// Overwrites what earlier batches have left in the double-write area (K4).
    ///
    /// # Errors
    /// [`PoolError::Stopped`].
    pub fn clear_area(&self) -> Result<(), PoolError> {
        latches::assert_none_held("clearing the double-write area");
        let mut batch = self.batch.lock();
        self.stop.check()?;
        let Batch { area, buffer, .. } = &mut *batch;
        area.clear(buffer).map_err(|error| PoolError::Stopped(self.stop.stop(error.to_string())))
    }

    /// Whether the file of the double-write area was removed or replaced.
    #[must_use]
    pub fn area_is_misplaced(&self) -> bool {
        self.batch.lock().area.is_misplaced()
    }

    /// Puts an interval back in its place from the double-write area, durably, if the version that
    /// belongs there stands in the area whole. The interval is in no frame; its map is in one.
    /// Says whether it was put back.
    ///
    /// # Errors
    /// If the area cannot be read; [`PoolError::Stopped`] if the disk refuses.
    pub fn put_back(&self, set: &dyn Backing, ci: CiNumber) -> Result<bool, PoolError> {
        latches::assert_none_held("putting an interval back");
        let batch = self.batch.lock();
        self.stop.check()?;
        let unread = |error: DoubleWriteError| PoolError::Read {
            name: set.name().to_owned(),
            set: set.id(),
            ci,
            why: error.to_string(),
        };
        for (of, at, _, unit) in batch.area.found().map_err(unread)?.iter().flat_map(|b| &b.units) {
            if (*of, *at) != (set.id(), ci) {
                continue;
            }
            let [mut copy, mut clear] = [(); 2].map(|()| AlignedBuf::zeroed(unit.len()));
            copy.copy_from_slice(unit);
            clear.copy_from_slice(unit);
            if set.open(ci, &mut clear).is_err() && !armed(Failpoint::OlderVersionPutBack) {
                continue;
            }
            let written = set.write_raw(&[(ci, &copy)]).and_then(|()| set.sync());
            written.map_err(|error| {
                let why = format!("data set {}: {ci} cannot be written: {error}", set.name());
                PoolError::Stopped(self.stop.stop(why))
            })?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The number of the last batch.
    #[must_use]
    pub fn last_batch(&self) -> u64 {
        self.last_batch.load(Acquire)
    }

    /// What stands in the double-write area. For restart, before anything is written.
    ///
    /// # Errors
    /// See [`DoubleWriteError`].
    pub fn found_batches(&self) -> Result<Vec<FoundBatch>, DoubleWriteError> {
        self.batch.lock().area.found()
    }

    /// What it has done so far.
    #[must_use]
    pub fn statistics(&self) -> WriterStatistics {
        WriterStatistics {
            batches: self.batches.get(),
            intervals: self.intervals.get(),
            batch_us: self.batch_us.quantiles(),
        }
    }

    fn run(&self) {
        loop {
            let wanted = self.wanted();
            if let Some((pool, cause)) = wanted {
                match self.write(Which::Dirty(pool), cause) {
                    Ok(written) if written > 0 => continue,
                    Ok(_) => {}
                    Err(error) => {
                        self.stop.stop(format!("the page writer cannot go on: {error}"));
                        self.pools.all().iter().for_each(|pool| pool.wake());
                    }
                }
            }
            let mut control = self.control.lock();
            if control.ended || self.stop.is_set() {
                return;
            }
            if !control.kicked {
                let pause = if wanted.is_some() { PAUSE } else { self.config.idle };
                self.kicked.wait_for(&mut control, pause);
            }
            control.kicked = false;
        }
    }

    /// Whether there is work: for a pool that lacks clean frames, or for the redo point.
    fn wanted(&self) -> Option<(Option<u32>, Cause)> {
        for pool in self.pools.all() {
            let dirty = self.dirty.len_of(pool.index) as f64;
            let crowded = dirty > pool.frames() as f64 * self.config.dirty_share_max;
            if pool.pressed.load(Relaxed) && dirty > 0.0 {
                return Some((Some(pool.index), Cause::Pressed));
            }
            if crowded {
                return Some((Some(pool.index), Cause::Crowded));
            }
        }
        let distance = self.journal.next_lsn().0.saturating_sub(self.dirty.head()?.0);
        (distance > self.redo_bytes_max.load(Relaxed)).then_some((None, Cause::Redo))
    }

    /// Writes one batch of dirty frames; returns how many intervals it had.
    fn write_batch(&self, pool: Option<u32>) -> Result<usize, PoolError> {
        self.write(Which::Dirty(pool), Cause::Redo)
    }

    fn write(&self, which: Which<'_>, cause: Cause) -> Result<usize, PoolError> {
        latches::assert_none_held("a batch of writes");
        let mut batch = self.batch.lock();
        self.stop.check()?;
        let start = self.seam.clock.monotonic();
        let batch = &mut *batch;
        self.collect(batch, which)?;
        if batch.items.is_empty() {
            self.dirty.landed();
            return Ok(0);
        }
        batch.number += 1;
        self.last_batch.store(batch.number, Release);
        let entries: Vec<BatchEntry> = batch.items.iter().map(|item| item.entry).collect();
        let logged = self.journal.begin_batch(batch.number, &entries)?;
        self.land(batch, logged)?;
        self.journal.end_batch(batch.number)?;
        let written = batch.items.len();
        for item in batch.items.drain(..) {
            item.pool.count_write(cause);
            self.let_go(&item);
        }
        self.dirty.landed();
        self.pools.all().iter().for_each(|pool| pool.wake());
        self.batches.one();
        self.intervals.add(written as u64);
        let took = self.seam.clock.monotonic().saturating_sub(start);
        self.batch_us.record(took.as_micros() as u64);
        Ok(written)
    }

    /// Takes frames and copies them, sealed, into the buffer: in the order of their places, so that
    /// neighbours on disk are neighbours there.
    fn collect(&self, batch: &mut Batch, which: Which<'_>) -> Result<(), PoolError> {
        match which {
            Which::Dirty(pool) => self.choose(&mut batch.items, pool),
            Which::Again(pins) => self.choose_again(&mut batch.items, pins),
        }
        batch.items.sort_unstable_by_key(Item::place);
        // A frame that became clean and dirty again without a batch stands in its queue twice.
        batch.items.dedup_by(|twice, item| {
            let same = twice.place() == item.place();
            if same {
                self.let_go(twice);
            }
            same
        });
        let mut at = 0;
        for item in &mut batch.items {
            let copy = &mut DoubleWrite::units(&mut batch.buffer)[at..at + item.unit_bytes];
            self.copy(item, copy)?;
            item.at = at;
            at += item.unit_bytes;
        }
        Ok(())
    }

    /// Takes frames that somebody has pinned, up to the first one that has to wait. One that is
    /// dirty stays in its queue, where it is found clean; until then it holds the redo point.
    fn choose_again(&self, items: &mut Vec<Item>, pins: &[Pinned<'_>]) {
        for pin in pins {
            let (pool, frame) = pin.place();
            let pool = self.pools.numbered(pool).expect("a pool with pins is not gone");
            assert!(pool.frames.get(frame).try_pin(), "a pinned frame is not being evicted");
            match self.choose_pinned(pool, frame) {
                Chosen::Item(item) => items.push(item),
                Chosen::NotNow | Chosen::Stale => return,
            }
        }
    }

    /// Pins as many dirty frames as a batch may have, oldest first.
    fn choose(&self, items: &mut Vec<Item>, pool: Option<u32>) {
        let mut filled = 0;
        let mut passed = Vec::new();
        // What must wait does so for a map that is dirty itself and stands further behind: as long
        // as nothing is found, the search goes on.
        while items.len() < BATCH_INTERVALS_MAX
            && (passed.len() < BATCH_INTERVALS_MAX || items.is_empty())
        {
            let Some(dirty) = self.dirty.take(pool) else { break };
            // What a pool that is gone has left in its queue is clean.
            let Some(of) = self.pools.numbered(dirty.pool) else { continue };
            let unit_bytes = of.unit_bytes();
            if filled + unit_bytes > BATCH_BYTES_MAX {
                passed.push(dirty);
                break;
            }
            match self.pin(of, dirty.frame) {
                Chosen::Item(item) => {
                    filled += unit_bytes;
                    items.push(item);
                }
                Chosen::NotNow => passed.push(dirty),
                Chosen::Stale => {}
            }
        }
        passed.into_iter().rev().for_each(|dirty| self.dirty.put_back(dirty));
    }

    /// Pins a dirty frame until its batch is done, and the map that will hold its tag.
    fn pin(&self, pool: Arc<Pool>, id: FrameId) -> Chosen {
        let frame = pool.frames.get(id);
        if !frame.try_pin() {
            // Somebody has claimed it: it holds nothing, is being carried elsewhere, or became
            // dirty a moment before it would have been evicted, and stays.
            return if frame.rec_lsn() == Lsn::NONE { Chosen::Stale } else { Chosen::NotNow };
        }
        if frame.rec_lsn() == Lsn::NONE {
            frame.unpin();
            return Chosen::Stale;
        }
        self.choose_pinned(pool, id)
    }

    /// The same for a frame with a pin, which goes unless the frame is chosen.
    fn choose_pinned(&self, pool: Arc<Pool>, id: FrameId) -> Chosen {
        let frame = pool.frames.get(id);
        let key = frame.key();
        let set = self.sets.backing(key.set());
        let Some(set) = set.filter(|_| frame.holds(key)) else {
            frame.unpin();
            return Chosen::Stale;
        };
        if !set.prepare_write(key.ci()) {
            frame.unpin();
            return Chosen::NotNow;
        }
        let entry = BatchEntry { set: key.set(), ci: key.ci(), tag_prefix: 0, page_lsn: Lsn::NONE };
        let unit_bytes = pool.unit_bytes();
        Chosen::Item(Item { pool, frame: id, set, entry, at: 0, unit_bytes })
    }

    /// Undoes [`PageWriter::pin`].
    fn let_go(&self, item: &Item) {
        item.set.finish_write(item.entry.ci);
        item.pool.frames.get(item.frame).unpin();
    }

    /// Copies a frame, sealing it on the way, and marks it clean.
    fn copy(&self, item: &mut Item, copy: &mut [u8]) -> Result<(), PoolError> {
        let frame = item.pool.frames.get(item.frame);
        // The guard takes a pin of its own over; ours lasts until the batch is done.
        assert!(frame.try_pin(), "a pinned frame is not being evicted");
        frame.latch().lock_shared();
        let guard = SharedCi::new(frame);
        item.entry.tag_prefix = item.set.seal(item.entry.ci, guard.unit(), copy)?;
        item.entry.page_lsn = guard.lsn();
        guard.frame().mark_clean();
        Ok(())
    }

    /// Brings a sealed batch to disk: double-write area, log, in place, sync.
    fn land(&self, batch: &mut Batch, logged: Lsn) -> Result<(), PoolError> {
        let stopped = |why: String| PoolError::Stopped(self.stop.stop(why));
        let bytes = batch.items.iter().map(|item| item.unit_bytes).sum();
        let entries: Vec<_> = batch.items.iter().map(|i| (i.entry, i.unit_bytes)).collect();
        let provisional = batch.items.iter().all(|item| item.set.is_provisional());
        if !provisional && !armed(Failpoint::NoDoubleWrite) {
            batch
                .area
                .write(batch.number, &entries, &mut batch.buffer, bytes)
                .map_err(|error| stopped(error.to_string()))?;
        }
        if !provisional && !armed(Failpoint::PageBeforeLog) {
            // Page LSNs are where records begin; the tags' records stand behind all of them.
            self.journal.wait_durable(logged)?;
        }
        let units = &DoubleWrite::units(&mut batch.buffer)[..];
        for items in batch.items.chunk_by(|item, next| item.entry.set == next.entry.set) {
            let runs = items.chunk_by(|item, next| next.entry.ci.0 == item.entry.ci.0 + 1);
            let runs: Vec<(CiNumber, &[u8])> = runs
                .map(|run| {
                    let (first, last) = (&run[0], &run[run.len() - 1]);
                    (first.entry.ci, &units[first.at..last.at + last.unit_bytes])
                })
                .collect();
            let Item { set, entry, .. } = &items[0];
            let failed = |verb: &str, error: std::io::Error| {
                stopped(format!(
                    "data set {} ({}) cannot be {verb}: {error}",
                    set.name(),
                    entry.set
                ))
            };
            set.write_raw(&runs).map_err(|error| failed("written", error))?;
            if !set.is_provisional() {
                set.sync().map_err(|error| failed("synced", error))?;
            }
        }
        Ok(())
    }
}

/// What a batch is made of.
#[derive(Clone, Copy)]
enum Which<'a> {
    /// Dirty frames, oldest first: of one pool, or of all.
    Dirty(Option<u32>),
    /// These frames, dirty or not.
    Again(&'a [Pinned<'a>]),
}

/// Why a batch is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// So that a restart has less to redo: by itself, or for a checkpoint.
    Redo,
    /// Too large a share of a pool holds changes.
    Crowded,
    /// Somebody waits for a frame.
    Pressed,
}

impl Pool {
    fn count_write(&self, cause: Cause) {
        self.counters.writes.one();
        match cause {
            Cause::Redo => {}
            Cause::Crowded => self.counters.writes_crowded.one(),
            Cause::Pressed => self.counters.writes_pressed.one(),
        }
    }
}

enum Chosen {
    Item(Item),
    /// It must wait for another batch.
    NotNow,
    /// The frame is clean, or holds something else by now.
    Stale,
}

impl Item {
    /// What decides the order within a batch.
    fn place(&self) -> (DataSetId, CiNumber) {
        (self.entry.set, self.entry.ci)
    }
}

/// Between two looks when there was work that could not be done.
const PAUSE: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests;
