//! Partitions that are taken offline or that a program is limited to; databases with physical
//! pairs, unloaded and loaded again, byte for byte.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::PathBuf;

use crate::common::{Ended, Folder, SECRET, issue, on, system_of};
use serde_json::Value;

const SOURCES: &str = "* DAYS IN PARTITIONS, AND TWO DATABASES WITH A PHYSICAL PAIR
         DBD   NAME=HISTDB,ACCESS=(PHIDAM,OSAM)
         SEGM  NAME=DAY,PARENT=0,BYTES=6
         FIELD NAME=(DATE,SEQ,U),START=1,BYTES=3
         DBDGEN
         FINISH
         END
         PCB   TYPE=DB,DBDNAME=HISTDB,PROCOPT=A,KEYLEN=3
         SENSEG NAME=DAY,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=DAYS,CMPAT=YES
         END
         DBD   NAME=STUDDB,ACCESS=(HISAM,VSAM)
         DATASET DD1=STUDDD,OVFLW=STUDOV
         SEGM  NAME=STUD,PARENT=0,BYTES=4
         FIELD NAME=(STNO,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(ATTD,CRSEDB),POINTER=NONE,PAIR=ENRL
         SEGM  NAME=ENRL,BYTES=3,RULES=(LVL),PTR=PAIRED,               X
               PARENT=((STUD,DBLE),(CRSE,PHYSICAL,CRSEDB))
         FIELD NAME=(CNUM,SEQ,U),START=1,BYTES=2
         DBDGEN
         FINISH
         END
         DBD   NAME=CRSEDB,ACCESS=(HISAM,VSAM)
         DATASET DD1=CRSEDD,OVFLW=CRSEOV
         SEGM  NAME=CRSE,PARENT=0,BYTES=4
         FIELD NAME=(CRNO,SEQ,U),START=1,BYTES=2
         LCHILD NAME=(ENRL,STUDDB),POINTER=NONE,PAIR=ATTD
         SEGM  NAME=ATTD,BYTES=3,RULES=(LVL),PTR=PAIRED,               X
               PARENT=((CRSE,DBLE),(STUD,PHYSICAL,STUDDB))
         DBDGEN
         FINISH
         END
         PCB   TYPE=DB,DBDNAME=STUDDB,PROCOPT=A,KEYLEN=4
         SENSEG NAME=STUD,PARENT=0
         SENSEG NAME=ENRL,PARENT=STUD
         PCB   TYPE=DB,DBDNAME=CRSEDB,PROCOPT=A,KEYLEN=4
         SENSEG NAME=CRSE,PARENT=0
         SENSEG NAME=ATTD,PARENT=CRSE
         PSBGEN LANG=COBOL,PSBNAME=SCHOOL,CMPAT=YES
         END
";

struct Site {
    folder: Folder,
    dir: PathBuf,
}

impl Site {
    fn new(test: &str) -> Site {
        Site::with(test, SOURCES)
    }

    fn with(test: &str, source: &str) -> Site {
        let partitions = "\n[database.HISTDB]\npartition = [\n\
             { name = \"H1\", high_key = \"200\" },\n\
             { name = \"H2\", high_key = \"400\" },\n\
             { name = \"H3\" },\n]\n";
        let (folder, dir) = system_of(test, source, partitions);
        Site { folder, dir }
    }

    fn run(&self, words: &[&str], rest: &[&str]) -> Ended {
        on(SECRET, &[words, &["-s"]].concat(), &self.dir, rest)
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    /// Issues the calls of a deck; status and data of each.
    fn calls(&self, rest: &[&str], cards: &str) -> (Ended, Vec<(String, String)>) {
        let ended = issue(&self.dir, &[rest, &["--json"]].concat(), cards);
        let lines = ended.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let calls = lines.map(|line| (text(&line["status"]), unhex(&text(&line["data"]))));
        let calls = calls.collect();
        (ended, calls)
    }
}

fn unhex(text: &str) -> String {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    text.as_bytes().chunks(2).map(|pair| char::from(byte(pair))).collect()
}

/// An ISRT of one segment.
fn insert(segment: &str, data: &str) -> String {
    format!("{:15}{segment}\n{:15}{data}\n", "L        ISRT", "L        DATA")
}

/// An ISRT below a root with this key.
fn insert_below(root: &str, (segment, data): (&str, &str)) -> String {
    let call = format!("{:15}{root}", "L        ISRT");
    let next = format!("{:15}{segment}", "");
    format!("{call:71}X\n{next}\n{:15}{data}\n", "L        DATA")
}

fn statuses(calls: &[(String, String)]) -> Vec<&str> {
    calls.iter().map(|(status, _)| status.as_str()).collect()
}

#[test]
fn a_program_sees_the_partitions_that_it_is_limited_to() {
    let site = Site::new("limited");
    let deck: String =
        ["110", "240", "440"].map(|key| insert("DAY", &format!("{key}AAA"))).concat();
    let (ended, calls) = site.calls(&["--psb", "DAYS"], &deck);
    ended.done();
    assert_eq!(statuses(&calls), ["  "; 3]);
    let cards = site.path("cards");
    fs::write(&cards, "HALDB PCB=(1,H2,NUM=1)\n").unwrap();
    let dd = format!("DFSHALDB={cards}");
    let limited = ["--psb", "DAYS", "--dd", &dd];
    let (ended, calls) = site.calls(&limited, "L   9999 GN\n");
    ended.done();
    let shown: Vec<&str> = calls.iter().map(|(_, data)| data.as_str()).collect();
    assert_eq!((statuses(&calls), shown), (vec!["  ", "GB"], vec!["240AAA", ""]));
    fs::write(&cards, "* NONE OF THEM\nHALDB PCB=(1,H7)\n").unwrap();
    let (ended, _) = site.calls(&limited, "L        GN\n");
    assert_eq!(ended.code, 1);
    for word in ["HFJ006", "DFSHALDB", "card 2", "no partition H7", "H1, H2, H3"] {
        assert!(ended.err.contains(word), "{word} in {}", ended.err);
    }
}

#[test]
fn nobody_gets_to_a_partition_that_is_offline() {
    let site = Site::new("offline");
    let deck: String =
        ["110", "240", "440"].map(|key| insert("DAY", &format!("{key}AAA"))).concat();
    site.calls(&["--psb", "DAYS"], &deck).0.done();
    let partition =
        |what: &str, name: &str| site.run(&["db", "partition", what], &["histdb", name]);
    assert!(partition("offline", "h2").done().out.contains("partition H2 of HISTDB is offline"));
    assert!(partition("offline", "H2").done().out.contains("already"));
    let unknown = partition("offline", "H9");
    assert!(unknown.code == 1 && unknown.err.contains("no partition H9"), "{}", unknown.err);
    let status = site.run(&["db", "status"], &["HISTDB", "--json"]).done().json();
    assert_eq!(status["partitions"][1]["state"], "offline");
    assert_eq!(status["segments"][0]["segments"], 3, "utilities go on");
    assert!(site.run(&["db", "status"], &["HISTDB"]).done().out.contains("H2"));
    site.run(&["db", "verify"], &["HISTDB"]).done();
    let (ended, calls) = site.calls(&["--psb", "DAYS"], "L   9999 GN\n");
    assert!(ended.code == 1 && ended.err.contains("U3303"), "{}", ended.err);
    assert!(ended.err.contains("partition H2 of database HISTDB is offline"), "{}", ended.err);
    assert_eq!(calls.first().map(|(_, data)| data.as_str()), Some("110AAA"));
    partition("online", "H2").done();
    let (ended, calls) = site.calls(&["--psb", "DAYS"], "L   9999 GN\n");
    ended.done();
    assert_eq!(statuses(&calls), ["  ", "  ", "  ", "GB"]);
    let other = site.run(&["db", "partition", "offline"], &["STUDDB", "H2"]);
    assert!(other.code == 1 && other.err.contains("HISAM"), "{}", other.err);
}

#[test]
fn both_sides_of_a_physical_pair_are_unloaded_and_loaded() {
    let site = Site::new("pairs");
    let mut deck =
        [("STUD", "S1AA"), ("STUD", "S2BB")].map(|(name, data)| insert(name, data)).concat();
    deck += &format!("{:15}CRSEDB\n", "S");
    deck += &["C1PQ", "C2RS"].map(|data| insert("CRSE", data)).concat();
    for (course, data) in [("C1", "S1x"), ("C1", "S2y"), ("C2", "S1z")] {
        deck += &insert_below(&format!("CRSE    (CRNO     ={course})"), ("ATTD", data));
    }
    let (ended, calls) = site.calls(&["--psb", "SCHOOL"], &deck);
    ended.done();
    assert_eq!(statuses(&calls), ["  "; 7]);
    let unload = |database: &str, name: &str| {
        let path = site.path(name);
        let ended = site.run(&["unload"], &[database, &path]).done();
        (ended.out, fs::read(path).unwrap())
    };
    let (students, one) = unload("STUDDB", "students");
    let (_, other) = unload("CRSEDB", "courses");
    assert!(students.contains("5 segments") && students.contains("ENRL"), "{students}");
    for database in ["STUDDB", "CRSEDB"] {
        site.run(&["db", "empty"], &[database, "--yes"]).done();
    }
    site.run(&["load"], &["STUDDB", &site.path("students")]).done();
    let status = site.run(&["db", "status"], &["STUDDB", "--json"]).done().json();
    assert_eq!(status["state"], "waiting");
    let (ended, _) = site.calls(&["--psb", "SCHOOL"], "L        GN\n");
    assert!(ended.code == 1 && ended.err.contains("HFH013"), "{}", ended.err);
    site.run(&["load"], &["CRSEDB", &site.path("courses")]).done();
    assert_eq!(unload("STUDDB", "students-again").1, one);
    assert_eq!(unload("CRSEDB", "courses-again").1, other);
    for database in ["STUDDB", "CRSEDB"] {
        site.run(&["db", "verify"], &[database]).done();
    }
    let (ended, calls) = site.calls(&["--psb", "SCHOOL"], "L   9999 GN\n");
    ended.done();
    let shown: Vec<&str> = calls.iter().map(|(_, data)| data.as_str()).collect();
    assert_eq!(shown, ["S1AA", "C1x", "C2z", "S2BB", "C1y", ""]);
}

#[test]
fn what_was_deleted_on_one_path_of_a_pair_stays_so_through_unload_and_load() {
    let site = Site::with("one-path", &SOURCES.replace("RULES=(LVL)", "RULES=(LLL)"));
    let mut deck =
        [("STUD", "S1AA"), ("STUD", "S2BB")].map(|(name, data)| insert(name, data)).concat();
    deck += &format!("{:15}CRSEDB\n", "S");
    deck += &["C1PQ", "C2RS"].map(|data| insert("CRSE", data)).concat();
    for (course, data) in [("C1", "S1x"), ("C1", "S2y"), ("C2", "S1z")] {
        deck += &insert_below(&format!("CRSE    (CRNO     ={course})"), ("ATTD", data));
    }
    // One attendance goes, and a course with the other one; both are still there for students.
    let path = "L        GHU   CRSE    (CRNO     =C1)";
    deck += &format!("{path:71}X\n{:15}ATTD\n", "");
    deck += "L        DLET\nL        GHU   CRSE    (CRNO     =C2)\nL        DLET\n";
    let (ended, calls) = site.calls(&["--psb", "SCHOOL"], &deck);
    ended.done();
    assert_eq!(statuses(&calls), ["  "; 11], "{calls:?}");
    let all = format!("L   9999 GN\n{:15}CRSEDB\nL   9999 GN\n", "S");
    let shown = || {
        let (ended, calls) = site.calls(&["--psb", "SCHOOL"], &all);
        ended.done();
        calls.into_iter().map(|(_, data)| data).collect::<Vec<_>>()
    };
    let before = ["S1AA", "C1x", "C2z", "S2BB", "C1y", "", "C1PQ", "S2y", ""];
    assert_eq!(shown(), before);
    let order = ["STUDDB", "CRSEDB"];
    for _ in 0..2 {
        for database in order {
            let file = [database, "--replace", &site.path(database)];
            let answer = site.run(&["unload"], &file).done();
            assert_eq!(answer.err.contains("3 segments in the file"), database == "CRSEDB");
        }
        for database in order {
            let answer = site.run(&["db", "empty"], &[database, "--yes"]).done();
            let orphans = answer.err.contains("CRSEDB holds logical children");
            assert_eq!(orphans, database == "STUDDB", "{}", answer.err);
        }
        for database in order {
            site.run(&["load"], &[database, &site.path(database)]).done();
        }
        assert_eq!(shown(), before);
        for database in order {
            site.run(&["db", "verify"], &[database]).done();
        }
    }
}

#[test]
fn partitions_that_the_settings_no_longer_name_keep_their_database_from_being_taken_for_empty() {
    let site = Site::new("unnamed");
    let cards = "L        ISRT  DAY\nL        DATA  150abc\n";
    site.calls(&["--psb", "DAYS"], cards).0.done();
    let config = site.dir.join("holdfast.toml");
    let right = fs::read_to_string(&config).unwrap();
    let renamed = right.replace("name = \"H", "name = \"Q");
    for wrong in [right.replace("[database.HISTDB]", "[database.HISTDX]"), renamed] {
        fs::write(&config, wrong).unwrap();
        site.run(&["db", "status"], &["HISTDB"]).failed("HFH006", &["HISTDB"]);
    }
    let verified = on(SECRET, &["verify", "--json"], &site.dir, &[]);
    let finding = &verified.json()["findings"][0];
    assert_eq!((verified.code, finding["object"].as_str()), (1, Some("configuration")));
    assert!(finding["what"].as_str().unwrap().contains("HISTDB"), "{finding}");
    fs::write(&config, right).unwrap();
    let status = site.run(&["db", "status"], &["HISTDB", "--json"]).done().json();
    assert_eq!(status["segments"][0]["segments"], 1);
}
