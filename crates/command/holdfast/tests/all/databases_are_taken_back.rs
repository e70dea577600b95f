//! What programs committed in databases is taken back, with index entries and logical
//! relationships; a program that stands in the way is named, and the databases stay whole.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::PathBuf;

use crate::common::in_time::RunInTime as _;
use crate::common::{Ended, Folder, SECRET, issue, on, system_of};
use serde_json::Value;

/// Customers by key and by town, with sales; orders whose lines lead to customers.
const SOURCES: &str = "* CUSTOMERS AND ORDERS
         DBD   NAME=CUSTDB,ACCESS=(HIDAM,VSAM)
         DATASET DD1=CUSTDD
         SEGM  NAME=CUST,PARENT=0,BYTES=6,RULES=(PPV)
         FIELD NAME=(CNO,SEQ,U),START=1,BYTES=2
         FIELD NAME=TOWN,START=3,BYTES=4
         LCHILD NAME=(CUSTKEY,CUSTPX),POINTER=INDX
         LCHILD NAME=(TOWNKEY,CUSTTX),POINTER=INDX
         XDFLD NAME=XTOWN,SRCH=TOWN
         LCHILD NAME=(LINE,ORDDB)
         SEGM  NAME=SALE,PARENT=CUST,BYTES=4
         FIELD NAME=(SNO,SEQ,U),START=1,BYTES=2
         DBDGEN
         FINISH
         END
         DBD   NAME=CUSTPX,ACCESS=(INDEX,VSAM)
         DATASET DD1=CUSTPX
         SEGM  NAME=CUSTKEY,PARENT=0,BYTES=2
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(CUST,CUSTDB),INDEX=CNO
         DBDGEN
         FINISH
         END
         DBD   NAME=CUSTTX,ACCESS=(INDEX,VSAM)
         DATASET DD1=CUSTTX,OVFLW=CUSTTO
         SEGM  NAME=TOWNKEY,PARENT=0,BYTES=4
         FIELD NAME=(KEY,SEQ,M),START=1,BYTES=4
         LCHILD NAME=(CUST,CUSTDB),INDEX=XTOWN
         DBDGEN
         FINISH
         END
         DBD   NAME=ORDDB,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,1,50,500)
         DATASET DD1=ORDDD
         SEGM  NAME=ORDER,PARENT=0,BYTES=2
         FIELD NAME=(ONO,SEQ,U),START=1,BYTES=2
         SEGM  NAME=LINE,BYTES=4,PTR=(TWIN,LPARNT),                    X
               PARENT=((ORDER),(CUST,PHYSICAL,CUSTDB)),RULES=(VVV)
         FIELD NAME=(LKEY,SEQ,U),START=1,BYTES=2
         DBDGEN
         FINISH
         END
         PCB   TYPE=DB,DBDNAME=CUSTDB,PROCOPT=AP,KEYLEN=4
         SENSEG NAME=CUST,PARENT=0
         SENSEG NAME=SALE,PARENT=CUST
         PCB   TYPE=DB,DBDNAME=ORDDB,PROCOPT=A,KEYLEN=4
         SENSEG NAME=ORDER,PARENT=0
         SENSEG NAME=LINE,PARENT=ORDER
         PCB   TYPE=DB,DBDNAME=CUSTDB,PROCOPT=A,KEYLEN=4,PROCSEQ=CUSTTX
         SENSEG NAME=CUST,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=SELLER,CMPAT=YES
         END
";

struct Site {
    folder: Folder,
    dir: PathBuf,
}

impl Site {
    fn new(test: &str) -> Site {
        let (folder, dir) = system_of(test, SOURCES, "");
        Site { folder, dir }
    }

    fn run(&self, words: &[&str], rest: &[&str]) -> Ended {
        on(SECRET, &[words, &["-s"]].concat(), &self.dir, rest)
    }

    /// A program: its calls, all committed at its end. Answers its unit of work.
    fn program(&self, pcb: &str, cards: &[String]) -> String {
        let options = ["--psb", "SELLER", "--pcb", pcb, "--json"];
        let ended = issue(&self.dir, &options, &cards.concat()).done();
        for line in ended.out.lines() {
            let call: Value = serde_json::from_str(line).unwrap();
            assert_eq!(call["status"], "  ", "{}", ended.out);
        }
        let list = self.run(&["backout"], &["--list", "--json"]).done().json();
        format!("uow{}", list.as_array().unwrap().last().unwrap()["unit"])
    }

    fn back_out(&self, units: &[&str]) -> Ended {
        self.run(&["backout"], units)
    }

