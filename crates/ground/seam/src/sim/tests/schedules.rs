//! Tasks, locks, time and the ends of runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use super::super::*;
use super::*;
use crate::disk::{Create, Open};
use crate::sync::{Condvar, Mutex, RawLatch};
use crate::thread;

#[test]
fn a_mutex_excludes_and_a_condition_wakes_under_every_schedule() {
    for seed in 0..200 {
        let total = AtomicU32::new(0);
        run(SimConfig::new(seed), SimDisk::new(), |_| {
            let shared = Arc::new((Mutex::new((0_u32, 0_u32)), Condvar::new()));
            let threads: Vec<_> = (0..4)
                .map(|number| {
                    let shared = Arc::clone(&shared);
                    thread::spawn(&format!("worker {number}"), move || {
                        for _ in 0..20 {
                            let mut state = shared.0.lock();
                            let before = state.0;
                            thread::yield_now();
                            assert_eq!(state.0, before, "the mutex was shared");
                            state.0 += 1;
                            shared.1.notify_one();
                        }
                        shared.0.lock().1 += 1;
                        shared.1.notify_all();
                    })
                    .unwrap()
                })
                .collect();
            let mut state = shared.0.lock();
            while state.1 < 4 {
                shared.1.wait(&mut state);
            }
            total.store(state.0, SeqCst);
            drop(state);
            threads.into_iter().for_each(thread::JoinHandle::join);
        })
        .expect_completed();
        assert_eq!(total.load(SeqCst), 80);
    }
}

#[test]
#[allow(unsafe_code)]
fn a_latch_admits_readers_together_and_writers_alone() {
    let together = AtomicU32::new(0);
    for seed in 0..50 {
        let most = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&most);
        run(SimConfig::new(seed), SimDisk::new(), |_| {
            let latch = Arc::new((RawLatch::default(), AtomicU32::new(0), AtomicU32::new(0)));
            for number in 0..6 {
                let (latch, seen) = (Arc::clone(&latch), Arc::clone(&seen));
                let body = move || {
                    let (raw, readers, writers) = &*latch;
                    if number % 2 == 0 {
                        raw.lock_shared();
                        seen.fetch_max(readers.fetch_add(1, SeqCst) + 1, SeqCst);
                        assert_eq!(writers.load(SeqCst), 0);
                        thread::yield_now();
                        readers.fetch_sub(1, SeqCst);
                        // SAFETY: locked above.
                        unsafe { raw.unlock_shared() };
                    } else {
                        raw.lock_exclusive();
                        assert_eq!(writers.fetch_add(1, SeqCst) + readers.load(SeqCst), 0);
                        thread::yield_now();
                        writers.fetch_sub(1, SeqCst);
                        // SAFETY: locked above.
                        unsafe { raw.unlock_exclusive() };
                    }
                };
                thread::spawn("holder", body).unwrap();
            }
            (0..1_000).for_each(|_| thread::yield_now());
        })
        .expect_completed();
        together.fetch_max(most.load(SeqCst), SeqCst);
    }
    assert_eq!(together.load(SeqCst), 3, "readers never met");
}

#[test]
fn a_deadlock_is_reported_with_who_waits_where_for_whom() {
    let outcome = (0..100)
        .map(|seed| {
            run(SimConfig::new(seed), SimDisk::new(), |_| {
                let pair = Arc::new((Mutex::new(()), Mutex::new(())));
                let other = Arc::clone(&pair);
                let crossing = thread::spawn("crossing", move || {
                    let _second = other.1.lock();
                    let _first = other.0.lock();
                })
                .unwrap();
                let _first = pair.0.lock();
                let _second = pair.1.lock();
                drop((_first, _second));
                crossing.join();
            })
        })
        .find(|outcome| outcome.end != End::Completed)
        .expect("no seed crossed the locks");
    let End::Deadlocked(report) = outcome.end else { panic!("{outcome}") };
    assert!(report.contains("`crossing` waits for a mutex at"), "{report}");
    assert!(report.contains("held by task 0 `main`"), "{report}");
    assert!(report.contains("schedules.rs"), "{report}");
}

