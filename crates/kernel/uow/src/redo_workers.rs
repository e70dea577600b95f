//! Redo workers: threads that redo side by side while one reads the log for them.
//!
//! Every interval has one worker, so its changes come in the order of the log; changes of different
//! intervals know nothing of each other. Redo waits for memory more than it computes: a worker
//! takes a batch of changes at once and prefetches the intervals of the next ones.
//!
//! Invariants:
//! 1. The reader never has more than [`BATCHES`] batches waiting for a worker.
//! 2. After an error a worker takes its batches without looking at them, so that the reader never
//!    waits for nothing; the first error of each worker comes back from [`RedoWorkers::finish`].
//! 3. A worker that panics is noticed: the reader stops giving and the panic comes up in the join.

use std::collections::VecDeque;
use std::sync::Arc;

use base::hash::avalanche;
use base::{DataSetId, Lsn};
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::UowError;
use crate::record::Target;

/// Threads beside the one that reads the log.
const WORKERS: usize = 2;
/// A batch is given to its worker when it has so many bytes of records.
const BATCH_BYTES: usize = 64 << 10;
/// Batches that wait for a worker.
const BATCHES: usize = 4;
/// How many changes ahead an interval is prefetched.
const AHEAD: usize = 6;

/// A change of one interval.
pub(crate) struct Item {
    pub(crate) set: DataSetId,
    pub(crate) kind: u8,
    pub(crate) lsn: Lsn,
    pub(crate) target: Target,
}

/// What a worker does.
pub(crate) trait Redo: Send + Sync {
    /// Repeats a change, if need be; whether it was.
    fn redo(&self, item: &Item, body: &[u8]) -> Result<bool, UowError>;
    /// A change that will come soon: prefetches its interval.
    fn prefetch(&self, item: &Item);
}

/// Changes in the order of the log, with their bodies one behind the other.
#[derive(Default)]
struct Batch {
    items: Vec<(Item, usize)>,
    bytes: Vec<u8>,
}

/// The threads, and what is being gathered for each.
pub(crate) struct RedoWorkers {
    workers: Vec<Worker>,
}

struct Worker {
    lane: Arc<Lane>,
    gathering: Batch,
    thread: JoinHandle,
}

#[derive(Default)]
struct Lane {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    batches: VecDeque<Batch>,
    /// No more will come.
    complete: bool,
    /// The worker has left, for good or bad.
    gone: bool,
    redone: u64,
    failed: Option<UowError>,
}

impl RedoWorkers {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the operating system refuses one.
    pub(crate) fn start(work: &Arc<dyn Redo>) -> Result<RedoWorkers, UowError> {
        let mut started = RedoWorkers { workers: Vec::with_capacity(WORKERS) };
        for number in 0..WORKERS {
            let lane = Arc::new(Lane::default());
            let (work, own) = (Arc::clone(work), Arc::clone(&lane));
            let run = move || Leaving(&own).work(&*work);
            match seam::thread::spawn(&format!("redo-{number}"), run) {
                Ok(thread) => {
                    started.workers.push(Worker { lane, gathering: Batch::default(), thread });
                }
                Err(source) => {
                    started.finish()?;
                    return Err(UowError::Io { what: "a thread for redo".into(), source });
                }
            }
        }
        Ok(started)
    }

    /// Gives a change to the worker that has its interval.
    pub(crate) fn give(&mut self, item: Item, body: &[u8]) {
        let place = u64::from(item.set.0) << 32 | u64::from(item.target.ci.0);
        let number = avalanche(place) as usize % self.workers.len();
        let worker = &mut self.workers[number];
        worker.gathering.bytes.extend_from_slice(body);
        worker.gathering.items.push((item, body.len()));
        if worker.gathering.bytes.len() >= BATCH_BYTES {
            worker.send();
        }
    }

    /// Waits until all is done. Returns how many changes were made.
    pub(crate) fn finish(mut self) -> Result<u64, UowError> {
        for worker in &mut self.workers {
            worker.send();
            worker.lane.state.lock().complete = true;
            worker.lane.changed.notify_all();
        }
        let mut redone = Ok(0);
        for Worker { lane, thread, .. } in self.workers {
            thread.join();
            let mut state = lane.state.lock();
            redone = match (redone, state.failed.take()) {
                (Ok(sum), None) => Ok(sum + state.redone),
                (Ok(_), Some(error)) | (Err(error), _) => Err(error),
            };
        }
        redone
    }
}

impl Worker {
    fn send(&mut self) {
        let batch = std::mem::take(&mut self.gathering);
        let mut state = self.lane.state.lock();
        while state.batches.len() >= BATCHES && !state.gone {
            self.lane.changed.wait(&mut state);
        }
        state.batches.push_back(batch);
        drop(state);
        self.lane.changed.notify_all();
    }
}

/// Says that a worker has left, also when it leaves in a panic.
struct Leaving<'l>(&'l Lane);

impl Leaving<'_> {
    fn work(self, work: &dyn Redo) {
        let mut state = self.0.state.lock();
        loop {
            let Some(batch) = state.batches.pop_front() else {
                if state.complete {
                    return;
                }
                self.0.changed.wait(&mut state);
                continue;
            };
            let spoiled = state.failed.is_some();
            drop(state);
            self.0.changed.notify_all();
            let outcome = if spoiled { Ok(0) } else { batch.redo(work) };
            state = self.0.state.lock();
            match outcome {
                Ok(redone) => state.redone += redone,
                Err(error) => state.failed = Some(error),
            }
        }
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.state.lock().gone = true;
        self.0.changed.notify_all();
    }
}

impl Batch {
    fn redo(&self, work: &dyn Redo) -> Result<u64, UowError> {
        let (mut redone, mut at) = (0, 0);
        for (number, (item, len)) in self.items.iter().enumerate() {
            if let Some((next, _)) = self.items.get(number + AHEAD) {
                work.prefetch(next);
            }
            let body = &self.bytes[at..at + len];
            at += len;
            redone += u64::from(work.redo(item, body)?);
        }
        Ok(redone)
    }
}
