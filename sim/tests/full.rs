//! A log that is nearly full, or has less room than it should have, makes nobody wait for ever.

use holdfast_sim::full;

#[test]
fn a_conversion_on_a_quiet_system_makes_itself_room_in_the_log() {
    assert_eq!(full::a_conversion_makes_itself_room(), Ok(()));
}

#[test]
fn a_log_goes_on_in_the_segments_for_which_its_disk_has_room() {
    assert_eq!(full::a_log_lives_in_what_its_disk_has(), Ok(()));
}