/// Some threads that draw and wait; leaves a trace that depends on the schedule.
fn tangle(config: SimConfig) -> (Outcome, Vec<u64>) {
    let trace = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&trace);
    let outcome = run(config, SimDisk::new(), move |seam| {
        let threads: Vec<_> = (0..5_u64)
            .map(|number| {
                let (shared, seam) = (Arc::clone(&shared), seam.clone());
                let body = move || {
                    let file = Open::DATA.create(Create::IfMissing);
                    let file = seam.disk.open("/file".as_ref(), file).unwrap();
                    for round in 0..10 {
                        let mut drawn = [0; 2];
                        seam.entropy.fill(&mut drawn).unwrap();
                        seam.clock.sleep(Duration::from_micros(drawn[0].into()));
                        file.write_at(&page(drawn[1]), number * 4096).unwrap();
                        let time = seam.clock.monotonic().as_nanos() as u64;
                        shared.lock().push(number << 32 ^ round << 16 ^ time);
                    }
                };
                thread::spawn("tangled", body).unwrap()
            })
            .collect();
        threads.into_iter().for_each(thread::JoinHandle::join);
    });
    let trace = std::mem::take(&mut *trace.lock());
    (outcome, trace)
}

#[test]
fn the_same_seed_replays_and_others_differ() {
    let mut fingerprints = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let config = SimConfig { schedule: true, ..SimConfig::new(seed) };
        let (one, one_trace) = tangle(config.clone());
        let (two, two_trace) = tangle(config);
        one.expect_completed();
        assert_eq!(one_trace.len(), 50);
        assert_eq!(one_trace, two_trace);
        assert_eq!(one.schedule, two.schedule);
        assert_eq!((one.fingerprint, one.time), (two.fingerprint, two.time));
        fingerprints.insert(one.fingerprint);
    }
    assert_eq!(fingerprints.len(), 20);
}

#[test]
fn waits_end_in_virtual_time() {
    let outcome = run(SimConfig::new(1), SimDisk::new(), |seam| {
        let begin = seam.clock.monotonic();
        seam.clock.sleep(Duration::from_hours(1));
        let mutex = Mutex::new(());
        let condvar = Condvar::new();
        let mut guard = mutex.lock();
        while condvar.wait_for(&mut guard, Duration::from_hours(1)) {}
        assert!(seam.clock.monotonic() - begin >= Duration::from_hours(2));
        let utc = seam.clock.utc_us();
        seam.clock.sleep(Duration::from_secs(1));
        assert!(seam.clock.utc_us() - utc >= 1_000_000);
    });
    outcome.expect_completed();
    assert!(outcome.time < Duration::from_hours(3));
}

/// Counts itself while it lives, and locks when it dies, as kernel objects may.
struct Counted(Arc<(AtomicU64, Mutex<u32>)>);

impl Counted {
    fn new(shared: &Arc<(AtomicU64, Mutex<u32>)>) -> Counted {
        shared.0.fetch_add(1, SeqCst);
        Counted(Arc::clone(shared))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, SeqCst);
        *self.0.1.lock() += 1;
    }
}

/// Threads that hold locks, wait, sleep, write and have not begun when the machine crashes.
fn crowd(config: SimConfig, end: fn()) -> (Outcome, u64, usize) {
    let shared = Arc::new((AtomicU64::new(0), Mutex::new(0)));
    let held = Arc::new((Mutex::new(0_u32), Condvar::new()));
    let outcome = run(config, SimDisk::new(), |seam| {
        for number in 0..12 {
            let (seam, shared, held) = (seam.clone(), Arc::clone(&shared), Arc::clone(&held));
            let outer = Counted::new(&shared);
            let body = move || {
                let _counted = (outer, Counted::new(&shared), vec![Counted::new(&shared)]);
                let mut guard = held.0.lock();
                if number % 3 == 0 {
                    held.1.wait(&mut guard);
                }
                let _late = Counted::new(&shared);
                let inner = shared.1.lock();
                seam.clock.sleep(Duration::from_micros(number));
                drop(inner);
                let how = Open::DATA.create(Create::IfMissing);
                let file = seam.disk.open("/file".as_ref(), how).unwrap();
                file.write_at(&page(7), 0).unwrap();
                *guard += 1;
                drop(guard);
                held.1.notify_all();
                seam.clock.sleep(Duration::from_secs(10));
            };
            thread::spawn("one of many", body).unwrap();
        }
        let _mine = Counted::new(&shared);
        (0..40).for_each(|_| thread::yield_now());
        let _guard = shared.1.try_lock();
        end();
        seam.clock.sleep(Duration::from_secs(100));
    });
    (outcome, shared.0.load(SeqCst), Arc::strong_count(&shared))
}

