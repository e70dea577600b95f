//! Redirected clusters from the command line: COBOL programs and control statements do not notice,
//! the table has the same, and what is sent on comes while the system runs and when a step ends.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::postgres::Server;
use crate::common::shop::SHOP;
use crate::common::{Ended, Folder, SECRET, command, on, start, system_of};

fn idcams(dir: &Path, statements: &str) -> Ended {
    let mut command = command(Some(SECRET));
    command.arg("idcams").arg("-s").arg(dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(statements.as_bytes()).unwrap();
    Ended::of(&child.finish_in_time().unwrap())
}

const BOOK: &str = "       01 ACCOUNT.
          05 ACCT-NO PIC X(4).
          05 OWNER PIC X(6).
          05 BALANCE PIC S9(7)V99 COMP-3.
";

/// Writes two accounts, changes one, and reads all.
const PROGRAM: &str = "       IDENTIFICATION DIVISION.
       PROGRAM-ID. ACCTS.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT ACCT-F ASSIGN TO ACCT ORGANIZATION INDEXED
               ACCESS DYNAMIC RECORD KEY IS ACCT-NO FILE STATUS IS STAT.
       DATA DIVISION.
       FILE SECTION.
       FD  ACCT-F.
       01  ACCT-RECORD.
           05  ACCT-NO PIC X(4).
           05  OWNER PIC X(6).
           05  BALANCE PIC S9(7)V99 COMP-3.
       WORKING-STORAGE SECTION.
       01  STAT PIC XX.
       01  SHOWN PIC -(7)9.99.
       PROCEDURE DIVISION.
           OPEN I-O ACCT-F
           DISPLAY 'OPEN ' STAT
           MOVE '0002' TO ACCT-NO MOVE 'EVA' TO OWNER
           MOVE -12.34 TO BALANCE
           WRITE ACCT-RECORD
           DISPLAY 'WRITE ' STAT
           WRITE ACCT-RECORD
           DISPLAY 'AGAIN ' STAT
           MOVE '0001' TO ACCT-NO
           READ ACCT-F
           DISPLAY 'READ ' STAT
           ADD 0.01 TO BALANCE
           REWRITE ACCT-RECORD
           DISPLAY 'REWRITE ' STAT
           MOVE LOW-VALUES TO ACCT-NO
           START ACCT-F KEY NOT < ACCT-NO
           PERFORM UNTIL STAT NOT = '00'
             READ ACCT-F NEXT
               NOT AT END MOVE BALANCE TO SHOWN
                 DISPLAY ACCT-NO ' ' OWNER ' ' SHOWN
             END-READ
           END-PERFORM
           CLOSE ACCT-F
           DISPLAY 'CLOSE ' STAT
           GOBACK.
";

const DEFINE: &str = "  DEFINE CLUSTER (NAME(BANK.ACCT) INDEXED KEYS(4 0) RECORDSIZE(15 15))\n";

fn run(dir: &Path, program: &Path, kind: &str) -> Ended {
    let program = ["--psb", "CLERK", "--program", program.to_str().unwrap(), "--type", kind];
    let rest = ["--dd", "ACCT=//BANK.ACCT", "--dd", "SYSOUT=/dev/stdout"];
    on(SECRET, &["batch", "-s"], dir, &[&program[..], &rest].concat())
}

fn redirect(dir: &Path, words: &[&str]) -> Ended {
    on(SECRET, &["redirect", words[0], "-s"], dir, &words[1..])
}

#[test]
fn a_program_finds_its_file_wherever_it_is() {
    let Some(server) = Server::start() else { return };
    if Command::new("cobc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cobc is not installed");
        return;
    }
    let (folder, dir) = system_of("redirected", SHOP, "");
    let (program, book) = (folder.join("ACCTS.cbl"), folder.join("account.cpy"));
    fs::write(&program, PROGRAM).unwrap();
    fs::write(&book, BOOK).unwrap();
    idcams(&dir, DEFINE).done();
    let mapped = ["BANK.ACCT", book.to_str().unwrap()];
    let map = on(SECRET, &["recmap", "define", "-s"], &dir, &mapped).done();
    assert!(map.out.contains("number of 9 digits, 2 behind the point"), "{}", map.out);

    // The table has the records.
    let url = server.url();
    let to = ["add", "BANK.ACCT", "--owner", "redir", "--to", &url, "--table", "accounts"];
    redirect(&dir, &to).done();
    server.psql("INSERT INTO accounts VALUES ('0001', '0001', 'ANNA', 100)");
    let ended = run(&dir, &program, "dli").done();
    let wanted = "OPEN 00\nWRITE 00\nAGAIN 22\nREAD 00\nREWRITE 00\n\
                  0001 ANNA        100.01\n0002 EVA         -12.34\nCLOSE 00\n";
    assert!(ended.out.contains(wanted), "{}{}", ended.out, ended.err);
    let rows = || server.psql("SELECT acct_no, owner, balance FROM accounts ORDER BY hf_key");
    assert_eq!(rows(), "0001|ANNA|100.01\n0002|EVA|-12.34");
    let looked = on(SECRET, &["look", "-s"], &dir, &["BANK.ACCT", "--from", "0002"]).done();
    assert!(looked.out.contains("BALANCE                         -12.34"), "{}", looked.out);
    assert!(!looked.out.contains("ANNA"), "{}", looked.out);
    let listed = idcams(&dir, "  LISTCAT ENTRIES(BANK.ACCT) ALL\n").done();
    assert!(listed.out.contains("OWNER--------------REDIR"), "{}", listed.out);
    redirect(&dir, &["remove", "BANK.ACCT"]).done();

    records_are_here(&folder, &dir, &server);
    run(&dir, &program, "dli").done();
    assert_eq!(rows(), "0001|ANNA|100.01\n0002|EVA|-12.34");
    a_system_runs(&dir, &program);
    assert_eq!(rows(), "0001|ANNA|100.02\n0002|EVA|-12.34");
    drop(server);
    nobody_is_there(&dir, &program);
}

