//! IDCAMS statements over a system: what they make stays, exit codes and JSON say how it went, and
//! no process gets in beside a started system.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::{Ended, Folder, SECRET, command, init, on, start};

/// Executes statements.
fn idcams(dir: &Path, rest: &[&str], statements: &str) -> Ended {
    let mut command = command(Some(SECRET));
    command.arg("idcams").arg("-s").arg(dir).args(rest);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(statements.as_bytes());
    Ended::of(&child.finish_in_time().unwrap())
}

#[test]
fn control_statements_copy_data_sets() {
    let folder = Folder::new("idcams");
    let dir = folder.join("system");
    init(&dir, &[]);
    let lines: String = (1..=2000).map(|number| format!("{number:08} name {number}\n")).collect();
    let (input, output) = (folder.join("in.txt"), folder.join("out.txt"));
    fs::write(&input, &lines).unwrap();
    let given = format!("IN={},text", input.display());
    let define = "  DEFINE CLUSTER (NAME(BANK.ACCT) INDEXED KEYS(8 0) RECORDSIZE(40 80))\n  \
                  DEFINE AIX (NAME(BANK.AIX) RELATE(BANK.ACCT) KEYS(4 9) NONUNIQUEKEY)\n  \
                  DEFINE PATH (NAME(BANK.PATH) PATHENTRY(BANK.AIX))\n  \
                  IF LASTCC = 0 THEN REPRO INFILE(IN) OUTDATASET(BANK.ACCT)\n";
    let made = idcams(&dir, &["--dd", &given], define).done();
    for word in ["NUMBER OF RECORDS PROCESSED WAS 2000", "MAXIMUM CONDITION CODE WAS 0"] {
        assert!(made.out.contains(word), "{}", made.out);
    }
    // Another process finds it, by both names.
    let taken = format!("OUT={},text", output.display());
    let copy = "  REPRO INDATASET(BANK.ACCT) OUTFILE(OUT)\n";
    idcams(&dir, &["--dd", &taken], copy).done();
    assert_eq!(fs::read_to_string(&output).unwrap(), lines);
    let through = ["--dd", &taken, "--dd", "IN=BANK.PATH"];
    idcams(&dir, &through, "  REPRO INFILE(IN) OUTFILE(OUT) COUNT(2)\n").done();
    assert_eq!(fs::read_to_string(&output).unwrap().lines().count(), 2);
    let list = idcams(&dir, &["--json"], "  LISTCAT ENTRIES(BANK.NONE BANK.ACCT)\n").done().json();
    assert_eq!(
        (&list["condition_code"], &list["commands"][0]["command"]),
        (&4.into(), &"LISTCAT".into())
    );
    assert_eq!(list["commands"][0]["messages"][0]["id"], "IDC3012I");
    let twice = idcams(&dir, &["--dd", &given], "  REPRO INFILE(IN) OUTDATASET(BANK.ACCT)\n");
    assert!(twice.code == 1 && twice.out.contains("IDC31467I"), "{}", twice.out);
    assert_eq!(idcams(&dir, &["--dd", "nothing"], "").code, 2);
    let own = format!("OUT={}", dir.join("holdfast.toml").display());
    let refused = idcams(&dir, &["--dd", &own], copy);
    assert!(refused.code == 1 && refused.out.contains("IDC3300I"), "{}", refused.out);
    assert!(fs::read_to_string(dir.join("holdfast.toml")).unwrap().contains("[data]"));
}

