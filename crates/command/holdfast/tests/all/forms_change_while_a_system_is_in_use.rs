//! Conversion, re-key and the end of keys, as an operator meets them.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::path::Path;

use crate::common::{DEMO, Ended, Folder, Worker, bank, data_file, findings, on, pause};
use serde_json::Value;

/// A part of every account's record.
const MARKER: &[u8] = b"AT THE HOLDFAST BANK";

fn readable(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap();
    bytes.windows(MARKER.len()).any(|window| window == MARKER)
}

fn convert(dir: &Path, rest: &[&str]) -> Ended {
    on(DEMO, &["convert", "--json", "-s"], dir, rest)
}

/// The same for people.
fn answer(words: &[&str], dir: &Path, rest: &[&str]) -> Ended {
    on(DEMO, &[words, &["-s"]].concat(), dir, rest)
}

fn rekey(dir: &Path, rest: &[&str]) -> Ended {
    on(DEMO, &["rekey", "--json", "-s"], dir, rest)
}

/// The key generation of a data set; 0 if it is plain.
fn generation(dir: &Path, set: &str) -> u64 {
    let sets = on(DEMO, &["sets", "list", "--json"], dir, &[]).done().json();
    let found = sets.as_array().unwrap().iter().find(|one| one["name"] == set).unwrap();
    found["generation"].as_u64().unwrap()
}

#[test]
fn a_data_set_becomes_plain_and_sealed_again_while_programs_go_on() {
    let folder = Folder::new("convert");
    let dir = bank(&folder, &[]);
    let file = data_file(&dir, "ACCOUNTS");
    let mut worker = Worker::start(&dir, 71);
    let done = convert(&dir, &["--set", "ACCOUNTS", "--to", "plain"]).done().json();
    assert_eq!(done["done"], Value::from(vec!["ACCOUNTS"]));
    pause(200);
    assert!(readable(&file), "what is plain can be read");
    convert(&dir, &["--set", "ACCOUNTS", "--to", "sealed"]).done();
    pause(200);
    worker.kill();
    assert!(!readable(&file), "nothing is left in clear");
    assert!(!readable(&dir.join("double-write")));
    let again = convert(&dir, &["--set", "ACCOUNTS", "--to", "sealed"]).done().json();
    assert_eq!(again["unchanged"], Value::from(vec!["ACCOUNTS"]));
    assert!(findings(&dir).is_empty());
    let nobody = ["--set", "NOBODY", "--to", "plain"];
    answer(&["convert"], &dir, &nobody).failed("HFU003", &["NOBODY"]);
    assert_eq!(convert(&dir, &["--to", "plain"]).code, 2, "something must be named");
}

#[test]
fn two_re_keys_at_one_moment_are_one() {
    let folder = Folder::new("re-keys");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::start(&dir, 74);
    let slow = ["--all", "--rate", "16 KiB", "--no-wait"];
    std::thread::scope(|scope| {
        let both = [(); 3].map(|()| scope.spawn(|| rekey(&dir, &slow)));
        both.into_iter().for_each(|one| drop(one.join().unwrap().done()));
    });
    worker.kill();
    let listed = on(DEMO, &["keys", "list", "--json"], &dir, &[]).done().json();
    for key in listed["keys"].as_array().unwrap() {
        assert!(key["generation"].as_u64().unwrap() <= 2, "{listed}");
    }
}

#[test]
fn a_paused_conversion_survives_a_kill_and_goes_on_when_resumed() {
    let folder = Folder::new("paused");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::start(&dir, 72);
    let slow = ["--set", "ACCOUNTS", "--to", "plain", "--rate", "16 KiB", "--no-wait"];
    convert(&dir, &slow).done();
    on(DEMO, &["rekey", "pause", "-s"], &dir, &[]).done();
    let other = ["--set", "ACCOUNTS", "--to", "sealed"];
    answer(&["convert"], &dir, &other).failed("HFU009", &["ACCOUNTS"]);
    worker.kill();
    let left = on(DEMO, &["rekey", "status", "--json", "-s"], &dir, &[]).done().json();
    assert_eq!(left[0]["set"], "ACCOUNTS");
    assert_eq!(left[0]["paused"], true);
    assert!(findings(&dir).is_empty(), "half of it is plain, and all of it is right");
    let mut worker = Worker::start(&dir, 73);
    on(DEMO, &["rekey", "resume", "-s"], &dir, &["--rate", "0"]).done();
    for _ in 0..500 {
        let left = on(DEMO, &["rekey", "status", "--json", "-s"], &dir, &[]).done().json();
        if left.as_array().unwrap().is_empty() {
            break;
        }
        pause(20);
    }
    assert_eq!(generation(&dir, "ACCOUNTS"), 0);
    worker.finish();
    assert!(findings(&dir).is_empty());
}

