//! Bulk loads: records go to a thread that fills the cluster's set from below, instead of into a
//! unit of work one by one.
//!
//! 1. The load takes effect as a whole when it is ended; until then, and if it is not, the set is
//!    empty.
//! 2. Records are handed over in batches, of which few are on their way: memory is bounded, and a
//!    store that is slower makes the loader wait.

use std::collections::VecDeque;
use std::sync::Arc;

use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;
use store::{Entry, LoadSource, SetId, Store, StoreError};

/// Bytes of a batch.
const BATCH_BYTES: usize = 256 << 10;
/// Batches that may be on their way.
const BATCHES_MAX: usize = 4;

/// A load under way.
pub(crate) struct Load {
    pipe: Arc<Pipe>,
    thread: Option<JoinHandle>,
    batch: Batch,
}

#[derive(Default)]
struct Pipe {
    state: Mutex<PipeState>,
    changed: Condvar,
}

#[derive(Default)]
struct PipeState {
    full: VecDeque<Batch>,
    /// Batches whose memory can be used again.
    empty: Vec<Batch>,
    end: End,
    answer: Option<Result<u64, StoreError>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    /// Everything has been handed over.
    Complete,
    /// The load is given up.
    Abandoned,
}

/// Entries one behind the other.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    /// Where each key ends, and where its value does.
    ends: Vec<(usize, usize)>,
}

/// Why a load that was given up ended.
#[derive(Debug, thiserror::Error)]
#[error("the file was not closed")]
struct NotClosed;

impl Load {
    /// Begins to load an empty set.
    pub(crate) fn begin<S: Store>(store: &S, set: SetId) -> Result<Load, StoreError> {
        let pipe = Arc::new(Pipe::default());
        let (store, its) = (store.clone(), Arc::clone(&pipe));
        let body = move || {
            let mut source = Source { pipe: Arc::clone(&its), batch: Batch::default(), next: 0 };
            let answer = store.load_sorted(set, &mut source);
            let mut state = its.state.lock();
            state.answer = Some(answer);
            drop(state);
            its.changed.notify_all();
        };
        let thread = seam::thread::spawn("vsam-load", body);
        let thread = thread.map_err(|_| StoreError::Unsupported("another thread for a load"))?;
        Ok(Load { pipe, thread: Some(thread), batch: Batch::default() })
    }

    /// Adds an entry. Keys ascend.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let Batch { bytes, ends } = &mut self.batch;
        bytes.extend_from_slice(key);
        let key_end = bytes.len();
        bytes.extend_from_slice(value);
        ends.push((key_end, bytes.len()));
        if bytes.len() >= BATCH_BYTES { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), StoreError> {
        let mut state = self.pipe.state.lock();
        while state.full.len() >= BATCHES_MAX && state.answer.is_none() {
            self.pipe.changed.wait(&mut state);
        }
        if let Some(Err(error)) = &state.answer {
            return Err(error.clone());
        }
        let mut empty = state.empty.pop().unwrap_or_default();
        empty.bytes.clear();
        empty.ends.clear();
        state.full.push_back(std::mem::replace(&mut self.batch, empty));
        drop(state);
        self.pipe.changed.notify_all();
        Ok(())
    }

    /// Ends the load: what was added is in the set, durably. Answers how many entries there are.
    pub(crate) fn end(mut self) -> Result<u64, StoreError> {
        self.hand_over()?;
        self.stop(End::Complete);
        let answer = self.pipe.state.lock().answer.take();
        answer.unwrap_or(Err(StoreError::Unsupported("a load whose thread has gone")))
    }

    fn stop(&mut self, end: End) {
        self.pipe.state.lock().end = end;
        self.pipe.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop(End::Abandoned);
        }
    }
}

/// What the store reads from.
struct Source {
    pipe: Arc<Pipe>,
    batch: Batch,
    /// The entry of the batch that comes next.
    next: usize,
}

impl LoadSource for Source {
    fn next_entry(&mut self) -> store::Result<Option<Entry<'_>>> {
        if self.next == self.batch.ends.len() && !self.next_batch()? {
            return Ok(None);
        }
        let begin = self.next.checked_sub(1).map_or(0, |before| self.batch.ends[before].1);
        let (key_end, end) = self.batch.ends[self.next];
        self.next += 1;
        Ok(Some(Entry {
            key: &self.batch.bytes[begin..key_end],
            value: &self.batch.bytes[key_end..end],
        }))
    }
}

impl Source {
    fn next_batch(&mut self) -> store::Result<bool> {
        let mut state = self.pipe.state.lock();
        state.empty.push(std::mem::take(&mut self.batch));
        self.next = 0;
        loop {
            if state.end == End::Abandoned {
                return Err(store::source_error(NotClosed));
            }
            match state.full.pop_front() {
                Some(batch) if batch.ends.is_empty() => state.empty.push(batch),
                Some(batch) => {
                    self.batch = batch;
                    drop(state);
                    self.pipe.changed.notify_all();
                    return Ok(true);
                }
                None if state.end == End::Complete => return Ok(false),
                None => self.pipe.changed.wait(&mut state),
            }
        }
    }
}
