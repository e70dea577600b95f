//! Clusters as files of programs: which status each request has.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use file_handler::fcd::{Access, Organization};
use seam::sync::Mutex;
use store::Store;
use vsam::{ClusterAttributes, Definition, KeyField, Organization as Kind};

use crate::program::{
    CLOSE, DELETE, File, Ground, NEXT, OPEN_EXTEND, OPEN_INPUT, OPEN_IO, OPEN_OUTPUT, Owner,
    PREVIOUS, Program, READ, REWRITE, START_EQUAL, START_GREATER, START_NOT_LESS, WRITE, accounts,
    named, on_both,
};

on_both! {
    a_cluster_that_never_had_a_record_is_no_file_yet
    what_does_not_agree_with_the_catalog_is_39_and_what_it_has_not_is_35
    keyed_files_have_every_status_of_keys
    duplicates_of_an_alternate_key_are_told_while_more_follow
    a_sequential_program_changes_only_what_it_has_read
    changes_go_with_the_unit_of_work_that_somebody_else_ends
    relative_clusters_number_their_records
    entry_sequenced_clusters_are_sequential_files
    share_options_keep_a_second_writer_out
    generations_are_found_by_relative_numbers_and_made_by_open_output
    no_generation_is_made_where_an_old_one_would_go_for_it
    relative_numbers_stay_what_they_were_when_the_step_began
    data_sets_are_concatenated
    a_new_generation_is_loaded_as_often_as_its_step_opens_it
    records_of_another_length_than_the_programs_are_told
    a_number_that_the_program_cannot_be_told_is_given_to_no_record
    read_previous_behind_open_finds_the_first_record_of_a_relative_file_alone
}

pub(crate) fn bank<S: Store>(owner: Owner<S>) -> (Arc<Mutex<Owner<S>>>, Program) {
    accounts(&owner);
    let owner = Arc::new(Mutex::new(owner));
    let program = Program::over(&owner, &[("ACCOUNT", "//BANK.ACCOUNT")]);
    (owner, program)
}

/// Loads three accounts in sequence, and commits.
pub(crate) fn load<S: Store>(owner: &Arc<Mutex<Owner<S>>>, program: &mut Program) {
    let mut file = File::accounts(Access::Sequential);
    assert_eq!(file.ask(program, OPEN_OUTPUT), "00");
    for text in ["AA0001ANNAone", "BB0001BERTtwo", "BB0002ANNAthree"] {
        let status = file.record(text).ask(program, WRITE);
        let expected = if text.starts_with("BB0002") { "02" } else { "00" };
        assert_eq!(status, expected, "{text}");
    }
    assert_eq!(file.record("BB0001").ask(program, WRITE), "21");
    assert_eq!(file.ask(program, CLOSE), "00");
    owner.lock().commit();
}

fn a_cluster_that_never_had_a_record_is_no_file_yet<S: Store>(owner: Owner<S>) {
    let (owner, mut program) = bank(owner);
    let mut file = File::accounts(Access::Dynamic);
    assert_eq!(file.ask(&mut program, OPEN_INPUT), "35");
    assert_eq!(file.ask(&mut program, OPEN_IO), "35");
    let mut sequential = File::accounts(Access::Sequential);
    assert_eq!(sequential.ask(&mut program, OPEN_EXTEND), "35");
    sequential.fcd.set_optional(true);
    assert_eq!(sequential.ask(&mut program, OPEN_EXTEND), "05");
    assert_eq!(sequential.ask(&mut program, CLOSE), "00");
    file.fcd.set_optional(true);
    assert_eq!(file.ask(&mut program, OPEN_INPUT), "05");
    assert_eq!(file.ask(&mut program, NEXT), "10");
    assert_eq!(file.ask(&mut program, NEXT), "46");
    assert_eq!(file.ask(&mut program, CLOSE), "00");
    assert_eq!(file.ask(&mut program, OPEN_IO), "05");
    assert_eq!(file.record("AA0001ANNAone").ask(&mut program, WRITE), "00");
    assert_eq!(file.ask(&mut program, CLOSE), "00");
    owner.lock().commit();
    file.fcd.set_optional(false);
    assert_eq!(file.ask(&mut program, OPEN_INPUT), "00");
    assert_eq!(file.ask(&mut program, NEXT), "00");
    assert_eq!(file.text(), "AA0001ANNAone");
}

