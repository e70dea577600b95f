//! A system whose log is archived: written by hand and by itself, listed, proven, repaired, kept.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::path::{Path, PathBuf};

use crate::common::{DEMO, Folder, SECRET, Worker, bank, on, patch, pause};

fn archive(dir: &Path, words: &[&str]) -> crate::common::Ended {
    let mut all = vec!["archive"];
    all.extend(words);
    all.push("-s");
    on(DEMO, &all, dir, &[])
}

fn with_archive(folder: &Folder) -> PathBuf {
    let dir = bank(folder, &[]);
    let path = dir.join("holdfast.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replace("#: folders = []", "folders = [\"archive\", \"more/archive\"]");
    let text = text.replace("#: compress = 0", "compress = 1");
    std::fs::write(&path, text).unwrap();
    dir
}

#[test]
fn archives_are_written_listed_proven_and_made_anew() {
    let folder = Folder::new("archived");
    let dir = with_archive(&folder);
    let made = archive(&dir, &["now", "--json"]).done().json();
    let first = &made[0];
    assert_eq!(first["first_group"], 1, "{made}");
    assert_eq!(first["compressed"], true);
    assert_eq!(first["files"].as_array().unwrap().len(), 2);
    assert!(first["first_commit_us"].as_u64() > Some(1_000_000), "{made}");
    let listed = archive(&dir, &["list"]).done().out;
    assert!(listed.contains("FIRST GROUP") && listed.contains("more/archive"), "{listed}");
    assert!(archive(&dir, &["verify"]).done().out.contains("0 copies damaged"));

    let file = Path::new(first["files"][0].as_str().unwrap()).to_owned();
    patch(&file, |bytes| bytes[6_000] ^= 1);
    let found = archive(&dir, &["verify"]);
    assert_eq!(found.code, 1);
    assert!(found.out.contains(file.to_str().unwrap()) && found.out.contains("--repair"));
    let repaired = archive(&dir, &["verify", "--repair"]).done().out;
    assert!(repaired.contains("made anew"), "{repaired}");
    assert!(archive(&dir, &["verify"]).done().out.contains("0 copies damaged"));

    let merged = archive(&dir, &["accumulate", "--set", "ACCOUNTS", "--json"]).done().json();
    assert_eq!(merged[0]["sets"][0], "ACCOUNTS", "{merged}");
    assert!(merged[0]["records"].as_u64() > Some(100), "{merged}");
    let again = archive(&dir, &["accumulate", "--set", "ACCOUNTS"]).done().out;
    assert!(!again.contains(&merged[0]["records"].to_string()), "{again}");
    // Log positions are given as they are printed.
    let from = format!("{:#x}", merged[0]["first_lsn"].as_u64().unwrap());
    for from in [&from, "64"] {
        archive(&dir, &["accumulate", "--set", "ACCOUNTS", "--from", from]).done();
    }
    let wrong = archive(&dir, &["accumulate", "--set", "ACCOUNTS", "--from", "0xyz"]);
    assert!(wrong.code == 2 && wrong.err.contains("0x1f40"), "{}", wrong.err);
    archive(&dir, &["accumulate", "--set", "NOTHING"]).failed("HFU003", &["NOTHING"]);

    // A damaged accumulation is named; its archives serve, so that it is deleted.
    let accumulation = accumulations(&dir.join("archive")).pop().unwrap();
    patch(&accumulation, |bytes| bytes.truncate(bytes.len() / 2));
    let found = archive(&dir, &["verify"]);
    assert_eq!(found.code, 1, "{}", found.out);
    assert!(found.out.contains(accumulation.to_str().unwrap()), "{}", found.out);
    let noted = on(DEMO, &["verify"], &dir, &[]);
    assert_eq!(noted.code, 1, "{}", noted.err);
    let noted = noted.out;
    assert!(
        noted.contains("accumulation")
            && noted.contains("archive verify")
            && noted.contains("--repair"),
        "{noted}"
    );
    archive(&dir, &["verify", "--repair"]).done();
    assert!(!accumulation.exists());
    archive(&dir, &["verify"]).done();
    on(DEMO, &["recover", "-s"], &dir, &["--set", "ACCOUNTS"]).done();

    says_why_it_stays(&folder, &dir, &first["first_group"].to_string());
}

/// An archive that is asked for to go, and does not.
fn says_why_it_stays(folder: &Folder, dir: &Path, group: &str) {
    // The newest one stays, and without image copies everything is needed.
    archive(dir, &["now"]).done();
    let refused = archive(dir, &["delete", "--first-group", group]);
    refused.failed("HFZ009", &["no image copy", "Make image copies"]);
    assert!(archive(dir, &["delete", "--check"]).done().out.contains("no policy lets any"));
    let (path, config) = (dir.join("holdfast.toml"), "keep_files = 1");
    let text = std::fs::read_to_string(&path).unwrap().replace("#: keep_files = 0", config);
    assert!(text.contains(config), "{text}");
    std::fs::write(&path, text).unwrap();
    assert!(archive(dir, &["delete"]).done().out.contains("no image copy"));
    // With copies, what the log itself has is needed yet; asking for it tells what doing it would.
    let to = folder.join("copies");
    let to = ["--all", "--to", to.to_str().unwrap()];
    on(DEMO, &["image-copy", "-s"], dir, &to).done();
    archive(dir, &["now"]).done();
    let printed = archive(dir, &["delete"]).done().out;
    assert!(
        printed.contains("nothing to delete") && printed.contains("the log itself"),
        "{printed}"
    );
    for check in [&["--check"][..], &[]] {
        let words = [&["delete", "--first-group", group], check].concat();
        archive(dir, &words).failed("HFZ009", &["the log itself begins", "Nothing need be done"]);
    }
}

#[test]
fn a_system_in_use_archives_when_told_and_goes_on_after_a_crash() {
    let folder = Folder::new("archived-in-use");
    let dir = with_archive(&folder);
    let mut worker = Worker::start(&dir, 7);
    pause(300);
    let first = archive(&dir, &["now", "--json"]).done().json();
    pause(100);
    let second = archive(&dir, &["now", "--json"]).done().json();
    // The system archives by itself, too, so others may stand between the two; nothing is missing.
    let list = archive(&dir, &["list", "--json"]).done().json();
    let list = list.as_array().unwrap();
    for answer in [&first[0], &second[0]] {
        assert!(list.iter().any(|one| one["first_group"] == answer["first_group"]), "{answer}");
    }
    for pair in list.windows(2) {
        let group = |at: usize, name: &str| pair[at][name].as_u64().unwrap();
        assert_eq!(group(0, "last_group") + 1, group(1, "first_group"), "{pair:?}");
    }
    let status = on(DEMO, &["status", "--json"], &dir, &[]).done().json();
    assert_eq!(status["archive"]["folders"].as_array().unwrap().len(), 2, "{status}");
    assert!(status["archive"]["archived_to"].as_u64() > Some(64), "{status}");
    worker.kill();
    archive(&dir, &["now"]).done();
    assert!(archive(&dir, &["verify"]).done().out.contains("0 copies damaged"));
}

fn accumulations(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "hfc"));
    files
}

