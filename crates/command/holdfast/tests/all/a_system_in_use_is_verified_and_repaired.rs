//! What is damaged under a system in use is named with the command that repairs it, and repaired,
//! while programs go on.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // damages files on purpose

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{DEMO, Folder, Worker, bank, data_file, on, patch, run_as};
use serde_json::Value;

const UNIT: usize = 8192;

/// A bank with archives and image copies in two folders each.
fn kept(folder: &Folder) -> (PathBuf, [PathBuf; 2]) {
    let dir = bank(folder, &[]);
    let path = dir.join("holdfast.toml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("#: folders = []", "folders = [\"archive\", \"more/archive\"]");
    fs::write(&path, text).unwrap();
    let copies = ["one", "two"].map(|name| folder.join(name));
    copy(&dir, &copies);
    (dir, copies)
}

fn copy(dir: &Path, folders: &[PathBuf; 2]) {
    let [one, two] = folders.each_ref().map(|folder| folder.to_str().unwrap());
    on(DEMO, &["image-copy", "--all", "--to", one, "--to", two, "-s"], dir, &[]).done();
}

fn verify(dir: &Path, more: &[&str]) -> (i32, Value) {
    let ended = on(DEMO, &["verify", "--json"], dir, more);
    (ended.code, ended.json())
}

/// What is damaged, and the first command that repairs each.
fn named(report: &Value) -> Vec<(String, String)> {
    let findings = report["findings"].as_array().unwrap().iter();
    let command = |finding: &Value| {
        let words = finding["repair"][0].as_array().cloned().unwrap_or_default();
        words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    findings.map(|one| (one["object"].as_str().unwrap().to_owned(), command(one))).collect()
}

/// Changes one byte and leaves its neighbours to their present writer.
fn spoil(path: &Path, at: usize) {
    use std::os::unix::fs::FileExt as _;
    let file = fs::File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at as u64).unwrap();
    file.write_all_at(&[!byte[0]], at as u64).unwrap();
}

fn only_file(folder: &Path) -> PathBuf {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|one| one.unwrap().path()).collect();
    files.sort();
    files.remove(0)
}

#[test]
fn what_is_damaged_under_a_system_in_use_is_named_and_repaired_while_it_works() {
    let folder = Folder::new("in-use");
    let (dir, copies) = kept(&folder);
    let mut worker = Worker::start(&dir, 70);
    on(DEMO, &["archive", "now", "-s"], &dir, &[]).done();
    let (code, report) = verify(&dir, &["--rate", "200 MiB"]);
    assert_eq!((code, report["in_use"].as_bool()), (0, Some(true)), "{report}");
    assert!(report["log_groups"].as_u64() > Some(10), "{report}");
    assert!(report["copy_files"] == 2 && report["archive_files"].as_u64() >= Some(2), "{report}");
    let proven = |set: &Value| set["proven"].as_u64() > Some(2);
    assert!(report["data_sets"].as_array().unwrap().iter().all(proven), "{report}");

    // In memory is a good version of what programs use.
    let accounts = data_file(&dir, "ACCOUNTS");
    spoil(&accounts, 4 * UNIT + 100);
    spoil(&dir.join("recon.2"), 60);
    spoil(&dir.join("holdfast.keys"), 70);
    let archive = only_file(&dir.join("archive"));
    spoil(&archive, 5_000);
    let copied = only_file(&copies[1]);
    spoil(&copied, 9_000);
    let (code, report) = verify(&dir, &[]);
    assert_eq!(code, 1);
    let found = named(&report);
    let is_named = |object: &str, command: &str| {
        let fits = |(of, by): &(String, String)| of == object && by.contains(command);
        assert!(found.iter().any(fits), "{object}, {command}: {found:?}");
    };
    let place = dir.to_str().unwrap();
    is_named(
        "data set ACCOUNTS",
        &format!("holdfast repair -s {place} --set ACCOUNTS --interval 4"),
    );
    is_named("RECON", &format!("holdfast repair -s {place} --recon"));
    is_named("key file", &format!("holdfast repair -s {place} --keys"));
    is_named("image copy 1", &format!("holdfast repair -s {place} --copy 1"));
    is_named("archive from group 1", "--first-group 1 --repair");

    let (code, report) = verify(&dir, &["--repair"]);
    assert_eq!(code, 0, "{report:#}");
    assert!(report["repairs"].as_array().unwrap().iter().all(|one| one["error"].is_null()));
    // A file of a log copy that a user deletes would only be missed at the next start.
    fs::remove_file(only_file(&dir.join("log-copy"))).unwrap();
    let (code, report) = verify(&dir, &[]);
    let repairs = format!("holdfast repair -s {place} --log");
    assert_eq!((code, &named(&report)[..]), (1, &[("log copy 2".to_owned(), repairs)][..]));
    let (code, report) = verify(&dir, &["--repair"]);
    assert_eq!(code, 0, "{report:#}");
    // So it is with what every start begins by, and with what repairs torn pages.
    let removed = ["control", "double-write"].map(|name| dir.join(name));
    removed.iter().for_each(|path| fs::remove_file(path).unwrap());
    let status = on(DEMO, &["status"], &dir, &[]).done().out;
    for what in ["control file was removed", "double-write area was removed"] {
        assert!(status.contains(what), "{what}: {status}");
    }
    let (code, report) = verify(&dir, &["--repair"]);
    assert_eq!(code, 0, "{report:#}");
    assert!(removed.iter().all(|path| path.is_file()));
    worker.finish();
    assert_eq!(verify(&dir, &[]).0, 0, "and so is it when it is stopped");
}

