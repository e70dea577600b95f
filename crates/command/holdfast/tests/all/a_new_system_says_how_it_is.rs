//! A system from its making through its first data sets: every command that looks at it agrees.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use crate::common::{Folder, SECRET, init, on, run};

#[test]
fn a_new_system_says_how_it_is() {
    let folder = Folder::new("new");
    let dir = folder.join("bank");
    let made = init(&dir, &["--log-copy", "log", "--log-copy", "log2", "--json"]).json();
    let system = made["system"].as_str().unwrap();
    assert_eq!((system.len(), made["format"].as_str()), (32, Some("sealed")));

    let status = on(SECRET, &["status"], &dir, &["--json"]).done().json();
    assert_eq!(status["state"], "stopped_in_order");
    assert_eq!(status["system"], system);
    assert_eq!(status["data_sets"], serde_json::json!([]));

    on(SECRET, &["sets", "create"], &dir, &["ACCOUNTS"]).done();
    on(SECRET, &["sets", "create"], &dir, &["SMALL", "--interval-bytes", "4 KiB", "--plain"])
        .done();
    let sets = on(SECRET, &["sets", "list"], &dir, &["--json"]).done().json();
    let row = |index: usize, field: &str| sets[index][field].clone();
    assert_eq!((row(0, "name"), row(0, "format")), ("ACCOUNTS".into(), "sealed".into()));
    assert_eq!((row(1, "name"), row(1, "format")), ("SMALL".into(), "plain".into()));
    assert_eq!((row(1, "interval_bytes"), row(1, "pool")), (4096.into(), "small".into()));
    let text = on(SECRET, &["sets", "list"], &dir, &[]).done().out;
    assert!(text.contains("ACCOUNTS") && text.contains("data/ACCOUNTS.000001.000"), "{text}");

    on(SECRET, &["sets", "create"], &dir, &["ACCOUNTS"]).failed("HFT012", &["ACCOUNTS"]);
    on(SECRET, &["sets", "drop"], &dir, &["SMALL"]).done();
    on(SECRET, &["sets", "drop"], &dir, &["SMALL"]).failed("HFY100", &["SMALL"]);
    assert!(!dir.join("data/SMALL.000002.000").exists());

    let report = on(SECRET, &["verify"], &dir, &["--json"]).done().json();
    assert_eq!(report["findings"], serde_json::json!([]));
    assert_eq!((report["keys"].clone(), report["orderly"].clone()), (3.into(), true.into()));
    assert_eq!(report["data_sets"][0]["name"], "ACCOUNTS");

    let segments = on(SECRET, &["log", "segments"], &dir, &["--json"]).done().json();
    assert_eq!(segments[0]["name"], "segment-000");
    assert!(on(SECRET, &["status"], &dir, &[]).done().out.contains("stopped in order"));
}

#[test]
fn the_log_is_printed_by_type_unit_and_data_set() {
    let folder = Folder::new("log");
    let dir = crate::common::bank(&folder, &[]);
    let lines = |rest: &[&str]| -> Vec<serde_json::Value> {
        let out = on(crate::common::DEMO, &["log", "print", "--json"], &dir, rest).done().out;
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = lines(&[]);
    assert!(!all.is_empty());
    let mut last = 0;
    for line in &all {
        let (lsn, bytes) = (line["lsn"].as_u64().unwrap(), line["bytes"].as_u64().unwrap());
        assert!(lsn >= last && bytes >= 24, "{line}");
        last = lsn + bytes;
    }
    let checkpoints = lines(&["--type", "checkpoint"]);
    assert!(!checkpoints.is_empty() && checkpoints.iter().all(|line| line["type"] == "checkpoint"));
    let behind = checkpoints[0]["lsn"].as_u64().unwrap().to_string();
    let rest = lines(&["--from", &behind]);
    assert!(rest.len() <= all.len() && rest[0]["lsn"] == checkpoints[0]["lsn"]);
    on(crate::common::DEMO, &["log", "print"], &dir, &["--set", "NOBODY"])
        .failed("HFY100", &["NOBODY"]);
    let groups = lines(&["--groups"]);
    assert!(groups.iter().any(|line| line["line"] == "group" && line["format"] == "sealed"));
}

#[test]
fn a_folder_with_something_in_it_stays_as_it_is() {
    let folder = Folder::new("occupied");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let before = crate::common::files(&dir);
    run(["init".as_ref(), dir.as_os_str()]).failed("HFY002", &["already", "bank"]);
    assert_eq!(crate::common::files(&dir), before);
}
