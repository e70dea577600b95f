//! EXPORT, IMPORT, BACKUP, RESTORE, SNAP.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use store::{Store, Unit as _};
use vsam::{Catalog, DataSetName, OpenMode, OpenOptions};

use super::common::{ACCOUNTS, Site, kernel, lines, model};

/// A cluster with an index and a path, a log and a relative cluster, all with records.
fn filled<S: Store>(site: &mut Site<S>) {
    site.dd("LINES=lines.txt,text").dd("COPY=./copy").dd("OUT=out.txt,text");
    site.file("lines.txt", lines(1..=5));
    let define = " DEFINE AIX (NAME(BANK.AIX) REL(BANK.ACCT) KEYS(6 5) NUNQK)\n \
                  DEFINE PATH (NAME(BANK.PATH) PENT(BANK.AIX))\n \
                  DEFINE CLUSTER (NAME(BANK.LOG) NONINDEXED RECSZ(10 40) OWNER('O''X'))\n \
                  DEFINE CLUSTER (NAME(BANK.NUM) NUMBERED RECSZ(12 12))\n";
    site.run(0, &format!("{ACCOUNTS}{define}"));
    for name in ["BANK.ACCT", "BANK.LOG", "BANK.NUM"] {
        site.run(0, &format!(" REPRO IFILE(LINES) ODS({name})\n"));
    }
}

/// The records of a data set, as lines.
fn records<S: Store>(site: &mut Site<S>, name: &str) -> String {
    site.run(0, &format!(" REPRO IDS({name}) OFILE(OUT)\n"));
    String::from_utf8(site.bytes("out.txt")).expect("text")
}

fn comes_back<S: Store>(site: &mut Site<S>) {
    filled(site);
    site.expected_text(
        0,
        " EXPORT BANK.ACCT OUTFILE(COPY) TEMPORARY\n",
        &["IDC0594I PORTABLE DATA SET CREATED SUCCESSFULLY ON 2025.001", "PROCESSED WAS 5"],
    );
    site.expected_text(12, " IMPORT INFILE(COPY)\n", &["IDC3013I"]);
    let text = " IMPORT INFILE(COPY) OBJECTS((BANK.ACCT NEWNAME(NEW.ACCT) VOLUMES(V7)) -\n \
                (BANK.AIX NEWNAME(NEW.AIX)) (BANK.PATH NEWNAME(NEW.PATH)))\n";
    site.expected_text(0, text, &["IDC0604I", "NEW.AIX SUCCESSFULLY BUILT", "PROCESSED WAS 5"]);
    assert_eq!(records(site, "NEW.ACCT"), lines(1..=5));
    assert_eq!(records(site, "NEW.PATH"), lines(1..=5));
    site.expected_text(
        0,
        " LISTCAT ENT(NEW.ACCT) ALL\n",
        &["KEYLEN-----------------4", "SHROPTNS(2,3)", "V7", "NEW.ACCT.DATA"],
    );
    site.expected_text(0, " LISTCAT ENT(BANK.ACCT NEW.ACCT) ALL\n", &["REC-TOTAL--------------5"]);
    // Permanent: the object goes once its copy is there.
    site.expected_text(
        0,
        " EXPORT BANK.ACCT OFILE(COPY)\n",
        &["(C) BANK.ACCT DELETED", "(R) BANK.PATH"],
    );
    site.run(0, " IMPORT INFILE(COPY)\n");
    assert_eq!(records(site, "BANK.PATH"), lines(1..=5));
    // Without other names for index and path, the cluster comes alone.
    let text = " IMPORT IFILE(COPY) OBJECTS((BANK.ACCT NEWNAME(ONE.MORE)))\n";
    site.expected_text(8, text, &["IDC3013I"]);
    assert_eq!(records(site, "ONE.MORE"), lines(1..=5));
}

#[test]
fn an_exported_cluster_comes_back_on_the_model() {
    comes_back(&mut model());
}

#[test]
fn an_exported_cluster_comes_back_on_the_kernel() {
    let (mut site, _running) = kernel("export");
    comes_back(&mut site);
}

fn named(text: &str) -> DataSetName {
    DataSetName::parse(text).expect("a name")
}

