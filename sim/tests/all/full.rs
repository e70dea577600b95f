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
fn a_full_device_locks_nobody_out_through_any_crash() {
    parallel::each(1..5, cramped::a_full_device_locks_nobody_out);
}

#[test]
fn a_recon_without_room_locks_nobody_out() {
    parallel::each(1..3, cramped::a_recon_without_room_locks_nobody_out);
}
