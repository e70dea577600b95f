//! The machine is gone. Key file, archives and image copies were kept elsewhere; from these alone
//! the system comes back as of the last archived commit, and goes on.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::common::pautdb::{GENUINE, SOURCE};
use crate::common::{Ended, Folder, SECRET, files, init, on, patch, run, run_as};

/// A system, and the place where everything is kept that a restore needs.
struct Site {
    folder: Folder,
    dir: PathBuf,
}

impl Site {
    fn new(name: &str) -> Site {
        let folder = Folder::new(name);
        let dir = folder.join("first");
        init(&dir, &[]);
        let site = Site { folder, dir };
        let path = site.dir.join("holdfast.toml");
        let archives = format!("folders = [\"{}\"]", site.safe("archive"));
        let text = fs::read_to_string(&path).unwrap().replace("#: folders = []", &archives);
        fs::write(&path, text).unwrap();
        let source = site.folder.join("source");
        fs::write(&source, SOURCE).unwrap();
        on(SECRET, &["gen", "-s"], &site.dir, &[source.to_str().unwrap()]).done();
        site
    }

    /// Where something is kept.
    fn safe(&self, name: &str) -> String {
        self.folder.join("safe").join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, words: &[&str], rest: &[&str]) -> Ended {
        on(SECRET, &[words, &["-s"]].concat(), &self.dir, rest)
    }

    fn unload(&self, name: &str) -> Vec<u8> {
        let path = self.folder.join(name);
        self.run(&["unload"], &["PAUTDB", path.to_str().unwrap()]).done();
        fs::read(path).unwrap()
    }

    /// Copies everything, and the key file.
    fn copy(&self) -> serde_json::Value {
        let copies = self.safe("copies");
        let copied = self.run(&["image-copy"], &["--all", "--to", &copies, "--json"]);
        fs::copy(self.dir.join("holdfast.keys"), self.safe("keys")).unwrap();
        copied.done().json()
    }

    fn restore(&self, dir: &Path, rest: &[&str]) -> Ended {
        let keys = self.safe("keys");
        on(SECRET, &["restore"], dir, &[&["--keys", &keys], rest].concat())
    }

    /// From defaults, with what is in the usual places.
    fn restore_plainly(&self, dir: &Path) -> Ended {
        let (archives, copies) = (self.safe("archive"), self.safe("copies"));
        self.restore(dir, &["--archives", &archives, "--copies", &copies, "--json"])
    }

    /// A file without what it says about when it was made.
    fn same(one: &[u8], other: &[u8]) -> bool {
        let body = |file: &[u8]| {
            let head = usize::from(u16::from_be_bytes([file[0], file[1]]));
            file[head..].to_vec()
        };
        body(one) == body(other)
    }
}

