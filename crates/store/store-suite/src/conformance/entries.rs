//! Single entries: what the calls answer, the order of keys, limits.

use super::subject::{get, scan};
use super::{Checked, Subject, ensure, ensure_eq, ensure_err};
use crate::rng::Rng;
use store::KeyRange;
use store::Read;
use store::error::{Limit, StoreError};
use store::traits::{Cursor, Outcome, Store, Unit};

pub(super) fn an_inserted_entry_is_read_back<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let mut unit = subject.begin()?;
    ensure_eq!(get(&mut unit, set, b"k", Read::Shared)?, None, "an absent key");
    ensure_eq!(unit.insert(set, b"k", b"value")?, Outcome::Done, "insert");
    ensure_eq!(get(&mut unit, set, b"k", Read::Shared)?, Some(b"value".to_vec()), "same unit");
    unit.commit()?;
    for read in [Read::Unlocked, Read::Shared, Read::Update, Read::Exclusive] {
        let seen = subject.run(|unit| get(unit, set, b"k", read))?;
        ensure_eq!(seen, Some(b"value".to_vec()), "read {read:?} after the commit");
    }
    // The buffer's old contents are dropped, whether or not the key is there.
    let mut unit = subject.begin()?;
    let mut value = b"old and long contents".to_vec();
    ensure!(unit.get(set, b"k", Read::Shared, &mut value)?, "the key is there");
    ensure_eq!(value, b"value".to_vec(), "a buffer with old contents");
    ensure!(!unit.get(set, b"absent", Read::Shared, &mut value)?, "the key is not there");
    ensure!(value.is_empty(), "the buffer is emptied if there is no value");
    Ok(())
}

pub(super) fn a_second_insert_of_a_key_is_refused_and_changes_nothing<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let set = subject.set_of(&[(b"k", b"first")])?;
    let mut unit = subject.begin()?;
    ensure_eq!(unit.insert(set, b"k", b"second")?, Outcome::Exists, "insert");
    ensure_eq!(get(&mut unit, set, b"k", Read::Shared)?, Some(b"first".to_vec()), "the value");
    ensure_eq!(unit.insert(set, b"l", b"other")?, Outcome::Done, "the unit of work goes on");
    ensure_eq!(unit.insert(set, b"l", b"again")?, Outcome::Exists, "its own entry");
    unit.commit()?;
    ensure_eq!(subject.value(set, b"l")?, Some(b"other".to_vec()), "its own entry's value");
    Ok(())
}

pub(super) fn replace_and_delete_need_the_key<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"k", b"first")])?;
    let mut unit = subject.begin()?;
    ensure_eq!(unit.replace(set, b"absent", b"x")?, Outcome::Absent, "replace an absent key");
    ensure_eq!(unit.delete(set, b"absent")?, Outcome::Absent, "delete an absent key");
    ensure_eq!(unit.replace(set, b"k", b"a longer second value")?, Outcome::Done, "replace");
    let seen = get(&mut unit, set, b"k", Read::Shared)?;
    ensure_eq!(seen, Some(b"a longer second value".to_vec()), "the replaced value");
    ensure_eq!(unit.delete(set, b"k")?, Outcome::Done, "delete");
    ensure_eq!(unit.delete(set, b"k")?, Outcome::Absent, "delete once more");
    ensure_eq!(unit.replace(set, b"k", b"x")?, Outcome::Absent, "replace what was deleted");
    ensure_eq!(unit.insert(set, b"k", b"third")?, Outcome::Done, "insert what was deleted");
    unit.commit()?;
    ensure_eq!(subject.value(set, b"k")?, Some(b"third".to_vec()), "the last value");
    ensure_eq!(subject.value(set, b"absent")?, None, "the absent key");
    Ok(())
}

pub(super) fn put_adds_or_replaces<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let mut unit = subject.begin()?;
    for value in [&b"1"[..], b"22", b"", b"4444"] {
        unit.put(set, b"k", value)?;
        let seen = get(&mut unit, set, b"k", Read::Shared)?;
        ensure_eq!(seen, Some(value.to_vec()), "the value just put");
    }
    unit.commit()?;
    ensure_eq!(subject.contents(set)?.len(), 1, "entries of one key");
    Ok(())
}

