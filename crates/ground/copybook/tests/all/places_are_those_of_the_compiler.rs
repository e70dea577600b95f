//! Places and lengths of items are those that the compiler itself gives them, for the copybooks of
//! the bank and for descriptions that are made of corner cases.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // asks a compiler, which writes files

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use holdfast_copybook::{Copybook, Item};

/// A folder that is gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = env::temp_dir().join(format!("copybook-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Items with names of their own, each with the tables that it stands in.
fn named(record: &Item) -> Vec<(&Item, usize)> {
    fn walk<'a>(item: &'a Item, depth: usize, all: &mut Vec<(&'a Item, usize)>) {
        let depth = depth + usize::from(item.occurs.is_some());
        all.push((item, depth));
        item.children.iter().for_each(|child| walk(child, depth, all));
    }
    let mut all = Vec::new();
    walk(record, 0, &mut all);
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    all.iter().filter_map(|(item, _)| item.name.clone()).for_each(|name| {
        *count.entry(name).or_default() += 1;
    });
    all.retain(|(item, _)| item.name.as_ref().is_some_and(|name| count[name] == 1));
    all
}

fn bank() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/bank/copy")).unwrap()
}

/// A program that says where items are.
fn program(description: &str, records: &[Item]) -> String {
    let mut text = String::from(
        "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. ASK.\n       DATA DIVISION.\n\
         \x20      WORKING-STORAGE SECTION.\n\
         \x20      01  ZZ-A POINTER.\n       01  ZZ-AN REDEFINES ZZ-A PIC S9(18) COMP-5.\n\
         \x20      01  ZZ-B POINTER.\n       01  ZZ-BN REDEFINES ZZ-B PIC S9(18) COMP-5.\n\
         \x20      01  ZZ-O PIC 9(9).\n       01  ZZ-L PIC 9(9).\n",
    );
    if records[0].name.is_none() {
        text += "       01  ZZ-RECORD.\n";
    }
    text += description;
    text += "       PROCEDURE DIVISION.\n";
    for record in records {
        record.visit(&mut |item| {
            if let Some(occurs) = &item.occurs
                && let Some(name) = &occurs.depending
            {
                writeln!(text, "           MOVE {} TO {name}.", occurs.max).unwrap();
            }
        });
        let base = record.name.as_deref().unwrap_or("ZZ-RECORD");
        for (item, depth) in named(record) {
            let name = item.name.as_deref().unwrap();
            let place = match depth {
                0 => name.to_owned(),
                depth => format!("{name}({})", vec!["1"; depth].join(" ")),
            };
            writeln!(text, "           SET ZZ-A TO ADDRESS OF {base}.").unwrap();
            writeln!(text, "           SET ZZ-B TO ADDRESS OF").unwrap();
            writeln!(text, "             {place}.").unwrap();
            writeln!(text, "           COMPUTE ZZ-O = ZZ-BN - ZZ-AN.").unwrap();
            writeln!(text, "           MOVE LENGTH OF {name} TO ZZ-L.").unwrap();
            writeln!(text, "           DISPLAY '{name} ' ZZ-O ' ' ZZ-L.").unwrap();
        }
    }
    text + "           STOP RUN.\n"
}

fn compare(title: &str, description: &str) {
    let member = |name: &str| fs::read(bank().join(format!("{name}.cpy"))).ok();
    let book = Copybook::parse(title, description.as_bytes(), &member)
        .unwrap_or_else(|error| panic!("{title}: {error}"));
    let folder = Folder::new(title);
    let source = folder.0.join("ask.cbl");
    fs::write(&source, program(description, &book.records)).unwrap();
    let run = |command: &mut Command| {
        // Nothing that is waited for goes on for ever.
        let mut limited = Command::new("timeout");
        limited.arg("600").arg(command.get_program()).args(command.get_args());
        let output = limited.current_dir(&folder.0).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{title}: {printed}");
        String::from_utf8(output.stdout).unwrap()
    };
    let mut compile = Command::new("cobc");
    run(compile.args(["-x", "-std=ibm", "-o", "ask", "ask.cbl", "-I"]).arg(bank()));
    let printed = run(&mut Command::new(folder.0.join("ask")));
    let mut own = String::new();
    for (item, _) in book.records.iter().flat_map(named) {
        let name = item.name.as_deref().unwrap();
        writeln!(own, "{name} {:09} {:09}", item.offset, item.bytes).unwrap();
    }
    assert_eq!(own, printed, "{title}");
}

#[test]
fn the_copybooks_of_the_bank() {
    let mut compared = 0;
    for entry in fs::read_dir(bank()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        // The others are statements.
        if text.contains("PERFORM") || text.contains("DISPLAY ") {
            continue;
        }
        if text.contains(":P:") {
            let copied = format!("           COPY {name} REPLACING ==:P:== BY ==XYZ==.\n");
            compare(&name, &copied);
        } else {
            compare(&name, &text);
        }
        compared += 1;
    }
    assert!(compared >= 17, "{compared}");
}

