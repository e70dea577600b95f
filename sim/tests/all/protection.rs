//! The configuration of a system alone has nothing believed that takes no key.

use holdfast_sim::protection;

#[test]
fn nobody_without_the_key_has_a_data_set_written_in_clear() {
    assert_eq!(protection::nobody_without_the_key_has_a_data_set_written_in_clear(), Ok(()));
}

#[test]
fn what_is_sealed_gets_into_no_plain_log() {
    assert_eq!(protection::what_is_sealed_gets_into_no_plain_log(), Ok(()));
}

#[test]
fn a_plain_group_behind_a_sealed_log_is_believed_with_no_configuration() {
    assert_eq!(protection::a_forged_tail_is_refused(), Ok(()));
}

#[test]
fn a_plain_log_that_becomes_sealed_loses_nothing_in_any_crash() {
    assert_eq!(protection::a_plain_log_becomes_sealed(), Ok(()));
}