/// A program that opens a cluster, adds a record, commits and closes; whether it could.
fn adds<S: Store>(catalog: &Catalog<S>, cluster: &str, record: &[u8]) -> bool {
    let options = OpenOptions::default();
    let Ok(file) = catalog.open_file(&named(cluster), OpenMode::InputOutput, &options) else {
        return false;
    };
    let mut position = file.position().expect("a string");
    let mut unit = catalog.store().begin(vsam::unit_options()).expect("a unit of work");
    file.put(&mut unit, &mut position, record).expect("a new record");
    unit.commit().expect("a commit");
    drop(position);
    file.close().expect("a close");
    true
}

/// In a started system, a program changes the cluster whenever it can.
fn nothing_is_lost_between<S: Store>(site: &mut Site<S>) {
    filled(site);
    site.machine.is_shared = true;
    // Somebody has it open: nothing is copied, and an older copy stays.
    site.file("./copy", "an older copy");
    let options = OpenOptions::default();
    let reader = site.catalog.open_file(&named("BANK.ACCT"), OpenMode::Input, &options);
    site.expected_text(12, " EXPORT BANK.ACCT OUTFILE(COPY)\n", &["IDC3024I"]);
    assert_eq!(site.bytes("./copy"), b"an older copy");
    drop(reader);
    let (catalog, added) = (site.catalog.clone(), Rc::new(Cell::new(0)));
    let count = Rc::clone(&added);
    site.machine.meanwhile = Some(Rc::new(RefCell::new(move || {
        count.set(count.get() + u32::from(adds(&catalog, "BANK.ACCT", b"0009 name-9")));
    })));
    let export = " EXPORT BANK.ACCT OUTFILE(COPY)";
    site.expected_text(0, &format!("{export} TEMPORARY\n"), &["PROCESSED WAS 5"]);
    assert_eq!(added.replace(0), 1, "who copies holds nobody up");
    site.expected_text(0, &format!("{export}\n"), &["PROCESSED WAS 6", "(C) BANK.ACCT DELETED"]);
    assert_eq!(added.get(), 0, "a change would be neither in the copy nor in the catalog");
    site.machine.meanwhile = None;
    site.run(0, " IMPORT INFILE(COPY)\n");
    assert_eq!(records(site, "BANK.PATH"), lines([1, 2, 3, 4, 5, 9]));
}

#[test]
fn an_object_that_goes_when_it_is_copied_is_not_changed_between_on_the_model() {
    nothing_is_lost_between(&mut model());
}

#[test]
fn an_object_that_goes_when_it_is_copied_is_not_changed_between_on_the_kernel() {
    let (mut site, _running) = kernel("between");
    nothing_is_lost_between(&mut site);
}

#[test]
fn records_of_any_length_come_back_into_slots_of_any_length() {
    let mut site = model();
    filled(&mut site);
    site.run(0, " DEFINE CLUSTER (NAME(BANK.ANY) NUMBERED RECSZ(10 80))\n");
    site.run(0, " REPRO IFILE(LINES) ODS(BANK.ANY)\n ALTER BANK.ANY RECSZ(80 80)\n");
    site.run(0, " DEFINE CLUSTER (NAME(BANK.ONE) NUMBERED RECSZ(1 2))\n");
    site.run(0, " ALTER BANK.ONE RECSZ(1 1)\n");
    site.file("lines.txt", "a\nb\n");
    site.run(0, " REPRO IFILE(LINES) ODS(BANK.ONE)\n");
    site.run(0, " BACKUP (BANK.ANY BANK.ONE) OUTFILE(COPY)\n DELETE (BANK.ANY BANK.ONE)\n");
    site.expected_text(0, " RESTORE INFILE(COPY)\n", &["2 OBJECTS RESTORED"]);
    assert_eq!(records(&mut site, "BANK.ANY"), lines(1..=5));
    assert_eq!(records(&mut site, "BANK.ONE"), "a\nb\n");
    site.expected_text(0, " LISTCAT ENT(BANK.ANY) ALL\n", &["MAXLRECL--------------80"]);
}