#[test]
fn corner_cases() {
    let usages = "
       01  REC.
           05  A1  PIC S9(4) COMP.         05  A2 PIC S9(5) BINARY.
           05  A3  PIC 9(9) COMP-4.        05  A4 PIC S9(10) COMP.
           05  A5  PIC S9(18) COMP-5.      05  A6 PIC 9(3) COMP-5.
           05  B1  PIC S9(1) COMP-3.       05  B2 PIC S9(2) COMP-3.
           05  B3  PIC 9(18) PACKED-DECIMAL.
           05  C1  COMP-1.                 05  C2 USAGE COMPUTATIONAL-2.
           05  D1  USAGE IS POINTER.       05  D2 INDEX.
           05  E1  PIC S9(5).
           05  E2  PIC S9(5) SIGN LEADING.
           05  E3  PIC S9(5) SIGN IS TRAILING SEPARATE CHARACTER.
           05  E4  PIC S9(5)V99 LEADING SEPARATE.
           05  F1  PIC -(12)9.99.          05  F2 PIC $$,$$9.99CR.
           05  F3  PIC X(3)BX(2)/X.
           05  F4  PIC Z(5)9 BLANK WHEN ZERO.
           05  G1  PIC A(7) JUSTIFIED RIGHT.
           05  G2  PIC S999V9(3) VALUE -1.5.
           05  G3  PIC 9PPP.               05  G4 PIC S9(3)PP COMP-3.
           05  G5  PIC VPP99.              05  G6 PIC S9(3)P(4) COMP.
           05  H1  PIC N(5).
           05  FILLER PIC X(3).            05  H2 PIC X.
";
    compare("usages", usages);
}

#[test]
fn tables_redefinitions_and_inherited_clauses() {
    let tables = "
       01  REC.
           03  N-ROWS PIC S9(4) COMP.
           03  ROW OCCURS 3 TIMES INDEXED BY IX1 IX2.
               05  PART OCCURS 4 TIMES ASCENDING KEY IS CELL-A.
                   07  CELL-A PIC 99.
                   07  CELL-B PIC S9(3) COMP-3 OCCURS 2.
               05  REST PIC X(3).
           03  MIDDLE PIC X.
           03  VAR OCCURS 0 TO 9 TIMES DEPENDING ON N-ROWS.
               05  V1 PIC X(7).
               05  V2 PIC S9(9) COMP.
";
    compare("tables", tables);
    let redefined = "
       01  REC.
           05  KIND PIC X.
               88  IS-A VALUE 'A' 'B', 'C' THRU 'F'.
           05  PART-A.
               10  A1 PIC X(8).
               10  A2 PIC S9(7)V99 COMP-3.
           05  PART-B REDEFINES PART-A.
               10  B1 PIC 9(5).
               10  B2 REDEFINES B1 PIC X(5).
               10  B3 PIC X(8).
           05  PART-C REDEFINES PART-A PIC X(13).
           05  BEHIND PIC X(2).
       77  ALONE PIC S9(9) COMP.
       01  ANOTHER PIC X(20).
";
    compare("redefined", redefined);
    let inherited = "
       01  REC.
           05  NUMS COMP-3.
               10  P1 PIC S9(5).
               10  P2 PIC 9(4).
           05  BINS USAGE BINARY.
               10  Q1 PIC S9(5).
               10  Q2 PIC 9(4).
           05  SIGNED-ONES SIGN LEADING SEPARATE.
               10  R1 PIC S9(5).
               10  R2 PIC 9(4).
           05  DEEP.
            06  D6.
             07  D7.
              08  D8 PIC X.
           05  LAST-ONE PIC X.
";
    compare("inherited", inherited);
}

#[test]
fn synchronized_items() {
    let simple = "
       01  REC.
           05  A1 PIC X.
           05  A2 PIC S9(4) COMP SYNC.
           05  A3 PIC X.
           05  A4 PIC S9(9) COMP SYNCHRONIZED RIGHT.
           05  A5 PIC X.
           05  A6 PIC S9(18) COMP SYNC.
           05  A7 PIC X.
           05  A8 COMP-1 SYNC.
           05  A9 PIC X.
           05  B1 COMP-2 SYNC.
           05  B2 PIC X.
           05  B3 PIC S9(5) COMP-3 SYNC.
           05  B4 PIC X.
";
    compare("sync", simple);
    let tables = "
       01  REC.
           05  A1 PIC X.
           05  GRP.
               10  G1 PIC X.
               10  G2 PIC S9(9) COMP SYNC.
           05  ROW OCCURS 3 TIMES.
               10  R1 PIC S9(9) COMP SYNC.
               10  R2 PIC X(4).
           05  Z1 PIC X.
";
    compare("sync-tables", tables);
}

/// The language puts slack bytes behind the last item of an occurrence; this compiler puts them in
/// front of it, and that is noted.
#[test]
fn slack_behind_an_occurrence_is_where_the_language_has_it() {
    let text = "
       01  REC.
           05  ROW OCCURS 3 TIMES.
               10  R1 PIC S9(9) COMP SYNC.
               10  R2 PIC X.
";
    let book = Copybook::parse("slack", text.as_bytes(), &|_| None).unwrap();
    let find = |name: &str| book.records[0].find(name).unwrap();
    assert_eq!((find("ROW").bytes, find("R2").offset, book.records[0].bytes), (8, 4, 24));
    assert!(book.notes[0].contains("slack bytes"), "{:?}", book.notes);
    let small = Copybook::parse("small", b"       01  A PIC 9(2) COMP-5.", &|_| None).unwrap();
    assert_eq!(small.records[0].bytes, 2);
    assert!(small.notes[0].contains("one byte"), "{:?}", small.notes);
}
