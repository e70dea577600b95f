//! Each logical reason, met; and what does not go together.

#![allow(clippy::unwrap_used)] // a test that fails says where

use store::{Store, StoreError, Unit};
use vsam::{
    Access, AlternateIndexAttributes, Catalog, ClusterAttributes, Component, Condition, Definition,
    Direction, Failure, File, Intent, LogicalReason as Reason, Match, OpenMode, OpenOptions,
    Organization, PathAttributes, Rba, RecordNumber, Search, Target,
};

use crate::common::{
    BY_NAME, begin, catalog, fill, index, keyed, name, open, other, record, within,
};
use store_suite::model::ModelStore;

fn reason<T: std::fmt::Debug>(answer: Result<T, Failure>) -> Reason {
    let failure = answer.unwrap_err();
    assert_eq!(failure.return_code(), 8);
    failure.reason().unwrap()
}

/// A keyed cluster `K` with keys B, D and F.
fn three() -> Catalog<ModelStore> {
    let catalog = catalog();
    keyed(&catalog, "K");
    fill(&catalog, "K", &["B", "D", "F"].map(|key| record(key, "N", "T")));
    catalog
}

fn key(text: &str) -> Vec<u8> {
    format!("{text:4}").into_bytes()
}

#[test]
fn the_numbers_are_those_of_the_feedback_field() {
    let numbers = [
        (Reason::EndOfData, 4),
        (Reason::Duplicate, 8),
        (Reason::OutOfSequence, 12),
        (Reason::NotFound, 16),
        (Reason::HeldByAnother, 20),
        (Reason::NoSpace, 28),
        (Reason::BadAddress, 32),
        (Reason::AreaTooSmall, 44),
        (Reason::NoString, 64),
        (Reason::NotOpenForThis, 68),
        (Reason::KeyedAccess, 72),
        (Reason::AddressedInsert, 76),
        (Reason::EraseEntrySequenced, 80),
        (Reason::AddressedErase, 84),
        (Reason::NoPosition, 88),
        (Reason::NotReadForUpdate, 92),
        (Reason::KeyChanged, 96),
        (Reason::LengthChanged, 100),
        (Reason::BadOptions, 104),
        (Reason::BadLength, 108),
        (Reason::BadKeyLength, 112),
        (Reason::Loading, 116),
        (Reason::NoBaseRecord, 144),
        (Reason::BadNumber, 192),
        (Reason::AddressedRelative, 196),
    ];
    for (reason, number) in numbers {
        assert_eq!(reason.number(), number);
    }
}

#[test]
fn the_end_of_data_is_reason_4_in_both_directions_and_no_place() {
    let catalog = three();
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let (mut position, mut other) = (file.position().unwrap(), file.position().unwrap());
    let mut read = Vec::new();
    within(&catalog, |unit| {
        assert_eq!(
            reason(file.get_previous(unit, &mut position, Intent::Look, &mut read)),
            Reason::EndOfData
        );
        for _ in 0..3 {
            file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
        }
        for _ in 0..2 {
            let end = file.get_next(unit, &mut position, Intent::Look, &mut read);
            assert_eq!(reason(end), Reason::EndOfData);
        }
        file.put(unit, &mut other, &record("G", "N", "T")).unwrap();
        file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
        assert_eq!(read, record("G", "N", "T"));
    });
}

#[test]
fn a_key_that_is_taken_is_reason_8_and_changes_nothing() {
    let catalog = three();
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        let again = file.put(unit, &mut position, &record("D", "X", "X"));
        assert_eq!(reason(again), Reason::Duplicate);
        let mut read = Vec::new();
        let search = key("D");
        let search = Search::equal(Target::Key(&search));
        file.get(unit, &mut position, &search, Intent::Look, &mut read).unwrap();
        assert_eq!(read, record("D", "N", "T"));
    });
}

