//! Random scripts under the simulator, which draws from a seed who runs when: no wake is lost, no
//! deadlock stays (the simulator would say that all threads wait for each other), holders never
//! exclude each other, victims are chosen by the rule, and all locks are free at the end.
//!
//! A seed replays: `HOLDFAST_SEED=17 cargo test -p holdfast-lock --test all simulation`.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use base::{DataSetId, UowId};
use holdfast_lock::{LockConfig, LockError, LockManager, LockName, Mode, Owner, Wait};
use seam::Seam;
use seam::sim::{self, Rng, SimConfig, SimDisk};
use seam::stop::StopSwitch;
use seam::sync::Mutex;

const SEEDS: u64 = 6_000;

/// What happened over all seeds, to prove that the scripts reach what they should.
#[derive(Default)]
struct Coverage {
    waits: AtomicU64,
    deadlocks: AtomicU64,
    timeouts: AtomicU64,
    immune: AtomicU64,
    long_cycles: AtomicU64,
    escalations: AtomicU64,
}

/// Who holds what, as the threads themselves see it. It never shows more than is held.
#[derive(Default)]
struct Witness(Mutex<Vec<(UowId, LockName, Mode)>>);

impl Witness {
    fn enter(&self, uow: UowId, name: LockName, mode: Mode) {
        let mut all = self.0.lock();
        all.retain(|(other, held, _)| (*other, *held) != (uow, name));
        for (other, _, held) in all.iter().filter(|(_, held, _)| *held == name) {
            assert!(
                mode.compatible(*held),
                "{name} is held in {mode} by {uow} and in {held} by {other}"
            );
        }
        all.push((uow, name, mode));
    }

    fn leave(&self, uow: UowId, name: Option<LockName>) {
        self.0
            .lock()
            .retain(|(other, held, _)| *other != uow || name.is_some_and(|name| name != *held));
    }
}

struct Machine {
    locks: LockManager,
    witness: Witness,
    clock: Arc<dyn seam::clock::Clock>,
    timeouts: bool,
    coverage: Arc<Coverage>,
}

const SET: DataSetId = DataSetId(1);

fn name_of(number: usize) -> LockName {
    match number {
        0 => LockName::set(SET),
        1 => LockName::end(SET),
        key => LockName::key(SET, &[key as u8]),
    }
}

impl Machine {
    /// A unit of work; how often it was chosen, in a row, if it was this time.
    fn work(&self, rng: &mut Rng, uow: UowId, chosen: u32, names: usize) -> u32 {
        let mut owner = self.locks.owner(uow, chosen);
        owner.add_log_weight(rng.below(50));
        let mut lost = 0;
        for _ in 0..1 + rng.index(8) {
            if let Err(error) = self.step(rng, &mut owner, names) {
                match error {
                    LockError::Deadlock { victim, cycle, .. } => {
                        assert_eq!(victim, uow);
                        assert!(cycle.contains(&uow) && cycle.len() >= 2, "{cycle:?}");
                        self.coverage.long_cycles.fetch_add(u64::from(cycle.len() > 2), Relaxed);
                        lost = owner.times_chosen();
                        break;
                    }
                    LockError::Timeout { holder, .. } => {
                        assert!(self.timeouts);
                        assert_ne!(holder, uow);
                    }
                    LockError::WouldBlock { holder, .. } => assert_ne!(holder, uow),
                    error => panic!("{error}"),
                }
            }
        }
        self.coverage.immune.fetch_add(u64::from(chosen >= 2 && lost == 0), Relaxed);
        self.witness.leave(uow, None);
        self.locks.release_all(&mut owner);
        lost
    }

