//! The store under examination, and what the checks need beside it: sets, threads, chance.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use seam::clock::{Clock, RealClock};
use seam::sync::{Condvar, Mutex};

use super::{Checked, Failure, Found};
use crate::rng::Rng;
use store::KeyRange;
use store::error::{Result, StoreError};
use store::traits::{Cursor, Store, Unit, UnitOptions};
use store::{CommitSink, Committed};
use store::{Locking, SetAttributes, SetId};
use store::{Read, Wait};

/// How long a unit of work of the suite waits for a lock before that is a failure.
const PATIENCE: Duration = Duration::from_secs(15);

/// A store to be examined.
pub struct Subject<S: Store> {
    store: S,
    clock: Arc<dyn Clock>,
    seed: u64,
    rounds: u32,
    threads: u32,
    _kept: Option<Box<dyn Any>>,
}

impl<S: Store> Subject<S> {
    /// Examines `store` on the machine's clock, with seed 1 and a moderate effort.
    pub fn new(store: S) -> Subject<S> {
        let clock = Arc::new(RealClock::new());
        Subject { store, clock, seed: 1, rounds: 40, threads: 4, _kept: None }
    }

    /// Keeps `guard` (a temporary folder, a server process) for as long as the subject.
    #[must_use]
    pub fn keeping(mut self, guard: impl Any) -> Subject<S> {
        self._kept = Some(Box::new(guard));
        self
    }

    /// Takes time from `clock`, such as a simulated one.
    #[must_use]
    pub fn on_clock(mut self, clock: Arc<dyn Clock>) -> Subject<S> {
        self.clock = clock;
        self
    }

    /// Starts all chance from `seed`.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Subject<S> {
        self.seed = seed;
        self
    }

    /// Repeats what depends on chance so often, with so many threads.
    #[must_use]
    pub fn with_effort(mut self, rounds: u32, threads: u32) -> Subject<S> {
        assert!(rounds > 0 && threads > 1, "an effort needs a round and two threads at least");
        (self.rounds, self.threads) = (rounds, threads);
        self
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    pub(super) fn threads(&self) -> u32 {
        self.threads
    }

    /// A source of chance for one check.
    pub(super) fn chance(&self) -> Rng {
        Rng::new(self.seed)
    }

    /// A new set that the store locks.
    pub(super) fn set(&self) -> Result<SetId> {
        self.set_with(&SetAttributes::default())
    }

    /// A new set that its callers lock, if the store offers that.
    pub(super) fn callers_set(&self) -> Result<Option<SetId>> {
        if !self.store.capabilities().caller_locking {
            return Ok(None);
        }
        let attributes = SetAttributes { locking: Locking::Caller, ..SetAttributes::default() };
        self.set_with(&attributes).map(Some)
    }

    fn set_with(&self, attributes: &SetAttributes) -> Result<SetId> {
        self.store.create_set(&self.unused_name()?, attributes)
    }

    /// A name that no set of the store has.
    pub(super) fn unused_name(&self) -> Result<String> {
        let mut number = 0;
        loop {
            let name = format!("CONFORMANCE.S{number}");
            if self.store.set(&name)?.is_none() {
                return Ok(name);
            }
            number += 1;
        }
    }

    /// Begins a unit of work that changes something.
    pub(super) fn begin(&self) -> Result<S::Unit> {
        self.store.begin(patient())
    }

    /// Begins a unit of work that waits for no lock.
    pub(super) fn begin_impatient(&self) -> Result<S::Unit> {
        self.store.begin(UnitOptions { wait: Wait::No, ..UnitOptions::default() })
    }

    /// Runs and commits a unit of work.
    pub(super) fn run<T>(&self, body: impl FnMut(&mut S::Unit) -> Result<T>) -> Result<T> {
        store::run(&self.store, patient(), body)
    }

    /// A set with these entries.
    pub(super) fn set_of(&self, entries: &[(&[u8], &[u8])]) -> Result<SetId> {
        let set = self.set()?;
        self.fill(set, entries)?;
        Ok(set)
    }

    pub(super) fn fill(&self, set: SetId, entries: &[(&[u8], &[u8])]) -> Result<()> {
        self.run(|unit| entries.iter().try_for_each(|(key, value)| unit.put(set, key, value)))
    }

    /// The committed entries of a set, read forward.
    pub(super) fn contents(&self, set: SetId) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        self.run(|unit| Ok(scan(&self.store, unit, set, KeyRange::ALL)?.into_iter().collect()))
    }

    /// The committed keys of a set as text, which is how most checks write them.
    pub(super) fn keys(&self, set: SetId) -> Result<String> {
        let keys = self.contents(set)?.into_keys();
        let text = |key: Vec<u8>| String::from_utf8_lossy(&key).into_owned();
        Ok(keys.map(text).collect::<Vec<_>>().join(" "))
    }

    /// The committed value of a key.
    pub(super) fn value(&self, set: SetId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.run(|unit| get(unit, set, key, Read::Shared))
    }
}

/// Something that a unit of work does to a set.
pub(super) type Change<S> = fn(&mut <S as Store>::Unit, SetId) -> Result<()>;

/// Options for a unit of work that waits, but not forever.
pub(super) fn patient() -> UnitOptions {
    UnitOptions { wait: Wait::AtMost(PATIENCE), ..UnitOptions::default() }
}

