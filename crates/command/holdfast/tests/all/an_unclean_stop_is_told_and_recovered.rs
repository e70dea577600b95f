//! A process killed in the middle of its work: `status` says that a restart is needed, `verify`
//! proves what the restart will find without changing a byte, and the next start does it.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use crate::common::{DEMO, Folder, Worker, bank, findings, on, pause};

#[test]
fn an_unclean_stop_is_told_and_recovered() {
    let folder = Folder::new("unclean");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::start(&dir, 80);
    pause(400);
    worker.kill();

    let status = on(DEMO, &["status", "--json"], &dir, &[]).done().json();
    assert_eq!(status["state"], "needs_restart", "{status}");
    assert!(status["records"].as_u64() > Some(100), "{status}");
    let text = on(DEMO, &["status"], &dir, &[]).done().out;
    assert!(
        text.contains("needs a restart") && text.contains("nothing acknowledged is lost"),
        "{text}"
    );

    assert_eq!(findings(&dir), Vec::<serde_json::Value>::new());
    let report = on(DEMO, &["verify", "--json"], &dir, &[]).done().json();
    assert_eq!(report["orderly"], false);
    let notes = report["notes"].to_string();
    assert!(notes.contains("dry run of the restart"), "{notes}");
    let accounts = &report["data_sets"][0];
    assert_eq!(
        (accounts["name"].clone(), accounts["records"].clone()),
        ("ACCOUNTS".into(), 3000.into())
    );
    assert_eq!(accounts["exact"], true);

    let restart = on(DEMO, &["restart", "--json"], &dir, &[]).done().json();
    assert_eq!(restart["orderly"], false, "{restart}");
    assert_eq!(restart["records"], status["records"], "status foretells it: {restart} {status}");
    let again = on(DEMO, &["restart"], &dir, &[]).done().out;
    assert!(again.contains("nothing to recover"), "{again}");
    let status = on(DEMO, &["status", "--json"], &dir, &[]).done().json();
    assert_eq!(status["state"], "stopped_in_order", "{status}");
    assert!(findings(&dir).is_empty());
}

#[test]
fn damage_in_a_system_that_was_killed_is_named_all_the_same() {
    let folder = Folder::new("unclean-damage");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::start(&dir, 81);
    worker.kill();
    let file = crate::common::data_file(&dir, "ACCOUNTS");
    crate::common::patch(&file, |bytes| bytes[10 * 8192 + 99] ^= 1);
    crate::common::patch(&file, |bytes| bytes[14 * 8192 + 99] ^= 1);
    let found = findings(&dir);
    for interval in [10, 14] {
        let named = found.iter().find(|finding| finding["interval"] == interval);
        let named = named.unwrap_or_else(|| panic!("{interval}: {found:?}"));
        assert_eq!(named["offset"], interval * 8192);
        assert!(crate::common::is_about(named, &file));
    }
}
