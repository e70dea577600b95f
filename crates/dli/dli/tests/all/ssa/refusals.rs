//! SSAs that are refused, with the status that each rule asks for.

use holdfast_dli::ssa;

use ssa::Calling::{self, Delete, Get, Insert, Replace};
use ssa::{CONDITIONS_MAX, Reason, Refusal, Ssas, Status, parse, parse_into};

use crate::ssa::views::{deep, fast, get, joined, names_only, shop, table};

type Case = (Calling, &'static [&'static [u8]], Reason, u8, u8);

/// The call, its SSAs, the reason, which SSA it is, and the level that the PCB shows.
const CASES: &[Case] = &[
    // AC: DLI-1, DLI-2.5.
    (Get, &[b"NOBODY   "], Reason::UnknownSegment, 0, 0),
    (Get, &[b"customer "], Reason::UnknownSegment, 0, 0),
    (Get, &[b"CUSTOMER ", b"\0\0\0\0\0\0\0\0 "], Reason::UnknownSegment, 1, 0),
    (Get, &[b"ACCOUNT  ", b"CUSTOMER "], Reason::NotBelow, 1, 1),
    (Get, &[b"ACCOUNT  ", b"ACCOUNT  "], Reason::NotBelow, 1, 2),
    (Get, &[b"CUSTOMER ", b"NOTE     ", b"POSTING  "], Reason::NotBelow, 2, 3),
    (Get, &[b"NOTE     ", b"ACCOUNT  "], Reason::NotBelow, 1, 2),
    // AJ: the storage ends too early.
    (Get, &[b""], Reason::Short, 0, 0),
    (Get, &[b"ACCOUNT"], Reason::Short, 0, 0),
    (Get, &[b"ACCOUNT *"], Reason::Short, 0, 2),
    (Get, &[b"ACCOUNT *D"], Reason::Short, 0, 2),
    (Get, &[b"ACCOUNT *Q"], Reason::Short, 0, 2),
    (Get, &[b"ACCOUNT ("], Reason::Short, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO  "], Reason::Short, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO   ="], Reason::Short, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO   =00"], Reason::Short, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO   =007"], Reason::Short, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO   =007*"], Reason::Short, 0, 2),
    // AJ: DLI-1.
    (Get, &[b"ACCOUNT )"], Reason::AfterName, 0, 2),
    (Get, &[b"ACCOUNT  ", b"POSTING X"], Reason::AfterName, 1, 3),
    (Get, &[b"ACCOUNT *B "], Reason::UnknownCode, 0, 2),
    (Get, &[b"ACCOUNT *d "], Reason::UnknownCode, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO  ==007)"], Reason::BadOperator, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO  eq007)"], Reason::BadOperator, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO  ><007)"], Reason::BadOperator, 0, 2),
    // DLI-3: `)` or a boolean exactly behind the value.
    (Get, &[b"ACCOUNT (ACCTNO   =07)  "], Reason::AfterValue, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO   =0007)"], Reason::AfterValue, 0, 2),
    (Get, &[b"ACCOUNT (ACCTNO   =007 )"], Reason::AfterValue, 0, 2),
    (Get, &[b"ACCOUNT *C(00010071)"], Reason::AfterValue, 0, 2),
    // DLI-12.18: # between indexed fields only.
    (Get, &[b"ACCOUNT (ACCTNO   =007#KIND     =AA)"], Reason::IndependentAnd, 0, 2),
    (Get, &[b"CUSTOMER(XKIND    =AA1#CUSTKEY  =0001)"], Reason::IndependentAnd, 0, 1),
    // DLI-12.20.
    (Get, &[b"CUSTOMER ", b"ACCOUNT *C(0001007)"], Reason::KeyBelow, 1, 2),
    (Get, &[b"ACCOUNT *C "], Reason::KeyMissing, 0, 2),
    (Get, &[b"ACCOUNT *CO(0001007)"], Reason::KeyAndPosition, 0, 2),
    // Codes of DEDBs elsewhere.
    (Get, &[b"ACCOUNT *R1 "], Reason::SubsetNumber, 0, 2),
    // DLI-3, the table of codes.
    (Insert, &[b"CUSTOMER*A ", b"NOTE     "], Reason::CodeOfOtherCall, 0, 1),
    (Insert, &[b"CUSTOMER*G ", b"NOTE     "], Reason::CodeOfOtherCall, 0, 1),
    (Insert, &[b"CUSTOMER*O(", b"NOTE     "], Reason::CodeOfOtherCall, 0, 1),
    (Insert, &[b"CUSTOMER*QA ", b"NOTE     "], Reason::CodeOfOtherCall, 0, 1),
    (Replace, &[b"CUSTOMER*D "], Reason::CodeOfOtherCall, 0, 1),
    (Replace, &[b"CUSTOMER*NP "], Reason::CodeOfOtherCall, 0, 1),
    (Delete, &[b"CUSTOMER*F "], Reason::CodeOfOtherCall, 0, 1),
    // DLI-3: what ISRT, REPL and DLET take; DLI-12.34.
    (Insert, &[b"CUSTOMER(CUSTKEY  =0001)"], Reason::InsertQualified, 0, 1),
    (Insert, &[b"NOTE    *C(0001)"], Reason::InsertQualified, 0, 2),
    (Insert, &[b"CUSTOMER*D(CUSTKEY  =0001)", b"NOTE     "], Reason::InsertQualified, 0, 1),
    (
        Insert,
        &[b"CUSTOMER*D ", b"ACCOUNT (ACCTNO   =007)", b"POSTING  "],
        Reason::InsertQualified,
        1,
        2,
    ),
    (Replace, &[b"CUSTOMER(CUSTKEY  =0001)"], Reason::ReplaceQualified, 0, 1),
    (Delete, &[b"CUSTOMER(CUSTKEY  =0001)"], Reason::DeleteQualified, 0, 1),
    (Delete, &[b"CUSTOMER ", b"ACCOUNT  "], Reason::DeleteSecond, 1, 2),
    // AK.
    (Get, &[b"ACCOUNT (NAME     =007)"], Reason::UnknownField, 0, 2),
    (Get, &[b"ACCOUNT (acctno   =007)"], Reason::UnknownField, 0, 2),
    (Get, &[b"CUSTOMER(XNAME    =NADIA )"], Reason::UnknownField, 0, 1),
    (Get, &[b"ACCOUNT (XKIND    =AA1)"], Reason::UnknownField, 0, 2),
    (Get, &[b"NOTE    *O(\0\0\0\0\0\0\0\x01 =A)"], Reason::Outside, 0, 2),
    (Get, &[b"NOTE    *O(\0\0\0\x01\0\0\0\0 =)"], Reason::Outside, 0, 2),
    (Get, &[b"NOTE    *O(\0\0\0\x08\0\0\0\x02 =AB)"], Reason::Outside, 0, 2),
    (Get, &[b"NOTE    *O(\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF =AB)"], Reason::Outside, 0, 2),
    // GL: DLI-12.26.
    (Get, &[b"ACCOUNT *Q "], Reason::LockClass, 0, 2),
    (Get, &[b"ACCOUNT *QK "], Reason::LockClass, 0, 2),
    (Get, &[b"ACCOUNT *Q(ACCTNO   =007)"], Reason::LockClass, 0, 2),
    // The first wrong thing decides: name, codes, field, value, SSA by SSA.
    (Get, &[b"ACCOUNT *B(NOSUCH   =", b"NOBODY   "], Reason::UnknownCode, 0, 2),
    (Get, &[b"ACCOUNT (NOSUCH  ??", b"NOBODY   "], Reason::UnknownField, 0, 2),
    (Get, &[b"NOBODY  *B ", b"ACCOUNT )"], Reason::UnknownSegment, 0, 0),
    (Delete, &[b"CUSTOMER ", b"NOBODY  ("], Reason::UnknownSegment, 1, 0),
];

