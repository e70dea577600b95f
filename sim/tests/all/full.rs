//! A log that is nearly full, or has less room than it should have, makes nobody wait for ever.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs others; a failure names its seed.

use holdfast_sim::{cramped, full, parallel};

#[test]
fn a_conversion_on_a_quiet_system_makes_itself_room_in_the_log() {
    parallel::each(4..5, |seed| {
        full::a_conversion_makes_itself_room(seed).map_err(|e| e.to_string())
    });
}

#[test]
fn a_log_goes_on_in_the_segments_for_which_its_disk_has_room() {
    parallel::each(5..6, |seed| {
        full::a_log_lives_in_what_its_disk_has(seed).map_err(|e| e.to_string())
    });
}

#[test]
fn a_unit_of_work_can_be_backed_out_though_its_log_cannot_grow() {
    parallel::each(1..9, full::undo_has_its_room);
}

#[test]
fn a_unit_of_work_that_keeps_the_log_full_is_told_so() {
    let told = |seed| full::who_keeps_the_log_full_is_told_so(seed).map_err(|e| e.to_string());
    parallel::each(1..5, told);
}

#[test]
fn a_unit_of_work_that_keeps_a_log_of_few_segments_full_is_told_so() {
    let told = |seed| full::who_fills_few_segments_is_told_so(seed).map_err(|e| e.to_string());
    parallel::each(1..5, told);
}

#[test]
fn savepoints_that_are_gone_back_to_reserve_no_more_and_more_log() {
    let kept = |seed| full::savepoints_give_back_what_they_reserved(seed);
    parallel::each(1..3, |seed| kept(seed).map_err(|e| e.to_string()));
}

#[test]
fn nobody_is_told_that_the_log_is_full_while_room_is_made() {
    let refused = |seed| full::nobody_is_refused_while_room_is_made(seed);
    parallel::each(1..5, |seed| refused(seed).map_err(|e| e.to_string()));
}

#[test]
fn a_full_device_locks_nobody_out_through_any_crash() {
    parallel::each(1..5, cramped::a_full_device_locks_nobody_out);
}

#[test]
fn a_recon_without_room_locks_nobody_out() {
    parallel::each(1..3, cramped::a_recon_without_room_locks_nobody_out);
}
