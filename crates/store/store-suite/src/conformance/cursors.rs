//! Cursors: places, limits, and what happens around them while they stand.

use std::collections::BTreeSet;

use super::{Checked, Subject, ensure, ensure_eq, ensure_err};
use store::Read;
use store::SetId;
use store::error::{Result, StoreError};
use store::traits::{Cursor, Outcome, Store, Unit};
use store::{KeyRange, Position};

/// Steps on and answers the key as text; the end is `-`.
fn next<U: Unit>(unit: &mut U, cursor: &mut U::Cursor) -> Result<String> {
    let entry = unit.next(cursor, Read::Shared)?;
    Ok(entry.map_or("-".into(), |entry| String::from_utf8_lossy(entry.key).into_owned()))
}

fn previous<U: Unit>(unit: &mut U, cursor: &mut U::Cursor) -> Result<String> {
    let entry = unit.previous(cursor, Read::Shared)?;
    Ok(entry.map_or("-".into(), |entry| String::from_utf8_lossy(entry.key).into_owned()))
}

fn set_of_keys<S: Store>(subject: &Subject<S>, keys: &[&str]) -> Result<SetId> {
    let entries: Vec<_> = keys.iter().map(|key| (key.as_bytes(), key.as_bytes())).collect();
    subject.set_of(&entries)
}

pub(super) fn every_place_has_its_next_and_its_previous<S: Store>(subject: &Subject<S>) -> Checked {
    let there: BTreeSet<&[u8]> = [&b""[..], b"b", b"bb", b"d", b"\xff"].into();
    let set = subject.set()?;
    subject.run(|unit| there.iter().try_for_each(|key| unit.put(set, key, key)))?;
    let store = subject.store();
    let mut unit = subject.begin()?;
    let mut cursor = store.cursor(set)?;
    ensure_eq!(cursor.set(), set, "the set of a cursor");
    ensure_eq!(cursor.position(), Position::Front, "the place of a new cursor");
    let keys: [&[u8]; 9] = [b"", b"\0", b"a", b"b", b"b\0", b"bb", b"c", b"d", b"\xff\xff"];
    let around = |key| [Position::Before(key), Position::On(key), Position::After(key)];
    let places = keys.into_iter().flat_map(around).chain([Position::Front, Position::Back]);
    for place in places {
        let ahead = |key: &[u8]| match place {
            Position::Front => true,
            Position::Before(at) => key >= at,
            Position::On(at) | Position::After(at) => key > at,
            Position::Back => false,
        };
        let behind = |key: &[u8]| match place {
            Position::Front => false,
            Position::Before(at) | Position::On(at) => key < at,
            Position::After(at) => key <= at,
            Position::Back => true,
        };
        cursor.seek(place);
        ensure_eq!(cursor.position(), place, "the place just sought");
        let expected = there.iter().copied().find(|key| ahead(key));
        let seen = unit.next(&mut cursor, Read::Shared)?;
        ensure_eq!(seen.map(|entry| entry.key), expected, "the entry after {place:?}");
        ensure_eq!(seen.map(|entry| entry.value), expected, "the value after {place:?}");
        let now = expected.map_or(place, Position::On);
        ensure_eq!(cursor.position(), now, "the place after a step from {place:?}");

        cursor.seek(place);
        let expected = there.iter().copied().rfind(|key| behind(key));
        let seen = unit.previous(&mut cursor, Read::Shared)?;
        ensure_eq!(seen.map(|entry| entry.key), expected, "the entry before {place:?}");
        ensure_eq!(seen.map(|entry| entry.value), expected, "the value before {place:?}");
        let now = expected.map_or(place, Position::On);
        ensure_eq!(cursor.position(), now, "the place after a step back from {place:?}");
    }
    Ok(())
}

pub(super) fn limits_confine_both_directions<S: Store>(subject: &Subject<S>) -> Checked {
    let set = set_of_keys(subject, &["a", "b", "c", "d", "e"])?;
    let mut unit = subject.begin()?;
    let ranges: [(KeyRange<'_>, &str); 6] = [
        (KeyRange::between(b"b", b"d"), "b c"),
        (KeyRange::between(b"aa", b"d\0"), "b c d"),
        (KeyRange::from(b"d"), "d e"),
        (KeyRange::below(b"c"), "a b"),
        (KeyRange::between(b"bb", b"bc"), ""),
        (KeyRange::between(b"d", b"b"), ""),
    ];
    for (range, expected) in ranges {
        let mut cursor = subject.store().cursor(set)?;
        cursor.limit(range);
        let mut forward = Vec::new();
        while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
            forward.push(String::from_utf8_lossy(entry.key).into_owned());
        }
        ensure_eq!(forward.join(" "), expected, "forward within {range:?}");
        cursor.seek(Position::Back);
        let mut backward = Vec::new();
        while let Some(entry) = unit.previous(&mut cursor, Read::Shared)? {
            backward.insert(0, String::from_utf8_lossy(entry.key).into_owned());
        }
        ensure_eq!(backward.join(" "), expected, "backward within {range:?}");
    }
    // A place outside the limits is drawn in by the next step; new limits keep the place.
    let mut cursor = subject.store().cursor(set)?;
    cursor.limit(KeyRange::between(b"b", b"d"));
    cursor.seek(Position::On(b"e"));
    ensure_eq!(next(&mut unit, &mut cursor)?, "-", "next from beyond the limits");
    ensure_eq!(previous(&mut unit, &mut cursor)?, "c", "previous from beyond the limits");
    cursor.limit(KeyRange::ALL);
    ensure_eq!(next(&mut unit, &mut cursor)?, "d", "next after the limits are lifted");
    Ok(())
}