#[test]
fn no_file_is_read_and_written_at_once_whatever_names_it_has() {
    let folder = Folder::new("idcams-same");
    let dir = folder.join("system");
    init(&dir, &[]);
    let [own, link, hard] = ["own.dat", "link.dat", "hard.dat"].map(|name| folder.join(name));
    let records = "0001abcd0002efgh";
    fs::write(&own, records).unwrap();
    std::os::unix::fs::symlink(&own, &link).unwrap();
    fs::hard_link(&own, &hard).unwrap();
    let input = format!("IN={},fb=8", own.display());
    let other = folder.join("./own.dat");
    let refused = |names: &[&str], statements: &str, code: i32| {
        let ended = idcams(&dir, names, statements);
        assert_eq!(ended.code, code, "{statements} {names:?}: {}{}", ended.out, ended.err);
        assert_eq!(fs::read_to_string(&own).unwrap(), records, "{statements} {names:?}");
    };
    let try_all = || {
        for same in [&other, &link, &hard] {
            let output = format!("OUT={},fb=8", same.display());
            let names = ["--dd", &input, "--dd", &output];
            refused(&names, "  REPRO INFILE(IN) OUTFILE(OUT)\n", 1);
            refused(&names, "  REPRO INFILE(IN) OUTFILE(OUT) NOREUSE\n", 1);
            refused(&names, "  PRINT INFILE(IN) OUTFILE(OUT)\n", 1);
            let print = format!("SYSPRINT={}", same.display());
            refused(&["--dd", &input, "--dd", &print], "  PRINT INFILE(IN)\n", 2);
        }
        refused(&["--dd", &input], "  PRINT INFILE(IN) OUTFILE(IN)\n", 1);
    };
    try_all();
    let mut started = start(&dir);
    try_all();
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    started.wait_in_time().unwrap();
    // Nor are statements lost.
    let statements = folder.join("statements");
    fs::write(&statements, "  LISTCAT\n").unwrap();
    let [from, to] = ["SYSIN", "SYSPRINT"].map(|name| format!("{name}={}", statements.display()));
    refused(&["--dd", &from, "--dd", &to], "", 2);
    assert_eq!(fs::read_to_string(&statements).unwrap(), "  LISTCAT\n");
}

#[test]
fn a_started_system_executes_statements_and_the_command_has_the_files() {
    let folder = Folder::new("idcams-started");
    let dir = folder.join("system");
    init(&dir, &[]);
    let mut started = start(&dir);
    let lines: String = (1..=3000).map(|number| format!("{number:08} name {number}\n")).collect();
    let (input, output) = (folder.join("in.txt"), folder.join("out.txt"));
    fs::write(&input, &lines).unwrap();
    let given = format!("IN={},text", input.display());
    let define = "  DEFINE CLUSTER (NAME(BANK.ACCT) INDEXED KEYS(8 0) -\n  \
                  RECORDSIZE(40 80))\n  \
                  REPRO INFILE(IN) OUTDATASET(BANK.ACCT)\n";
    let made = idcams(&dir, &["--dd", &given], define);
    let taken = format!("OUT={},text", output.display());
    let copy = "  REPRO INDATASET(BANK.ACCT) OUTFILE(OUT)\n";
    let copied = idcams(&dir, &["--json", "--dd", &taken], copy);
    let worse = idcams(&dir, &["--dd", &given], "  DELETE BANK.NONE\n  LISTCAT\n");
    let own = format!("OUT={}", dir.join("holdfast.toml").display());
    let refused = idcams(&dir, &["--dd", &own], copy);
    let mut stranger = command(Some("not the passphrase"));
    stranger.arg("idcams").arg("-s").arg(&dir).stdin(Stdio::null());
    let stranger = Ended::of(&stranger.output_in_time().unwrap());
    on(SECRET, &["stop", "-s"], &dir, &[]).done();
    started.wait_in_time().unwrap();
    assert!(made.out.contains("NUMBER OF RECORDS PROCESSED WAS 3000"), "{}{}", made.out, made.err);
    assert_eq!(fs::read_to_string(&output).unwrap(), lines);
    assert_eq!(copied.done().json()["condition_code"], 0);
    assert!(worse.code == 1 && worse.out.contains("BANK.ACCT"), "{}{}", worse.out, worse.err);
    assert!(refused.code == 1 && refused.out.contains("IDC3300I"), "{}", refused.out);
    assert!(fs::read_to_string(dir.join("holdfast.toml")).unwrap().contains("[data]"));
    assert!(stranger.code == 1 && !stranger.err.is_empty(), "{}{}", stranger.out, stranger.err);
    // What it has made is there when it is stopped.
    let list = idcams(&dir, &[], "  LISTCAT ENTRIES(BANK.ACCT) ALL\n").done();
    assert!(list.out.contains("3000"), "{}", list.out);
}

