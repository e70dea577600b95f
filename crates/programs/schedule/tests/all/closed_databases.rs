//! Databases that operators close: for updates, and for everything.

use crate::support::{ALONE, Caller, Shop};
use base::Coded as _;
use definitions::DbdName;
use holdfast_schedule::{Closed, Options, RegionKind};

/// The PCB of the database.
const SHOPDB: usize = 2;

fn online() -> Options {
    Options { kind: RegionKind::Bmp, ..Options::default() }
}

fn close(shop: &Shop, closed: Option<Closed>) {
    shop.intents.set_closed(DbdName::new("SHOPDB").expect("a name"), closed);
}

/// A shop with two customers.
fn shop(test: &str) -> Shop {
    let shop = Shop::new(test);
    let mut program = shop.program_with(ALONE, online());
    program.customer(SHOPDB, "0001");
    program.customer(SHOPDB, "0002");
    program.end().expect("a commit");
    shop
}

fn get(program: &mut Caller, function: &[u8; 4]) -> String {
    program.status(SHOPDB, function, Some(&[0; 20]), &[])
}

fn commit(program: &mut Caller) {
    assert_eq!(program.service(b"CHKP", b"CHKP0001", &[]), "  ");
}

#[test]
fn a_stopped_database_keeps_programs_from_being_scheduled() {
    let shop = shop("stopped");
    close(&shop, Some(Closed::Everything));
    let refused = shop.schedule(ALONE, online()).err().expect("a refusal");
    assert_eq!(refused.code().0, "HFJ009");
    assert!(refused.to_string().contains("database SHOPDB is stopped"), "{refused}");
    assert!(refused.remedy().contains("/START DB SHOPDB"));
    close(&shop, None);
    drop(shop.program_with(ALONE, online()));
}

#[test]
fn a_unit_of_work_ends_with_the_database_that_it_began_with_and_the_next_has_none() {
    let shop = shop("in-flight");
    let mut program = shop.program_with(ALONE, online());
    assert_eq!(get(&mut program, b"GHU "), "  ");
    close(&shop, Some(Closed::Everything));
    assert_eq!(get(&mut program, b"GHN "), "  ", "what has begun ends");
    program.customer(SHOPDB, "0003");
    commit(&mut program);
    assert_eq!(get(&mut program, b"GU  "), "U3303");
    program.abend();
    close(&shop, None);
    assert_eq!(shop.customers(), ["0001", "0002", "0003"]);
}

#[test]
fn a_program_that_asked_for_it_goes_on_without_the_database() {
    let shop = shop("asked");
    let mut program = shop.program_with(ALONE, online());
    assert_eq!(program.service(b"INIT", b"\0\0\0\0STATUS GROUPA", &[]), "  ");
    assert_eq!(program.service(b"INIT", b"\0\0\0\0DBQUERY", &[]), "  ");
    commit(&mut program);
    close(&shop, Some(Closed::Everything));
    assert_eq!(program.service(b"INIT", b"\0\0\0\0DBQUERY", &[]), "BJ");
    assert_eq!(get(&mut program, b"GU  "), "BA");
    assert_eq!(program.customer_status(SHOPDB, "0003"), "BA");
    close(&shop, None);
    commit(&mut program);
    assert_eq!(get(&mut program, b"GU  "), "  ", "it was started again");
    program.end().expect("a commit");
    let mut program = shop.program_with(ALONE, online());
    assert_eq!(program.service(b"INIT", b"\0\0\0\0STATUS GROUPB", &[]), "  ");
    program.customer(SHOPDB, "0004");
    commit(&mut program);
    close(&shop, Some(Closed::Everything));
    assert_eq!(get(&mut program, b"GU  "), "BB");
    program.end().expect("an end");
    close(&shop, None);
    assert_eq!(shop.customers(), ["0001", "0002", "0004"]);
}

#[test]
fn a_database_that_is_closed_for_updates_is_read() {
    let shop = shop("read-only");
    close(&shop, Some(Closed::Updates));
    let mut program = shop.program_with(ALONE, online());
    assert_eq!(program.service(b"INIT", b"\0\0\0\0STATUS GROUPA", &[]), "  ");
    assert_eq!(program.service(b"INIT", b"\0\0\0\0DBQUERY", &[]), "BK");
    assert_eq!(get(&mut program, b"GHU "), "  ");
    assert_eq!(get(&mut program, b"REPL"), "BA");
    assert_eq!(get(&mut program, b"DLET"), "BA");
    assert_eq!(program.customer_status(SHOPDB, "0003"), "BA");
    assert_eq!(get(&mut program, b"GN  "), "  ");
    program.end().expect("a commit");
    let mut program = shop.program_with(ALONE, online());
    assert_eq!(program.customer_status(SHOPDB, "0003"), "U3303");
    program.abend();
    close(&shop, None);
    assert_eq!(shop.customers(), ["0001", "0002"]);
}
