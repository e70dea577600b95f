//! All files of a system are put back to an earlier moment, in which everything fits together. Only
//! the outside anchor tells, and a start is refused until somebody gives it up by name (K6).

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;

use crate::common::{DEMO, Folder, bank, files, hidden_names, on};

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
    for says in ["put back to an earlier state", &begin] {
        assert!(doctor().out.contains(says), "{says}: {}", doctor().out);
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
