//! Qualifications tried on segments.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use holdfast_dli::ssa;

use ssa::{Alphabet, Calling, Table, parse};

use crate::ssa::views::{Occurrence, by_name, get, joined, letters_first, shop, table};

/// Whether the SSA means the occurrence.
fn fits(table: &Table, text: &str, occurrence: &Occurrence) -> bool {
    let ssas = get(table, &[text]).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    ssas[0].matches(table, occurrence).unwrap()
}

#[test]
fn comparisons_are_of_unsigned_bytes() {
    // DLI-12.17.
    let table = table(&shop());
    let account = Occurrence::of("005\u{7f}A       ");
    for (operator, below, same, above) in [
        (" =", false, true, false),
        ("NE", true, false, true),
        (" >", true, false, false),
        (">=", true, true, false),
        (" <", false, false, true),
        ("<=", false, true, true),
    ] {
        for (value, expected) in [("004", below), ("005", same), ("006", above)] {
            let text = format!("ACCOUNT (ACCTNO  {operator}{value})");
            assert_eq!(fits(&table, &text, &account), expected, "{text}");
        }
    }
    let ssas = parse(&table, Calling::Get, &[b"ACCOUNT (KIND     <\x80A)"]).unwrap();
    assert_eq!(ssas[0].matches(&table, &account), Ok(true));
}

#[test]
fn and_binds_tighter_than_or() {
    // DLI-12.18.
    let table = table(&shop());
    let account = Occurrence::of("005AA");
    for (text, expected) in [
        ("ACCOUNT (KIND     =AA*ACCTNO   =005)", true),
        ("ACCOUNT (KIND     =AA*ACCTNO   =006)", false),
        ("ACCOUNT (KIND     =AA*ACCTNO   =006+ACCTNO   =005)", true),
        ("ACCOUNT (KIND     =AA+ACCTNO   =006*ACCTNO   =007)", true),
        ("ACCOUNT (KIND     =BB+ACCTNO   =005*KIND     =BB)", false),
        ("ACCOUNT *D ", true),
    ] {
        assert_eq!(fits(&table, text, &account), expected, "{text}");
    }
}

#[test]
fn a_field_beyond_a_short_segment_satisfies_nothing_but_ne() {
    // DLI-12.43.
    let table = table(&shop());
    let posting = Occurrence::of(b"\0\x06\x01\x02AB");
    for operator in [" =", " >", ">=", " <", "<="] {
        assert!(!fits(&table, &format!("POSTING (TEXT    {operator}ABCD)"), &posting));
    }
    assert!(fits(&table, "POSTING (TEXT    ^=ABCD)", &posting));
    assert!(fits(&table, "POSTING (DAY      =\x01\x02)", &posting));
}

#[test]
fn fields_of_the_destination_parent_are_looked_up_there() {
    let table = table(&joined());
    let account = Occurrence { destination: b"0042".to_vec(), ..Occurrence::of("005AA") };
    assert!(fits(&table, "ACCOUNT (BRANCH   =0042*ACCTNO   =005)", &account));
    assert!(!fits(&table, "ACCOUNT (BRANCH   =005A)", &account));
    let ssa: &[u8] = b"ACCOUNT *O(\0\0\0\x0D\0\0\0\x02 =00)";
    let ssas = parse(&table, Calling::Get, &[ssa]).unwrap();
    assert_eq!(ssas[0].matches(&table, &account), Ok(true));
}

#[test]
fn a_concatenated_key_asks_for_the_own_key_at_this_level() {
    // DLI-12.20.
    let plain = table(&shop());
    assert!(fits(&plain, "ACCOUNT *C(0001005)", &Occurrence::of("005AA")));
    assert!(!fits(&plain, "ACCOUNT *C(0001006)", &Occurrence::of("005AA")));
    assert!(fits(&plain, "NOTE    *C(0001)", &Occurrence::of("ANY")));
    let sequenced = table(&by_name());
    let customer = Occurrence { current: b"NADIA ".to_vec(), ..Occurrence::of("0001") };
    assert!(fits(&sequenced, "CUSTOMER*C(NADIA )", &customer));
    assert!(!fits(&sequenced, "CUSTOMER*C(NADJA )", &customer));
}

