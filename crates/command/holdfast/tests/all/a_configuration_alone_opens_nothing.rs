//! A user who can write to a system's folder opens it to no other by that: what its doors, their
//! administrators and their exits are is bound by the first start, and more of it starts nothing
//! until a user with the passphrase has said so.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::in_time::EndInTime as _;
use crate::common::{Folder, SECRET, command, first_line, init, on};

fn set(dir: &Path, from: &str, to: &str) {
    let path = dir.join("holdfast.toml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}: {text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// Starts a system, and stops it when it is open.
fn start_and_stop(dir: &Path) {
    let mut start = command(Some(SECRET));
    start.args(["--json", "start", "-s"]).arg(dir).stdout(Stdio::piped());
    let mut system = start.spawn().unwrap();
    first_line(&mut system);
    on(SECRET, &["stop", "-s"], dir, &[]).done();
    assert!(system.wait_in_time().unwrap().success());
}

#[test]
fn what_was_not_bound_is_opened_by_no_start() {
    let folder = Folder::new("openings");
    let dir = folder.join("system");
    init(&dir, &[]);
    set(&dir, "[amqp]\n", "[amqp]\nlisten = [\"0.0.0.0:0\"]\n");
    // What a system opens first is bound by that.
    start_and_stop(&dir);
    start_and_stop(&dir);
    let good = fs::read_to_string(dir.join("holdfast.toml")).unwrap();
    let changes = [
        ("[online]\n", "ims_connect = [\"0.0.0.0:0\"]\n", "[online] ims_connect"),
        ("[online]\n", "records = [\"0.0.0.0:0\"]\n", "[online] records"),
        ("[online]\n", "anonymous = true\n", "[online] anonymous"),
        ("[online]\n", "exits = [\"exit.so\"]\n", "[online] exits"),
        ("[amqp]\n", "anonymous = true\n", "[amqp] anonymous"),
        ("[rest]\n", "listen = [\"0.0.0.0:0\"]\n", "[rest] listen"),
        ("[rest]\n", "administrators = [\"EVE\"]\n", "[rest] administrators"),
        ("[channels]\n", "listen = [\"0.0.0.0:0\"]\n", "[channels] listen"),
    ];
    for (section, more, setting) in changes {
        set(&dir, section, &format!("{section}{more}"));
        let words = [setting, "holdfast protect --accept"];
        on(SECRET, &["start", "-s"], &dir, &[]).failed("HFU013", &words);
        let shown = on(SECRET, &["protect", "--json", "-s"], &dir, &[]).done().json();
        assert_eq!(shown["lowered"][0]["setting"], setting);
        let verified = on(SECRET, &["verify"], &dir, &[]);
        assert!(verified.code == 1 && verified.out.contains(setting), "{}", verified.out);
        on("guess", &["protect", "--accept", "-s"], &dir, &[]).failed("HFS027", &[]);
        on(SECRET, &["start", "-s"], &dir, &[]).failed("HFU013", &words);
        fs::write(dir.join("holdfast.toml"), &good).unwrap();
    }
    // What this machine alone reaches is no matter.
    set(&dir, "[rest]\n", "[rest]\nlisten = [\"127.0.0.1:0\"]\n");
    start_and_stop(&dir);
}

#[test]
fn what_is_accepted_is_opened_and_what_was_closed_is_to_be_accepted_again() {
    let folder = Folder::new("reopened");
    let dir = folder.join("system");
    init(&dir, &[]);
    start_and_stop(&dir);
    let closed = fs::read_to_string(dir.join("holdfast.toml")).unwrap();
    let more = "[rest]\nlisten = [\"127.0.0.1:0\"]\nadministrators = [\"ANNA\"]\n";
    set(&dir, "[rest]\n", more);
    let open = fs::read_to_string(dir.join("holdfast.toml")).unwrap();
    let words = ["[rest] administrators", "ANNA"];
    on(SECRET, &["start", "-s"], &dir, &[]).failed("HFU013", &words);
    let accepted = on(SECRET, &["protect", "--accept", "-s"], &dir, &[]).done();
    assert!(accepted.out.contains("is bound now"), "{}", accepted.out);
    start_and_stop(&dir);
    fs::write(dir.join("holdfast.toml"), closed).unwrap();
    start_and_stop(&dir);
    fs::write(dir.join("holdfast.toml"), open).unwrap();
    on(SECRET, &["start", "-s"], &dir, &[]).failed("HFU013", &words);
}

#[test]
fn an_exit_with_other_bytes_is_another_exit() {
    let folder = Folder::new("exit");
    let dir = folder.join("system");
    init(&dir, &[]);
    fs::write(dir.join("exit.so"), b"as it was").unwrap();
    set(&dir, "[online]\n", "[online]\nexits = [\"exit.so\"]\n");
    on(SECRET, &["protect", "--accept", "-s"], &dir, &[]).done();
    on(SECRET, &["restart"], &dir, &[]).done();
    fs::write(dir.join("exit.so"), b"as somebody else wants it").unwrap();
    let words = ["[online] exits", "exit.so, SHA-256 "];
    on(SECRET, &["restart"], &dir, &[]).failed("HFU013", &words);
    on(SECRET, &["start", "-s"], &dir, &[]).failed("HFU013", &words);
    fs::write(dir.join("exit.so"), b"as it was").unwrap();
    on(SECRET, &["restart"], &dir, &[]).done();
}