fn records_of_another_length_than_the_programs_are_told<S: Store>(owner: Owner<S>) {
    let cluster = ClusterAttributes::keyed(KeyField { offset: 0, bytes: 6 }, 20);
    owner.define("BANK.ACCOUNT", Definition::Cluster(cluster));
    let owner = Arc::new(Mutex::new(owner));
    let mut program = Program::over(&owner, &[("ACCOUNT", "//BANK.ACCOUNT")]);
    let p = &mut program;
    let file = |least: u32| {
        let file = File::new("ACCOUNT", Organization::Indexed, Access::Dynamic, 20);
        let mut file = file.with_keys(&[(0, 6, false)]);
        file.fcd.set_record_limits(least, 20);
        file
    };
    let mut varying = file(10);
    assert_eq!(varying.ask(p, OPEN_OUTPUT), "00");
    for text in ["AA0001 a long record", "AA0002shor", "AA0003 fifteen "] {
        varying.fcd.set_record_bytes(text.len() as u32);
        assert_eq!(varying.record(text).ask(p, WRITE), "00");
    }
    assert_eq!(varying.ask(p, CLOSE), "00");
    // Of one length: nothing of the record before stays.
    let mut fixed = file(20);
    assert_eq!(fixed.ask(p, OPEN_INPUT), "00");
    for (status, text) in
        [("00", "AA0001 a long record"), ("04", "AA0002shor"), ("04", "AA0003 fifteen")]
    {
        assert_eq!(fixed.ask(p, NEXT), status, "{text}");
        assert_eq!(fixed.text(), text);
    }
    assert_eq!(fixed.record("AA0002").key(0, 6).ask(p, READ), "04");
    assert_eq!(fixed.text(), "AA0002shor");
    assert_eq!(fixed.ask(p, CLOSE), "00");
    // Below the least, and not.
    let mut less = file(12);
    assert_eq!(less.ask(p, OPEN_INPUT), "00");
    for status in ["00", "04", "00"] {
        assert_eq!(less.ask(p, NEXT), status);
    }
}

fn a_number_that_the_program_cannot_be_told_is_given_to_no_record<S: Store>(owner: Owner<S>) {
    let slots = ClusterAttributes::new(Kind::Relative).with_records(10);
    owner.define("BANK.SLOTS", Definition::Cluster(slots));
    let owner = Arc::new(Mutex::new(owner));
    let mut program = Program::over(&owner, &[("SLOTS", "//BANK.SLOTS")]);
    let p = &mut program;
    let file = || {
        let mut file = File::new("SLOTS", Organization::Relative, Access::Sequential, 10);
        file.memory.number_max = 3;
        file
    };
    for (mode, statuses) in [(OPEN_OUTPUT, ["00", "00"]), (OPEN_EXTEND, ["00", "24"])] {
        let mut file = file();
        assert_eq!(file.ask(p, mode), "00");
        for status in statuses {
            assert_eq!(file.record("record").ask(p, WRITE), status);
        }
        assert_eq!(file.ask(p, CLOSE), "00");
        owner.lock().commit();
    }
    let mut file = file();
    assert_eq!(file.ask(p, OPEN_INPUT), "00");
    for status in ["00", "00", "00", "10"] {
        assert_eq!(file.ask(p, NEXT), status);
    }
}

