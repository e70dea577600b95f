//! Units of work that are long over are taken back, or those are named who came behind.

use holdfast_sim::backout;

#[test]
fn each_unit_of_work_is_taken_back_or_those_behind_it_are_named() {
    let mut done = backout::BackedOut::default();
    for seed in 1..=6 {
        let one = backout::every_unit(seed, 2).map_err(|why| format!("seed {seed}: {why}"));
        assert!(one.is_ok(), "{one:?}");
        let one = one.unwrap_or_default();
        (done.alone, done.together) = (done.alone + one.alone, done.together + one.together);
    }
    assert!(done.alone > 20 && done.together > 20, "{done:?}");
}

#[test]
fn a_backout_that_crashes_is_done_or_was_never_begun() {
    for seed in 1..=3 {
        let points = backout::every_crash(seed, 1);
        assert!(points.as_ref().is_ok_and(|points| *points > 5), "seed {seed}: {points:?}");
    }
}

#[test]
fn whoever_is_at_work_is_waited_for() {
    for seed in 1..=4 {
        assert_eq!(backout::somebody_is_at_work(seed), Ok(()), "seed {seed}");
    }
}
