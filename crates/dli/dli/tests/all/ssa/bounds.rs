//! What qualifications say about the key.

use holdfast_dli::ssa;

use ssa::{Alphabet, Bounds, Table};

use crate::ssa::views::{by_name, get, letters_first, shop, table};

/// Bounds as text: `[` and `]` include, `(` and `)` exclude, `..` is open, `!` decides.
fn text(bounds: &Bounds<'_>) -> String {
    let mut out = String::new();
    if let Some(lower) = bounds.lower {
        out.push(if lower.inclusive { '[' } else { '(' });
        out.push_str(&lower.value.escape_ascii().to_string());
    }
    out.push_str("..");
    if let Some(upper) = bounds.upper {
        out.push_str(&upper.value.escape_ascii().to_string());
        out.push(if upper.inclusive { ']' } else { ')' });
    }
    if bounds.decides {
        out.push('!');
    }
    out
}

fn check(table: &Table, cases: &[(&str, &str)]) {
    for (ssa, expected) in cases {
        let ssas = get(table, &[ssa]).unwrap_or_else(|refusal| panic!("{ssa}: {refusal}"));
        assert_eq!(text(&ssas[0].key_bounds(table)), *expected, "{ssa}");
    }
}

#[test]
fn one_set_gives_its_range() {
    let table = table(&shop());
    check(
        &table,
        &[
            ("ACCOUNT  ", "..!"),
            ("ACCOUNT (ACCTNO   =005)", "[005..005]!"),
            ("ACCOUNT (ACCTNO   >005)", "(005..!"),
            ("ACCOUNT (ACCTNO  >=005)", "[005..!"),
            ("ACCOUNT (ACCTNO   <005)", "..005)!"),
            ("ACCOUNT (ACCTNO  <=005)", "..005]!"),
            ("ACCOUNT (ACCTNO  NE005)", ".."),
            ("ACCOUNT (KIND     =AA)", ".."),
            ("ACCOUNT (ACCTNO   >005*ACCTNO  <=009)", "(005..009]!"),
            ("ACCOUNT (ACCTNO  >=005*ACCTNO   >005*ACCTNO  >=001)", "(005..!"),
            ("ACCOUNT (ACCTNO  <=009*ACCTNO   <009*ACCTNO  <=999)", "..009)!"),
            ("ACCOUNT (ACCTNO   =005*KIND     =AA)", "[005..005]"),
            ("ACCOUNT (ACCTNO  >=005*ACCTNO  NE007)", "[005.."),
            ("ACCOUNT (ACCTNO   >005*ACCTNO   <003)", "(005..003)!"),
        ],
    );
}

#[test]
fn several_sets_give_their_hull() {
    // DLI-12.6 and DLI-12.15: the limit must stand in every set.
    let table = table(&shop());
    check(
        &table,
        &[
            ("ACCOUNT (ACCTNO   =005+ACCTNO   =002)", "[002..005]"),
            ("ACCOUNT (ACCTNO   =005+ACCTNO   >007)", "[005.."),
            ("ACCOUNT (ACCTNO   <005+ACCTNO   =005)", "..005]"),
            ("ACCOUNT (ACCTNO   =005+KIND     =AA)", ".."),
            ("ACCOUNT (ACCTNO   =005*KIND     =AA+ACCTNO   <009)", "..009)"),
        ],
    );
    let ssas = get(&table, &["ACCOUNT (ACCTNO   =005+ACCTNO   >007)"]).unwrap();
    assert!(!ssas[0].key_bounds(&table).is_limited());
    assert_eq!(ssas[0].key_bounds(&table).exact(), None);
    let ssas = get(&table, &["ACCOUNT (ACCTNO   =005)"]).unwrap();
    assert!(ssas[0].key_bounds(&table).is_limited());
    assert_eq!(ssas[0].key_bounds(&table).exact(), Some(&b"005"[..]));
}

#[test]
fn a_concatenated_key_bounds_the_own_key() {
    // DLI-12.20.
    let table = table(&shop());
    check(
        &table,
        &[
            ("ACCOUNT *C(0001007)", "[007..007]!"),
            ("CUSTOMER*C(0001)", "[0001..0001]!"),
            ("NOTE    *C(0001)", "..!"),
        ],
    );
}

#[test]
fn under_procseq_the_search_fields_are_the_key() {
    // DLI-12.64.
    let table = table(&by_name());
    check(
        &table,
        &[
            ("CUSTOMER(XNAME    =NADIA )", "[NADIA ..NADIA ]!"),
            ("CUSTOMER(CUSTKEY  =0001)", ".."),
            ("CUSTOMER(XNAME   >=NADIA *CUSTKEY  =0001)", "[NADIA .."),
            // What follows # may be said of another entry.
            ("CUSTOMER(XNAME   >=NADIA #XNAME    =NINA  )", "[NADIA .."),
            ("CUSTOMER*C(NADIA )", "[NADIA ..NADIA ]!"),
            ("ACCOUNT (ACCTNO   =005)", "[005..005]!"),
        ],
    );
}

#[test]
fn an_index_that_is_only_listed_gives_no_bounds() {
    // DLI-12.70.
    check(&table(&shop()), &[("CUSTOMER(XKIND    =AA1)", "..")]);
}

#[test]
fn the_collation_decides_which_bound_is_narrower() {
    // Rule H4: letters come before digits here.
    let table = Table::new(&shop(), Alphabet::Ascii, Some(&letters_first()));
    check(
        &table,
        &[
            ("ACCOUNT (ACCTNO  >=A00*ACCTNO  >=100)", "[100..!"),
            ("ACCOUNT (ACCTNO   =A00+ACCTNO   =100)", "[A00..100]"),
        ],
    );
}
