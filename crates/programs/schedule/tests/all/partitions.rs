//! PCBs that are limited to partitions, and partitions that are offline (DLI-12.55, DLI-12.75 and
//! DLI-12.76).
//!
//! The days' partitions H1 to H4 end at 200, 400, 600 and 800; those of the index of kinds, K1 to
//! K4, at K20, K40, K60 and K80.

use crate::support::{Caller, HISTORY, Shop};
use base::Coded as _;
use hierarchy::{Database, state};
use holdfast_schedule::Options;

const DAYS: usize = 2;
const KINDS: usize = 4;

/// A shop with a day for every key; day 110 is of kind K89, 140 of K86, 240 of K76 and so on.
fn history(test: &str) -> Shop {
    let shop = Shop::new(test);
    let mut program = shop.program(HISTORY);
    for key in ["110", "140", "240", "390", "440", "610", "790"] {
        assert_eq!(insert(&mut program, key), "  ");
    }
    program.end().expect("an end");
    shop
}

fn insert(program: &mut Caller, key: &str) -> String {
    let number: u32 = key.parse().expect("a number");
    let area = format!("{key}K{:02}", 100 - number / 10);
    let answer = program.call(DAYS, b"ISRT", Some(area.as_bytes()), (&[b"DAY      "], &[]));
    answer.map_or_else(|abend| abend.code, |answer| text(&answer.status))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Status and key of a get.
fn get(program: &mut Caller, pcb: usize, function: &[u8; 4], ssa: &str) -> (String, String) {
    let ssas = [ssa.as_bytes()];
    let ssas = if ssa.is_empty() { &[][..] } else { &ssas[..] };
    match program.call(pcb, function, Some(&[b'.'; 64]), (ssas, &[])) {
        Ok(answer) => (text(&answer.status), text(&answer.key)),
        Err(abend) => (abend.code, String::new()),
    }
}

fn day(operator: &str, key: &str) -> String {
    format!("DAY     (DATE    {operator}{key})")
}

fn is(status: &str, key: &str) -> (String, String) {
    (status.to_owned(), key.to_owned())
}

#[test]
fn a_root_outside_of_the_partitions_is_fm_and_what_lies_in_front_ge() {
    let shop = history("limited");
    shop.write("haldb", b"HALDB PCB=(1,H2)\n");
    let mut program = shop.program(HISTORY);
    let mut get = |function, ssa: &str| get(&mut program, DAYS, function, ssa);
    assert_eq!(get(b"GU  ", &day(" =", "110")), is("FM", ""));
    assert_eq!(get(b"GN  ", &day(">=", "110")).0, "FM", "the search would begin there");
    assert_eq!(get(b"GN  ", &day("> ", "500")).0, "FM");
    assert_eq!(get(b"GU  ", &day(" =", "240")), is("  ", "240"));
    assert_eq!(get(b"GN  ", &day(" =", "110")).0, "GE", "it lies in front of the point");
    assert_eq!(get(b"GU  ", &day(" =", "240")).0, "  ");
    assert_eq!(get(b"GN  ", &day(">=", "110")), is("  ", "390"));
    assert_eq!(get(b"GN  ", &day(">=", "110")).0, "GB");
    assert_eq!(get(b"GU  ", ""), is("  ", "240"), "the first root of the partition");
    assert_eq!(get(b"GN  ", ""), is("  ", "390"));
    assert_eq!(get(b"GN  ", "").0, "GB");
    assert_eq!(get(b"GU  ", &day("<=", "110")).0, "GE");
    assert_eq!(get(b"GU  ", &day(" =", "900")).0, "FM");
}

#[test]
fn several_partitions_are_one_range() {
    let shop = history("several");
    shop.write("haldb", b"* TWO OF THEM\nHALDB PCB=(DAYS,H2,NUM=2)\n");
    let mut program = shop.program(HISTORY);
    let mut keys = Vec::new();
    loop {
        match get(&mut program, DAYS, b"GN  ", "DAY      ") {
            (status, key) if status == "  " => keys.push(key),
            (status, _) => break assert_eq!(status, "GB"),
        }
    }
    assert_eq!(keys, ["240", "390", "440"]);
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "810")).0, "FM");
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "440")).0, "  ");
    assert_eq!(get(&mut program, DAYS, b"GN  ", &day(">=", "110")).0, "GB");
}

#[test]
fn roots_are_inserted_within_the_partitions_only() {
    let shop = history("inserted");
    shop.write("haldb", b"HALDB PCB=(1,H2)\n");
    let mut program = shop.program(HISTORY);
    assert_eq!(insert(&mut program, "120"), "FM");
    assert_eq!(insert(&mut program, "250"), "  ");
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "250")), is("  ", "250"));
}

