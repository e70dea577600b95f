//! Orders come by a queue; a COBOL program changes a database and puts confirmations; it is killed
//! in the middle, and so is the system. The producer's own ledger decides.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::path::Path;
use std::process::Command;

use crate::common::in_time::RunInTime as _;
use crate::common::{Ended, Folder, SECRET};

#[test]
fn each_order_is_processed_and_confirmed_once_whoever_is_killed() {
    for (tool, package) in [("cobc", "gnucobol3"), ("python3", "python3")] {
        if Command::new(tool).arg("--version").output_in_time().is_err() {
            eprintln!("skipped: {tool} is not installed (Debian package {package})");
            return;
        }
    }
    // Built with this test, for it.
    let own = std::env::current_exe().unwrap();
    let library = own.parent().unwrap().join("libmqm_r.so");
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/orders");
    let work = Folder::new("orders");
    let mut command = Command::new("bash");
    command.arg(orders.join("run.sh")).arg("4000").arg(work.join("work"));
    command.env("HOLDFAST", env!("CARGO_BIN_EXE_holdfast")).env("HOLDFAST_PASSPHRASE", SECRET);
    let output = command.env("HOLDFAST_MQM", library).output_in_time();
    let ended = Ended::of(&output.unwrap()).done();
    assert!(ended.err.contains("4100 orders, each once"), "{}", ended.err);
}