#[test]
fn each_refusal_names_status_ssa_and_level() {
    let table = table(&shop());
    for (calling, ssas, reason, ssa, level) in CASES {
        let refusal = parse(&table, *calling, ssas).unwrap_err();
        let seen = (refusal.reason, refusal.ssa, refusal.level);
        let texts: Vec<_> = ssas.iter().map(|ssa| ssa.escape_ascii().to_string()).collect();
        assert_eq!(seen, (*reason, *ssa, *level), "{calling:?} {texts:?}");
        assert_eq!(refusal.status, reason.status());
    }
}

#[test]
fn a_refused_call_leaves_no_ssas_behind() {
    let table = table(&shop());
    let mut list = Ssas::default();
    let right: [&[u8]; 2] = [b"CUSTOMER ", b"ACCOUNT  "];
    for _ in 0..2 {
        parse_into(&table, Get, &right, &mut list).unwrap();
        assert_eq!(list.len(), 2);
    }
    let wrong: [&[u8]; 2] = [b"CUSTOMER ", b"ACCOUNT (ACCTNO   =007*"];
    assert!(parse_into(&table, Get, &wrong, &mut list).is_err());
    assert!(list.is_empty());
}

#[test]
fn a_refusal_tells_a_person_where_to_look() {
    let refusal = get(&table(&shop()), &["CUSTOMER ", "ACCOUNT (NAME     =A)"]).unwrap_err();
    let expected = "AK: SSA 2, byte 10: the segment has no such field for this PCB; \
                    name one of its SENFLDs";
    assert_eq!(refusal.to_string(), expected);
    assert_eq!(refusal.status.bytes(), *b"AK");
    let expected =
        Refusal { status: Status::Ak, ssa: 1, level: 2, at: 9, reason: Reason::UnknownField };
    assert_eq!(refusal, expected);
}