    /// Both databases are whole, and as they are unloaded.
    fn contents(&self) -> Vec<Vec<u8>> {
        let unload = |database: &&str| {
            self.run(&["db", "verify"], &[database]).done();
            let path = self.folder.join("unloaded");
            let _ = fs::remove_file(&path);
            self.run(&["unload"], &[database, path.to_str().unwrap()]).done();
            let file = fs::read(path).unwrap();
            // Without what it says about when it was made.
            let head = usize::from(u16::from_be_bytes([file[0], file[1]]));
            file[head..].to_vec()
        };
        ["CUSTDB", "ORDDB"].iter().map(unload).collect()
    }
}

fn insert(path: &[&str], segment: &str, data: &str) -> String {
    let mut cards = String::new();
    for (number, ssa) in path.iter().enumerate() {
        let front = if number == 0 { "L        ISRT" } else { "" };
        cards += &format!("{:71}X\n", format!("{front:15}{ssa}"));
    }
    let front = if path.is_empty() { "L        ISRT" } else { "" };
    cards + &format!("{front:15}{segment}\n{:15}{data}\n", "L        DATA")
}

fn delete(ssa: &str) -> String {
    format!("{:15}{ssa}\n{:15}\n", "L        GHU", "L        DLET")
}

fn replace(ssa: &str, data: &str) -> String {
    format!("{:15}{ssa}\n{:15}\n{:15}{data}\n", "L        GHU", "L        REPL", "L        DATA")
}

#[test]
fn segments_index_entries_and_logical_children_are_taken_back_together() {
    let site = Site::new("taken-back");
    let (c1, c2) = ("CUST    (CNO      =C1)", "CUST    (CNO      =C2)");
    let customers = ["C1ROMA", "C2OSLO"].map(|data| insert(&[], "CUST", data));
    site.program("2", &customers);
    site.program("2", &[insert(&[c1], "SALE", "S1aa")]);
    site.program("3", &[insert(&[], "ORDER", "O1")]);
    let before = site.contents();

    // A changed index key, a subtree that goes, a logical child that comes.
    let moved = site.program("2", &[replace(c2, "C2BONN")]);
    let gone = site.program("2", &[delete(c1)]);
    let line = site.program("3", &[insert(&["ORDER   (ONO      =O1)"], "LINE", "C2xx")]);
    let after = site.contents();
    assert_ne!(before, after);
    let check = site.run(&["backout"], &["--check", "--json", &moved, &gone, &line]);
    let check = check.done().json();
    assert_eq!(check["sets"]["CUSTTX"], 3, "two entries of C2, one of C1: {check}");
    assert_eq!(site.contents(), after, "a check changes nothing");
    site.back_out(&[&line, &moved]).done();
    site.back_out(&[&gone]).done();
    assert_eq!(site.contents(), before);
}

#[test]
fn whoever_has_added_beneath_what_would_go_is_named() {
    let site = Site::new("in-the-way");
    site.program("3", &[insert(&[], "ORDER", "O1")]);
    let empty = site.contents();
    let parent = site.program("2", &[insert(&[], "CUST", "C1ROMA")]);
    let child = site.program("2", &[insert(&["CUST    (CNO      =C1)"], "SALE", "S1aa")]);
    site.back_out(&[&parent]).failed("HFV011", &["CUSTDB", &child]);
    site.back_out(&[&child]).done();
    // A logical child stands beneath it, too, in another database.
    let parent = site.program("2", &[insert(&[], "CUST", "C2OSLO")]);
    let logical = site.program("3", &[insert(&["ORDER   (ONO      =O1)"], "LINE", "C2xx")]);
    site.contents();
    site.back_out(&[&parent]).failed("HFV011", &["ORDDB.LINE.LOGICAL", &logical]);
    site.back_out(&["--check", &parent]).failed("HFV011", &[&logical]);
    site.back_out(&[&parent, &logical]).done();
    assert_ne!(site.contents(), empty, "C1 is still there");
}

#[test]
fn a_logical_child_does_not_come_back_without_its_parent() {
    let site = Site::new("orphan");
    site.program("2", &["C1ROMA", "C2OSLO"].map(|data| insert(&[], "CUST", data)));
    site.program("3", &[insert(&[], "ORDER", "O1")]);
    site.program("3", &[insert(&["ORDER   (ONO      =O1)"], "LINE", "C2xx")]);
    let before = site.contents();
    let path = "ORDER   (ONO      =O1)";
    let call = format!(
        "{:71}X\n{:15}LINE    (LKEY     =C2)\n",
        format!("{:15}{path}", "L        GHU"),
        ""
    );
    let child = site.program("3", &[call + &format!("{:15}\n", "L        DLET")]);
    let parent = site.program("2", &[delete("CUST    (CNO      =C2)")]);
    site.back_out(&[&child]).failed("HFV011", &[&parent]);
    site.back_out(&[&child, &parent]).done();
    assert_eq!(site.contents(), before);
}

