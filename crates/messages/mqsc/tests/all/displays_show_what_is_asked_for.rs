//! Generic names, `WHERE`, types, and which attributes come when.

use mqsc::Console;
use store_suite::model::ModelStore;

use crate::common::{done, manager, put_messages, refused};

fn console() -> Console<ModelStore> {
    let manager = manager();
    let console = Console::new(&manager);
    for command in [
        "DEF QL(APP.A) MAXDEPTH(10) DESCR('first')",
        "DEF QL(APP.B) MAXDEPTH(20) USAGE(XMITQ)",
        "DEF QA(APP.C) TARGET(APP.A)",
        "DEF NL(LISTS.ONE) NAMES(APP.A,APP.B)",
    ] {
        done(&console, command);
    }
    console
}

fn queues(told: &str) -> Vec<&str> {
    let named = told.lines().filter_map(|line| line.trim_start().strip_prefix("QUEUE("));
    named.filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn a_generic_name_shows_names_and_kinds() {
    let console = console();
    let told = done(&console, "DISPLAY QUEUE(APP.*)");
    assert_eq!(queues(&told), ["APP.A", "APP.B", "APP.C"]);
    assert!(!told.contains("MAXDEPTH"), "{told}");
    let told = done(&console, "DISPLAY QUEUE(APP.*) ALL");
    assert!(told.contains("MAXDEPTH(10)") && told.contains("TARGET(APP.A)"), "{told}");
    let told = done(&console, "DISPLAY QUEUE(APP.A)");
    assert!(told.contains("MAXDEPTH(10)"), "{told}");
    assert!(refused(&console, "DISPLAY QUEUE(NOBODY*)").starts_with("AMQ8147E: "));
}

#[test]
fn types_leave_out_other_kinds() {
    let console = console();
    assert_eq!(queues(&done(&console, "DIS QL(APP.*)")), ["APP.A", "APP.B"]);
    assert_eq!(queues(&done(&console, "DIS Q(APP.*) TYPE(QALIAS)")), ["APP.C"]);
    assert_eq!(queues(&done(&console, "DIS Q(APP.*) TYPE")).len(), 3);
}

#[test]
fn a_filter_holds_for_what_has_the_attribute() {
    let console = console();
    let told = done(&console, "DIS Q(APP.*) WHERE(MAXDEPTH GT 10)");
    assert_eq!(queues(&told), ["APP.B"]);
    assert!(told.contains("MAXDEPTH(20)"), "the attribute of a filter is shown: {told}");
    assert_eq!(queues(&done(&console, "DIS Q(APP.*) WHERE(USAGE EQ XMITQ)")), ["APP.B"]);
    assert_eq!(queues(&done(&console, "DIS Q(APP.*) WHERE(DESCR LK 'fi*')")), ["APP.A"]);
    assert_eq!(queues(&done(&console, "DIS Q(APP.*) WHERE(TARGET EQ APP.A)")), ["APP.C"]);
    assert!(done(&console, "DIS NL(*) WHERE(NAMES CT APP.B)").contains("LISTS.ONE"));
    assert!(refused(&console, "DIS Q(*) WHERE(NOSUCH EQ 1)").contains("NOSUCH is no keyword"));
    assert!(refused(&console, "DIS Q(*) WHERE(MAXDEPTH LIKE 1)").contains("LT, GT"));
}

#[test]
fn attributes_come_in_the_order_of_displays() {
    let console = console();
    let told = done(&console, "DIS QL(APP.A) MAXDEPTH DESCR CURDEPTH");
    let places = ["CURDEPTH(", "DESCR(", "MAXDEPTH("].map(|part| told.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{told}");
}

#[test]
fn queue_status_comes_from_counters() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEF QL(S.A)");
    put_messages(&manager, "S.A", 3);
    let told = done(&console, "DISPLAY QSTATUS(S.A)");
    assert!(told.starts_with("AMQ8450I: Display queue status details.\n"), "{told}");
    for part in ["TYPE(QUEUE)", "CURDEPTH(3)", "IPPROCS(0)", "OPPROCS(0)", "UNCOM(NO)"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("LPUTDATE( )"), "it was put to: {told}");
    let told = done(&console, "DISPLAY QSTATUS(S.*) WHERE(CURDEPTH GE 3)");
    assert!(told.contains("QUEUE(S.A)"), "{told}");
    refused(&console, "DISPLAY QSTATUS(S.*) WHERE(CURDEPTH GT 3)");
    assert!(done(&console, "DIS QL(S.A) CURDEPTH").contains("CURDEPTH(3)"));
}
