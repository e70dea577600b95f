//! A file that is missing, or belongs to another system, is named with what to do; nothing is
//! changed, and once the file is back everything is as it was.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::Path;

use crate::common::{DEMO, Folder, SECRET, bank, findings, init, is_about, on, run};

/// Moves a file or folder away while `body` runs.
fn without<T>(path: &Path, body: impl FnOnce() -> T) -> T {
    let aside = path.with_extension("aside");
    fs::rename(path, &aside).unwrap();
    let answer = body();
    fs::rename(&aside, path).unwrap();
    answer
}

#[test]
fn a_folder_that_is_no_system_is_named() {
    let folder = Folder::new("no-system");
    let dir = folder.join("nothing");
    on(DEMO, &["status"], &dir, &[]).failed("HFY001", &["nothing", "holdfast.toml", "init"]);
    on(DEMO, &["verify"], &dir, &[]).failed("HFY001", &["nothing"]);
    on(DEMO, &["log", "print"], &dir, &[]).failed("HFY001", &["nothing"]);
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new("missing");
    let dir = bank(&folder, &[]);
    without(&dir.join("holdfast.keys"), || {
        on(DEMO, &["status"], &dir, &[]).failed("HFS020", &["holdfast.keys"]);
        assert!(is_about(&findings(&dir)[0], &dir.join("holdfast.keys")));
    });
    without(&dir.join("control"), || {
        on(DEMO, &["status"], &dir, &[]).failed("HFU007", &["control"]);
        on(DEMO, &["sets", "create"], &dir, &["A"]).failed("HFU007", &["control"]);
        assert!(is_about(&findings(&dir)[0], &dir.join("control")));
    });
    let accounts = crate::common::data_file(&dir, "ACCOUNTS");
    without(&accounts, || {
        let file = accounts.to_str().unwrap();
        on(DEMO, &["sets", "create"], &dir, &["A"]).failed("HFD001", &["ACCOUNTS", file]);
        assert!(findings(&dir).iter().any(|finding| is_about(finding, &accounts)));
    });
    without(&dir.join("log"), || {
        without(&dir.join("log-copy"), || {
            on(DEMO, &["status"], &dir, &[]).failed("HFL010", &["log"]);
            assert!(!findings(&dir).is_empty());
        });
    });
    on(DEMO, &["verify"], &dir, &[]).done();
}

#[test]
fn one_log_copy_is_enough_and_the_other_is_made_anew() {
    let folder = Folder::new("one-copy");
    let dir = bank(&folder, &[]);
    fs::remove_dir_all(dir.join("log")).unwrap();
    fs::create_dir(dir.join("log")).unwrap();
    assert!(!findings(&dir).is_empty(), "verify sees that a copy is empty");
    let ended = on(DEMO, &["sets", "create"], &dir, &["A"]).done();
    assert!(ended.out.contains("made"), "{}", ended.out);
    on(DEMO, &["verify"], &dir, &[]).done();
    fs::remove_dir_all(dir.join("log-copy")).unwrap();
    fs::create_dir(dir.join("log-copy")).unwrap();
    on(DEMO, &["sets", "drop"], &dir, &["A"]).done();
    on(DEMO, &["verify"], &dir, &[]).done();
}

#[test]
fn files_of_another_system_are_refused() {
    let folder = Folder::new("foreign");
    let (ours, theirs) = (folder.join("ours"), folder.join("theirs"));
    for dir in [&ours, &theirs] {
        init(dir, &[]);
        on(SECRET, &["sets", "create"], dir, &["A"]).done();
    }
    let before = crate::common::files(&ours);
    let swap = |name: &str| {
        fs::copy(theirs.join(name), ours.join(name)).unwrap();
    };
    let back = || {
        for (path, bytes) in &before {
            fs::write(path, bytes).unwrap();
        }
    };
    let status = || run(["status".as_ref(), ours.as_os_str()]);
    swap("holdfast.keys");
    status().failed("HFS026", &["holdfast.keys", "belongs to system"]);
    back();
    swap("control");
    status().failed("HFU007", &["control", "another system"]);
    back();
    (0..4).for_each(|slot| swap(&format!("log/segment-{slot:03}.stripe-0")));
    status().failed("HFL015", &["segment-000", "system"]);
    back();
    fs::write(ours.join("holdfast.keys"), "not a key file at all").unwrap();
    status().failed("HFS022", &["holdfast.keys", "no key file"]);
    back();
    fs::write(ours.join("holdfast.toml"), "version = 1\nspeed = 9\n").unwrap();
    status().failed("HFY003", &["holdfast.toml", "line 2", "speed"]);
    back();
    status().done();
}