#[test]
fn an_object_that_cannot_be_restored_keeps_none_behind_it_from_being() {
    let mut site = model();
    filled(&mut site);
    for name in ["OLD.FIRST", "OLD.LAST"] {
        site.run(0, &format!(" DEFINE CLUSTER (NAME({name}) NONINDEXED RECSZ(10 40))\n"));
        site.run(0, &format!(" REPRO IFILE(LINES) ODS({name})\n"));
    }
    site.run(0, " BACKUP (OLD.**) OUTFILE(COPY)\n");
    // The name of a component is another object's: DEFINE refuses the first.
    site.run(0, " DELETE OLD.FIRST\n DELETE OLD.LAST\n");
    site.run(0, " DEFINE CLUSTER (NAME(OLD.FIRST.DATA) NONINDEXED RECSZ(10 40))\n");
    site.expected_text(
        8,
        " RESTORE INFILE(COPY)\n",
        &["IDC3013I", "OLD.FIRST NOT RESTORED", "OLD.LAST RESTORED: 5", "1 OBJECTS RESTORED"],
    );
    assert_eq!(records(&mut site, "OLD.LAST"), lines(1..=5));
    // So does a cluster that somebody has open where a copy is to take its place.
    site.run(0, " DELETE OLD.FIRST.DATA\n");
    site.run(0, " RESTORE INFILE(COPY) OBJECTS(OLD.FIRST)\n");
    let options = OpenOptions::default();
    let reader = site.catalog.open_file(&named("OLD.FIRST"), OpenMode::Input, &options);
    site.expected_text(
        8,
        " RESTORE INFILE(COPY) REPLACE\n",
        &["OLD.FIRST NOT RESTORED", "OLD.LAST RESTORED: 5"],
    );
    drop(reader);
}

#[test]
fn an_owner_and_volumes_have_the_lengths_that_catalogs_take() {
    let mut site = model();
    filled(&mut site);
    let define = " DEFINE CLUSTER (NAME(A.B) NONINDEXED RECSZ(10 40) ";
    site.expected_text(12, &format!("{define} OWNER(NINECHARS))\n"), &["IDC3203I", "OWNER"]);
    site.expected_text(12, &format!("{define} VOL(ABC SEVENCH))\n"), &["IDC3203I", "VOLUMES"]);
    site.expected_text(12, &format!("{define}) DATA (VOL(SEVENCH))\n"), &["IDC3203I", "VOLUMES"]);
    site.expected_text(12, " ALTER BANK.LOG OWNER(NINECHARS)\n", &["IDC3203I", "OWNER"]);
    site.expected_text(12, " ALTER BANK.LOG AVOL(SEVENCH)\n", &["IDC3203I", "ADDVOLUMES"]);
    // What an earlier release has taken is copied and comes back.
    let owner = "O'".repeat(40);
    let altered = site.catalog.alter(&named("BANK.LOG"), &mut |definition| {
        if let vsam::Definition::Cluster(cluster) = definition {
            cluster.remarks.owner = Some(owner.clone());
        }
    });
    assert!(altered.is_ok());
    site.run(0, " BACKUP (BANK.**) OUTFILE(COPY)\n");
    site.expected_text(0, " RESTORE INFILE(COPY) SYNONYM((BANK NEW))\n", &["3 OBJECTS RESTORED"]);
    site.expected_text(0, " LISTCAT ENT(NEW.LOG) HIST\n", &[&owner]);
}

#[test]
fn a_snapshot_goes_only_where_the_next_one_has_all_its_names() {
    let mut site = model();
    filled(&mut site);
    let snap = " SNAP SOURCE(BANK.ACCT) REPLACE SYNONYM((BANK.ACCT OLD.ACCT) -\n \
                (BANK.AIX OLD.AIX) (BANK.PATH OLD.PATH))\n";
    site.run(0, snap);
    site.run(0, snap);
    // An index that has no synonym keeps its name, which is taken.
    site.run(0, " DEFINE AIX (NAME(IX.ACCT) REL(BANK.ACCT) KEYS(2 5) NUNQK)\n");
    site.expected_text(12, snap, &["IDC3013I", "IX.ACCT", "nothing was replaced"]);
    assert_eq!(records(&mut site, "OLD.PATH"), lines(1..=5));
    site.run(0, " DELETE IX.ACCT\n");
    // The name of a component is another object's.
    site.run(0, " DELETE OLD.ACCT\n");
    site.run(0, " DEFINE CLUSTER (NAME(OLD.ACCT.INDEX) NONINDEXED RECSZ(10 40))\n");
    site.expected_text(12, snap, &["IDC3013I", "OLD.ACCT.INDEX"]);
    site.run(0, " DELETE OLD.ACCT.INDEX\n");
    site.run(0, snap);
    // Two sources that would have one name, and a snapshot that somebody has open.
    let both = " SNAP SOURCE(BANK.LOG BANK.NUM) SYN((BANK.LOG OLD.X) (BANK.NUM OLD.X))\n";
    site.expected_text(12, both, &["IDC3013I", "OLD.X"]);
    let options = OpenOptions::default();
    let reader = site.catalog.open_file(&named("OLD.ACCT"), OpenMode::Input, &options);
    site.expected_text(12, snap, &["IDC3024I"]);
    drop(reader);
    assert_eq!(records(&mut site, "OLD.PATH"), lines(1..=5));
}

