//! A system in use is proven and mended.

use holdfast_sim::care;

#[test]
fn what_is_spoilt_beneath_a_system_in_use_is_named_and_mended() {
    for seed in 1..=3 {
        assert_eq!(care::what_is_spoilt_is_named_and_mended(seed), Ok(()), "seed {seed}");
    }
}

#[test]
fn nothing_is_mended_with_what_is_not_good() {
    assert_eq!(care::only_what_is_good_mends(), Ok(()));
}

#[test]
fn the_doctor_answers_whatever_is_left_of_a_system_and_writes_nothing() {
    for seed in 1..=2 {
        assert_eq!(care::the_doctor_survives_any_damage(seed, 60), Ok(()), "seed {seed}");
    }
}

#[test]
fn nothing_is_lost_of_what_changes_while_it_is_recovered() {
    for seed in 1..=4 {
        assert_eq!(care::nothing_is_lost_while_it_is_recovered(seed), Ok(()), "seed {seed}");
    }
}