#[test]
fn conditions_on_an_index_are_tried_on_the_same_entry_unless_independent() {
    // DLI-12.18.
    let table = table(&shop());
    let entries = vec![b"AA1".to_vec(), b"CC3".to_vec()];
    let customer = Occurrence { entries, ..Occurrence::of("0001NADIA ") };
    for (text, expected) in [
        ("CUSTOMER(XKIND    =AA1)", true),
        ("CUSTOMER(XKIND    =BB2)", false),
        // No entry lies between, though one lies above and one below.
        ("CUSTOMER(XKIND    >AA1*XKIND    <CC3)", false),
        ("CUSTOMER(XKIND    >AA1#XKIND    <CC3)", true),
        ("CUSTOMER(XKIND    =AA1*XKIND    =CC3)", false),
        ("CUSTOMER(XKIND    =AA1#XKIND    =CC3)", true),
        ("CUSTOMER(XKIND    =AA1#XKIND    =BB2)", false),
        ("CUSTOMER(XKIND    =AA1*NAME     =NADIA )", true),
        ("CUSTOMER(XKIND    =BB2+NAME     =NADIA )", true),
        ("CUSTOMER(XKIND   NEAA1)", true),
    ] {
        assert_eq!(fits(&table, text, &customer), expected, "{text}");
    }
    assert!(!fits(&table, "CUSTOMER(XKIND   NEAA1)", &Occurrence::of("0001")));
}

#[test]
fn under_procseq_the_current_entry_counts_and_another_behind_the_independent_and() {
    let table = table(&by_name());
    let entries = vec![b"NADIA ".to_vec(), b"NINA  ".to_vec()];
    let customer = Occurrence { current: b"NADIA ".to_vec(), entries, ..Occurrence::default() };
    for (text, expected) in [
        ("CUSTOMER(XNAME    =NADIA )", true),
        ("CUSTOMER(XNAME    =NINA  )", false),
        ("CUSTOMER(XNAME    =NADIA #XNAME    =NINA  )", true),
        ("CUSTOMER(XNAME    =NADIA *XNAME    =NINA  )", false),
    ] {
        assert_eq!(fits(&table, text, &customer), expected, "{text}");
    }
}

#[test]
fn an_index_that_cannot_be_read_is_an_error_and_no_answer() {
    let table = table(&shop());
    let customer = Occurrence { broken: true, ..Occurrence::of("0001NADIA ") };
    let ssas = get(&table, &["CUSTOMER(XKIND   NEAA1)"]).unwrap();
    assert_eq!(ssas[0].matches(&table, &customer), Err("the index is broken"));
}

#[test]
fn character_fields_compare_in_the_collation_and_others_as_bytes() {
    // Rule H4.
    let table = Table::new(&shop(), Alphabet::Ascii, Some(&letters_first()));
    let account = Occurrence::of("A05");
    assert!(fits(&table, "ACCOUNT (ACCTNO   <105)", &account));
    assert!(!fits(&table, "ACCOUNT (ACCTNO   >105)", &account));
    assert!(fits(&table, "ACCOUNT (ACCTNO   =A05)", &account));
    // DAY is TYPE=X.
    let posting = Occurrence::of("LLA0");
    assert!(fits(&table, "POSTING (DAY      >10)", &posting));
    // Of the index, the first part is text and the second is not.
    let customer = Occurrence { entries: vec![b"A1Z".to_vec()], ..Occurrence::default() };
    assert!(fits(&table, "CUSTOMER(XKIND    <11A)", &customer));
    assert!(fits(&table, "CUSTOMER(XKIND    >A11)", &customer));
}