#[test]
fn a_file_of_a_data_set_that_is_removed_or_replaced_in_use_is_brought_back_before_it_is_lost() {
    let folder = Folder::new("set-removed");
    let (dir, _) = kept(&folder);
    let mut worker = Worker::start(&dir, 71);
    let place = dir.to_str().unwrap();
    for (name, replaced) in [("ACCOUNTS", false), ("JOURNAL", true)] {
        let path = data_file(&dir, name);
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        if replaced {
            fs::write(&path, bytes).unwrap();
        }
        let status = on(DEMO, &["status"], &dir, &[]).done().out;
        let command = format!("holdfast recover -s {place} --set {name}");
        assert!(status.contains("was removed or replaced"), "{status}");
        assert!(status.contains(&command), "{status}");
        let (code, report) = verify(&dir, &[]);
        let found = (format!("data set {name}"), command);
        assert_eq!((code, &named(&report)[..]), (1, &[found][..]));
        let (code, report) = verify(&dir, &["--repair"]);
        assert_eq!(code, 0, "{report:#}");
    }
    worker.finish();
    assert_eq!(verify(&dir, &[]).0, 0);
    on(DEMO, &["restart"], &dir, &[]).done();
}

/// The current segment of a log that is not written to: its file on both copies, and where groups
/// begin in it.
fn current_groups(dir: &Path) -> ([PathBuf; 2], Vec<usize>) {
    let status = on(DEMO, &["status", "--json"], dir, &[]).done().json();
    let segment = status["log"]["segments"].as_array().unwrap().last().unwrap();
    let name = format!("{}.stripe-0", segment["name"].as_str().unwrap());
    let files = ["log", "log-copy"].map(|copy| dir.join(copy).join(&name));
    let bytes = fs::read(&files[0]).unwrap();
    let number = |at: usize| u64::from_le_bytes(bytes[at + 48..at + 56].try_into().unwrap());
    let is_group = |at: &usize| {
        bytes[*at..].starts_with(b"HFLG") && Some(number(*at)) >= segment["first_group"].as_u64()
    };
    let groups: Vec<usize> = (4_096..bytes.len()).step_by(4_096).filter(is_group).collect();
    assert!(groups.len() > 1, "{status}");
    (files, groups)
}

#[test]
fn damaged_groups_of_the_log_come_back_from_the_other_copy_and_from_an_archive() {
    let folder = Folder::new("log-repaired");
    let (dir, _) = kept(&folder);
    let mut idler = Worker::idle(&dir);
    on(DEMO, &["archive", "now", "-s"], &dir, &[]).done();
    let (files, groups) = current_groups(&dir);
    let whole = files.each_ref().map(|file| fs::read(file).unwrap());
    spoil(&files[1], groups[0] + 60);
    files.iter().for_each(|file| spoil(file, groups[1] + 60));
    spoil(&files[0], 60);
    let (code, report) = verify(&dir, &[]);
    let found = named(&report);
    let repairs = format!("holdfast repair -s {} --log", dir.to_str().unwrap());
    assert_eq!((code, found.len()), (1, 4), "{report:#}");
    let is_named = |(of, by): &(String, String)| of.starts_with("log, group") && *by == repairs;
    assert!(found.iter().all(is_named), "{found:?}");
    let (code, report) = verify(&dir, &["--repair"]);
    assert_eq!(code, 0, "{report:#}");
    // More may have been written behind it meanwhile.
    let held = 4_096..*groups.last().unwrap();
    for (file, whole) in files.iter().zip(whole) {
        let repaired = fs::read(file).unwrap();
        let same = repaired[held.clone()] == whole[held.clone()];
        assert!(same, "{} is byte for byte what it was", file.display());
    }
    idler.finish();
    assert_eq!(verify(&dir, &[]).0, 0);
}

