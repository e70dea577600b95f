//! Clients of AMQP use a started system: its users, its status, its orderly end, its restart.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a system is looked at from outside; a test that fails says where

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::in_time::EndInTime as _;
use crate::common::in_time::first_line;
use crate::common::{Folder, SECRET, command, init, on};

const LIMIT: Duration = Duration::from_secs(300);
/// What the script answers where a client's language is not on the machine.
const ABSENT: i32 = 3;

/// A Python with the client; `None`: there is no Python here.
fn python() -> Option<PathBuf> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/amqp-clients.sh");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools/amqp");
    let mut fetch = Command::new(script);
    let fetched = seam::process::output(fetch.arg(&folder).arg("proton"), LIMIT).unwrap();
    let errors = String::from_utf8_lossy(&fetched.stderr);
    if fetched.status.code() == Some(ABSENT) {
        eprintln!("passed over: {errors}");
        return None;
    }
    assert!(fetched.status.success(), "{errors}");
    Some(folder.join("proton/bin/python"))
}

fn client(python: &Path, address: &str, words: &[&str]) -> Command {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/amqp_client.py");
    let mut command = Command::new(python);
    command.arg(script).arg(format!("amqp://{address}")).args(words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a client told; `None`: it was not let in.
fn answer(python: &Path, address: &str, words: &[&str]) -> Option<String> {
    let output = seam::process::output(&mut client(python, address, words), LIMIT).unwrap();
    let answer = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(answer)
}

/// Starts the system; answers its process and the address of its door.
fn started(dir: &Path) -> (Child, String) {
    let mut command = command(Some(SECRET));
    command.args(["--json", "start", "-s"]).arg(dir).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let answer: Value = serde_json::from_str(&first_line(&mut child)).unwrap();
    (child, answer["amqp"].as_str().unwrap().to_owned())
}

#[test]
fn messages_outlive_a_kill_and_clients_hear_of_an_orderly_end() {
    let Some(python) = python() else { return };
    let folder = Folder::new("amqp");
    let dir = folder.join("qm");
    init(&dir, &[]);
    let file = dir.join("holdfast.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let listens = "[amqp]\nlisten = [\"0.0.0.0:0\"]\n";
    std::fs::write(&file, settings.replace("[amqp]\n", listens)).unwrap();

    let (mut system, address) = started(&dir);
    assert!(address.starts_with("127.0.0.1:"), "nobody has a name yet: {address}");
    let queue = dir.with_extension("mqsc");
    std::fs::write(&queue, "DEFINE QLOCAL(ORDERS)\n").unwrap();
    on(SECRET, &["mqsc", "-s"], &dir, &["-f", &queue.display().to_string()]).done();
    assert_eq!(answer(&python, &address, &["send", "20"]).as_deref(), Some("sent 20"));
    let status = on(SECRET, &["--json", "status"], &dir, &[]).done().out;
    let status: Value = serde_json::from_str(&status).unwrap();
    let door = &status["doors"][0];
    assert_eq!((door["name"].as_str(), door["received"].as_u64()), (Some("amqp"), Some(20)));

    let password = folder.join("password");
    std::fs::write(&password, "sesame\n").unwrap();
    let mut user = command(Some(SECRET));
    user.args(["user", "put", "-s"]).arg(&dir).arg("ANNA");
    user.stdin(std::fs::File::open(&password).unwrap());
    user.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = seam::process::finish(user.spawn().unwrap(), LIMIT).unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(answer(&python, &address, &["receive", "1"]), None, "somebody without a name");
    assert_eq!(answer(&python, &address, &["receive", "1", "anna", "wrong"]), None);
    let one = answer(&python, &address, &["receive", "1", "anna", "sesame"]);
    assert_eq!(one.as_deref(), Some("received 1"));
    system.kill().unwrap();
    system.wait_in_time().unwrap();

    let (mut system, address) = started(&dir);
    assert!(address.starts_with("0.0.0.0:"), "users may come from elsewhere: {address}");
    let address = address.replace("0.0.0.0", "127.0.0.1");
    let mut holder = client(&python, &address, &["hold", "1", "anna", "sesame"]).spawn().unwrap();
    assert_eq!(first_line(&mut holder).trim(), "holds order 1");
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    system.wait_in_time().unwrap();
    let held = seam::process::finish(holder, LIMIT).unwrap();
    let told_last = String::from_utf8_lossy(&held.stdout).into_owned();
    assert!(told_last.contains("amqp:connection:forced"), "{told_last}");

    let (mut system, address) = started(&dir);
    let address = address.replace("0.0.0.0", "127.0.0.1");
    let rest = answer(&python, &address, &["receive", "19", "anna", "sesame"]);
    assert_eq!(rest.as_deref(), Some("received 19"));
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    system.wait_in_time().unwrap();
}
