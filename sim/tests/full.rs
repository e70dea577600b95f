//! A log that is nearly full, or has less room than it should have, makes nobody wait for ever.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs others; a failure names its seed.

use holdfast_sim::{crew, full};

#[test]
fn a_conversion_on_a_quiet_system_makes_itself_room_in_the_log() {
    crew::each(4..5, |seed| full::a_conversion_makes_itself_room(seed).map_err(|e| e.to_string()));
}

#[test]
fn a_log_goes_on_in_the_segments_for_which_its_disk_has_room() {
    crew::each(5..6, |seed| {
        full::a_log_lives_in_what_its_disk_has(seed).map_err(|e| e.to_string())
    });
}
