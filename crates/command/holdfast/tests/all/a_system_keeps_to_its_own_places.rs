//! Folders and files of a system are its own: no other system, no restore of it, and no output of a
//! program ever takes their place, and what fails takes away only what it made.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::pautdb::{GENUINE, SOURCE};
use crate::common::{Ended, Folder, SECRET, command, files, init, issue, on, run, start};

/// A PSB with an output and an input, and one database.
const SOURCES: &str = "         DBD   NAME=SHOPDB,ACCESS=(HDAM,OSAM),RMNAME=(HASHER,1,10)
         DATASET DD1=SHOPDD
         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=20
         FIELD NAME=(CUSTNO,SEQ,U),START=1,BYTES=8
         DBDGEN
         DBD   NAME=ORDERS,ACCESS=(GSAM,BSAM)
         DATASET DD1=INFILE,RECFM=F,RECORD=8
         DBDGEN
         DBD   NAME=REJECTS,ACCESS=(GSAM,BSAM)
         DATASET DD1=OUTFILE,DD2=OUTFILE,RECFM=F,RECORD=8
         DBDGEN
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=A,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PCB   TYPE=GSAM,DBDNAME=ORDERS,PROCOPT=GS
         PCB   TYPE=GSAM,DBDNAME=REJECTS,PROCOPT=LS
         PSBGEN LANG=COBOL,PSBNAME=CLERK,CMPAT=YES
         END
";

/// Writes a record of an output.
const WRITE: &str = "L        ISRT\nL        DATA  WRITTEN.\n";

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Changes the configuration of a system.
fn set(dir: &Path, section: &str, line: &str) {
    let path = dir.join("holdfast.toml");
    let config = fs::read_to_string(&path).unwrap();
    let name = line.split(' ').next().unwrap();
    let mut found = false;
    let mut out = String::new();
    let mut here = "";
    for one in config.lines() {
        if one.starts_with('[') {
            here = one;
        }
        // What stands there is left out.
        if !(here == section && one.trim_start().starts_with(&format!("{name} ="))) {
            out += &format!("{one}\n");
        }
        if one == section {
            out += &format!("{line}\n");
            found = true;
        }
    }
    assert!(found, "{section} in {config}");
    fs::write(path, out).unwrap();
}

fn system(folder: &Folder, name: &str) -> PathBuf {
    let dir = folder.join(name);
    init(&dir, &[]);
    dir
}

/// Names what differs; the bytes would say nothing.
#[track_caller]
fn unchanged(before: &BTreeMap<PathBuf, Vec<u8>>, now: &BTreeMap<PathBuf, Vec<u8>>) {
    let names = before.keys().chain(now.keys());
    let changed: Vec<&PathBuf> = names.filter(|name| before.get(*name) != now.get(*name)).collect();
    assert!(changed.is_empty(), "{changed:?}");
}

fn is_sound(dir: &Path) {
    on(SECRET, &["verify"], dir, &[]).done();
}

#[test]
fn an_init_that_fails_takes_nothing_of_another_system_away() {
    let folder = Folder::new("places-init");
    let old = system(&folder, "old");
    let before = files(&old);
    let new = folder.join("new");
    let copies = ["--log-copy", "log", "--log-copy", "../old/log"];
    let failed = on(SECRET, &["init"], &new, &copies).failed("HFY002", &["old/log"]);
    assert!(failed.err.contains("log.copies"), "{}", failed.err);
    unchanged(&before, &files(&old));
    is_sound(&old);
    assert!(files(&new).is_empty(), "{:?}", files(&new).keys());
    // Elsewhere it is made.
    init(&new, &["--log-copy", "log", "--log-copy", "../second"]);
    is_sound(&new);
}

