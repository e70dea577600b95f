//! Real threads and few names: never two holders that exclude each other, never a wait that
//! nobody ends, and nothing left over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use crate::common::{finish, name, until, with};
use base::UowId;
use holdfast_lock::{LockConfig, LockError, LockManager, Mode, Wait};
use seam::clock::{Clock, RealClock};

const THREADS: u64 = 6;
const NAMES: usize = 8;
const ROUNDS: u64 = 1_000;

/// How many hold each name in each mode, as the threads themselves see it: counted up after a
/// lock was granted and down before it is given back, so it never shows more than is held.
#[derive(Default)]
struct Witness([[AtomicU32; 6]; NAMES]);

impl Witness {
    fn enter(&self, number: usize, mode: Mode) {
        self.0[number][mode as usize].fetch_add(1, SeqCst);
        let mut others: Vec<(Mode, u32)> =
            Mode::ALL.map(|held| (held, self.0[number][held as usize].load(SeqCst))).into();
        others[mode as usize].1 -= 1;
        for (held, count) in others {
            assert!(count == 0 || mode.compatible(held), "{number} is held in {mode} and {held}");
        }
    }

    fn leave(&self, number: usize, mode: Mode) {
        self.0[number][mode as usize].fetch_sub(1, SeqCst);
    }
}

/// A small generator; each thread has its own.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        base::hash::avalanche(self.0) % bound
    }
}

/// One unit of work: some locks in random order and modes, then all given back. Returns how often
/// it was chosen as a victim, in a row, this time included; zero if it got through.
fn work(locks: &LockManager, witness: &Witness, draw: &mut Draw, uow: UowId, chosen: u32) -> u32 {
    let mut owner = locks.owner(uow, chosen);
    owner.add_log_weight(draw.below(100));
    let mut held: [Option<Mode>; NAMES] = [None; NAMES];
    let mut lost = 0;
    let pause = RealClock::new();
    for _ in 0..1 + draw.below(5) {
        let number = draw.below(NAMES as u64) as usize;
        let mode = Mode::ALL[draw.below(6) as usize];
        let wait = match draw.below(8) {
            0 => Wait::No,
            1 => Wait::AtMost(Duration::from_micros(draw.below(300))),
            _ => Wait::Yes,
        };
        match locks.acquire(&mut owner, name(number as u64), mode, wait) {
            Ok(_) => {
                let now = owner.mode_of(name(number as u64)).expect("it was just granted");
                assert!(now.covers(mode));
                if let Some(before) = held[number].replace(now) {
                    witness.leave(number, before);
                }
                witness.enter(number, now);
            }
            Err(LockError::Deadlock { .. }) => {
                lost = owner.times_chosen();
                break;
            }
            Err(LockError::Timeout { .. } | LockError::WouldBlock { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        if draw.below(16) == 0
            && let Some(mode) = held[number].take()
        {
            witness.leave(number, mode);
            assert!(locks.release(&mut owner, name(number as u64)));
        }
        if draw.below(32) == 0 {
            // Gives the others a turn, even where the machine has one free processor.
            pause.sleep(Duration::from_micros(20));
        }
    }
    for (number, mode) in held.iter().enumerate() {
        mode.iter().for_each(|mode| witness.leave(number, *mode));
    }
    locks.release_all(&mut owner);
    lost
}

#[test]
fn random_units_of_work_on_real_threads_exclude_each_other_and_all_come_through() {
    let locks = with(LockConfig { shards: 4, ..LockConfig::default() });
    let witness = Arc::new(Witness::default());
    let victims = Arc::new(AtomicU64::new(0));
    let done = Arc::new(AtomicU64::new(0));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (locks, witness) = (Arc::clone(&locks), Arc::clone(&witness));
            let (victims, done) = (Arc::clone(&victims), Arc::clone(&done));
            let body = move || {
                let mut draw = Draw(thread << 32);
                for round in 0..ROUNDS {
                    let uow = UowId(round * THREADS + thread);
                    let mut chosen = 0;
                    loop {
                        chosen = work(&locks, &witness, &mut draw, uow, chosen);
                        if chosen == 0 {
                            break;
                        }
                        victims.fetch_add(1, SeqCst);
                    }
                }
                done.fetch_add(1, SeqCst);
            };
            seam::thread::spawn("worker", body).expect("a thread")
        })
        .collect();
    until("all threads get through", || done.load(SeqCst) == THREADS);
    threads.into_iter().for_each(seam::thread::JoinHandle::join);
    let statistics = locks.statistics();
    assert_eq!(statistics.deadlocks, victims.load(SeqCst), "every victim was told");
    assert!(statistics.waits > 0, "{statistics:?}");
    finish(&locks, []);
}
