//! Random systems, random programs, random crashes: each seed is one of its own.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs others; a failure prints what to run to see it again.

use std::ops::Range;

use holdfast_sim::swarm::{Plan, swarm};

/// Machine threads that run seeds side by side; a simulated system stays on one of them.
const THREADS: u64 = 2;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("HOLDFAST_SEEDS") else { return 1..2_001 };
    let bounds = text.split_once("..").map(|(from, to)| (from.parse(), to.parse()));
    match bounds {
        Some((Ok(from), Ok(to))) => from..to,
        _ => panic!("HOLDFAST_SEEDS={text} is no range such as 1..100"),
    }
}

#[test]
fn two_thousand_random_seeds_lose_nothing() {
    let seeds = seeds();
    let run = |thread: u64| -> Vec<String> {
        let mine = seeds.clone().filter(|seed| seed % THREADS == thread);
        mine.filter_map(|seed| swarm(&Plan::drawn(seed)).err()).map(|f| f.to_string()).collect()
    };
    let failures: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a seed's run ends")).collect()
    });
    assert!(failures.is_empty(), "{} seeds failed:\n{}", failures.len(), failures.join("\n"));
}
