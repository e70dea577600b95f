//! Orders come by a queue, over the message queue interface and over AMQP; a COBOL program changes
//! a database and puts confirmations; it is killed in the middle, and so is the system. The
//! producers' own ledger decides.

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
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools/amqp");
    command.env("HOLDFAST_AMQP", tools).env("HOLDFAST_MQM", library);
    let output = command.output_in_time();
    let ended = Ended::of(&output.unwrap()).done();
    assert!(ended.err.contains("4100 orders, each once"), "{}", ended.err);
    let has_node = Command::new("npm").arg("--version").output_in_time().is_ok();
    let over_amqp = !ended.err.contains("the producer in Python puts all orders");
    assert_eq!(over_amqp, has_node, "{}", ended.err);
}
