//! Files of COBOL programs under `holdfast batch`: programs that check every status themselves,
//! over files of the machine and clusters; what is durable when; generations and dispositions.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::in_time::{EndInTime as _, RunInTime as _};
use crate::common::{Ended, Folder, SECRET, command, on, system_of};

/// A PSB that passes nothing: programs have files alone.
const PSB: &str = "         PSBGEN LANG=COBOL,PSBNAME=PLAIN\n         END\n";

const KEYED: &str = "
  DEFINE CLUSTER (NAME(T.IX) INDEXED KEYS(5 0) RECORDSIZE(20 20) -
     REUSE SHAREOPTIONS(3 3))
  DEFINE AIX (NAME(T.IXA) RELATE(T.IX) KEYS(3 5) NONUNIQUEKEY UPGRADE)
  DEFINE PATH (NAME(T.IXA.P) PATHENTRY(T.IXA))
  DEFINE AIX (NAME(T.IXU) RELATE(T.IX) KEYS(4 8) UNIQUEKEY UPGRADE)
  DEFINE PATH (NAME(T.IXU.P) PATHENTRY(T.IXU))
  BLDINDEX INDATASET(T.IX) OUTDATASET(T.IXA T.IXU)
  DEFINE CLUSTER (NAME(T.IXO) INDEXED KEYS(5 0) RECORDSIZE(20 20) REUSE)
";

const NUMBERED: &str = "
  DEFINE CLUSTER (NAME(T.RL) NUMBERED RECORDSIZE(20 20) REUSE)
  DEFINE CLUSTER (NAME(T.RLO) NUMBERED RECORDSIZE(20 20) REUSE)
  DEFINE CLUSTER (NAME(T.RLS) NUMBERED RECORDSIZE(20 20) REUSE)
";

/// A system and a folder for files.
struct Shop {
    folder: Folder,
    dir: PathBuf,
}

