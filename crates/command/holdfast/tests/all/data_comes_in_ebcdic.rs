//! A database that was unloaded on a host keeps EBCDIC data. Programs compiled here compute with
//! ASCII: the data is converted field by field, when it is loaded or at the call interface, and
//! goes back as it came. What is neither is told.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::pautdb::{GENUINE, SOURCE};
use crate::common::{Ended, Folder, SECRET, issue, on, run, start, system_of};
use codec::CodePage;

const SUMMARY: &str = "      * THE ROOT, 100 BYTES
       01  SUMMARY-SEG.
           05  SUM-ACCOUNT           PIC S9(11) COMP-3.
           05  SUM-CUSTOMER          PIC 9(09).
           05  SUM-STATE             PIC X(01).
           05  SUM-FLAGS             PIC X(02) OCCURS 5 TIMES.
           05  SUM-LIMITS.
               10  SUM-LIMIT         PIC S9(09)V99 COMP-3 OCCURS 4.
           05  SUM-APPROVED          PIC S9(04) COMP.
           05  SUM-DECLINED          PIC S9(04) COMP.
           05  SUM-AMOUNT            PIC S9(09)V99 COMP-3 OCCURS 2.
           05  FILLER                PIC X(34).
";

const DETAIL: &str = "      * THE DEPENDENT, 200 BYTES
       01  DETAIL-SEG.
           05  DET-KEY.
               10  DET-DATE-9C       PIC S9(05) COMP-3.
               10  DET-TIME-9C       PIC S9(09) COMP-3.
           05  DET-DATE              PIC X(06).
           05  DET-TIME              PIC X(06).
           05  DET-CARD              PIC X(16).
           05  DET-TYPE              PIC X(04).
           05  DET-EXPIRY            PIC X(04).
           05  DET-MESSAGE           PIC X(12).
           05  DET-ID                PIC X(06).
           05  DET-RESPONSE          PIC X(02).
               88  DET-IS-APPROVED              VALUE '00'.
           05  DET-REASON            PIC X(04).
           05  DET-CODE              PIC 9(06).
           05  DET-AMOUNTS.
               10  DET-AMOUNT        PIC S9(10)V99 COMP-3 OCCURS 2.
           05  DET-MERCHANT-CLASS    PIC X(04).
           05  DET-COUNTRY           PIC X(03).
           05  DET-MODE              PIC 9(02).
           05  DET-MERCHANT          PIC X(15).
           05  DET-MERCHANT-NAME     PIC X(22).
           05  DET-REST              PIC X(66).
";

const MAP: &str = "codepage = \"037\"
[segment.PAUTSUM0]
copybook = \"SUMMARY.cpy\"
[[segment.PAUTDTL1.record]]
when = \"DET-IS-APPROVED\"
copybook = \"DETAIL\"
[[segment.PAUTDTL1.record]]
copybook = \"DETAIL\"
record = \"DETAIL-SEG\"
";

const PSBS: &str = "         PCB   TYPE=DB,DBDNAME=PAUTDB,PROCOPT=AP,KEYLEN=14
         SENSEG NAME=PAUTSUM0,PARENT=0
         SENSEG NAME=PAUTDTL1,PARENT=PAUTSUM0
         PCB   TYPE=DB,DBDNAME=PAUTDB,PROCOPT=G,PROCSEQ=PAUTIX
         SENSEG NAME=PAUTDTL1,PARENT=0
         PCB   TYPE=GSAM,DBDNAME=REPORT,PROCOPT=LS
         PSBGEN LANG=COBOL,PSBNAME=TALLY,CMPAT=YES
         DBD   NAME=REPORT,ACCESS=(GSAM,BSAM)
         DATASET DD1=OUTFILE,RECFM=F,RECORD=20
         DBDGEN
         END
";