/// The commands that one line of `text` each names.
fn commands(text: &str) -> Vec<String> {
    let named = text.lines().filter_map(|line| line.trim().strip_prefix("Repair: holdfast "));
    named.map(str::to_owned).collect()
}

/// The files of an archive go, or are damaged: what repairs that is named, and repairs it, for as
/// long as the log has what they held.
fn lost_files_are_written_again(dir: &Path, files: &[PathBuf]) {
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    let lost = archive(dir, &["verify"]);
    assert_eq!(lost.code, 1, "{}", lost.out);
    assert!(lost.out.contains(files[0].to_str().unwrap()), "{}", lost.out);
    let answer = commands(&lost.out);
    assert!(answer.iter().any(|command| command.ends_with("--repair")), "{answer:?}");
    for words in [&["verify"][..], &["doctor", "-s"]] {
        let found = on(DEMO, words, dir, &[]);
        assert!(found.code == 1 && found.out.contains(&answer[0]), "{answer:?}: {}", found.out);
    }
    let written = crate::common::run_as(DEMO, answer[0].split(' ')).done();
    assert!(written.out.contains("written again from the log"), "{}", written.out);
    assert!(files.iter().all(|file| file.exists()));
    archive(dir, &["verify"]).done();

    files.iter().for_each(|file| patch(file, |bytes| bytes[4_200] ^= 1));
    assert_eq!(archive(dir, &["verify"]).code, 1);
    let verify = on(DEMO, &["verify"], dir, &[]);
    assert!(verify.out.contains("the log has its groups"), "{}", verify.out);
    on(DEMO, &["verify", "--repair"], dir, &[]).done();
    archive(dir, &["verify"]).done();
}