#[test]
fn a_load_goes_on_in_ascending_order_or_ends_in_reason_12() {
    let catalog = catalog();
    keyed(&catalog, "K");
    other(&catalog, "R", Organization::VariableRelative);
    let file = open(&catalog, "K", OpenMode::Output);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.put(unit, &mut position, &record("B", "", "")).unwrap();
        let equal = file.put(unit, &mut position, &record("B", "", ""));
        assert_eq!(reason(equal), Reason::Duplicate);
        let lower = file.put(unit, &mut position, &record("A", "", ""));
        assert_eq!(reason(lower), Reason::OutOfSequence);
        file.put(unit, &mut position, &record("C", "", "")).unwrap();
    });
    drop((position, file));
    let file = open(&catalog, "K", OpenMode::Extend);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        let inside = file.put(unit, &mut position, &record("BB", "", ""));
        assert_eq!(reason(inside), Reason::OutOfSequence);
        file.put(unit, &mut position, &record("D", "", "")).unwrap();
    });
    let file = open(&catalog, "R", OpenMode::Output);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.put_number(unit, &mut position, RecordNumber(5), b"five").unwrap();
        let lower = file.put_number(unit, &mut position, RecordNumber(4), b"four");
        assert_eq!(reason(lower), Reason::OutOfSequence);
        let next = file.put(unit, &mut position, b"six").unwrap();
        assert_eq!(next.number, Some(RecordNumber(6)));
    });
}

#[test]
fn what_is_not_there_is_reason_16_and_takes_the_position_along() {
    let catalog = three();
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        let absent = key("C");
        let search = Search::equal(Target::Key(&absent));
        let got = file.get(unit, &mut position, &search, Intent::Look, &mut read);
        assert_eq!(reason(got), Reason::NotFound);
        let next = file.get_next(unit, &mut position, Intent::Look, &mut read);
        assert_eq!(reason(next), Reason::NoPosition);
        assert_eq!(reason(file.point(unit, &mut position, &search)), Reason::NotFound);
        assert_eq!(reason(file.erase_keyed(unit, &mut position, &absent)), Reason::NotFound);
        let rewritten = file.rewrite_keyed(unit, &mut position, &record("C", "", ""));
        assert_eq!(reason(rewritten), Reason::NotFound);
    });
}

#[test]
fn a_record_that_another_holds_is_reason_20_after_a_bounded_wait() {
    let catalog = three();
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let (mut mine, mut his) = (file.position().unwrap(), file.position().unwrap());
    let (mut unit, mut other) = (begin(&catalog), begin(&catalog));
    let mut read = Vec::new();
    let (held, free) = (key("D"), key("F"));
    let search = Search::equal(Target::Key(&held));
    file.get(&mut unit, &mut mine, &search, Intent::Update, &mut read).unwrap();
    let got = file.get(&mut other, &mut his, &search, Intent::Update, &mut read);
    assert_eq!(reason(got), Reason::HeldByAnother);
    // The other unit of work goes on, and whoever only looks is not kept waiting.
    file.get(&mut other, &mut his, &search, Intent::Look, &mut read).unwrap();
    let search = Search::equal(Target::Key(&free));
    file.get(&mut other, &mut his, &search, Intent::Update, &mut read).unwrap();
    file.rewrite(&mut other, &mut his, &record("F", "NEW", "")).unwrap();
    other.commit().unwrap();
    unit.commit().unwrap();
}

#[test]
fn a_store_without_room_is_reason_28() {
    let failure = Failure::of_store(StoreError::NoSpace("the log".into()), Component::Base);
    assert_eq!(failure.reason(), Some(Reason::NoSpace));
    let catalog = catalog();
    other(&catalog, "R", Organization::VariableRelative);
    let file = open(&catalog, "R", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.put_number(unit, &mut position, RecordNumber(u32::MAX), b"last").unwrap();
        assert_eq!(reason(file.put(unit, &mut position, b"one more")), Reason::NoSpace);
    });
}

