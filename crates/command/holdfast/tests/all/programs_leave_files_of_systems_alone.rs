//! Programs reach files past SELECT and `--dd`: by routines of their run time, and by descriptors.
//! No file of a system is written so, and nothing is committed that is not written.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::in_time::RunInTime as _;
use crate::common::{Folder, SECRET, init, issue, on};

const SOURCES: &str = "         DBD   NAME=SHOPDB,ACCESS=(HDAM,OSAM),RMNAME=(HASHER,1,10)
         DATASET DD1=SHOPDD
         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=20
         FIELD NAME=(CUSTNO,SEQ,U),START=1,BYTES=8
         DBDGEN
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=A,KEYLEN=8
         SENSEG NAME=CUSTOMER,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=CLERK,CMPAT=YES
         END
";

fn shop(name: &str) -> (Folder, PathBuf) {
    let folder = Folder::new(name);
    let dir = folder.join("system");
    init(&dir, &[]);
    let source = folder.join("sources");
    fs::write(&source, SOURCES).unwrap();
    on(SECRET, &["gen", "-s"], &dir, &[source.to_str().unwrap()]).done();
    (folder, dir)
}

fn have(compiler: &str) -> bool {
    let is_there = Command::new(compiler).arg("--version").output_in_time().is_ok();
    if !is_there {
        eprintln!("skipped: {compiler} is not installed");
    }
    is_there
}

/// Every routine of the run time that makes, changes or removes files, on a file of its own (OWN)
/// and on one of a system (KEYS).
const ROUTINES: &str = "       IDENTIFICATION DIVISION.
       PROGRAM-ID. ROUTINES.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  RC PIC S9(9) COMP-5.
       01  W PIC X(12).
       01  SRC PIC X(60) VALUE 'AT/src'.
       01  NEWER PIC X(60) VALUE 'AT/made'.
       01  COPIED PIC X(60) VALUE 'AT/copied'.
       01  RENAMED PIC X(60) VALUE 'AT/renamed'.
       01  KEYS PIC X(60) VALUE 'AT/system/holdfast.keys'.
       01  RECON PIC X(60) VALUE 'AT/link'.
       01  WRITES PIC X VALUE X'02'.
       01  BOTH PIC X VALUE X'03'.
       01  DENY PIC X VALUE X'00'.
       01  DEVICE PIC X VALUE X'00'.
       01  HNDL PIC X(4).
       01  AT-BYTE PIC X(8) VALUE LOW-VALUES.
       01  BYTES PIC X(4) VALUE X'00000005'.
       01  FLAGS PIC X VALUE X'00'.
       01  TEXT-5 PIC X(5) VALUE 'WAGES'.
       01  ROUTINE PIC X(20).
       PROCEDURE DIVISION.
           ENTRY 'DLITCBL'.
           CALL 'CBL_COPY_FILE' USING SRC COPIED RETURNING RC
           MOVE 'COPY' TO W PERFORM TELL
           CALL 'CBL_COPY_FILE' USING COPIED COPIED RETURNING RC
           MOVE 'ITSELF' TO W PERFORM TELL
           CALL 'CBL_CREATE_FILE' USING NEWER WRITES DENY DEVICE HNDL
               RETURNING RC
           MOVE 'CREATE' TO W PERFORM TELL
           CALL 'CBL_WRITE_FILE' USING HNDL AT-BYTE BYTES FLAGS TEXT-5
               RETURNING RC
           MOVE 'WRITE' TO W PERFORM TELL
           CALL 'CBL_CLOSE_FILE' USING HNDL RETURNING RC
           MOVE 'CLOSE' TO W PERFORM TELL
           CALL 'CBL_RENAME_FILE' USING NEWER RENAMED RETURNING RC
           MOVE 'RENAME' TO W PERFORM TELL
           CALL 'CBL_DELETE_FILE' USING SRC RETURNING RC
           MOVE 'DELETE' TO W PERFORM TELL
           CALL 'CBL_COPY_FILE' USING COPIED KEYS RETURNING RC
           MOVE 'COPY-K' TO W PERFORM TELL
           CALL 'C$COPY' USING COPIED KEYS 0 RETURNING RC
           MOVE 'C$COPY-K' TO W PERFORM TELL
           CALL 'CBL_RENAME_FILE' USING COPIED KEYS RETURNING RC
           MOVE 'RENAME-K' TO W PERFORM TELL
           CALL 'CBL_RENAME_FILE' USING KEYS NEWER RETURNING RC
           MOVE 'AWAY-K' TO W PERFORM TELL
           CALL 'CBL_DELETE_FILE' USING RECON RETURNING RC
           MOVE 'DELETE-K' TO W PERFORM TELL
           CALL 'C$DELETE' USING KEYS 0 RETURNING RC
           MOVE 'C$DELETE-K' TO W PERFORM TELL
           CALL 'CBL_CREATE_FILE' USING KEYS WRITES DENY DEVICE HNDL
               RETURNING RC
           MOVE 'CREATE-K' TO W PERFORM TELL
           CALL 'CBL_OPEN_FILE' USING KEYS WRITES DENY DEVICE HNDL
               RETURNING RC
           MOVE 'OPEN-K' TO W PERFORM TELL
           CALL 'CBL_OPEN_FILE' USING RECON BOTH DENY DEVICE HNDL
               RETURNING RC
           MOVE 'BOTH-K' TO W PERFORM TELL
           MOVE 'CBL_DELETE_FILE' TO ROUTINE
           CALL ROUTINE USING KEYS RETURNING RC
           MOVE 'DYNAMIC-K' TO W PERFORM TELL
           GOBACK.
       TELL.
           IF RC = 0 DISPLAY W 'DONE' ELSE DISPLAY W 'REFUSED'.
