//! A new passphrase, a new master key, a new generation of a data key: each takes effect, and what
//! was written before is still read.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use crate::common::in_time::RunInTime as _;
use crate::common::{DEMO, Folder, bank, command, findings, on, run_as};
use serde_json::Value;

const NEW: &str = "another passphrase";

fn keys(passphrase: &str, dir: &std::path::Path) -> Value {
    on(passphrase, &["keys", "list", "--json"], dir, &[]).done().json()
}

#[test]
fn keys_change_and_old_passphrases_stop_working() {
    let folder = Folder::new("keys");
    let dir = bank(&folder, &[]);
    let edition = keys(DEMO, &dir)["edition"].as_u64().unwrap();

    on(DEMO, &["keys", "master"], &dir, &[]).done();
    on(DEMO, &["keys", "new-generation"], &dir, &["log"]).done();
    on(DEMO, &["keys", "new-generation"], &dir, &["system"]).done();
    on(DEMO, &["keys", "add-label"], &dir, &["payroll"]).done();
    on(DEMO, &["keys", "add-label"], &dir, &["payroll"]).failed("HFS044", &["payroll"]);
    on(DEMO, &["keys", "new-generation"], &dir, &["nobody"]).failed("HFS010", &["nobody"]);
    on(DEMO, &["keys", "add-label"], &dir, &["no blanks"]).failed("HFS043", &["no blanks"]);

    let now = keys(DEMO, &dir);
    assert_eq!(now["edition"].as_u64(), Some(edition + 4));
    let current: Vec<(&str, u64)> = now["keys"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|key| key["current"] == true)
        .map(|key| (key["label"].as_str().unwrap(), key["generation"].as_u64().unwrap()))
        .collect();
    assert_eq!(current, [("data", 1), ("log", 2), ("payroll", 1), ("system", 2)]);

    // What was written before opens with the old generations, what comes uses the new ones.
    assert!(findings(&dir).is_empty());
    on(DEMO, &["sets", "create"], &dir, &["WAGES", "--label", "payroll"]).done();
    let sets = on(DEMO, &["sets", "list", "--json"], &dir, &[]).done().json();
    let wages = sets.as_array().unwrap().iter().find(|set| set["name"] == "WAGES").unwrap();
    assert_eq!(wages["label"], "payroll");
    let out = on(DEMO, &["log", "print", "--json", "--groups"], &dir, &[]).done().out;
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let generations =
        lines.filter(|line| line["line"] == "group").map(|line| line["generation"].clone());
    assert_eq!(generations.collect::<Vec<_>>().pop(), Some(2.into()));
    assert!(findings(&dir).is_empty());
}

#[test]
fn an_old_passphrase_stops_working() {
    let folder = Folder::new("passphrase");
    let dir = bank(&folder, &[]);
    let change = |old: &str, new: Option<&str>| {
        let mut command = command(Some(old));
        command.args(["keys", "passphrase"]).arg(&dir);
        if let Some(new) = new {
            command.env("HOLDFAST_NEW_PASSPHRASE", new);
        }
        crate::common::Ended::of(&command.output_in_time().unwrap())
    };
    change("wrong", Some(NEW)).failed("HFS027", &["holdfast.keys"]);
    assert_eq!(change(DEMO, None).code, 2, "a new passphrase is needed");
    assert_eq!(change(DEMO, Some("")).code, 2, "an empty one is none");
    let old_file = std::fs::read(dir.join("holdfast.keys")).unwrap();
    let ended = change(DEMO, Some(NEW)).done();
    assert!(!ended.out.contains(NEW), "{}", ended.out);
    on(DEMO, &["status"], &dir, &[]).failed("HFS027", &["holdfast.keys"]);
    run_as(NEW, ["verify".as_ref(), dir.as_os_str()]).done();
    // An old copy of the key file still opens with the old passphrase, as the manual says.
    std::fs::write(dir.join("holdfast.keys"), old_file).unwrap();
    on(DEMO, &["status"], &dir, &[]).done();
}
