//! A log copy that missed groups is recorded as stale; if only that one is left, a start is
//! refused until an operator accepts by name what is lost (K9).

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;

use crate::common::{DEMO, Folder, Worker, bank, findings, is_about, on, pause};

#[test]
fn a_stale_log_copy_is_never_taken_for_a_good_one() {
    let folder = Folder::new("stale-copy");
    let dir = bank(&folder, &[]);
    let (good, stale) = (dir.join("log"), dir.join("log-copy"));
    let aside = dir.join("aside");
    // The second copy's device is gone for a while.
    fs::rename(&stale, &aside).unwrap();
    fs::write(&stale, "no folder").unwrap();
    let ended = on(DEMO, &["sets", "create"], &dir, &["LATE"]).done();
    assert!(ended.err.contains("warning") && ended.err.contains("log-copy"), "{}", ended.err);
    let status = on(DEMO, &["status", "--json"], &dir, &[]).done().json();
    assert_eq!(status["stale_copy"]["path"].as_str(), stale.to_str());

    // It comes back, and the good one goes.
    fs::remove_file(&stale).unwrap();
    fs::rename(&aside, &stale).unwrap();
    fs::rename(&good, &aside).unwrap();
    on(DEMO, &["status"], &dir, &[]).failed("HFL013", &["stale"]);
    on(DEMO, &["restart"], &dir, &[]).failed("HFL013", &["stale"]);

    // With the good one back it is made anew, and is good again.
    fs::rename(&aside, &good).unwrap();
    on(DEMO, &["restart"], &dir, &[]).done();
    let status = on(DEMO, &["status", "--json"], &dir, &[]).done().json();
    assert!(status["stale_copy"].is_null(), "{status}");
    let sets = on(DEMO, &["sets", "list"], &dir, &[]).done().out;
    assert!(sets.contains("LATE"), "{sets}");
    on(DEMO, &["verify"], &dir, &[]).done();
    fs::rename(&good, &aside).unwrap();
    fs::create_dir(&good).unwrap();
    on(DEMO, &["restart"], &dir, &[]).done();
    on(DEMO, &["verify"], &dir, &[]).done();
}

#[test]
fn accepting_a_loss_does_not_accept_a_contradiction() {
    let folder = Folder::new("accepted");
    let dir = bank(&folder, &[]);
    let (good, stale, aside) = (dir.join("log"), dir.join("log-copy"), dir.join("aside"));
    fs::rename(&stale, &aside).unwrap();
    fs::write(&stale, "no folder").unwrap();
    on(DEMO, &["sets", "create"], &dir, &["LATE"]).done();
    fs::remove_file(&stale).unwrap();
    fs::rename(&aside, &stale).unwrap();
    fs::remove_dir_all(&good).unwrap();
    fs::create_dir(&good).unwrap();
    on(DEMO, &["restart"], &dir, &[]).failed("HFL013", &["stale"]);
    // The control file has a checkpoint that stands behind the end of the stale copy: with that
    // log the data sets cannot be made consistent, whatever anybody accepts (K6).
    let accept = ["--accept-loss-with-stale-log-copy"];
    on(DEMO, &["restart"], &dir, &accept).failed("HFL012", &["the log ends at"]);
}

#[test]
fn a_log_copy_whose_folder_is_gone_is_named_with_what_brings_it_back() {
    let folder = Folder::new("copy-gone");
    let dir = bank(&folder, &[]);
    let lost = dir.join("log-copy");
    fs::remove_dir_all(&lost).unwrap();
    let named = || {
        let found = findings(&dir);
        assert!(found.len() == 1 && is_about(&found[0], &lost), "{found:#?}");
        let command = found[0]["repair"][0].to_string();
        assert!(command.contains("\"resync\"") && command.contains("\"2\""), "{command}");
        let doctor = on(DEMO, &["doctor", "-s"], &dir, &[]);
        assert!(doctor.code == 1 && doctor.out.contains("log resync -s"), "{}", doctor.out);
        let status = on(DEMO, &["status"], &dir, &[]).done().out;
        assert!(status.contains("copy 2") && status.contains("cannot be used"), "{status}");
    };
    named();
    // From the next start on it is known to be stale; its folder is still gone.
    on(DEMO, &["restart"], &dir, &[]).done();
    named();
    on(DEMO, &["verify"], &dir, &["--repair"]).done();
    assert!(findings(&dir).is_empty());
    on(DEMO, &["doctor", "-s"], &dir, &[]).done();
}

