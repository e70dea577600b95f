//! Units of work that are long over are taken back, or those are named who came behind.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs others; a failure names its seed.

use holdfast_sim::{backout, parallel};

#[test]
fn each_unit_of_work_is_taken_back_or_those_behind_it_are_named() {
    let done = parallel::each(1..7, |seed| backout::every_unit(seed, 2));
    let alone: usize = done.iter().map(|one| one.alone).sum();
    let together: usize = done.iter().map(|one| one.together).sum();
    assert!(alone > 20 && together > 20, "{alone} alone, {together} together are too few");
}

#[test]
fn a_backout_that_crashes_is_done_or_was_never_begun() {
    let points = parallel::each(1..4, |seed| backout::every_crash(seed, 1));
    assert!(points.iter().all(|points| *points > 5), "{points:?}");
}

#[test]
fn whoever_is_at_work_is_waited_for() {
    parallel::each(1..5, backout::somebody_is_at_work);
}
