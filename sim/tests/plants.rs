//! Proof of the proof: the suite finds every deliberate bug, and nothing where there is none.

use holdfast_sim::crew;
use holdfast_sim::plants::{self, hunt};
use seam::plant::Plant;

#[test]
fn every_planted_fault_is_found() {
    let outcomes = crew::all(plants::ALL, |bug| (hunt(bug, false), hunt(bug, true)));
    for (bug, (clean, planted)) in plants::ALL.iter().zip(outcomes) {
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
