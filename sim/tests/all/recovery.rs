//! Image copies and recoveries bring back what was there, through every crash.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs others; a failure names its seed.

use holdfast_sim::{
    copied, given_up, joined, kept, parallel, points, recovery, replaced, restored, sequel,
};

#[test]
fn any_point_behind_the_copy_comes_back_exactly() {
    let done = parallel::each(1..7, |seed| recovery::every_point(seed, 3));
    done.iter().for_each(|points| assert!(points.points > 4, "{points:?}"));
    let backed_out: usize = done.iter().map(|points| points.backed_out).sum();
    assert!(backed_out > 4, "too few units of work were in flight: {backed_out}");
}

#[test]
fn random_points_equal_what_was_committed_there() {
    let done = points::random_points(101, 60);
    assert!(done.is_ok(), "{done:?}");
}

#[test]
fn an_image_copy_that_counts_is_whole_whatever_crashes() {
    for (crashes, counted) in parallel::each(1..3, |seed| copied::every_crash(seed, 1)) {
        assert!(crashes > 10 && counted > 10, "{counted} copies after {crashes} crashes");
    }
}

#[test]
fn a_recovery_that_crashes_leaves_all_of_the_old_or_all_of_the_new() {
    let points = parallel::each(1..3, |seed| recovery::every_crash(seed, 1));
    assert!(points.iter().all(|points| *points > 10), "{points:?}");
}

#[test]
fn recoveries_follow_each_other() {
    parallel::each(1..7, recovery::one_after_another);
}

#[test]
fn what_a_recovery_has_taken_back_stays_so_whatever_is_recovered_next() {
    parallel::each(1..11, sequel::any_order);
}

#[test]
fn a_data_set_that_is_replaced_meanwhile_is_neither_copied_nor_replaced_again() {
    parallel::each(1..7, replaced::a_copy_of_it_does_not_count);
    parallel::each(1..7, replaced::it_is_not_replaced_again);
}

#[test]
fn a_recovery_that_recon_has_no_room_for_leaves_nothing_behind() {
    parallel::each(1..5, replaced::nothing_is_left_of_one_that_fails);
}

#[test]
fn a_copy_whose_base_is_forgotten_meanwhile_does_not_count() {
    parallel::each(1..7, replaced::a_copy_that_goes_on_from_nothing_does_not_count);
}

#[test]
fn what_a_recovery_reads_stays_while_copies_end_and_archives_expire() {
    parallel::each(1..7, kept::archives_expire_meanwhile);
}

#[test]
fn what_a_backout_reads_stays_while_archives_expire() {
    parallel::each(1..7, kept::archives_expire_while_work_is_taken_back);
}

#[test]
fn log_that_is_void_may_be_gone() {
    parallel::each(1..7, kept::void_log_may_be_gone);
}

#[test]
fn what_takes_the_place_of_a_data_set_is_on_disk_before_it_counts() {
    parallel::each(1..11, replaced::it_is_on_disk_before_it_counts);
}

#[test]
fn what_files_of_a_copy_lost_in_different_places_they_give_together() {
    let done = parallel::each(1..5, joined::files_give_together_what_each_has_lost);
    let recovered: u32 = done.iter().map(|one| one.recovered).sum();
    let refused: u32 = done.iter().map(|one| one.refused).sum();
    assert!(recovered > 28 && refused > 0, "{recovered} recovered, {refused} refused");
}

#[test]
fn what_an_older_copy_of_a_chain_lost_a_newer_one_makes_up_for() {
    let done = parallel::each(1..5, joined::what_is_lost);
    let forgiven: u32 = done.iter().map(|one| one.forgiven).sum();
    let refused: u32 = done.iter().map(|one| one.refused).sum();
    assert!(forgiven > 5 && refused > 0, "{forgiven} forgiven, {refused} refused");
}

#[test]
fn a_data_set_whose_file_is_lost_comes_back() {
    parallel::each(1..7, recovery::a_lost_data_set_comes_back);
}

#[test]
fn a_lost_data_set_that_nothing_brings_back_is_given_up_and_the_others_go_on() {
    let points = parallel::each(1..5, |seed| given_up::every_crash(seed, 1));
    assert!(points.iter().all(|points| *points > 10), "{points:?}");
}

#[test]
fn a_bare_machine_gets_all_that_was_archived() {
    parallel::each(1..5, restored::a_bare_machine);
}

#[test]
fn a_bare_machine_comes_back_whose_data_sets_were_recovered_to_where_they_were_before() {
    parallel::each(1..5, restored::a_machine_that_was_recovered);
}

#[test]
fn a_restore_that_crashes_is_finished_or_begun_again() {
    let points = parallel::each(1..2, |seed| restored::every_crash(seed, 3));
    assert!(points.iter().all(|points| *points > 10), "{points:?}");
}
