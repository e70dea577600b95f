//! A file that was cut short is named by `verify`, which changes no byte; opening such a system
//! fails with an error that names it, too.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use crate::common::{DEMO, Folder, bank, findings, is_about, on};
use serde_json::Value;

/// Cuts a file while `body` runs.
fn cut<T>(path: &Path, len: u64, body: impl FnOnce() -> T) -> T {
    let bytes = std::fs::read(path).unwrap();
    assert!(len < bytes.len() as u64);
    OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
    let answer = body();
    std::fs::write(path, bytes).unwrap();
    answer
}

#[test]
fn a_truncated_file_is_named_and_nothing_is_changed() {
    let folder = Folder::new("cut");
    let dir = bank(&folder, &[]);
    let open = || on(DEMO, &["sets", "create"], &dir, &["A"]);

    let keys = dir.join("holdfast.keys");
    for len in [0, 7, 60, 200] {
        cut(&keys, len, || {
            assert!(is_about(&findings(&dir)[0], &keys), "{len}");
            assert_eq!(open().code, 1);
        });
    }
    let control = dir.join("control");
    for len in [0, 100, 4096 + 100] {
        // One whole slot of two is enough to open; verify names the other, whichever is newer.
        cut(&control, len, || {
            let found = findings(&dir);
            assert!(is_about(&found[0], &control), "{len}: {found:?}");
        });
    }
    cut(&control, 0, || open().failed("HFU007", &["control"]));

    let accounts = crate::common::data_file(&dir, "ACCOUNTS");
    for len in [0, 8192 * 5, 8192 * 12, 8192 * 17 + 100] {
        cut(&accounts, len, || {
            let found = findings(&dir);
            assert!(found.iter().any(|finding| is_about(finding, &accounts)), "{len}: {found:?}");
        });
    }
    let area = dir.join("double-write");
    cut(&area, 5000, || assert!(is_about(&findings(&dir)[0], &area)));

    // One copy of the log is cut: the other one has everything. Both: the log is damaged.
    let current = last_segment(&dir);
    let twin = dir.join("log-copy").join(current.file_name().unwrap());
    cut(&current, 8192, || {
        let found = findings(&dir);
        assert!(found.iter().any(|finding| is_about(finding, &current)), "{found:?}");
        cut(&twin, 8192, || {
            assert!(!findings(&dir).is_empty());
            assert_eq!(open().code, 1);
        });
    });
    on(DEMO, &["verify"], &dir, &[]).done();
}

/// The file that holds the log's last group.
fn last_segment(dir: &Path) -> PathBuf {
    let printed = on(DEMO, &["log", "print"], dir, &["--groups", "--json"]).done();
    let lines = printed.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let last = lines.rev().find(|line| line["disk_bytes"].is_u64()).unwrap();
    PathBuf::from(last["file"].as_str().unwrap())
}
