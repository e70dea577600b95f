//! A database that was unloaded on a host is loaded, looked at, verified and unloaded; the files
//! are equal in all that counts. What cannot be loaded is named and leaves an empty database.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::pautdb::{GENUINE, SOURCE};
use crate::common::{Ended, Folder, SECRET, command, init, on, patch, pause};
use serde_json::{Value, json};

struct Bank {
    folder: Folder,
    dir: PathBuf,
}

impl Bank {
    fn new(name: &str) -> Bank {
        let folder = Folder::new(name);
        let dir = folder.join("bank");
        init(&dir, &[]);
        let bank = Bank { folder, dir };
        bank.compile(SOURCE).done();
        bank
    }

    fn compile(&self, source: &str) -> Ended {
        let path = self.folder.join("source");
        fs::write(&path, source).unwrap();
        on(SECRET, &["gen", "-s"], &self.dir, &[path.to_str().unwrap()])
    }

    fn run(&self, words: &[&str], rest: &[&str]) -> Ended {
        on(SECRET, &[words, &["-s"]].concat(), &self.dir, rest)
    }

    fn load(&self, file: &Path) -> Ended {
        self.run(&["load"], &["PAUTDB", file.to_str().unwrap()])
    }

    fn unload(&self, name: &str) -> Vec<u8> {
        let path = self.folder.join(name);
        self.run(&["unload"], &["pautdb", path.to_str().unwrap()]).done();
        fs::read(path).unwrap()
    }

    fn status(&self) -> Value {
        self.run(&["db", "status"], &["PAUTDB", "--json"]).done().json()
    }
}

/// The records of a file, without copies of prefixes and pad bytes.
fn records(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut at, mut all) = (0, Vec::new());
    while at < file.len() {
        let len = usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
        let record = &file[at..at + len];
        let mut shown = record[4..18.min(len)].to_vec();
        match record[4] {
            0 => shown.extend_from_slice(&record[18..]),
            _ => shown.extend_from_slice(&record[39..len - 1]),
        }
        all.push(shown);
        at += len;
    }
    all
}

#[test]
fn a_genuine_file_is_loaded_and_unloaded_equal() {
    let bank = Bank::new("load");
    let genuine = fs::read(GENUINE).unwrap();
    let loaded = bank.run(&["load"], &["PAUTDB", GENUINE, "--json"]).done().json();
    assert_eq!(loaded["segments"], 224);
    assert_eq!(loaded["indexes"], json!([{ "index": "PAUTIX", "entries": 202 }]));
    assert_eq!(records(&bank.unload("again")), records(&genuine));

    let status = bank.status();
    assert_eq!((&status["state"], &status["organization"]), (&"ready".into(), &"HIDAM".into()));
    let segments = |at: usize| status["segments"][at]["segments"].as_u64().unwrap();
    assert_eq!((segments(0), segments(1)), (22, 202));
    let space = status["data_sets"].as_array().unwrap();
    assert!(space.iter().any(|set| set["data_set"] == "PAUTDB" && set["format"] == "sealed"));
    let shown = bank.run(&["db", "status"], &["PAUTDB"]).done();
    assert!(shown.out.contains("PAUTDB, HIDAM: ready"), "{}", shown.out);

    let sound = bank.run(&["db", "verify"], &["PAUTDB"]).done();
    assert!(sound.out.contains("224 segments, 202 index entries"), "{}", sound.out);
    let built = bank.run(&["index", "build"], &["PAUTDB", "pautix"]).done();
    assert!(built.out.contains("PAUTIX: built, 202 entries"), "{}", built.out);
    bank.run(&["index", "verify"], &["PAUTDB"]).done();
    bank.run(&["index", "build"], &["PAUTDB", "NONE"]).failed("HFH010", &["PAUTDB", "NONE"]);

    bank.load(Path::new(GENUINE)).failed("HFH005", &["PAUTDB"]);
    assert_eq!(bank.run(&["db", "empty"], &["PAUTDB"]).code, 2);
    bank.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    assert_eq!(bank.status()["state"], "empty");
    bank.load(Path::new(GENUINE)).done();
    assert_eq!(on(SECRET, &["verify"], &bank.dir, &[]).done().err, "");
}