pub(super) fn keys_stand_in_the_order_of_their_bytes<S: Store>(subject: &Subject<S>) -> Checked {
    // Signed bytes, text order, C strings and lengths first would each give another order.
    let keys: [&[u8]; 12] = [
        b"",
        b"\x00",
        b"\x00\x00",
        b"\x00\x01",
        b"\x01",
        b"A",
        b"AA",
        b"B",
        b"a",
        b"\x7f\xff",
        b"\x80",
        b"\xff\xff",
    ];
    let set = subject.set()?;
    subject.run(|unit| keys.iter().rev().try_for_each(|key| unit.put(set, key, key)))?;
    let mut unit = subject.begin()?;
    let seen = scan(subject.store(), &mut unit, set, KeyRange::ALL)?;
    let seen: Vec<&[u8]> = seen.iter().map(|(key, _)| &key[..]).collect();
    ensure_eq!(seen, keys.to_vec(), "keys in order");
    Ok(())
}

pub(super) fn empty_keys_and_empty_values_are_entries<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let mut unit = subject.begin()?;
    ensure_eq!(unit.delete(set, b"")?, Outcome::Absent, "the empty key, absent");
    ensure_eq!(unit.insert(set, b"", b"")?, Outcome::Done, "the empty key");
    ensure_eq!(unit.insert(set, b"", b"x")?, Outcome::Exists, "the empty key, twice");
    unit.commit()?;
    ensure_eq!(subject.value(set, b"")?, Some(Vec::new()), "an empty value is a value");
    let mut unit = subject.begin()?;
    let mut cursor = subject.store().cursor(set)?;
    let entry = unit.next(&mut cursor, Read::Shared)?;
    ensure!(entry.is_some_and(|entry| entry.key.is_empty()), "a cursor finds the empty key");
    ensure_eq!(cursor.key(), Some(&b""[..]), "a cursor stands on the empty key");
    ensure!(unit.next(&mut cursor, Read::Shared)?.is_none(), "and on no other");
    Ok(())
}

pub(super) fn long_values_come_back<S: Store>(subject: &Subject<S>) -> Checked {
    let most = subject.store().capabilities().value_bytes_max;
    let most = most.min(
        subject
            .store()
            .capabilities()
            .unit_bytes_max
            .map_or(most, |unit| usize::try_from(unit / 4).unwrap_or(most)),
    );
    let set = subject.set()?;
    let mut chance = Rng::new(subject.seed());
    let sizes = [1, 255, 256, 4_000, 4_096, 5_000, 65_535, 65_536, 100_000, 1 << 20, 3, 70_000];
    for (round, size) in sizes.into_iter().filter(|size| *size <= most).enumerate() {
        let value: Vec<u8> = (0..size).map(|_| chance.next() as u8).collect();
        subject.run(|unit| {
            unit.put(set, b"grows and shrinks", &value)?;
            unit.put(set, &[round as u8], &value)
        })?;
        ensure_eq!(
            subject.value(set, b"grows and shrinks")?.as_ref(),
            Some(&value),
            "{size} bytes"
        );
        let seen = subject.contents(set)?;
        ensure_eq!(seen.get(&[round as u8][..]), Some(&value), "{size} bytes, by a cursor");
        ensure_eq!(seen.len(), round + 2, "entries");
    }
    subject.run(|unit| unit.delete_range(set, KeyRange::ALL))?;
    ensure!(subject.contents(set)?.is_empty(), "long values can be deleted");
    Ok(())
}

pub(super) fn what_is_too_large_is_refused<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let most = subject.store().capabilities().clone();
    let mut unit = subject.begin()?;
    let longest = vec![b'k'; most.key_bytes_max];
    ensure_eq!(unit.insert(set, &longest, b"v")?, Outcome::Done, "a key as long as allowed");
    let longer = vec![b'k'; most.key_bytes_max + 1];
    let limit_of = |error: &StoreError| match error {
        StoreError::TooLarge(excess) => Some((excess.limit, excess.size, excess.most)),
        _ => None,
    };
    let expected = (Limit::KeyBytes, longer.len() as u64, longest.len() as u64);
    for result in [unit.put(set, &longer, b"v"), unit.insert(set, &longer, b"v").map(drop)] {
        let limit = result.as_ref().err().and_then(limit_of);
        ensure_eq!(limit, Some(expected), "a longer key");
    }
    if most.value_bytes_max <= 128 << 20 {
        let value = vec![0; most.value_bytes_max + 1];
        let limit = unit.put(set, b"k", &value).err().as_ref().and_then(limit_of);
        let limit = limit.map(|(limit, ..)| limit);
        ensure_eq!(limit, Some(Limit::ValueBytes), "a longer value");
    }
    ensure!(unit.failure().is_none(), "the unit of work goes on after it");
    unit.commit()?;
    ensure_eq!(subject.value(set, &longest)?, Some(b"v".to_vec()), "the longest key");
    Ok(())
}

