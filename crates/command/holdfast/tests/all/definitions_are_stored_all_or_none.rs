//! Sources become definitions of a system: made once, left alone when nothing changed, and none of
//! them stored while one has an error, which is shown with its card.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::Path;

use crate::common::{Ended, Folder, SECRET, files, init, issue, on};
use serde_json::Value;

const CUSTDB: &str = "* CUSTOMERS AND THEIR ACCOUNTS
         DBD   NAME=CUSTDB,ACCESS=(HIDAM,VSAM)
         DATASET DD1=CUSTDD,SIZE=4096
         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=80,PTR=TB
         FIELD NAME=(CUSTNO,SEQ,U),START=1,BYTES=8,TYPE=C
         LCHILD NAME=(CUSTKEY,CUSTPX),PTR=INDX
         SEGM  NAME=ACCOUNT,PARENT=CUSTOMER,BYTES=40
         FIELD NAME=(ACCTNO,SEQ,U),START=1,BYTES=10
         COPY  BALANCE
         DBDGEN
         FINISH
         END
";

const CUSTPX: &str = "         DBD   NAME=CUSTPX,ACCESS=INDEX
         DATASET DD1=CUSTPXDD
         SEGM  NAME=CUSTKEY,PARENT=0,BYTES=8
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=8
         LCHILD NAME=(CUSTOMER,CUSTDB),INDEX=CUSTNO
         DBDGEN
";

const TELLER: &str = "         PCB   TYPE=DB,DBDNAME=CUSTDB,PROCOPT=A,KEYLEN=18
         SENSEG NAME=CUSTOMER,PARENT=0
         SENSEG NAME=ACCOUNT,PARENT=CUSTOMER
         PSBGEN LANG=COBOL,PSBNAME=TELLER
";

const BALANCE: &str = "         FIELD NAME=BALANCE,START=11,BYTES=6,TYPE=P\n";

/// Puts the sources into a folder, and what is to be copied into another one.
fn sources(folder: &Folder) -> (String, String) {
    let (lib, copies) = (folder.join("lib"), folder.join("copies"));
    fs::create_dir_all(lib.join("psb")).unwrap();
    fs::create_dir_all(&copies).unwrap();
    fs::write(lib.join("custdb.txt"), CUSTDB).unwrap();
    fs::write(lib.join("custpx"), CUSTPX).unwrap();
    fs::write(lib.join("psb/teller.dbd"), TELLER).unwrap();
    fs::write(lib.join("notes.md"), "What the tellers asked for.\n").unwrap();
    fs::write(lib.join(".hidden"), TELLER).unwrap();
    fs::write(copies.join("balance.cpy"), BALANCE).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    (text(&lib), text(&copies))
}

fn compile(dir: &Path, rest: &[&str]) -> Ended {
    on(SECRET, &["gen", "-s"], dir, rest)
}

/// The members of a report, each with its state.
fn states(report: &Value) -> Vec<String> {
    let members = report["members"].as_array().unwrap().iter();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    members
        .map(|one| format!("{} {} {}", text(one, "kind"), text(one, "name"), text(one, "state")))
        .collect()
}

#[test]
fn definitions_are_stored_all_or_none() {
    let folder = Folder::new("gen");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let (lib, copies) = sources(&folder);
    // What others COPY may lie among them.
    fs::write(format!("{lib}/fields.cpy"), "         FIELD NAME=CITY,BYTES=4,START=9\n").unwrap();

    let checked = compile(&dir, &[&lib, "-I", &copies, "--check", "--json"]).done().json();
    assert_eq!((&checked["stored"], &checked["errors"]), (&false.into(), &0.into()));

    let made = compile(&dir, &[&lib, "-I", &copies]).done();
    for line in ["DBD CUSTDB: made", "DBD CUSTPX: made", "PSB TELLER: made"] {
        assert!(made.out.contains(line), "{line} in {}{}", made.out, made.err);
    }
    assert!(made.out.contains("notes.md: skipped, it is neither DBD nor PSB"), "{}", made.out);
    let part = "fields.cpy: skipped, it is neither DBD nor PSB (card 1: FIELD stands outside";
    assert!(made.out.contains(part), "{}", made.out);
    assert!(!made.out.contains(".hidden"), "{}", made.out);
    assert_eq!(made.err, "", "there is nothing to warn of");

    let again = compile(&dir, &[&lib, "-I", &copies, "--json"]).done().json();
    let alone = ["DBD CUSTDB left_alone", "DBD CUSTPX left_alone", "PSB TELLER left_alone"];
    assert_eq!(states(&again), alone);

    // Alone, a PSB is fitted to what the system has.
    let teller = format!("{lib}/psb/teller.dbd");
    fs::write(&teller, TELLER.replace("PROCOPT=A", "PROCOPT=G")).unwrap();
    let changed = compile(&dir, &[&teller, "--json"]).done().json();
    assert_eq!(states(&changed), ["PSB TELLER changed"]);
    assert_eq!(
        on(SECRET, &["verify", "--json"], &dir, &[]).done().json()["findings"][0],
        Value::Null
    );
}

