//! What a user who sets up a step gets wrong is told: names that are nobody's, files that are no
//! sources, programs that cannot run here; and what killed programs leave in clear is removed.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::shop::SHOP;
use crate::common::{Ended, Folder, SECRET, command, issue, on, run, start, system_of};

const SOURCES: &str = "* A SHOP
         DBD   NAME=SHOPDB,ACCESS=(HDAM,OSAM),RMNAME=(HASHER,1,10)
         DATASET DD1=SHOPDD
         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=20
         FIELD NAME=(CUSTNO,SEQ,U),START=1,BYTES=8
         DBDGEN
         DBD   NAME=ORDERS,ACCESS=(GSAM,BSAM)
         DATASET DD1=INFILE,RECFM=F,RECORD=8
         DBDGEN
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=A,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PCB   TYPE=GSAM,DBDNAME=ORDERS,PROCOPT=GS
         PSBGEN LANG=COBOL,PSBNAME=CLERK,CMPAT=YES
         END
";

const PROGRAM: &str = "       IDENTIFICATION DIVISION.
       PROGRAM-ID. CLERK.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT OPTIONAL LISTING ASSIGN TO UT-S-PRINT.
       DATA DIVISION.
       FILE SECTION.
       FD  LISTING.
       01  LISTED PIC X(12).
       PROCEDURE DIVISION.
           DISPLAY 'AT WORK'.
           GOBACK.
";

fn have(compiler: &str) -> bool {
    let found = Command::new(compiler).arg("--version").output_in_time().is_ok();
    if !found {
        eprintln!("skipped: {compiler} is not installed");
    }
    found
}

