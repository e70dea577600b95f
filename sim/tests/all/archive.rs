//! The archive: nothing is used again or deleted that is still needed, whatever crashes or breaks.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs other seeds and rounds; a failure names its own.

use holdfast_sim::{archive, parallel};

/// Some crashes in each round, and so many in all.
fn enough(crashes: &[u64], more_than: u64) {
    let all: u64 = crashes.iter().sum();
    assert!(all > more_than && !crashes.contains(&0), "{crashes:?} crashes are too few");
}

fn rounds(more_than: u64, run: impl Fn(u64) -> Result<u64, String> + Sync) {
    enough(&parallel::each(0..1, run), more_than);
}

#[test]
fn a_crash_at_every_write_of_archive_reuse_and_deletion_loses_nothing() {
    rounds(300, |round| archive::sweeps(round, 1));
}

#[test]
fn an_archive_that_is_recorded_is_there_whatever_crashes_while_policy_deletes() {
    enough(&parallel::each(1..5, archive::deletions), 80);
}

#[test]
fn what_one_log_copy_stores_wrong_is_archived_from_the_other() {
    parallel::each(1..7, archive::damage_is_not_archived);
}

#[test]
fn damaged_archives_are_read_from_their_copy_and_made_anew() {
    parallel::each(1..13, archive::damaged_copies_are_made_anew);
}

#[test]
fn a_full_archive_holds_work_but_loses_nothing() {
    parallel::each(1..7, archive::a_full_archive_holds_work_but_loses_nothing);
}

#[test]
fn a_crash_around_a_log_copy_that_comes_back_loses_nothing() {
    for elsewhere in [false, true] {
        rounds(50, |round| archive::resyncs(round, 2, elsewhere));
    }
}

#[test]
fn a_crash_around_stripes_that_change_loses_nothing() {
    rounds(100, |round| archive::restripes(round, 2));
}

#[test]
fn an_archive_that_is_faster_than_the_log_never_gets_ahead_of_it() {
    rounds(30, |round| archive::a_slow_log(round, 2));
}

#[test]
fn a_log_that_is_spoilt_in_use_is_repaired_whatever_crashes() {
    parallel::each(0..1, |round| match archive::repairing(round, None)? {
        0 => Ok(()),
        crashes => Err(format!("{crashes} crashes by themselves")),
    });
    rounds(80, |round| archive::repairing(round, Some(1)));
    // Here the one copy that a start reads shows a group of a version that is not known.
    parallel::each(7..8, |round| archive::repairing(round, Some(1)).map(drop));
}

#[test]
fn what_both_copies_of_the_log_have_lost_comes_from_an_archive_or_is_named() {
    parallel::each(1..9, archive::a_start_takes_them_from_an_archive);
    parallel::each(1..7, archive::what_is_nowhere_is_named);
}

#[test]
fn a_write_ahead_data_set_that_begins_anew_in_use_loses_nothing() {
    parallel::each(0..1, |round| match archive::wads_recreated(round, None)? {
        0 => Ok(()),
        crashes => Err(format!("{crashes} crashes by themselves")),
    });
    rounds(60, |round| archive::wads_recreated(round, Some(1)));
}