#[test]
fn a_wrong_card_is_shown_and_nothing_is_stored() {
    let folder = Folder::new("gen-wrong");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let (lib, copies) = sources(&folder);
    let index = format!("{lib}/custpx");
    fs::write(&index, CUSTPX.replace("BYTES=8\n         FIELD", "BYTES=8X\n         FIELD"))
        .unwrap();

    let before = files(&dir.join("data"));
    let ended = compile(&dir, &[&lib, "-I", &copies]);
    let shown = ["custpx:3:44", "SEGM  NAME=CUSTKEY,PARENT=0,BYTES=8X", "^^", "HFG111"];
    let ended = ended.failed("HFY100", &shown);
    assert!(ended.out.contains("DBD CUSTPX: has errors"), "{}", ended.out);
    assert!(ended.out.contains("DBD CUSTDB: not stored"), "{}", ended.out);
    assert_eq!(files(&dir.join("data")), before);

    let report = compile(&dir, &[&lib, "-I", &copies, "--json"]);
    assert_eq!((report.code, report.err.as_str()), (1, ""));
    let report = report.json();
    let wrong = ["DBD CUSTDB held_back", "DBD CUSTPX wrong", "PSB TELLER held_back"];
    assert_eq!(
        (states(&report), &report["stored"]),
        (wrong.map(str::to_owned).into(), &false.into())
    );
    let printed = &report["diagnostics"][0];
    assert_eq!((&printed["card"], &printed["column"]), (&3.into(), &44.into()));
    assert!(printed["path"].as_str().unwrap().ends_with("custpx"), "{printed}");
}

#[test]
fn what_does_not_fit_is_an_error_of_the_one_that_changed() {
    let folder = Folder::new("gen-fit");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let (lib, copies) = sources(&folder);
    let teller = format!("{lib}/psb/teller.dbd");
    compile(&dir, &[&teller]).failed("HFY100", &["teller.dbd:1", "HFG201", "CUSTDB"]);
    compile(&dir, &[&teller, &teller, &lib, "-I", &copies]).done();

    // The stored PSB sees a segment that the new version of its database lacks.
    let text = CUSTDB.replace("NAME=ACCOUNT", "NAME=DEPOSIT");
    fs::write(format!("{lib}/custdb.txt"), text).unwrap();
    let custdb = format!("{lib}/custdb.txt");
    compile(&dir, &[&custdb, "-I", &copies]).failed("HFY100", &["PSB TELLER", "HFG202"]);

    let copy = format!("{lib}/twice");
    fs::copy(&teller, &copy).unwrap();
    compile(&dir, &[&teller, &copy]).failed("HFY100", &["twice:1", "given twice", "HFG116"]);
    assert_eq!(compile(&dir, &[&teller, "-I", "/nowhere"]).code, 2);
    assert_eq!(compile(&dir, &[]).code, 2);
    compile(&dir, &["/nowhere/at/all"]).failed("HFY100", &["/nowhere/at/all"]);
}