fn written(folder: &Folder, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn batch(dir: &Path, program: &Path, rest: &[&str]) -> Ended {
    let program = ["--psb", "CLERK", "--program", program.to_str().unwrap()];
    on(SECRET, &["batch", "-s"], dir, &[&program, rest].concat())
}

#[test]
fn a_dd_that_nobody_uses_is_named() {
    if !have("cobc") {
        return;
    }
    let (folder, dir) = system_of("unused-dd", SOURCES, "");
    let program = written(&folder, "clerk.cbl", PROGRAM);
    let dd = |name: &str| format!("{name}={}", folder.join("nothing").display());
    let names = ["PRINT", "INFILE", "SHOPDD", "DFSVSAMP", "SORTWK01", "PRIMT"].map(dd);
    let dds: Vec<&str> = names.iter().flat_map(|dd| ["--dd", dd.as_str()]).collect();
    let ended = batch(&dir, &program, &dds).done();
    assert!(ended.err.contains("--dd PRIMT is not used: neither"), "{}", ended.err);
    assert_eq!(ended.err.matches("is not used").count(), 1, "{}", ended.err);
}

#[test]
fn a_section_of_no_database_is_named_when_definitions_are_stored() {
    let typo = "\n[database.SHOPDD]\nencoding = \"ascii\"\n";
    let (folder, dir) = system_of("typo", SOURCES, typo);
    let sources = written(&folder, "again", SOURCES);
    let sources = sources.to_str().unwrap();
    let ended = on(SECRET, &["gen", "-s"], &dir, &[sources]).done();
    let words = "[database.SHOPDD] of holdfast.toml has no effect: there is no database SHOPDD";
    assert!(ended.err.contains(words), "{}", ended.err);
    let config = dir.join("holdfast.toml");
    let right = fs::read_to_string(&config).unwrap().replace("SHOPDD", "SHOPDB");
    fs::write(&config, right).unwrap();
    let ended = on(SECRET, &["gen", "-s"], &dir, &[sources]).done();
    assert!(!ended.err.contains("no effect"), "{}", ended.err);
}

#[test]
fn a_file_that_is_named_as_a_source_has_to_be_one() {
    let (folder, dir) = system_of("named", SOURCES, "");
    let sources = written(&folder, "again", SOURCES);
    let sources = sources.to_str().unwrap();
    let notes = written(&folder, "notes.md", "# What there is to know\n");
    let notes = notes.to_str().unwrap();
    let ended = on(SECRET, &["gen", "-s"], &dir, &[sources, notes]);
    let ended = ended.failed("HFY100", &["HFG118", "notes.md is named as a source, but it is"]);
    assert!(ended.err.contains("leave it out"), "{}", ended.err);
    // In a folder it may lie.
    fs::create_dir(folder.join("lib")).unwrap();
    fs::write(folder.join("lib/notes.md"), "# What there is to know\n").unwrap();
    fs::write(folder.join("lib/shop"), SOURCES).unwrap();
    let library = folder.join("lib");
    let made = on(SECRET, &["gen", "-s"], &dir, &[library.to_str().unwrap()]).done();
    assert!(made.out.contains("notes.md: skipped"), "{}", made.out);
}

#[test]
fn programs_that_cannot_run_here_are_told_in_one_sentence() {
    let (folder, dir) = system_of("elsewhere", SOURCES, "");
    let exec = "           EXEC CICS RETURN END-EXEC.\n";
    let online = PROGRAM.replace("           GOBACK.\n", &exec.repeat(3));
    let online = written(&folder, "online.cbl", &online);
    let ended = batch(&dir, &online, &[]).failed("HFR023", &["for CICS", "in line 13 and 2 more"]);
    assert_eq!(ended.err.lines().filter(|line| line.contains("CICS")).count(), 1, "{}", ended.err);
    let pli = written(&folder, "clerk.pli", " CLERK: PROC OPTIONS(MAIN);\n END CLERK;\n");
    batch(&dir, &pli, &[]).failed("HFR022", &["clerk.pli is written in PL/I"]);
}

#[test]
fn a_program_for_terminals_is_told_to_be_one() {
    if !have("cc") {
        return;
    }
    let (folder, dir) = system_of("terminals", SOURCES, "");
    let text = "int CTDLI();\nint DLITCBL(void *io) { char area[200]; CTDLI(\"GU  \", io, area, \
                0); return 0; }\n";
    let program = written(&folder, "talk.c", text);
    let ended = batch(&dir, &program, &[]);
    assert!(ended.err.contains("this is a program for terminals: 1 of its calls"), "{}", ended.err);
    let json = batch(&dir, &program, &["--json"]);
    assert!(json.json()["notes"][0].as_str().unwrap().contains("no message queues"));
}

/// The story: records of a program that was killed stayed in clear for good, and what was torn in
/// `programs` by a power cut made a step fail until a user removed it by hand.
#[test]
fn what_a_killed_program_left_in_clear_goes_and_what_is_torn_is_made_anew() {
    let (folder, dir) = system_of("left", SOURCES, "");
    let records = dir.join("programs/records");
    fs::create_dir_all(&records).unwrap();
    let left = records.join("PRINT.2147483646");
    let kept = records.join("PRINT.2147483646.kept");
    fs::write(&left, "IN CLEAR").unwrap();
    fs::write(&kept, "IN CLEAR").unwrap();
    let ended = on(SECRET, &["verify"], &dir, &[]).done();
    assert!(ended.err.contains("PRINT.2147483646 is removed: a killed program"), "{}", ended.err);
    assert!(ended.err.contains("PRINT.2147483646.kept lies there in clear"), "{}", ended.err);
    assert!(!left.exists() && kept.exists());
    fs::write(&left, "IN CLEAR").unwrap();
    let system = start(&dir);
    assert!(!left.exists());
    run([&"stop".into(), &"-s".into(), &dir.clone().into_os_string()]).done();
    let printed = Ended::of(&system.finish_in_time().unwrap()).done();
    assert!(printed.err.contains("is removed: a killed program"), "{}", printed.err);
    if !have("cobc") {
        return;
    }
    let program = written(&folder, "clerk.cbl", PROGRAM);
    let dd = format!("PRINT={}", folder.join("print").display());
    batch(&dir, &program, &["--dd", &dd]).done();
    let mut torn = 0;
    for folder in fs::read_dir(dir.join("programs")).unwrap() {
        let object = folder.unwrap().path().join("program.so");
        if object.exists() {
            fs::write(object, "").unwrap();
            torn += 1;
        }
    }
    assert_eq!(torn, 1);
    let ended = batch(&dir, &program, &["--dd", &dd]).done();
    assert!(ended.out.contains("AT WORK"), "{}", ended.out);
}

/// With `--json` a program that reads standard output gets the report and nothing else.
#[test]
fn nothing_shares_standard_output_with_a_report() {
    if !have("cc") {
        return;
    }
    let (folder, dir) = system_of("alone", SHOP, "");
    let body = "#include <stdio.h>\nint DLITCBL(void) { puts(\"displayed\"); return 0; }\n";
    let program = written(&folder, "says.c", body);
    let step = |rest: &[&str]| batch(&dir, &program, rest);
    assert!(step(&["--dd", "SYSOUT=/dev/stdout"]).done().out.contains("displayed"));
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/../dev/stdout"] {
        for option in ["--dd=SYSOUT=", "--dd=SYSPUNCH=", "--dd=OUT=", "--trace="] {
            let ended = step(&["--json", &format!("{option}{name}")]);
            assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{option}{name}: {}", ended.err);
            assert!(ended.err.contains(name) && ended.err.contains("--json"), "{}", ended.err);
        }
    }
    for more in [&["--json"][..], &[]] {
        let ended = step(&[more, &["--dd", "SYSOUT=-"]].concat());
        assert_eq!(ended.code, 2, "{}", ended.err);
        assert!(ended.err.contains("/dev/stdout"), "{}", ended.err);
    }
    let alone = step(&["--json"]).done();
    assert!(alone.json()["return_code"] == 0 && alone.err.contains("displayed"), "{}", alone.err);

    // Where both go into one file, neither writes over the other.
    let all = folder.join("all");
    let mut command = command(Some(SECRET));
    command.args(["batch", "--psb", "CLERK", "--dd", "SYSOUT=/dev/stdout", "-s"]).arg(&dir);
    command.arg("--program").arg(&program).stdout(fs::File::create(&all).unwrap());
    assert!(command.spawn().unwrap().wait_in_time().unwrap().success());
    let all = fs::read_to_string(&all).unwrap();
    assert!(all.contains("displayed") && all.contains("return code 0"), "{all}");

    let punched = ["--psb", "CLERK", "--dd", "PUNCHDD=/dev/stdout"];
    let cards = "CTL   PUNCH\nS 1 1 1 1 1\nL        GN\n";
    let refused = issue(&dir, &[&punched[..], &["--json"]].concat(), cards);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
}

