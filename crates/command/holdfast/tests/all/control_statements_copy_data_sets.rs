//! IDCAMS statements over a system: what they make stays, exit codes and JSON say how it went, and
//! nobody gets in beside a started system.
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
