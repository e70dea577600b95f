//! Help with an example everywhere, exit codes as promised, errors as JSON where asked, and no
//! complaint when a reader goes away.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::process::Stdio;

use crate::common::in_time::EndInTime as _;
use crate::common::{DEMO, Ended, Folder, bank, command, on, run};

#[test]
fn every_subcommand_has_help_with_an_example() {
    for words in [
        &[][..],
        &["init"],
        &["status"],
        &["verify"],
        &["restart"],
        &["keys"],
        &["keys", "list"],
        &["keys", "passphrase"],
        &["keys", "master"],
        &["keys", "new-generation"],
        &["keys", "add-label"],
        &["log"],
        &["log", "print"],
        &["log", "segments"],
        &["sets"],
        &["sets", "list"],
        &["doctor"],
        &["backout"],
        &["repair"],
        &["sets", "create"],
        &["sets", "drop"],
        &["gen"],
        &["engine"],
        &["engine", "certify"],
        &["bench"],
        &["demo"],
        &["manual"],
        &["completions"],
    ] {
        let ended = run(words.iter().chain(&["--help"])).done();
        let example = format!("Example: holdfast {}", words.join(" "));
        assert!(ended.out.contains(example.trim()), "{words:?}: {}", ended.out);
        assert!(!ended.out.contains("demo-worker"), "hidden: {}", ended.out);
    }
}

#[test]
fn wrong_usage_ends_with_two() {
    for words in
        [&["frobnicate"][..], &["init"], &["status"], &["log", "print", "x", "--from", "y"]]
    {
        let ended = run(words);
        assert_eq!(ended.code, 2, "{words:?}: {}", ended.err);
        assert!(!ended.err.is_empty());
    }
    let ended = run(["init", "/dev/null/x", "--segment-bytes", "9 parsecs"]);
    assert_eq!(ended.code, 2, "{}", ended.err);
    assert_eq!(run::<_, &str>([]).code, 2);
}

#[test]
fn errors_are_json_where_that_was_asked_for() {
    let folder = Folder::new("json");
    let ended = on(DEMO, &["status", "--json"], &folder.join("nowhere"), &[]);
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    let error: serde_json::Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(error["error"]["code"], "HFY001");
    assert!(error["error"]["what"].as_str().unwrap().contains("nowhere"));
    assert!(error["error"]["remedy"].as_str().unwrap().contains("holdfast init"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new("pipe");
    let dir = bank(&folder, &[]);
    let mut child = command(Some(DEMO))
        .args(["log", "print", "--json", "--groups"])
        .arg(&dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = Ended::of(&child.finish_in_time().unwrap());
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
}

#[test]
fn manual_and_completions_are_made_from_the_command_line() {
    let folder = Folder::new("manual");
    let to = folder.join("man1");
    std::fs::create_dir(&to).unwrap();
    run(["manual".as_ref(), "--to".as_ref(), to.as_os_str()]).done();
    let page = std::fs::read_to_string(to.join("holdfast-image-copy.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("Example: holdfast image"), "{page}");
    let missing = folder.join("missing");
    assert_eq!(run(["manual".as_ref(), "--to".as_ref(), missing.as_os_str()]).code, 1);

    for shell in ["bash", "zsh", "fish"] {
        let script = run(["completions", shell]).done().out;
        assert!(script.contains("image-copy") && script.contains("json"), "{shell}: {script}");
    }
}