#[test]
fn a_crash_unwinds_every_thread_and_frees_what_it_holds() {
    for seed in 0..300 {
        let (outcome, alive, references) = crowd(SimConfig::new(seed), crash);
        assert_eq!(outcome.end, End::Crashed, "{outcome}");
        assert!(outcome.tasks_left > 0);
        assert_eq!((alive, references), (0, 1), "seed {seed}");
    }
    for point in 0..300 {
        let config = SimConfig { crash_at_point: Some(point), ..SimConfig::new(point) };
        let (outcome, alive, references) = crowd(config, || ());
        assert!(matches!(outcome.end, End::Crashed | End::Completed), "{outcome}");
        assert_eq!((alive, references), (0, 1), "point {point}");
    }
}

#[test]
fn a_panic_ends_the_run_with_its_text_and_unwinds_the_others() {
    for seed in 0..100 {
        let (outcome, alive, references) =
            crowd(SimConfig::new(seed), || panic!("the books do not balance"));
        let End::Panicked { task, message } = &outcome.end else { panic!("{outcome}") };
        assert_eq!(task, "main");
        assert!(message.contains("the books do not balance"), "{message}");
        assert!(message.contains("schedules.rs"), "{message}");
        assert_eq!((alive, references), (0, 1), "seed {seed}");
    }
}

#[test]
fn the_end_of_main_ends_the_run_and_counts_who_was_left() {
    let (outcome, alive, references) = crowd(SimConfig::new(3), || ());
    outcome.expect_completed();
    assert_eq!((alive, references), (0, 1));
    let outcome = run(SimConfig::new(1), SimDisk::new(), |_| {
        let never = Condvar::new();
        thread::spawn("background", move || never.wait(&mut Mutex::new(()).lock())).unwrap();
    });
    outcome.expect_completed();
    assert_eq!(outcome.tasks_left, 1);
}

#[test]
fn a_run_without_end_is_noticed() {
    let config = SimConfig { points_max: 10_000, ..SimConfig::new(1) };
    let outcome = run(config, SimDisk::new(), |_| {
        loop {
            thread::yield_now();
        }
    });
    let End::Endless(report) = outcome.end else { panic!("{outcome}") };
    assert!(report.contains("`main` could run"), "{report}");
}

#[test]
fn two_lives_draw_different_bytes_from_the_same_seed() {
    let disk = SimDisk::new();
    let drawn: Vec<u128> = (0..2)
        .map(|_| {
            let mut bytes = [0; 16];
            run(SimConfig::new(1), disk.clone(), |seam| {
                seam.entropy.fill(&mut bytes).unwrap();
            })
            .expect_completed();
            u128::from_le_bytes(bytes)
        })
        .collect();
    assert_ne!(drawn[0], drawn[1]);
}

#[test]
fn rare_branches_are_taken_in_some_runs_and_counted() {
    assert!(!crate::rarely("outside"));
    let taken = (0..64).filter(|seed| {
        let outcome = run(SimConfig::new(*seed), SimDisk::new(), |_| {
            let taken = |_: &u32| crate::rarely("the queue is full");
            assert!((0..100).filter(taken).count() <= 100);
        });
        let count = outcome.rarely["the queue is full"];
        assert_eq!(count.asked, 100);
        count.taken > 0
    });
    assert!((5..40).contains(&taken.count()));
}

/// Does in its destructor all that a destructor should not do.
struct Stubborn {
    seam: crate::Seam,
    shared: Arc<(Mutex<u32>, Condvar, RawLatch)>,
    thread: Option<thread::JoinHandle>,
    ended: Arc<AtomicU32>,
}

impl Drop for Stubborn {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        self.ended.fetch_add(1, SeqCst);
        *self.shared.0.lock() += 1;
        let mut guard = self.shared.0.lock();
        while self.shared.1.wait_for(&mut guard, Duration::from_secs(1)) && *guard < 3 {
            *guard += 1;
        }
        drop(guard);
        self.shared.2.lock_exclusive();
        // SAFETY: locked above.
        unsafe { self.shared.2.unlock_exclusive() };
        self.seam.clock.sleep(Duration::from_secs(1));
        if std::thread::panicking() {
            let opened = self.seam.disk.open("/file".as_ref(), Open::READ);
            assert!(opened.is_err(), "a dead machine opened a file");
        }
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}