fn read_previous_behind_open_finds_the_first_record_of_a_relative_file_alone<S: Store>(
    owner: Owner<S>,
) {
    let (owner, mut program) = bank(owner);
    load(&owner, &mut program);
    let p = &mut program;
    let mut file = File::accounts(Access::Dynamic);
    assert_eq!(file.ask(p, OPEN_INPUT), "00");
    for status in ["10", "46"] {
        assert_eq!(file.ask(p, PREVIOUS), status);
    }
    let path = std::env::temp_dir().join(format!("holdfast-previous-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let slots = ClusterAttributes::new(Kind::Relative).with_records(10);
    owner.lock().define("BANK.SLOTS", Definition::Cluster(slots));
    for name in ["//BANK.SLOTS", path.to_str().unwrap()] {
        let mut program = Program::over(&owner, &[("SLOTS", name)]);
        let p = &mut program;
        let mut file = File::new("SLOTS", Organization::Relative, Access::Dynamic, 10);
        assert_eq!(file.ask(p, OPEN_OUTPUT), "00", "{name}");
        assert_eq!(file.number(3).record("three").ask(p, WRITE), "00");
        assert_eq!(file.ask(p, CLOSE), "00");
        assert_eq!(file.ask(p, OPEN_IO), "00");
        assert_eq!(file.number(5).record("five").ask(p, WRITE), "00");
        assert_eq!(file.ask(p, PREVIOUS), "00", "{name}");
        assert_eq!((file.memory.number, file.text().as_str()), (3, "three"));
        assert_eq!(file.ask(p, PREVIOUS), "10", "{name}");
        assert_eq!(file.ask(p, CLOSE), "00");
    }
    let _ = std::fs::remove_file(&path);
}

fn what_does_not_agree_with_the_catalog_is_39_and_what_it_has_not_is_35<S: Store>(owner: Owner<S>) {
    let (owner, mut program) = bank(owner);
    load(&owner, &mut program);
    let mut file = File::new("ACCOUNT", Organization::Indexed, Access::Dynamic, 20);
    file = file.with_keys(&[(0, 5, false)]);
    assert_eq!(file.ask(&mut program, OPEN_INPUT), "39");
    let mut file = File::new("ACCOUNT", Organization::Indexed, Access::Dynamic, 24);
    file = file.with_keys(&[(0, 6, false)]);
    assert_eq!(file.ask(&mut program, OPEN_INPUT), "39");
    let mut file = File::new("ACCOUNT", Organization::Relative, Access::Dynamic, 20);
    assert_eq!(file.ask(&mut program, OPEN_INPUT), "39");
    // Nor does it empty what it does not know.
    assert_eq!(file.ask(&mut program, OPEN_OUTPUT), "39");
    assert_eq!(File::accounts(Access::Dynamic).ask(&mut program, OPEN_INPUT), "00");
    let mut file = File::new("ACCOUNT", Organization::Indexed, Access::Dynamic, 20);
    file = file.with_keys(&[(0, 6, false), (10, 4, true)]);
    assert_eq!(file.ask(&mut program, OPEN_INPUT), "96");
    let mut other = Program::over(&owner, &[("ACCOUNT", "//BANK.NOTHERE")]);
    assert_eq!(File::accounts(Access::Dynamic).ask(&mut other, OPEN_INPUT), "35");
}

fn keyed_files_have_every_status_of_keys<S: Store>(owner: Owner<S>) {
    let (owner, mut program) = bank(owner);
    load(&owner, &mut program);
    let mut file = File::accounts(Access::Dynamic);
    let p = &mut program;
    assert_eq!(file.ask(p, READ), "47");
    assert_eq!(file.ask(p, WRITE), "48");
    assert_eq!(file.ask(p, REWRITE), "49");
    assert_eq!(file.ask(p, DELETE), "49");
    assert_eq!(file.ask(p, CLOSE), "42");
    assert_eq!(file.ask(p, OPEN_IO), "00");
    assert_eq!(file.ask(p, OPEN_IO), "41");
    assert_eq!(file.record("BB0001").key(0, 6).ask(p, READ), "00");
    assert_eq!(file.text(), "BB0001BERTtwo");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.text(), "BB0002ANNAthree");
    assert_eq!(file.ask(p, NEXT), "10");
    assert_eq!(file.ask(p, NEXT), "46");
    assert_eq!(file.record("ZZ").ask(p, READ), "23");
    assert_eq!(file.ask(p, NEXT), "46");
    assert_eq!(file.record("BB").key(0, 2).ask(p, START_EQUAL), "00");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.text(), "BB0001BERTtwo");
    assert_eq!(file.record("BB0001").key(0, 6).ask(p, START_GREATER), "00");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.text(), "BB0002ANNAthree");
    assert_eq!(file.ask(p, PREVIOUS), "00");
    assert_eq!(file.text(), "BB0001BERTtwo");
    assert_eq!(file.record("CC").key(0, 2).ask(p, START_NOT_LESS), "23");
    assert_eq!(file.record("BB0001XXXXagain").key(0, 6).ask(p, WRITE), "22");
    assert_eq!(file.record("CC0001CARLfour").ask(p, WRITE), "00");
    assert_eq!(file.record("DD0001ANNAfive").ask(p, WRITE), "02");
    assert_eq!(file.record("CC0001ANNAchanged").ask(p, REWRITE), "02");
    assert_eq!(file.record("XX0001ANNA").ask(p, REWRITE), "23");
    assert_eq!(file.record("XX0001").ask(p, DELETE), "23");
    assert_eq!(file.record("DD0001").ask(p, DELETE), "00");
    file.fcd.set_record_bytes(19);
    assert_eq!(file.ask(p, WRITE), "44");
    assert_eq!(file.ask(p, CLOSE), "00");
}

