//! Without the right passphrase nothing is told and nothing is changed, and it is never shown.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use crate::common::in_time::RunInTime as _;
use crate::common::{Folder, SECRET, command, files, init, on};

const WRONG: &str = "wrong-horse-battery";

#[test]
fn a_wrong_passphrase_opens_nothing() {
    let folder = Folder::new("wrong");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let before = files(&dir);
    for words in [
        &["status"][..],
        &["verify"],
        &["keys", "list"],
        &["keys", "master"],
        &["sets", "list"],
        &["log", "print"],
    ] {
        let ended = on(WRONG, words, &dir, &[]).failed("HFS027", &["holdfast.keys"]);
        assert!(!ended.err.contains(WRONG) && !ended.out.contains(WRONG), "{}", ended.err);
    }
    on(WRONG, &["sets", "create"], &dir, &["A"]).failed("HFS027", &["holdfast.keys"]);
    assert_eq!(files(&dir), before);
}

#[test]
fn without_a_passphrase_the_usage_is_wrong() {
    let folder = Folder::new("none");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let ended =
        crate::common::Ended::of(&command(None).arg("status").arg(&dir).output_in_time().unwrap());
    assert_eq!(ended.code, 2, "{}", ended.err);
    assert!(ended.err.contains("--passphrase-file"), "{}", ended.err);
    let ended = on("", &["status"], &dir, &[]);
    assert_eq!(ended.code, 2, "{}", ended.err);
}

#[test]
fn a_passphrase_file_is_read_to_its_last_line_end() {
    let folder = Folder::new("file");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let path = folder.join("secret");
    for (text, fits) in [
        (SECRET.to_owned(), true),
        (format!("{SECRET}\n"), true),
        (format!("{SECRET}\r\n"), true),
        (format!("{SECRET}\n\n"), false),
        (format!(" {SECRET}"), false),
    ] {
        std::fs::write(&path, &text).unwrap();
        let file = path.to_str().unwrap();
        // The file counts, not the variable.
        let ended = on(WRONG, &["keys", "list"], &dir, &["--passphrase-file", file]);
        assert_eq!(ended.code == 0, fits, "{text:?}: {}", ended.err);
        assert!(!ended.err.contains("horse"), "{}", ended.err);
    }
}
