//! A system in use is proven and repaired.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs others; a failure names its seed.

use holdfast_sim::{care, cut, parallel, passed};

#[test]
fn what_is_spoilt_beneath_a_system_in_use_is_named_and_repaired() {
    parallel::each(1..4, care::what_is_spoilt_is_named_and_repaired);
}

#[test]
fn nothing_is_repaired_with_what_is_not_good() {
    assert_eq!(care::only_what_is_good_repairs(), Ok(()));
}

#[test]
fn the_doctor_answers_whatever_is_left_of_a_system_and_writes_nothing() {
    parallel::each(1..3, |seed| care::the_doctor_survives_any_damage(seed, 60));
}

#[test]
fn nothing_is_lost_of_what_changes_while_it_is_recovered() {
    parallel::each(1..5, care::nothing_is_lost_while_it_is_recovered);
}

#[test]
fn nothing_is_called_damaged_while_files_are_cut_off_and_grow_again() {
    parallel::each(1..13, cut::nothing_is_called_damaged_that_is_sound);
}

#[test]
fn a_copy_in_the_double_write_area_that_a_conversion_has_passed_is_no_damage() {
    for to in [passed::To::Plain, passed::To::NextKey] {
        parallel::each(1..3, move |seed| {
            passed::what_a_conversion_has_passed_is_no_damage(seed, to)
        });
    }
}
