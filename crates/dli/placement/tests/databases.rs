//! Settings as people write them, against definitions as shops have them.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use std::io;
use std::path::Path;

use base::Coded as _;
use definitions::{Dbd, Member, Organization};
use holdfast_placement::{Collation, Encoding, Placement, PlacementError, Settings};
use macros::{NoMembers, Sources};

fn dbd(source: &str) -> Dbd {
    let mut sources = Sources::new();
    let program = macros::read(&mut sources, Path::new("DBD"), source.as_bytes(), &NoMembers);
    let compiled = definitions::compile(&program);
    assert!(compiled.diagnostics.is_empty(), "{:?}", compiled.diagnostics);
    assert!(program.diagnostics.is_empty(), "{:?}", program.diagnostics);
    match compiled.members.into_iter().next().and_then(|one| one.member) {
        Some(Member::Dbd(dbd)) => *dbd,
        _ => panic!("{source} has no DBD"),
    }
}

const BRANCH: &str = "         DBD   NAME=BRANCH,ACCESS=(HDAM,OSAM),RMNAME=(BANKRAND,3,500)
         DATASET DD1=BRANCH1
         SEGM  NAME=BRANCH,PARENT=0,BYTES=80
         FIELD NAME=(BRANCHNO,SEQ,U),BYTES=4,START=1,TYPE=C
         DBDGEN
         FINISH
         END
";

const HISTORY: &str = "         DBD   NAME=HISTORY,ACCESS=(PHIDAM,OSAM)
         SEGM  NAME=ENTRY,PARENT=0,BYTES=100
         FIELD NAME=(ENTRYKEY,SEQ,U),BYTES=4,START=1,TYPE=C
         DBDGEN
         FINISH
         END
";

fn phdam() -> Dbd {
    let mut hashed = dbd(HISTORY);
    hashed.organization = Organization::Phdam;
    hashed.randomizer = dbd(BRANCH).randomizer;
    hashed
}

fn settings(text: &str) -> Settings {
    toml::from_str(text).unwrap()
}

fn place_with(dbd: &Dbd, text: &str, list: &[u8]) -> Result<Placement, PlacementError> {
    Placement::new(dbd, &settings(text), &mut |file| match file {
        "roots.txt" => Ok(list.to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    })
}

fn place(dbd: &Dbd, text: &str) -> Result<Placement, PlacementError> {
    place_with(dbd, text, b"")
}

fn note_codes(placement: &Placement) -> Vec<&'static str> {
    placement.notes().iter().map(|note| note.code.0).collect()
}

#[test]
fn a_module_that_nothing_explains_is_a_hash_with_rmnames_numbers() {
    let placement = place(&dbd(BRANCH), "").unwrap();
    assert_eq!(note_codes(&placement), ["HFW101"]);
    assert!(placement.notes()[0].text.contains("BANKRAND"));
    assert_eq!(placement.partitions().len(), 1);
    assert_eq!(placement.partitions()[0].name, "");
    assert_eq!(placement.partition_of(b"\xff\xff\xff\xff"), Some(0));
    let [high, middle, low, anchor] = placement.anchor(0, b"0001").unwrap();
    assert!((1..=500).contains(&u32::from_be_bytes([0, high, middle, low])));
    assert!((1..=3).contains(&anchor));
    assert!(placement.is_hashed() && !placement.keeps_key_order());
    assert_eq!(placement.anchor(1, b"0001"), None);
    let answer = place(&dbd(BRANCH), "[randomizer.BANKRAND]\nkind = \"hash\"\n").unwrap();
    assert_eq!(note_codes(&answer), [""; 0]);
    assert_eq!(answer.anchor(0, b"0001"), placement.anchor(0, b"0001"));
    assert_eq!(
        answer.identity(),
        "collation binary\nroots by hash, 500 blocks, 3 anchors\nencoding ascii\n",
        "it is kept with data"
    );
}

#[test]
fn a_setting_overrides_rmname_and_its_numbers() {
    let one_block = "[randomizer.BANKRAND]\nkind = \"hash\"\nblocks = 1\nanchors = 1\n";
    let placement = place(&dbd(BRANCH), one_block).unwrap();
    assert_eq!(placement.anchor(0, b"0001"), Some([0, 0, 1, 1]));
    let by_key =
        "[database.BRANCH]\nrandomizer = \"by-key\"\n[randomizer.by-key]\nkind = \"key\"\n";
    let placement = place(&dbd(BRANCH), by_key).unwrap();
    assert_eq!(placement.anchor(0, b"0001"), Some([0; 4]));
    assert!(placement.is_hashed() && placement.keeps_key_order());
    assert!(placement.notes().is_empty());
}

