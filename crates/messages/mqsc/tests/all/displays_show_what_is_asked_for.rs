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

fn queues(answer: &str) -> Vec<&str> {
    let named = answer.lines().filter_map(|line| line.trim_start().strip_prefix("QUEUE("));
    named.filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn a_generic_name_shows_names_and_kinds() {
    let console = console();
    let answer = done(&console, "DISPLAY QUEUE(APP.*)");
    assert_eq!(queues(&answer), ["APP.A", "APP.B", "APP.C"]);
    assert!(!answer.contains("MAXDEPTH"), "{answer}");
    let answer = done(&console, "DISPLAY QUEUE(APP.*) ALL");
    assert!(answer.contains("MAXDEPTH(10)") && answer.contains("TARGET(APP.A)"), "{answer}");
    let answer = done(&console, "DISPLAY QUEUE(APP.A)");
    assert!(answer.contains("MAXDEPTH(10)"), "{answer}");
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
    let answer = done(&console, "DIS Q(APP.*) WHERE(MAXDEPTH GT 10)");
    assert_eq!(queues(&answer), ["APP.B"]);
    assert!(answer.contains("MAXDEPTH(20)"), "the attribute of a filter is shown: {answer}");
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
    let answer = done(&console, "DIS QL(APP.A) MAXDEPTH DESCR CURDEPTH");
    let places = ["CURDEPTH(", "DESCR(", "MAXDEPTH("].map(|part| answer.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{answer}");
}

#[test]
fn queue_status_comes_from_counters() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEF QL(S.A)");
    put_messages(&manager, "S.A", 3);
    let answer = done(&console, "DISPLAY QSTATUS(S.A)");
    assert!(answer.starts_with("AMQ8450I: Display queue status details.\n"), "{answer}");
    for part in ["TYPE(QUEUE)", "CURDEPTH(3)", "IPPROCS(0)", "OPPROCS(0)", "UNCOM(NO)"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(!answer.contains("LPUTDATE( )"), "it was put to: {answer}");
    let answer = done(&console, "DISPLAY QSTATUS(S.*) WHERE(CURDEPTH GE 3)");
    assert!(answer.contains("QUEUE(S.A)"), "{answer}");
    refused(&console, "DISPLAY QSTATUS(S.*) WHERE(CURDEPTH GT 3)");
    assert!(done(&console, "DIS QL(S.A) CURDEPTH").contains("CURDEPTH(3)"));
}
