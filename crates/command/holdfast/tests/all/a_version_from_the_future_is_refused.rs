//! What a later release wrote is refused by name, never guessed at (K21).

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::path::Path;

use crate::common::{DEMO, Folder, bank, findings, is_about, on, patch};

/// Patches a file while `body` runs.
fn patched<T>(path: &Path, change: impl FnOnce(&mut Vec<u8>), body: impl FnOnce() -> T) -> T {
    let bytes = std::fs::read(path).unwrap();
    patch(path, change);
    let answer = body();
    std::fs::write(path, bytes).unwrap();
    answer
}

#[test]
fn a_version_from_the_future_is_refused() {
    let folder = Folder::new("future");
    let dir = bank(&folder, &[]);
    let status = || on(DEMO, &["status"], &dir, &[]);

    let toml = dir.join("holdfast.toml");
    let later = |bytes: &mut Vec<u8>| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.replace("version = 1", "version = 77\nwings = 2").into_bytes();
    };
    patched(&toml, later, || status().failed("HFY004", &["holdfast.toml", "77"]));

    let keys = dir.join("holdfast.keys");
    patched(&keys, |bytes| bytes[8] = 77, || status().failed("HFS023", &["holdfast.keys", "77"]));

    let both = |bytes: &mut Vec<u8>| (bytes[8], bytes[4096 + 8]) = (77, 77);
    let control = dir.join("control");
    patched(&control, both, || status().failed("HFU007", &["control", "77"]));

    let area = dir.join("double-write");
    patched(
        &area,
        |bytes| bytes[8] = 77,
        || {
            assert!(is_about(&findings(&dir)[0], &area));
        },
    );

    let name = "segment-000.stripe-0";
    let log = |bytes: &mut Vec<u8>| bytes[4] = 77;
    patched(&dir.join("log").join(name), log, || {
        patched(&dir.join("log-copy").join(name), log, || {
            let ended = status();
            assert_eq!(ended.code, 1);
            assert!(ended.err.contains("77") && ended.err.contains(name), "{}", ended.err);
        });
    });

    // The trailer of an interval: format, version.
    let accounts = crate::common::data_file(&dir, "ACCOUNTS");
    let root = |bytes: &mut Vec<u8>| bytes[5 * 8192 - 48 + 1] = 77;
    patched(&accounts, root, || {
        let found = findings(&dir);
        let finding = found.iter().find(|finding| is_about(finding, &accounts)).unwrap();
        assert!(finding["what"].as_str().unwrap().contains("version 77"), "{finding}");
        assert_eq!(finding["interval"], 4);
    });
    on(DEMO, &["verify"], &dir, &[]).done();
}
