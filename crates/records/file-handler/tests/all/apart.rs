//! Programs without sync points: each request is a unit of work of its own.
#![allow(clippy::needless_pass_by_value)] // every scenario has an owner of its own

use std::sync::Arc;

use file_handler::fcd::Access;
use file_handler::own_units::{Apart, refuse};
use file_handler::request_kind::nature;
use file_handler::{Carrier, Clusters, Handler, Remote};
use seam::sync::Mutex;
use store::Store;
use store_suite::model::ModelStore;

use crate::program::{
    CLOSE, DELETE_FILE, File, Ground, NEXT, Names, OPEN_INPUT, OPEN_IO, OPEN_OUTPUT, Owner,
    PREVIOUS, Program, READ, REWRITE, START_NOT_LESS, WRITE, accounts,
};

struct Lone<S: Store>(Arc<Mutex<Apart<S>>>);

impl<S: Store> Carrier for Lone<S> {
    fn carry(&mut self, request: &[u8], answer: &mut Vec<u8>) -> bool {
        let nature = nature(request).expect("a request");
        if let Err(error) = self.0.lock().serve(nature, request, answer) {
            refuse(request, &error, answer);
        }
        true
    }
}

/// A program over the accounts, by two names.
fn program<S: Store>(owner: &Owner<S>) -> (Program, Arc<Mutex<Apart<S>>>) {
    over(owner, Clusters::of_step(owner.catalog.clone()))
}

fn over<S: Store>(owner: &Owner<S>, clusters: Clusters<S>) -> (Program, Arc<Mutex<Apart<S>>>) {
    let apart = Apart::new(owner.store.clone(), clusters);
    let apart = Arc::new(Mutex::new(apart));
    let names = ["ACCOUNT", "OTHER"].map(|name| (format!("DD_{name}"), "//BANK.ACCOUNT".into()));
    let remote = Remote::new(Box::new(Lone(Arc::clone(&apart))));
    let handler = Handler::new(Box::new(Names(names.into())), Some(Box::new(remote)));
    (Program { handler }, apart)
}

fn load(program: &mut Program) {
    let mut file = File::accounts(Access::Sequential);
    assert_eq!(file.ask(program, OPEN_OUTPUT), "00");
    for text in ["AA0001ANNAone", "BB0001BERTtwo", "BB0002CARLthree"] {
        assert_eq!(file.record(text).ask(program, WRITE), "00", "{text}");
    }
    assert_eq!(file.ask(program, CLOSE), "00");
}

fn other() -> File {
    let mut file = File::accounts(Access::Dynamic);
    file.memory.name = b"OTHER".to_vec();
    file.memory.identity = 1;
    file
}

fn what_was_answered_stays_when_the_program_goes<S: Store>(owner: Owner<S>) {
    accounts(&owner);
    let (mut gone, _) = program(&owner);
    load(&mut gone);
    let mut file = File::accounts(Access::Dynamic);
    assert_eq!(file.ask(&mut gone, OPEN_IO), "00");
    assert_eq!(file.record("CC0001DORAfour").ask(&mut gone, WRITE), "00");
    assert_eq!(file.record("AA0001").ask(&mut gone, READ), "00");
    assert_eq!(file.record("AA0001ANNAchanged").ask(&mut gone, REWRITE), "00");
    // What is refused has changed nothing.
    assert_eq!(file.record("CC0001EMILfive").ask(&mut gone, WRITE), "22");
    drop(gone);
    let (mut next, apart) = program(&owner);
    let mut file = File::accounts(Access::Dynamic);
    assert_eq!(file.ask(&mut next, OPEN_IO), "00");
    assert_eq!(file.record("AA0001").ask(&mut next, READ), "00");
    assert_eq!(file.text(), "AA0001ANNAchanged");
    assert_eq!(file.record("CC0001").ask(&mut next, READ), "00");
    assert_eq!(file.text(), "CC0001DORAfour");
    apart.lock().finish().expect("durable");
}

