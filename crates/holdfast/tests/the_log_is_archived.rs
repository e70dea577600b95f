//! A system whose log is archived: written by hand and by itself, listed, proven, repaired, kept.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

mod common;

use std::path::Path;

use common::{DEMO, Folder, Worker, bank, on, patch, pause};

fn archive(dir: &Path, words: &[&str]) -> common::Ended {
    let mut all = vec!["archive"];
    all.extend(words);
    all.push("-s");
    on(DEMO, &all, dir, &[])
}

fn with_archive(folder: &Folder) -> std::path::PathBuf {
    let dir = bank(folder, &[]);
    let path = dir.join("holdfast.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replace("#: folders = []", "folders = [\"archive\", \"more/archive\"]");
    let text = text.replace("#: compress = 0", "compress = 1");
    std::fs::write(&path, text).unwrap();
    dir
}

#[test]
fn archives_are_written_listed_proven_and_made_anew() {
    let folder = Folder::new("archived");
    let dir = with_archive(&folder);
    let made = archive(&dir, &["now", "--json"]).done().json();
    let first = &made[0];
    assert_eq!(first["first_group"], 1, "{made}");
    assert_eq!(first["compressed"], true);
    assert_eq!(first["files"].as_array().unwrap().len(), 2);
    assert!(first["first_commit_us"].as_u64() > Some(1_000_000), "{made}");
    let listed = archive(&dir, &["list"]).done().out;
    assert!(listed.contains("FIRST GROUP") && listed.contains("more/archive"), "{listed}");
    assert!(archive(&dir, &["verify"]).done().out.contains("0 copies damaged"));

    let file = Path::new(first["files"][0].as_str().unwrap()).to_owned();
    patch(&file, |bytes| bytes[6_000] ^= 1);
    let found = archive(&dir, &["verify"]);
    assert_eq!(found.code, 1);
    assert!(found.out.contains(file.to_str().unwrap()) && found.out.contains("--repair"));
    let repaired = archive(&dir, &["verify", "--repair"]).done().out;
    assert!(repaired.contains("made anew"), "{repaired}");
    assert!(archive(&dir, &["verify"]).done().out.contains("0 copies damaged"));

    let merged = archive(&dir, &["accumulate", "--set", "ACCOUNTS", "--json"]).done().json();
    assert_eq!(merged[0]["sets"][0], "ACCOUNTS", "{merged}");
    assert!(merged[0]["records"].as_u64() > Some(100), "{merged}");
    let again = archive(&dir, &["accumulate", "--set", "ACCOUNTS"]).done().out;
    assert!(!again.contains(&merged[0]["records"].to_string()), "{again}");
    archive(&dir, &["accumulate", "--set", "NOTHING"]).failed("HFU003", &["NOTHING"]);

    // Without image copies everything is needed.
    let group = first["first_group"].to_string();
    let refused = archive(&dir, &["delete", "--first-group", &group]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(archive(&dir, &["delete", "--check"]).done().out.contains("nothing to delete"));
}

#[test]
fn a_system_in_use_archives_when_told_and_goes_on_after_a_crash() {
    let folder = Folder::new("archived-in-use");
    let dir = with_archive(&folder);
    let mut worker = Worker::start(&dir, 7);
    pause(300);
    let first = archive(&dir, &["now", "--json"]).done().json();
    pause(100);
    let second = archive(&dir, &["now", "--json"]).done().json();
    // The system archives by itself, too, so others may stand between the two; nothing is missing.
    let list = archive(&dir, &["list", "--json"]).done().json();
    let list = list.as_array().unwrap();
    for told in [&first[0], &second[0]] {
        assert!(list.iter().any(|one| one["first_group"] == told["first_group"]), "{told}");
    }
    for pair in list.windows(2) {
        let group = |at: usize, name: &str| pair[at][name].as_u64().unwrap();
        assert_eq!(group(0, "last_group") + 1, group(1, "first_group"), "{pair:?}");
    }
    let status = on(DEMO, &["status", "--json"], &dir, &[]).done().json();
    assert_eq!(status["archive"]["folders"].as_array().unwrap().len(), 2, "{status}");
    assert!(status["archive"]["archived_to"].as_u64() > Some(64), "{status}");
    worker.kill();
    archive(&dir, &["now"]).done();
    assert!(archive(&dir, &["verify"]).done().out.contains("0 copies damaged"));
}
