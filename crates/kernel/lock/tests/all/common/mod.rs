//! Requests that block, each on a thread of its own, as values that a test can look at.

#![allow(dead_code)] // each test file uses its share
#![allow(clippy::unwrap_used)] // these are tests

use std::sync::Arc;
use std::time::Duration;

use base::UowId;
use holdfast_lock::{Acquired, LockConfig, LockError, LockManager, LockName, Mode, Owner, Wait};
use seam::clock::{Clock, RealClock};
use seam::sync::Mutex;
use seam::thread::JoinHandle;

pub(crate) fn manager() -> Arc<LockManager> {
    with(LockConfig { shards: 4, ..LockConfig::default() })
}

pub(crate) fn with(config: LockConfig) -> Arc<LockManager> {
    Arc::new(LockManager::new(Arc::new(RealClock::new()), config))
}

pub(crate) fn owners<const N: usize>(locks: &LockManager) -> [Owner; N] {
    std::array::from_fn(|at| locks.owner(UowId(at as u64 + 1), 0))
}

pub(crate) fn name(number: u64) -> LockName {
    LockName::user(1, number)
}

/// Takes a lock that must be free.
pub(crate) fn take(locks: &LockManager, owner: &mut Owner, number: u64, mode: Mode) {
    locks.acquire(owner, name(number), mode, Wait::No).unwrap();
}

/// A request on its own thread.
pub(crate) struct Pending {
    thread: JoinHandle,
    result: Arc<Mutex<Option<Answer>>>,
}

/// The owner comes back with what it was told.
type Answer = (Owner, Result<Acquired, LockError>);

/// Starts a request and returns once it waits, or has ended if a deadlock ended it at once.
pub(crate) fn ask(locks: &Arc<LockManager>, mut owner: Owner, number: u64, mode: Mode) -> Pending {
    let waits = locks.statistics().waits;
    let result = Arc::new(Mutex::new(None));
    let (inner, put) = (Arc::clone(locks), Arc::clone(&result));
    let thread = seam::thread::spawn("asker", move || {
        let got = inner.acquire(&mut owner, name(number), mode, Wait::Yes);
        *put.lock() = Some((owner, got));
    })
    .unwrap();
    until("the request waits", || locks.statistics().waits > waits);
    Pending { thread, result }
}

impl Pending {
    pub(crate) fn is_over(&self) -> bool {
        self.result.lock().is_some()
    }

    pub(crate) fn end(self) -> Answer {
        until("the request ends", || self.is_over());
        self.thread.join();
        let result = self.result.lock().take();
        result.unwrap()
    }

    /// Joins a request that must have been granted.
    pub(crate) fn granted(self) -> Owner {
        let (owner, result) = self.end();
        result.unwrap();
        owner
    }
}

/// Waits for something that another thread will do; fails loudly if it never does.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let clock = RealClock::new();
    while !done() {
        assert!(clock.monotonic() < Duration::from_secs(10), "this never happened: {what}");
        clock.sleep(Duration::from_micros(100));
    }
}

/// Gives everything back and checks that the table is empty and sound.
pub(crate) fn finish(locks: &LockManager, owners: impl IntoIterator<Item = Owner>) {
    for mut owner in owners {
        locks.release_all(&mut owner);
    }
    locks.check();
    let statistics = locks.statistics();
    assert_eq!((statistics.held, statistics.waiting, statistics.owners_abandoned), (0, 0, 0));
}
