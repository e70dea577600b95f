//! Backups that are mounted read-only are looked at; root works for the user whose system it is;
//! and a user who may not look is told that, and nothing about the system.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::in_time::RunInTime as _;
use crate::common::{DEMO, Ended, Folder, Worker, bank, command, data_file, files, on, patch};

/// A user that no one is.
const USER: u32 = 61_234;

/// A command in a name space of mounts of its own, where the folder cannot be written to.
fn read_only(folder: &Path, words: &[&str]) -> Ended {
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,ro,bind \"$1\" && shift && \
                  exec \"$@\"";
    let mut command = Command::new("unshare");
    if !is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(folder);
    command.arg(env!("CARGO_BIN_EXE_holdfast")).args(words).env("HOLDFAST_PASSPHRASE", DEMO);
    Ended::of(&command.output_in_time().unwrap())
}

fn can_mount(folder: &Path) -> bool {
    let can = read_only(folder, &["--version"]).code == 0;
    if !can {
        eprintln!("skipped: nothing can be mounted here");
    }
    can
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A command of another user; nothing if there cannot be one.
fn as_user(words: &[&str], dir: &Path) -> Option<Ended> {
    let mut command = command(Some(DEMO));
    command.args(words).arg(dir).uid(USER).gid(USER).current_dir("/");
    match command.output_in_time() {
        Ok(output) => Some(Ended::of(&output)),
        Err(error) => {
            eprintln!("skipped: another user cannot be had: {error}");
            None
        }
    }
}

fn give(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path()));
    }
}

#[test]
fn a_backup_that_is_mounted_read_only_is_looked_at() {
    let folder = Folder::new("read-only");
    let dir = bank(&folder, &[]);
    let path = dir.join("holdfast.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("#: folders = []", "folders = [\"archive\"]")).unwrap();
    let copies = folder.join("copies");
    on(DEMO, &["image-copy", "--all", "--to", copies.to_str().unwrap(), "-s"], &dir, &[]).done();
    on(DEMO, &["archive", "now", "-s"], &dir, &[]).done();
    if !can_mount(&dir) {
        return;
    }
    let place = dir.to_str().unwrap();
    let before = files(&dir);
    for words in [
        &["status", place][..],
        &["verify", place],
        &["verify", place, "--set", "ACCOUNTS"],
        &["archive", "verify", "-s", place],
        &["archive", "list", "-s", place],
        &["log", "segments", place],
        &["recover", "-s", place, "--all", "--check"],
        &["recon", "check", "-s", place],
        &["doctor", "-s", place],
    ] {
        let ended = read_only(&dir, words);
        assert_eq!(ended.code, 0, "{words:?}: {}{}", ended.out, ended.err);
    }
    patch(&data_file(&dir, "ACCOUNTS"), |bytes| bytes[4 * 8192 + 100] ^= 1);
    let found = read_only(&dir, &["verify", place]);
    assert!(found.code == 1 && found.out.contains("ACCOUNTS"), "{}{}", found.out, found.err);
    patch(&data_file(&dir, "ACCOUNTS"), |bytes| bytes[4 * 8192 + 100] ^= 1);
    let refused = read_only(&dir, &["image-copy", "--all", "--to", "/tmp", "-s", place]);
    assert!(refused.code == 1 && refused.err.contains("Read-only"), "{}", refused.err);
    // Where no file can be made for it, no other process can have the lock.
    fs::remove_file(dir.join("lock")).unwrap();
    read_only(&dir, &["verify", place]).done();
    assert_eq!(files(&dir), before);
}

#[test]
fn what_root_does_to_the_system_of_another_user_leaves_it_to_that_user() {
    if !is_root() {
        eprintln!("skipped: only root works for others");
        return;
    }
    let folder = Folder::new("owner");
    let dir = bank(&folder, &[]);
    give(&folder.join("demo"));
    let copies = dir.join("copies");
    let place = copies.to_str().unwrap();
    on(DEMO, &["pool", "resize", "default", "--frames", "900", "-s"], &dir, &[]).done();
    on(DEMO, &["log", "stripes", "2", "-s"], &dir, &[]).done();
    on(DEMO, &["rekey", "--all", "-s"], &dir, &[]).done();
    on(DEMO, &["image-copy", "--all", "--to", place, "-s"], &dir, &[]).done();
    on(DEMO, &["recover", "--set", "ACCOUNTS", "-s"], &dir, &[]).done();
    for path in files(&dir).keys() {
        assert_eq!(fs::metadata(path).unwrap().uid(), USER, "{}", path.display());
        let above = path.parent().unwrap();
        assert_eq!(fs::metadata(above).unwrap().uid(), USER, "{}", above.display());
    }
    for words in ["restart", "verify"] {
        as_user(&[words], &dir).map(Ended::done);
    }
}

#[test]
fn what_root_restores_in_the_folder_of_another_user_is_that_users() {
    if !is_root() {
        eprintln!("skipped: only root works for others");
        return;
    }
    let folder = Folder::new("restored-owner");
    let dir = bank(&folder, &[]);
    let path = dir.join("holdfast.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("#: folders = []", "folders = [\"archive\"]")).unwrap();
    let copies = folder.join("copies");
    let copies = copies.to_str().unwrap();
    on(DEMO, &["image-copy", "--all", "--to", copies, "-s"], &dir, &[]).done();
    on(DEMO, &["archive", "now", "-s"], &dir, &[]).done();
    let new = folder.join("new");
    fs::create_dir(&new).unwrap();
    // Its archives and copies stay where they are.
    for place in [&new, &dir, &folder.join("copies")] {
        give(place);
    }
    let (keys, archive) = (dir.join("holdfast.keys"), dir.join("archive"));
    let (keys, archive) = (keys.to_str().unwrap(), archive.to_str().unwrap());
    let rest = ["--keys", keys, "--archives", archive, "--copies", copies];
    on(DEMO, &["restore"], &new, &rest).done();
    assert!(files(&new).len() > 5);
    for path in files(&new).keys() {
        assert_eq!(fs::metadata(path).unwrap().uid(), USER, "{}", path.display());
    }
    for words in ["restart", "verify"] {
        as_user(&[words], &new).map(Ended::done);
    }
}

#[test]
fn whoever_may_not_look_hears_that_and_nothing_else() {
    if !is_root() {
        eprintln!("skipped: only root can be somebody else");
        return;
    }
    let folder = Folder::new("stranger");
    let dir = bank(&folder, &[]);
    let mut worker = Worker::idle(&dir);
    for words in ["status", "verify"] {
        as_user(&[words], &dir).map(|printed| printed.failed("HFY007", &["Permission denied"]));
    }
    if let Some(printed) = as_user(&["doctor", "-s"], &dir) {
        assert!(printed.out.contains("Permission denied"), "{}{}", printed.out, printed.err);
        assert!(
            !printed.out.contains("LOST") && !printed.out.contains("back, or write"),
            "{}",
            printed.out
        );
    }
    worker.finish();
}
