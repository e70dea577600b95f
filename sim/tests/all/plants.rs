//! Proof of the proof: the suite finds every deliberate bug, and nothing where there is none.

use holdfast_sim::crew;
use holdfast_sim::plants::{self, hunt};
use seam::plant::Plant;

#[test]
fn every_planted_fault_is_found() {
    // `PLANT=HalfSplit` hunts for one alone.
    let only = std::env::var("PLANT").unwrap_or_default();
    let wanted = |hunt: &&plants::Hunt| format!("{:?}", hunt.plant).contains(&only);
    let hunts: Vec<_> = plants::ALL.iter().filter(wanted).copied().collect();
    let outcomes = crew::all(&hunts, |bug| (hunt(bug, false), hunt(bug, true)));
    for (bug, (clean, planted)) in hunts.iter().zip(outcomes) {
        assert_eq!(clean, Ok(()), "{}: found something without a bug", bug.by);
        assert!(planted.is_err(), "{:?} is not found by {}", bug.plant, bug.by);
    }
}

#[test]
fn every_plant_is_hunted() {
    for plant in Plant::ALL {
        assert!(plants::ALL.iter().any(|hunt| hunt.plant == *plant), "{plant:?} is not hunted");
    }
}