/// A typing error took the definitions away from under stored data.
#[test]
fn what_the_system_itself_has_committed_is_not_taken_back() {
    let site = Site::new("of-the-system");
    let list = |set: &str| {
        let list = site.run(&["backout"], &["--list", "--set", set, "--json"]).done().json();
        let units: Vec<String> =
            list.as_array().unwrap().iter().map(|row| format!("uow{}", row["unit"])).collect();
        units
    };
    let program = site.program("2", &[insert(&[], "CUST", "C1ROMA")]);
    let before = site.contents();
    for set in ["HOLDFAST.DEFINITIONS", "HOLDFAST.DATABASES"] {
        let unit = &list(set)[0];
        for words in [&[unit.as_str()][..], &["--check", unit], &[&program, unit]] {
            site.back_out(words).failed("HFV016", &[unit, set, "Leave it out", "gen -s"]);
        }
    }
    assert_eq!(site.contents(), before);
    site.back_out(&[&program]).done();
}

/// One data set of a database went back by itself without a word, and its index led elsewhere.
#[test]
fn a_part_of_a_database_goes_back_alone_only_if_that_is_meant() {
    let site = Site::new("apart");
    site.program("2", &[insert(&[], "CUST", "C1ROMA")]);
    let copies = site.folder.join("copies");
    let to = ["--all", "--to", copies.to_str().unwrap(), "--json"];
    let copied = site.run(&["image-copy"], &to).done().json();
    let point = format!("{:#x}", copied["end"].as_u64().unwrap());
    site.program("2", &[insert(&[], "CUST", "C2OSLO")]);
    let after = site.contents();
    let part = ["--set", "CUSTDB", "--to", &point];
    let whole = format!("`holdfast recover -s {} --db CUSTDB`", site.dir.display());
    site.run(&["recover"], &part).failed("HFV014", &["CUSTTX", &whole, "--yes"]);
    let checked = site.run(&["recover"], &[&part[..], &["--check"]].concat()).done();
    assert!(checked.err.contains("warning: of database CUSTDB"), "{}", checked.err);
    assert_eq!(site.contents(), after, "nothing was done");
    for fine in [&["--db", "CUSTDB", "--to", &point, "--check"][..], &["--set", "CUSTDB"]] {
        let fine = site.run(&["recover"], fine).done();
        assert!(!fine.err.contains("CUSTTX"), "{}", fine.err);
    }
    let meant = site.run(&["recover"], &[&part[..], &["--yes"]].concat()).done();
    assert!(meant.err.contains("CUSTTX"), "{}", meant.err);
    assert_eq!(site.run(&["db", "verify"], &["CUSTDB"]).code, 1);
    site.run(&["recover"], &["--db", "CUSTDB", "--to", &point]).done();
    site.run(&["db", "verify"], &["CUSTDB"]).done();
}

#[test]
fn a_data_set_of_a_database_is_not_dropped_by_mistake() {
    let site = Site::new("dropped");
    site.program("2", &[insert(&[], "CUST", "C1ROMA")]);
    let before = site.contents();
    let drop = |rest: &[&str]| on(SECRET, &["sets", "drop"], &site.dir, rest);
    let empty = format!("`holdfast db empty -s {} CUSTDB --yes`", site.dir.display());
    for set in ["CUSTDB", "CUSTTX"] {
        drop(&[set]).failed("HFY100", &["database CUSTDB", &empty, &format!("{set} --yes`")]);
    }
    assert_eq!(site.contents(), before);
    drop(&["CUSTTX", "--yes"]).done();
    assert_eq!(site.run(&["db", "verify"], &["CUSTDB"]).code, 1);
}

/// A moment belongs to what was committed by then, and to nothing that began afterwards.
#[test]
fn a_database_that_was_emptied_by_mistake_comes_back_as_of_a_moment_before() {
    let site = Site::new("emptied");
    site.program("2", &[insert(&[], "CUST", "C1ROMA"), insert(&[], "CUST", "C2OSLO")]);
    let line = insert(&["ORDER   (ONO     = O1)"], "LINE", "C1L1");
    site.program("3", &[insert(&[], "ORDER", "O1"), line]);
    let before = site.contents();
    for with_copy in [false, true] {
        if with_copy {
            let copies = site.folder.join("copies");
            site.run(&["image-copy"], &["--all", "--to", copies.to_str().unwrap()]).done();
        }
        // Moments are told in seconds.
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        let answer =
            std::process::Command::new("date").args(["-u", "+%F %T"]).output_in_time().unwrap();
        let moment = String::from_utf8(answer.stdout).unwrap().trim().to_owned();
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        site.run(&["db", "empty"], &["ORDDB", "--yes"]).done();
        assert_ne!(site.contents(), before);
        site.run(&["recover"], &["--db", "ORDDB", "--to", &moment]).done();
        assert_eq!(site.contents(), before, "with a copy: {with_copy}");
        // Nothing was committed since.
        site.run(&["recover"], &["--db", "ORDDB", "--to", &moment]).done();
        assert_eq!(site.contents(), before, "once more, with a copy: {with_copy}");
    }
}