#[test]
fn a_re_key_that_is_given_again_takes_up_what_was_left() {
    let folder = Folder::new("rekey-again");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::start(&dir, 76);
    let slow = ["--set", "ACCOUNTS", "--rate", "16 KiB", "--no-wait"];
    let begun = rekey(&dir, &slow).done().json();
    assert_eq!(begun["generations"]["data"], 2);
    worker.kill();
    for _ in 0..3 {
        assert!(findings(&dir).is_empty(), "nothing goes on while it is proven");
    }
    let again = rekey(&dir, &["--set", "ACCOUNTS"]).done().json();
    assert_eq!(again["done"], Value::from(vec!["ACCOUNTS"]), "{again}");
    assert!(again["generations"].as_object().unwrap().is_empty(), "no second key: {again}");
    assert_eq!(generation(&dir, "ACCOUNTS"), 2);
    assert!(findings(&dir).is_empty());
}

#[test]
fn everything_goes_over_to_new_keys_and_the_old_one_can_be_deleted() {
    let folder = Folder::new("rekey");
    let dir = bank(&folder, &[]);
    let refused = on(DEMO, &["keys", "delete"], &dir, &["data", "1"]);
    refused.failed("HFY012", &["ACCOUNTS", "JOURNAL"]);
    let mut worker = Worker::start(&dir, 74);
    let done = rekey(&dir, &["--all"]).done().json();
    assert_eq!(done["generations"]["data"], 2);
    assert_eq!(done["generations"]["log"], 2);
    assert_eq!(generation(&dir, "ACCOUNTS"), 2);
    assert_eq!(generation(&dir, "JOURNAL"), 2);
    pause(200);
    let refused = on(DEMO, &["keys", "delete"], &dir, &["log", "1"]);
    refused.failed("HFY012", &["the log"]);
    on(DEMO, &["keys", "delete"], &dir, &["data", "1"]).done();
    on(DEMO, &["keys", "delete"], &dir, &["data", "2"]).failed("HFY012", &["ACCOUNTS"]);
    pause(200);
    worker.kill();
    assert!(findings(&dir).is_empty(), "nothing needs the old key");
    let out = on(DEMO, &["log", "print", "--json", "--groups"], &dir, &[]).done().out;
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut groups = lines.filter(|line| line["line"] == "group");
    assert_eq!(groups.next_back().unwrap()["generation"], 2, "the log has its new key");
    convert(&dir, &["--set", "JOURNAL", "--to", "plain"]).done();
    answer(&["rekey"], &dir, &["--set", "JOURNAL"]).failed("HFY010", &["JOURNAL"]);
}

#[test]
fn a_rekey_of_everything_that_is_given_again_draws_no_second_keys() {
    let folder = Folder::new("again");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::idle(&dir);
    let newest = || {
        let keys = on(DEMO, &["keys", "list", "--json"], &dir, &[]).done().json();
        let keys = keys["keys"].as_array().cloned().unwrap();
        let of = |label: &str| {
            let all = keys.iter().filter(|key| key["label"] == label);
            all.filter_map(|key| key["generation"].as_u64()).max().unwrap()
        };
        ["data", "log", "system"].map(of)
    };
    let before = newest();
    let slowly = ["--all", "--no-wait", "--rate", "64 KiB"];
    rekey(&dir, &slowly).done();
    let drawn = before.map(|generation| generation + 1);
    assert_eq!(newest(), drawn);
    rekey(&dir, &slowly).done();
    assert_eq!(newest(), drawn, "the first one is under way");
    rekey(&dir, &["--all"]).done();
    assert_eq!(newest(), drawn, "it was taken up");
    rekey(&dir, &["--all"]).done();
    assert_eq!(newest(), before.map(|generation| generation + 2));
    // There are two copies of the log.
    let none = on(DEMO, &["log", "resync", "--copy", "3", "-s"], &dir, &[]);
    assert!(none.code == 2 && none.err.contains("no copy 3"), "{}", none.err);
    worker.finish();
}