#[test]
fn an_address_where_no_record_begins_is_reason_32() {
    let catalog = catalog();
    other(&catalog, "E", Organization::EntrySequenced);
    fill(&catalog, "E", &[b"first".to_vec(), b"second".to_vec()]);
    let file = open(&catalog, "E", OpenMode::Input);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        let search = Search::equal(Target::Rba(Rba(5)));
        let got = file.get(unit, &mut position, &search, Intent::Look, &mut read).unwrap();
        assert_eq!((got.rba, &read[..]), (Some(Rba(5)), &b"second"[..]));
        let search = Search::equal(Target::Rba(Rba(4)));
        let got = file.get(unit, &mut position, &search, Intent::Look, &mut read);
        assert_eq!(reason(got), Reason::BadAddress);
        assert_eq!(reason(file.point(unit, &mut position, &search)), Reason::BadAddress);
    });
}

#[test]
fn an_area_that_is_too_small_is_reason_44_and_the_record_can_be_read_again() {
    let catalog = three();
    let file = open(&catalog, "K", OpenMode::Input);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    position.set_area(Some(19));
    within(&catalog, |unit| {
        let got = file.get_next(unit, &mut position, Intent::Look, &mut read);
        assert!(matches!(
            got,
            Err(Failure::Logical { reason: Reason::AreaTooSmall, bytes: 20, .. })
        ));
        position.set_area(Some(20));
        file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
        assert_eq!(read, record("B", "N", "T"));
    });
}

#[test]
fn a_position_without_a_string_left_is_reason_64() {
    let catalog = three();
    let options = OpenOptions { strings: Some(2), ..OpenOptions::default() };
    let file = catalog.open_file(&name("K"), OpenMode::Input, &options).unwrap();
    let first = file.position().unwrap();
    let _second = file.position().unwrap();
    assert_eq!(reason(file.position().map(drop)), Reason::NoString);
    drop(first);
    assert!(file.position().is_ok());
}

#[test]
fn a_request_that_the_file_is_not_open_for_is_reason_68() {
    let catalog = three();
    let mut read = Vec::new();
    let file = open(&catalog, "K", OpenMode::Input);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        let put = file.put(unit, &mut position, &record("X", "", ""));
        assert_eq!(reason(put), Reason::NotOpenForThis);
        let update = file.get_next(unit, &mut position, Intent::Update, &mut read);
        assert_eq!(reason(update), Reason::NotOpenForThis);
        let erase = file.erase_keyed(unit, &mut position, &key("B"));
        assert_eq!(reason(erase), Reason::NotOpenForThis);
    });
    drop((position, file));
    let file = open(&catalog, "K", OpenMode::Extend);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        let got = file.get_next(unit, &mut position, Intent::Look, &mut read);
        assert_eq!(reason(got), Reason::NotOpenForThis);
    });
}

#[test]
fn keys_where_there_are_none_are_reason_72_and_addresses_196_or_104() {
    let catalog = three();
    other(&catalog, "E", Organization::EntrySequenced);
    other(&catalog, "R", Organization::VariableRelative);
    let mut read = Vec::new();
    let mut tried = |named: &str, access, target: Target<'_>, wanted: Reason| {
        let file = open(&catalog, named, OpenMode::Input);
        let mut position = file.position().unwrap();
        position.set_access(access);
        let search = Search::equal(target);
        let got = within(&catalog, |unit| {
            file.get(unit, &mut position, &search, Intent::Look, &mut read)
        });
        assert_eq!(reason(got), wanted, "{named} {target:?}");
    };
    tried("E", None, Target::Key(b"KEY "), Reason::KeyedAccess);
    tried("E", Some(Access::Keyed), Target::First, Reason::KeyedAccess);
    tried("E", None, Target::Number(RecordNumber(1)), Reason::BadOptions);
    tried("R", None, Target::Rba(Rba(0)), Reason::AddressedRelative);
    tried("R", Some(Access::Addressed), Target::First, Reason::AddressedRelative);
    tried("R", None, Target::Key(b"KEY "), Reason::BadOptions);
    tried("K", None, Target::Rba(Rba(0)), Reason::BadOptions);
    tried("K", Some(Access::Addressed), Target::First, Reason::BadOptions);
    tried("K", None, Target::Number(RecordNumber(1)), Reason::BadOptions);
}