pub(super) fn a_step_that_finds_nothing_keeps_the_place<S: Store>(subject: &Subject<S>) -> Checked {
    let set = set_of_keys(subject, &["a", "b"])?;
    let mut unit = subject.begin()?;
    let mut cursor = subject.store().cursor(set)?;
    for expected in ["a", "b", "-", "-"] {
        ensure_eq!(next(&mut unit, &mut cursor)?, expected, "next");
    }
    ensure_eq!(cursor.key(), Some(&b"b"[..]), "the place at the end");
    unit.put(set, b"c", b"late")?;
    ensure_eq!(next(&mut unit, &mut cursor)?, "c", "an entry that came after the end was reached");
    for expected in ["b", "a", "-", "-"] {
        ensure_eq!(previous(&mut unit, &mut cursor)?, expected, "previous");
    }
    ensure_eq!(next(&mut unit, &mut cursor)?, "b", "next after the front was reached");
    Ok(())
}

pub(super) fn a_cursor_survives_the_deletion_of_its_entry<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let set = set_of_keys(subject, &["a", "b", "c", "d", "e"])?;
    let mut unit = subject.begin()?;
    let mut cursor = subject.store().cursor(set)?;
    cursor.seek(Position::Before(b"c"));
    ensure_eq!(next(&mut unit, &mut cursor)?, "c", "the entry");
    ensure_eq!(unit.delete(set, b"c")?, Outcome::Done, "delete");
    ensure!(unit.current(&mut cursor, Read::Shared)?.is_none(), "the entry is gone");
    ensure_eq!(cursor.key(), Some(&b"c"[..]), "the place stays");
    ensure_eq!(previous(&mut unit, &mut cursor)?, "b", "previous");
    cursor.seek(Position::On(b"c"));
    ensure_eq!(next(&mut unit, &mut cursor)?, "d", "next");
    ensure_eq!(unit.delete_range(set, KeyRange::ALL)?, 4, "delete everything");
    ensure_eq!(next(&mut unit, &mut cursor)?, "-", "next in an empty set");
    ensure_eq!(previous(&mut unit, &mut cursor)?, "-", "previous in an empty set");
    unit.put(set, b"dd", b"new")?;
    ensure_eq!(next(&mut unit, &mut cursor)?, "dd", "what came after the deletion");
    Ok(())
}

pub(super) fn a_cursor_sees_what_its_unit_changes_on_the_way<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let set = set_of_keys(subject, &["a", "c", "e", "g"])?;
    let mut unit = subject.begin()?;
    let mut cursor = subject.store().cursor(set)?;
    ensure_eq!(next(&mut unit, &mut cursor)?, "a", "the first");
    unit.put(set, b"b", b"added ahead")?;
    ensure_eq!(next(&mut unit, &mut cursor)?, "b", "an entry added ahead");
    unit.put(set, b"aa", b"added behind")?;
    unit.delete(set, b"c").map(drop)?;
    unit.put(set, b"e", b"replaced ahead")?;
    let entry = unit.next(&mut cursor, Read::Shared)?;
    let entry = entry.map(|entry| (entry.key.to_vec(), entry.value.to_vec()));
    ensure_eq!(entry, Some((b"e".to_vec(), b"replaced ahead".to_vec())), "past the deleted one");
    let savepoint = unit.savepoint()?;
    unit.put(set, b"f", b"to be undone")?;
    unit.delete(set, b"g").map(drop)?;
    unit.rollback_to(savepoint)?;
    ensure_eq!(next(&mut unit, &mut cursor)?, "g", "after a rollback");
    for expected in ["e", "b", "aa", "a", "-"] {
        ensure_eq!(previous(&mut unit, &mut cursor)?, expected, "backward");
    }
    // Adding just ahead of every step must not lose the cursor, though pages split around it.
    cursor.seek(Position::Front);
    let value = [7; 200];
    let (mut steps, mut key) = (0_u32, Vec::new());
    while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
        key.clear();
        key.extend_from_slice(entry.key);
        steps += 1;
        if steps < 1_000 {
            key.push(b'a');
            key.truncate(200);
            unit.put(set, &key, &value)?;
        }
    }
    ensure!(steps >= 200, "the cursor was lost after {steps} steps");
    Ok(())
}