/// `None` where there is no COBOL compiler.
fn shop(test: &str, settings: &str) -> Option<Shop> {
    if Command::new("cobc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
        return None;
    }
    let (folder, dir) = system_of(test, PSB, "");
    let config = dir.join("holdfast.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("\n[compat]\n", &format!("\n[compat]\n{settings}"))).unwrap();
    Some(Shop { folder, dir })
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

impl Shop {
    fn idcams(&self, statements: &str) -> Ended {
        let mut command = command(Some(SECRET));
        command.arg("idcams").arg("-s").arg(&self.dir);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(statements.as_bytes()).unwrap();
        Ended::of(&child.finish_in_time().unwrap())
    }

    /// The records of a data set, and what is said of them.
    fn records(&self, name: &str) -> String {
        self.idcams(&format!("  PRINT INDATASET({name}) CHARACTER\n")).out
    }

    fn run(&self, program: &Path, dds: &[&str]) -> Ended {
        let program = ["--psb", "PLAIN", "--program", program.to_str().unwrap()];
        let dds = dds.iter().flat_map(|dd| ["--dd", dd]);
        let rest: Vec<&str> = program.into_iter().chain(dds).collect();
        on(SECRET, &["batch", "-s"], &self.dir, &rest)
    }

    /// DDs of files in the folder.
    fn files(&self, names: &[&str]) -> Vec<String> {
        names.iter().map(|name| format!("{name}={}", self.folder.join(name).display())).collect()
    }

    /// Writes a program of one paragraph with the files F1 and F2.
    fn program(&self, name: &str, select: &str, body: &str) -> PathBuf {
        let path = self.folder.join(name);
        let id = path.file_stem().unwrap().to_str().unwrap();
        let text = format!(
            "       IDENTIFICATION DIVISION.
       PROGRAM-ID. {id}.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F1 ASSIGN TO F1 {select}.
       DATA DIVISION.
       FILE SECTION.
       FD  F1.
       01  R1. 05 K1 PIC X(5). 05 D1 PIC X(15).
       WORKING-STORAGE SECTION.
       01  ST PIC XX.
       01  VC.
           05 VC-RETURN PIC S9(4) COMP.
           05 VC-FUNCTION PIC S9(4) COMP.
           05 VC-FEEDBACK PIC S9(4) COMP.
       01  N PIC 9(5).
       01  A-CODE PIC S9(9) COMP VALUE 77.
       01  A-TIME PIC S9(9) COMP VALUE 1.
       01  A-KILL PIC X(30) VALUE 'kill -9 $PPID'.
       01  A-WAIT PIC X(30) VALUE 'sleep 1.1; kill -9 $PPID'.
       PROCEDURE DIVISION.
       MAIN-1.
{body}
"
        );
        fs::write(&path, text).unwrap();
        path
    }
}

const INDEXED: &str = "ORGANIZATION INDEXED ACCESS DYNAMIC
               RECORD KEY K1 FILE STATUS ST VC";

#[track_caller]
fn all_is_well(ended: Ended) -> Ended {
    let ended = ended.done();
    let sum = ended.out.lines().find(|line| line.starts_with("DONE"));
    let is_well = sum.is_some_and(|sum| sum.ends_with("FAILED 0000"));
    assert!(is_well && !ended.out.contains("FAIL "), "{}{}", ended.out, ended.err);
    ended
}

fn strings(dds: &[String]) -> Vec<&str> {
    dds.iter().map(String::as_str).collect()
}

#[test]
fn sequential_files_and_printers_have_every_status_and_every_line() {
    let Some(shop) = shop("files-sequential", "") else { return };
    let names = ["FFILE", "OFILE", "NFILE", "VFILE", "VCFILE", "VDFILE"];
    all_is_well(shop.run(&source("SEQS.cbl"), &strings(&shop.files(&names))));
    let names = ["F1", "F2FILE", "F3FILE", "F4FILE", "F5FILE", "F6FILE", "PRFILE"];
    let mut files = shop.files(&names);
    files.extend(shop.files(&["LNFILE", "LN2FILE"]));
    files[0] = files[0].replacen("F1=", "FFILE=", 1);
    let ended = all_is_well(shop.run(&source("USES.cbl"), &strings(&files)));
    let ends: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("EOP")).collect();
    let first = ["EOP 00007 08", "EOP 00008 09", "EOP 00009 10", "EOP 00010 01"];
    let second = ["EOP2 00002 05", "EOP2 00003 01", "EOP2 00006 05", "EOP2 00007 01"];
    assert_eq!(ends[..4], first);
    assert_eq!(ends[4..8], second);
    assert!(ended.out.contains("PAGE 01"), "{}", ended.out);
    let lines = fs::read_to_string(shop.folder.join("LNFILE")).unwrap();
    // 2 lines at the top, 10 of the page, 3 at the bottom; the first record on line 2 of the page.
    let line = |text: &str| lines.lines().position(|line| line == text).unwrap();
    assert_eq!((line("00001"), line("00009"), line("00010"), line("00014")), (3, 11, 17, 21));
    let lines = fs::read_to_string(shop.folder.join("LN2FILE")).unwrap();
    let line = |text: &str| lines.lines().position(|line| line == text).unwrap();
    // Records on lines 1, 3, 5 of pages of 1 + 6 + 1 lines; ADVANCING PAGE behind the fourth.
    assert_eq!((line("00001"), line("00002"), line("00003")), (1, 3, 5));
    assert_eq!((line("00004"), line("00005"), line("00008")), (9, 17, 25));
    let lines = fs::read_to_string(shop.folder.join("PRFILE")).unwrap();
    assert!(lines.starts_with("\x0cLINE 1") && lines.contains("\n\nLINE 2"), "{lines}");
}

#[test]
fn keyed_and_relative_files_have_every_status() {
    let Some(shop) = shop("files-keyed", "") else { return };
    all_is_well(shop.run(&source("KEYS.cbl"), &strings(&shop.files(&["IXF", "IXO", "IXN"]))));
    all_is_well(shop.run(&source("RELS.cbl"), &strings(&shop.files(&["RLF", "RLO", "RLS"]))));
}

#[test]
fn clusters_have_every_status_that_files_of_the_machine_have() {
    let Some(shop) = shop("files-clusters", "") else { return };
    shop.idcams(KEYED).done();
    shop.idcams(NUMBERED).done();
    all_is_well(shop.run(&source("KEYS.cbl"), &["IXF=//T.IX", "IXO=//T.IXO", "IXN=//T.IXN"]));
    all_is_well(shop.run(&source("RELS.cbl"), &["RLF=//T.RL", "RLO=//T.RLO", "RLS=//T.RLS"]));
}

#[test]
fn sorts_keep_order_lengths_and_statuses() {
    let Some(shop) = shop("files-sorts", "") else { return };
    let names = ["AFILE", "BFILE", "CFILE", "VFILE", "V2FILE", "OSFILE", "IXFILE"];
    all_is_well(shop.run(&source("SORTS.cbl"), &strings(&shop.files(&names))));
}

#[test]
fn the_second_item_of_file_status_says_what_vsam_has_said() {
    let Some(shop) = shop("files-feedback", "") else { return };
    shop.idcams(KEYED).done();
    let body = "
           OPEN OUTPUT F1. DISPLAY 'OUT ' ST VC-RETURN VC-FEEDBACK.
           MOVE 'AA001' TO R1. WRITE R1.
           DISPLAY 'WRITE ' ST VC-RETURN VC-FEEDBACK.
           WRITE R1. DISPLAY 'TWICE ' ST VC-RETURN VC-FEEDBACK.
           CLOSE F1. OPEN INPUT F1. MOVE 'ZZ001' TO K1. READ F1.
           DISPLAY 'READ ' ST VC-RETURN VC-FEEDBACK.
           CLOSE F1. DELETE FILE F1. DISPLAY 'DELETE ' ST.
           OPEN INPUT F1.
           DISPLAY 'GONE ' ST VC-RETURN VC-FEEDBACK.
           STOP RUN.";
    let program = shop.program("CODES.cbl", INDEXED, body);
    let ended = shop.run(&program, &["F1=//T.IXO"]).done();
    let printed: Vec<&str> = ended.out.lines().take(6).collect();
    let expected = [
        "OUT 0000000000",
        "WRITE 0000000000",
        "TWICE 2200080008",
        "READ 2300080016",
        "DELETE 00",
        "GONE 3500080148",
    ];
    assert_eq!(printed, expected, "{}", ended.err);
}

#[test]
fn what_was_closed_or_is_a_second_old_survives_a_kill() {
    let Some(shop) = shop("files-kills", "") else { return };
    shop.idcams(KEYED).done();
    let closed = "
           OPEN OUTPUT F1. MOVE 'AA001' TO R1. WRITE R1.
           MOVE 'AA002' TO R1. WRITE R1. CLOSE F1.
           CALL 'SYSTEM' USING A-KILL. STOP RUN.";
    let ended = shop.run(&shop.program("CLOSED.cbl", INDEXED, closed), &["F1=//T.IXO"]);
    assert_ne!(ended.code, 0, "{}", ended.out);
    let records = shop.records("T.IXO");
    assert!(records.contains("AA001") && records.contains("AA002"), "{records}");

    // A load, and a change of what is there, both left open.
    let old = "
           OPEN I-O F1. MOVE 'AA003' TO R1. WRITE R1.
           MOVE 'AA001' TO K1. READ F1. MOVE 'CHANGED' TO D1. REWRITE R1.
           CALL 'SYSTEM' USING A-WAIT. STOP RUN.";
    let ended = shop.run(&shop.program("OLD.cbl", INDEXED, old), &["F1=//T.IXO"]);
    assert_ne!(ended.code, 0, "{}", ended.out);
    let records = shop.records("T.IXO");
    assert!(records.contains("AA003") && records.contains("AA001CHANGED"), "{records}");
    let load = "
           OPEN OUTPUT F1. MOVE 'BB001' TO R1. WRITE R1.
           MOVE 'BB002' TO R1. WRITE R1.
           CALL 'SYSTEM' USING A-WAIT. STOP RUN.";
    let ended = shop.run(&shop.program("LOAD.cbl", INDEXED, load), &["F1=//T.IXO"]);
    assert_ne!(ended.code, 0, "{}", ended.out);
    let records = shop.records("T.IXO");
    assert!(records.contains("BB001") && records.contains("BB002"), "{records}");
}

const ENDS_BADLY: &str = "
           OPEN I-O F1. MOVE 'CC001' TO R1. WRITE R1. CLOSE F1.
           CALL 'CEE3ABD' USING A-CODE A-TIME.
           STOP RUN.";

#[test]
fn a_step_is_one_unit_of_work_where_compat_says_so() {
    for (settings, stays) in [("", true), ("file_unit = \"step\"\n", false)] {
        let Some(shop) = shop("files-unit", settings) else { return };
        shop.idcams(KEYED).done();
        let select = INDEXED.replacen("ORG", "\n               ORG", 1);
        let optional = shop.program("BADLY.cbl", &select, ENDS_BADLY);
        let text = fs::read_to_string(&optional).unwrap();
        fs::write(&optional, text.replace("SELECT F1", "SELECT OPTIONAL F1")).unwrap();
        let ended = shop.run(&optional, &["F1=//T.IXO"]);
        assert!(ended.code == 1 && ended.err.contains("U0077"), "{}{}", ended.out, ended.err);
        assert_eq!(shop.records("T.IXO").contains("CC001"), stays, "{settings}");
    }
}

#[test]
fn a_generation_joins_its_group_when_its_step_ends_well() {
    let Some(shop) = shop("files-generations", "") else { return };
    shop.idcams("  DEFINE GDG (NAME(T.DAILY) LIMIT(2) SCRATCH)\n").done();
    let write_as = |text: &str, end: &str, disposition: &str| {
        let body = format!(
            "
           OPEN OUTPUT F1. DISPLAY 'OPEN ' ST.
           MOVE '{text}' TO R1. WRITE R1. CLOSE F1.
           {end}
           STOP RUN."
        );
        let program = shop.program(&format!("{text}.cbl"), "FILE STATUS ST", &body);
        shop.run(&program, &[&format!("F1=//T.DAILY(+1),disp={disposition}")])
    };
    let write = |text: &str, end: &str| write_as(text, end, "(new,catlg,delete)");
    for text in ["FIRST", "SECND", "THIRD"] {
        let ended = write(text, "").done();
        assert!(ended.out.contains("OPEN 00"), "{}", ended.out);
    }
    let names = || {
        let listed = shop.idcams("  LISTCAT ALL\n").out;
        let all = ["G0001V00", "G0002V00", "G0003V00", "G0004V00"];
        all.into_iter().filter(|name| listed.contains(&format!("NONVSAM---T.DAILY.{name}"))).count()
    };
    assert_eq!(names(), 2, "the oldest one has rolled off");
    let failed = write("FAILS", "CALL 'CEE3ABD' USING A-CODE A-TIME.");
    assert_eq!(failed.code, 1, "{}", failed.out);
    assert_eq!(names(), 2, "what a step has made that failed is gone");
    // A step that is killed leaves something that the next one takes away.
    assert_ne!(write("KILLS", "CALL 'SYSTEM' USING A-KILL.").code, 0);
    let read = shop.program(
        "READS.cbl",
        "FILE STATUS ST",
        "           OPEN INPUT F1. READ F1. DISPLAY 'IS ' K1. STOP RUN.",
    );
    let newest = |number: &str| shop.run(&read, &[&format!("F1=//T.DAILY({number})")]).done().out;
    assert!(newest("0").contains("IS THIRD") && newest("-1").contains("IS SECND"));
    assert!(write("FORTH", "").done().out.contains("OPEN 00"));
    assert!(newest("0").contains("IS FORTH") && newest("-1").contains("IS THIRD"));
    assert_eq!(names(), 2);
    // What is to stay stays, whatever becomes of the step.
    let kept = write_as("KEEPS", "CALL 'CEE3ABD' USING A-CODE A-TIME.", "new:catlg:catlg");
    assert_eq!(kept.code, 1, "{}", kept.out);
    assert!(newest("0").contains("IS KEEPS") && newest("-1").contains("IS FORTH"));
}

#[test]
fn files_come_and_go_as_their_dispositions_say() {
    let Some(shop) = shop("files-dispositions", "") else { return };
    let body = |end: &str| {
        format!(
            "
           OPEN OUTPUT F1. MOVE 'LINES' TO R1. WRITE R1. CLOSE F1.
           {end}
           STOP RUN."
        )
    };
    let good = shop.program("GOOD.cbl", "FILE STATUS ST", &body(""));
    let bad = "CALL 'CEE3ABD' USING A-CODE A-TIME.";
    let bad = shop.program("BAD.cbl", "FILE STATUS ST", &body(bad));
    let out = shop.folder.join("out");
    let dd = |disposition: &str| format!("F1={},disp={disposition}", out.display());
    shop.run(&good, &[&dd("shr")]).failed("HFR033", &["F1", "OLD or SHR"]);
    assert_eq!(shop.run(&bad, &[&dd("(NEW,CATLG,DELETE)")]).code, 1);
    assert!(!out.exists());
    shop.run(&good, &[&dd("new:catlg:delete")]).done();
    assert_eq!(fs::read(&out).unwrap().len(), 20);
    shop.run(&good, &[&dd("new:catlg:delete")]).failed("HFR033", &["F1", "NEW"]);
    shop.run(&good, &[&dd("mod")]).done();
    assert_eq!(fs::read(&out).unwrap().len(), 40);
    shop.run(&good, &[&dd("old:delete")]).done();
    assert!(!out.exists());
}
