//! COBOL programs as their shops have them: EXEC DLI that updates parts of a path, subprograms in
//! sources of their own, files by DD, ends with a code of the program's own.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::in_time::{EndInTime as _, LONG, RunInTime as _};
use crate::common::{Ended, Folder, SECRET, init, on};

const SOURCES: &str = "* A TREE OF THREE LEVELS
         DBD   NAME=TREE,ACCESS=(HIDAM,OSAM)
         DATASET DD1=TREEDD
         SEGM  NAME=A,PARENT=0,BYTES=10
         FIELD NAME=(AK,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(X,TREEX),POINTER=INDX
         SEGM  NAME=B,PARENT=A,BYTES=10
         FIELD NAME=(BK,SEQ,U),START=1,BYTES=2
         SEGM  NAME=C,PARENT=B,BYTES=10
         FIELD NAME=(CK,SEQ,U),START=1,BYTES=2
         DBDGEN
         DBD   NAME=TREEX,ACCESS=(INDEX,VSAM)
         DATASET DD1=TREEXDD
         SEGM  NAME=X,PARENT=0,BYTES=2
         FIELD NAME=(XK,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(A,TREE),INDEX=AK
         DBDGEN
         PCB   TYPE=DB,DBDNAME=TREE,PROCOPT=AP,KEYLEN=6
         SENSEG NAME=A,PARENT=0
         SENSEG NAME=B,PARENT=A
         SENSEG NAME=C,PARENT=B
         PSBGEN LANG=COBOL,PSBNAME=CLIMB,CMPAT=YES
         END
";

/// What the program works with.
const DATA: &str = "
       01  A-SEG PIC X(10) VALUE 'A1OLD'.
       01  B-SEG PIC X(10) VALUE 'B1OLD'.
       01  C-SEG PIC X(10) VALUE 'C1OLD'.
       01  A-KEY PIC X(2) VALUE 'A1'.
       01  CODE-OWN PIC S9(4) COMP VALUE 77.
       01  CODE-LONG PIC S9(9) COMP VALUE 77.
       01  STAT PIC XX.
";

/// A system with the tree, and a folder for programs.
struct Shop {
    folder: Folder,
    dir: PathBuf,
}

/// `None` where there is no COBOL compiler.
fn shop(test: &str) -> Option<Shop> {
    if Command::new("cobc").arg("--version").output_in_time().is_err() {
        eprintln!("skipped: cobc is not installed (Debian package gnucobol3)");
        return None;
    }
    let folder = Folder::new(test);
    let dir = folder.join("system");
    init(&dir, &[]);
    let sources = folder.join("sources");
    fs::write(&sources, SOURCES).unwrap();
    on(SECRET, &["gen", "-s"], &dir, &[sources.to_str().unwrap()]).done();
    Some(Shop { folder, dir })
}

impl Shop {
    /// Writes a program: what stands before its WORKING-STORAGE, that, and its statements.
    fn write(&self, name: &str, (files, linkage, body): (&str, &str, &str)) -> PathBuf {
        let path = self.folder.join(name);
        let id = path.file_stem().unwrap().to_str().unwrap();
        let using = if linkage.is_empty() { "" } else { " USING GIVEN" };
        let text = format!(
            "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. {id}.\n{files}\n       \
             WORKING-STORAGE SECTION.{DATA}{linkage}\n       PROCEDURE DIVISION{using}.\n{body}\n"
        );
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, program: &Path, rest: &[&str]) -> Ended {
        let program = ["--psb", "CLIMB", "--program", program.to_str().unwrap()];
        on(SECRET, &["batch", "-s"], &self.dir, &[&program, rest].concat())
    }
}

const NO_FILES: &str = "       DATA DIVISION.";

#[test]
fn a_command_changes_the_segments_that_it_names_and_no_others() {
    let Some(shop) = shop("commands") else { return };
    // DLI-12.36; what a path get returned and a REPL does not name stays.
    let body = "
           EXEC DLI ISRT USING PCB(2) SEGMENT(A) FROM(A-SEG)
               SEGMENT(B) FROM(B-SEG) SEGMENT(C) FROM(C-SEG) END-EXEC
           EXEC DLI GU USING PCB(2) SEGMENT(A) INTO(A-SEG)
               WHERE(AK=A-KEY) SETPARENT
               SEGMENT(B) INTO(B-SEG) SEGMENT(C) INTO(C-SEG) END-EXEC
           MOVE 'B1NEW' TO B-SEG MOVE 'A1BAD' TO A-SEG
           EXEC DLI REPL USING PCB(2) SEGMENT(B) FROM(B-SEG) END-EXEC
           DISPLAY 'B ' DIBSTAT
           MOVE 'A1NEW' TO A-SEG MOVE 'C1NEW' TO C-SEG
           EXEC DLI REPL USING PCB(2) SEGMENT(A) FROM(A-SEG)
               SEGMENT(C) FROM(C-SEG) END-EXEC
           DISPLAY 'AC ' DIBSTAT
           EXEC DLI GNP USING PCB(2) SEGMENT(C) INTO(C-SEG) END-EXEC
           DISPLAY 'NEXT ' DIBSTAT
           MOVE 'A1TOP' TO A-SEG
           EXEC DLI REPL USING PCB(2) SEGMENT(A) FROM(A-SEG) END-EXEC
           DISPLAY 'TOP ' DIBSTAT
           EXEC DLI GU USING PCB(2) SEGMENT(A) INTO(A-SEG)
               WHERE(AK=A-KEY)
               SEGMENT(B) INTO(B-SEG) SEGMENT(C) INTO(C-SEG) END-EXEC
           DISPLAY A-SEG B-SEG C-SEG
           EXEC DLI DLET USING PCB(2) SEGMENT(C) FROM(C-SEG) END-EXEC
           EXEC DLI DLET USING PCB(2) SEGMENT(B) FROM(B-SEG) END-EXEC
           EXEC DLI DLET USING PCB(2) SEGMENT(A) FROM(A-SEG) END-EXEC
           EXEC DLI GU USING PCB(2) SEGMENT(A) INTO(A-SEG) END-EXEC
           DISPLAY 'GONE ' DIBSTAT
           GOBACK.";
    let ended = shop.run(&shop.write("CLIMB.cbl", (NO_FILES, "", body)), &[]).done();
    let lines = ["B ", "AC ", "NEXT GE", "TOP ", "A1TOP     B1NEW     C1NEW", "GONE GE"];
    let printed: Vec<&str> = ended.out.lines().map(str::trim_end).take(lines.len()).collect();
    assert_eq!(printed, lines.map(str::trim_end), "{}{}", ended.out, ended.err);
}

#[test]
fn a_command_after_the_path_has_gone_is_refused() {
    let Some(shop) = shop("commands-late") else { return };
    let body = "
           EXEC DLI ISRT USING PCB(2) SEGMENT(A) FROM(A-SEG) END-EXEC
           EXEC DLI GU USING PCB(2) SEGMENT(A) INTO(A-SEG) END-EXEC
           EXEC DLI DLET USING PCB(2) SEGMENT(A) FROM(A-SEG) END-EXEC
           EXEC DLI REPL USING PCB(2) SEGMENT(A) FROM(A-SEG) END-EXEC
           GOBACK.";
    let ended = shop.run(&shop.write("LATE.cbl", (NO_FILES, "", body)), &[]);
    assert_eq!(ended.code, 1, "{}", ended.out);
    assert!(ended.err.contains("DJ"), "{}", ended.err);
}

#[test]
fn a_program_calls_others_from_its_folder_and_from_steplib() {
    let Some(shop) = shop("library") else { return };
    let linkage = "       LINKAGE SECTION.\n       01  GIVEN PIC X(10).";
    let near = "           MOVE 'NEAR' TO GIVEN CALL 'FAR' USING GIVEN GOBACK.";
    shop.write("Near.CBL", (NO_FILES, linkage, near));
    let far = "           DISPLAY 'AFTER ' GIVEN MOVE 'FAR' TO GIVEN GOBACK.";
    shop.write("library/FAR.cob", (NO_FILES, linkage, far));
    let body = "
           CALL 'NEAR' USING A-SEG DISPLAY A-SEG
           MOVE 'FAR' TO B-SEG CALL B-SEG USING C-SEG DISPLAY C-SEG
           GOBACK.";
    let program = shop.write("MAIN.cbl", (NO_FILES, "", body));
    let lost = shop.run(&program, &[]);
    assert_eq!(lost.code, 1, "{}", lost.out);
    assert!(lost.err.contains("U4038") && lost.err.contains("--dd STEPLIB="), "{}", lost.err);

    // The files of what is only there, and called by nobody, are no concern of this program.
    shop.write("library/OTHER.cbl", (PRINT_FILE, "", "           GOBACK."));
    let steplib = format!("STEPLIB={}", shop.folder.join("library").display());
    let ended = shop.run(&program, &["--dd", &steplib]).done();
    assert!(!ended.err.contains("no --dd"), "{}", ended.err);
    let printed: Vec<&str> = ended.out.lines().map(str::trim_end).take(4).collect();
    assert_eq!(printed, ["AFTER NEAR", "FAR", "AFTER C1OLD", "FAR"], "{}", ended.err);

    // One that a data item names is found beside the program, too; one that does not compile is
    // named, and matters only to who calls it.
    shop.write("ASIDE.cbl", (NO_FILES, linkage, "           DISPLAY 'ASIDE ' GIVEN GOBACK."));
    fs::write(shop.folder.join("WRONG.cbl"), "no program").unwrap();
    let body = "
           MOVE 'WRONG' TO B-SEG MOVE 'ASIDE' TO B-SEG
           CALL B-SEG USING C-SEG GOBACK.";
    let aside = shop.run(&shop.write("ITEM.cbl", (NO_FILES, "", body)), &[]).done();
    assert!(aside.out.contains("ASIDE C1OLD"), "{}", aside.out);
    assert!(aside.err.contains("WRONG.cbl is left out"), "{}", aside.err);

    fs::write(shop.folder.join("NEAR.cbl"), "no program").unwrap();
    fs::remove_file(shop.folder.join("Near.CBL")).unwrap();
    let broken = shop.run(&program, &["--dd", &steplib]);
    broken.failed("HFR004", &["NEAR.cbl"]);
}

#[test]
fn a_program_ends_itself_with_a_user_code() {
    let Some(shop) = shop("own-code") else { return };
    for call in ["'ILBOABN0' USING CODE-OWN", "'CEE3ABD' USING CODE-LONG CODE-OWN"] {
        let body = format!(
            "
           EXEC DLI ISRT USING PCB(2) SEGMENT(A) FROM(A-SEG) END-EXEC
           CALL {call}
           GOBACK."
        );
        let ended = shop.run(&shop.write("OWN.cbl", (NO_FILES, "", &body)), &[]);
        assert_eq!(ended.code, 1, "{}", ended.out);
        assert!(ended.err.contains("U0077"), "{}", ended.err);
    }
}

const PRINT_FILE: &str = "       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT LISTING ASSIGN TO UT-S-PRINT FILE STATUS IS STAT.
       DATA DIVISION.
       FILE SECTION.
       FD  LISTING RECORDING MODE F.
       01  LISTED PIC X(12).";

#[test]
fn files_are_found_by_dd_alone_and_a_listing_becomes_lines() {
    let Some(shop) = shop("listing") else { return };
    let body = "
           OPEN OUTPUT LISTING DISPLAY 'OPEN ' STAT
           IF STAT NOT = '00' GOBACK END-IF
           MOVE 'ONE' TO LISTED WRITE LISTED AFTER ADVANCING 2 LINES
           MOVE 'TWO' TO LISTED WRITE LISTED AFTER ADVANCING 1 LINE
           CLOSE LISTING GOBACK.";
    let program = shop.write("LISTER.cbl", (PRINT_FILE, "", body));
    let missing = shop.run(&program, &[]).done();
    assert!(missing.err.contains("no --dd for PRINT"), "{}", missing.err);
    assert!(missing.out.contains("OPEN 3"), "{}", missing.out);

    let listing = shop.folder.join("listing");
    fs::write(&listing, "yesterday\n").unwrap();
    let dd = format!("PRINT={},text", listing.display());
    shop.run(&program, &["--dd", &dd]).done();
    assert_eq!(fs::read_to_string(&listing).unwrap(), "\n\nONE\nTWO\n");
}

const VARIABLE_FILES: &str = "       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT GIVEN-F ASSIGN TO UT-S-GIVENDD FILE STATUS IS STAT.
           SELECT TAKEN-F ASSIGN TO UT-S-TAKENDD.
           SELECT KEYED-F ASSIGN TO KEYEDDD ORGANIZATION INDEXED
               RECORD KEY IS KEYED-KEY.
           SELECT SORTED-F ASSIGN TO SORTWK01.
       DATA DIVISION.
       FILE SECTION.
       FD  GIVEN-F RECORDING MODE V.
       01  GIVEN-SHORT PIC X(4).
       01  GIVEN-LONG PIC X(12).
       FD  TAKEN-F RECORDING MODE V.
       01  TAKEN-SHORT PIC X(4).
       01  TAKEN-LONG PIC X(12).
       FD  KEYED-F.
       01  KEYED-RECORD.
           05  KEYED-KEY PIC X(4).
       SD  SORTED-F.
       01  SORTED-RECORD PIC X(4).";

#[test]
fn lines_become_records_of_their_lengths_and_what_has_none_is_refused() {
    let Some(shop) = shop("variable") else { return };
    let body = "
           OPEN INPUT GIVEN-F OUTPUT TAKEN-F
           PERFORM UNTIL STAT = '10'
             READ GIVEN-F NOT AT END
               IF GIVEN-SHORT = 'LONG' MOVE GIVEN-LONG TO TAKEN-LONG
                 WRITE TAKEN-LONG
               ELSE MOVE GIVEN-SHORT TO TAKEN-SHORT WRITE TAKEN-SHORT
             END-READ
           END-PERFORM
           CLOSE GIVEN-F TAKEN-F GOBACK.";
    let program = shop.write("VARY.cbl", (VARIABLE_FILES, "", body));
    let path = |name: &str| shop.folder.join(name).to_str().unwrap().to_owned();
    fs::write(path("given"), "LONG AND OUT\nAB\n\nEND\n").unwrap();
    let given = format!("GIVENDD={},text", path("given"));
    let taken = format!("TAKENDD={},text", path("taken"));
    let ended = shop.run(&program, &["--dd", &given, "--dd", &taken]).done();
    assert_eq!(fs::read_to_string(path("taken")).unwrap(), "LONG AND OUT\nAB\n\nEND\n");
    assert!(ended.err.contains("no --dd for KEYEDDD:"), "no word of SORTWK01: {}", ended.err);

    let keyed = format!("KEYEDDD={},text", path("keyed"));
    let nowhere = format!("TAKENDD={},text", path("nowhere/taken"));
    for (dd, word) in [(&keyed, "indexed"), (&nowhere, "its folder is not there")] {
        let all = ["--dd", &given, "--dd", dd];
        shop.run(&program, &all).failed("HFR012", &[word]);
        shop.run(&program, &[&all[..], &["--dry-run"]].concat()).failed("HFR012", &[word]);
    }
}

#[test]
fn a_job_that_is_cancelled_says_so_and_leaves_the_system_free() {
    let Some(shop) = shop("cancelled") else { return };
    let body = "
           EXEC DLI ISRT USING PCB(2) SEGMENT(A) FROM(A-SEG) END-EXEC
           DISPLAY 'INSERTED' UPON SYSERR
           PERFORM UNTIL A-KEY = 'ZZ' CONTINUE END-PERFORM
           GOBACK.";
    let program = shop.write("LOOPS.cbl", (NO_FILES, "", body));
    let mut job = crate::common::command(Some(SECRET));
    job.args(["batch", "--psb", "CLIMB", "-s"]).arg(&shop.dir).arg("--program").arg(&program);
    let mut job = job.stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = job.stderr.take().unwrap();
    while !seam::process::line(&mut printed, LONG).unwrap().contains("INSERTED") {
        assert!(job.try_wait().unwrap().is_none(), "the program ended by itself");
    }
    let pid = rustix::process::Pid::from_child(&job);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(job.wait_in_time().unwrap().code(), Some(1));
    let mut rest = String::new();
    printed.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("S222") && rest.contains("backed out"), "{rest}");

    let body = "
           EXEC DLI GU USING PCB(2) SEGMENT(A) INTO(A-SEG) END-EXEC
           DISPLAY 'AFTERWARDS ' DIBSTAT GOBACK.";
    let after = shop.run(&shop.write("AFTER.cbl", (NO_FILES, "", body)), &[]).done();
    assert!(after.out.contains("AFTERWARDS GE"), "{}", after.out);
}

#[test]
fn a_source_in_cards_runs_and_one_without_a_program_is_refused() {
    let Some(shop) = shop("cards") else { return };
    let body = "           DISPLAY 'FROM CARDS' GOBACK.";
    let program = shop.write("CARDS.cbl", (NO_FILES, "", body));
    let text = fs::read_to_string(&program).unwrap();
    let cards: String = text.lines().map(|line| format!("{line:<80}")).collect();
    fs::write(&program, cards).unwrap();
    assert!(shop.run(&program, &[]).done().out.contains("FROM CARDS"));
    for nothing in ["", "      * nothing but a remark\n"] {
        fs::write(&program, nothing).unwrap();
        shop.run(&program, &[]).failed("HFR004", &["PROGRAM-ID", "CARDS.cbl"]);
    }
}
