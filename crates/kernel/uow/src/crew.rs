//! A crew: threads that redo side by side while one reads the log for them.
//!
//! Every interval has one hand of the crew, so its changes come in the order of the log; changes of
//! different intervals know nothing of each other. Redo waits for memory more than it computes:
//! a hand sees a batch of changes at once and has the next intervals prefetched.
//!
//! Invariants:
//! 1. The reader never has more than [`BATCHES`] batches waiting for a hand.
//! 2. After an error a hand takes its batches without looking at them, so that the reader never
//!    waits for nothing; the first error of each hand comes back from [`Crew::finish`].
//! 3. A hand that panics is noticed: the reader stops giving and the panic comes up in the join.

use std::collections::VecDeque;
use std::sync::Arc;

use base::hash::avalanche;
use base::{DataSetId, Lsn};
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::UowError;
use crate::resource::Target;

/// Threads beside the one that reads the log.
const HANDS: usize = 2;
/// A batch is given to its hand when it has so many bytes of records.
const BATCH_BYTES: usize = 64 << 10;
/// Batches that wait for a hand.
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

/// What a hand does.
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
pub(crate) struct Crew {
    hands: Vec<Hand>,
}

struct Hand {
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
    /// The hand has left, for good or bad.
    gone: bool,
    redone: u64,
    failed: Option<UowError>,
}

impl Crew {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the operating system refuses one.
    pub(crate) fn start(work: &Arc<dyn Redo>) -> Result<Crew, UowError> {
        let mut crew = Crew { hands: Vec::with_capacity(HANDS) };
        for number in 0..HANDS {
            let lane = Arc::new(Lane::default());
            let (work, own) = (Arc::clone(work), Arc::clone(&lane));
            let run = move || Leaving(&own).work(&*work);
            match seam::thread::spawn(&format!("redo-{number}"), run) {
                Ok(thread) => crew.hands.push(Hand { lane, gathering: Batch::default(), thread }),
                Err(source) => {
                    crew.finish()?;
                    return Err(UowError::Io { what: "a thread for redo".into(), source });
                }
            }
        }
        Ok(crew)
    }

    /// Gives a change to the hand that has its interval.
    pub(crate) fn give(&mut self, item: Item, body: &[u8]) {
        let place = u64::from(item.set.0) << 32 | u64::from(item.target.ci.0);
        let number = avalanche(place) as usize % self.hands.len();
        let hand = &mut self.hands[number];
        hand.gathering.bytes.extend_from_slice(body);
        hand.gathering.items.push((item, body.len()));
        if hand.gathering.bytes.len() >= BATCH_BYTES {
            hand.send();
        }
    }

    /// Waits until all is done. Returns how many changes were made.
    pub(crate) fn finish(mut self) -> Result<u64, UowError> {
        for hand in &mut self.hands {
            hand.send();
            hand.lane.state.lock().complete = true;
            hand.lane.changed.notify_all();
        }
        let mut redone = Ok(0);
        for Hand { lane, thread, .. } in self.hands {
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

impl Hand {
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

/// Says that a hand has left, also when it leaves in a panic.
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