#[test]
fn an_archive_that_is_in_no_folder_or_unknown_to_recon_is_named_with_what_repairs_it() {
    let folder = Folder::new("archive-audit");
    let dir = with_archive(&folder);
    // Each command that opens the system logs something, so each makes an archive.
    let first = archive(&dir, &["now", "--json"]).done().json();
    let recon = [dir.join("recon.1"), dir.join("recon.2")];
    let before = recon.clone().map(|path| std::fs::read(path).unwrap());
    let second = archive(&dir, &["now", "--json"]).done().json();
    archive(&dir, &["now"]).done();
    archive(&dir, &["verify"]).done();

    // An older RECON knows the first one, and is told of the newest one by the next start.
    recon.iter().zip(&before).for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
    let unknown = archive(&dir, &["verify"]);
    let group = second[0]["first_group"].to_string();
    assert_eq!(unknown.code, 1, "{}", unknown.out);
    assert!(unknown.out.contains("RECON does not know this archive"), "{}", unknown.out);
    let wanted = format!("--first-group {group} --repair");
    let answer = commands(&unknown.out);
    assert!(answer.iter().any(|command| command.ends_with(&wanted)), "{answer:?}");
    let of_verify = on(DEMO, &["verify"], &dir, &[]);
    assert!(of_verify.code == 1 && of_verify.out.contains(&wanted), "{}", of_verify.out);
    let doctor = on(DEMO, &["doctor", "-s"], &dir, &[]);
    assert!(doctor.code == 1 && doctor.out.contains(&wanted), "{}", doctor.out);
    for command in answer {
        crate::common::run_as(DEMO, command.split(' ')).done();
    }
    archive(&dir, &["verify"]).done();

    // Without a file of it, and with an image copy that needs it, it is damage.
    let copies = folder.join("copies");
    let to = copies.to_str().unwrap();
    on(DEMO, &["image-copy", "--all", "--to", to, "-s"], &dir, &[]).done();
    let third = archive(&dir, &["now", "--json"]).done().json();
    archive(&dir, &["now"]).done();
    let files = |made: &serde_json::Value| {
        let files = made[0]["files"].as_array().unwrap().iter();
        files.map(|file| Path::new(file.as_str().unwrap()).to_owned()).collect::<Vec<_>>()
    };
    lost_files_are_written_again(&dir, &files(&third));

    // A newer image copy does without it.
    files(&third).iter().for_each(|file| std::fs::remove_file(file).unwrap());
    on(DEMO, &["image-copy", "--all", "--to", to, "-s"], &dir, &[]).done();
    let after = archive(&dir, &["verify"]).done();
    assert!(after.out.contains("no recovery needs it"), "{}", after.out);

    // What is older than any copy needs is not missed.
    files(&first).iter().for_each(|file| std::fs::remove_file(file).unwrap());
    let after = archive(&dir, &["verify"]).done();
    assert!(after.out.contains(files(&first)[0].to_str().unwrap()), "{}", after.out);
}