#[test]
fn a_folder_of_files_is_copied_as_a_control_file_says() {
    let folder = Folder::new("folder-copied");
    let dir = folder.join("system");
    init(&dir, &[]);
    let define = "  DEFINE CLUSTER (NAME(BANK.ONE) INDEXED KEYS(4 0) RECORDSIZE(8 8))\n  \
                  DEFINE CLUSTER (NAME(BANK.TWO) INDEXED KEYS(4 0) RECORDSIZE(8 8))\n";
    idcams(&dir, &[], define).done();
    let (there, back) = (folder.join("there"), folder.join("back"));
    fs::create_dir(&there).unwrap();
    fs::create_dir(&back).unwrap();
    fs::write(there.join("one.dat"), "0001abcd0002efgh").unwrap();
    fs::write(there.join("two.dat"), [0xf0, 0xf0, 0xf0, 0xf9, 0xc1, 0xc2, 0xc3, 0x40]).unwrap();
    fs::write(there.join("other"), "no").unwrap();
    let control = folder.join("in.toml");
    let rules = "[[copy]]\nfiles = \"o*.dat\"\ncluster = \"BANK.*\"\nform = \"fb=8\"\n\
                 [[copy]]\nfiles = \"t*.dat\"\ncluster = \"BANK.*\"\nform = \"fb=8\"\n\
                 ebcdic = \"037\"\n";
    fs::write(&control, rules).unwrap();
    let copy = |way: &str, folder: &Path, control: &Path| {
        let words = [way, folder.to_str().unwrap(), control.to_str().unwrap()];
        on(SECRET, &["copy", "-s"], &dir, &words)
    };
    // Without a record map nothing says what is text: that file is refused, the other is copied.
    let half = copy("in", &there, &control);
    assert!(half.code == 1 && half.out.contains("RECORDMAP"), "{}{}", half.out, half.err);
    let book = folder.join("book.cpy");
    fs::write(&book, "       01 R.\n          05 K PIC X(4).\n          05 V PIC X(4).\n").unwrap();
    let mapped = ["BANK.TWO", book.to_str().unwrap()];
    on(SECRET, &["recmap", "define", "-s"], &dir, &mapped).done();
    let again = rules.replace("fb=8\"\n", "fb=8\"\nreplace = true\n");
    fs::write(&control, again).unwrap();
    copy("in", &there, &control).done();
    let rules = "[[copy]]\nfiles = \"one.txt\"\ncluster = \"BANK.ONE\"\nform = \"text\"\n\
                 [[copy]]\nfiles = \"two.txt\"\ncluster = \"BANK.TWO\"\nform = \"text\"\n";
    fs::write(&control, rules).unwrap();
    copy("out", &back, &control).done();
    let text = |name: &str| fs::read_to_string(back.join(name)).unwrap();
    assert_eq!(
        (text("one.txt"), text("two.txt")),
        ("0001abcd\n0002efgh\n".into(), "0009ABC\n".into())
    );
    // A link is a name of the file that it leads to, which need not be there yet.
    for (first, link) in [("one.txt", "link.txt"), ("new.txt", "to-new.txt")] {
        std::os::unix::fs::symlink(first, back.join(link)).unwrap();
        fs::write(&control, rules.replace("one.txt", first).replace("two.txt", link)).unwrap();
        let same = copy("out", &back, &control);
        assert!(same.code == 1 && same.err.contains("would both be copied"), "{}", same.err);
    }
    assert!(text("one.txt").starts_with("0001abcd") && !back.join("new.txt").exists());
    // What a name gives matters only where `*` stands for it.
    fs::write(&control, rules.replace("one.txt", "a longer name.txt")).unwrap();
    copy("out", &back, &control).done();
    assert_eq!(text("a longer name.txt"), text("one.txt"));
    fs::write(&control, rules.replace("one.txt", "none*")).unwrap();
    let none = copy("in", &there, &control);
    assert!(none.code == 1 && none.err.contains("no file of"), "{}", none.err);
}