const PROGRAM: &str = "       IDENTIFICATION DIVISION.
       PROGRAM-ID. DETCOUNT.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  GN-CALL               PIC X(04) VALUE 'GN  '.
       01  GHU-CALL              PIC X(04) VALUE 'GHU '.
       01  GU-CALL               PIC X(04) VALUE 'GU  '.
       01  ISRT-CALL             PIC X(04) VALUE 'ISRT'.
       01  REPL-CALL             PIC X(04) VALUE 'REPL'.
       01  APPROVED              PIC 9(04) VALUE 0.
       01  CODES                 PIC 9(09) VALUE 0.
       01  DETAIL-SSA            PIC X(09) VALUE 'PAUTDTL1 '.
       01  SUMMARY-SSA           PIC X(09) VALUE 'PAUTSUM0 '.
       01  PATH-SSA              PIC X(11) VALUE 'PAUTSUM0*D '.
       01  DATE-SSA.
           05  FILLER            PIC X(19) VALUE 'PAUTDTL1(ORIGDATE ='.
           05  SSA-DATE          PIC X(06).
           05  FILLER            PIC X(01) VALUE ')'.
       01  INDEX-SSA.
           05  FILLER            PIC X(19) VALUE 'PAUTDTL1(XDATE    ='.
           05  SSA-INDEX         PIC X(06).
           05  FILLER            PIC X(01) VALUE ')'.
       01  KEY-SSA.
           05  FILLER            PIC X(11) VALUE 'PAUTDTL1*C('.
           05  SSA-KEY           PIC X(14).
           05  FILLER            PIC X(01) VALUE ')'.
       01  BOTH-SEGS.
           05  BOTH-SUMMARY      PIC X(100).
           05  BOTH-DETAIL       PIC X(200).
       01  REPORT-LINE.
           05  LINE-TEXT         PIC X(14).
           05  LINE-NUMBER       PIC S9(06).
       COPY SUMMARY.
       COPY DETAIL.
       LINKAGE SECTION.
       01  IO-PCB                PIC X(10).
       01  DB-PCB.
           05  FILLER            PIC X(10).
           05  DB-STATUS         PIC X(02).
           05  FILLER            PIC X(24).
           05  DB-KEY            PIC X(14).
       01  IX-PCB.
           05  FILLER            PIC X(10).
           05  IX-STATUS         PIC X(02).
           05  FILLER            PIC X(24).
           05  IX-KEY            PIC X(06).
       01  GS-PCB.
           05  FILLER            PIC X(10).
           05  GS-STATUS         PIC X(02).
       PROCEDURE DIVISION.
           ENTRY 'DLITCBL' USING IO-PCB DB-PCB IX-PCB GS-PCB.
           CALL 'CBLTDLI' USING GN-CALL DB-PCB DETAIL-SEG DETAIL-SSA.
           PERFORM UNTIL DB-STATUS NOT = SPACES
             IF DET-IS-APPROVED ADD 1 TO APPROVED END-IF
             ADD DET-MODE TO CODES
             MOVE DET-DATE TO SSA-DATE
             MOVE DB-KEY TO SSA-KEY
             CALL 'CBLTDLI' USING GN-CALL DB-PCB DETAIL-SEG
               DETAIL-SSA
           END-PERFORM.
           DISPLAY 'APPROVED ' APPROVED ' MODES ' CODES ' ' DB-STATUS.
           MOVE SSA-DATE TO SSA-INDEX.
           CALL 'CBLTDLI' USING GU-CALL IX-PCB DETAIL-SEG INDEX-SSA.
           DISPLAY 'INDEX ' IX-STATUS ' ' IX-KEY ' '
             DET-MERCHANT-NAME.
           CALL 'CBLTDLI' USING GHU-CALL DB-PCB BOTH-SEGS PATH-SSA
             DATE-SSA.
           MOVE BOTH-SUMMARY TO SUMMARY-SEG.
           MOVE BOTH-DETAIL TO DETAIL-SEG.
           DISPLAY 'PATH ' DB-STATUS ' ' SUM-CUSTOMER ' ' DET-CARD.
           MOVE 'MENDED BY A PROGRAM' TO DET-MERCHANT-NAME.
           MOVE DETAIL-SEG TO BOTH-DETAIL.
           CALL 'CBLTDLI' USING REPL-CALL DB-PCB BOTH-SEGS.
           DISPLAY 'REPL ' DB-STATUS.
           CALL 'CBLTDLI' USING GU-CALL DB-PCB DETAIL-SEG KEY-SSA.
           DISPLAY 'KEY ' DB-STATUS ' ' DET-CARD.
           MOVE LOW-VALUES TO SUMMARY-SEG.
           MOVE 99999999999 TO SUM-ACCOUNT.
           MOVE 123456789 TO SUM-CUSTOMER.
           MOVE 'N' TO SUM-STATE.
           CALL 'CBLTDLI' USING ISRT-CALL DB-PCB SUMMARY-SEG
             SUMMARY-SSA.
           DISPLAY 'ISRT ' DB-STATUS.
           MOVE 'RESULT' TO LINE-TEXT.
           MOVE -42 TO LINE-NUMBER.
           CALL 'CBLTDLI' USING ISRT-CALL GS-PCB REPORT-LINE.
           DISPLAY 'GSAM ' GS-STATUS.
           GOBACK.