#[test]
fn a_folder_that_is_not_mounted_is_not_made_anew_and_named() {
    let folder = Folder::new("archive-away");
    let dir = with_archive(&folder);
    archive(&dir, &["now"]).done();
    // A device that is not mounted leaves the empty folder that it is mounted on.
    let [one, other] = ["archive", "more/archive"].map(|name| dir.join(name));
    let unmount = |folder: &Path| {
        std::fs::rename(folder, folder.with_extension("device")).unwrap();
        std::fs::create_dir(folder).unwrap();
    };
    let mount = |folder: &Path| {
        std::fs::remove_dir(folder).unwrap();
        std::fs::rename(folder.with_extension("device"), folder).unwrap();
    };
    let is_empty = |folder: &Path| std::fs::read_dir(folder).unwrap().next().is_none();
    unmount(&one);
    // The other one goes on; nothing is written to this one.
    let made = archive(&dir, &["now", "--json"]).done().json();
    assert_eq!(made[0]["files"].as_array().unwrap().len(), 1, "{made}");
    assert!(is_empty(&one));
    let found = archive(&dir, &["verify"]);
    let path = one.to_str().unwrap();
    assert!(found.code == 1 && found.out.contains("not mounted"), "{}", found.out);
    assert!(found.out.contains(path) && found.out.contains("archive begin"), "{}", found.out);
    let verify = on(DEMO, &["verify"], &dir, &[]);
    assert!(verify.code == 1 && verify.out.contains("not mounted"), "{}", verify.out);
    let doctor = on(DEMO, &["doctor", "-s"], &dir, &[]);
    assert!(doctor.code == 1 && doctor.out.contains("not mounted"), "{}", doctor.out);

    // With both away it waits, in a system in use, too, and goes on by itself.
    unmount(&other);
    let mut worker = Worker::idle(&dir);
    archive(&dir, &["now"]).failed("HFZ015", &["not mounted"]);
    let status = || on(DEMO, &["status", "--json"], &dir, &[]).done().json();
    assert!(status()["notes"].to_string().contains("not mounted"), "{}", status());
    assert!(is_empty(&one) && is_empty(&other));
    mount(&other);
    mount(&one);
    let lacks = |status: &serde_json::Value| {
        let archive = &status["archive"];
        !archive["trouble"].is_null() || !archive["missing"].as_array().unwrap().is_empty()
    };
    for _ in 0..200 {
        if !lacks(&status()) {
            break;
        }
        pause(100);
    }
    assert!(!lacks(&status()), "{}", status());
    worker.finish();
    archive(&dir, &["now"]).done();
    assert!(archive(&dir, &["verify"]).done().out.contains("0 copies damaged"));

    // What it held is gone for good.
    unmount(&one);
    on(DEMO, &["archive", "begin", "-s"], &dir, &[path]).done();
    assert!(archive(&dir, &["verify"]).done().out.contains("0 copies damaged"));
    assert!(!is_empty(&one), "the other folder had everything");
    on(DEMO, &["archive", "begin", "-s"], &dir, &["/nowhere"]).failed("HFZ016", &["/nowhere"]);
}

#[test]
fn an_archive_of_another_system_is_to_be_moved_away_whoever_finds_it() {
    let folder = Folder::new("archive-foreign");
    let dirs = ["mine", "theirs"].map(|name| {
        let dir = folder.join(name);
        crate::common::init(&dir, &[]);
        let config = dir.join("holdfast.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, text.replace("#: folders = []", "folders = [\"archive\"]"))
            .unwrap();
        on(SECRET, &["archive", "now", "-s"], &dir, &[]).done();
        dir
    });
    let [mine, theirs] = &dirs;
    let archive = |dir: &Path| {
        let files = crate::common::files(&dir.join("archive")).into_keys();
        files.into_iter().find(|path| path.extension().is_some_and(|end| end == "hfa")).unwrap()
    };
    let stray = mine.join("archive/archive-0000000000009999.hfa");
    std::fs::copy(archive(theirs), &stray).unwrap();
    let stray_text = stray.to_str().unwrap();
    on(SECRET, &["restart"], mine, &[]).failed("HFZ014", &[stray_text, "move"]);
    let found = on(SECRET, &["verify", "--json"], mine, &[]).json();
    let findings = found["findings"].as_array().unwrap();
    assert!(findings.len() == 1 && findings[0]["repair"].as_array().unwrap().is_empty(), "{found}");
    assert!(findings[0]["remedy"].as_str().unwrap().contains("Move it away"), "{found}");
    let printed = on(SECRET, &["doctor", "-s"], mine, &[]).out;
    assert!(printed.contains("away: it is another system's"), "{printed}");
    assert!(!printed.contains("archive verify"), "{printed}");
    // Nothing is made that would not start.
    let (made, keys) = (folder.join("made"), mine.join("holdfast.keys"));
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let words = ["--keys", &text(&keys), "--archives", &text(&mine.join("archive"))];
    on(SECRET, &["restore"], &made, &words).failed("HFZ014", &[stray_text, "move"]);
    assert!(!made.exists());
    std::fs::remove_file(&stray).unwrap();
    on(SECRET, &["verify"], mine, &[]).done();
    on(SECRET, &["restart"], mine, &[]).done();
}
