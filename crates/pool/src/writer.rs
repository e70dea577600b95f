//! The page writer: takes dirty intervals, oldest first, and writes them in batches.
//!
//! A batch: copy the frames, seal the copies, log their new tags (K5), write the copies to the
//! double-write area, wait until the log is durable, write in place, sync, log "done". Batches
//! follow one another; at most one is in flight, whoever runs it.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::Duration;

use base::stats::{Counter, Histogram, Quantiles};
use base::{DataSetId, Lsn};
use seam::Seam;
use seam::mem::AlignedBuf;
use seam::plant::{Plant, planted};
use seam::stop::StopSwitch;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::backing::{Backing, BatchEntry, Journal};
use crate::dirty::{Dirty, DirtyQueue};
use crate::double_write::{
    BATCH_BYTES_MAX, BATCH_INTERVALS_MAX, DoubleWrite, DoubleWriteError, FoundBatch,
};
use crate::frame::SharedCi;
use crate::{Pool, PoolError, latches};

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
    pools: Vec<Arc<Pool>>,
    dirty: Arc<DirtyQueue>,
    journal: Arc<dyn Journal>,
    sets: Arc<dyn Sets>,
    stop: Arc<StopSwitch>,
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

struct Item {
    dirty: Dirty,
    set: Arc<dyn Backing>,
    entry: BatchEntry,
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
        pools: Vec<Arc<Pool>>,
        dirty: Arc<DirtyQueue>,
        journal: Arc<dyn Journal>,
        sets: Arc<dyn Sets>,
        stop: Arc<StopSwitch>,
        area: DoubleWrite,
        last_batch: u64,
    ) -> PageWriter {
        let buffer = DoubleWrite::buffer();
        PageWriter {
            seam,
            config,
            pools,
            dirty,
            journal,
            sets,
            stop,
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
            if let Some(pool) = wanted {
                match self.write_batch(pool) {
                    Ok(written) if written > 0 => continue,
                    Ok(_) => {}
                    Err(error) => {
                        self.stop.stop(format!("the page writer cannot go on: {error}"));
                        self.pools.iter().for_each(|pool| pool.wake());
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
    fn wanted(&self) -> Option<Option<u32>> {
        for pool in &self.pools {
            let dirty = self.dirty.len_of(pool.index) as f64;
            let crowded = dirty > pool.frames() as f64 * self.config.dirty_share_max;
            if crowded || (pool.pressed.load(Relaxed) && dirty > 0.0) {
                return Some(Some(pool.index));
            }
        }
        let distance = self.journal.next_lsn().0.saturating_sub(self.dirty.head()?.0);
        (distance > self.config.redo_bytes_max).then_some(None)
    }

    /// Writes one batch; returns how many intervals it had.
    fn write_batch(&self, pool: Option<u32>) -> Result<usize, PoolError> {
        latches::assert_none_held("a batch of writes");
        let mut batch = self.batch.lock();
        self.stop.check()?;
        let start = self.seam.clock.monotonic();
        let batch = &mut *batch;
        self.collect(batch, pool)?;
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
            item.set.finish_write(item.entry.ci);
            let pool = &self.pools[item.dirty.pool as usize];
            pool.counters.writes.one();
            pool.frames.get(item.dirty.frame).unpin();
        }
        self.dirty.landed();
        self.pools.iter().for_each(|pool| pool.wake());
        self.batches.one();
        self.intervals.add(written as u64);
        let took = self.seam.clock.monotonic().saturating_sub(start);
        self.batch_us.record(took.as_micros() as u64);
        Ok(written)
    }

    /// Copies and seals dirty frames into the buffer until it is full or none is left.
    fn collect(&self, batch: &mut Batch, pool: Option<u32>) -> Result<(), PoolError> {
        let mut filled = 0;
        let mut passed = Vec::new();
        // What must wait does so for a map that is dirty itself and stands further behind: as long
        // as nothing is found, the search goes on.
        while batch.items.len() < BATCH_INTERVALS_MAX
            && (passed.len() < BATCH_INTERVALS_MAX || batch.items.is_empty())
        {
            let Some(dirty) = self.dirty.take(pool) else { break };
            let unit_bytes = self.pools[dirty.pool as usize].unit_bytes();
            if filled + unit_bytes > BATCH_BYTES_MAX {
                passed.push(dirty);
                break;
            }
            if batch.items.iter().any(|item| item.dirty.is_at(&dirty)) {
                // It was changed again since it was copied: two versions of one interval in a batch
                // could reach their place in either order.
                passed.push(dirty);
                continue;
            }
            let copy = &mut DoubleWrite::units(&mut batch.buffer)[filled..filled + unit_bytes];
            match self.copy(dirty, copy, filled)? {
                Copied::Sealed(item) => {
                    filled += unit_bytes;
                    batch.items.push(item);
                }
                Copied::NotNow => passed.push(dirty),
                Copied::Stale => {}
            }
        }
        passed.into_iter().rev().for_each(|dirty| self.dirty.put_back(dirty));
        Ok(())
    }

    /// Copies one dirty frame, marks it clean and seals the copy.
    fn copy(&self, dirty: Dirty, copy: &mut [u8], at: usize) -> Result<Copied, PoolError> {
        let pool = &self.pools[dirty.pool as usize];
        let frame = pool.frames.get(dirty.frame);
        if !frame.try_pin() {
            return Ok(Copied::Stale);
        }
        let key = frame.key();
        let set = self.sets.backing(key.set()).filter(|_| frame.rec_lsn() != Lsn::NONE);
        let Some(set) = set.filter(|_| frame.holds(key)) else {
            frame.unpin();
            return Ok(Copied::Stale);
        };
        if !set.prepare_write(key.ci()) {
            frame.unpin();
            return Ok(Copied::NotNow);
        }
        // The guard takes a pin of its own over; ours lasts until the batch is done.
        assert!(frame.try_pin(), "a pinned frame is not being evicted");
        frame.latch().lock_shared();
        let guard = SharedCi::new(frame);
        copy.copy_from_slice(guard.unit());
        let page_lsn = guard.lsn();
        guard.frame().mark_clean();
        drop(guard);
        let tag_prefix = set.seal(key.ci(), copy)?;
        let entry = BatchEntry { set: key.set(), ci: key.ci(), tag_prefix, page_lsn };
        Ok(Copied::Sealed(Item { dirty, set, entry, at, unit_bytes: copy.len() }))
    }

    /// Brings a sealed batch to disk: double-write area, log, in place, sync.
    fn land(&self, batch: &mut Batch, logged: Lsn) -> Result<(), PoolError> {
        let stopped = |why: String| PoolError::Stopped(self.stop.stop(why));
        let bytes = batch.items.iter().map(|item| item.unit_bytes).sum();
        let entries: Vec<_> = batch.items.iter().map(|i| (i.entry, i.unit_bytes)).collect();
        if !planted(Plant::NoDoubleWrite) {
            batch
                .area
                .write(batch.number, &entries, &mut batch.buffer, bytes)
                .map_err(|error| stopped(error.to_string()))?;
        }
        if !planted(Plant::PageBeforeLog) {
            // Page LSNs are where records begin; the tags' records stand behind all of them.
            self.journal.wait_durable(logged)?;
        }
        batch.items.sort_by_key(|item| (item.entry.set, item.entry.ci));
        let units = &DoubleWrite::units(&mut batch.buffer)[..];
        let mut from = 0;
        while from < batch.items.len() {
            let set = batch.items[from].entry.set;
            let count = batch.items[from..].iter().take_while(|i| i.entry.set == set).count();
            let items = &batch.items[from..from + count];
            let writes: Vec<_> =
                items.iter().map(|i| (i.entry.ci, &units[i.at..i.at + i.unit_bytes])).collect();
            let name = items[0].set.name();
            let failed = |verb: &str, error: std::io::Error| {
                stopped(format!("data set {name} ({set}) cannot be {verb}: {error}"))
            };
            items[0].set.write_raw(&writes).map_err(|error| failed("written", error))?;
            items[0].set.sync().map_err(|error| failed("synced", error))?;
            from += count;
        }
        Ok(())
    }
}

enum Copied {
    Sealed(Item),
    /// It must wait for another batch.
    NotNow,
    /// The frame is clean, or holds something else by now.
    Stale,
}

/// Between two looks when there was work that could not be done.
const PAUSE: Duration = Duration::from_millis(1);
