//! A system without RECON is not started, and says what RECON has forgotten until that was found.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // removes files on purpose

use std::fs;
use std::path::Path;

use crate::common::{DEMO, Folder, Worker, bank, on};

/// Whether `verify` and `doctor` name the command that finds what RECON has forgotten.
fn naming(dir: &Path) -> [bool; 2] {
    let printed = [&["verify"][..], &["doctor", "-s"]].map(|words| on(DEMO, words, dir, &[]).out);
    printed.map(|printed| printed.contains("recon rebuild") && printed.contains("--from FOLDER"))
}

/// How many image copies RECON knows.
fn known(dir: &Path) -> usize {
    let printed = on(DEMO, &["recon", "list", "--json", "-s"], dir, &[]).done().json();
    printed["image_copies"].as_array().unwrap().len()
}

#[test]
fn a_system_without_recon_is_not_started_and_says_what_is_forgotten_until_it_is_found() {
    let folder = Folder::new("lost-recon");
    let dir = bank(&folder, &[]);
    let copies = folder.join("copies");
    let copies = copies.to_str().unwrap();
    on(DEMO, &["image-copy", "--all", "--to", copies, "-s"], &dir, &[]).done();
    assert_eq!((known(&dir), naming(&dir)), (1, [false; 2]));
    for copy in ["recon.1", "recon.2"] {
        fs::remove_file(dir.join(copy)).unwrap();
    }
    for _ in 0..2 {
        on(DEMO, &["restart"], &dir, &[]).failed("HFY033", &["recon rebuild", "--from FOLDER"]);
        assert!(!dir.join("recon.1").exists(), "a look makes none");
        assert_eq!(naming(&dir), [true; 2]);
    }
    // The wrong passphrase makes none either.
    on("guess", &["recon", "rebuild", "-s"], &dir, &[]).failed("HFS027", &[]);
    let rebuilt = on(DEMO, &["recon", "rebuild", "-s"], &dir, &[]).done();
    assert!(rebuilt.err.contains("binds: log sealed"), "{}", rebuilt.err);
    on(DEMO, &["restart"], &dir, &[]).done();
    assert_eq!((known(&dir), naming(&dir)), (0, [true; 2]));
    let mut worker = Worker::idle(&dir);
    let status = on(DEMO, &["status"], &dir, &[]).done().out;
    assert!(status.contains("recon rebuild"), "{status}");
    worker.finish();
    on(DEMO, &["recon", "rebuild", "--from", copies, "-s"], &dir, &[]).done();
    on(DEMO, &["restart"], &dir, &[]).done();
    assert_eq!((known(&dir), naming(&dir)), (1, [false; 2]));
}