#[test]
fn a_lost_log_copy_comes_back_while_the_bank_runs() {
    let folder = Folder::new("copy-back");
    let dir = bank(&folder, &[]);
    let (good, lost, aside) = (dir.join("log"), dir.join("log-copy"), dir.join("aside"));
    fs::remove_dir_all(&lost).unwrap();
    fs::write(&lost, "no folder").unwrap();
    let mut worker = Worker::start(&dir, 7);
    pause(200);
    let notes = on(DEMO, &["status", "--json"], &dir, &[]).done().json()["notes"].to_string();
    assert!(notes.contains("log-copy is lost") && notes.contains("log resync"), "{notes}");
    let resync = |rest: &[&str]| on(DEMO, &["log", "resync", "-s"], &dir, rest);
    resync(&[]).failed("HFL010", &["log-copy"]);
    fs::remove_file(&lost).unwrap();
    let back = resync(&["--json"]).done().json();
    assert_eq!((back[0]["copy"].as_u64(), back[1].is_null()), (Some(2), true), "{back}");
    assert!(back[0]["bytes"].as_u64() > Some(4_000), "{back}");
    assert!(resync(&[]).done().out.contains("No copy of the log is lost"));
    resync(&["--copy", "1"]).failed("HFL020", &["log copy 1 is not lost"]);
    pause(300);
    worker.kill();

    let status = on(DEMO, &["status", "--json"], &dir, &[]).done().json();
    assert!(status["stale_copy"].is_null(), "{status}");
    // It has all that the bank was told, alone.
    fs::rename(&good, &aside).unwrap();
    fs::create_dir(&good).unwrap();
    on(DEMO, &["restart"], &dir, &[]).done();
    on(DEMO, &["verify"], &dir, &[]).done();
}

#[test]
fn a_log_copy_that_went_a_moment_ago_comes_back_at_once() {
    let folder = Folder::new("copy-just-gone");
    let dir = bank(&folder, &[]);
    let lost = dir.join("log-copy");
    let mut worker = Worker::start(&dir, 7);
    for rest in [&["--json"][..], &["--copy", "2", "--json"]] {
        fs::remove_dir_all(&lost).unwrap();
        let back = on(DEMO, &["log", "resync", "-s"], &dir, rest).done().json();
        assert_eq!(back[0]["copy"].as_u64(), Some(2), "{back}");
        on(DEMO, &["verify"], &dir, &[]).done();
    }
    worker.kill();
    on(DEMO, &["restart"], &dir, &[]).done();
    on(DEMO, &["verify"], &dir, &[]).done();
}

#[test]
fn a_lost_log_copy_is_made_anew_in_another_folder_and_stays_there() {
    let folder = Folder::new("copy-moved");
    let dir = bank(&folder, &[]);
    let (good, lost, aside) = (dir.join("log"), dir.join("log-copy"), dir.join("aside"));
    let new = folder.join("other/disk");
    // Its disk is gone for good: what it had shows up elsewhere only.
    fs::rename(&lost, &aside).unwrap();
    fs::write(&lost, "no folder").unwrap();
    let mut worker = Worker::start(&dir, 7);
    let resync = |rest: &[&str]| on(DEMO, &["log", "resync", "-s"], &dir, rest);
    let to = new.to_str().unwrap();
    assert_eq!(resync(&["--to", to]).code, 2, "which copy?");
    resync(&["--copy", "2", "--to", good.to_str().unwrap()])
        .failed("HFY013", &["log copy 1 is in"]);
    resync(&["--copy", "1", "--to", to]).failed("HFL020", &["log copy 1 is not lost"]);
    resync(&["--copy", "2", "--to", aside.to_str().unwrap()]).failed("HFL008", &["aside"]);
    let back = resync(&["--copy", "2", "--to", to, "--json"]).done().json();
    assert_eq!(back[0]["folder"].as_str(), Some(to), "{back}");
    let status = on(DEMO, &["status", "--json"], &dir, &[]).done().json();
    assert!(status["log"]["copies"].to_string().contains(to), "{status}");
    assert!(!status["notes"].to_string().contains("lost"), "{status}");
    on(DEMO, &["verify"], &dir, &[]).done();
    pause(300);
    worker.kill();

    // The old folder is back, with what it had; it is not looked at.
    fs::remove_file(&lost).unwrap();
    fs::rename(&aside, &lost).unwrap();
    let text = fs::read_to_string(dir.join("holdfast.toml")).unwrap();
    assert!(text.contains(to) && !text.contains("log-copy"), "{text}");
    let aside = dir.join("aside");
    fs::rename(&good, &aside).unwrap();
    fs::create_dir(&good).unwrap();
    on(DEMO, &["restart"], &dir, &[]).done();
    on(DEMO, &["verify"], &dir, &[]).done();
}
