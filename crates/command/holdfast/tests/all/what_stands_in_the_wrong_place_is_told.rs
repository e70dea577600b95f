//! Folders and links where files belong, copies that are damaged in a system that has crashed, and
//! limits that are too low: all of it is told with a code, and nothing is an abort.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // damages files on purpose

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::in_time::RunInTime as _;
use crate::common::{DEMO, Ended, Folder, SECRET, Worker, bank, data_file, init, on, patch};

/// The findings of a verification, whatever it ended with.
fn found(dir: &Path) -> Vec<Value> {
    let ended = on(DEMO, &["verify", "--json"], dir, &[]);
    let found = ended.json()["findings"].as_array().unwrap().clone();
    assert_eq!(ended.code, i32::from(!found.is_empty()), "{}", ended.err);
    found
}

fn names(findings: &[Value], file: &Path) -> bool {
    let name = file.file_name().unwrap().to_str().unwrap();
    let answer = |one: &Value| one["file"].as_str().is_some_and(|path| path.ends_with(name));
    let expected_text = |one: &Value| one["what"].as_str().unwrap().contains(name);
    findings.iter().any(|one| answer(one) || expected_text(one))
}

#[test]
fn folders_and_links_where_files_belong_are_told_by_their_names() {
    let folder = Folder::new("misplaced");
    let dir = bank(&folder, &[]);
    assert!(found(&dir).is_empty());
    let accounts = data_file(&dir, "ACCOUNTS");
    let own = ["recon.1", "recon.2", "double-write", "control"].map(|name| dir.join(name));
    let aside = folder.join("aside");
    for file in own.iter().chain([&accounts]) {
        fs::rename(file, &aside).unwrap();
        fs::create_dir(file).unwrap();
        assert!(names(&found(&dir), file), "a folder as {}", file.display());
        assert_eq!(on(DEMO, &["doctor", "-s"], &dir, &[]).code, 1, "{}", file.display());
        fs::remove_dir(file).unwrap();
        std::os::unix::fs::symlink(file.file_name().unwrap(), file).unwrap();
        assert!(names(&found(&dir), file), "a link to itself as {}", file.display());
        assert_eq!(on(DEMO, &["doctor", "-s"], &dir, &[]).code, 1, "{}", file.display());
        fs::remove_file(file).unwrap();
        fs::rename(&aside, file).unwrap();
    }
    // Nobody listens at a link that leads nowhere.
    std::os::unix::fs::symlink("operator.sock", dir.join("operator.sock")).unwrap();
    assert!(found(&dir).is_empty());
    on(DEMO, &["status"], &dir, &[]).done();
}

/// A start would repair RECON, it was said, whatever had happened to its copy.
#[test]
fn what_is_kept_of_a_crashed_system_is_proven_all_the_same() {
    let folder = Folder::new("crashed-recon");
    let dir = bank(&folder, &[]);
    Worker::start(&dir, 7).kill();
    assert!(found(&dir).is_empty(), "a crash alone damages nothing");
    let second = dir.join("recon.2");
    let whole = fs::read(&second).unwrap();
    patch(&second, |bytes| bytes[100] ^= 1);
    assert!(names(&found(&dir), &second));
    fs::remove_file(&second).unwrap();
    assert!(names(&found(&dir), &second));
    fs::write(&second, whole).unwrap();
    assert!(found(&dir).is_empty());
}

/// They ended in an abort, or in the advice to repair the disk.
#[test]
fn too_few_descriptors_and_too_few_addresses_end_in_a_code() {
    let folder = Folder::new("limits");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let limited = |limit: &str| {
        let mut shell = Command::new("sh");
        let script = format!("ulimit {limit}; exec \"$0\" restart \"$1\"");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_holdfast")]).arg(&dir);
        Ended::of(&shell.env("HOLDFAST_PASSPHRASE", SECRET).output_in_time().unwrap())
    };
    limited("-n 20").failed("HFY032", &["20 open files", "ulimit -n"]);
    limited("-v 300000").failed("HFY032", &["300000 KiB of addresses", "ulimit -v"]);
    // What is enough is enough: no door takes addresses that others need.
    limited("-n 256").done();
    limited("-v 1200000").done();
}
