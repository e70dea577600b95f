//! The anchor refuses what was put back, and nobody else.

use holdfast_sim::anchor;

#[test]
fn an_honest_system_is_opened_after_every_crash() {
    assert_eq!(anchor::every_crash(), Ok(()));
}

#[test]
fn a_system_that_was_put_back_is_refused() {
    assert_eq!(anchor::what_was_put_back_is_refused(), Ok(()));
}