#[test]
fn a_list_gives_the_sequence_in_the_databases_code_page() {
    let list = "[randomizer.BANKRAND]\nkind = \"list\"\nfile = \"roots.txt\"\n";
    let text = b"0007\n0001\nx'F0F0F0F3'\n";
    let ebcdic = format!("{list}[database.BRANCH]\nencoding = \"ebcdic\"\n");
    let placement = place_with(&dbd(BRANCH), &ebcdic, text).unwrap();
    assert_eq!(placement.encoding(), Encoding::Ebcdic);
    assert_eq!(placement.encoding().blank(), 0x40);
    let place_of = |key: &[u8]| placement.anchor(0, key).map(u32::from_be_bytes);
    assert_eq!(place_of(b"\xf0\xf0\xf0\xf7"), Some(1));
    assert_eq!(place_of(b"\xf0\xf0\xf0\xf3"), Some(3));
    assert_eq!(place_of(b"0007"), Some(u32::MAX));
    let refusing = format!("{list}unlisted = \"refuse\"\n");
    let placement = place_with(&dbd(BRANCH), &refusing, b"0001\n").unwrap();
    assert_eq!(placement.anchor(0, b"0002"), None, "FM");
    let missing = list.replace("roots.txt", "elsewhere.txt");
    let error = place(&dbd(BRANCH), &missing).unwrap_err();
    assert_eq!((error.code().0, error.section()), ("HFW003", Some("randomizer.BANKRAND".into())));
    assert!(error.to_string().contains("elsewhere.txt"), "{error}");
}

const PARTITIONS: &str = r#"
[database.HISTORY]
interval_bytes = "8 KiB"
pool = "history"
plain = true
partition = [
  { name = "HIST02", high_key = "2" },
  { name = "HIST01", high_key = "1", block_bytes = 16384 },
  { name = "HIST03", high_key = "3999" },
]
"#;

#[test]
fn partitions_stand_in_the_order_of_their_keys() {
    let placement = place(&dbd(HISTORY), PARTITIONS).unwrap();
    let partitions: Vec<_> =
        placement.partitions().iter().map(|one| (one.name.as_str(), one.interval_bytes)).collect();
    assert_eq!(
        partitions,
        [("HIST01", Some(16_384)), ("HIST02", Some(8192)), ("HIST03", Some(8192))]
    );
    assert_eq!(placement.partition_of(b"1999"), Some(0));
    assert_eq!(placement.partition_of(b"2000"), Some(1));
    assert_eq!(placement.partition_of(b"3999"), Some(2));
    assert_eq!(placement.partition_of(b"4000"), None, "FM");
    assert_eq!((placement.pool(), placement.plain()), (Some("history"), Some(true)));
    assert!(placement.keeps_key_order() && !placement.is_hashed());
    assert_eq!(placement.anchor(0, b"1999"), Some([0; 4]));
    assert!(placement.identity().contains("partition HIST03 up to x'33393939', roots by key\n"));
}

#[test]
fn key_strings_promise_no_order_over_partitions() {
    let text = PARTITIONS.replace("high_key", "key_string");
    let placement = place(&dbd(HISTORY), &text).unwrap();
    assert_eq!(placement.partition_of(b"2000"), Some(1));
    assert!(!placement.keeps_key_order());
}

#[test]
fn each_partition_may_have_a_randomizer_of_its_own() {
    let text = r#"
[randomizer.BY-KEY]
kind = "key"
[randomizer.BANKRAND]
kind = "hash"
[database.HISTORY]
partition = [
  { name = "ONE", high_key = "4", randomizer = "BY-KEY" },
  { name = "TWO", blocks = 1, anchors = 1 },
]
"#;
    let placement = place(&phdam(), text).unwrap();
    assert_eq!(placement.anchor(0, b"0001"), Some([0; 4]));
    assert_eq!(placement.anchor(1, b"9001"), Some([0, 0, 1, 1]));
    assert!(!placement.keeps_key_order());
    assert!(placement.notes().is_empty());
}

#[test]
fn a_partitioned_database_without_partitions_has_one() {
    let placement = place(&dbd(HISTORY), "").unwrap();
    assert_eq!(note_codes(&placement), ["HFW102"]);
    assert_eq!(placement.partitions().len(), 1);
    assert_eq!(placement.partitions()[0].name, "PART1");
    assert_eq!(placement.partition_of(b"\xff\xff\xff\xff\xff"), Some(0));
}

#[test]
fn what_has_no_effect_is_told() {
    let text = "[randomizer.R]\nkind = \"key\"\n[database.HISTORY]\nrandomizer = \"R\"\n";
    assert_eq!(note_codes(&place(&dbd(HISTORY), text).unwrap()), ["HFW102", "HFW103"]);
    let source = HISTORY.replace("OSAM)", "OSAM),PSNAME=CHOOSER");
    let placement = place(&dbd(&source), PARTITIONS).unwrap();
    assert_eq!(note_codes(&placement), ["HFW104"]);
    assert!(placement.notes()[0].to_string().contains("CHOOSER"));
}