#[test]
fn over_an_index_its_own_partitions_count() {
    let shop = history("index");
    shop.write("haldb", b"HALDB PCB=(KINDS,K4)\n");
    let mut program = shop.program(HISTORY);
    let kind = |operator: &str, key: &str| format!("DAY     (XKIND   {operator}{key})");
    let mut kinds = |function, ssa: &str| get(&mut program, KINDS, function, ssa);
    assert_eq!(kinds(b"GU  ", &kind(" =", "K39")).0, "FM");
    assert_eq!(kinds(b"GN  ", &kind(">=", "K10")).0, "FM");
    assert_eq!(kinds(b"GU  ", ""), is("  ", "K61"));
    assert_eq!(kinds(b"GN  ", &kind(">=", "K10")), is("  ", "K76"));
    assert_eq!(kinds(b"GN  ", &kind(">=", "K10")).0, "GB");
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "110")).0, "  ", "not limited");
}

#[test]
fn statements_that_fit_nothing_are_named() {
    let shop = history("misfits");
    for (cards, code, words) in [
        ("HALDB PCB=(1,H9)", "HFJ006", "H1, H2, H3, H4"),
        ("HALDB PCB=(9,H1)", "HFJ006", "there are 3"),
        ("HALDB PCB=(NOBODY,H1)", "HFJ006", "NOBODY"),
        ("HALDB PCB=(2,H1)", "HFJ006", "SHOPDB, which has no partitions"),
        ("HALDB PCB=(KINDS,H1)", "HFJ006", "KINDIX has no partition H1"),
        ("\nHALDB PCB(1,H1)", "HFJ005", "card 2, column 7"),
    ] {
        shop.write("haldb", cards.as_bytes());
        let error = shop.schedule(HISTORY, Options::default()).err().expect("a refusal");
        assert_eq!(error.code().0, code, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// Takes H2 offline, or back.
fn take(shop: &Shop, offline: bool) {
    let database = shop.open(HISTORY, "HISTDB");
    let partition = |database: &Database| state::set_offline(&shop.store, database, "H2", offline);
    assert!(partition(&database).expect("a partition"));
    assert!(!partition(&database).expect("a partition"), "it was so already");
    assert!(state::set_offline(&shop.store, &database, "H9", offline).is_err());
}

#[test]
fn a_program_that_did_not_ask_ends_where_data_is_offline() {
    let shop = history("offline");
    take(&shop, true);
    let mut program = shop.program(HISTORY);
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "110")).0, "  ");
    assert_eq!(insert(&mut program, "120"), "  ");
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "240")).0, "U3303");
    program.abend();
    take(&shop, false);
    let mut program = shop.program(HISTORY);
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "240")).0, "  ");
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "120")).0, "GE", "backed out");
}

#[test]
fn group_a_goes_on_without_the_call() {
    let shop = history("group-a");
    take(&shop, true);
    let mut program = shop.program(HISTORY);
    assert_eq!(program.service(b"INIT", b"\0\0\0\0STATUS GROUPA", &[]), "  ");
    assert_eq!(insert(&mut program, "120"), "  ");
    assert_eq!(insert(&mut program, "250"), "BA");
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "140")).0, "  ");
    assert_eq!(get(&mut program, DAYS, b"GN  ", ""), is("BA", "140"), "the next is offline");
    assert_eq!(get(&mut program, DAYS, b"GN  ", "").0, "BA", "it stands where it stood");
    assert_eq!(get(&mut program, DAYS, b"GN  ", &day(">=", "410")), is("  ", "440"));
    assert_eq!(get(&mut program, KINDS, b"GU  ", "DAY     (XKIND    =K76)").0, "BA");
    program.end().expect("an end");
    let mut program = shop.program(HISTORY);
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "120")).0, "  ", "it was committed");
}

#[test]
fn group_b_goes_back_to_the_last_commit() {
    let shop = history("group-b");
    take(&shop, true);
    let mut program = shop.program(HISTORY);
    assert_eq!(program.service(b"INIT", b"\0\0\0\0STATUS GROUPB", &[]), "  ");
    assert_eq!(insert(&mut program, "120"), "  ");
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "240")).0, "BB");
    assert_eq!(get(&mut program, DAYS, b"GU  ", &day(" =", "120")).0, "GE");
    assert_eq!(program.status(DAYS, b"ROLS", Some(&[0; 4]), &[]), "U3303");
}

#[test]
fn a_program_can_ask_what_is_there() {
    let shop = history("asked");
    let mut program = shop.program(HISTORY);
    assert_eq!(program.service(b"INIT", b"\0\0\0\0DBQUERY", &[]), "  ");
    drop(program);
    take(&shop, true);
    let mut program = shop.program(HISTORY);
    assert_eq!(program.service(b"INIT", b"\0\0\0\0DBQUERY", &[]), "BK");
    drop(program);
    shop.write("haldb", b"HALDB PCB=(DAYS,H3)\nHALDB PCB=(KINDS,K1)\n");
    let mut program = shop.program(HISTORY);
    assert_eq!(
        program.service(b"INIT", b"\0\0\0\0DBQUERY", &[]),
        "BK",
        "the index leads everywhere"
    );
}