pub(super) fn a_cursor_sees_what_others_commit_on_the_way<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let set = set_of_keys(subject, &["a", "c", "e"])?;
    let mut cursor = subject.store().cursor(set)?;
    let mut unit = subject.begin()?;
    ensure_eq!(next(&mut unit, &mut cursor)?, "a", "the first");
    unit.commit()?;
    subject.run(|other| {
        other.put(set, b"b", b"new")?;
        other.delete(set, b"c").map(drop)?;
        other.put(set, b"e", b"changed")
    })?;
    let mut unit = subject.begin()?;
    ensure_eq!(next(&mut unit, &mut cursor)?, "b", "added by another unit of work");
    let entry = unit.next(&mut cursor, Read::Shared)?;
    let entry = entry.map(|entry| (entry.key.to_vec(), entry.value.to_vec()));
    ensure_eq!(entry, Some((b"e".to_vec(), b"changed".to_vec())), "changed by another");
    ensure_eq!(next(&mut unit, &mut cursor)?, "-", "the end");
    unit.commit()?;
    // Others may split and empty whatever the cursor stood in.
    let key = |number: u32| format!("f{number:05}").into_bytes();
    for thousand in 0..3 {
        subject.run(|other| {
            (thousand * 1_000..(thousand + 1) * 1_000)
                .try_for_each(|number| other.put(set, &key(number), &[1; 100]))
        })?;
        let mut unit = subject.begin()?;
        let entry = unit.next(&mut cursor, Read::Shared)?;
        let expected = key(thousand * 1_000);
        ensure_eq!(entry.map(|entry| entry.key.to_vec()), Some(expected), "the first of them");
        cursor.seek(Position::After(&key(thousand * 1_000 + 999)));
        unit.commit()?;
        subject.run(|other| other.delete_range(set, KeyRange::from(b"f")).map(drop))?;
        let mut unit = subject.begin()?;
        ensure_eq!(previous(&mut unit, &mut cursor)?, "e", "before all that was deleted");
    }
    Ok(())
}

pub(super) fn a_cursor_keeps_its_place_over_a_commit<S: Store>(subject: &Subject<S>) -> Checked {
    let set = set_of_keys(subject, &["a", "b", "c"])?;
    let mut cursor = subject.store().cursor(set)?;
    let mut seen = String::new();
    for _ in 0..4 {
        let mut unit = subject.begin()?;
        seen += &next(&mut unit, &mut cursor)?;
        match seen.len() {
            2 => unit.backout()?,
            _ => unit.commit().map(drop)?,
        }
    }
    ensure_eq!(seen, "abc-", "one step in each unit of work");
    Ok(())
}

pub(super) fn changes_at_a_cursor_reach_its_entry<S: Store>(subject: &Subject<S>) -> Checked {
    let set = set_of_keys(subject, &["a", "b", "c"])?;
    let mut unit = subject.begin()?;
    let mut cursor = subject.store().cursor(set)?;
    ensure_eq!(next(&mut unit, &mut cursor)?, "a", "the first");
    ensure_eq!(next(&mut unit, &mut cursor)?, "b", "the second");
    let value = vec![b'v'; 3_000];
    ensure_eq!(unit.replace_at(&mut cursor, &value)?, Outcome::Done, "replace");
    let seen = unit.current(&mut cursor, Read::Update)?.map(|entry| entry.value.to_vec());
    ensure_eq!(seen, Some(value), "the value read again");
    ensure_eq!(unit.replace_at(&mut cursor, b"short")?, Outcome::Done, "replace again");
    ensure_eq!(next(&mut unit, &mut cursor)?, "c", "a step after replacing");
    ensure_eq!(unit.delete_at(&mut cursor)?, Outcome::Done, "delete");
    ensure_eq!(unit.delete_at(&mut cursor)?, Outcome::Absent, "delete again");
    ensure_eq!(unit.replace_at(&mut cursor, b"x")?, Outcome::Absent, "replace the deleted");
    ensure_eq!(previous(&mut unit, &mut cursor)?, "b", "a step after deleting");
    unit.commit()?;
    ensure_eq!(subject.keys(set)?, "a b", "what is left");
    ensure_eq!(subject.value(set, b"b")?, Some(b"short".to_vec()), "the last value");
    Ok(())
}

pub(super) fn a_cursor_without_an_entry_has_nothing_to_change<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let set = set_of_keys(subject, &["a"])?;
    let mut unit = subject.begin()?;
    let mut cursor = subject.store().cursor(set)?;
    for place in [Position::Front, Position::Back, Position::Before(b"a"), Position::After(b"a")] {
        cursor.seek(place);
        ensure_eq!(cursor.key(), None, "the key at {place:?}");
        let read = unit.current(&mut cursor, Read::Shared).map(|entry| entry.is_some());
        ensure_err!(read, StoreError::NoPosition, "reading again at {place:?}");
        let replaced = unit.replace_at(&mut cursor, b"x");
        ensure_err!(replaced, StoreError::NoPosition, "replacing at {place:?}");
        let deleted = unit.delete_at(&mut cursor);
        ensure_err!(deleted, StoreError::NoPosition, "deleting at {place:?}");
    }
    // A key that was only sought is as good as one that was read.
    cursor.seek(Position::On(b"a"));
    ensure_eq!(unit.delete_at(&mut cursor)?, Outcome::Done, "deleting what was sought");
    unit.commit()?;
    Ok(())
}