";

/// The story: the run time's own routines copied over a key file and deleted RECON, and what they
/// copied was for everybody to read.
#[test]
fn no_routine_of_the_run_time_writes_over_a_file_of_a_system() {
    if !have("cobc") {
        return;
    }
    let (folder, dir) = shop("routines");
    // Names are short enough for a line of the source.
    let near = std::env::temp_dir().join(format!("hfr{}", std::process::id()));
    let _ = fs::remove_file(&near);
    std::os::unix::fs::symlink(folder.join(""), &near).unwrap();
    fs::write(folder.join("src"), "OLD").unwrap();
    std::os::unix::fs::symlink(dir.join("recon.1"), folder.join("link")).unwrap();
    let program = folder.join("routines.cbl");
    fs::write(&program, ROUTINES.replace("AT/", &format!("{}/", near.display()))).unwrap();
    let kept = ["holdfast.keys", "recon.1"].map(|name| fs::read(dir.join(name)).unwrap());
    let step = ["--psb", "CLERK", "--program", program.to_str().unwrap()];
    let ended = on(SECRET, &["batch", "-s"], &dir, &step).done();
    let _ = fs::remove_file(&near);
    let lines =
        ended.out.lines().filter(|line| line.ends_with("DONE") || line.ends_with("REFUSED"));
    let answer: Vec<(&str, bool)> = lines
        .filter_map(|line| line.split_once(' '))
        .map(|(name, rest)| (name, rest.trim() == "DONE"))
        .collect();
    let own = ["COPY", "ITSELF", "CREATE", "WRITE", "CLOSE", "RENAME", "DELETE"];
    let wanted: Vec<(&str, bool)> = own
        .map(|name| (name, true))
        .into_iter()
        .chain(
            [
                "COPY-K",
                "C$COPY-K",
                "RENAME-K",
                "AWAY-K",
                "DELETE-K",
                "C$DELETE-K",
                "CREATE-K",
                "OPEN-K",
                "BOTH-K",
                "DYNAMIC-K",
            ]
            .map(|name| (name, false)),
        )
        .collect();
    assert_eq!(answer, wanted, "{}{}", ended.out, ended.err);
    assert_eq!(ended.err.matches("HFY036").count(), 10, "{}", ended.err);
    assert_eq!(fs::read(dir.join("holdfast.keys")).unwrap(), kept[0]);
    assert!(folder.join("link").is_symlink() && dir.join("recon.1").exists());
    assert!(!folder.join("src").exists());
    for (name, holds) in [("copied", "OLD"), ("renamed", "WAGES")] {
        let path = folder.join(name);
        assert_eq!(fs::read_to_string(&path).unwrap(), holds);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}: its owner's alone");
    }
    on(SECRET, &["verify"], &dir, &[]).done();
}

/// A program that ends as if it were a service's.
const CLOSER: &str = "#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int CTDLI (const char *, ...);
int
DLITCBL (void *io, void *pcb)
{
    char record[21] = \"00000001            \";
    CTDLI (\"ISRT\", pcb, record, \"CUSTOMER \", (void *) 0);
    for (int one = 3; one < 300; one++) {
        close (one);
    }
    REOPEN
    return 0;
}
";

/// Whether the customer that programs insert is there.
fn is_there(dir: &Path) -> bool {
    let cards = "L        GU    CUSTOMER(CUSTNO   =00000001)\n";
    let ended = issue(dir, &["--psb", "CLERK", "--pcb", "2", "--json"], cards);
    let found = ended.out.contains("\"status\":\"  \"");
    assert!(found || ended.out.contains("\"status\":\"GE\""), "{}{}", ended.out, ended.err);
    found
}

/// The story: such a program never ended, for its last changes were being committed for ever.
#[test]
fn a_program_that_closes_the_descriptors_of_its_system_ends_and_changes_nothing() {
    if !have("cc") {
        return;
    }
    let (folder, dir) = shop("closers");
    let scratch = folder.join("scratch").display().to_string();
    let open = format!("while (open (\"{scratch}\", O_RDWR | O_CREAT, 0600) < 90);");
    for (at, reopen) in ["", &open].into_iter().enumerate() {
        let program = folder.join(&format!("closer{at}.c"));
        fs::write(&program, CLOSER.replace("REOPEN", reopen)).unwrap();
        let step = ["--psb", "CLERK", "--program", program.to_str().unwrap()];
        let ended = on(SECRET, &["batch", "-s"], &dir, &step);
        assert_eq!(ended.code, 1, "{}{}", ended.out, ended.err);
        assert!(ended.err.contains("descriptors"), "{}", ended.err);
        assert!(!is_there(&dir), "nothing of it counts");
        on(SECRET, &["verify"], &dir, &[]).done();
    }
}

/// The story: a user who could not read the report was told to write it elsewhere, and not that all
/// was committed.
#[test]
fn what_is_changed_without_a_report_is_backed_out() {
    let (_folder, dir) = shop("unreported");
    let cards = "L        ISRT  CUSTOMER\nL        DATA  00000001            \n";
    for output in [">/dev/full", ">&-"] {
        let script = format!(
            "printf '%s' \"$CARDS\" | {} dltest -s \"$DIR\" --psb CLERK --pcb 2 {output}",
            env!("CARGO_BIN_EXE_holdfast")
        );
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(script).env("CARDS", cards).env("DIR", &dir);
        shell.env("HOLDFAST_PASSPHRASE", SECRET);
        let ended = shell.output_in_time().unwrap();
        let err = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{output}: {err}");
        assert!(err.contains("backed out"), "{output}: {err}");
        assert!(!is_there(&dir), "{output}");
    }
}