    fn step(&self, rng: &mut Rng, owner: &mut Owner, names: usize) -> Result<(), LockError> {
        let name = name_of(rng.index(names));
        let mode = Mode::ALL[rng.index(6)];
        let wait = match rng.index(10) {
            0 => Wait::No,
            1 if self.timeouts => Wait::AtMost(Duration::from_nanos(rng.below(50_000))),
            _ => Wait::Yes,
        };
        let uow = owner.uow();
        match rng.index(20) {
            0 => self.locks.acquire_instant(owner, name, mode, wait)?,
            1 => {
                self.witness.leave(uow, Some(name));
                self.locks.release(owner, name);
            }
            2 if self.locks.holds(owner, name, Mode::Shared) => {
                self.witness.enter(uow, name, Mode::Shared);
                self.locks.downgrade(owner, name, Mode::Shared)?;
            }
            3 => {
                // What it gives back may be granted to others before it returns.
                self.witness.leave(uow, None);
                let result = self.locks.escalate(owner, SET, mode, wait);
                for key in 0..names {
                    if let Some(mode) = owner.mode_of(name_of(key)) {
                        self.witness.enter(uow, name_of(key), mode);
                    }
                }
                result?;
                self.coverage.escalations.fetch_add(1, Relaxed);
            }
            4 => self.clock.sleep(Duration::from_nanos(rng.below(20_000))),
            _ => {
                self.locks.acquire(owner, name, mode, wait)?;
                let held = owner.mode_of(name).unwrap();
                assert!(held.covers(mode));
                self.witness.enter(uow, name, held);
            }
        }
        Ok(())
    }
}

fn scripts(seam: &Seam, seed: u64, coverage: &Arc<Coverage>) {
    let mut rng = Rng::stream(seed, "scripts");
    let threads = 2 + rng.index(5);
    let most = [1, 2, 4, 8][rng.index(4)];
    let names = 2 + rng.index(most);
    let units = 1 + rng.index(6) as u64;
    let config = LockConfig { shards: 1 << rng.index(4), ..LockConfig::default() };
    let clock = Arc::clone(&seam.clock);
    let machine = Arc::new(Machine {
        locks: LockManager::new(Arc::clone(&clock), LockConfig { locks_max: 4_096, ..config }),
        witness: Witness::default(),
        clock,
        timeouts: rng.one_in(2),
        coverage: Arc::clone(coverage),
    });
    let running: Vec<_> = (0..threads as u64)
        .map(|thread| {
            let machine = Arc::clone(&machine);
            let body = move || {
                let mut rng = Rng::stream(seed, &format!("thread {thread}"));
                for unit in 0..units {
                    let mut chosen = 0;
                    loop {
                        let uow = UowId(1 + thread + 100 * unit);
                        chosen = machine.work(&mut rng, uow, chosen, names);
                        if chosen == 0 {
                            break;
                        }
                    }
                    // One shard at a time, so this may run at any moment.
                    machine.locks.check();
                }
            };
            seam::thread::spawn(&format!("thread {thread}"), body).unwrap()
        })
        .collect();
    running.into_iter().for_each(seam::thread::JoinHandle::join);
    machine.locks.check();
    let statistics = machine.locks.statistics();
    assert_eq!((statistics.held, statistics.waiting, statistics.owners_abandoned), (0, 0, 0));
    assert!(machine.locks.print().is_empty());
    coverage.waits.fetch_add(statistics.waits, Relaxed);
    coverage.deadlocks.fetch_add(statistics.deadlocks, Relaxed);
    coverage.timeouts.fetch_add(statistics.timeouts, Relaxed);
}

/// The seeds to run: all, or the one that `HOLDFAST_SEED` names.
fn seeds(count: u64) -> std::ops::Range<u64> {
    match std::env::var("HOLDFAST_SEED").ok().and_then(|text| text.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..count,
    }
}

fn machine_of(seed: u64) -> SimConfig {
    SimConfig { stack_bytes: 256 << 10, points_max: 2_000_000, ..SimConfig::new(seed) }
}

#[test]
fn random_scripts_end_with_all_locks_free_whoever_runs_when() {
    let coverage = Arc::new(Coverage::default());
    let range = seeds(SEEDS);
    let all = range.clone().count() > 1;
    for seed in range {
        sim::run(machine_of(seed), SimDisk::new(), |seam| scripts(&seam, seed, &coverage))
            .expect_completed();
    }
    if all {
        let Coverage { waits, deadlocks, timeouts, immune, long_cycles, escalations } = &*coverage;
        for counter in [waits, deadlocks, timeouts, immune, long_cycles, escalations] {
            assert!(counter.load(Relaxed) > 100, "the scripts no longer reach something");
        }
    }
}