#[test]
fn inserts_and_erases_by_address_are_reasons_76_80_and_84() {
    let catalog = three();
    other(&catalog, "E", Organization::EntrySequenced);
    fill(&catalog, "E", &[b"first".to_vec()]);
    let mut read = Vec::new();
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.get_next(unit, &mut position, Intent::Update, &mut read).unwrap();
        position.set_access(Some(Access::Addressed));
        let put = file.put(unit, &mut position, &record("X", "", ""));
        assert_eq!(reason(put), Reason::AddressedInsert);
        assert_eq!(reason(file.erase(unit, &mut position)), Reason::AddressedErase);
        position.set_access(None);
        file.erase(unit, &mut position).unwrap();
    });
    let file = open(&catalog, "E", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.get_next(unit, &mut position, Intent::Update, &mut read).unwrap();
        assert_eq!(reason(file.erase(unit, &mut position)), Reason::EraseEntrySequenced);
    });
}

#[test]
fn a_sequential_request_without_a_position_is_reason_88() {
    let catalog = three();
    let file = open(&catalog, "K", OpenMode::Input);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
        file.end_request(&mut position);
        let next = file.get_next(unit, &mut position, Intent::Look, &mut read);
        assert_eq!(reason(next), Reason::NoPosition);
        file.point(unit, &mut position, &Search::equal(Target::Last).backward()).unwrap();
        file.get_previous(unit, &mut position, Intent::Look, &mut read).unwrap();
        assert_eq!(read, record("F", "N", "T"));
    });
}

#[test]
fn a_change_of_what_was_not_read_for_update_is_reason_92() {
    let catalog = three();
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        let rewritten = file.rewrite(unit, &mut position, &record("B", "", ""));
        assert_eq!(reason(rewritten), Reason::NotReadForUpdate);
        file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
        assert_eq!(reason(file.erase(unit, &mut position)), Reason::NotReadForUpdate);
        file.get_next(unit, &mut position, Intent::Update, &mut read).unwrap();
        file.rewrite(unit, &mut position, &record("D", "NEW", "")).unwrap();
        // One read serves one change.
        assert_eq!(reason(file.erase(unit, &mut position)), Reason::NotReadForUpdate);
        file.get_next(unit, &mut position, Intent::Update, &mut read).unwrap();
        file.get_previous(unit, &mut position, Intent::Look, &mut read).unwrap();
        assert_eq!(reason(file.erase(unit, &mut position)), Reason::NotReadForUpdate);
    });
}

#[test]
fn an_update_that_changes_key_or_length_is_reason_96_or_100() {
    let catalog = three();
    other(&catalog, "E", Organization::EntrySequenced);
    fill(&catalog, "E", &[b"first".to_vec()]);
    let mut read = Vec::new();
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.get_next(unit, &mut position, Intent::Update, &mut read).unwrap();
        let changed = file.rewrite(unit, &mut position, &record("C", "", ""));
        assert_eq!(reason(changed), Reason::KeyChanged);
        // The record is still held, and its length may change.
        file.rewrite(unit, &mut position, b"B   longer than it was before").unwrap();
    });
    let file = open(&catalog, "E", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.get_next(unit, &mut position, Intent::Update, &mut read).unwrap();
        let changed = file.rewrite(unit, &mut position, b"longer");
        assert_eq!(reason(changed), Reason::LengthChanged);
        file.rewrite(unit, &mut position, b"FIRST").unwrap();
    });
}

