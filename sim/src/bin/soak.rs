//! Searches random seeds for as long as told, on every core. A seed that fails is printed with the
//! command that runs it again; the program then ends with 1.
//!
//! usage: `soak [--minutes N] [--from SEED]`, `soak --points N [--from SEED]`

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use holdfast_sim::online;
use holdfast_sim::points::random_points;
use holdfast_sim::swarm::{Plan, swarm};
use holdfast_sim::whole::live_through;
use seam::clock::{Clock, RealClock};

const USAGE: &str = "usage: soak [--minutes N] [--from SEED] | --points N [--from SEED]
Searches random seeds in the crash simulator for N minutes (60), from SEED on (1); or recovers data
sets to N random points of random histories, and compares with what was committed there.
example: soak --minutes 5 --from 1000000";

fn main() {
    let Some((minutes, from, points)) = arguments() else {
        eprintln!("{USAGE}");
        std::process::exit(2);
    };
    if points > 0 {
        std::process::exit(recover(from, points));
    }
    let clock = RealClock::new();
    let end = Duration::from_secs(minutes * 60);
    let (next, failed) = (AtomicU64::new(from), AtomicBool::new(false));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let search = || {
        // With no minutes one seed is run, whatever time it takes.
        while clock.monotonic() < end || next.load(SeqCst) == from {
            let seed = next.fetch_add(1, SeqCst);
            if let Err(failure) = live(seed) {
                failed.store(true, SeqCst);
                println!("seed {seed} failed: {failure}");
                println!("again: {AGAIN} --minutes 0 --from {seed}");
            }
            if (seed - from + 1).is_multiple_of(1_000) {
                eprintln!("{} seeds in {} s", seed - from + 1, clock.monotonic().as_secs());
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(search);
        }
    });
    let verdict = if failed.load(SeqCst) { "FAILED" } else { "none failed" };
    println!("{} seeds, {verdict}", next.load(SeqCst) - from);
    std::process::exit(i32::from(failed.load(SeqCst)));
}

/// Some seeds are a whole system with its operators, some its transactions, the others a kernel
/// with programs alone.
fn live(seed: u64) -> Result<(), String> {
    if seed % 8 == 4 {
        return online::live_through(seed).map(drop);
    }
    if seed.is_multiple_of(8) {
        return live_through(seed, seed.is_multiple_of(16)).map(drop);
    }
    swarm(&Plan::drawn(seed)).map(drop).map_err(|failure| failure.to_string())
}

/// Recovers to random points; the exit code.
fn recover(from: u64, points: u64) -> i32 {
    match random_points(from, points) {
        Ok(next) => println!("{points} points in {} histories, none failed", next - from),
        Err(failure) => {
            println!("failed: {failure}");
            println!("again: {AGAIN} --points {points} --from {from}");
            return 1;
        }
    }
    0
}

/// What runs this program.
const AGAIN: &str = "cargo run --release -p holdfast-sim --bin soak --";

/// Minutes, the first seed, and points; `None` if the command line makes no sense.
fn arguments() -> Option<(u64, u64, u64)> {
    let (mut minutes, mut from, mut points) = (60, 1, 0);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next()?.parse().ok()?;
        match word.as_str() {
            "--minutes" => minutes = number,
            "--from" => from = number,
            "--points" => points = number,
            _ => return None,
        }
    }
    Some((minutes, from, points))
}