fn clusters_hold_copies<S: Store>(site: &mut Site<S>) {
    filled(site);
    site.dd("HELD=COPIES");
    site.run(0, " DEFINE CLUSTER (NAME(COPIES) NONINDEXED RECSZ(50 50) REUSE)\n");
    for way in ["OUTDATASET(COPIES)", "OUTFILE(HELD)"] {
        site.expected_text(
            0,
            &format!(" EXPORT BANK.ACCT {way} TEMPORARY\n"),
            &["PROCESSED WAS 5"],
        );
    }
    site.run(0, " DELETE BANK.ACCT PURGE\n IMPORT INDATASET(COPIES)\n");
    assert_eq!(records(site, "BANK.PATH"), lines(1..=5));
    // Many objects; the cluster that holds them cannot be one.
    site.expected_text(12, " BACKUP (*) OUTDATASET(COPIES)\n", &["into itself"]);
    let backup = " BACKUP (*) EXCLUDE(COPIES) OUTDATASET(COPIES)\n";
    site.expected_text(0, backup, &["3 OBJECTS BACKED UP"]);
    site.expected_text(0, " RESTORE INFILE(HELD) SYNONYM((BANK NEW))\n", &["3 OBJECTS RESTORED"]);
    for name in ["NEW.ACCT", "NEW.PATH", "NEW.LOG", "NEW.NUM"] {
        let old = name.replace("NEW", "BANK");
        assert_eq!(records(site, name), records(site, &old), "{name}");
    }
    // What is no copy, or none whole, and where none can be.
    site.expected_text(12, " IMPORT INDATASET(BANK.LOG)\n", &["HFVSAM01"]);
    site.expected_text(12, " IMPORT INDATASET(BANK.ACCT)\n", &["entry-sequenced"]);
    site.expected_text(
        12,
        " EXPORT BANK.ACCT OUTDATASET(BANK.NUM) TEMPORARY\n",
        &["entry-sequenced"],
    );
    site.expected_text(12, " EXPORT BANK.ACCT OUTDATASET(BANK.LOG) TEMPORARY\n", &["IS NOT EMPTY"]);
    site.run(0, " DEFINE CLUSTER (NAME(PART) NONINDEXED RECSZ(50 50))\n");
    site.run(0, " REPRO INDATASET(COPIES) OUTDATASET(PART) COUNT(5)\n");
    site.expected_text(12, " RESTORE INDATASET(PART) SYNONYM((BANK HALF))\n", &["ends too early"]);
    site.expected_text(4, " LISTCAT ENT(HALF.ACCT)\n", &["NOT FOUND"]);
}

#[test]
fn a_cluster_holds_copies_as_a_file_does_on_the_model() {
    clusters_hold_copies(&mut model());
}

#[test]
fn a_cluster_holds_copies_as_a_file_does_on_the_kernel() {
    let (mut site, _running) = kernel("held");
    clusters_hold_copies(&mut site);
}

#[test]
fn a_damaged_copy_leaves_nothing_behind() {
    let mut site = model();
    filled(&mut site);
    site.run(0, " EXPORT BANK.ACCT OUTFILE(COPY)\n");
    let mut bytes = site.bytes("./copy");
    let at = bytes.windows(6).position(|six| six == b"name-4").expect("the record");
    bytes[at] ^= 1;
    site.file("./copy", bytes);
    site.expected_text(12, " IMPORT INFILE(COPY)\n", &["records are missing or changed"]);
    site.expected_text(4, " LISTCAT ENT(BANK.ACCT)\n", &["NOT FOUND"]);
    site.file("./copy", "something else");
    site.expected_text(12, " IMPORT INFILE(COPY)\n", &["HFVSAM01"]);
}

/// Where of a copy the first frame behind records begins.
fn behind_records(copy: &[u8]) -> usize {
    let head = [b'Z', 0, 0, 0, 12];
    copy.windows(head.len()).position(|five| five == head).expect("an end of records")
}