#[test]
fn of_several_that_make_one_system_at_once_one_does_and_it_is_whole() {
    let folder = Folder::new("places-race");
    let dir = folder.join("system");
    let begin = || {
        let mut command = command(Some(SECRET));
        command.arg("init").arg(&dir).args(["--segment-bytes", "1 MiB"]);
        command.args(["--guess-memory", "64 KiB", "--guess-passes", "1"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for _ in 0..3 {
        let _ = fs::remove_dir_all(&dir);
        let running: Vec<_> = (0..4).map(|_| begin()).collect();
        let ended = running.into_iter().map(|one| Ended::of(&one.finish_in_time().unwrap()));
        let ended: Vec<Ended> = ended.collect();
        let done = ended.iter().filter(|one| one.code == 0).count();
        let printed: Vec<&String> = ended.iter().map(|one| &one.err).collect();
        assert_eq!(done, 1, "{printed:?}");
        // By what it found of the other one: its key file, its lock, its mark in a folder.
        let codes = ["(HFY002)", "(HFY005)", "(HFY037)"];
        let refused = |one: &&Ended| codes.iter().any(|code| one.err.contains(code));
        assert_eq!(ended.iter().filter(refused).count(), 3, "{printed:?}");
        is_sound(&dir);
    }
}

#[test]
fn two_systems_never_have_data_in_one_folder() {
    let folder = Folder::new("places-data");
    let shared = folder.join("shared");
    fs::create_dir(&shared).unwrap();
    let (one, other) = (system(&folder, "one"), system(&folder, "other"));
    for dir in [&one, &other] {
        set(dir, "[data]", &format!("folders = [\"{}\"]", text(&shared)));
    }
    on(SECRET, &["sets", "create"], &one, &["ACCOUNTS"]).done();
    let before = files(&shared);
    let refused = on(SECRET, &["sets", "create"], &other, &["ACCOUNTS"]);
    refused.failed("HFY037", &[&text(&shared), "data sets", "holdfast.toml"]);
    // One that is only looked at is refused as well, and a new one.
    on(SECRET, &["init"], &folder.join("third"), &["--log-copy", "log"]).done();
    unchanged(&before, &files(&shared));
    is_sound(&one);
    set(&other, "[data]", "folders = [\"data\"]");
    on(SECRET, &["sets", "create"], &other, &["ACCOUNTS"]).done();
    is_sound(&other);
}

#[test]
fn two_systems_never_have_a_write_ahead_data_set_or_a_copy_of_recon_in_one_folder() {
    let folder = Folder::new("places-wads");
    for (section, setting) in [("[log]", "write_ahead = ["), ("[recon]", "second = ")] {
        let name = section.trim_matches(['[', ']']);
        let shared = folder.join(&format!("shared-{name}"));
        fs::create_dir(&shared).unwrap();
        let (one, other) =
            (system(&folder, &format!("one-{name}")), system(&folder, &format!("two-{name}")));
        let end = if setting.ends_with('[') { "]" } else { "" };
        for dir in [&one, &other] {
            set(dir, section, &format!("{setting}\"{}\"{end}", text(&shared)));
        }
        on(SECRET, &["restart"], &one, &[]).done();
        let before = files(&shared);
        let refused = on(SECRET, &["restart"], &other, &[]);
        refused.failed("HFY037", &[&text(&shared)]);
        unchanged(&before, &files(&shared));
        is_sound(&one);
    }
}

#[test]
fn the_home_of_a_system_is_no_folder_of_another_one() {
    let folder = Folder::new("places-home");
    let (one, other) = (system(&folder, "one"), system(&folder, "other"));
    let before = files(&one);
    for (section, setting) in
        [("[recon]", "second = \"../one\""), ("[data]", "folders = [\"../one\"]")]
    {
        let good = fs::read(other.join("holdfast.toml")).unwrap();
        set(&other, section, setting);
        on(SECRET, &["restart"], &other, &[]).failed("HFY037", &["../one"]);
        fs::write(other.join("holdfast.toml"), good).unwrap();
    }
    unchanged(&before, &files(&one));
    is_sound(&one);
    is_sound(&other);
}

#[test]
fn a_folder_whose_mark_was_lost_is_marked_again() {
    let folder = Folder::new("places-mark");
    let dir = system(&folder, "system");
    let mark = dir.join("data/holdfast.system");
    let printed = fs::read(&mark).unwrap();
    fs::remove_file(&mark).unwrap();
    is_sound(&dir);
    assert!(!mark.exists(), "who only looks makes none");
    on(SECRET, &["restart"], &dir, &[]).done();
    assert_eq!(fs::read(&mark).unwrap(), printed);
}

/// A system whose parts lie in folders of their own, and what it is restored from.
struct Spread {
    folder: Folder,
    dir: PathBuf,
}

impl Spread {
    fn new(name: &str) -> Spread {
        let folder = Folder::new(name);
        let dir = system(&folder, "first");
        let at = |name: &str| text(&folder.join(name));
        for name in ["data", "second", "ahead"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        fs::remove_file(dir.join("recon.2")).unwrap();
        set(&dir, "[data]", &format!("folders = [\"{}\"]", at("data")));
        set(&dir, "[recon]", &format!("second = \"{}\"", at("second")));
        set(&dir, "[log]", &format!("write_ahead = [\"{}\"]", at("ahead")));
        set(&dir, "[archive]", &format!("folders = [\"{}\"]", at("archive")));
        let source = folder.join("source");
        fs::write(&source, SOURCE).unwrap();
        on(SECRET, &["gen", "-s"], &dir, &[&text(&source)]).done();
        on(SECRET, &["load", "-s"], &dir, &["PAUTDB", GENUINE]).done();
        on(SECRET, &["image-copy", "-s"], &dir, &["--all", "--to", &at("copies")]).done();
        on(SECRET, &["archive", "now", "-s"], &dir, &[]).done();
        Spread { folder, dir }
    }

    fn at(&self, name: &str) -> String {
        text(&self.folder.join(name))
    }

    /// Restores beside the first one, with a configuration that was changed.
    fn restore(&self, change: impl Fn(String) -> String) -> Ended {
        let config = fs::read_to_string(self.dir.join("holdfast.toml")).unwrap();
        let path = self.folder.join("config");
        fs::write(&path, change(config)).unwrap();
        let (keys, copies) = (text(&self.dir.join("holdfast.keys")), self.at("copies"));
        let rest = ["--keys", &keys, "--config", &text(&path), "--copies", &copies];
        on(SECRET, &["restore"], &self.folder.join("second-life"), &rest)
    }
}

#[test]
fn a_restore_beside_the_original_takes_none_of_its_files() {
    let spread = Spread::new("places-restore");
    let held = ["first", "data", "second", "ahead"];
    let all = || {
        let mut all = BTreeMap::new();
        held.iter().for_each(|name| all.extend(files(&spread.folder.join(name))));
        all
    };
    let before = all();
    let elsewhere = |moved: &[&str]| {
        spread.restore(|mut config| {
            for name in moved {
                config = config.replace(&format!("\"{}\"", spread.at(name)), "\"own\"");
            }
            config
        })
    };
    // One place after the other is given up, and the next one is in the way.
    for moved in 0..4 {
        let names = ["second", "ahead", "data"];
        let refused = elsewhere(&names[..moved]).failed("HFY002", &[]);
        // Data sets come back to where they were, whatever the configuration says.
        let in_the_way = names[moved.min(2)];
        assert!(refused.err.contains(&spread.at(in_the_way)), "{in_the_way}: {}", refused.err);
        unchanged(&before, &all());
    }
    is_sound(&spread.dir);
    // The machine is another one: its data is not there.
    let (data, kept) = (spread.folder.join("data"), spread.folder.join("kept"));
    fs::rename(&data, &kept).unwrap();
    let restored = elsewhere(&["second", "ahead", "data"]).done();
    assert!(data.exists(), "{}", restored.err);
    fs::remove_dir_all(&data).unwrap();
    fs::rename(&kept, &data).unwrap();
    unchanged(&before, &all());
    is_sound(&spread.dir);
}

#[test]
fn a_restore_that_fails_takes_nothing_of_another_system_away() {
    let spread = Spread::new("places-failed");
    let other = system(&spread.folder, "other");
    let before = files(&other);
    // Its own data sets would stand in the way first.
    fs::rename(spread.at("data"), spread.at("data.kept")).unwrap();
    let refused = spread.restore(|mut config| {
        for name in ["data", "second", "ahead"] {
            config = config.replace(&format!("\"{}\"", spread.at(name)), "\"own\"");
        }
        config.replace("copies = [\"log\"]", "copies = [\"log\", \"../other/log\"]")
    });
    assert!(refused.err.contains("other/log"), "{}", refused.err);
    refused.failed("HFY002", &[]);
    unchanged(&before, &files(&other));
    is_sound(&other);
}

/// A system with [`SOURCES`].
fn shop(name: &str) -> (Folder, PathBuf) {
    let folder = Folder::new(name);
    let dir = system(&folder, "system");
    let source = folder.join("sources");
    fs::write(&source, SOURCES).unwrap();
    on(SECRET, &["gen", "-s"], &dir, &[&text(&source)]).done();
    (folder, dir)
}

#[test]
fn no_output_takes_the_place_of_a_file_of_the_system() {
    let (folder, dir) = shop("places-outputs");
    let before = files(&dir);
    let set_of = before.keys().find(|path| path.to_string_lossy().contains("/data/SHOPDB"));
    let own = ["holdfast.keys", "holdfast.toml", "control", "double-write", "recon.1", "recon.2"];
    let mut own: Vec<PathBuf> = own.map(|name| dir.join(name)).into();
    own.extend(["log/segment-000", "data/holdfast.system"].map(|name| dir.join(name)));
    own.extend(set_of.cloned());
    // By other ways, too.
    let (link, second, round) =
        (folder.join("link"), folder.join("second"), dir.join("../system/holdfast.keys"));
    std::os::unix::fs::symlink(dir.join("recon.1"), &link).unwrap();
    fs::hard_link(dir.join("holdfast.keys"), &second).unwrap();
    own.extend([link, second, round]);
    for path in own.iter().map(|path| text(path)) {
        for dd in ["OUTFILE", "PUNCHDD"] {
            let dd = format!("{dd}={path}");
            let cards = WRITE;
            issue(&dir, &["--psb", "CLERK", "--pcb", "4", "--dd", &dd], cards)
                .failed("HFY036", &[&path]);
        }
        let rest = ["SHOPDB", &path, "--replace"];
        on(SECRET, &["unload", "-s"], &dir, &rest).failed("HFY036", &[&path]);
        let batch = |more: &[&str]| {
            let words = ["--psb", "CLERK", "--program", "none.cbl"];
            on(SECRET, &["batch", "-s"], &dir, &[&words, more].concat())
        };
        batch(&["--trace", &path]).failed("HFY036", &[&path]);
        batch(&["--dd", &format!("SYSOUT={path}")]).failed("HFY036", &[&path]);
        unchanged(&before, &files(&dir));
    }
    // What stands beside them is nobody's.
    let free = format!("OUTFILE={}", text(&dir.join("out.dat")));
    issue(&dir, &["--psb", "CLERK", "--pcb", "4", "--dd", &free], WRITE).done();
    assert_eq!(fs::read(dir.join("out.dat")).unwrap(), b"WRITTEN.");
    is_sound(&dir);
}

#[test]
fn a_started_system_lets_no_program_write_to_its_files() {
    let (_folder, dir) = shop("places-bmp");
    let started = start(&dir);
    let keys = fs::read(dir.join("holdfast.keys")).unwrap();
    let dd = format!("OUTFILE={}", text(&dir.join("holdfast.keys")));
    let step = ["--type", "bmp", "--psb", "CLERK", "--pcb", "4", "--dd", &dd];
    let refused = issue(&dir, &step, WRITE);
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    assert!(started.finish_in_time().unwrap().status.success());
    refused.failed("HFY036", &["key file"]);
    assert_eq!(fs::read(dir.join("holdfast.keys")).unwrap(), keys);
}

/// A program with two outputs: one by a name, one by a path in its source.
const WRITER: &str = "       IDENTIFICATION DIVISION.
       PROGRAM-ID. WRITER.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT NAMED ASSIGN TO OUTF FILE STATUS IS NAMED-S.
           SELECT GIVEN ASSIGN TO
               'LITERAL'
               FILE STATUS IS GIVEN-S.
       DATA DIVISION.
       FILE SECTION.
       FD  NAMED.
       01  NAMED-R PIC X(8).
       FD  GIVEN.
       01  GIVEN-R PIC X(8).
       WORKING-STORAGE SECTION.
       01  NAMED-S PIC XX.
       01  GIVEN-S PIC XX.
       PROCEDURE DIVISION.
           ENTRY 'DLITCBL'.
           OPEN OUTPUT NAMED.
           OPEN OUTPUT GIVEN.
           DISPLAY 'OPEN ' NAMED-S '/' GIVEN-S.
           DISPLAY 'PUNCHED' UPON SYSPUNCH.
           GOBACK.
";

/// The story: `DD_OUTF`, `dd_OUTF`, `OUTF` or `COB_DISPLAY_PUNCH_FILE` in the environment, or a
/// path in the source, led a program past `--dd` to the key file, and the system was lost.
#[test]
fn neither_the_environment_nor_a_source_leads_a_program_to_a_file_of_a_system() {
    if Command::new("cobc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
        return;
    }
    let (folder, dir) = shop("places-environment");
    let keys = dir.join("holdfast.keys");
    let (before, program) = (fs::read(&keys).unwrap(), folder.join("writer.cbl"));
    // The name is short enough for a line of the source.
    let near = std::env::temp_dir().join(format!("hfk{}", std::process::id()));
    let _ = fs::remove_file(&near);
    std::os::unix::fs::symlink(&keys, &near).unwrap();
    fs::write(&program, WRITER.replace("LITERAL", &text(&near))).unwrap();
    let step = |variable: &str, more: &[&str]| {
        let mut step = command(Some(SECRET));
        step.args(["batch", "-s"]).arg(&dir).args(["--psb", "CLERK", "--program"]).arg(&program);
        step.args(more);
        if !variable.is_empty() {
            step.env(variable, &keys);
        }
        Ended::of(&step.output_in_time().unwrap()).done()
    };
    for variable in ["DD_OUTF", "dd_OUTF", "OUTF", "COB_DISPLAY_PUNCH_FILE"] {
        let ended = step(variable, &[]);
        assert!(ended.out.contains("OPEN 30/37"), "{variable}: {}{}", ended.out, ended.err);
        assert!(ended.err.contains("HFY036") && ended.err.contains("no --dd for"), "{}", ended.err);
        assert_eq!(fs::read(&keys).unwrap(), before, "{variable}");
    }
    let out = folder.join("out");
    let ended = step("", &["--dd", &format!("OUTF={}", text(&out))]);
    assert!(ended.out.contains("OPEN 00/37"), "{}{}", ended.out, ended.err);
    let mode = fs::metadata(&out).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "its owner's alone");
    let compiled = fs::read_dir(dir.join("programs")).unwrap().map(|one| one.unwrap());
    let mut compiled = compiled.filter(|one| one.file_type().unwrap().is_dir()).peekable();
    assert!(compiled.peek().is_some());
    assert!(compiled.all(|one| one.metadata().unwrap().permissions().mode() & 0o77 == 0));
    let _ = fs::remove_file(&near);
    is_sound(&dir);
}

#[test]
fn no_output_takes_the_place_of_a_file_of_another_system() {
    let (folder, dir) = shop("places-others");
    let other = system(&folder, "other");
    let before = files(&other);
    let copy = folder.join("keys.backup");
    fs::copy(other.join("holdfast.keys"), &copy).unwrap();
    let kept = fs::read(&copy).unwrap();
    let mut targets = vec![copy.clone(), other.join("holdfast.toml"), other.join("lock")];
    targets.extend(before.keys().filter(|path| path.to_string_lossy().contains("/data/")).cloned());
    for path in targets.iter().map(|path| text(path)) {
        let words = ["--psb", "CLERK", "--program", "none.cbl", "--dd"];
        let dd = format!("SYSOUT={path}");
        on(SECRET, &["batch", "-s"], &dir, &[&words[..], &[&dd]].concat())
            .failed("HFY036", &[&path, "another system"]);
        let dd = format!("OUTFILE={path}");
        issue(&dir, &["--psb", "CLERK", "--pcb", "4", "--dd", &dd], WRITE)
            .failed("HFY036", &[&path]);
    }
    unchanged(&before, &files(&other));
    assert_eq!(fs::read(&copy).unwrap(), kept);
}

/// A plan for `drive` that reaches nobody.
const PLAN: &str = "[[mix]]\nname = \"pay\"\nsegments = [\"PAY {unique:4}\"]\n";

/// The story: `pgp` and `drive` know of no system, and their outputs took the place of key files.
#[test]
fn no_output_of_a_command_without_a_system_takes_the_place_of_a_file_of_one() {
    let folder = Folder::new("places-alone");
    let dir = system(&folder, "system");
    let before = files(&dir);
    let at = |name: &str| text(&folder.join(name));
    let holdfast = |words: &[&str]| {
        let mut command = command(Some(SECRET));
        command.args(words).env("HOLDFAST_PGP_HOME", at("ring"));
        Ended::of(&command.output_in_time().unwrap())
    };
    let user = "Ada <ada@example.org>";
    holdfast(&["pgp", "generate", "--alias", "me", "--no-passphrase", user]).done();
    fs::write(folder.join("in"), "WAGES").unwrap();
    fs::write(folder.join("plan"), PLAN).unwrap();
    fs::write(folder.join("cards"), "RSA=me\n").unwrap();
    let (input, plan, message) = (at("in"), at("plan"), at("in.pgp"));
    holdfast(&["pgp", "encrypt", "-r", "me", &input]).done();
    // Its own files, one that was lost, and a copy and a link elsewhere.
    fs::copy(dir.join("holdfast.keys"), folder.join("backup")).unwrap();
    std::os::unix::fs::symlink(dir.join("recon.1"), folder.join("link")).unwrap();
    let kept = fs::read(folder.join("backup")).unwrap();
    let mut targets: Vec<PathBuf> = before.keys().cloned().collect();
    targets.extend(["backup", "link", "system/holdfast.restoring"].map(|name| folder.join(name)));
    let (pay, card) = (format!("SYSUT1={input}"), format!("SYSIN={}", at("cards")));
    let (sealed, other) = (format!("SYSUT1={message}"), format!("SYSUT2={}", at("out")));
    let drive = ["drive", "--connect", "127.0.0.1:9", "--time", "0.1", &plan];
    for path in targets.iter().map(|path| text(path)) {
        let (data, report) = (format!("SYSUT2={path}"), format!("SYSPRINT={path}"));
        let answer: [&[&str]; 17] = [
            &["pgp", "encrypt", "--yes", "-r", "me", "-o", &path, &input],
            &["pgp", "-e", "-rA", "me", "-o", &path, &input],
            &["pgp", "decrypt", "--yes", "-o", &path, &message],
            &["pgp", "decrypt", "--yes", "--unverified-stream", "-o", &path, &message],
            &["pgp", "sign", "--yes", "--with", "me", "-o", &path, &input],
            &["pgp", "sign", "--yes", "--detached", "--with", "me", "-o", &path, &input],
            &["pgp", "compress", "--yes", "-o", &path, &input],
            &["pgp", "export", "me", "--yes", "-o", &path],
            &["pgp", "export", "me", "--secret", "--yes", "-o", &path],
            &["pgp", "verify", "--yes", "-o", &path, &message],
            &["pgp", "generate", "--alias", "new", "--keystore", &path, user],
            &["pgp", "csdfilen", "--dd", &pay, "--dd", &data, "--dd", &card],
            &["pgp", "csdfilen", "--dd", &pay, "--dd", &other, "--dd", &card, "--dd", &report],
            &["pgp", "csdfilde", "--dd", &sealed, "--dd", &data],
            &["pgp", "csdfilde", "--dd", &sealed, "--dd", &other, "--dd", &report],
            &[&drive[..], &["--html", &path]].concat(),
            &[&drive[..], &["--ledger", &path]].concat(),
        ];
        for words in answer {
            holdfast(words).failed("HFY036", &[&path]);
        }
        assert!(!folder.join("out").exists(), "nothing is made beside a report");
        unchanged(&before, &files(&dir));
    }
    assert_eq!(fs::read(folder.join("backup")).unwrap(), kept);
    is_sound(&dir);
}

/// The story: the key file of a started system was removed; it stopped without a word, and never
/// started again.
#[test]
fn a_system_without_its_key_file_says_so_and_stops_with_it() {
    let (_folder, dir) = shop("places-keys");
    let keys = dir.join("holdfast.keys");
    for spoil in [None, Some(&b"A RECORD"[..])] {
        let started = start(&dir);
        match spoil {
            None => fs::remove_file(&keys).unwrap(),
            Some(bytes) => fs::write(&keys, bytes).unwrap(),
        }
        let status = on(SECRET, &["status"], &dir, &[]).done();
        assert!(status.out.contains("--keys"), "{}", status.out);
        on(SECRET, &["stop", "-s"], &dir, &[]).done();
        let stopped = started.finish_in_time().unwrap();
        assert!(stopped.status.success());
        let printed = String::from_utf8_lossy(&stopped.stderr).into_owned();
        assert!(printed.contains("it is written anew"), "{printed}");
        is_sound(&dir);
    }
    assert_eq!(fs::read(dir.join("holdfast.keys.found")).unwrap(), b"A RECORD");
}

#[test]
fn a_step_never_writes_the_file_that_it_reads() {
    let (folder, dir) = shop("places-same");
    let (orders, link) = (folder.join("orders"), folder.join("link"));
    fs::write(&orders, "ORDER  1ORDER  2").unwrap();
    std::os::unix::fs::symlink(&orders, &link).unwrap();
    for output in [&orders, &link] {
        let (input, out) =
            (format!("INFILE={}", text(&orders)), format!("OUTFILE={}", text(output)));
        let step = ["--psb", "CLERK", "--pcb", "4", "--dd", &input, "--dd", &out];
        issue(&dir, &step, WRITE).failed("HFJ008", &["INFILE", "OUTFILE", &text(output)]);
        assert_eq!(fs::read(&orders).unwrap(), b"ORDER  1ORDER  2");
    }
    let step =
        ["--psb", "CLERK", "--pcb", "4", "--dd", "INFILE=/dev/null", "--dd", "OUTFILE=/dev/null"];
    issue(&dir, &step, WRITE).done();
}

#[test]
fn an_anchor_is_no_file_of_the_system() {
    let folder = Folder::new("places-anchor");
    let dir = system(&folder, "system");
    // What has bytes is no anchor; what is empty, or is to come, would be one.
    for name in ["lock", "log/segment-999", "data/A.000009.000", "holdfast.restoring"] {
        let before = files(&dir);
        set(&dir, "[anchor]", &format!("file = \"{name}\""));
        let refused = on(SECRET, &["restart"], &dir, &["--begin-anchor"]);
        refused.failed("HFY036", &[name, "anchor.file"]);
        let after = files(&dir);
        assert!(before.iter().all(|(path, bytes)| {
            path.ends_with("holdfast.toml") || after.get(path) == Some(bytes)
        }));
    }
    let other = system(&folder, "other");
    fs::remove_file(other.join("double-write")).unwrap();
    let before = files(&other);
    for name in ["double-write", "log/segment-999", "data/A.000009.000", "holdfast.restoring"] {
        let name = format!("../other/{name}");
        set(&dir, "[anchor]", &format!("file = \"{name}\""));
        let refused = on(SECRET, &["restart"], &dir, &["--begin-anchor"]);
        refused.failed("HFY036", &[&name, "anchor.file", "another system"]);
        unchanged(&before, &files(&other));
    }
    set(&dir, "[anchor]", "file = \"../anchor\"");
    on(SECRET, &["restart"], &dir, &["--begin-anchor"]).done();
    is_sound(&dir);
    assert!(run(["status", &text(&dir)]).code == 0);
}