fn duplicates_of_an_alternate_key_are_told_while_more_follow<S: Store>(owner: Owner<S>) {
    let (owner, mut program) = bank(owner);
    load(&owner, &mut program);
    let mut file = File::accounts(Access::Dynamic);
    let p = &mut program;
    assert_eq!(file.ask(p, OPEN_IO), "00");
    assert_eq!(file.record("      ANNA").key(1, 4).ask(p, READ), "02");
    assert_eq!(file.text(), "AA0001ANNAone");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.text(), "BB0002ANNAthree");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.text(), "BB0001BERTtwo");
    assert_eq!(file.ask(p, NEXT), "10");
    // What was found by an alternate key is changed by its prime key.
    assert_eq!(file.record("      BERT").key(1, 4).ask(p, READ), "00");
    assert_eq!(file.record("BB0001ZOE two").ask(p, REWRITE), "00");
    assert_eq!(file.record("      BERT").ask(p, READ), "23");
    assert_eq!(file.record("      ZO").key(1, 2).ask(p, START_EQUAL), "00");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.text(), "BB0001ZOE two");
}

fn a_sequential_program_changes_only_what_it_has_read<S: Store>(owner: Owner<S>) {
    let (owner, mut program) = bank(owner);
    load(&owner, &mut program);
    let mut file = File::accounts(Access::Sequential);
    let p = &mut program;
    assert_eq!(file.ask(p, OPEN_IO), "00");
    assert_eq!(file.ask(p, REWRITE), "43");
    assert_eq!(file.ask(p, WRITE), "48");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.record("AA0002ANNAone").ask(p, REWRITE), "21");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.record("BB0001BERTtwo more").ask(p, REWRITE), "00");
    assert_eq!(file.ask(p, DELETE), "43");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.ask(p, DELETE), "00");
    assert_eq!(file.ask(p, NEXT), "10");
    assert_eq!(file.ask(p, CLOSE), "00");
    assert_eq!(file.ask(p, OPEN_EXTEND), "00");
    assert_eq!(file.record("AB0001BEN  six").ask(p, WRITE), "21");
    assert_eq!(file.record("EE0001BEN  six").ask(p, WRITE), "00");
    assert_eq!(file.ask(p, NEXT), "47");
    assert_eq!(file.ask(p, CLOSE), "00");
}

fn changes_go_with_the_unit_of_work_that_somebody_else_ends<S: Store>(owner: Owner<S>) {
    let (owner, mut program) = bank(owner);
    load(&owner, &mut program);
    let mut file = File::accounts(Access::Dynamic);
    let p = &mut program;
    assert_eq!(file.ask(p, OPEN_IO), "00");
    assert_eq!(file.record("CC0001CARLfour").ask(p, WRITE), "00");
    owner.lock().back_out();
    assert_eq!(file.record("CC0001").key(0, 6).ask(p, READ), "23");
    assert_eq!(file.record("      CARL").key(1, 4).ask(p, READ), "23");
    assert_eq!(file.record("CC0001CARLfour").key(0, 6).ask(p, WRITE), "00");
    owner.lock().commit();
    owner.lock().back_out();
    assert_eq!(file.record("      CARL").key(1, 4).ask(p, READ), "00");
    assert_eq!(file.text(), "CC0001CARLfour");
}

