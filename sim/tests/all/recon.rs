//! RECON survives every crash, with both of its devices and with one.

use holdfast_sim::recon;

#[test]
fn recon_holds_what_was_recorded_after_every_crash() {
    assert_eq!(recon::every_crash(), Ok(()));
}

#[test]
fn recon_goes_on_behind_an_entry_that_a_crash_has_cut_short() {
    assert_eq!(recon::every_cut(), Ok(()));
}