#[test]
fn what_does_not_go_together_is_reason_104() {
    let catalog = three();
    other(&catalog, "E", Organization::EntrySequenced);
    other(&catalog, "L", Organization::Linear);
    let mut read = Vec::new();
    let (k, e) =
        (open(&catalog, "K", OpenMode::InputOutput), open(&catalog, "E", OpenMode::InputOutput));
    let l = open(&catalog, "L", OpenMode::InputOutput);
    let mut of_k = k.position().unwrap();
    let (mut of_e, mut of_l) = (e.position().unwrap(), l.position().unwrap());
    within(&catalog, |unit| {
        // A position of another file.
        assert_eq!(reason(e.put(unit, &mut of_k, b"record")), Reason::BadOptions);
        let next = e.get_next(unit, &mut of_k, Intent::Look, &mut read);
        assert_eq!(reason(next), Reason::BadOptions);
        // Requests that the organization does not know.
        let put = k.put_number(unit, &mut of_k, RecordNumber(1), &record("X", "", ""));
        assert_eq!(reason(put), Reason::BadOptions);
        assert_eq!(reason(e.rewrite_keyed(unit, &mut of_e, b"record")), Reason::BadOptions);
        assert_eq!(reason(l.put(unit, &mut of_l, b"record")), Reason::BadOptions);
        let next = l.get_next(unit, &mut of_l, Intent::Look, &mut read);
        assert_eq!(reason(next), Reason::BadOptions);
        let block = k.get_block(unit, &mut of_k, Rba(0), Intent::Look, &mut read);
        assert_eq!(reason(block), Reason::BadOptions);
    });
}

#[test]
fn a_length_that_is_not_allowed_is_reason_108() {
    let catalog = three();
    other(&catalog, "R", Organization::Relative);
    other(&catalog, "E", Organization::EntrySequenced);
    let (k, r) =
        (open(&catalog, "K", OpenMode::InputOutput), open(&catalog, "R", OpenMode::InputOutput));
    let e = open(&catalog, "E", OpenMode::InputOutput);
    let (mut of_k, mut of_r) = (k.position().unwrap(), r.position().unwrap());
    let mut of_e = e.position().unwrap();
    within(&catalog, |unit| {
        assert_eq!(reason(k.put(unit, &mut of_k, b"KEY")), Reason::BadLength);
        assert_eq!(reason(k.put(unit, &mut of_k, &[b'X'; 81])), Reason::BadLength);
        k.put(unit, &mut of_k, b"ONLY").unwrap();
        k.put(unit, &mut of_k, &[b'X'; 80]).unwrap();
        assert_eq!(reason(r.put(unit, &mut of_r, &[b'X'; 79])), Reason::BadLength);
        r.put(unit, &mut of_r, &[b'X'; 80]).unwrap();
        assert_eq!(reason(e.put(unit, &mut of_e, b"")), Reason::BadLength);
    });
}

#[test]
fn a_key_of_the_wrong_length_is_reason_112() {
    let catalog = three();
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        let tried = [
            Target::Key(b"B"),
            Target::Key(b"B    "),
            Target::Generic(b""),
            Target::Generic(b"B    "),
        ];
        for target in tried {
            let pointed = file.point(unit, &mut position, &Search::equal(target));
            assert_eq!(reason(pointed), Reason::BadKeyLength, "{target:?}");
        }
        let erased = file.erase_keyed(unit, &mut position, b"B");
        assert_eq!(reason(erased), Reason::BadKeyLength);
    });
}

#[test]
fn everything_but_inserts_into_a_load_is_reason_116() {
    let catalog = catalog();
    keyed(&catalog, "K");
    let file = open(&catalog, "K", OpenMode::Output);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        file.put(unit, &mut position, &record("B", "", "")).unwrap();
        let first = Search::equal(Target::First);
        assert_eq!(reason(file.point(unit, &mut position, &first)), Reason::Loading);
        let next = file.get_next(unit, &mut position, Intent::Look, &mut read);
        assert_eq!(reason(next), Reason::Loading);
        assert_eq!(reason(file.erase_keyed(unit, &mut position, &key("B"))), Reason::Loading);
        let rewritten = file.rewrite_keyed(unit, &mut position, &record("B", "", ""));
        assert_eq!(reason(rewritten), Reason::Loading);
    });
}

