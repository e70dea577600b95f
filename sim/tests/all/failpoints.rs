//! Proof of the proof: the suite finds every deliberate bug, and nothing where there is none.

use holdfast_sim::failpoints::{self, hunt};
use holdfast_sim::parallel;
use seam::failpoint::Failpoint;

#[test]
fn every_planted_fault_is_found() {
    // `PLANT=HalfSplit` hunts for one alone.
    let only = std::env::var("PLANT").unwrap_or_default();
    let wanted = |hunt: &&failpoints::Hunt| format!("{:?}", hunt.fault).contains(&only);
    let hunts: Vec<_> = failpoints::ALL.iter().filter(wanted).copied().collect();
    // A part is the same run each time: once without a bug is enough, however many it hunts.
    let mut parts = hunts.clone();
    parts.sort_by_key(|hunt| hunt.by);
    parts.dedup_by_key(|hunt| hunt.by);
    let clean = parts.iter().map(|part| (*part, false));
    let jobs: Vec<_> = clean.chain(hunts.iter().map(|bug| (*bug, true))).collect();
    let outcomes = parallel::all(&jobs, |(bug, planted)| hunt(bug, *planted));
    for ((bug, planted), outcome) in jobs.iter().zip(outcomes) {
        if *planted {
            assert!(outcome.is_err(), "{:?} is not found by {}", bug.fault, bug.by);
        } else {
            assert_eq!(outcome, Ok(()), "{}: found something without a bug", bug.by);
        }
    }
}

#[test]
fn every_plant_is_hunted() {
    for failpoint in Failpoint::ALL {
        assert!(
            failpoints::ALL.iter().any(|hunt| hunt.fault == *failpoint),
            "{failpoint:?} is not hunted"
        );
    }
}