/// What others have called their files begins no line and drives no terminal.
#[test]
fn names_in_errors_cannot_fool_a_terminal() {
    if !have("cobc") {
        return;
    }
    let (folder, dir) = system_of("names", SHOP, "");
    let name = "x\nwarning: all is well\x1b[2J.cbl";
    let program = folder.join(name);
    let dd = format!("SYSOUT={}/gone/y\n done", dir.display());
    let file = folder.join("v\n done");
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let printed = [
        batch(&dir, &program, &[]),
        batch(&dir, &written(&folder, name, "no program"), &[]),
        batch(&dir, &written(&folder, name, SAYS), &["--dd", &dd]),
        on(SECRET, &["db", "status", "-s"], &dir, &["A\n done"]),
        on(SECRET, &["load", "-s"], &dir, &["SHOP", &text(&file)]),
        on(SECRET, &["gen", "-s"], &dir, &[&text(&file)]),
        on(SECRET, &["status"], &file, &[]),
        on(SECRET, &["status"], &dir, &["a\n done"]),
        on(SECRET, &["verify"], &file, &[]),
    ];
    for ended in printed {
        assert_ne!(ended.code, 0);
        let fools = |line: &str| line.starts_with("warning: all") || line.starts_with(" done");
        assert!(!ended.err.lines().any(fools) && !ended.err.contains('\x1b'), "{:?}", ended.err);
        assert!(ended.err.contains("\\u{a}"), "{:?}", ended.err);
    }
}

const SAYS: &str = "       IDENTIFICATION DIVISION.
       PROGRAM-ID. SAYS.
       PROCEDURE DIVISION.
           GOBACK.
";

/// `--pcb 2` was the second PCB of the PSB, and calls went through another than was listed so.
#[test]
fn a_number_of_a_pcb_is_the_one_that_is_listed() {
    let second = "         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=G,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PCB   TYPE=GSAM";
    let sources = SOURCES.replacen("         PCB   TYPE=GSAM", second, 1);
    let (_folder, dir) = system_of("pcb-numbers", &sources, "");
    let listed = issue(&dir, &["--psb", "CLERK"], "S 1 1 1 1 1    $LISTALL\n").done();
    for line in ["1     I/O PCB", "2     database SHOPDB", "3     database SHOPDB", "4     GSAM"] {
        assert!(listed.out.contains(&format!("PCB     {line}")), "{}", listed.out);
    }
    let insert = |number: &str| {
        let key = "L        ISRT  CUSTOMER\nL        DATA  0000000";
        let options = ["--psb", "CLERK", "--pcb", number, "--json"];
        issue(&dir, &options, &format!("{key}{number}FIRST\n")).done().json()["status"].clone()
    };
    assert_eq!((insert("2"), insert("3")), ("  ".into(), "AM".into()));
    for wrong in ["0", "5", "NONE"] {
        let refused = issue(&dir, &["--psb", "CLERK", "--pcb", wrong], "");
        assert_eq!(refused.code, 2, "{}", refused.err);
        for known in ["1 IOPCB", "2 SHOPDB", "3 SHOPDB", "4 ORDERS"] {
            assert!(refused.err.contains(known), "{}", refused.err);
        }
    }
}
