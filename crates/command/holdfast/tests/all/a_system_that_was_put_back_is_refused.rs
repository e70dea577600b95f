//! All files of a system are put back to an earlier moment, in which everything fits together. Only
//! the outside anchor tells, and a start is refused until an operator gives it up by name (K6).

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{DEMO, Folder, Worker, bank, files, hidden_names, on, pause};

#[test]
fn a_system_that_was_put_back_is_refused() {
    let folder = Folder::new("put-back");
    let dir = bank(&folder, &[]);
    let anchor = folder.join("elsewhere.anchor");
    let settings = dir.join("holdfast.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let section = "[anchor]\n";
    assert!(text.contains(section), "{text}");
    let line = format!("{section}file = \"{}\"\n", anchor.display());
    fs::write(&settings, text.replace(section, &line)).unwrap();

    // There is no anchor yet, which only the operator can know to be right.
    on(DEMO, &["restart"], &dir, &[]).failed("HFU012", &["cannot be read", "--begin-anchor"]);
    on(DEMO, &["restart"], &dir, &["--begin-anchor"]).done();
    on(DEMO, &["restart"], &dir, &[]).done();
    let earlier = files(&dir);
    on(DEMO, &["sets", "create"], &dir, &["LATE"]).done();

    for (path, bytes) in &earlier {
        fs::write(dir.join(path), bytes).unwrap();
    }
    on(DEMO, &["restart"], &dir, &[]).failed("HFU012", &["put back to an earlier state"]);
    let place = dir.to_str().unwrap();
    let doctor = || on(DEMO, &["doctor", "-s"], &dir, &[]);
    let begin = format!("holdfast restart --begin-anchor {place}");
    for expected_text in ["put back to an earlier state", &begin] {
        assert!(doctor().out.contains(expected_text), "{expected_text}: {}", doctor().out);
    }
    assert_eq!(doctor().code, 1);
    let kept = fs::read(&anchor).unwrap();
    fs::remove_file(&anchor).unwrap();
    assert!(doctor().out.contains("cannot be read"), "{}", doctor().out);
    fs::write(&anchor, kept).unwrap();
    on(DEMO, &["sets", "create"], &dir, &["OTHER"]).failed("HFU012", &["put back"]);
    on(DEMO, &["restart"], &dir, &["--begin-anchor"]).done();
    on(DEMO, &["restart"], &dir, &[]).done();
    let sound = doctor().done().out;
    assert!(sound.contains("anchor"), "{sound}");
}

/// Everything else is the newest: RECON knows that a process had the system open since.
#[test]
fn a_control_file_and_a_log_of_an_orderly_stop_do_not_hide_a_crash_since() {
    let folder = Folder::new("half-back");
    let dir = bank(&folder, &[]);
    let is_half = |path: &Path| {
        let name = path.strip_prefix(&dir).unwrap().to_string_lossy().into_owned();
        name == "control" || name.starts_with("log")
    };
    let halves = || files(&dir).into_iter().filter(|(path, _)| is_half(path));
    let put_back = |all: &BTreeMap<PathBuf, Vec<u8>>| {
        halves().for_each(|(path, _)| fs::remove_file(path).unwrap());
        all.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    };
    let earlier: BTreeMap<PathBuf, Vec<u8>> = halves().collect();
    let mut worker = Worker::start(&dir, 7);
    pause(300);
    worker.kill();
    let killed = halves().collect();
    put_back(&earlier);
    on(DEMO, &["restart"], &dir, &[]).failed("HFL012", &["the log ends at"]);
    on(DEMO, &["verify"], &dir, &[]).failed("HFL012", &["the log ends at"]);
    put_back(&killed);
    on(DEMO, &["restart"], &dir, &[]).done();
    on(DEMO, &["verify"], &dir, &[]).done();
}

#[test]
fn an_anchor_that_cannot_be_written_is_told_and_stops_nobody() {
    let folder = Folder::new("anchor-away");
    let dir = bank(&folder, &[]);
    let elsewhere = folder.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let settings = dir.join("holdfast.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let line = format!("[anchor]\nfile = \"{}\"\n", elsewhere.join("anchor").display());
    fs::write(&settings, text.replace("[anchor]\n", &line)).unwrap();
    fs::write(elsewhere.join("anchor.new"), "somebody's").unwrap();
    on(DEMO, &["restart"], &dir, &["--begin-anchor"]).done();
    let foreign = fs::read_to_string(elsewhere.join("anchor.new")).unwrap();
    assert_eq!(foreign, "somebody's", "what stands beside the anchor is nobody else's business");
    let before = fs::read(elsewhere.join("anchor")).unwrap();

    // Its place refuses writes: every name that the new anchor could grow under is a folder's.
    for name in hidden_names("anchor") {
        fs::create_dir(elsewhere.join(name)).unwrap();
    }
    let ended = on(DEMO, &["sets", "create"], &dir, &["LATE"]).done();
    assert!(ended.err.contains("anchor"), "{}", ended.err);
    assert_eq!(fs::read(elsewhere.join("anchor")).unwrap(), before, "it is behind");
    for name in hidden_names("anchor") {
        fs::remove_dir(elsewhere.join(name)).unwrap();
    }
    on(DEMO, &["restart"], &dir, &[]).done();
    assert_ne!(fs::read(elsewhere.join("anchor")).unwrap(), before);
}
