//! Clusters that OPEN OUTPUT and DELETE FILE empty, in a unit of work and outside.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::sync::Arc;

use file_handler::fcd::{Access, Organization};
use seam::sync::Mutex;
use store::Store;
use vsam::{
    AlternateIndexAttributes, ClusterAttributes, Definition, KeyField, Organization as Kind,
    PathAttributes,
};

use crate::clusters::{bank, load};
use crate::program::{
    CLOSE, DELETE_FILE, File, NEXT, OPEN_EXTEND, OPEN_INPUT, OPEN_IO, OPEN_OUTPUT, Owner, Program,
    READ, REWRITE, START_NOT_LESS, WRITE, named, on_both,
};

on_both! {
    delete_file_empties_a_cluster_and_its_indexes_without_reuse_too
    a_cluster_that_its_own_unit_of_work_has_changed_is_emptied_in_that
    addresses_go_on_where_records_may_come_back
}

/// All records by a key, in its order.
fn all_by<S: Store>(owner: &Arc<Mutex<Owner<S>>>, key: u16) -> Vec<String> {
    let beside = Arc::new(Mutex::new(owner.lock().beside()));
    let mut program = Program::over(&beside, &[("ACCOUNT", "//BANK.ACCOUNT")]);
    let (p, mut file, mut all) = (&mut program, File::accounts(Access::Dynamic), Vec::new());
    assert_eq!(file.ask(p, OPEN_INPUT), "00");
    file.memory.record.fill(b' ');
    file.key(key, if key == 0 { 6 } else { 4 });
    file.ask(p, START_NOT_LESS);
    while file.ask(p, NEXT).starts_with('0') {
        all.push(file.text());
    }
    all
}

fn delete_file_empties_a_cluster_and_its_indexes_without_reuse_too<S: Store>(owner: Owner<S>) {
    for reuse in [true, false] {
        let cluster = format!("BANK.C{}", u8::from(reuse));
        let index = format!("{cluster}.AIX");
        let path = format!("{cluster}.PATH");
        let attributes = ClusterAttributes::keyed(KeyField { offset: 0, bytes: 6 }, 20);
        owner.define(&cluster, Definition::Cluster(ClusterAttributes { reuse, ..attributes }));
        let key = KeyField { offset: 6, bytes: 4 };
        let unique = AlternateIndexAttributes::new(named(&cluster), key);
        let unique = AlternateIndexAttributes { unique: true, upgrade: true, ..unique };
        owner.define(&index, Definition::AlternateIndex(unique));
        owner.catalog.build_index(&named(&index)).unwrap();
        let entry = PathAttributes { entry: named(&index), update: true };
        owner.define(&path, Definition::Path(entry));
    }
    let owner = Arc::new(Mutex::new(owner));
    for cluster in ["BANK.C1", "BANK.C0"] {
        let mut program = Program::over(&owner, &[("ACCOUNT", &format!("//{cluster}"))]);
        let p = &mut program;
        let file = || {
            let file = File::new("ACCOUNT", Organization::Indexed, Access::Dynamic, 20);
            file.with_keys(&[(0, 6, false), (6, 4, false)])
        };
        for _ in 0..2 {
            let mut file = file();
            assert_eq!(file.ask(p, OPEN_OUTPUT), "00", "{cluster}");
            assert_eq!(file.record("AA0001ANNAone").ask(p, WRITE), "00");
            assert_eq!(file.record("AA0002BERTtwo").ask(p, WRITE), "00");
            assert_eq!(file.ask(p, DELETE_FILE), "41", "it is open");
            assert_eq!(file.ask(p, CLOSE), "00");
            owner.lock().commit();
            // Somebody else has it.
            let mut other = Program::over(&owner, &[("ACCOUNT", &format!("//{cluster}"))]);
            let mut theirs = File::accounts(Access::Dynamic);
            theirs = theirs.with_keys(&[(0, 6, false), (6, 4, false)]);
            assert_eq!(theirs.ask(&mut other, OPEN_INPUT), "00");
            assert_eq!(file.ask(p, DELETE_FILE), "93");
            assert_eq!(theirs.ask(&mut other, CLOSE), "00");
            owner.lock().commit();
            assert_eq!(file.ask(p, DELETE_FILE), "00", "{cluster}");
            owner.lock().commit();
            assert_eq!(file.ask(p, OPEN_INPUT), "35", "{cluster}");
        }
        // No index knows what was there: its keys can be used again.
        let mut file = file();
        file.fcd.set_optional(true);
        assert_eq!(file.ask(p, OPEN_IO), "05");
        assert_eq!(file.record("AA0009ANNAnew").ask(p, WRITE), "00", "{cluster}");
        assert_eq!(file.record("AA0009").key(0, 6).ask(p, READ), "00");
        assert_eq!(file.text(), "AA0009ANNAnew");
        assert_eq!(file.record("AA0009ANNA").key(1, 4).ask(p, READ), "00");
        assert_eq!(file.record("AA0009BERT").key(1, 4).ask(p, READ), "23");
        assert_eq!(file.ask(p, CLOSE), "00");
        owner.lock().commit();
    }
}