/// Has `asks` done by another program while `changes` of the first are not committed, and these
/// backed out once it waits for them.
fn while_backed_out(
    named: &str,
    changes: impl FnOnce(&mut Program, &mut File),
    asks: impl FnOnce(&mut Program, &mut File) + Send + 'static,
) {
    let ground = Ground::new(named);
    let (owner, mut program) = bank(Owner::over(ground.store.clone()));
    load(&owner, &mut program);
    let beside = Arc::new(Mutex::new(owner.lock().beside()));
    let mut second = Program::over(&beside, &[("ACCOUNT", "//BANK.ACCOUNT")]);
    let mut file = File::accounts(Access::Dynamic);
    assert_eq!(file.ask(&mut program, OPEN_IO), "00");
    let mut theirs = File::accounts(Access::Dynamic);
    assert_eq!(theirs.ask(&mut second, OPEN_IO), "00");
    beside.lock().commit();
    changes(&mut program, &mut file);
    let (over, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let tells = Arc::clone(&is_over);
    let ends = Ends(Arc::clone(&over));
    let other = seam::thread::spawn("second", move || {
        let _ends = ends;
        asks(&mut second, &mut theirs);
        tells.store(true, SeqCst);
    });
    // Nothing else would tell that it waits.
    while !over.load(SeqCst) && !ground.is_waited_in() {
        seam::thread::yield_now();
    }
    owner.lock().back_out();
    other.unwrap().join();
    assert!(is_over.load(SeqCst), "the second program's answers");
}

/// What is loaded, by name; another one of a name follows where the status is 02.
const BY_NAME: [(&str, &str); 3] =
    [("02", "AA0001ANNAone"), ("00", "BB0002ANNAthree"), ("00", "BB0001BERTtwo")];

/// Says that a thread has ended, however.
struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[test]
fn read_next_passes_over_a_record_whose_insert_is_backed_out() {
    let inserts = |p: &mut Program, file: &mut File| {
        assert_eq!(file.record("AB0001BEN never").ask(p, WRITE), "00");
    };
    while_backed_out("never", inserts, |p, file| {
        assert_eq!(file.record("      ANNA").key(1, 4).ask(p, START_NOT_LESS), "00");
        for (status, text) in BY_NAME {
            assert_eq!(file.ask(p, NEXT), status, "{text}");
            assert_eq!(file.text(), text);
        }
        assert_eq!(file.ask(p, NEXT), "10");
    });
}

#[test]
fn a_key_that_a_record_had_only_until_a_backout_finds_it_no_longer() {
    let changes = |p: &mut Program, file: &mut File| {
        assert_eq!(file.record("BB0002").key(0, 6).ask(p, READ), "00");
        assert_eq!(file.record("BB0002CARLthree").ask(p, REWRITE), "00");
    };
    while_backed_out("changed", changes, |p, file| {
        assert_eq!(file.record("      CARL").key(1, 4).ask(p, READ), "23");
        assert_eq!(file.record("      ANNA").key(1, 4).ask(p, START_EQUAL), "00");
        for (status, text) in BY_NAME {
            assert_eq!(file.ask(p, NEXT), status, "{text}");
            assert_eq!(file.text(), text);
        }
    });
}

#[test]
fn a_key_that_another_record_has_too_finds_that_when_the_first_is_backed_out() {
    let changes = |p: &mut Program, file: &mut File| {
        assert_eq!(file.record("BB0002").key(0, 6).ask(p, READ), "00");
        assert_eq!(file.record("BB0002CARLthree").ask(p, REWRITE), "00");
    };
    while_backed_out("too", changes, |p, file| {
        // Behind that of the first program, if it is still there.
        assert!(file.record("CC0001CARLfour").ask(p, WRITE).starts_with('0'));
        assert_eq!(file.record("      CARL").key(1, 4).ask(p, READ), "00");
        assert_eq!(file.text(), "CC0001CARLfour");
    });
}

fn relative_clusters_number_their_records<S: Store>(owner: Owner<S>) {
    let slots = ClusterAttributes::new(Kind::Relative).with_records(10);
    owner.define("BANK.SLOTS", Definition::Cluster(slots));
    let owner = Arc::new(Mutex::new(owner));
    let mut program = Program::over(&owner, &[("SLOTS", "//BANK.SLOTS")]);
    let p = &mut program;
    let mut file = File::new("SLOTS", Organization::Relative, Access::Sequential, 10);
    assert_eq!(file.ask(p, OPEN_OUTPUT), "00");
    for number in 1..=3 {
        assert_eq!(file.record("record").ask(p, WRITE), "00");
        assert_eq!(file.memory.number, number);
    }
    assert_eq!(file.ask(p, CLOSE), "00");
    owner.lock().commit();
    let mut file = File::new("SLOTS", Organization::Relative, Access::Dynamic, 10);
    assert_eq!(file.ask(p, OPEN_IO), "00");
    assert_eq!(file.number(7).record("seven").ask(p, WRITE), "00");
    assert_eq!(file.number(7).ask(p, WRITE), "22");
    assert_eq!(file.number(0).ask(p, WRITE), "24");
    assert_eq!(file.number(5).ask(p, READ), "23");
    assert_eq!(file.number(2).ask(p, DELETE), "00");
    assert_eq!(file.number(2).ask(p, DELETE), "23");
    assert_eq!(file.number(2).ask(p, START_NOT_LESS), "00");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.memory.number, 3);
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!((file.memory.number, file.text().as_str()), (7, "seven"));
    file.memory.number_max = 9;
    assert_eq!(file.number(12).record("twelve").ask(p, WRITE), "00");
    assert_eq!(file.ask(p, NEXT), "14");
    assert_eq!(file.number(7).record("again").ask(p, REWRITE), "00");
    assert_eq!(file.number(8).ask(p, REWRITE), "23");
    assert_eq!(file.ask(p, CLOSE), "00");
}