/// Copies were believed when their records were proven: what was to be replaced was gone, or stayed
/// without its indexes, when the rest could not be read.
fn nothing_counts_before_its_end<S: Store>(site: &mut Site<S>, step: usize) {
    filled(site);
    let names = " LISTCAT LEVEL(BANK) NAME\n";
    let before = site.run(0, names).to_owned();
    site.run(0, " BACKUP (BANK.**) OUTFILE(COPY)\n");
    let copy = site.bytes("./copy");
    site.file("lines.txt", lines(7..=8));
    site.run(0, " REPRO IFILE(LINES) ODS(BANK.ACCT)\n");
    let now = lines([1, 2, 3, 4, 5, 7, 8]);
    let first = behind_records(&copy);
    for cut in (first..copy.len()).step_by(step).chain([copy.len() - 1]) {
        site.file("./copy", &copy[..cut]);
        site.expected_text(12, " RESTORE INFILE(COPY) REPLACE\n", &["ends too early"]);
        assert_eq!(site.run(0, names), before, "cut at {cut}");
    }
    // Nor what somebody has put behind it.
    site.file("./copy", [&copy[..], b"xx\n"].concat());
    site.expected_text(12, " RESTORE INFILE(COPY) REPLACE\n", &["something follows its end"]);
    assert_eq!(site.run(0, names), before);
    // A definition that was changed shows at the end only.
    let mut changed = copy.clone();
    let at = changed.windows(12).position(|some| some == b"NONUNIQUEKEY").expect("the index");
    changed[at..at + 12].copy_from_slice(b"   UNIQUEKEY");
    site.file("./copy", changed);
    let objects = " RESTORE INFILE(COPY) OBJECTS(BANK.ACCT) REPLACE\n";
    site.expected_text(12, objects, &["its end does not fit", "BANK.ACCT NOT RESTORED"]);
    site.expected_text(12, " RESTORE INFILE(COPY) SYN((BANK NEW))\n", &["its end does not fit"]);
    site.expected_text(4, " LISTCAT ENT(NEW.ACCT NEW.LOG)\n", &["NOT FOUND"]);
    assert_eq!(records(site, "BANK.PATH"), now);
    assert_eq!(site.run(0, names), before);
    site.file("./copy", copy);
    site.expected_text(0, " RESTORE INFILE(COPY) REPLACE\n", &["3 OBJECTS RESTORED"]);
    assert_eq!(records(site, "BANK.PATH"), lines(1..=5));
    assert_eq!(site.run(0, names), before);
}

#[test]
fn a_copy_that_is_not_whole_replaces_nothing_on_the_model() {
    nothing_counts_before_its_end(&mut model(), 1);
}

#[test]
fn a_copy_that_is_not_whole_replaces_nothing_on_the_kernel() {
    let (mut site, _running) = kernel("not-whole");
    nothing_counts_before_its_end(&mut site, 97);
}

#[test]
fn a_copy_that_is_not_whole_is_not_imported_in_part() {
    let mut site = model();
    filled(&mut site);
    site.run(0, " EXPORT BANK.ACCT OUTFILE(COPY)\n");
    let copy = site.bytes("./copy");
    let cuts = || behind_records(&copy)..copy.len();
    for cut in cuts() {
        site.file("./copy", &copy[..cut]);
        site.expected_text(12, " IMPORT INFILE(COPY)\n", &["ends too early"]);
        site.expected_text(4, " LISTCAT ENT(BANK.ACCT BANK.AIX)\n", &["NOT FOUND"]);
    }
    site.file("./copy", [&copy[..], b"xx"].concat());
    site.expected_text(12, " IMPORT INFILE(COPY)\n", &["something follows its end"]);
    site.expected_text(4, " LISTCAT ENT(BANK.ACCT BANK.AIX)\n", &["NOT FOUND"]);
    // Nor into a cluster that is there.
    site.run(0, ACCOUNTS);
    for cut in cuts() {
        site.file("./copy", &copy[..cut]);
        site.expected_text(12, " IMPORT INFILE(COPY) INTOEMPTY\n", &["ends too early"]);
        site.expected_text(4, " LISTCAT ENT(BANK.AIX)\n", &["NOT FOUND"]);
    }
    assert_eq!(records(&mut site, "BANK.ACCT"), "");
    site.file("./copy", copy);
    site.expected_text(0, " IMPORT INFILE(COPY) INTOEMPTY\n", &["PROCESSED WAS 5"]);
    assert_eq!(records(&mut site, "BANK.PATH"), lines(1..=5));
}