#[test]
fn only_character_roots_have_the_hosts_order() {
    let text = "[database.HISTORY]\ncollation = \"ebcdic\"\n";
    let placement = place(&dbd(HISTORY), text).unwrap();
    assert_eq!(placement.collation(), Collation::Ebcdic);
    assert_eq!(placement.root_collation(), Collation::Ebcdic);
    let packed = dbd(&HISTORY.replace("TYPE=C", "TYPE=P"));
    let placement = place(&packed, text).unwrap();
    assert_eq!(placement.collation(), Collation::Ebcdic);
    assert_eq!(placement.root_collation(), Collation::Binary);
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    let partitions = |list: &str| format!("[database.HISTORY]\npartition = [{list}]\n");
    let many: Vec<String> = (0..1002).map(|n| format!("{{ name = \"P{n}\" }}")).collect();
    for (text, code, words) in [
        ("[database.HISTORY]\nrandomizer = \"R\"\n".into(), "HFW001", "\"R\""),
        ("[randomizer.R]\nkind = \"list\"\n".into(), "HFW002", "needs the file"),
        ("[randomizer.R]\nkind = \"key\"\nblocks = 1\n".into(), "HFW002", "blocks: it is for"),
        ("[randomizer.R]\nkind = \"hash\"\nanchors = 256\n".into(), "HFW002", "256 is not 1"),
        ("[randomizer.R]\nkind = \"hash\"\nblocks = 0\n".into(), "HFW002", "0 is not 1"),
        ("[database.history]\n".into(), "HFW006", "upper case"),
        ("[database.TOOLONGNAME]\n".into(), "HFW006", "TOOLONGNAME"),
        (partitions("{ name = \"hist1\" }"), "HFW007", "capital"),
        (partitions("{ name = \"HISTORY1\" }"), "HFW007", "1 to 7"),
        (partitions("{ name = \"P\" }, { name = \"P\" }"), "HFW007", "two of that name"),
        (partitions("{ name = \"P\", blocks = 16777216 }"), "HFW008", "partition P, blocks"),
        (partitions("{ name = \"P\", block_bytes = \"1 MiB\" }"), "HFW008", "1048576 bytes"),
        (partitions("{ name = \"P\", high_key = \"12345\" }"), "HFW008", "5 bytes"),
        ("[database.HISTORY]\ninterval_bytes = 100\n".into(), "HFW008", "100 bytes"),
        (partitions("{ name = \"P\" }, { name = \"Q\" }"), "HFW009", "P and Q"),
        (
            partitions("{ name = \"P\", high_key = \"1\" }, { name = \"Q\", key_string = \"2\" }"),
            "HFW010",
            "key_string",
        ),
        (partitions(&many.join(",")), "HFW012", "1002"),
        (
            "[database.HISTORY]\ncollation = \"ebcdic\"\nencoding = \"ebcdic\"\n".into(),
            "HFW013",
            "collation",
        ),
    ] {
        let text: String = text;
        let error = place(&dbd(HISTORY), &text).unwrap_err();
        assert_eq!(error.code().0, code, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.remedy().ends_with('.'));
        assert!(text.contains(&format!("[{}]", error.section().unwrap())), "{error}");
    }
    let elsewhere = "[database.BRANCH]\npartition = [{ name = \"P\" }]\n";
    let error = place(&dbd(BRANCH), elsewhere).unwrap_err();
    assert_eq!(error.code().0, "HFW011");
}

#[test]
fn settings_that_nobody_knows_are_refused() {
    for text in [
        "[randomizer.R]\nkind = \"magic\"\n",
        "[randomizer.R]\n",
        "[database.X]\npartitions = []\n",
        "[database.X]\npartition = [{ high_key = \"1\" }]\n",
        "[compat]\nbatch_log = \"tape\"\n",
        "[compat]\nbkpt = 1\n",
        "[segment.X]\n",
    ] {
        assert!(toml::from_str::<Settings>(text).is_err(), "{text}");
    }
}

/// Entries of a PSINDEX stand in one data set: what its partitions cannot do is said.
#[test]
fn partitions_of_an_index_are_said_to_be_one_data_set() {
    let mut index = dbd(HISTORY);
    index.organization = Organization::Psindex;
    let plain = place(&index, "").unwrap();
    assert_eq!(note_codes(&plain), [""; 0]);
    let text = "[database.HISTORY]\ninterval_bytes = \"4 KiB\"\npartition = [\n\
                { name = \"A\", high_key = \"M\", block_bytes = \"8 KiB\" }, { name = \"B\" } ]\n";
    let placement = place(&index, text).unwrap();
    assert_eq!(note_codes(&placement), ["HFW105"]);
    let printed = placement.notes()[0].to_string();
    let words = ["[database.HISTORY] in holdfast.toml", "block_bytes", "set interval_bytes"];
    assert!(words.iter().all(|word| printed.contains(word)), "{printed}");
    let sizes: Vec<_> = placement.partitions().iter().map(|one| one.interval_bytes).collect();
    assert_eq!(sizes, [Some(4096), Some(4096)]);
}
