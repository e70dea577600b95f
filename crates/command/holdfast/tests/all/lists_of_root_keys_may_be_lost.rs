//! A list of root keys that is lost or spoilt keeps nobody from the data, and says what to do; only
//! who places roots needs it.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Ended, Folder, SECRET, issue, on, system_of};

const SOURCES: &str = "         DBD   NAME=LSDB,ACCESS=(HDAM,OSAM),RMNAME=(RLIST,1,9)
         SEGM  NAME=CUST,PARENT=0,BYTES=20,PTR=TB
         FIELD NAME=(CK,SEQ,U),START=1,BYTES=4
         FIELD NAME=TOWN,START=5,BYTES=4
         LCHILD NAME=(Y,LSDBY),PTR=INDX
         XDFLD NAME=XTOWN,SRCH=TOWN
         DBDGEN
         FINISH
         END
         DBD   NAME=LSDBY,ACCESS=(INDEX,VSAM)
         SEGM  NAME=Y,PARENT=0,BYTES=4
         FIELD NAME=(YK,SEQ,U),START=1,BYTES=4
         LCHILD NAME=(CUST,LSDB),INDEX=XTOWN
         DBDGEN
         FINISH
         END
         PCB   TYPE=DB,DBDNAME=LSDB,PROCOPT=A,KEYLEN=4
         SENSEG NAME=CUST,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=CLERK,CMPAT=YES
         END
";

const HASH: &str = "\n[randomizer.RLIST]\nkind = \"hash\"\n";
const LIST: &str = "\n[randomizer.RLIST]\nkind = \"list\"\nfile = \"roots.txt\"\n";
const INSERT: &str = "L        ISRT  CUST
L        DATA  0001AAAA
L        ISRT  CUST
L        DATA  0002BBBB
";

/// A system with two customers whose roots went by a hash, and a list that it has never seen.
fn system(test: &str) -> (Folder, PathBuf) {
    let (folder, dir) = system_of(test, SOURCES, HASH);
    insert(&dir);
    put(&dir, HASH, LIST);
    (folder, dir)
}

fn put(dir: &Path, from: &str, to: &str) {
    let settings = dir.join("holdfast.toml");
    let text = fs::read_to_string(&settings).unwrap();
    assert!(text.contains(from));
    fs::write(settings, text.replace(from, to)).unwrap();
}

fn insert(dir: &Path) {
    issue(dir, &["--psb", "CLERK"], INSERT).done();
}

fn run(dir: &Path, words: &[&str], rest: &[&str]) -> Ended {
    on(SECRET, &[words, &["-s"]].concat(), dir, rest)
}

fn lines_with(ended: &Ended, word: &str) -> usize {
    ended.err.lines().filter(|line| line.contains(word)).count()
}

#[test]
fn who_places_no_roots_needs_no_list() {
    let (folder, dir) = system("list-lost");
    let list = dir.join("roots.txt");
    for contents in [None, Some(&b"0001\n0001\n"[..]), Some(b"\xff\xfe\x00"), Some(b"123456789\n")]
    {
        let (code, word) = match contents {
            None => ("HFW003", "No such file"),
            Some(bytes) => {
                fs::write(&list, bytes).unwrap();
                (if bytes.starts_with(b"0001") { "HFW005" } else { "HFW004" }, "roots.txt")
            }
        };
        for (words, rest) in [
            (&["db", "status"][..], &["LSDB"][..]),
            (&["db", "verify"], &["LSDB"]),
            (&["index", "verify"], &["LSDB"]),
        ] {
            let ended = run(&dir, words, rest).done();
            assert!(ended.err.contains("roots.txt"), "{words:?}: {}", ended.err);
            assert_eq!(lines_with(&ended, "roots.txt"), 1, "{words:?}: {}", ended.err);
        }
        let file = folder.join("unloaded");
        let rest = ["LSDB", file.to_str().unwrap(), "--replace"];
        let unloaded = run(&dir, &["unload"], &rest).done();
        assert!(unloaded.out.contains("2 segments"), "{}", unloaded.out);
        // A user who looks after all of it is told which file, and what to do.
        let verified = on(SECRET, &["verify"], &dir, &[]);
        let expected_text = format!("{}{}", verified.out, verified.err);
        assert!(
            expected_text.contains("roots.txt") && expected_text.contains(word),
            "{expected_text}"
        );
        assert!(
            !expected_text.contains("entity not found") && !expected_text.contains("old settings"),
            "{expected_text}"
        );
        run(&dir, &["load"], &["LSDB", file.to_str().unwrap()]).failed(code, &["roots.txt"]);
        let source = folder.join("sources");
        let made = run(&dir, &["gen"], &[source.to_str().unwrap()]).done();
        assert!(!made.err.contains("HFG302"), "{}", made.err);
    }
    run(&dir, &["db", "empty"], &["LSDB", "--yes"]).done();
    fs::write(&list, "0002\n0001\n").unwrap();
    let file = folder.join("unloaded");
    run(&dir, &["load"], &["LSDB", file.to_str().unwrap()]).done();

    // Now the system keeps it: what is lost or changed says so once.
    for lost in [true, false] {
        match lost {
            true => fs::remove_file(&list).unwrap(),
            false => fs::write(&list, "0001\n0002\n0003\n").unwrap(),
        }
        let source = folder.join("sources");
        let made = run(&dir, &["gen"], &[source.to_str().unwrap()]).done();
        assert_eq!(lines_with(&made, "the list that the system has kept"), 1, "{}", made.err);
        finds_a_root(&dir);
        on(SECRET, &["verify"], &dir, &[]).done();
    }
}

/// A list that was made to have the hash of the true one was taken for it: programs found nothing.
#[test]
fn a_list_that_looks_like_the_one_that_is_kept_is_not_taken_for_it() {
    let sources = SOURCES.replace("NAME=(CK,SEQ,U),START=1,BYTES=4", FORGED_KEY);
    let sources = sources.replace("NAME=TOWN,START=5", "NAME=TOWN,START=9");
    let sources = sources.replace("KEYLEN=4", "KEYLEN=8");
    let (_folder, dir) = system_of("list-forged", &sources, LIST);
    let list = dir.join("roots.txt");
    fs::write(&list, "KEY00001\nKEY00002\nKEY00003\n").unwrap();
    let cards = "L        ISRT  CUST
L        DATA  KEY00001AAAA
L        ISRT  CUST
L        DATA  KEY00003BBBB
";
    issue(&dir, &["--psb", "CLERK"], cards).done();
    fs::write(&list, "KEY00002\nKEY00001\nx'229d7b512b8d60ec'\n").unwrap();
    for key in ["KEY00001", "KEY00003"] {
        let cards = format!("L        GU    CUST    (CK       ={key})\n");
        let seen = issue(&dir, &["--psb", "CLERK", "--json"], &cards).done();
        assert_eq!(seen.json()["status"], "  ", "{}{}", seen.out, seen.err);
        assert!(seen.err.contains("the list that the system has kept"), "{}", seen.err);
    }
    on(SECRET, &["verify"], &dir, &[]).done();
}

const FORGED_KEY: &str = "NAME=(CK,SEQ,U),START=1,BYTES=8";

/// Programs find their roots by the list that the system has kept.
fn finds_a_root(dir: &Path) {
    let cards = "L        GU    CUST    (CK       =0002)\n";
    let seen = issue(dir, &["--psb", "CLERK", "--json"], cards).done();
    assert_eq!(seen.json()["status"], "  ", "{}", seen.out);
}
