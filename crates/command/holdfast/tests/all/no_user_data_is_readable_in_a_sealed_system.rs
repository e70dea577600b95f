//! What users store is readable in no file of a sealed system: log, its copy, double-write area
//! and data sets alike. A system in clear is searched the same way, so that the search is known to
//! find what is there.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{Folder, Worker, bank, files};

/// A part of every account's record.
const MARKER: &[u8] = b"AT THE HOLDFAST BANK";
/// Who owns accounts: shorter, for records of which only a part was written.
const NAMES: [&[u8]; 3] = [b"HOPPER, ", b"LISKOV, ", b"ACCOUNT 00"];

/// The top-level files and folders in which something readable stands.
fn readable(dir: &Path) -> BTreeSet<String> {
    let found = files(dir).into_iter().filter(|(_, bytes)| {
        let holds = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        holds(MARKER) || NAMES.into_iter().any(holds)
    });
    let top = |path: &Path| {
        let below = path.strip_prefix(dir).unwrap();
        below.components().next().unwrap().as_os_str().to_string_lossy().into_owned()
    };
    found.map(|(path, _)| top(&path)).collect()
}

#[test]
fn no_user_data_is_readable_in_a_sealed_system() {
    let folder = Folder::new("sealed");
    let dir = bank(&folder, &[]);
    assert_eq!(readable(&dir), BTreeSet::new());
    // After more work, and a crash in the middle of it.
    let mut worker = Worker::start(&dir, 70);
    crate::common::pause(300);
    worker.kill();
    assert_eq!(readable(&dir), BTreeSet::new());
}

#[test]
fn the_search_finds_what_stands_in_clear() {
    let folder = Folder::new("plain");
    let dir = bank(&folder, &["--plain"]);
    let expected = ["data", "double-write", "log", "log-copy"].map(String::from);
    assert_eq!(readable(&dir), BTreeSet::from(expected));
}