#[test]
fn everything_that_was_archived_comes_back_and_the_system_goes_on() {
    let mut site = Site::new("bare");
    site.run(&["load"], &["PAUTDB", GENUINE]).done();
    site.copy();
    // Behind the copy: data that goes and comes, and a data set that no copy knows.
    site.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    site.run(&["load"], &["PAUTDB", GENUINE]).done();
    on(SECRET, &["sets", "create"], &site.dir, &["LATE"]).done();
    let before = site.unload("before");
    site.run(&["archive", "now"], &[]).done();
    // Behind the archive: lost.
    site.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    let late = site.copy();
    fs::remove_dir_all(&site.dir).unwrap();

    let second = site.folder.join("second");
    let restored = site.restore_plainly(&second);
    assert!(restored.err.contains("is of no use"), "{}", restored.err);
    let restored = restored.done().json();
    assert_eq!(restored["copies"], 2, "{restored}");
    site.dir = second;
    assert!(Site::same(&site.unload("after"), &before));
    let sound = site.run(&["db", "verify"], &["PAUTDB"]).done();
    assert!(sound.out.contains("224 segments, 202 index entries"), "{}", sound.out);
    on(SECRET, &["verify"], &site.dir, &[]).done();
    let sets = on(SECRET, &["sets", "list"], &site.dir, &[]).done().out;
    assert!(sets.contains("LATE"), "{sets}");

    // It goes on: its log is archived behind that of the first machine, and recovered through both.
    site.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    site.run(&["archive", "now"], &[]).done();
    assert!(site.run(&["archive", "verify"], &[]).done().out.contains("0 copies damaged"));
    let point = restored["archived_to"].to_string();
    site.run(&["recover"], &["--all", "--to", &point]).done();
    assert!(Site::same(&site.unload("again"), &before));
    let gone = late["end"].to_string();
    site.run(&["recover"], &["--all", "--to", &gone]).failed("HFV003", &["restored"]);

    // With RECON lost, too, all of that is found again in the files.
    for name in ["recon.1", "recon.2"] {
        fs::remove_file(site.dir.join(name)).unwrap();
    }
    let copies = site.safe("copies");
    let found = site.run(&["recon", "rebuild"], &["--from", &copies, "--json"]).done().json();
    assert_eq!((&found["image_copies"], &found["recoveries"]), (&2.into(), &2.into()), "{found}");
    site.run(&["recover"], &["--all", "--to", &gone]).failed("HFV003", &["restored"]);
    site.run(&["recover"], &["--all"]).done();
    assert!(Site::same(&site.unload("at last"), &before));
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_nothing_behind() {
    let site = Site::new("bare-refused");
    site.copy();
    let second = site.folder.join("second");
    let empty = site.safe("empty");
    fs::create_dir_all(&empty).unwrap();
    site.restore(&second, &["--archives", &empty]).failed("HFV009", &["no archive"]);
    assert!(!second.join("holdfast.toml").exists());
    site.run(&["archive", "now"], &[]).done();
    let archives = site.safe("archive");
    let rest = ["--keys", &site.safe("keys"), "--archives", &archives];
    let wrong = on("not it", &["restore"], &second, &rest);
    assert_eq!(wrong.code, 1, "{}", wrong.err);
    site.restore(&site.dir, &["--archives", &archives]).failed("HFY002", &["already"]);
    assert_eq!(site.restore(&second, &[]).code, 2);

    // With its configuration: that of another system is none.
    let other = site.folder.join("other");
    init(&other, &[]);
    let config = other.join("holdfast.toml");
    let rest = ["--config", config.to_str().unwrap()];
    site.restore(&second, &rest).failed("HFV009", &["different systems"]);
    let config = site.dir.join("holdfast.toml");
    site.restore(&second, &["--config", config.to_str().unwrap()]).done();
    assert_eq!(
        fs::read(&config).unwrap(),
        fs::read(second.join("holdfast.toml")).unwrap(),
        "the configuration is as it was"
    );
    run(["verify", second.to_str().unwrap()]).done();
    run_as(SECRET, ["status", second.to_str().unwrap()]).done();
}

#[test]
fn an_archive_that_the_key_file_does_not_open_is_not_taken_for_lost() {
    let mut site = Site::new("bare-old-keys");
    site.run(&["load"], &["PAUTDB", GENUINE]).done();
    site.copy();
    site.run(&["archive", "now"], &[]).done();
    site.run(&["rekey"], &["--log"]).done();
    on(SECRET, &["sets", "create"], &site.dir, &["LATE"]).done();
    site.run(&["archive", "now"], &[]).done();
    let newest = site.folder.join("newest-keys");
    fs::copy(site.dir.join("holdfast.keys"), &newest).unwrap();
    let before = site.unload("before");
    fs::remove_dir_all(&site.dir).unwrap();

    let second = site.folder.join("second");
    let (archives, copies) = (site.safe("archive"), site.safe("copies"));
    let rest = ["--archives", &archives, "--copies", &copies];
    site.restore(&second, &rest).failed("HFV009", &["archive-", "gen2", "copy of the key file"]);
    assert!(!second.join("holdfast.toml").exists());
    fs::copy(&newest, site.safe("keys")).unwrap();
    site.restore_plainly(&second).done();
    site.dir = second;
    assert!(Site::same(&site.unload("after"), &before));
    let sets = on(SECRET, &["sets", "list"], &site.dir, &[]).done().out;
    assert!(sets.contains("LATE"), "{sets}");
}

#[test]
fn a_log_that_has_lost_its_end_is_refused_with_the_restore_that_helps() {
    let mut site = Site::new("bare-log-cut");
    site.run(&["load"], &["PAUTDB", GENUINE]).done();
    site.copy();
    let log = site.dir.join("log");
    let old = files(&log);
    on(SECRET, &["sets", "create"], &site.dir, &["LATE"]).done();
    let before = site.unload("before");
    site.run(&["archive", "now"], &[]).done();
    fs::remove_dir_all(&log).unwrap();
    fs::create_dir(&log).unwrap();
    old.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());

    // The archive proves more, and has it; the log may have lost still more than that.
    let dir = site.dir.display();
    let typed = format!(
        "`holdfast restore NEW --keys {dir}/holdfast.keys --config {dir}/holdfast.toml --copies \
         FOLDER`"
    );
    for accepts in [&[][..], &["--accept-loss-with-stale-log-copy"]] {
        let refused = on(SECRET, &["restart"], &site.dir, accepts);
        refused.failed("HFL012", &["the log ends at", &typed]);
    }
    let doctor = site.run(&["doctor"], &["--json"]).json();
    let mut commands = doctor["steps"].as_array().unwrap().iter().map(|step| &step["command"]);
    let restore = commands.find(|words| words[1] == "restore").unwrap();
    let second = site.folder.join("second");
    let words: Vec<&str> =
        restore.as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    let words = words.iter().map(|word| match *word {
        "NEW" => second.to_str().unwrap(),
        word => word,
    });
    run_as(SECRET, words.skip(1)).done();
    site.dir = second.clone();
    assert!(Site::same(&site.unload("after"), &before));
    let sets = on(SECRET, &["sets", "list"], &site.dir, &[]).done().out;
    assert!(sets.contains("LATE"), "{sets}");
    on(SECRET, &["verify"], &site.dir, &[]).done();
}

