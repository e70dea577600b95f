//! A system whose keys a token protects: made so, moved there and back, with SoftHSM in place of a
//! device. Without SoftHSM it says so and proves nothing (`scripts/setup.sh token`).
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // makes a token from outside

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Ended, Folder, SECRET, command};

const PIN: &str = "4711-user";
const MODULES: [&str; 2] = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so"];

struct Device {
    conf: PathBuf,
    module: PathBuf,
}

impl Device {
    fn new(folder: &Folder) -> Option<Device> {
        let module = MODULES.map(PathBuf::from).into_iter().find(|path| path.exists());
        let Some(module) = module else {
            eprintln!("SKIPPED: SoftHSM is not installed (scripts/setup.sh token)");
            return None;
        };
        let (tokens, conf) = (folder.join("tokens"), folder.join("softhsm2.conf"));
        std::fs::create_dir_all(&tokens).unwrap();
        let text = format!("directories.tokendir = {}\nlog.level = ERROR\n", tokens.display());
        std::fs::write(&conf, text).unwrap();
        let made = Command::new("softhsm2-util")
            .env("SOFTHSM2_CONF", &conf)
            .args(["--init-token", "--free", "--label", "BANK", "--so-pin", "so-pin"])
            .args(["--pin", PIN])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Some(Device { conf, module })
    }

    /// Runs a command that can reach the token.
    fn run(&self, secret: &str, new: Option<&str>, words: &[&str], dir: &Path) -> Ended {
        let mut command = command(Some(secret));
        command.env("SOFTHSM2_CONF", &self.conf).env("HOLDFAST_TOKEN_MODULE", &self.module);
        if let Some(new) = new {
            command.env("HOLDFAST_NEW_PASSPHRASE", new);
        }
        Ended::of(&command.args(&words[..2]).arg(dir).args(&words[2..]).output().unwrap())
    }
}

#[test]
fn keys_move_from_passphrase_to_token_and_back() {
    let folder = Folder::new("token");
    let Some(device) = Device::new(&folder) else { return };
    let dir = folder.join("bank");
    common::init(&dir, &[]);
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
    common::on(PIN, &["status"], &dir, &[]).failed("HFS050", &["token BANK"]);
    device.run(PIN, Some("again"), &["keys", "passphrase"], &dir).done();
    common::on("again", &["verify"], &dir, &[]).done();
}

#[test]
fn a_system_is_made_with_a_token() {
    let folder = Folder::new("token-init");
    let Some(device) = Device::new(&folder) else { return };
    let dir = folder.join("bank");
    let mut made = command(Some(PIN));
    made.env("SOFTHSM2_CONF", &device.conf).arg("init").arg(&dir).args(["--token", "BANK"]);
    made.args(["--segment-bytes", "1 MiB", "--token-module"]).arg(&device.module);
    Ended::of(&made.output().unwrap()).done();
    device.run(PIN, None, &["sets", "create", "WAGES"], &dir).done();
    device.run(PIN, None, &["keys", "master"], &dir).done();
    device.run(PIN, None, &["keys", "list"], &dir).done();
}