/// The records are here, and changes are sent on when a step has ended.
fn records_are_here(folder: &Folder, dir: &Path, server: &Server) {
    let url = server.url();
    server.psql("DELETE FROM accounts");
    let line = "0001ANNA  \u{0}\u{0}\u{10}\u{0}\u{c}";
    fs::write(folder.join("in"), line).unwrap();
    let given = "  REPRO INFILE(IN) OUTDATASET(BANK.ACCT)\n";
    let mut load = command(Some(SECRET));
    load.arg("idcams").arg("-s").arg(dir).arg("--dd");
    load.arg(format!("IN={},fb=15", folder.join("in").display()));
    load.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = load.spawn().unwrap();
    child.stdin.take().unwrap().write_all(given.as_bytes()).unwrap();
    Ended::of(&child.finish_in_time().unwrap()).done();
    let to = ["add", "BANK.ACCT", "--owner", "vsam", "--to", &url, "--table", "accounts", "--copy"];
    let added = redirect(dir, &to).done();
    assert!(added.out.contains("changes sent: 1"), "{}", added.out);
}

/// While a system runs, changes are sent on as they are committed.
fn a_system_runs(dir: &Path, program: &Path) {
    let mut started = start(dir);
    let ended = run(dir, program, "bmp");
    let mut status = redirect(dir, &["status", "BANK.ACCT", "--json"]);
    while status.code == 0 && status.json()["clusters"][0]["unsent"] != 0 {
        status = redirect(dir, &["status", "BANK.ACCT", "--json"]);
    }
    on(SECRET, &["stop", "-s"], dir, &[]).done();
    started.wait_in_time().unwrap();
    assert!(ended.out.contains("WRITE 22"), "{}{}", ended.out, ended.err);
    let status = status.done().json();
    assert_eq!(status["clusters"][0]["batch"], status["clusters"][0]["received"]);
}

/// Nothing is lost, and it is told.
fn nobody_is_there(dir: &Path, program: &Path) {
    let ended = run(dir, program, "dli").done();
    assert!(ended.err.contains("they are kept, and sent later"), "{}", ended.err);
    let status = redirect(dir, &["status"]);
    assert!(status.code == 1 && status.out.contains("cannot be reached"), "{}", status.out);
    let listed = redirect(dir, &["list", "--json"]).done().json();
    assert_eq!(listed["clusters"][0]["unsent"], 1);
    let resent = redirect(dir, &["resend", "BANK.ACCT"]);
    assert!(resent.code == 1 && resent.err.contains("HFRD001"), "{}", resent.err);
    let kept = redirect(dir, &["remove", "BANK.ACCT"]);
    assert!(kept.code == 1 && kept.err.contains("HFVS015"), "{}", kept.err);
    redirect(dir, &["remove", "BANK.ACCT", "--discard"]).done();
}

#[test]
fn what_is_no_redirection_is_refused_with_what_to_do() {
    let (_folder, dir) = system_of("redirected-badly", SHOP, "");
    idcams(&dir, DEFINE).done();
    let password = ["add", "BANK.ACCT", "--owner", "vsam", "--to", "postgres://me:x@db/bank"];
    let refused = redirect(&dir, &password);
    assert!(refused.code == 1 && refused.err.contains("PGPASSFILE"), "{}", refused.err);
    let strange = redirect(&dir, &["add", "BANK.ACCT", "--owner", "vsam", "--to", "ftp://there"]);
    assert!(strange.code == 1 && strange.err.contains("HFRD003"), "{}", strange.err);
    let missing = redirect(&dir, &["add", "BANK.NONE", "--owner", "vsam", "--to", "ftp://there"]);
    assert!(missing.code == 1 && missing.err.contains("HFVS001"), "{}", missing.err);
    let none = redirect(&dir, &["remove", "BANK.ACCT"]);
    assert!(none.code == 1 && none.err.contains("HFRD002"), "{}", none.err);
    assert!(redirect(&dir, &["list"]).done().out.contains("nothing is redirected"));
    let unmapped = on(SECRET, &["look", "-s"], &dir, &["BANK.ACCT"]);
    assert!(unmapped.code == 1 && unmapped.out.contains("RECORDMAP"), "{}", unmapped.out);
    on(SECRET, &["look", "-s"], &dir, &["BANK.ACCT", "--dump"]).done();
}
