//! The archive: nothing is used again or deleted that is still needed, whatever crashes or breaks.

use holdfast_sim::archive;

#[test]
fn a_crash_at_every_write_of_archive_reuse_and_deletion_loses_nothing() {
    let crashes = archive::sweeps(1);
    assert!(crashes.as_ref().is_ok_and(|crashes| *crashes > 300), "{crashes:?}");
}

#[test]
fn what_one_log_copy_stores_wrong_is_archived_from_the_other() {
    assert_eq!(archive::damage_is_not_archived(), Ok(()));
}

#[test]
fn damaged_archives_are_read_from_their_copy_and_made_anew() {
    assert_eq!(archive::damaged_copies_are_made_anew(), Ok(()));
}

#[test]
fn a_full_archive_holds_work_but_loses_nothing() {
    assert_eq!(archive::a_full_archive_holds_work_but_loses_nothing(), Ok(()));
}

#[test]
fn a_crash_around_a_log_copy_that_comes_back_loses_nothing() {
    for elsewhere in [false, true] {
        let crashes = archive::resyncs(2, elsewhere);
        assert!(crashes.as_ref().is_ok_and(|crashes| *crashes > 50), "{crashes:?}");
    }
}

#[test]
fn a_crash_around_stripes_that_change_loses_nothing() {
    let crashes = archive::restripes(2);
    assert!(crashes.as_ref().is_ok_and(|crashes| *crashes > 100), "{crashes:?}");
}

#[test]
fn an_archive_that_is_faster_than_the_log_never_gets_ahead_of_it() {
    let crashes = archive::a_slow_log(2);
    assert!(crashes.as_ref().is_ok_and(|crashes| *crashes > 30), "{crashes:?}");
}

#[test]
fn a_log_that_is_spoilt_in_use_is_mended_whatever_crashes() {
    assert_eq!(archive::mending(None), Ok(0));
    let crashes = archive::mending(Some(1));
    assert!(crashes.as_ref().is_ok_and(|crashes| *crashes > 80), "{crashes:?}");
}

#[test]
fn what_both_copies_of_the_log_have_lost_comes_from_an_archive_or_is_named() {
    assert_eq!(archive::a_start_takes_them_from_an_archive(), Ok(()));
    assert_eq!(archive::what_is_nowhere_is_named(), Ok(()));
}

#[test]
fn a_write_ahead_data_set_that_begins_anew_in_use_loses_nothing() {
    assert_eq!(archive::beginning_anew(None), Ok(0));
    let crashes = archive::beginning_anew(Some(1));
    assert!(crashes.as_ref().is_ok_and(|crashes| *crashes > 60), "{crashes:?}");
}