";

struct Bank {
    folder: Folder,
    dir: PathBuf,
}

impl Bank {
    fn new(name: &str, settings: &str) -> Bank {
        let sources = SOURCE.trim_end().trim_end_matches("END").trim_end();
        let sources = format!("{sources}\n{PSBS}");
        let (folder, dir) = system_of(name, &sources, settings);
        for (name, text) in [
            ("SUMMARY.cpy", SUMMARY),
            ("DETAIL.cpy", DETAIL),
            ("paut.map", MAP),
            ("DETCOUNT.cbl", PROGRAM),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        Bank { folder, dir }
    }

    fn run(&self, words: &[&str], rest: &[&str]) -> Ended {
        on(SECRET, &[words, &["-s"]].concat(), &self.dir, rest)
    }

    fn map(&self) -> String {
        self.folder.join("paut.map").to_str().unwrap().to_owned()
    }

    fn load(&self, file: &str, rest: &[&str]) -> Ended {
        self.run(&["load"], &[&["PAUTDB", file], rest].concat())
    }

    fn unload(&self, name: &str, rest: &[&str]) -> Vec<u8> {
        let path = self.folder.join(name);
        self.run(&["unload"], &[&["PAUTDB", path.to_str().unwrap()], rest].concat()).done();
        fs::read(path).unwrap()
    }

    fn tally(&self, more: &[&str]) -> Ended {
        let program = self.folder.join("DETCOUNT.cbl");
        let out = format!("OUTFILE={}", self.folder.join("report").display());
        let words = ["batch", "-s", self.dir.to_str().unwrap(), "--psb", "TALLY", "--program"];
        let words = [&words[..], &[program.to_str().unwrap(), "--dd", &out], more].concat();
        run(words)
    }
}

/// Segments of a file: the code and the data of each.
fn segments(file: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let (mut at, mut all) = (0, Vec::new());
    while at < file.len() {
        let len = usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
        let record = &file[at..at + len];
        if record[4] != 0 {
            all.push((record[4], record[39..len - 1].to_vec()));
        }
        at += len;
    }
    all
}

fn genuine() -> Vec<(u8, Vec<u8>)> {
    segments(&fs::read(GENUINE).unwrap())
}

/// What the program is to say, counted in the file itself.
fn expected() -> Vec<String> {
    let all = genuine();
    let details: Vec<&Vec<u8>> =
        all.iter().filter(|(code, _)| *code == 2).map(|(_, data)| data).collect();
    let text = |bytes: &[u8]| CodePage::Cp037.decode(bytes);
    let approved = details.iter().filter(|data| data[62..64] == [0xf0, 0xf0]).count();
    let modes: usize =
        details.iter().map(|data| text(&data[95..97]).parse::<usize>().unwrap()).sum();
    assert!(approved > 10);
    let last = details.last().unwrap();
    let date = &last[8..14];
    let first = details.iter().position(|data| data[8..14] == *date).unwrap();
    let first_data = details[first];
    let place = all.iter().position(|(_, data)| data == first_data).unwrap();
    let root = all[..place].iter().rev().find(|(code, _)| *code == 1).unwrap();
    let name = text(&first_data[112..134]);
    vec![
        format!("APPROVED {approved:04} MODES {modes:09} GB"),
        format!("INDEX    {} {name}", text(date)),
        format!("PATH    {} {}", text(&root.1[6..15]), text(&first_data[20..36])),
        "REPL   ".into(),
        format!("KEY    {}", text(&last[20..36])),
        "ISRT   ".into(),
        "GSAM   ".into(),
    ]
}

fn lines(ended: &Ended) -> Vec<String> {
    let words = ["APPROVED", "INDEX", "PATH", "REPL", "KEY", "ISRT", "GSAM"];
    let own = |line: &&str| words.iter().any(|word| line.starts_with(word));
    ended.out.lines().filter(own).map(str::to_owned).collect()
}

#[test]
fn data_that_was_converted_is_computed_with_and_goes_back_byte_for_byte() {
    let bank = Bank::new("ebcdic-load", "");
    let map = bank.map();
    let loaded = bank.load(GENUINE, &["--from-ebcdic", "--map", &map]).done();
    assert!(loaded.out.contains("224 segments loaded"), "{}", loaded.out);
    assert!(!loaded.err.contains("looks like"), "{}", loaded.err);
    let back = bank.unload("back", &["--to-ebcdic=037", "--map", &map]);
    assert_eq!(segments(&back), genuine());
    let printed = bank.tally(&[]).done();
    assert_eq!(lines(&printed), expected(), "{}", printed.err);
    assert_eq!(fs::read(bank.folder.join("report")).unwrap(), b"RESULT        00004r");
    bank.run(&["db", "verify"], &["PAUTDB"]).done();
}

#[test]
fn data_goes_back_only_with_the_map_that_it_was_loaded_with() {
    let bank = Bank::new("ebcdic-other-map", "");
    let (map, other) = (bank.map(), bank.folder.join("other.map"));
    fs::write(&other, format!("{MAP}\n# the same fields, said otherwise\n")).unwrap();
    let other = other.to_str().unwrap();
    bank.load(GENUINE, &["--from-ebcdic", "--map", &map]).done();
    let path = bank.folder.join("refused");
    let unload = ["PAUTDB", path.to_str().unwrap(), "--to-ebcdic", "--map", other];
    bank.run(&["unload"], &unload).failed("HFY100", &["loaded with another map", "--other-map"]);
    assert!(!path.exists());
    bank.run(&["db", "map"], &["PAUTDB", other]).failed("HFY100", &["holds data"]);
    let back = bank.unload("wanted", &["--to-ebcdic", "--map", other, "--other-map"]);
    assert_eq!(segments(&back), genuine());
    bank.run(&["db", "map"], &["PAUTDB", &map]).done();
    assert_eq!(segments(&bank.unload("kept", &["--to-ebcdic"])), genuine());
    // What is loaded anew, or not converted at all, has its own.
    bank.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    bank.run(&["db", "map"], &["PAUTDB", other]).done();
    bank.load(GENUINE, &["--from-ebcdic"]).done();
    assert_eq!(segments(&bank.unload("anew", &["--to-ebcdic", "--map", other])), genuine());
    let unload = ["PAUTDB", path.to_str().unwrap(), "--to-ebcdic", "--map", map.as_str()];
    bank.run(&["unload"], &unload).failed("HFY100", &["loaded with another map"]);
    bank.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    bank.load(GENUINE, &[]).done();
    // What is no number there is refused, not the map.
    let printed = bank.run(&["unload"], &unload);
    assert!(!printed.err.contains("another map"), "{}", printed.err);
}

#[test]
fn data_that_stays_as_it_is_is_converted_at_the_call_interface() {
    let settings =
        "[database.PAUTDB]\nencoding = \"ebcdic\"\n[database.REPORT]\nencoding = \"ebcdic\"\n";
    let bank = Bank::new("ebcdic-calls", settings);
    let loaded = bank.load(GENUINE, &[]).done();
    assert!(!loaded.err.contains("looks like"), "{}", loaded.err);
    let none = bank.tally(&[]);
    assert!(none.err.contains("no map says"), "{}", none.err);
    bank.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    bank.load(GENUINE, &[]).done();
    let again = bank.load(GENUINE, &["--from-ebcdic", "--map", &bank.map()]);
    again.failed("HFY100", &["PAUTDB", "encoding"]);

    bank.run(&["db", "map"], &["PAUTDB", &bank.map()]).done();
    let report = bank.folder.join("report.map");
    let line = "       01 L. 05 T PIC X(14). 05 N PIC S9(6).\n";
    fs::write(bank.folder.join("LINE.cpy"), line).unwrap();
    fs::write(&report, "[file.REPORT]\ncopybook = \"LINE.cpy\"\n").unwrap();
    bank.run(&["db", "map"], &["REPORT", report.to_str().unwrap()]).done();
    let shown = bank.run(&["db", "map"], &["PAUTDB"]).done();
    assert!(shown.out.contains("DET-IS-APPROVED"), "{}", shown.out);

    let printed = bank.tally(&[]).done();
    assert_eq!(lines(&printed), expected(), "{}", printed.err);
    assert!(!printed.err.contains("EBCDIC"), "{}", printed.err);
    let host = |text: &str| CodePage::Cp037.encode(text).unwrap();
    let mut known = host("RESULT        00004");
    known.push(0xd2);
    assert_eq!(fs::read(bank.folder.join("report")).unwrap(), known);

    // What the program wrote is EBCDIC, and everything else is as it was.
    let (before, after) = (genuine(), segments(&bank.unload("after", &[])));
    assert_eq!(after.len(), before.len() + 1);
    let own: Vec<&(u8, Vec<u8>)> = after.iter().filter(|one| !before.contains(one)).collect();
    let [repaired, inserted] = own[..] else { panic!("{} segments differ", own.len()) };
    assert_eq!(repaired.1[112..134], host("MENDED BY A PROGRAM   "));
    assert_eq!(inserted.1[..16], [&b"\x99\x99\x99\x99\x99\x9c"[..], &host("123456789N")].concat());
    assert!(inserted.1[66..].iter().all(|byte| *byte == 0));

    // The same in a started system, and by test statements.
    let child = start(&bank.dir);
    let cards = "L        GU    PAUTDTL1(ORIGDATE =000000)\n";
    let seen = issue(&bank.dir, &["--psb", "TALLY", "--type", "bmp", "--json"], cards).done();
    assert!(seen.out.contains("GE"), "{}", seen.out);
    run(["stop", "-s", bank.dir.to_str().unwrap()]).done();
    Ended::of(&child.wait_with_output().unwrap()).done();
}

#[test]
fn what_does_not_fit_is_told() {
    let bank = Bank::new("ebcdic-wrong", "");
    let map = bank.map();
    let answer = bank.load(GENUINE, &[]).done();
    assert!(
        answer.err.contains("looks like EBCDIC, and PAUTDB is declared as ASCII"),
        "{}",
        answer.err
    );
    bank.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    assert_eq!(bank.load(GENUINE, &["--map", &map]).code, 2);
    assert_eq!(bank.load(GENUINE, &["--from-ebcdic"]).code, 2);
    let page = bank.load(GENUINE, &["--from-ebcdic=latin1", "--map", &map]);
    assert!(page.code == 2 && page.err.contains("1141"), "{}", page.err);

    // A field that holds no number: all places are counted, and nothing is loaded.
    let (text, number) = ("DET-COUNTRY           PIC X(03)", "DET-COUNTRY           PIC 9(03)");
    let wrong = DETAIL.replace(text, number);
    assert_ne!(wrong, DETAIL);
    fs::write(bank.folder.join("DETAIL.cpy"), &wrong).unwrap();
    let refused = bank.load(GENUINE, &["--from-ebcdic", "--map", &map]);
    refused.failed(
        "HFG907",
        &["202 places", "DET-COUNTRY at offset 92: X'E4E2C1' is no number", "--as-text"],
    );
    let status = bank.run(&["db", "status"], &["PAUTDB", "--json"]).done().json();
    assert_eq!(status["state"], "empty");
    // As characters they come back as they were: the last one was converted as a digit.
    let as_text = ["--from-ebcdic", "--map", &map, "--as-text"];
    let loaded = bank.load(GENUINE, &as_text).done();
    assert!(loaded.err.contains("202 places"), "{}", loaded.err);
    let back = bank.unload("as-text", &["--to-ebcdic=037", "--map", &map, "--as-text"]);
    assert_eq!(segments(&back), genuine());
    bank.run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    fs::write(bank.folder.join("DETAIL.cpy"), DETAIL.replace("X(66)", "X(65)")).unwrap();
    let short = bank.load(GENUINE, &["--from-ebcdic", "--map", &map]);
    short.failed("HFG906", &["PAUTDTL1", "199", "200"]);
    let kept = bank.run(&["db", "map"], &["PAUTDB", &map]);
    kept.failed("HFG906", &["PAUTDTL1", "199", "200"]);

    let toml = bank.dir.join("holdfast.toml");
    let settings = fs::read_to_string(&toml).unwrap();
    let usual = "#: ebcdic_without_map = \"warn\"";
    assert!(settings.contains(usual));
    let settings = settings.replace(usual, "ebcdic_without_map = \"refuse\"");
    fs::write(&toml, settings + "[database.PAUTDB]\nencoding = \"ebcdic\"\n").unwrap();
    let refused = bank.tally(&[]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("no map says what its fields are"), "{}", refused.err);
    assert!(!Path::new(&bank.folder.join("report")).exists());
}