#[test]
fn records_go_into_a_cluster_that_is_empty() {
    let mut site = model();
    filled(&mut site);
    site.run(0, " EXPORT BANK.NUM OUTFILE(COPY) TEMPORARY\n");
    site.expected_text(12, " IMPORT INFILE(COPY) INTOEMPTY\n", &["NOT EMPTY"]);
    site.run(0, " DELETE BANK.NUM\n DEFINE CLUSTER (NAME(BANK.NUM) NUMBERED RECSZ(12 12))\n");
    site.run(0, " IMPORT INFILE(COPY) INTOEMPTY\n");
    assert_eq!(records(&mut site, "BANK.NUM"), lines(1..=5));
    // But not into one that has them by another key, or by none.
    site.run(0, " EXPORT BANK.ACCT OUTFILE(COPY)\n");
    for (form, what) in [
        ("INDEXED KEYS(4 1) RECSZ(20 80)", "its keys are others"),
        ("NONINDEXED RECSZ(20 80)", "another organization"),
    ] {
        site.run(0, &format!(" DEFINE CLUSTER (NAME(BANK.ACCT) {form})\n"));
        site.expected_text(12, " IMPORT INFILE(COPY) INTOEMPTY\n", &[what]);
        assert_eq!(records(&mut site, "BANK.ACCT"), "");
        site.run(0, " DELETE BANK.ACCT\n");
    }
}

#[test]
fn no_index_is_made_of_a_copy_that_its_end_does_not_prove() {
    let mut site = model();
    filled(&mut site);
    site.run(0, " EXPORT BANK.ACCT OUTFILE(COPY)\n");
    let mut bytes = site.bytes("./copy");
    // The key of the index becomes another one, and the statement stays sound.
    let at = bytes.windows(9).position(|nine| nine == b"KEYS(6 5)").expect("the index");
    bytes[at + 5] = b'5';
    site.file("./copy", bytes);
    for command in ["IMPORT", "RESTORE"] {
        let text = format!(" {command} INFILE(COPY)\n");
        site.expected_text(12, &text, &["its end does not fit"]);
        site.expected_text(4, " LISTCAT ENT(BANK.AIX)\n", &["NOT FOUND"]);
        site.expected_text(4, " LISTCAT ENT(BANK.ACCT)\n", &["NOT FOUND"]);
    }
}

#[test]
fn no_generation_leaves_its_group_for_a_copy_that_its_end_does_not_prove() {
    let mut site = model();
    filled(&mut site);
    site.run(0, " DEFINE GDG (NAME(BANK.DAY) LIMIT(1) SCRATCH)\n");
    let define = "INDEXED KEYS(4 0) RECSZ(20 80)";
    site.run(0, &format!(" DEFINE CLUSTER (NAME(BANK.DAY.G0001V00) {define})\n"));
    site.run(0, " EXPORT BANK.ACCT OUTFILE(COPY)\n");
    let whole = site.bytes("./copy");
    let mut broken = whole.clone();
    let at = broken.windows(9).position(|nine| nine == b"KEYS(6 5)").expect("the index");
    broken[at + 5] = b'5';
    for (command, old, new) in [("IMPORT", 1, 2), ("RESTORE", 2, 3)] {
        let (old, new) = (format!("BANK.DAY.G000{old}V00"), format!("BANK.DAY.G000{new}V00"));
        let text = format!(" {command} INFILE(COPY) OBJECTS((BANK.ACCT NEWNAME({new})))\n");
        site.file("./copy", broken.clone());
        site.expected_text(12, &text, &["its end does not fit"]);
        site.run(0, &format!(" LISTCAT ENT({old})\n"));
        site.expected_text(4, &format!(" LISTCAT ENT({new})\n"), &["NOT FOUND"]);
        site.file("./copy", whole.clone());
        site.expected_text(0, &text, &[&format!("ENTRY {old} HAS LEFT ITS GROUP")]);
        site.expected_text(4, &format!(" LISTCAT ENT({old})\n"), &["NOT FOUND"]);
        assert_eq!(records(&mut site, &new), lines(1..=5));
    }
}

