//! Any bytes, and random SSAs that are printed and read again.

use holdfast_dli::ssa;

use proptest::prelude::*;
use ssa::{Alphabet, Calling, Qualification, Table, parse};

use crate::ssa::views::{Occurrence, by_name, fast, get, joined, names_only, shop};

fn views() -> Vec<definitions::resolve::View> {
    vec![shop(), by_name(), names_only(), joined(), fast()]
}

fn calling() -> impl Strategy<Value = Calling> {
    prop::sample::select(vec![Calling::Get, Calling::Insert, Calling::Replace, Calling::Delete])
}

/// Pieces of which an SSA may be made, right or wrong.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&[u8]> = vec![
        b"CUSTOMER",
        b"ACCOUNT ",
        b"POSTING ",
        b"NOTE    ",
        b"(",
        b")",
        b"*",
        b"&",
        b"+",
        b"|",
        b"#",
        b" ",
        b"CUSTKEY ",
        b"ACCTNO  ",
        b"KIND    ",
        b"XKIND   ",
        b"XNAME   ",
        b"TEXT    ",
        b" =",
        b">=",
        b"NE",
        b"<=",
        b"007",
        b"0001",
        b"NADIA ",
        b"D",
        b"QA",
        b"Q",
        b"C",
        b"O",
        b"N",
        b"R1",
        b"-",
        b"\0\0\0\x01\0\0\0\x03",
    ];
    prop_oneof![
        9 => prop::sample::select(words).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..9),
    ]
}

fn anything() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..16).prop_map(|pieces| pieces.concat())
}

/// An SSA for ACCOUNT that is right: codes, conditions, how they are joined.
fn account() -> impl Strategy<Value = String> {
    let codes = prop::sample::subsequence(vec!["D", "F", "G", "L", "P", "QJ", "U", "-", "A"], 0..6);
    let operators = vec![" =", "= ", "EQ", "^=", "<>", ">=", "=>", "GT", "<=", "LT"];
    let condition = (
        prop::sample::select(operators),
        prop_oneof![
            "[0-9]{3}".prop_map(|value| ("ACCTNO  ", value)),
            "[A-C)*]{2}".prop_map(|value| ("KIND    ", value)),
        ],
        prop::sample::select(vec!["*", "&", "+", "|"]),
    );
    (codes, prop::collection::vec(condition, 0..7)).prop_map(|(codes, conditions)| {
        let codes = if codes.is_empty() { String::new() } else { format!("*{}", codes.concat()) };
        let mut text = String::new();
        for (at, (operator, (field, value), boolean)) in conditions.iter().enumerate() {
            text.push_str(if at == 0 { "(" } else { boolean });
            text.push_str(&format!("{field}{operator}{value}"));
        }
        text.push(if conditions.is_empty() { ' ' } else { ')' });
        format!("ACCOUNT {codes}{text}")
    })
}

/// All that was parsed, so that SSAs from different storage compare.
fn all(ssas: &[ssa::Ssa<'_>]) -> String {
    format!("{ssas:?}")
}

proptest! {
    #[test]
    fn no_bytes_cause_a_panic_and_what_is_accepted_is_printed_and_read_again(
        ssas in prop::collection::vec(anything(), 0..4),
        calling in calling(),
        is_ebcdic in any::<bool>(),
    ) {
        let alphabet = if is_ebcdic { Alphabet::Ebcdic } else { Alphabet::Ascii };
        for view in views() {
            let table = Table::new(&view, alphabet, None);
            let slices: Vec<&[u8]> = ssas.iter().map(Vec::as_slice).collect();
            let Ok(parsed) = parse(&table, calling, &slices) else { continue };
            let printed: Vec<_> = parsed.iter().map(|one| one.to_bytes(&table)).collect();
            let slices: Vec<&[u8]> = printed.iter().map(Vec::as_slice).collect();
            let again = parse(&table, calling, &slices).unwrap();
            prop_assert_eq!(all(&parsed), all(&again));
            for one in parsed.iter() {
                let _ = one.show(&table).to_string();
                let _ = one.key_bounds(&table);
                let _ = one.matches(&table, &Occurrence::of("0001NADIA "));
            }
        }
    }

    #[test]
    fn a_right_ssa_is_accepted_printed_and_read_again(text in account()) {
        let table = Table::new(&shop(), Alphabet::Ascii, None);
        let parsed = get(&table, &[&text]).unwrap();
        let printed = parsed[0].to_bytes(&table);
        let again = parse(&table, Calling::Get, &[&printed]).unwrap();
        prop_assert_eq!(all(&parsed), all(&again));
        // The end of the SSA is found without the end of the storage, and only there.
        let longer = [&printed[..], b"(*)+"].concat();
        prop_assert_eq!(all(&parse(&table, Calling::Get, &[&longer]).unwrap()), all(&again));
        if parsed[0].qualification != Qualification::None {
            for len in 9..printed.len() {
                prop_assert!(parse(&table, Calling::Get, &[&printed[..len]]).is_err());
            }
        }
    }

    #[test]
    fn what_matches_lies_within_the_bounds_and_deciding_bounds_decide(
        text in account(),
        key in "[0-9]{3}",
        kind in "[A-C]{2}",
    ) {
        let table = Table::new(&shop(), Alphabet::Ascii, None);
        let parsed = get(&table, &[&text]).unwrap();
        let bounds = parsed[0].key_bounds(&table);
        let above = bounds.lower.is_none_or(|low| {
            key.as_bytes() > low.value || low.inclusive && key.as_bytes() == low.value
        });
        let below = bounds.upper.is_none_or(|high| {
            key.as_bytes() < high.value || high.inclusive && key.as_bytes() == high.value
        });
        let occurrence = Occurrence::of(format!("{key}{kind}"));
        let matches = parsed[0].matches(&table, &occurrence).unwrap();
        prop_assert!(!matches || (above && below), "{} {}", text, key);
        prop_assert!(!bounds.decides || matches == (above && below), "{} {}", text, key);
    }
}