pub(super) fn a_range_delete_removes_the_range_only<S: Store>(subject: &Subject<S>) -> Checked {
    let cases: [(KeyRange<'_>, u64, &str); 9] = [
        (KeyRange::between(b"b", b"d"), 2, "a d e"),
        (KeyRange::between(b"b", b"d\0"), 3, "a e"),
        (KeyRange::between(b"aa", b"bb"), 1, "a c d e"),
        (KeyRange::between(b"bb", b"bc"), 0, "a b c d e"),
        (KeyRange::between(b"d", b"b"), 0, "a b c d e"),
        (KeyRange::between(b"c", b"c"), 0, "a b c d e"),
        (KeyRange::below(b"c"), 2, "c d e"),
        (KeyRange::from(b"c"), 3, "a b"),
        (KeyRange::ALL, 5, ""),
    ];
    for (range, count, left) in cases {
        let keys = [b"a", b"b", b"c", b"d", b"e"];
        let set = subject.set_of(&keys.map(|key| (&key[..], &b"v"[..])))?;
        let mut unit = subject.begin()?;
        ensure_eq!(unit.delete_range(set, range)?, count, "deleted by {range:?}");
        ensure_eq!(unit.delete_range(set, range)?, 0, "deleted by {range:?} once more");
        unit.commit()?;
        ensure_eq!(subject.keys(set)?, left, "what {range:?} leaves");
    }
    let mut unit = subject.begin()?;
    let gone = subject.set()?;
    subject.store().drop_set(gone)?;
    let result = unit.delete_range(gone, KeyRange::ALL);
    ensure_err!(result, StoreError::NoSuchSet(_), "a range of a set that is gone");
    Ok(())
}

pub(super) fn thousands_of_entries_are_kept_in_order<S: Store>(subject: &Subject<S>) -> Checked {
    const COUNT: u32 = 5_000;
    let set = subject.set()?;
    let mut chance = Rng::new(subject.seed());
    let key = |number: u32| format!("a common prefix of some length/{number:08}").into_bytes();
    let value = |number: u32| vec![number as u8; number as usize % 150];
    let mut numbers: Vec<u32> = (0..COUNT).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, chance.below(last + 1));
    }
    for some in numbers.chunks(500) {
        subject.run(|unit| some.iter().try_for_each(|n| unit.put(set, &key(*n), &value(*n))))?;
    }
    let expect = |seen: Vec<(Vec<u8>, Vec<u8>)>, numbers: Vec<u32>, what: &str| {
        ensure_eq!(seen.len(), numbers.len(), "entries read {what}");
        for (entry, number) in seen.iter().zip(numbers) {
            ensure_eq!(*entry, (key(number), value(number)), "entry {number} read {what}");
        }
        Ok(())
    };
    let mut unit = subject.begin()?;
    let seen = scan(subject.store(), &mut unit, set, KeyRange::ALL)?;
    expect(seen, (0..COUNT).collect(), "forward")?;
    let mut cursor = subject.store().cursor(set)?;
    cursor.seek(store::Position::Back);
    let mut seen = Vec::new();
    while let Some(entry) = unit.previous(&mut cursor, Read::Shared)? {
        seen.push((entry.key.to_vec(), entry.value.to_vec()));
    }
    expect(seen, (0..COUNT).rev().collect(), "backward")?;
    for number in numbers.iter().take(500) {
        let seen = get(&mut unit, set, &key(*number), Read::Shared)?;
        ensure_eq!(seen, Some(value(*number)), "entry {number} read by its key");
    }
    unit.commit()?;
    // Every other entry goes, in the order of chance, so that pages empty in no order.
    let odd: Vec<u32> = numbers.into_iter().filter(|number| number % 2 == 1).collect();
    for some in odd.chunks(500) {
        subject.run(|unit| some.iter().try_for_each(|n| unit.delete(set, &key(*n)).map(drop)))?;
    }
    let mut unit = subject.begin()?;
    let seen = scan(subject.store(), &mut unit, set, KeyRange::ALL)?;
    expect(seen, (0..COUNT).step_by(2).collect(), "after half was deleted")
}