fn entry_sequenced_clusters_are_sequential_files<S: Store>(owner: Owner<S>) {
    let journal = ClusterAttributes::new(Kind::EntrySequenced).with_records(10);
    owner.define("BANK.JOURNAL", Definition::Cluster(journal));
    let owner = Arc::new(Mutex::new(owner));
    let mut program = Program::over(&owner, &[("JOURNAL", "//BANK.JOURNAL")]);
    let p = &mut program;
    let mut file = File::new("JOURNAL", Organization::Sequential, Access::Sequential, 10);
    assert_eq!(file.ask(p, OPEN_OUTPUT), "00");
    for text in ["one", "two", "three"] {
        assert_eq!(file.record(text).ask(p, WRITE), "00");
    }
    assert_eq!(file.ask(p, CLOSE), "00");
    owner.lock().commit();
    assert_eq!(file.ask(p, OPEN_IO), "00");
    assert_eq!(file.ask(p, NEXT), "00");
    assert_eq!(file.record("ONE").ask(p, REWRITE), "00");
    assert_eq!(file.ask(p, REWRITE), "43");
    assert_eq!(file.ask(p, CLOSE), "00");
    assert_eq!(file.ask(p, OPEN_EXTEND), "00");
    assert_eq!(file.record("four").ask(p, WRITE), "00");
    assert_eq!(file.ask(p, CLOSE), "00");
    assert_eq!(file.ask(p, OPEN_INPUT), "00");
    for text in ["ONE", "two", "three", "four"] {
        assert_eq!(file.ask(p, NEXT), "00");
        assert_eq!(file.text(), text);
    }
    assert_eq!(file.ask(p, NEXT), "10");
}