#[test]
fn what_cannot_be_loaded_is_named_and_leaves_an_empty_database() {
    let bank = Bank::new("load-wrong");
    let file = bank.folder.join("file");
    let genuine = fs::read(GENUINE).unwrap();

    fs::write(&file, &genuine[..40_000]).unwrap();
    bank.load(&file).failed("HFF006", &["record"]);
    assert_eq!(bank.status()["state"], "empty");

    // The second root gets the key of the first one.
    fs::write(&file, &genuine).unwrap();
    let all = records(&genuine);
    let place = |number: usize| {
        let before = &all[..number];
        let len = |record: &Vec<u8>| match record[0] {
            0 => record.len() + 4,
            _ => record.len() + 26,
        };
        before.iter().map(len).sum::<usize>() + 39
    };
    let roots: Vec<usize> = (0..all.len()).filter(|at| all[*at][0] == 1).collect();
    patch(&file, |bytes| bytes.copy_within(place(roots[0])..place(roots[0]) + 6, place(roots[1])));
    let number = format!("segment number {}", roots[1]);
    bank.load(&file).failed("HFH008", &[&number, "PAUTSUM0", "there is one of that key already"]);
    assert_eq!(bank.status()["state"], "empty");

    fs::write(&file, "no unload file").unwrap();
    bank.load(&file).failed("HFF002", &[]);
    bank.load(Path::new("/nowhere/at/all")).failed("HFY100", &["/nowhere/at/all"]);
    bank.run(&["load"], &["NODB", GENUINE]).failed("HFY100", &["there is no DBD NODB"]);
    bank.run(&["load"], &["PAUTIX", GENUINE]).failed("HFH003", &["PAUTIX"]);
    bank.compile(&SOURCE.replace("PAUTDTL1", "DETAILS").replace("PAUTSUM0", "SUMMARY")).done();
    let misfit = bank.load(Path::new(GENUINE));
    misfit.failed("HFY100", &["the segment PAUTSUM0", "DBD PAUTDB has none such"]);
    bank.compile(SOURCE).done();
    bank.load(Path::new(GENUINE)).done();
    let there = bank.folder.join("there");
    fs::write(&there, "mine").unwrap();
    let there = there.to_str().unwrap();
    bank.run(&["unload"], &["PAUTDB", there]).failed("HFY100", &["there already"]);
    bank.run(&["unload"], &["PAUTDB", there, "--replace"]).done();
    let names = fs::read_dir(bank.folder.join("")).unwrap().map(|entry| entry.unwrap().file_name());
    let hidden = |name: &std::ffi::OsString| name.to_string_lossy().contains(".part");
    assert_eq!(names.filter(hidden).count(), 0);
    let device = bank.run(&["unload"], &["PAUTDB", "/dev/null", "--replace"]);
    device.failed("HFY100", &["/dev/null is no file"]);
    assert_eq!(
        command(None).args(["db", "status", "--help"]).output_in_time().unwrap().status.code(),
        Some(0)
    );
}

#[test]
fn a_killed_load_leaves_no_database_that_looks_loaded() {
    let bank = Bank::new("load-killed");
    let pipe = bank.folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).output_in_time().unwrap().status.success());
    let mut load = command(Some(SECRET));
    load.args(["load", "-s"]).arg(&bank.dir).arg("PAUTDB").arg(&pipe);
    let mut load = load.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    writer.write_all(&fs::read(GENUINE).unwrap()[..30_000]).unwrap();
    // The second commit says that a load has begun; more than that does not come.
    let begun = Instant::now();
    loop {
        let status = on(SECRET, &["status", "--json"], &bank.dir, &[]);
        if status.code == 0 && status.json()["units"]["commits"].as_u64() >= Some(2) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{}{}", status.out, status.err);
        pause(20);
    }
    pause(200);
    load.kill().unwrap();
    load.wait_in_time().unwrap();
    drop(writer);

    assert_eq!(bank.status()["state"], "loading");
    let file = bank.folder.join("file");
    let unload = bank.run(&["unload"], &["PAUTDB", file.to_str().unwrap()]);
    unload.failed("HFH004", &["a load of database PAUTDB was begun", " PAUTDB --yes`"]);
    bank.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    bank.load(Path::new(GENUINE)).done();
    assert_eq!(bank.run(&["db", "verify"], &["PAUTDB"]).done().code, 0);
}

#[test]
fn settings_that_move_roots_do_not_change_under_data() {
    let bank = Bank::new("load-settings");
    bank.load(Path::new(GENUINE)).done();
    let toml = bank.dir.join("holdfast.toml");
    let before = fs::read_to_string(&toml).unwrap();
    fs::write(&toml, format!("{before}\n[database.PAUTDB]\ncollation = \"ebcdic\"\n")).unwrap();
    let status = bank.run(&["db", "status"], &["PAUTDB"]);
    status.failed("HFH006", &["PAUTDB", "collation binary", "collation ebcdic"]);
    // Programs would be given other bytes than they have stored.
    fs::write(&toml, format!("{before}\n[database.PAUTDB]\nencoding = \"ebcdic\"\n")).unwrap();
    let status = bank.run(&["db", "status"], &["PAUTDB"]);
    status.failed("HFH006", &["PAUTDB", "encoding ascii", "encoding ebcdic"]);
    fs::write(&toml, before).unwrap();
    assert_eq!(bank.status()["state"], "ready");
}

#[test]
fn a_segment_grows_by_unloading_and_loading_as_gen_advises() {
    let bank = Bank::new("grown");
    let file = Path::new(GENUINE);
    bank.load(file).done();
    let grown = SOURCE.replace("PARENT=PAUTSUM0,BYTES=200", "PARENT=PAUTSUM0,BYTES=206").replace(
        "START=9,BYTES=6",
        "START=9,BYTES=6\n         FIELD NAME=BONUS,START=201,BYTES=4,TYPE=P",
    );
    let advice = bank.compile(&grown);
    advice.failed("HFY100", &["HFG302", "holdfast unload -s", "PAUTDB FILE`"]);
    bank.unload("before");
    bank.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    bank.compile(&grown).done();
    let loaded = bank.load(&bank.folder.join("before")).done();
    assert!(loaded.err.contains("202 segments were shorter than defined"), "{}", loaded.err);
    let after = records(&bank.unload("after"));
    let filled = after.iter().filter(|record| record.ends_with(&[0, 0, 0, 0x0C, 0, 0])).count();
    assert_eq!(filled, 202, "packed zero, then zeros");

    // What is longer than defined would lose data.
    bank.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    bank.compile(SOURCE).done();
    bank.load(&bank.folder.join("after")).failed("HFF009", &["after: ", "PAUTDTL1", "206"]);
}
