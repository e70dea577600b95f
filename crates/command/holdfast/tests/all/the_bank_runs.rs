//! The sample application from its sources to its last report: every figure that its programs print
//! is compared with what the maker of its data says.

use std::path::Path;
use std::process::Command;

use crate::common::in_time::RunInTime as _;
use crate::common::{Ended, Folder, SECRET};

#[test]
fn the_bank_runs() {
    if Command::new("cobc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
        return;
    }
    let bank = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/bank");
    let work = Folder::new("bank");
    let mut command = Command::new("bash");
    command.arg(bank.join("run.sh")).arg(bank.join("data")).arg(work.join("work"));
    command.env("HOLDFAST", env!("CARGO_BIN_EXE_holdfast")).env("HOLDFAST_PASSPHRASE", SECRET);
    let output = command.output_in_time();
    let ended = Ended::of(&output.expect("a shell")).done();
    assert!(ended.err.contains("the bank runs"), "{}", ended.err);
}