fn two_files_of_one_program_never_wait_for_each_other<S: Store>(owner: Owner<S>) {
    accounts(&owner);
    let (mut program, _apart) = program(&owner);
    let p = &mut program;
    load(p);
    let (mut one, mut two) = (File::accounts(Access::Dynamic), other());
    assert_eq!(one.ask(p, OPEN_IO), "00");
    assert_eq!(two.ask(p, OPEN_IO), "00");
    assert_eq!(one.record("AA0001").ask(p, READ), "00");
    assert_eq!(two.record("AA0001").ask(p, READ), "00");
    assert_eq!(one.record("AA0001ANNAmine").ask(p, REWRITE), "00");
    assert_eq!(two.record("AA0001ANNAyours").ask(p, REWRITE), "00");
    assert_eq!(one.record("AA0001").ask(p, READ), "00");
    assert_eq!(one.text(), "AA0001ANNAyours");
}

fn what_is_loaded_in_any_order_is_there_for_other_files_at_once<S: Store>(owner: Owner<S>) {
    accounts(&owner);
    let sharing = Clusters::sharing_records(owner.catalog.clone());
    let (mut program, _apart) = over(&owner, sharing);
    let p = &mut program;
    load(p);
    let mut one = File::accounts(Access::Random);
    assert_eq!(one.ask(p, OPEN_OUTPUT), "00");
    assert_eq!(one.record("CC0001CARLfour").ask(p, WRITE), "00");
    let mut two = other();
    assert_eq!(two.ask(p, OPEN_IO), "00");
    assert_eq!(two.record("CC0001").ask(p, READ), "00");
    assert_eq!(two.text(), "CC0001CARLfour");
    assert_eq!(one.record("AA0001ANNAfive").ask(p, WRITE), "00");
    assert_eq!(two.record("AA0001").ask(p, READ), "00");
    assert_eq!(two.record("AA0001ANNAmore").ask(p, REWRITE), "00");
    assert_eq!((one.ask(p, CLOSE).as_str(), two.ask(p, CLOSE).as_str()), ("00", "00"));
}

fn a_file_is_emptied_and_loaded_again_in_one_step<S: Store>(owner: Owner<S>) {
    accounts(&owner);
    let (mut program, _apart) = program(&owner);
    let p = &mut program;
    load(p);
    load(p);
    let mut file = File::accounts(Access::Dynamic);
    assert_eq!(file.ask(p, DELETE_FILE), "00");
    assert_eq!(file.ask(p, OPEN_INPUT), "35");
    load(p);
    assert_eq!(file.ask(p, OPEN_INPUT), "00");
    assert_eq!(file.ask(p, DELETE_FILE), "41");
    assert_eq!(file.ask(p, NEXT), "00");
}

fn start_finds_a_record_for_both_directions<S: Store>(owner: Owner<S>) {
    accounts(&owner);
    let (mut program, _apart) = program(&owner);
    let p = &mut program;
    load(p);
    let mut file = File::accounts(Access::Dynamic);
    assert_eq!(file.ask(p, OPEN_IO), "00");
    for (code, first, then) in [(PREVIOUS, "BB0001", "AA0001"), (NEXT, "BB0001", "BB0002")] {
        for (key, bytes, name) in [(0, 6, "AA0002ANNB"), (1, 4, "BB0001BERA")] {
            file.record(name).key(key, bytes);
            assert_eq!(file.ask(p, START_NOT_LESS), "00");
            for expected in [first, then] {
                assert_eq!(file.ask(p, code), "00");
                assert_eq!(file.text()[..6], *expected, "{code:x} along key {key}");
            }
        }
    }
}

macro_rules! on_both {
    ($($name:ident)*) => {
        mod on_the_model {
            use super::{ModelStore, Owner};
            $(#[test]
            fn $name() {
                super::$name(Owner::over(ModelStore::new()));
            })*
        }
        mod on_the_kernel {
            use super::{Ground, Owner};
            $(#[test]
            fn $name() {
                let ground = Ground::new(stringify!($name));
                super::$name(Owner::over(ground.store.clone()));
            })*
        }
    };
}

on_both! {
    what_was_answered_stays_when_the_program_goes
    what_is_loaded_in_any_order_is_there_for_other_files_at_once
    two_files_of_one_program_never_wait_for_each_other
    a_file_is_emptied_and_loaded_again_in_one_step
    start_finds_a_record_for_both_directions
}