const BRANCHDB: &str = "         DBD   NAME=BRANCHDB,ACCESS=(HDAM,OSAM),RMNAME=(BRANDOM,1,100)
         DATASET DD1=BRANCHDD
         SEGM  NAME=BRANCH,PARENT=0,BYTES=40
         FIELD NAME=(NUMBER,SEQ,U),START=1,BYTES=4
         FIELD NAME=CITY,START=5,BYTES=10
         FIELD NAME=HEAD,START=15,BYTES=10
         FIELD NAME=/SX1
         LCHILD NAME=(ENTRY,CITYIX),PTR=INDX
         XDFLD NAME=XCITY,SRCH=CITY,SUBSEQ=/SX1,CONST=C'C'
         LCHILD NAME=(ENTRY,HEADIX),PTR=INDX
         XDFLD NAME=XHEAD,SRCH=HEAD,SUBSEQ=/SX1,CONST=C'H'
         DBDGEN
         DBD   NAME=(CITYIX,HEADIX),ACCESS=(INDEX,VSAM)
         DATASET DD1=BOTHDD
         SEGM  NAME=ENTRY,PARENT=0,BYTES=15
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=15
         LCHILD NAME=(BRANCH,BRANCHDB),INDEX=XCITY
         LCHILD NAME=(BRANCH,BRANCHDB),INDEX=XHEAD
         DBDGEN
         PCB   TYPE=DB,DBDNAME=BRANCHDB,PROCOPT=A,KEYLEN=4
         SENSEG NAME=BRANCH,INDICES=(CITYIX,HEADIX)
         PCB   TYPE=DB,NAME=BRANCHDB,PROCOPT=G,KEYLEN=10,PROCSEQ=HEADIX
         SENSEG NAME=BRANCH
         PSBGEN LANG=COBOL,PSBNAME=HEADS
";

#[test]
fn an_unknown_randomizer_is_shown_with_its_card() {
    let folder = Folder::new("gen-module");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let source = folder.join("branches");
    fs::write(&source, BRANCHDB).unwrap();
    let source = source.to_str().unwrap();
    let answer = compile(&dir, &[source, "--check", "--json"]).done().json();
    let [one] = &answer["diagnostics"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!((&one["code"], &one["severity"]), (&"HFW101".into(), &"warning".into()));
    assert_eq!((&one["card"], &one["column"]), (&1.into(), &56.into()));

    let settings = dir.join("holdfast.toml");
    let known =
        fs::read_to_string(&settings).unwrap() + "\n[randomizer.BRANDOM]\nkind = \"hash\"\n";
    fs::write(&settings, known).unwrap();
    let answer = compile(&dir, &[source, "--check", "--json"]).done().json();
    assert_eq!(answer["diagnostics"], Value::Array(Vec::new()));
}

#[test]
fn indexes_that_share_data_sets_are_kept_each_by_itself() {
    let folder = Folder::new("gen-shared");
    let dir = folder.join("bank");
    init(&dir, &[]);
    let source = folder.join("branches");
    fs::write(&source, BRANCHDB).unwrap();
    let made = compile(&dir, &[source.to_str().unwrap()]).done();
    for line in ["DBD CITYIX: made", "DBD HEADIX: made"] {
        assert!(made.out.contains(line), "{line} in {}{}", made.out, made.err);
    }
    let cards = "\
L        ISRT  BRANCH
L        DATA  0001PARIS     ZOE
E      OK
L        ISRT  BRANCH
L        DATA  0002ROMA      ANNA
E      OK
L        GU    BRANCH  (XCITY    =PARIS     )
E   01 OK BRANCH   00040001
S              2
L        GN
E   01 OK BRANCH   0010ANNA
L        GN
E   01 OK BRANCH   0010ZOE
L        GN
E      GB
";
    let ran = issue(&dir, &["--psb", "HEADS"], cards).done();
    assert!(ran.out.contains("6 comparisons, 0 different, 0 wrong"), "{}", ran.out);
    let status = on(SECRET, &["db", "status", "-s"], &dir, &["BRANCHDB"]).done();
    assert!(status.out.contains("CITYIX") && status.out.contains("HEADIX"), "{}", status.out);
    on(SECRET, &["db", "verify", "-s"], &dir, &["BRANCHDB"]).done();
}
