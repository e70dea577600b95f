//! The log goes over to more stripes and to fewer while the bank runs: what it was told is there,
//! whatever segments have it, and the configuration says how the log is written.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::Path;

use crate::common::{DEMO, Ended, Folder, Worker, bank, on, pause};

fn stripes(dir: &Path, rest: &[&str]) -> Ended {
    let (number, rest) = rest.split_first().unwrap();
    on(DEMO, &["log", "stripes", number, "-s"], dir, rest)
}

/// The stripes of each segment.
fn segments(dir: &Path) -> Vec<u64> {
    let listed = on(DEMO, &["log", "segments", "--json"], dir, &[]).done().json();
    let all = listed.as_array().unwrap().iter();
    all.map(|segment| segment["stripes"].as_u64().unwrap()).collect()
}

#[test]
fn stripes_come_and_go_while_the_bank_runs() {
    let folder = Folder::new("stripes");
    let dir = bank(&folder, &[]);
    let (one, two) = (folder.join("device-1/log"), folder.join("device-2/log"));
    let (first, second) = (one.to_str().unwrap(), two.to_str().unwrap());
    let mut worker = Worker::start(&dir, 7);
    pause(200);
    // A folder for each copy of the new stripe, made if it is missing.
    stripes(&dir, &["2", "--folder", first]).failed("HFL006", &["1 folders for 1 new stripes"]);
    let both = ["2", "--folder", first, "--folder", second];
    stripes(&dir, &["9"]).failed("HFL006", &["9 stripes"]);
    assert!(segments(&dir).iter().all(|stripes| *stripes == 1));
    fs::create_dir(folder.join("device-2")).unwrap();
    fs::write(&two, "no folder").unwrap();
    stripes(&dir, &both).failed("HFL010", &["device-2"]);
    fs::remove_file(&two).unwrap();
    let changed = stripes(&dir, &[&both[..], &["--json"]].concat()).done();
    assert!(changed.err.contains("stripe 2 of copy 1 is on the device of"), "{}", changed.err);
    let changed = changed.json();
    assert_eq!((changed["before"].as_u64(), changed["stripes"].as_u64()), (Some(1), Some(2)));
    assert_eq!(changed["folders"][1][0].as_str(), Some(first), "{changed}");
    pause(300);
    // How many segments there are by now, the bank alone decides.
    let now = segments(&dir);
    assert!(now.is_sorted() && now.last() == Some(&2), "{now:?}");
    assert!(one.join("segment-001.stripe-1").is_file());
    let text = fs::read_to_string(dir.join("holdfast.toml")).unwrap();
    assert!(text.contains("\nstripes = 2") && text.contains("device-1/log"), "{text}");
    on(DEMO, &["verify"], &dir, &[]).done();
    worker.kill();

    // It is read as it was written, and so it is by a command that only looks.
    on(DEMO, &["verify"], &dir, &[]).done();
    on(DEMO, &["doctor", "-s"], &dir, &[]).done();
    on(DEMO, &["restart"], &dir, &[]).done();
    // Stopped, a command opens the system itself.
    let shown = stripes(&dir, &["1"]).done().out;
    assert!(shown.contains("1 stripes, before 2"), "{shown}");
    let mut worker = Worker::start(&dir, 8);
    pause(300);
    worker.kill();
    on(DEMO, &["restart"], &dir, &[]).done();
    on(DEMO, &["verify"], &dir, &[]).done();
}

#[test]
fn a_stripe_whose_device_is_gone_is_named_and_nothing_is_lost() {
    let folder = Folder::new("stripe-gone");
    let dir = bank(&folder, &[]);
    let (one, two) = (folder.join("b1"), folder.join("b2"));
    let folders = ["--folder", one.to_str().unwrap(), "--folder", two.to_str().unwrap()];
    stripes(&dir, &[&["2"], &folders[..]].concat()).done();
    on(DEMO, &["sets", "create"], &dir, &["LATE"]).done();
    // One copy's stripe: the other copy has everything.
    let aside = folder.join("aside");
    fs::rename(&two, &aside).unwrap();
    let ended = on(DEMO, &["sets", "create"], &dir, &["LATER"]).done();
    assert!(ended.err.contains("warning") && ended.err.contains("b2"), "{}", ended.err);
    // Both: the log is not taken for a shorter one.
    fs::rename(&one, folder.join("aside-1")).unwrap();
    let refused = on(DEMO, &["restart"], &dir, &[]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("b1") || refused.err.contains("b2"), "{}", refused.err);
    fs::rename(folder.join("aside-1"), &one).unwrap();
    fs::rename(&aside, &two).unwrap();
    on(DEMO, &["restart"], &dir, &[]).done();
    let sets = on(DEMO, &["sets", "list"], &dir, &[]).done().out;
    assert!(sets.contains("LATE") && sets.contains("LATER"), "{sets}");
    on(DEMO, &["verify"], &dir, &[]).done();
}