#[test]
fn an_index_that_does_not_follow_its_base_is_reason_144() {
    let catalog = catalog();
    keyed(&catalog, "K");
    index(&catalog, "A", "K", |_| ());
    let path = PathAttributes { entry: name("A"), update: false };
    catalog.define(&name("P"), Definition::Path(path), None).unwrap();
    fill(&catalog, "K", &[record("1", "ANN", ""), record("2", "BOB", ""), record("3", "CAT", "")]);
    let mut read = Vec::new();
    let file = open(&catalog, "P", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        let bob = Search::equal(Target::Key(b"BOB "));
        file.get(unit, &mut position, &bob, Intent::Update, &mut read).unwrap();
        file.erase(unit, &mut position).unwrap();
    });
    drop((position, file));
    let file = open(&catalog, "A.PATH", OpenMode::Input);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
        let missing = file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap_err();
        assert!(matches!(
            missing,
            Failure::Logical {
                reason: Reason::NoBaseRecord,
                component: Component::AlternateIndex,
                ..
            }
        ));
        // The next request passes it over.
        file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
        assert_eq!(read, record("3", "CAT", ""));
    });
    drop((position, file));
    assert_eq!(catalog.build_index(&name("A")).unwrap(), 2);
    assert_eq!(crate::common::all(&catalog, "A.PATH"), ["1   ANN     ", "3   CAT     "]);
}

#[test]
fn a_record_number_that_is_none_is_reason_192() {
    let catalog = catalog();
    other(&catalog, "R", Organization::VariableRelative);
    let file = open(&catalog, "R", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        let none = RecordNumber(0);
        let put = file.put_number(unit, &mut position, none, b"zero");
        assert_eq!(reason(put), Reason::BadNumber);
        let search = Search::equal(Target::Number(none));
        let got = file.get(unit, &mut position, &search, Intent::Look, &mut read);
        assert_eq!(reason(got), Reason::BadNumber);
        assert_eq!(reason(file.erase_number(unit, &mut position, none)), Reason::BadNumber);
    });
}

#[test]
fn a_search_finds_what_is_equal_above_or_below() {
    let catalog = three();
    let file = open(&catalog, "K", OpenMode::Input);
    within(&catalog, |unit| {
        let mut found = |target: Target<'_>, by, direction| {
            find(&file, unit, &Search { target, by, direction })
        };
        let (f, b) = (Direction::Forward, Direction::Backward);
        let (bb, d, x) = (key("BB"), key("D"), key("X"));
        assert_eq!(found(Target::Key(&d), Match::Equal, f), "D");
        assert_eq!(found(Target::Key(&d), Match::Equal, b), "D");
        assert_eq!(found(Target::Key(&d), Match::GreaterOrEqual, f), "D");
        assert_eq!(found(Target::Key(&d), Match::Greater, f), "F");
        assert_eq!(found(Target::Key(&d), Match::Less, f), "B");
        assert_eq!(found(Target::Key(&d), Match::LessOrEqual, b), "D");
        assert_eq!(found(Target::Key(&bb), Match::Equal, f), "");
        assert_eq!(found(Target::Key(&bb), Match::GreaterOrEqual, f), "D");
        assert_eq!(found(Target::Key(&bb), Match::LessOrEqual, b), "B");
        assert_eq!(found(Target::Key(&x), Match::GreaterOrEqual, f), "");
        assert_eq!(found(Target::Generic(b"D"), Match::Equal, f), "D");
        assert_eq!(found(Target::Generic(b"D"), Match::Greater, f), "F");
        assert_eq!(found(Target::Generic(b"C"), Match::Equal, f), "");
        assert_eq!(found(Target::Generic(b"\xff"), Match::Greater, f), "");
        assert_eq!(found(Target::Generic(b"\xff"), Match::LessOrEqual, b), "F");
        assert_eq!(found(Target::First, Match::Equal, f), "B");
        assert_eq!(found(Target::Last, Match::Equal, b), "F");
    });
}