#[test]
fn a_stop_at_any_moment_ends_every_wait() {
    let woken = AtomicU64::new(0);
    for seed in seeds(500) {
        let run = |seam: Seam| {
            let config = LockConfig { locks_max: 1_024, ..LockConfig::default() };
            let locks = Arc::new(LockManager::new(Arc::clone(&seam.clock), config));
            let stopped_waits = Arc::new(AtomicU64::new(0));
            let done = Arc::new(AtomicBool::new(false));
            let threads: Vec<_> = (0..4_u64)
                .map(|thread| {
                    let (locks, done) = (Arc::clone(&locks), Arc::clone(&done));
                    let stopped_waits = Arc::clone(&stopped_waits);
                    let body = move || {
                        let mut rng = Rng::stream(seed, &format!("thread {thread}"));
                        let mut owner = locks.owner(UowId(thread + 1), 0);
                        while !done.load(Relaxed) {
                            let name = LockName::user(1, rng.below(3));
                            let got = locks.acquire(&mut owner, name, Mode::Exclusive, Wait::Yes);
                            match got {
                                Ok(_) if rng.one_in(3) => locks.release_all(&mut owner),
                                Ok(_) => seam::thread::yield_now(),
                                Err(LockError::Stopped(stopped)) => {
                                    assert_eq!(stopped.reason, "first");
                                    stopped_waits.fetch_add(1, Relaxed);
                                    break;
                                }
                                Err(_) => locks.release_all(&mut owner),
                            }
                        }
                        // A stopped kernel releases nothing; the others must end all the same.
                        std::mem::forget(owner);
                    };
                    seam::thread::spawn(&format!("thread {thread}"), body).unwrap()
                })
                .collect();
            let mut rng = Rng::stream(seed, "stop");
            seam.clock.sleep(Duration::from_nanos(rng.below(100_000)));
            let switch = StopSwitch::default();
            locks.wake_all_stopped(&switch.stop("first"));
            locks.wake_all_stopped(&switch.stop("second"));
            done.store(true, Relaxed);
            threads.into_iter().for_each(seam::thread::JoinHandle::join);
            assert_eq!(locks.statistics().waiting, 0);
            woken.fetch_add(stopped_waits.load(Relaxed), Relaxed);
        };
        sim::run(machine_of(seed), SimDisk::new(), run).expect_completed();
    }
    assert!(woken.load(Relaxed) > 0, "no seed stopped anybody who waited");
}

/// Once a search for a cycle met an owner whose slot was made after the search had begun, and
/// looked for it beyond the end of its own memory.
#[test]
fn an_owner_may_come_and_be_granted_something_during_a_search() {
    for seed in seeds(2_000) {
        let run = |seam: Seam| {
            let config = LockConfig { locks_max: 64, shards: 2, ..LockConfig::default() };
            let locks = Arc::new(LockManager::new(Arc::clone(&seam.clock), config));
            // The last one, when it asks for Shared, stands against the second all of a sudden.
            let scripts: [(u64, &[Mode]); 3] = [
                (1, &[Mode::Shared]),
                (2, &[Mode::IntentExclusive]),
                (3, &[Mode::IntentShared, Mode::Shared]),
            ];
            let threads: Vec<_> = scripts
                .into_iter()
                .map(|(thread, modes)| {
                    let (locks, clock) = (Arc::clone(&locks), Arc::clone(&seam.clock));
                    let body = move || {
                        let mut owner = locks.owner(UowId(thread), 0);
                        for mode in modes {
                            let name = LockName::user(1, 1);
                            if locks.acquire(&mut owner, name, *mode, Wait::Yes).is_err() {
                                break;
                            }
                        }
                        clock.sleep(Duration::from_micros(20));
                        locks.release_all(&mut owner);
                    };
                    seam::thread::spawn(&format!("thread {thread}"), body).unwrap()
                })
                .collect();
            threads.into_iter().for_each(seam::thread::JoinHandle::join);
            assert_eq!(locks.statistics().held, 0);
        };
        sim::run(machine_of(seed), SimDisk::new(), run).expect_completed();
    }
}

#[test]
fn one_seed_runs_the_same_way_twice() {
    let coverage = Arc::new(Coverage::default());
    for seed in seeds(20) {
        let run = || {
            let outcome =
                sim::run(machine_of(seed), SimDisk::new(), |seam| scripts(&seam, seed, &coverage));
            (outcome.fingerprint, outcome.points)
        };
        assert_eq!(run(), run(), "seed {seed}");
    }
}