/// The value of a key.
pub(super) fn get<U: Unit>(
    unit: &mut U,
    set: SetId,
    key: &[u8],
    read: Read,
) -> Result<Option<Vec<u8>>> {
    let mut value = Vec::new();
    Ok(unit.get(set, key, read, &mut value)?.then_some(value))
}

/// All entries of a range, read forward and shared.
pub(super) fn scan<S: Store>(
    store: &S,
    unit: &mut S::Unit,
    set: SetId,
    range: KeyRange<'_>,
) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut cursor = store.cursor(set)?;
    cursor.limit(range);
    let mut entries = Vec::new();
    while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
        entries.push((entry.key.to_vec(), entry.value.to_vec()));
    }
    Ok(entries)
}

/// Runs bodies on threads of their own and answers what they answered, in their order.
pub(super) fn parallel<T: Send + 'static>(
    bodies: Vec<Box<dyn FnOnce() -> Found<T> + Send>>,
) -> Found<Vec<T>> {
    let answers: Arc<Mutex<BTreeMap<usize, _>>> = Arc::default();
    let start = |(index, body): (usize, Box<dyn FnOnce() -> _ + Send>)| {
        let answers = Arc::clone(&answers);
        let body = move || {
            let answer = body();
            answers.lock().insert(index, answer);
        };
        seam::thread::spawn(&format!("conformance-{index}"), body)
            .map_err(|error| Failure::new(format!("no thread to be had: {error}")))
    };
    let threads = bodies.into_iter().enumerate().map(start).collect::<Vec<_>>();
    for thread in threads {
        thread?.join();
    }
    std::mem::take(&mut *answers.lock()).into_values().collect()
}

/// Runs one body on several threads; it is given its number.
pub(super) fn on_threads<T: Send + 'static>(
    threads: u32,
    body: impl Fn(u32) -> Found<T> + Send + Sync + 'static,
) -> Found<Vec<T>> {
    let body = Arc::new(body);
    let one = |number| {
        let body = Arc::clone(&body);
        Box::new(move || body(number)) as Box<dyn FnOnce() -> _ + Send>
    };
    parallel((0..threads).map(one).collect())
}

/// Where threads wait for each other, but not for long.
#[derive(Default)]
pub(super) struct Meeting {
    arrived: Mutex<u32>,
    changed: Condvar,
}

impl Meeting {
    /// Waits until `expected` have come, or a moment has passed; whether they have.
    pub(super) fn meet(&self, expected: u32) -> bool {
        let mut arrived = self.arrived.lock();
        *arrived += 1;
        self.changed.notify_all();
        while *arrived < expected {
            if !self.changed.wait_for(&mut arrived, Duration::from_millis(200)) {
                return *arrived >= expected;
            }
        }
        true
    }
}

/// A sink that remembers what it was told.
#[derive(Default)]
pub(super) struct Notes {
    received: Mutex<Received>,
    changed: Condvar,
}

#[derive(Default)]
struct Received {
    calls: Vec<(u64, Result<Committed>)>,
    /// How many calls had come when the last batch ended.
    in_batches: usize,
}

impl CommitSink for Notes {
    fn settled(&self, token: u64, outcome: Result<Committed>) {
        self.received.lock().calls.push((token, outcome));
    }

    fn batch_settled(&self) {
        let mut received = self.received.lock();
        received.in_batches = received.calls.len();
        self.changed.notify_all();
    }
}

impl Notes {
    /// The same notes, as the store and as the check see them.
    pub(super) fn shared() -> (Arc<Notes>, Arc<dyn CommitSink>) {
        let notes = Arc::new(Notes::default());
        let sink: Arc<dyn CommitSink> = Arc::clone(&notes) as _;
        (notes, sink)
    }

    /// What was told, once so many calls and the end of their batch have come.
    pub(super) fn wait(&self, calls: usize) -> Found<Vec<(u64, Committed)>> {
        let mut received = self.received.lock();
        while received.in_batches < calls {
            if !self.changed.wait_for(&mut received, PATIENCE) {
                let (seen, batched) = (received.calls.len(), received.in_batches);
                return Err(Failure::new(format!(
                    "{calls} commits were queued, {seen} of them settled, {batched} in batches \
                     that ended"
                )));
            }
        }
        let committed = |(token, outcome): &(u64, Result<Committed>)| match outcome {
            Ok(committed) => Ok((*token, *committed)),
            Err(error) => Err(Failure::new(format!("commit {token} was not settled: {error}"))),
        };
        received.calls.iter().map(committed).collect()
    }
}

/// Whether an error is one of those with which a store keeps units of work apart.
pub(super) fn keeps_apart(error: &StoreError) -> bool {
    matches!(error, StoreError::Timeout(_)) || error.is_retryable()
}

/// An eight-byte number, as counters in the checks are stored.
pub(super) fn number_of(value: &[u8]) -> Found<u64> {
    let bytes = value.try_into();
    let bytes = bytes.map_err(|_| Failure::new(format!("a counter holds {value:?}")))?;
    Ok(u64::from_be_bytes(bytes))
}

/// A check that does not apply passes: the store says so in its capabilities.
pub(super) const NOT_OFFERED: Checked = Ok(());
