//! A definition whose database holds data changes only as far as the data allows: what would lose
//! it is refused, what needs it unloaded says so, and an index that must be built is not used
//! before.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Ended, Folder, SECRET, init, on};

const GENUINE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../dli/unload/tests/data/pautdb-hd-unload.dat");

const SOURCE: &str = "* PENDING AUTHORIZATIONS
         DBD   NAME=PAUTDB,ACCESS=(HDAM,OSAM),RMNAME=(PAUTRAND,2,50)
         DATASET DD1=PAUTDD
         SEGM  NAME=PAUTSUM0,PARENT=0,BYTES=100
         FIELD NAME=(ACCNTID,SEQ,U),START=1,BYTES=6,TYPE=P
         SEGM  NAME=PAUTDTL1,PARENT=PAUTSUM0,BYTES=200
         FIELD NAME=(PAUT9CTS,SEQ,U),START=1,BYTES=8,TYPE=C
         DBDGEN
         FINISH
         END
";

/// A secondary index on the roots; unique or not.
const INDEX: &str = "         DBD   NAME=PAUTIX,ACCESS=(INDEX,VSAM)
         DATASET DD1=PAUTIXDD
         SEGM  NAME=ACCTKEY,PARENT=0,BYTES=6
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=6
         LCHILD NAME=(PAUTSUM0,PAUTDB),INDEX=XACCT
         DBDGEN
         FINISH
         END
";

const WITH_INDEX: &str = "TYPE=P
         LCHILD NAME=(ACCTKEY,PAUTIX),PTR=INDX
         XDFLD NAME=XACCT,SRCH=ACCNTID
";

fn compile(folder: &Folder, dir: &Path, source: &str, more: &[&str]) -> Ended {
    let path: PathBuf = folder.join("source");
    fs::write(&path, source).unwrap();
    on(SECRET, &["gen", "-s"], dir, &[&[path.to_str().unwrap()], more].concat())
}

/// A system that knows the randomizer.
fn bank(test: &str) -> (Folder, PathBuf) {
    let folder = Folder::new(test);
    let dir = folder.join("bank");
    init(&dir, &[]);
    // Otherwise there would be a warning of the unknown module.
    let settings = dir.join("holdfast.toml");
    let known =
        fs::read_to_string(&settings).unwrap() + "\n[randomizer.PAUTRAND]\nkind = \"hash\"\n";
    fs::write(&settings, known).unwrap();
    (folder, dir)
}

#[test]
fn a_changed_definition_keeps_its_data() {
    let (folder, dir) = bank("gen-data");
    let compile = |source: &str| compile(&folder, &dir, source, &[]);
    let run = |words: &[&str], rest: &[&str]| on(SECRET, &[words, &["-s"]].concat(), &dir, rest);
    compile(SOURCE).done();
    // Without data anything goes.
    compile(&SOURCE.replace("BYTES=200", "BYTES=190")).done();
    compile(SOURCE).done();
    run(&["load"], &["PAUTDB", GENUINE]).done();

    let smaller = SOURCE.replace("BYTES=200", "BYTES=190");
    let words = ["HFG301", "PAUTDB holds data", "PAUTDTL1 shrinks", "db empty -s"];
    compile(&smaller).failed("HFY100", &words);
    let longer = SOURCE.replace("BYTES=200", "BYTES=210");
    let words = ["HFG302", "PAUTDTL1 grows", "holdfast unload -s", "source:2:10"];
    compile(&longer).failed("HFY100", &words);
    compile(&SOURCE.replace("2,50", "2,60")).failed("HFY100", &["HFG302", "RMNAME="]);

    // A new segment type, and a field that no program searches by, change nothing that is stored.
    let more = SOURCE.replace(
        "         DBDGEN",
        "         SEGM  NAME=NEW,PARENT=PAUTSUM0,BYTES=9\n         DBDGEN",
    );
    assert!(!compile(&more).done().err.contains("HFG"));
    run(&["db", "verify"], &["PAUTDB"]).done();

    // A unique index only has to be built; one that is not unique needs numbers in the segments.
    let indexed = more.replace("TYPE=P\n", WITH_INDEX) + INDEX;
    let answer = compile(&indexed).done();
    assert!(
        answer.err.contains("HFG303") && answer.err.contains("index build -s"),
        "{}",
        answer.err
    );
    let status = run(&["db", "status"], &["PAUTDB", "--json"]).done().json();
    assert_eq!(status["indexes"][0]["state"], "to be built");
    run(&["index", "build"], &["PAUTDB"]).done();
    let status = run(&["db", "status"], &["PAUTDB", "--json"]).done().json();
    assert_eq!(
        (&status["indexes"][0]["state"], &status["indexes"][0]["entries"]),
        (&"ready".into(), &22.into())
    );
    run(&["db", "verify"], &["PAUTDB"]).done();

    an_index_of_equal_keys_comes_and_goes(&folder, &dir, &more, &indexed);

    // What needs other keys comes over by unload and load.
    let file = folder.join("kept");
    let file = file.to_str().unwrap();
    run(&["unload"], &["PAUTDB", file]).done();
    run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    compile(&more.replace("2,50", "2,60")).done();
    run(&["load"], &["PAUTDB", file]).done();
    run(&["db", "verify"], &["PAUTDB"]).done();
}

