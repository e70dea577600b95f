//! Random systems, random programs, random crashes: each seed is one of its own.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs others; a failure prints what to run to see it again.

use holdfast_sim::parallel;
use holdfast_sim::swarm::{Plan, swarm};

#[test]
fn two_thousand_random_seeds_lose_nothing() {
    parallel::each(1..2_001, |seed| {
        swarm(&Plan::drawn(seed)).map_err(|failure| failure.to_string())
    });
}
