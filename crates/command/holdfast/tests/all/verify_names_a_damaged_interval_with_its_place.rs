//! One wrong byte, an interval in another's place, an interval of yesterday: each is found and
//! named with data set, interval, file and offset.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::path::Path;

use crate::common::{DEMO, Folder, Worker, bank, findings, is_about, on, patch};
use serde_json::Value;

const UNIT: usize = 8192;

/// The intervals that findings name in a file, after checking that their offsets fit.
fn named(found: &[Value], file: &Path) -> Vec<u64> {
    let of_file = found.iter().filter(|finding| is_about(finding, file));
    let interval = |finding: &Value| {
        let interval = finding["interval"].as_u64().unwrap();
        assert_eq!(finding["offset"].as_u64().unwrap(), interval * UNIT as u64);
        assert_eq!(finding["object"], "data set ACCOUNTS");
        assert!(!finding["remedy"].as_str().unwrap().is_empty());
        interval
    };
    let mut intervals: Vec<u64> = of_file.map(interval).collect();
    intervals.sort_unstable();
    intervals
}

#[test]
fn a_data_set_that_all_of_the_log_is_there_for_needs_no_image_copy() {
    let folder = Folder::new("no-copy");
    let dir = bank(&folder, &[]);
    patch(&crate::common::data_file(&dir, "ACCOUNTS"), |bytes| bytes[3 * UNIT + 100] ^= 1);
    let found = findings(&dir);
    let command = found[0]["repair"][0].to_string();
    assert!(command.contains("recover") && command.contains("ACCOUNTS"), "{found:#?}");
    let doctor = on(DEMO, &["doctor", "-s"], &dir, &[]);
    assert!(!doctor.out.contains("load anew"), "{}", doctor.out);
    on(DEMO, &["verify"], &dir, &["--repair"]).done();
    assert!(findings(&dir).is_empty());
}

#[test]
fn every_data_set_that_keeps_a_system_from_starting_is_named_at_once() {
    let folder = Folder::new("both");
    let dir = bank(&folder, &[]);
    let copies = folder.join("copies");
    on(DEMO, &["image-copy", "-s"], &dir, &["--all", "--to", copies.to_str().unwrap()]).done();
    Worker::for_some(&dir, 500).kill();
    std::fs::remove_file(crate::common::data_file(&dir, "JOURNAL")).unwrap();
    patch(&crate::common::data_file(&dir, "ACCOUNTS"), |bytes| bytes.truncate(UNIT / 2));
    let both = ["--set", "ACCOUNTS", "--set", "JOURNAL"].map(Value::from);
    for finding in findings(&dir).iter().filter(|finding| finding["object"] != "restart") {
        let command = finding["repair"][0].as_array().unwrap();
        assert!(command.ends_with(&both), "{finding:#?}");
    }
    on(DEMO, &["verify"], &dir, &["--repair"]).done();
    assert!(findings(&dir).is_empty());
}

#[test]
fn verify_names_a_damaged_interval_with_its_place() {
    let folder = Folder::new("damage");
    let dir = bank(&folder, &[]);
    let file = crate::common::data_file(&dir, "ACCOUNTS");
    let sound = std::fs::read(&file).unwrap();
    let intervals = sound.len() / UNIT;
    assert!(intervals > 20, "{intervals}");
    let back = || std::fs::write(&file, &sound).unwrap();

    // Header, map, root, and leaves somewhere; payload, trailer, tag.
    for (interval, byte) in [(0, 100), (1, 40), (3, 50), (4, 20), (9, 0), (12, 8150), (17, 8191)] {
        patch(&file, |bytes| bytes[interval * UNIT + byte] ^= 0x10);
        let found = findings(&dir);
        assert!(named(&found, &file).contains(&(interval as u64)), "{interval}: {found:?}");
        back();
    }
    // Two at once, and neither hides the other.
    patch(&file, |bytes| {
        (bytes[9 * UNIT], bytes[17 * UNIT + 7]) = (!bytes[9 * UNIT], !bytes[17 * UNIT + 7]);
    });
    assert_eq!(named(&findings(&dir), &file), [9, 17]);
    let text = on(DEMO, &["verify"], &dir, &[]).out;
    assert!(text.contains("2 things are wrong") && text.contains("interval 17"), "{text}");
    assert!(text.contains(&format!("{} at {}", file.display(), 17 * UNIT)), "{text}");
    back();
    // In another's place.
    patch(&file, |bytes| bytes.copy_within(10 * UNIT..11 * UNIT, 11 * UNIT));
    assert_eq!(named(&findings(&dir), &file), [11]);
    back();
    // Zeros.
    patch(&file, |bytes| bytes[13 * UNIT..14 * UNIT].fill(0));
    assert_eq!(named(&findings(&dir), &file), [13]);
    back();
    assert!(findings(&dir).is_empty());
}

#[test]
fn an_interval_of_yesterday_is_not_taken_for_todays() {
    let folder = Folder::new("stale");
    let dir = bank(&folder, &[]);
    let file = crate::common::data_file(&dir, "ACCOUNTS");
    let yesterday = std::fs::read(&file).unwrap();
    Worker::start(&dir, 60).finish();
    let today = std::fs::read(&file).unwrap();
    let changed =
        |interval: &usize| yesterday[interval * UNIT..][..UNIT] != today[interval * UNIT..][..UNIT];
    let interval = (9..yesterday.len() / UNIT).find(changed).unwrap();
    patch(&file, |bytes| {
        bytes[interval * UNIT..][..UNIT].copy_from_slice(&yesterday[interval * UNIT..][..UNIT]);
    });
    let found = findings(&dir);
    assert_eq!(named(&found, &file), [interval as u64]);
    assert!(found[0]["what"].as_str().unwrap().contains("not its newest version"), "{found:?}");
    // All of it at once: the map itself is of yesterday, and says so.
    std::fs::write(&file, &yesterday).unwrap();
    assert!(!named(&findings(&dir), &file).is_empty());
    std::fs::write(&file, &today).unwrap();
    assert!(findings(&dir).is_empty());
}