fn share_options_keep_a_second_writer_out<S: Store>(owner: Owner<S>) {
    let cluster = ClusterAttributes::keyed(KeyField { offset: 0, bytes: 6 }, 20);
    owner.define("BANK.ALONE", Definition::Cluster(cluster));
    let beside = Arc::new(Mutex::new(owner.beside()));
    let owner = Arc::new(Mutex::new(owner));
    let [mut first, mut second] =
        [&owner, &beside].map(|owner| Program::over(owner, &[("ALONE", "//BANK.ALONE")]));
    let file = || {
        let file = File::new("ALONE", Organization::Indexed, Access::Dynamic, 20);
        file.with_keys(&[(0, 6, false)])
    };
    let (mut ours, mut theirs) = (file(), file());
    assert_eq!(ours.ask(&mut first, OPEN_OUTPUT), "00");
    assert_eq!(theirs.ask(&mut second, OPEN_IO), "93");
    assert_eq!(ours.record("AA0001").ask(&mut first, WRITE), "00");
    assert_eq!(ours.ask(&mut first, CLOSE), "00");
    owner.lock().commit();
    assert_eq!(theirs.ask(&mut second, OPEN_IO), "00");
}

/// A sequential file of 10 bytes.
fn daily(name: &str) -> File {
    File::new(name, Organization::Sequential, Access::Sequential, 10)
}

fn write_daily(program: &mut Program, name: &str, text: &str) {
    let mut file = daily(name);
    assert_eq!(file.ask(program, OPEN_OUTPUT), "00", "{name}");
    assert_eq!(file.record(text).ask(program, WRITE), "00");
    assert_eq!(file.ask(program, CLOSE), "00");
}

fn read_daily(program: &mut Program, name: &str) -> String {
    let mut file = daily(name);
    let mut all = file.ask(program, OPEN_INPUT);
    while all.starts_with("00") && file.ask(program, NEXT) == "00" {
        all.push(' ');
        all.push_str(&file.text());
    }
    file.ask(program, CLOSE);
    all
}

const DAILY: [(&str, &str); 4] = [
    ("NEW", "//BANK.DAILY(+1)"),
    ("NOW", "//BANK.DAILY(0)"),
    ("OLD", "//BANK.DAILY(-1)"),
    ("BOTH", "//BANK.DAILY(-1)://BANK.DAILY(0)"),
];

fn group<S: Store>(owner: Owner<S>) -> Arc<Mutex<Owner<S>>> {
    let remarks = vsam::Remarks::default();
    let limit = vsam::GenerationGroupAttributes { limit: 3, empty: false, scratch: true, remarks };
    owner.define("BANK.DAILY", Definition::GenerationGroup(limit));
    Arc::new(Mutex::new(owner))
}

fn generations_are_found_by_relative_numbers_and_made_by_open_output<S: Store>(owner: Owner<S>) {
    let owner = group(owner);
    let mut step = Program::over(&owner, &DAILY);
    assert_eq!(daily("NOW").ask(&mut step, OPEN_INPUT), "35");
    assert_eq!(daily("NEW").ask(&mut step, OPEN_INPUT), "35");
    write_daily(&mut step, "NEW", "first");
    // The step counts from what there was when it began.
    assert_eq!(read_daily(&mut step, "NEW"), "00 first");
    assert_eq!(daily("NOW").ask(&mut step, OPEN_INPUT), "35");
    owner.lock().commit();
    for text in ["second", "third"] {
        let next = Arc::new(Mutex::new(owner.lock().beside()));
        let mut step = Program::over(&next, &DAILY);
        write_daily(&mut step, "NEW", text);
        next.lock().commit();
    }
    let last = Arc::new(Mutex::new(owner.lock().beside()));
    let mut step = Program::over(&last, &DAILY);
    assert_eq!(read_daily(&mut step, "NOW"), "00 third");
    assert_eq!(read_daily(&mut step, "OLD"), "00 second");
    let mut gone = Program::over(&last, &[("GONE", "//BANK.DAILY(-3)")]);
    assert_eq!(daily("GONE").ask(&mut gone, OPEN_INPUT), "35");
}