#[test]
fn a_group_that_no_copy_of_the_log_has_is_named_with_what_it_means() {
    let folder = Folder::new("nowhere");
    let dir = bank(&folder, &[]);
    let mut idler = Worker::idle(&dir);
    let (files, groups) = current_groups(&dir);
    files.iter().for_each(|file| spoil(file, groups[0] + 60));
    let (code, report) = verify(&dir, &[]);
    assert_eq!(code, 1);
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|one| one["object"].as_str().unwrap().starts_with("log, "));
    let finding = finding.unwrap_or_else(|| panic!("{report:#}"));
    let what = finding["what"].as_str().unwrap();
    for words in ["no copy has it", "log positions 0x", "restart", "recover"] {
        assert!(what.contains(words), "{words}: {what}");
    }
    assert!(finding["remedy"].as_str().unwrap().contains("--give-up"), "{finding}");
    on(DEMO, &["repair", "--log", "-s"], &dir, &[]).failed("HFY018", &["group"]);
    let answer = on(DEMO, &["repair", "--log", "--give-up", "-s"], &dir, &[]).done();
    assert!(answer.out.contains("image copies"), "{}", answer.out);
    assert_eq!(verify(&dir, &[]).0, 0, "its segment is let go");
    idler.finish();
    on(DEMO, &["restart"], &dir, &[]).done();
}

#[test]
fn what_is_damaged_of_a_stopped_system_is_repaired_by_what_is_named() {
    let folder = Folder::new("stopped-repaired");
    let (dir, copies) = kept(&folder);
    on(DEMO, &["archive", "now", "-s"], &dir, &[]).done();
    patch(&data_file(&dir, "ACCOUNTS"), |bytes| bytes[9 * UNIT] ^= 1);
    fs::remove_file(data_file(&dir, "JOURNAL")).unwrap();
    fs::remove_file(dir.join("recon.1")).unwrap();
    fs::remove_file(only_file(&copies[0])).unwrap();
    fs::remove_file(only_file(&dir.join("more/archive"))).unwrap();
    patch(&dir.join("control"), |bytes| bytes[100] ^= 1);
    patch(&only_file(&dir.join("log-copy")), |bytes| bytes[8_192..12_000].fill(7));
    let (code, report) = verify(&dir, &["--repair"]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(verify(&dir, &[]).0, 0);

    // No file of the copy is whole: a new one is made, and RECON forgets the damaged one.
    for folder in &copies {
        patch(&only_file(folder), |bytes| bytes[5_000] ^= 1);
    }
    let (code, report) = verify(&dir, &["--repair"]);
    assert_eq!(code, 0, "{report:#}");
    let copies = on(DEMO, &["recon", "list", "--json", "-s"], &dir, &[]).done().json();
    let numbers = copies["image_copies"].as_array().unwrap();
    assert!(numbers.len() == 1 && numbers[0]["number"] != 1, "{copies}");

    // Without a copy of its own a data set comes back from archives and log, which have all of it.
    let number = numbers[0]["number"].to_string();
    on(DEMO, &["recon", "change", "--gone", "--copy", &number, "-s"], &dir, &[]).done();
    patch(&data_file(&dir, "ACCOUNTS"), |bytes| bytes[9 * UNIT] ^= 1);
    let (code, report) = verify(&dir, &["--repair"]);
    assert_eq!((code, report["repairs"].as_array().map(Vec::len)), (0, Some(1)), "{report}");
    let words = report["repairs"][0]["command"].as_array().unwrap();
    assert!(words.iter().any(|word| word == "recover"), "{report}");
    assert_eq!(run_as(DEMO, ["repair", "-s", dir.to_str().unwrap()]).code, 2);
}
