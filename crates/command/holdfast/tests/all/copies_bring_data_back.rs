//! Image copies bring data back: a lost file, a lost RECON; and a copy that is damaged spoils
//! nothing.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // loses files on purpose

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::{DEMO, Folder, Worker, run_as};

fn bank(folder: &Folder) -> PathBuf {
    let dir = folder.join("demo");
    let text = dir.to_str().unwrap().to_owned();
    let few = ["demo", "--seconds", "2", "--kills", "0", "--accounts", "500", "--dir", &text];
    run_as(DEMO, few).done();
    dir.join("bank")
}

fn on(words: &[&str], dir: &Path, rest: &[&str]) -> crate::common::Ended {
    let dir = dir.to_str().unwrap();
    let mut args: Vec<&str> = words.to_vec();
    args.extend(["-s", dir]);
    args.extend(rest);
    run_as(DEMO, args)
}

fn verified(dir: &Path) {
    run_as(DEMO, ["verify", dir.to_str().unwrap()]).done();
}

fn file_of(dir: &Path, name: &str) -> PathBuf {
    let files = fs::read_dir(dir.join("data")).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(name);
    files.into_iter().find(named).unwrap()
}

#[test]
fn a_lost_file_comes_back_and_so_does_a_lost_recon() {
    let folder = Folder::new("copies");
    let dir = bank(&folder);
    let copies = folder.join("copies");
    let to = copies.to_str().unwrap();
    let copied = on(&["image-copy"], &dir, &["--all", "--to", to, "--json"]).done().json();
    assert_eq!(copied["base"], 0);
    on(&["recon", "check"], &dir, &["--prove"]).done();

    let check = on(&["recover"], &dir, &["--all", "--check", "--json"]).done().json();
    assert_eq!((&check["done"], check["sets"].as_array().unwrap().len()), (&false.into(), 2));

    fs::remove_file(file_of(&dir, "ACCOUNTS")).unwrap();
    let text = dir.to_str().unwrap();
    run_as(DEMO, ["restart", text]).failed("HFD001", &["ACCOUNTS"]);
    on(&["recover"], &dir, &["--set", "ACCOUNTS"]).done();
    verified(&dir);

    // What has changed since goes into a second copy; before it, nothing of RECON is left.
    let more = ["--set", "JOURNAL", "--to", to, "--incremental", "--json"];
    let since = on(&["image-copy"], &dir, &more).done().json();
    assert_eq!(since["base"], copied["number"]);
    fs::remove_file(dir.join("recon.1")).unwrap();
    fs::remove_file(dir.join("recon.2")).unwrap();
    on(&["recon", "rebuild"], &dir, &["--from", to]).done();
    on(&["recover"], &dir, &["--set", "JOURNAL", "--to", "now"]).done();
    verified(&dir);
}

#[test]
fn a_damaged_copy_spoils_nothing_and_the_log_serves_in_its_place() {
    let folder = Folder::new("damaged-copy");
    let dir = bank(&folder);
    let copies = folder.join("copies");
    let to = copies.to_str().unwrap();
    on(&["image-copy"], &dir, &["--all", "--to", to]).done();
    let mut files = fs::read_dir(&copies).unwrap().map(|entry| entry.unwrap().path());
    let is_copy = |path: &PathBuf| path.extension().is_some_and(|name| name == "copy");
    let file = files.find(is_copy).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let left_aside = || {
        let printed = on(&["recover"], &dir, &["--all"]).done();
        assert!(printed.err.contains("image copy 1 is left aside"), "{}", printed.err);
        assert!(printed.err.contains(file.to_str().unwrap()), "{}", printed.err);
        printed.err
    };
    left_aside();
    let check = on(&["recon", "check"], &dir, &["--prove"]);
    assert_eq!(check.code, 1, "{}", check.out);
    // Cut short, it has no manifest.
    bytes[middle] ^= 1;
    fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    assert!(left_aside().contains("not complete"));
    let found = run_as(DEMO, ["verify", dir.to_str().unwrap(), "--json"]).json();
    let findings = found["findings"].as_array().unwrap();
    assert!(findings.iter().all(|one| one["object"] == "image copy 1"), "{found}");
    let nothing = on(&["recover"], &dir, &["--all", "--to", "yesterday"]);
    assert_eq!(nothing.code, 2);
}