fn a_new_generation_is_loaded_as_often_as_its_step_opens_it<S: Store>(owner: Owner<S>) {
    let owner = group(owner);
    let mut step = Program::over(&owner, &DAILY);
    for text in ["first", "second"] {
        write_daily(&mut step, "NEW", text);
        assert_eq!(read_daily(&mut step, "NEW"), format!("00 {text}"));
    }
    owner.lock().commit();
    write_daily(&mut step, "NEW", "third");
    owner.lock().commit();
    assert_eq!(read_daily(&mut step, "NEW"), "00 third");
    // Records of several lengths are a variable cluster, whatever its organization.
    let mut numbers = File::new("OTHER", Organization::Relative, Access::Sequential, 10);
    numbers.fcd.set_record_limits(4, 10);
    let mut other = Program::over(&owner, &[("OTHER", "//BANK.DAILY(+2)")]);
    assert_eq!(numbers.ask(&mut other, OPEN_OUTPUT), "00");
    let made = owner.lock().catalog.get(&named("BANK.DAILY.G0002V00")).unwrap().unwrap();
    let attributes = made.cluster().unwrap();
    assert_eq!((attributes.average_bytes, attributes.record_bytes_max), (4, 10));
}

fn no_generation_is_made_where_an_old_one_would_go_for_it<S: Store>(owner: Owner<S>) {
    let owner = group(owner);
    for text in ["first", "second", "third"] {
        let next = Arc::new(Mutex::new(owner.lock().beside()));
        let mut step = Program::over(&next, &DAILY);
        write_daily(&mut step, "NEW", text);
        next.lock().commit();
    }
    // However often it is tried.
    for _ in 0..2 {
        let next = Arc::new(Mutex::new(owner.lock().beside()));
        let mut step = Program::over(&next, &DAILY);
        assert_eq!(daily("NEW").ask(&mut step, OPEN_OUTPUT), "34");
        assert_eq!(daily("NEW").ask(&mut step, OPEN_INPUT), "35");
        assert_eq!(read_daily(&mut step, "NOW"), "00 third");
        assert_eq!(read_daily(&mut step, "BOTH"), "00 second third");
        let mut oldest = Program::over(&next, &[("OLD", "//BANK.DAILY(-2)")]);
        assert_eq!(read_daily(&mut oldest, "OLD"), "00 first");
    }
}

fn relative_numbers_stay_what_they_were_when_the_step_began<S: Store>(owner: Owner<S>) {
    let owner = group(owner);
    let mut before = Program::over(&owner, &DAILY);
    write_daily(&mut before, "NEW", "first");
    owner.lock().commit();
    let this = Arc::new(Mutex::new(owner.lock().beside()));
    let mut step = Program::over(&this, &DAILY);
    assert_eq!(read_daily(&mut step, "NOW"), "00 first");
    let other = Arc::new(Mutex::new(owner.lock().beside()));
    let mut meanwhile = Program::over(&other, &DAILY);
    write_daily(&mut meanwhile, "NEW", "second");
    other.lock().commit();
    assert_eq!(read_daily(&mut step, "NOW"), "00 first");
    // The other step has made what was to be this one's.
    assert_eq!(daily("NEW").ask(&mut step, OPEN_OUTPUT), "95");
    let later = Arc::new(Mutex::new(owner.lock().beside()));
    assert_eq!(read_daily(&mut Program::over(&later, &DAILY), "NOW"), "00 second");
}

fn data_sets_are_concatenated<S: Store>(owner: Owner<S>) {
    let owner = group(owner);
    for text in ["first", "second"] {
        let next = Arc::new(Mutex::new(owner.lock().beside()));
        let mut step = Program::over(&next, &DAILY);
        write_daily(&mut step, "NEW", text);
        next.lock().commit();
    }
    let mut step = Program::over(&owner, &DAILY);
    assert_eq!(read_daily(&mut step, "BOTH"), "00 first second");
    assert_eq!(daily("BOTH").ask(&mut step, OPEN_OUTPUT), "37");
    let mut file = daily("BOTH");
    assert_eq!(file.ask(&mut step, OPEN_INPUT), "00");
    for expected in ["00", "00", "10", "46"] {
        assert_eq!(file.ask(&mut step, NEXT), expected);
    }
}