fn a_cluster_that_its_own_unit_of_work_has_changed_is_emptied_in_that<S: Store>(owner: Owner<S>) {
    let (owner, mut program) = bank(owner);
    load(&owner, &mut program);
    let p = &mut program;
    let before = all_by(&owner, 0);
    for is_committed in [false, true] {
        let mut file = File::accounts(Access::Dynamic);
        assert_eq!(file.ask(p, OPEN_IO), "00");
        assert_eq!(file.record("CC0001CARLfour").ask(p, WRITE), "00");
        assert_eq!(file.ask(p, CLOSE), "00");
        // A work file that is loaded and read again and again, in one unit of work.
        for text in ["DD0001DORAfive", "EE0001EMMAsix"] {
            let mut work = File::accounts(Access::Sequential);
            assert_eq!(work.ask(p, OPEN_OUTPUT), "00", "{text}");
            assert_eq!(work.record(text).ask(p, WRITE), "00");
            assert_eq!(work.ask(p, CLOSE), "00");
            assert_eq!(work.ask(p, OPEN_INPUT), "00");
            assert_eq!(work.ask(p, NEXT), "00");
            assert_eq!(work.text(), text);
            assert_eq!(work.ask(p, NEXT), "10");
            assert_eq!(work.ask(p, CLOSE), "00");
        }
        assert_eq!(file.ask(p, DELETE_FILE), "00");
        assert_eq!(file.ask(p, OPEN_IO), "35");
        let mut any_order = File::accounts(Access::Random);
        assert_eq!(any_order.ask(p, OPEN_OUTPUT), "00");
        assert_eq!(any_order.record("FF0002FREDtwo").ask(p, WRITE), "00");
        assert_eq!(any_order.record("FF0001FRANone").ask(p, WRITE), "00");
        assert_eq!(any_order.ask(p, CLOSE), "00");
        if !is_committed {
            owner.lock().back_out();
            assert_eq!(all_by(&owner, 0), before);
            assert_eq!(all_by(&owner, 1), ["AA0001ANNAone", "BB0002ANNAthree", "BB0001BERTtwo"]);
            continue;
        }
        owner.lock().commit();
        for key in [0, 1] {
            assert_eq!(all_by(&owner, key), ["FF0001FRANone", "FF0002FREDtwo"]);
        }
    }
}

fn addresses_go_on_where_records_may_come_back<S: Store>(owner: Owner<S>) {
    let journal = ClusterAttributes::new(Kind::EntrySequenced).with_records(10);
    let journal = ClusterAttributes { reuse: true, average_bytes: 1, ..journal };
    owner.define("BANK.JOURNAL", Definition::Cluster(journal));
    let owner = Arc::new(Mutex::new(owner));
    let mut program = Program::over(&owner, &[("JOURNAL", "//BANK.JOURNAL")]);
    let p = &mut program;
    let file = || {
        let sequential = Organization::Sequential;
        let mut file = File::new("JOURNAL", sequential, Access::Sequential, 10);
        file.fcd.set_record_limits(1, 10);
        file
    };
    let put = |file: &mut File, p: &mut Program, text: &str| {
        file.fcd.set_record_bytes(text.len() as u32);
        assert_eq!(file.record(text).ask(p, WRITE), "00", "{text}");
    };
    let mut one = file();
    assert_eq!(one.ask(p, OPEN_OUTPUT), "00");
    put(&mut one, p, "record one");
    put(&mut one, p, "record two");
    assert_eq!(one.ask(p, CLOSE), "00");
    owner.lock().commit();
    // The catalog is opened anew: no address is known.
    let store = owner.lock().store.clone();
    let owner = Arc::new(Mutex::new(Owner::over(store)));
    let mut program = Program::over(&owner, &[("JOURNAL", "//BANK.JOURNAL")]);
    let p = &mut program;
    let mut two = file();
    assert_eq!(two.ask(p, OPEN_IO), "00");
    assert_eq!(two.ask(p, NEXT), "00");
    two.fcd.set_record_bytes(10);
    assert_eq!(two.record("changed   ").ask(p, REWRITE), "00");
    assert_eq!(two.ask(p, CLOSE), "00");
    assert_eq!(two.ask(p, OPEN_OUTPUT), "00");
    put(&mut two, p, "new");
    assert_eq!(two.ask(p, CLOSE), "00");
    owner.lock().back_out();
    assert_eq!(two.ask(p, OPEN_EXTEND), "00");
    put(&mut two, p, "three");
    assert_eq!(two.ask(p, CLOSE), "00");
    owner.lock().commit();
    assert_eq!(two.ask(p, OPEN_INPUT), "00");
    for text in ["record one", "record two", "three"] {
        two.memory.record.fill(b' ');
        assert_eq!(two.ask(p, NEXT), "00");
        assert_eq!(two.text(), text);
    }
    assert_eq!(two.ask(p, NEXT), "10");
}
