//! A system whose keys a token protects: made so, moved there and back, with SoftHSM in place of a
//! device.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // makes a token from outside

use std::path::Path;

use crate::common::in_time::RunInTime as _;
use crate::common::{Ended, Folder, SECRET, command};
use crate::softhsm::{PIN, SoftHsm};

struct Device(SoftHsm);

impl Device {
    fn new(folder: &Folder) -> Option<Device> {
        SoftHsm::new(&folder.join("")).map(Device)
    }

    /// Runs a command that can reach the token.
    fn run(&self, secret: &str, new: Option<&str>, words: &[&str], dir: &Path) -> Ended {
        let mut command = command(Some(secret));
        command.env("SOFTHSM2_CONF", self.0.conf()).env("HOLDFAST_TOKEN_MODULE", &self.0.module);
        if let Some(new) = new {
            command.env("HOLDFAST_NEW_PASSPHRASE", new);
        }
        Ended::of(&command.args(&words[..2]).arg(dir).args(&words[2..]).output_in_time().unwrap())
    }
}

#[test]
fn keys_move_from_passphrase_to_token_and_back() {
    let folder = Folder::new("token");
    let Some(device) = Device::new(&folder) else { return };
    let dir = folder.join("bank");
    crate::common::init(&dir, &[]);
    let absent = ["keys", "token", "--token", "GONE"];
    device.run(SECRET, Some(PIN), &absent, &dir).failed("HFS052", &["GONE", "BANK"]);
    let to = ["keys", "token", "--token", "BANK"];
    let unasked = device.run(SECRET, None, &to, &dir);
    assert!(unasked.code == 2 && unasked.err.contains("Give --pin-file"), "{}", unasked.err);
    device.run(SECRET, Some("wrong"), &to, &dir).failed("HFS053", &["PIN"]);
    device.run(SECRET, None, &["keys", "list"], &dir).done();
    device.run(SECRET, Some(PIN), &to, &dir).done();
    let listed = device.run(PIN, None, &["keys", "list"], &dir).done();
    assert!(listed.out.contains("key holdfast in token BANK"), "{}", listed.out);
    // A program's data set is made with keys that the token opened.
    device.run(PIN, None, &["sets", "create", "WAGES"], &dir).done();
    device.run("wrong", None, &["keys", "list"], &dir).failed("HFS053", &["BANK"]);
    // Nothing is wrong with the key file, and no user is told to replace it.
    let answer = device.run("wrong", None, &["doctor", "-s"], &dir).out;
    assert!(answer.contains("PIN") && !answer.contains("Put a copy"), "{answer}");
    crate::common::on(PIN, &["status"], &dir, &[]).failed("HFS050", &["token BANK"]);
    device.run(PIN, Some("again"), &["keys", "passphrase"], &dir).done();
    crate::common::on("again", &["verify"], &dir, &[]).done();
}

#[test]
fn a_system_is_made_with_a_token() {
    let folder = Folder::new("token-init");
    let Some(device) = Device::new(&folder) else { return };
    let dir = folder.join("bank");
    let mut made = command(Some(PIN));
    made.env("SOFTHSM2_CONF", device.0.conf()).arg("init").arg(&dir).args(["--token", "BANK"]);
    made.args(["--segment-bytes", "1 MiB", "--token-module"]).arg(&device.0.module);
    Ended::of(&made.output_in_time().unwrap()).done();
    device.run(PIN, None, &["sets", "create", "WAGES"], &dir).done();
    device.run(PIN, None, &["keys", "master"], &dir).done();
    device.run(PIN, None, &["keys", "list"], &dir).done();
}