#[test]
fn what_an_alias_hides_is_in_no_copy_and_that_is_told() {
    let mut site = model();
    filled(&mut site);
    site.run(0, " DEFINE USERCATALOG (NAME(UCAT))\n DEFINE ALIAS (NAME(BANK) RELATE(UCAT))\n");
    let define = " DEFINE CLUSTER (NAME(BANK.ACCT) INDEXED KEYS(4 0) RECSZ(20 80))\n";
    site.file("few.txt", lines(8..=9)).dd("FEW=few.txt,text");
    site.run(0, &format!("{define} REPRO IFILE(FEW) ODS(BANK.ACCT)\n"));
    site.expected_text(
        8,
        " BACKUP (BANK.**) OUTFILE(COPY)\n",
        &[
            "BANK.ACCT BACKED UP: 2 RECORDS",
            "BANK.ACCT OF THE MASTER CATALOG NOT BACKED UP",
            "BANK.LOG OF THE MASTER CATALOG NOT BACKED UP",
            "1 OBJECTS BACKED UP",
        ],
    );
    site.expected_text(0, " RESTORE INFILE(COPY) SYNONYM((BANK NEW))\n", &["1 OBJECTS RESTORED"]);
    assert_eq!(records(&mut site, "NEW.ACCT"), lines(8..=9));
    // A mask takes what is found by its name, and nothing else.
    site.expected_text(0, " DELETE BANK.*\n", &["(C) BANK.ACCT DELETED"]);
    site.expected_text(8, " DELETE BANK.*\n", &["NOT FOUND"]);
    site.run(0, " DELETE BANK ALIAS\n");
    assert_eq!(records(&mut site, "BANK.ACCT"), lines(1..=5));
    site.expected_text(0, " BACKUP (BANK.**) OUTFILE(COPY)\n", &["3 OBJECTS BACKED UP"]);
}

#[test]
fn many_objects_are_backed_up_and_read_under_another_name() {
    let mut site = model();
    filled(&mut site);
    site.expected_text(
        0,
        " BACKUP (BANK.**) EXCLUDE(BANK.NUM) OUTFILE(COPY)\n",
        &["BANK.ACCT BACKED UP: 5 RECORDS", "2 OBJECTS BACKED UP", "PROCESSED WAS 10"],
    );
    site.expected_text(8, " RESTORE INFILE(COPY)\n", &["IDC3013I", "BANK.LOG NOT RESTORED"]);
    site.expected_text(
        0,
        " RESTORE INFILE(COPY) SYNONYM((BANK COPY.BANK))\n",
        &["COPY.BANK.ACCT RESTORED: 5 RECORDS", "2 OBJECTS RESTORED"],
    );
    assert_eq!(records(&mut site, "COPY.BANK.PATH"), lines(1..=5));
    site.expected_text(0, " LISTCAT ENT(COPY.BANK.LOG) HIST\n", &["DATASET-OWNER--------O'X"]);
    // A replaced cluster has the records of its copy again, and its index and path.
    site.file("lines.txt", lines(7..=8));
    site.run(0, " REPRO IFILE(LINES) ODS(BANK.ACCT)\n");
    site.expected_text(
        0,
        " RESTORE IFILE(COPY) OBJECTS(BANK.A*) REPLACE\n",
        &["1 OBJECTS RESTORED"],
    );
    assert_eq!(records(&mut site, "BANK.PATH"), lines(1..=5));
    site.expected_text(0, " LISTCAT LEVEL(BANK) CLUSTER\n", &["CLUSTER----------------3"]);
    site.expected_text(12, " RESTORE INFILE(COPY) OBJECTS(NO.SUCH)\n", &["0 OBJECTS RESTORED"]);
}

#[test]
fn clusters_are_copied_within_a_system() {
    let mut site = model();
    filled(&mut site);
    let snap = " SNAP SOURCE(BANK.**) SYNONYM((BANK SNAP.BANK))";
    site.expected_text(
        0,
        &format!("{snap}\n"),
        &["BANK.ACCT COPIED TO SNAP.BANK.ACCT: 5 RECORDS", "WAS 15"],
    );
    assert_eq!(records(&mut site, "SNAP.BANK.PATH"), lines(1..=5));
    site.expected_text(12, &format!("{snap}\n"), &["IDC3013I"]);
    site.run(0, " DELETE BANK.NUM\n");
    site.run(0, &format!("{snap} REPLACE\n"));
    site.expected_text(12, " SNAP SOURCE(BANK.**) SYNONYM((SHOP X))\n", &["has no new name"]);
    assert_eq!(records(&mut site, "SNAP.BANK.LOG"), lines(1..=5));
}