fn an_index_of_equal_keys_comes_and_goes(folder: &Folder, dir: &Path, plain: &str, indexed: &str) {
    let run = |words: &[&str], rest: &[&str]| on(SECRET, &[words, &["-s"]].concat(), dir, rest);
    let not_unique = indexed.replace("(KEY,SEQ,U)", "(KEY,SEQ,M)");
    let not_unique = not_unique.replace("DD1=PAUTIXDD", "DD1=PAUTIXDD,OVFLW=PAUTIXOV");
    let answer = compile(folder, dir, &not_unique, &[]).done();
    let words = ["HFG303", "HFG304", "every PAUTSUM0 again", " PAUTDB PAUTIX`"];
    assert!(words.iter().all(|word| answer.err.contains(word)), "{}", answer.err);
    assert!(!answer.err.contains("identity"), "{}", answer.err);
    // Until then it can be unloaded, and nothing else.
    let unloaded = |name: &str| {
        let file = folder.join(name);
        run(&["unload"], &["PAUTDB", file.to_str().unwrap()]).done();
        fs::read(file).unwrap()
    };
    let before = unloaded("before");
    run(&["index", "build"], &["PAUTDB"]).done();
    run(&["db", "verify"], &["PAUTDB"]).done();
    let status = run(&["db", "status"], &["PAUTDB", "--json"]).done().json();
    assert_eq!(status["indexes"][0]["entries"], 22);

    // It can be taken off at once, and what stays is what there was.
    compile(folder, dir, plain, &["--remove", "PAUTIX"]).done();
    run(&["db", "verify"], &["PAUTDB"]).done();
    assert_eq!(unloaded("behind").len(), before.len());
}

#[test]
fn an_index_is_taken_out_together_with_what_leads_to_it() {
    let (folder, dir) = bank("gen-remove");
    let run = |words: &[&str], rest: &[&str]| on(SECRET, &[words, &["-s"]].concat(), &dir, rest);
    compile(&folder, &dir, &(SOURCE.replace("TYPE=P\n", WITH_INDEX) + INDEX), &[]).done();
    run(&["load"], &["PAUTDB", GENUINE]).done();
    let remove = ["--remove", "pautix"];
    let alone = run(&["gen"], &remove);
    alone.failed("HFY100", &["DBD PAUTDB, which is stored", "PAUTIX"]);
    let both = compile(&folder, &dir, SOURCE, &["--remove", "DBD:PAUTDB", "--remove", "PAUTIX"]);
    both.failed("HFY100", &["HFG117", "DBD PAUTDB is given here, and is to be removed"]);
    let answer = compile(&folder, &dir, SOURCE, &remove).done();
    assert!(answer.out.contains("DBD PAUTDB: changed\nDBD PAUTIX: removed\n"), "{}", answer.out);
    let status = run(&["db", "status"], &["PAUTDB", "--json"]).done().json();
    assert_eq!(status["indexes"], serde_json::json!([]));
    let whole = run(&["gen"], &["--remove", "DBD:PAUTDB"]);
    whole.failed("HFY100", &["HFG301", "PAUTDB holds data", "db empty -s"]);
    run(&["gen"], &remove).failed("HFY100", &["no DBD or PSB"]);
    run(&["db", "verify"], &["PAUTDB"]).done();
}

/// What a recovery brings back is never read under a definition that it was not stored with.
#[test]
fn a_recovery_to_before_a_changed_definition_needs_the_old_one() {
    let (folder, dir) = bank("gen-recover");
    let compile = |source: &str| compile(&folder, &dir, source, &[]);
    let run = |words: &[&str], rest: &[&str]| on(SECRET, &[words, &["-s"]].concat(), &dir, rest);
    compile(SOURCE).done();
    run(&["load"], &["PAUTDB", GENUINE]).done();
    let copies = folder.join("copies");
    let to = ["--db", "PAUTDB", "--to", copies.to_str().unwrap(), "--json"];
    let copied = run(&["image-copy"], &to).done().json();
    let point = format!("{:#x}", copied["end"].as_u64().unwrap());
    let recover = ["--db", "PAUTDB", "--to", &point];
    run(&["db", "empty"], &["PAUTDB", "--yes"]).done();
    compile(&SOURCE.replace("BYTES=200", "BYTES=210")).done();
    run(&["db", "status"], &["PAUTDB"]).done();
    let words = ["HFH015", "lengths PAUTDTL1 200", "lengths PAUTDTL1 210", "db empty -s"];
    for rest in [&recover[..], &[&recover[..], &["--check"]].concat()] {
        let refused = run(&["recover"], rest);
        assert_eq!(refused.code, 1, "{}", refused.out);
        assert!(words.iter().all(|word| refused.err.contains(word)), "{}", refused.err);
    }
    // The settings count as the definition does.
    compile(&SOURCE.replace("2,50", "2,60")).done();
    let refused = run(&["recover"], &recover);
    assert!(refused.err.contains("60 blocks") && refused.code == 1, "{}", refused.err);
    compile(SOURCE).done();
    run(&["recover"], &recover).done();
    run(&["db", "verify"], &["PAUTDB"]).done();
    let status = run(&["db", "status"], &["PAUTDB", "--json"]).done().json();
    assert_eq!(status["segments"][0]["segments"], 22);
}
