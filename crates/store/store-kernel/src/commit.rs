//! Who is told of queued commits: from the log's tokens to the store's sinks.

use std::sync::{Arc, Weak};

use seam::sync::Mutex;
use store::{CommitOrder, CommitSink, Committed, StoreError};
use wal::{DurableSink, LogError};

/// The adapters of the sinks in use, so that a commit allocates none.
#[derive(Default)]
pub(crate) struct Sinks {
    known: Mutex<Vec<Arc<Adapter>>>,
}

/// Tells one sink. It keeps the sink only while a commit of it waits, or its end to be told.
pub(crate) struct Adapter {
    sink: Weak<dyn CommitSink>,
    /// The commits that wait, by the number that the log has for them.
    waiting: Mutex<Slab>,
}

#[derive(Default)]
struct Slab {
    entries: Vec<(u64, u64)>,
    free: Vec<u32>,
    sink: Option<Arc<dyn CommitSink>>,
}

/// Adapters kept; a sink that comes back after more than these gets a new one.
const KNOWN_MAX: usize = 64;

impl Sinks {
    /// The adapter of a sink.
    pub(crate) fn adapter(&self, sink: &Arc<dyn CommitSink>) -> Arc<Adapter> {
        let mut known = self.known.lock();
        let same =
            |adapter: &&Arc<Adapter>| std::ptr::addr_eq(adapter.sink.as_ptr(), Arc::as_ptr(sink));
        if let Some(adapter) = known.iter().find(same) {
            return Arc::clone(adapter);
        }
        known.retain(|adapter| adapter.sink.strong_count() > 0);
        if known.len() >= KNOWN_MAX {
            known.remove(0);
        }
        let adapter = Adapter { sink: Arc::downgrade(sink), waiting: Mutex::default() };
        known.push(Arc::new(adapter));
        Arc::clone(&known[known.len() - 1])
    }
}

impl Adapter {
    /// The log's number for a commit that waits.
    pub(crate) fn wait(&self, sink: &Arc<dyn CommitSink>, token: u64, order: u64) -> u64 {
        let mut slab = self.waiting.lock();
        if slab.sink.is_none() {
            slab.sink = Some(Arc::clone(sink));
        }
        match slab.free.pop() {
            Some(number) => {
                slab.entries[number as usize] = (token, order);
                u64::from(number)
            }
            None => {
                slab.entries.push((token, order));
                slab.entries.len() as u64 - 1
            }
        }
    }
}

impl DurableSink for Adapter {
    fn durable(&self, number: u64, outcome: Result<(), &LogError>) {
        let (token, order, sink) = {
            let mut slab = self.waiting.lock();
            slab.free.push(number as u32);
            let (token, order) = slab.entries[number as usize];
            let sink = slab.sink.clone();
            (token, order, sink.expect("a sink is kept while a commit waits"))
        };
        let outcome = match outcome {
            Ok(()) => Ok(Committed { order: Some(CommitOrder(order)) }),
            Err(error) => Err(StoreError::Stopped(error.to_string().into())),
        };
        sink.settled(token, outcome);
    }

    fn batch_settled(&self) {
        let sink = {
            let mut slab = self.waiting.lock();
            let last = slab.free.len() == slab.entries.len();
            if last { slab.sink.take() } else { slab.sink.clone() }
        };
        if let Some(sink) = sink {
            sink.batch_settled();
        }
    }
}