/// The archives, oldest first.
fn archives(site: &Site) -> Vec<PathBuf> {
    let listed = fs::read_dir(site.safe("archive")).unwrap();
    let mut archives: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    archives.retain(|path| path.extension().is_some_and(|extension| extension == "hfa"));
    archives.sort();
    archives
}

fn spoil(path: &Path) {
    patch(path, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
}

/// Three archives; before the last one everything is copied but for `only`, which was made in the
/// first one.
fn with_an_old_copy(name: &str, only: &str) -> (Site, Vec<u8>) {
    let site = Site::new(name);
    site.run(&["load"], &["PAUTDB", GENUINE]).done();
    let copied = site.copy();
    site.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    on(SECRET, &["sets", "create"], &site.dir, &[only]).done();
    site.run(&["archive", "now"], &[]).done();
    site.run(&["load"], &["PAUTDB", GENUINE]).done();
    on(SECRET, &["sets", "create"], &site.dir, &["LATER"]).done();
    site.run(&["archive", "now"], &[]).done();
    let sets = copied["sets"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    let copies = site.safe("copies");
    let named = sets.flat_map(|name| ["--set", name]).chain(["--set", "LATER", "--to", &copies]);
    site.run(&["image-copy"], &named.collect::<Vec<_>>()).done();
    on(SECRET, &["sets", "create"], &site.dir, &["LAST"]).done();
    let before = site.unload("before");
    site.run(&["archive", "now"], &[]).done();
    fs::remove_dir_all(&site.dir).unwrap();
    (site, before)
}

/// What is offline is in nobody's way: all others are copied, and what brings it back is named.
fn only_its_own_is_lacking(site: &Site, offline: &str) {
    let copies = site.folder.join("since");
    let to = ["--to", copies.to_str().unwrap()];
    let recover = format!("recover -s {} --set {offline}`", site.dir.display());
    let all = site.run(&["image-copy"], &[&["--all", "--json"], &to[..]].concat()).done();
    assert!(all.err.contains("is offline") && all.err.contains(&recover), "{}", all.err);
    let copied = all.json();
    let sets = copied["sets"].as_array().unwrap();
    assert!(sets.len() > 3 && !sets.contains(&offline.into()), "{copied}");
    assert_eq!(copied["offline"], serde_json::json!([offline]));
    let named = [&["--set", offline, "--set", "LATER"], &to[..]].concat();
    site.run(&["image-copy"], &named).failed("HFU024", &["offline", &recover]);
    // And a user who looks is told.
    let status = on(SECRET, &["status"], &site.dir, &[]).done().out;
    assert!(status.contains("is offline") && status.contains(&recover), "{status}");
    let doctor = site.run(&["doctor"], &[]);
    assert_eq!(doctor.code, 1, "{}", doctor.out);
    let expected_text = format!("data set {offline} is offline: `holdfast {recover}");
    assert!(doctor.out.contains(&expected_text), "{}", doctor.out);
}

#[test]
fn archives_that_only_older_copies_need_may_be_damaged_and_what_is_lost_by_it_is_named() {
    let (mut site, before) = with_an_old_copy("bare-older-copies", "ONLY");
    let archives = archives(&site);
    assert!(archives.len() >= 3, "{archives:?}");
    spoil(&archives[1]);
    site.dir = site.folder.join("second");
    let restored = site.restore_plainly(&site.dir.clone());
    assert_eq!(restored.code, 1, "{}", restored.err);
    assert!(restored.err.contains("data set ONLY stays offline"), "{}", restored.err);
    let restored = restored.json();
    assert!(Site::same(&site.unload("after"), &before));
    let sets = on(SECRET, &["sets", "list"], &site.dir, &[]).done().out;
    assert!(sets.contains("LATER") && sets.contains("LAST"), "{sets}");
    only_its_own_is_lacking(&site, "ONLY");
    // What is named brings it back as it was before.
    let left = restored["left"].as_array().unwrap();
    assert_eq!((left.len(), &left[0]["name"]), (1, &"ONLY".into()), "{restored}");
    let words = left[0]["repair"].as_array().unwrap().iter().skip(1);
    run_as(SECRET, words.map(|word| word.as_str().unwrap())).done();
    let found = on(SECRET, &["verify"], &site.dir, &[]).out;
    assert!(!found.contains("DAMAGED data set"), "{found}");
    assert!(Site::same(&site.unload("later"), &before));

    // Without the archive in which it was made, it is named all the same.
    spoil(&archives[0]);
    let third = site.folder.join("third");
    let restored = site.restore_plainly(&third);
    assert_eq!(restored.code, 1, "{}", restored.err);
    let restored = restored.json();
    assert_eq!(restored["left"][0]["name"], "ONLY", "{restored}");
    assert!(restored["left"][0]["repair"].is_null(), "{restored}");

    // Without what the copies need, nothing comes back; what is said to be moved away helps.
    let last = archives.last().unwrap();
    spoil(last);
    let fourth = site.folder.join("fourth");
    let (from, copies) = (site.safe("archive"), site.safe("copies"));
    let refused = site.restore(&fourth, &["--archives", &from, "--copies", &copies]);
    refused.failed("HFV009", &["no data set comes back", last.to_str().unwrap()]);
    assert!(!fourth.join("holdfast.toml").exists());
}

#[test]
fn what_a_damaged_newest_archive_held_is_lost_once_it_is_moved_away() {
    let mut site = Site::new("bare-newest-archive");
    site.run(&["load"], &["PAUTDB", GENUINE]).done();
    site.copy();
    let before = site.unload("before");
    site.run(&["archive", "now"], &[]).done();
    site.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    site.run(&["archive", "now"], &[]).done();
    fs::remove_dir_all(&site.dir).unwrap();
    let last = archives(&site).pop().unwrap();
    spoil(&last);
    site.dir = site.folder.join("second");
    let (from, copies) = (site.safe("archive"), site.safe("copies"));
    let refused = site.restore(&site.dir, &["--archives", &from, "--copies", &copies]);
    refused.failed("HFV009", &["no data set comes back", last.to_str().unwrap(), "away"]);
    fs::rename(&last, site.folder.join("away")).unwrap();
    let restored = site.restore_plainly(&site.dir.clone()).done().json();
    assert_ne!(restored["committed_us"], 0, "{restored}");
    assert!(Site::same(&site.unload("after"), &before));
}

#[test]
fn what_a_restore_leaves_that_was_killed_is_told_from_a_system_without_its_configuration() {
    let site = Site::new("bare-killed");
    site.copy();
    site.run(&["archive", "now"], &[]).done();
    let second = site.folder.join("second");
    site.restore_plainly(&second).done();
    assert!(!second.join("holdfast.restoring").exists());
    // It is killed before the configuration, which comes last, is written.
    fs::remove_file(second.join("holdfast.toml")).unwrap();
    let place = second.to_str().unwrap();
    let [keys, archives, copies] = ["keys", "archive", "copies"].map(|name| site.safe(name));
    let words = ["--keys", &keys, "--archives", &archives, "--copies", &copies];
    // Words of another user are no advice.
    fs::write(second.join("holdfast.restoring"), b"[\"rm\",\"-rf\",\"/srv/bank\"]").unwrap();
    let misled = on(SECRET, &["doctor", "-s"], &second, &[]);
    assert!(!misled.out.contains("rm -rf"), "{}", misled.out);
    let printed = json!({
        "keys": words[1], "config": null, "archives": [words[3]], "copies": [words[5]]
    });
    fs::write(second.join("holdfast.restoring"), printed.to_string()).unwrap();
    let doctor = on(SECRET, &["doctor", "--json", "-s"], &second, &[]);
    assert_eq!(doctor.code, 1, "{}", doctor.out);
    let steps = doctor.json()["steps"].as_array().unwrap().clone();
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert!(steps[0]["what"].as_str().unwrap().contains("Empty the folder"), "{steps:?}");
    fs::remove_dir_all(&second).unwrap();
    let words = steps[0]["command"].as_array().unwrap().iter().skip(1);
    run_as(SECRET, words.map(|word| word.as_str().unwrap())).done();
    run(["verify", place]).done();
}
