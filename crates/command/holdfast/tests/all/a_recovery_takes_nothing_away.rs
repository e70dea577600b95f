//! A recovery that cannot be done, or is only asked about, leaves a system as it is.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // moves files away on purpose

use std::fs;
use std::path::Path;

use crate::common::shop::SHOP;
use crate::common::{DEMO, Ended, Folder, SECRET, bank, data_file, findings, on, system_of};

fn recover(dir: &Path, rest: &[&str]) -> Ended {
    on(DEMO, &["recover", "-s"], dir, rest)
}

/// As if the folder of the data sets was not mounted.
fn without_data(dir: &Path, body: impl FnOnce()) {
    let (data, away) = (dir.join("data"), dir.join("away"));
    fs::rename(&data, &away).unwrap();
    fs::create_dir(&data).unwrap();
    body();
    fs::remove_dir_all(&data).unwrap();
    fs::rename(&away, &data).unwrap();
}

#[test]
fn data_sets_that_are_away_for_a_while_are_not_given_up_by_a_recovery_that_cannot_be() {
    let folder = Folder::new("away");
    let dir = bank(&folder, &[]);
    without_data(&dir, || {
        on(DEMO, &["restart"], &dir, &[]).failed("HFD001", &[]);
        // There was nothing yet at that point.
        for rest in [&["--all", "--check"][..], &["--all"], &["--set", "ACCOUNTS"]] {
            let rest = [rest, &["--to", "0x10"]].concat();
            assert_eq!(recover(&dir, &rest).code, 1, "{rest:?}");
        }
    });
    assert!(findings(&dir).is_empty());
    on(DEMO, &["restart"], &dir, &[]).done();
}

#[test]
fn what_would_be_read_is_said_without_taking_anything_offline() {
    let folder = Folder::new("only-asked");
    let dir = bank(&folder, &[]);
    let copies = folder.join("copies");
    on(DEMO, &["image-copy", "--all", "--to", copies.to_str().unwrap(), "-s"], &dir, &[]).done();
    without_data(&dir, || {
        let printed = recover(&dir, &["--all", "--check"]).done();
        assert!(printed.out.contains("would be recovered"), "{}", printed.out);
    });
    assert!(findings(&dir).is_empty());
    // What is lost for good comes back from the copy, and what is whole stays where it is.
    fs::remove_file(data_file(&dir, "ACCOUNTS")).unwrap();
    let printed = recover(&dir, &["--all"]).done();
    assert!(printed.err.contains("starting without ACCOUNTS"), "{}", printed.err);
    assert!(findings(&dir).is_empty());
}

#[test]
fn a_database_comes_back_by_its_name_if_one_of_its_data_sets_is_lost() {
    let (folder, dir) = system_of("by-name", SHOP, "");
    let on = |words: &[&str], rest: &[&str]| on(SECRET, words, &dir, rest);
    // Its data sets are made when it is first used.
    on(&["db", "status", "-s"], &["SHOP"]).done();
    let copies = folder.join("copies");
    on(&["image-copy", "--all", "--to", copies.to_str().unwrap(), "-s"], &[]).done();
    for set in ["SHOP", "SHOPY"] {
        fs::remove_file(data_file(&dir, set)).unwrap();
        on(&["restart"], &[]).failed("HFD001", &[set]);
        on(&["recover", "-s"], &["--db", "SHOP", "--check"]).done();
        on(&["recover", "-s"], &["--db", "SHOP"]).done();
        on(&["db", "verify", "-s"], &["SHOP"]).done();
    }
    on(&["verify"], &[]).done();
}

/// Copies everything into a folder of its own; the file.
fn copy_all(folder: &Folder, dir: &Path, name: &str) -> std::path::PathBuf {
    let copies = folder.join(name);
    let to = copies.to_str().unwrap();
    let words = ["image-copy", "--all", "--to", to, "--json", "-s"];
    let copied = on(DEMO, &words, dir, &[]).done().json();
    copied["files"][0].as_str().unwrap().into()
}

/// Spoils a file all over, so that every data set in it is hit; its ends stay as they are.
fn spoil(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let (from, to) = (bytes.len() / 16, bytes.len() * 15 / 16);
    bytes[from..to].iter_mut().step_by(512).for_each(|byte| *byte ^= 1);
    fs::write(path, bytes).unwrap();
}

#[test]
fn an_older_copy_serves_where_a_newer_one_cannot_be_read() {
    let folder = Folder::new("older");
    let dir = bank(&folder, &[]);
    let [oldest, older, newest] = ["1", "2", "3"].map(|name| copy_all(&folder, &dir, name));
    let copies_of = |printed: &Ended| printed.json()["sets"][0]["copies"].clone();
    let whole = copies_of(&recover(&dir, &["--set", "ACCOUNTS", "--check", "--json"]).done());
    fs::remove_file(&newest).unwrap();
    let printed = recover(&dir, &["--set", "ACCOUNTS", "--check", "--json"]).done();
    assert!(printed.out.contains("left aside for ACCOUNTS"), "{}", printed.out);
    assert_ne!(copies_of(&printed), whole);
    // What is damaged in the middle is seen when it is read.
    spoil(&older);
    fs::remove_file(data_file(&dir, "ACCOUNTS")).unwrap();
    let printed = recover(&dir, &["--set", "ACCOUNTS"]).done();
    assert_eq!(printed.err.matches("left aside for ACCOUNTS").count(), 2, "{}", printed.err);
    assert!(oldest.exists());
    // Copies are forgotten when there is a new one, not before.
    let repaired = on(DEMO, &["verify", "--repair"], &dir, &[]).done();
    let place = |what: &str| repaired.out.find(what).unwrap();
    assert!(place("holdfast image-copy") < place("--gone"), "{}", repaired.out);
    assert!(findings(&dir).is_empty());
}