#[test]
#[allow(unsafe_code)]
fn destructors_that_lock_wait_sleep_and_join_do_not_stop_a_crash() {
    for seed in 0..300 {
        let ended = Arc::new(AtomicU32::new(0));
        let (count, made) = (Arc::clone(&ended), AtomicU32::new(0));
        let outcome = run(SimConfig::new(seed), SimDisk::new(), |seam| {
            let how = Open::DATA.create(Create::New);
            seam.disk.open("/file".as_ref(), how).unwrap();
            let shared = Arc::new((Mutex::new(0), Condvar::new(), RawLatch::default()));
            let stubborn = |thread| {
                made.fetch_add(1, SeqCst);
                let (seam, shared, ended) = (seam.clone(), Arc::clone(&shared), Arc::clone(&count));
                Stubborn { seam, shared, thread, ended }
            };
            for _ in 0..3 {
                let inner = stubborn(None);
                let thread = thread::spawn("inner", move || {
                    let _inner = inner;
                    thread::yield_now();
                });
                let outer = stubborn(thread.ok());
                let shared = Arc::clone(&shared);
                let body = move || {
                    let _outer = outer;
                    let _guard = shared.0.lock();
                    shared.2.lock_shared();
                    thread::yield_now();
                    // Leaves the latch locked and the guard to be dropped before the rest.
                    panic_or_wait(seed);
                    // SAFETY: locked above.
                    unsafe { shared.2.unlock_shared() };
                };
                thread::spawn("outer", body).unwrap();
            }
            let _mine = stubborn(None);
            let _lock = shared.0.lock();
            (0..20).for_each(|_| thread::yield_now());
            crash();
        });
        assert!(matches!(outcome.end, End::Crashed | End::Panicked { .. }), "{outcome}");
        assert_eq!(ended.load(SeqCst), made.load(SeqCst), "seed {seed}");
    }
}

fn panic_or_wait(seed: u64) {
    if seed.is_multiple_of(5) {
        panic!("on purpose");
    }
    thread::yield_now();
}

#[test]
fn a_panic_that_is_caught_is_no_news() {
    let outcome = run(SimConfig::new(1), SimDisk::new(), |_| {
        let shared = Arc::new((AtomicU64::new(0), Mutex::new(0)));
        let caught = thread::catch(|| {
            let _counted = Counted::new(&shared);
            panic!("contained");
        });
        assert_eq!(caught, Err::<(), _>("contained".to_owned()));
        assert_eq!((shared.0.load(SeqCst), *shared.1.lock()), (0, 1));
    });
    outcome.expect_completed();
}

#[test]
fn a_thread_that_catches_panics_does_not_survive_a_crash() {
    let outcome = run(SimConfig::new(1), SimDisk::new(), |_| {
        let body = || loop {
            let _ = thread::catch(thread::yield_now);
        };
        thread::spawn("clinging", body).unwrap();
        (0..10).for_each(|_| thread::yield_now());
        crash();
    });
    assert_eq!(outcome.end, End::Crashed);
}

#[test]
fn a_race_between_locks_is_found_by_many_seeds() {
    let broken = (0..200).filter(|seed| {
        let total = Arc::new(AtomicU32::new(0));
        let shared = Arc::clone(&total);
        run(SimConfig::new(*seed), SimDisk::new(), move |_| {
            let lock = Arc::new(Mutex::new(()));
            let threads = (0..3).map(|_| {
                let (lock, shared) = (Arc::clone(&lock), Arc::clone(&shared));
                let body = move || {
                    // Reads under one lock and writes under the next.
                    let read = {
                        let _held = lock.lock();
                        shared.load(SeqCst)
                    };
                    let _held = lock.lock();
                    shared.store(read + 1, SeqCst);
                };
                thread::spawn("racer", body).unwrap()
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().for_each(thread::JoinHandle::join);
        })
        .expect_completed();
        total.load(SeqCst) < 3
    });
    assert!(broken.count() > 20);
}

#[test]
fn a_lost_wake_up_is_found_as_a_deadlock() {
    let broken = (0..200).filter(|seed| {
        let config = SimConfig { spurious_wakes: false, ..SimConfig::new(*seed) };
        let outcome = run(config, SimDisk::new(), |_| {
            let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicU32::new(0)));
            let other = Arc::clone(&shared);
            thread::spawn("waker", move || {
                // The flag is set without the mutex that the sleeper looks at it under.
                other.2.store(1, SeqCst);
                other.1.notify_all();
            })
            .unwrap();
            let mut guard = shared.0.lock();
            while shared.2.load(SeqCst) == 0 {
                thread::point();
                shared.1.wait(&mut guard);
            }
        });
        matches!(outcome.end, End::Deadlocked(_))
    });
    assert!(broken.count() > 2);
}
