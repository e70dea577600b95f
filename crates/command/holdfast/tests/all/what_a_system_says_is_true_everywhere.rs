//! Commands that a system names, and paths that it writes down, are good in every folder, whatever
//! folder it was started in and however it was named there.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // damages files on purpose

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::common::in_time::{EndInTime as _, RunInTime as _, first_line};
use crate::common::{DEMO, Ended, Folder, bank, command, data_file, on, patch};
use serde_json::Value;

/// A command that works in some folder.
fn within(cwd: &Path, args: &[&str]) -> Ended {
    Ended::of(&command(Some(DEMO)).current_dir(cwd).args(args).output_in_time().unwrap())
}

/// The system in the subfolder `bank`, started by that name.
fn start(cwd: &Path) -> Child {
    let mut starts = command(Some(DEMO));
    starts.current_dir(cwd).args(["start", "-s", "bank"]).stdout(Stdio::piped());
    let mut child = starts.spawn().unwrap();
    let line = first_line(&mut child);
    assert!(line.contains("started"), "{line}");
    child
}

/// A bank whose archives stand beside it, in a folder that is named from there.
fn bank_with_archive(folder: &Folder) -> PathBuf {
    let dir = bank(folder, &[]);
    let path = dir.join("holdfast.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("#: folders = []", "folders = [\"../archive\"]")).unwrap();
    dir
}

fn archived_files(dir: &Path) -> Vec<PathBuf> {
    let printed = on(DEMO, &["recon", "list", "--json", "-s"], dir, &[]).done().json();
    let archives = printed["archives"].as_array().unwrap().iter();
    let files = archives.flat_map(|one| one["files"].as_array().unwrap().clone());
    files.map(|file| file["path"].as_str().unwrap().into()).collect()
}

#[test]
fn a_system_that_was_started_by_a_relative_path_is_repaired_and_checked_from_everywhere() {
    let folder = Folder::new("everywhere");
    let dir = bank_with_archive(&folder);
    let (home, place) = (dir.parent().unwrap(), dir.to_str().unwrap());
    let mut child = start(home);
    let copies = folder.join("copies");
    on(DEMO, &["image-copy", "--all", "--to", copies.to_str().unwrap(), "-s"], &dir, &[]).done();
    on(DEMO, &["archive", "now", "-s"], &dir, &[]).done();
    let files = archived_files(&dir);
    assert!(!files.is_empty() && files.iter().all(|file| file.is_absolute()), "{files:?}");

    let elsewhere = Path::new("/");
    patch(&data_file(&dir, "ACCOUNTS"), |bytes| bytes[4 * 8192 + 100] ^= 1);
    let found = within(elsewhere, &["verify", place, "--json"]).json();
    let repairs: Value = found["findings"][0]["repair"][0].clone();
    assert_eq!(repairs[3], place, "{found:#}");
    let report = within(elsewhere, &["verify", place, "--json", "--repair"]).done().json();
    assert!(report["repairs"][0]["error"].is_null(), "{report:#}");

    // Its folder may have several names.
    let archive = home.join("archive");
    fs::remove_dir_all(&archive).unwrap();
    on(DEMO, &["archive", "begin", "-s"], &dir, &[archive.to_str().unwrap()]).done();
    let none = folder.join("none");
    let refused = on(DEMO, &["archive", "begin", "-s"], &dir, &[none.to_str().unwrap()]);
    refused.failed("HFZ016", &["none"]);
    on(DEMO, &["stop", "-s"], &dir, &[]).done();
    assert!(child.wait_in_time().unwrap().success());
}

#[test]
fn a_system_that_was_restored_to_a_relative_path_knows_its_archives_everywhere() {
    let folder = Folder::new("restored-here");
    let dir = bank_with_archive(&folder);
    let home = dir.parent().unwrap();
    let copies = folder.join("copies");
    on(DEMO, &["image-copy", "--all", "--to", copies.to_str().unwrap(), "-s"], &dir, &[]).done();
    on(DEMO, &["archive", "now", "-s"], &dir, &[]).done();
    let left = ["--keys", "bank/holdfast.keys", "--config", "bank/holdfast.toml"];
    let back = [&["restore", "back"], &left[..], &["--copies", "../copies"]].concat();
    // Its archives are found from there.
    fs::create_dir(home.join("back")).unwrap();
    within(home, &back).done();
    let back = home.join("back");
    let files = archived_files(&back);
    assert!(!files.is_empty() && files.iter().all(|file| file.is_absolute()), "{files:?}");
    on(DEMO, &["recon", "check", "-s"], &back, &[]).done();
}
