//! Image copies and recoveries bring back what was there, through every crash.

use holdfast_sim::{points, recovery, replaced, restored, sequel};

#[test]
fn any_point_behind_the_copy_comes_back_exactly() {
    let mut backed_out = 0;
    for seed in 1..=6 {
        let points = recovery::every_point(seed, 3).map_err(|why| format!("seed {seed}: {why}"));
        assert!(points.as_ref().is_ok_and(|points| points.points > 4), "{points:?}");
        backed_out += points.map_or(0, |points| points.backed_out);
    }
    assert!(backed_out > 4, "too few units of work were in flight: {backed_out}");
}

#[test]
fn random_points_equal_what_was_committed_there() {
    let done = points::random_points(101, 60);
    assert!(done.is_ok(), "{done:?}");
}

#[test]
fn a_recovery_that_crashes_leaves_all_of_the_old_or_all_of_the_new() {
    for seed in 1..=2 {
        let points = recovery::every_crash(seed, 1);
        assert!(points.as_ref().is_ok_and(|points| *points > 10), "seed {seed}: {points:?}");
    }
}

#[test]
fn recoveries_follow_each_other() {
    for seed in 1..=6 {
        assert_eq!(recovery::one_after_another(seed), Ok(()), "seed {seed}");
    }
}

#[test]
fn what_a_recovery_has_taken_back_stays_so_whatever_is_recovered_next() {
    for seed in 1..=10 {
        assert_eq!(sequel::any_order(seed), Ok(()), "seed {seed}");
    }
}

#[test]
fn a_data_set_that_is_replaced_meanwhile_is_neither_copied_nor_replaced_again() {
    for seed in 1..=6 {
        assert_eq!(replaced::a_copy_of_it_does_not_count(seed), Ok(()), "seed {seed}");
        assert_eq!(replaced::it_is_not_replaced_again(seed), Ok(()), "seed {seed}");
    }
}

#[test]
fn what_takes_the_place_of_a_data_set_is_on_disk_before_it_counts() {
    for seed in 1..=10 {
        assert_eq!(replaced::it_is_on_disk_before_it_counts(seed), Ok(()), "seed {seed}");
    }
}

#[test]
fn a_data_set_whose_file_is_lost_comes_back() {
    for seed in 1..=6 {
        assert_eq!(recovery::a_lost_data_set_comes_back(seed), Ok(()), "seed {seed}");
    }
}

#[test]
fn a_bare_machine_gets_all_that_was_archived() {
    for seed in 1..=4 {
        assert_eq!(restored::a_bare_machine(seed), Ok(()), "seed {seed}");
    }
}

#[test]
fn a_restore_that_crashes_is_finished_or_begun_again() {
    let points = restored::every_crash(1, 3);
    assert!(points.as_ref().is_ok_and(|points| *points > 10), "{points:?}");
}