/// The key of what a search finds, by GET and by POINT with a read behind it, which agree.
fn find<S: Store>(file: &File<S>, unit: &mut S::Unit, search: &Search<'_>) -> String {
    let (mut position, mut read) = (file.position().unwrap(), Vec::new());
    let got = file.get(unit, &mut position, search, Intent::Look, &mut read);
    let got = got.map(|_| String::from_utf8_lossy(&read[..4]).trim().to_owned());
    let pointed = file.point(unit, &mut position, search).and_then(|_| match search.direction {
        Direction::Forward => file.get_next(unit, &mut position, Intent::Look, &mut read),
        Direction::Backward => file.get_previous(unit, &mut position, Intent::Look, &mut read),
    });
    let pointed = pointed.map(|_| String::from_utf8_lossy(&read[..4]).trim().to_owned());
    assert_eq!(got.is_ok(), pointed.is_ok(), "{search:?}");
    assert_eq!(got.as_ref().ok(), pointed.as_ref().ok(), "{search:?}");
    got.unwrap_or_default()
}

#[test]
fn a_record_may_be_longer_than_its_interval_only_if_it_is_spanned() {
    let catalog = catalog();
    let mut attributes = ClusterAttributes::keyed(crate::common::KEY, 100_000);
    let refused = catalog.define(&name("S"), Definition::Cluster(attributes.clone()), None);
    assert!(matches!(refused, Err(vsam::CatalogError::Attributes { .. })));
    attributes.spanned = true;
    crate::common::define(&catalog, "S", attributes);
    let long = [b'L'; 100_000].to_vec();
    fill(&catalog, "S", std::slice::from_ref(&long));
    let file = open(&catalog, "S", OpenMode::Input);
    let (mut position, mut read) = (file.position().unwrap(), Vec::new());
    within(&catalog, |unit| {
        file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
    });
    assert!(read == long);
}

#[test]
fn a_duplicate_of_a_unique_alternate_key_is_backed_out_of_the_base() {
    let catalog = catalog();
    keyed(&catalog, "K");
    let unique = |attributes: &mut AlternateIndexAttributes| attributes.unique = true;
    index(&catalog, "A", "K", unique);
    index(&catalog, "B", "K", |attributes| attributes.key = crate::common::BY_TOWN);
    fill(&catalog, "K", &[record("1", "ANN", "ROM"), record("2", "BOB", "ROM")]);
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        let put = file.put(unit, &mut position, &record("3", "ANN", "ROM"));
        assert!(matches!(
            put,
            Err(Failure::Logical {
                reason: Reason::Duplicate,
                component: Component::UpgradeSet,
                ..
            })
        ));
        let search = Search::equal(Target::Key(b"2   "));
        file.get(unit, &mut position, &search, Intent::Update, &mut read).unwrap();
        let rewritten = file.rewrite(unit, &mut position, &record("2", "ANN", "OSLO"));
        assert_eq!(reason(rewritten), Reason::Duplicate);
        let done = file.put(unit, &mut position, &record("4", "DAN", "ROM")).unwrap();
        assert_eq!(done.condition, Condition::DuplicateKey);
    });
    drop((position, file));
    assert_eq!(crate::common::all(&catalog, "K").len(), 3);
    let by_name = ["1   ANN ROM ", "2   BOB ROM ", "4   DAN ROM "];
    assert_eq!(crate::common::all(&catalog, "A.PATH"), by_name);
    assert_eq!(crate::common::all(&catalog, "B.PATH"), by_name);
    assert_eq!(BY_NAME.bytes, 4);
}