#[test]
fn more_ssas_than_levels_are_refused() {
    let table = table(&deep(16));
    let ssas: Vec<String> = ('A'..='P').map(|letter| format!("LEVEL{letter}   ")).collect();
    let ssas: Vec<&str> = ssas.iter().map(String::as_str).collect();
    assert_eq!(get(&table, &ssas[..15]).unwrap().len(), 15);
    let refusal = get(&table, &ssas).unwrap_err();
    assert_eq!((refusal.reason, refusal.status), (Reason::TooMany, Status::Ac));
    assert_eq!(refusal.ssa, 15);
}

#[test]
fn a_call_has_1024_conditions_at_most() {
    // DLI-12.18: over all SSAs together.
    let table = table(&shop());
    let account = |count: usize| {
        let all = vec!["ACCTNO   =007"; count].join("+");
        format!("ACCOUNT ({all})")
    };
    let posting = "POSTING (DAY      =\x01\x02)";
    let most = account(CONDITIONS_MAX);
    assert!(get(&table, &[&most]).is_ok());
    let refusal = get(&table, &[&account(CONDITIONS_MAX + 1)]).unwrap_err();
    assert_eq!((refusal.reason, refusal.status), (Reason::TooManyConditions, Status::Aj));
    let refusal = get(&table, &[&most, posting]).unwrap_err();
    assert_eq!((refusal.reason, refusal.ssa), (Reason::TooManyConditions, 1));
}

#[test]
fn fields_that_are_not_seen_are_not_known() {
    // DLI-12.47.
    let table = table(&names_only());
    let refusal = get(&table, &["CUSTOMER(BALANCE  =123)"]).unwrap_err();
    assert_eq!(refusal.reason, Reason::UnknownField);
    let ssas: [&[u8]; 2] = [b"CUSTOMER(CUSTKEY  =0001)", b"NOTE     "];
    let refusal = parse(&table, Insert, &ssas).unwrap_err();
    assert_eq!((refusal.reason, refusal.status), (Reason::KeyUnseen, Status::Ak));
    // Nor do positions lead to them: NAME is 5 to 10, BALANCE begins at 11.
    let within = b"CUSTOMER*O(\0\0\0\x05\0\0\0\x02 =AB)";
    assert!(parse(&table, Get, &[within]).is_ok());
    let beyond = b"CUSTOMER*O(\0\0\0\x0A\0\0\0\x02 =AB)";
    assert_eq!(parse(&table, Get, &[beyond]).unwrap_err().reason, Reason::Outside);
}

#[test]
fn positions_do_not_cross_from_child_to_destination_parent() {
    let table = table(&joined());
    let both = b"ACCOUNT *O(\0\0\0\x0C\0\0\0\x02 =AB)";
    assert_eq!(parse(&table, Get, &[both]).unwrap_err().reason, Reason::Outside);
    let last = b"ACCOUNT *O(\0\0\0\x16\0\0\0\x01 =A)";
    assert!(parse(&table, Get, &[last]).is_ok());
    let beyond = b"ACCOUNT *O(\0\0\0\x17\0\0\0\x01 =A)";
    assert_eq!(parse(&table, Get, &[beyond]).unwrap_err().reason, Reason::Outside);
}

#[test]
fn subset_pointers_have_numbers() {
    let table = table(&fast());
    for text in ["ACCOUNT *R ", "ACCOUNT *R0 ", "ACCOUNT *S4 ", "ACCOUNT *W9 ", "CUSTOMER*Z1 "] {
        assert_eq!(get(&table, &[text]).unwrap_err().reason, Reason::SubsetNumber, "{text}");
    }
    let refusal = parse(&table, Delete, &[b"ACCOUNT *R1 "]).unwrap_err();
    assert_eq!(refusal.reason, Reason::CodeOfOtherCall);
}
