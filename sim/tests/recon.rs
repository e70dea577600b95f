//! RECON survives every crash, with both of its devices and with one.

use holdfast_sim::recon;

#[test]
fn recon_holds_what_was_recorded_after_every_crash() {
    assert_eq!(recon::every_crash(), Ok(()));
}
