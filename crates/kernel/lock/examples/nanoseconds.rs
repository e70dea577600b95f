//! What a lock costs when nobody stands against it, in nanoseconds of one thread; then what it
//! costs when everybody wants the same one.
//!
//! ```text
//! cargo run --release -p holdfast-lock --example nanoseconds
//! ```
//!
//! It reports CPU time and asserts nothing: time is for people to judge.

use std::sync::Arc;

use base::{DataSetId, UowId};
use holdfast_lock::{LockConfig, LockManager, LockName, Mode, Owner, Wait};
use seam::clock::{Clock, RealClock, process_cpu_us};

const ROUNDS: u64 = 2_000_000;

fn main() {
    let clock: Arc<dyn Clock> = Arc::new(RealClock::new());
    let locks = LockManager::new(Arc::clone(&clock), LockConfig::default());
    let mut owner = locks.owner(UowId(1), 0);
    let time = |what: &str, per_round: u64, round: &mut dyn FnMut(u64)| {
        (0..ROUNDS / 10).for_each(&mut *round);
        let mut best = f64::MAX;
        for _ in 0..5 {
            let start = process_cpu_us();
            (0..ROUNDS / per_round).for_each(&mut *round);
            let time = (process_cpu_us() - start) as f64 * 1_000.0;
            best = best.min(time / (ROUNDS / per_round * per_round) as f64);
        }
        println!("{what:<52} {best:7.1} ns");
    };

    let one = LockName::user(1, 1);
    time("acquire and release of one name", 1, &mut |_| {
        take(&locks, &mut owner, one);
        locks.release(&mut owner, one);
    });
    time("acquire and release, 10,000 names in turn", 1, &mut |round| {
        let name = LockName::user(1, round % 10_000);
        take(&locks, &mut owner, name);
        locks.release(&mut owner, name);
    });
    time("acquire of 10 and release of all, each", 10, &mut |round| {
        for number in 0..10 {
            take(&locks, &mut owner, LockName::user(1, (round * 10 + number) % 10_000));
        }
        locks.release_all(&mut owner);
    });
    time("acquire of 1,000 and release of all, each", 1_000, &mut |_| {
        (0..1_000).for_each(|number| take(&locks, &mut owner, LockName::user(1, number)));
        locks.release_all(&mut owner);
    });
    time("instant duration", 1, &mut |round| {
        let name = LockName::user(1, round % 10_000);
        let free = locks.acquire_instant(&mut owner, name, Mode::Exclusive, Wait::No);
        assert!(free.is_ok());
    });
    let set = LockName::set(DataSetId(1));
    take(&locks, &mut owner, set);
    time("acquire of what is held already", 1, &mut |_| take(&locks, &mut owner, set));
    locks.release_all(&mut owner);
    time("a new owner, 4 locks, release of all, each owner", 1, &mut |round| {
        let mut owner = locks.owner(UowId(round), 0);
        (0..4).for_each(|number| take(&locks, &mut owner, LockName::user(1, round + number)));
        locks.release_all(&mut owner);
    });
    println!("everybody wants one name:");
    for (threads, hold) in
        [(2, 0), (2, 100), (2, 1_000), (4, 100), (4, 1_000), (16, 100), (200, 100)]
    {
        hot(&clock, threads, hold);
    }
}

/// Threads that all want one name and do some work before, and `hold` steps of it with the lock.
fn hot(clock: &Arc<dyn Clock>, threads: u64, hold: u64) {
    let each = 100_000 / threads;
    let locks = Arc::new(LockManager::new(Arc::clone(clock), LockConfig::default()));
    let (start, cpu) = (clock.monotonic(), process_cpu_us());
    let running: Vec<_> = (0..threads)
        .map(|thread| {
            let locks = Arc::clone(&locks);
            let body = move || {
                let mut owner = locks.owner(UowId(thread), 0);
                for round in 0..each {
                    let name = LockName::user(1, 1);
                    work(500, round);
                    let taken = locks.acquire(&mut owner, name, Mode::Exclusive, Wait::Yes);
                    assert!(taken.is_ok());
                    work(hold, round);
                    locks.release_all(&mut owner);
                }
            };
            seam::thread::spawn("hot", body).expect("a thread")
        })
        .collect();
    running.into_iter().for_each(seam::thread::JoinHandle::join);
    let rounds = (threads * each) as f64;
    let time = (clock.monotonic() - start).as_nanos() as f64 / rounds;
    let cpu = (process_cpu_us() - cpu) as f64 * 1_000.0 / rounds;
    let statistics = locks.statistics();
    let waits = statistics.waits as f64;
    let latched = 1_000.0 * statistics.graph_latch_us as f64 / waits.max(1.0);
    let waited = 100.0 * waits / rounds;
    println!(
        "{threads:>3} threads, held {hold:>5} steps: {time:7.0} ns a turn, {cpu:7.0} ns of CPU"
    );
    println!("    {waited:3.0} % waited, {latched:6.0} ns under the graph latch each");
}

/// About a nanosecond a step.
fn work(steps: u64, seed: u64) {
    let mut x = seed;
    (0..steps).for_each(|_| x = std::hint::black_box(x.wrapping_mul(0x9e37_79b9).rotate_left(7)));
}

fn take(locks: &LockManager, owner: &mut Owner, name: LockName) {
    let taken = locks.acquire(owner, name, Mode::Exclusive, Wait::No);
    assert!(taken.is_ok());
}