#[test]
fn a_copy_that_fails_leaves_nothing() {
    let folder = Folder::new("failed-copy");
    let dir = bank(&folder);
    let (good, bad) = (folder.join("copies"), folder.join("no-folder"));
    fs::write(&bad, "").unwrap();
    let to = [&good, &bad].map(|path| path.to_str().unwrap());
    on(&["image-copy"], &dir, &["--all", "--to", to[0], "--to", to[1]]).failed("HFV007", &[to[1]]);
    assert_eq!(fs::read_dir(&good).unwrap().count(), 0);
    for (own, holds) in [("data", "data sets"), ("log", "the log"), ("", "the system's files")] {
        let own = dir.join(own);
        let own = ["--all", "--to", own.to_str().unwrap()];
        on(&["image-copy"], &dir, &own).failed("HFY019", &[holds]);
    }

    // A full device says that it is full; that nobody reads is another matter.
    let text = dir.to_str().unwrap();
    let mut command = crate::common::command(Some(DEMO));
    command.args(["image-copy", "-s", text, "--all", "--to", "-"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let full = crate::common::Ended::of(
        &command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().finish_in_time().unwrap(),
    );
    assert_eq!(full.code, 1, "{}", full.err);
    assert!(full.err.contains("No space left"), "{}", full.err);
    assert!(!full.err.contains("roken pipe"), "{}", full.err);

    // What a copy that was killed has left is named, and is no damage.
    on(&["image-copy"], &dir, &["--all", "--to", to[0]]).done();
    let left = good.join("all-20260101-000000.copy.part");
    fs::write(&left, "half of one").unwrap();
    let verified = run_as(DEMO, ["verify", text]).done();
    assert!(verified.out.contains(left.to_str().unwrap()), "{}", verified.out);
    let doctor = on(&["doctor"], &dir, &[]).done();
    assert!(doctor.out.contains(left.to_str().unwrap()), "{}", doctor.out);
}

#[test]
fn a_copy_at_a_low_rate_ends_with_its_client_and_with_the_system() {
    let folder = Folder::new("slow-copy");
    let dir = bank(&folder);
    let copies = folder.join("copies");
    let begin = || {
        let mut command = crate::common::command(Some(DEMO));
        command.args(["image-copy", "--all", "--rate", "1", "-s"]).arg(&dir).arg("--to");
        let client = command.arg(&copies).stderr(Stdio::piped()).spawn().unwrap();
        eventually(|| unfinished(&copies) == 1);
        client
    };

    let mut worker = Worker::idle(&dir);
    let mut client = begin();
    client.kill().unwrap();
    client.wait_in_time().unwrap();
    eventually(|| unfinished(&copies) == 0);

    let client = begin();
    let begun = Instant::now();
    worker.finish();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let answer = crate::common::Ended::of(&client.finish_in_time().unwrap());
    answer.failed("HFY025", &["being stopped"]);
    assert_eq!(unfinished(&copies), 0);
    verified(&dir);
}

/// How many files of copies that are not finished stand in a folder.
fn unfinished(copies: &Path) -> usize {
    let names = fs::read_dir(copies).into_iter().flatten().flatten();
    names.filter(|file| file.path().extension().is_some_and(|end| end == "part")).count()
}

fn eventually(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it does not come to be");
        crate::common::pause(20);
    }
}

#[test]
fn a_copy_whose_file_nobody_knows_is_in_nobodys_way() {
    let folder = Folder::new("thrown-away");
    let dir = bank(&folder);
    let copies = folder.join("copies");
    let to = copies.to_str().unwrap();
    let kept = on(&["image-copy"], &dir, &["--all", "--to", to, "--json"]).done().json();
    let text = dir.to_str().unwrap();
    let mut command = crate::common::command(Some(DEMO));
    let thrown =
        command.args(["image-copy", "-s", text, "--all", "--to", "-"]).output_in_time().unwrap();
    assert!(thrown.status.success());

    // A copy that goes on goes on from the one that has a file, and so does a recovery.
    let more = ["--all", "--to", to, "--incremental", "--json"];
    let since = on(&["image-copy"], &dir, &more).done().json();
    assert_eq!(since["base"], kept["number"]);
    fs::remove_file(file_of(&dir, "ACCOUNTS")).unwrap();
    let check = on(&["recover"], &dir, &["--set", "ACCOUNTS", "--check", "--json"]).done().json();
    assert_eq!(check["sets"][0]["copies"][0], kept["number"]);
    on(&["recover"], &dir, &["--set", "ACCOUNTS"]).done();
    verified(&dir);

    // Without the one that it goes on from, it is of no use.
    let number = kept["number"].to_string();
    on(&["recon", "change"], &dir, &["--copy", &number, "--gone"]).done();
    let check = on(&["recon", "check"], &dir, &[]);
    assert!(check.code == 1 && check.out.contains("goes on from image copy"), "{}", check.out);
    let found = run_as(DEMO, ["verify", text]);
    assert!(found.code == 1 && found.out.contains("goes on from image copy"), "{}", found.out);
    run_as(DEMO, ["verify", text, "--repair"]).done();
    on(&["recon", "check"], &dir, &[]).done();
    verified(&dir);
}

#[test]
fn a_copy_to_standard_output_is_one_stream_of_several_data_sets() {
    let folder = Folder::new("stream");
    let dir = bank(&folder);
    let text = dir.to_str().unwrap();
    let mut command = crate::common::command(Some(DEMO));
    let copied =
        command.args(["image-copy", "-s", text, "--all", "--to", "-"]).output_in_time().unwrap();
    let printed = String::from_utf8_lossy(&copied.stderr).into_owned();
    assert!(copied.status.success() && printed.contains("2 data sets"), "{printed}");
    let stream = folder.join("stream");
    fs::write(&stream, &copied.stdout).unwrap();

    // Until it is known where it is, it is of no use; the log has to do.
    fs::remove_file(file_of(&dir, "ACCOUNTS")).unwrap();
    let copies = || {
        let check = on(&["recover"], &dir, &["--set", "ACCOUNTS", "--check", "--json"]).done();
        check.json()["sets"][0]["copies"].clone()
    };
    assert_eq!(copies(), serde_json::json!([]));
    let number = printed.split_whitespace().nth(2).unwrap().trim_end_matches(':').to_owned();
    let short = folder.join("short");
    fs::write(&short, &copied.stdout[..copied.stdout.len() - 1]).unwrap();
    let change = |file: &Path| {
        on(&["recon", "change"], &dir, &["--copy", &number, "--file", file.to_str().unwrap()])
    };
    change(&short).failed("HFV004", &["not complete"]);
    change(&stream).done();
    assert_eq!(copies()[0].to_string(), number);
    on(&["recover"], &dir, &["--set", "ACCOUNTS"]).done();
    verified(&dir);
    let twice = on(&["image-copy"], &dir, &["--all", "--to", "-", "--to", text]);
    assert_eq!(twice.code, 2);
}
