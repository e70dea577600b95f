//! A user who can write to a system's folder can change its configuration. What that asks for less
//! than was bound starts nothing, is named by whatever looks at the system, and takes effect only
//! once a user with the passphrase has said so.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::shop::SHOP;
use crate::common::{Folder, SECRET, init, issue, on, run};

/// A system with everything that can be lowered.
fn guarded(folder: &Folder) -> PathBuf {
    let dir = folder.join("system");
    let second = folder.join("second");
    init(&dir, &["--log-copy", "log", "--log-copy", second.to_str().unwrap()]);
    let anchor = folder.join("elsewhere.anchor");
    set(&dir, "[anchor]\n", &format!("[anchor]\nfile = \"{}\"\n", anchor.display()));
    set(&dir, "[archive]\n", "[archive]\nfolders = [\"archive\"]\n");
    on(SECRET, &["restart"], &dir, &["--begin-anchor"]).done();
    on(SECRET, &["sets", "create"], &dir, &["ONE"]).done();
    dir
}

fn set(dir: &Path, from: &str, to: &str) {
    let path = dir.join("holdfast.toml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}: {text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// Has the configuration of a system that was made plain ask for a sealed log.
fn seal_log(dir: &Path) {
    let path = dir.join("holdfast.toml");
    let text = fs::read_to_string(&path).unwrap();
    let (before, log) = text.split_once("[log]\n").unwrap();
    let sealed = log.replacen("format = \"plain\"", "format = \"sealed\"", 1);
    assert_ne!(sealed, log);
    fs::write(path, format!("{before}[log]\n{sealed}")).unwrap();
}

#[test]
fn whatever_a_configuration_lowers_is_refused_and_named() {
    let folder = Folder::new("lowered");
    let dir = guarded(&folder);
    let good = fs::read_to_string(dir.join("holdfast.toml")).unwrap();
    let anchor = format!("file = \"{}\"\n", folder.join("elsewhere.anchor").display());
    let copies = good.lines().find(|line| line.starts_with("copies = ")).unwrap().to_owned();
    let changes: [(&str, &str, &str); 7] = [
        ("[log]\n", "[log]\nformat = \"plain\"\n", "[log] format"),
        (&copies, "copies = [\"log\"]", "[log] copies"),
        ("folders = [\"archive\"]\n", "", "[archive] folders"),
        (&anchor, "", "[anchor] file"),
        (&anchor, "file = \"mine.anchor\"\n", "[anchor] file"),
        ("[data]\n", "[data]\nformat = \"plain\"\n", "[data] format"),
        ("[recon]\n", "[database.LEDGER]\nplain = true\n[recon]\n", "[database.LEDGER] plain"),
    ];
    for (from, to, setting) in changes {
        set(&dir, from, to);
        on(SECRET, &["restart"], &dir, &[]).failed("HFU013", &[setting, "holdfast protect"]);
        on(SECRET, &["sets", "create"], &dir, &["TWO"]).failed("HFU013", &[setting]);
        let status = on(SECRET, &["status"], &dir, &[]);
        assert!(status.out.contains(setting), "{setting}: {}{}", status.out, status.err);
        let verified = on(SECRET, &["verify"], &dir, &[]);
        assert_eq!(verified.code, 1, "{setting}: {}", verified.out);
        assert!(verified.out.contains(setting), "{setting}: {}", verified.out);
        assert_eq!(verified.out.matches("DAMAGED").count(), 1, "{setting}: {}", verified.out);
        let doctor = on(SECRET, &["doctor", "-s"], &dir, &[]);
        assert!(doctor.out.contains(setting), "{setting}: {}", doctor.out);
        assert!(doctor.out.contains("holdfast protect"), "{setting}: {}", doctor.out);
        let shown = on(SECRET, &["protect", "--json", "-s"], &dir, &[]).done().json();
        assert_eq!(shown["lowered"][0]["setting"], setting);
        // The wrong passphrase binds nothing.
        on("guess", &["protect", "--accept", "-s"], &dir, &[]).failed("HFS027", &[]);
        on(SECRET, &["restart"], &dir, &[]).failed("HFU013", &[setting]);
        fs::write(dir.join("holdfast.toml"), &good).unwrap();
    }
    on(SECRET, &["restart"], &dir, &[]).done();
    on(SECRET, &["verify"], &dir, &[]).done();
}

#[test]
fn what_is_accepted_with_the_passphrase_is_bound_and_more_is_bound_by_a_start() {
    let folder = Folder::new("accepted");
    let dir = folder.join("system");
    init(&dir, &[]);
    on(SECRET, &["sets", "create"], &dir, &["ONE"]).done();
    let bound =
        || on(SECRET, &["protect", "--json", "-s"], &dir, &[]).done().json()["bound"].clone();
    assert_eq!(bound()["log"], "sealed");
    set(&dir, "[log]\n", "[log]\nformat = \"plain\"\n");
    set(&dir, "[data]\n", "[data]\nformat = \"plain\"\n");
    on(SECRET, &["restart"], &dir, &[]).failed("HFU013", &["[log] format", "[data] format"]);
    // What is sealed has no place in a plain log.
    on(SECRET, &["protect", "--accept", "-s"], &dir, &[])
        .failed("HFU017", &["ONE", "--set ONE --to plain"]);
    assert_eq!(bound()["log"], "sealed");
    set(&dir, "[log]\nformat = \"plain\"\n", "[log]\n");
    set(&dir, "[data]\nformat = \"plain\"\n", "[data]\n");
    on(SECRET, &["convert", "--set", "ONE", "--to", "plain", "-s"], &dir, &[]).done();
    set(&dir, "[log]\n", "[log]\nformat = \"plain\"\n");
    set(&dir, "[data]\n", "[data]\nformat = \"plain\"\n");
    let accepted = on(SECRET, &["protect", "--accept", "-s"], &dir, &[]).done();
    assert!(accepted.out.contains("is bound now"), "{}", accepted.out);
    on(SECRET, &["sets", "create"], &dir, &["TWO"]).done();
    assert_eq!(bound()["log"], "plain");
    let status = on(SECRET, &["status", "--json"], &dir, &[]).done().json();
    assert_eq!(status["protection"]["log"], "plain");
    on(SECRET, &["convert", "--set", "ONE", "--to", "sealed", "-s"], &dir, &[])
        .failed("HFU016", &["ONE", "[log] format"]);

    // The log goes back: a start is enough, and its plain piece is still believed.
    set(&dir, "[data]\nformat = \"plain\"\n", "[data]\n");
    on(SECRET, &["sets", "create"], &dir, &["THREE"]).failed("HFU016", &["THREE", "[log] format"]);
    set(&dir, "[log]\nformat = \"plain\"\n", "[log]\n");
    on(SECRET, &["sets", "create"], &dir, &["THREE"]).done();
    on(SECRET, &["convert", "--set", "ONE", "--to", "sealed", "-s"], &dir, &[]).done();
    assert_eq!(bound()["log"], "sealed");
    assert_eq!(bound()["new_sets"], "sealed");
    assert!(bound()["plain_until"].as_u64().unwrap() > 0);
    on(SECRET, &["verify"], &dir, &[]).done();
    set(&dir, "[log]\n", "[log]\nformat = \"plain\"\n");
    on(SECRET, &["restart"], &dir, &[]).failed("HFU013", &["[log] format"]);
}

#[test]
fn a_restore_believes_plain_archives_only_if_somebody_says_so() {
    let folder = Folder::new("plain-archives");
    let dir = folder.join("system");
    init(&dir, &["--plain"]);
    let archive = folder.join("archive");
    set(&dir, "[archive]\n", &format!("[archive]\nfolders = [\"{}\"]\n", archive.display()));
    on(SECRET, &["sets", "create"], &dir, &["ONE"]).done();
    on(SECRET, &["archive", "now", "-s"], &dir, &[]).done();
    let restored = folder.join("restored");
    let (to, keys) = (restored.to_str().unwrap(), dir.join("holdfast.keys"));
    let config = dir.join("holdfast.toml");
    let words = ["restore", to, "--keys", keys.to_str().unwrap()];
    let with = |more: &[&str]| run(words.iter().chain(more).copied());
    with(&["--config", config.to_str().unwrap()])
        .failed("HFV009", &["[log] format", "--accept-plain"]);
    with(&["--archives", archive.to_str().unwrap()])
        .failed("HFV009", &["plain in a sealed log", "--accept-plain"]);
    with(&["--config", config.to_str().unwrap(), "--accept-plain"]).done();
    let status = on(SECRET, &["status"], &restored, &[]).done();
    assert!(status.out.contains("ONE"), "{}", status.out);
}

#[test]
fn a_control_file_from_before_a_change_of_protection_is_refused() {
    let folder = Folder::new("older-control");
    let dir = folder.join("system");
    init(&dir, &["--plain"]);
    on(SECRET, &["sets", "create"], &dir, &["ONE"]).done();
    let (control, config) = (dir.join("control"), dir.join("holdfast.toml"));
    let of_then = (fs::read(&control).unwrap(), fs::read(&config).unwrap());
    seal_log(&dir);
    on(SECRET, &["sets", "create"], &dir, &["TWO"]).done();
    fs::write(&control, &of_then.0).unwrap();
    fs::write(&config, &of_then.1).unwrap();
    on(SECRET, &["restart"], &dir, &[]).failed("HFU007", &["put back", "edition"]);
    // Without RECON nothing starts; the log tells, too, where RECON was made anew.
    fs::remove_file(dir.join("recon.1")).unwrap();
    fs::remove_file(dir.join("recon.2")).unwrap();
    on(SECRET, &["restart"], &dir, &[]).failed("HFY033", &["recon rebuild"]);
    on(SECRET, &["recon", "rebuild", "-s"], &dir, &[]).done();
    on(SECRET, &["restart"], &dir, &[]).failed("HFU007", &["put back", "edition"]);
}

#[test]
fn a_database_that_is_to_be_sealed_is_sealed_where_others_are_plain() {
    let folder = Folder::new("sealed-exception");
    let dir = folder.join("system");
    init(&dir, &["--plain"]);
    set(&dir, "[recon]\n", "[database.SHOP]\nplain = false\n[recon]\n");
    let sources = folder.join("sources");
    fs::write(&sources, SHOP).unwrap();
    on(SECRET, &["gen", "-s"], &dir, &[sources.to_str().unwrap()]).done();
    let insert = "L        ISRT  CUST\nL        DATA  0001TOWN\n";
    issue(&dir, &["--psb", "CLERK"], insert).failed("HFU016", &["SHOP", "[log] format"]);
    seal_log(&dir);
    issue(&dir, &["--psb", "CLERK"], insert).done();
    let status = on(SECRET, &["status", "--json"], &dir, &[]).done().json();
    let sets = status["data_sets"].as_array().unwrap();
    let form = |name: &str| sets.iter().find(|set| set["name"] == name).unwrap()["format"].clone();
    assert_eq!(form("SHOP"), "sealed");
    assert_eq!(form("HOLDFAST.DEFINITIONS"), "plain");
}

#[test]
fn an_anchor_is_begun_in_no_other_file() {
    let folder = Folder::new("anchor-elsewhere");
    let dir = folder.join("system");
    init(&dir, &[]);
    for name in ["holdfast.keys", "control", "recon.1"] {
        let before = fs::read(dir.join(name)).unwrap();
        let good = fs::read_to_string(dir.join("holdfast.toml")).unwrap();
        set(&dir, "[anchor]\n", &format!("[anchor]\nfile = \"{name}\"\n"));
        on(SECRET, &["restart"], &dir, &["--begin-anchor"]).failed("HFU012", &["no anchor"]);
        assert_eq!(fs::read(dir.join(name)).unwrap(), before, "{name}");
        fs::write(dir.join("holdfast.toml"), good).unwrap();
    }
    on(SECRET, &["restart"], &dir, &[]).done();
}
