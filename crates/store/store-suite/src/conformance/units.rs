//! Units of work: own changes, backout, savepoints, several sets.

use super::subject::{get, patient, scan};
use super::{Checked, Failure, Found, Subject, ensure, ensure_eq, ensure_err};
use store::KeyRange;
use store::error::StoreError;
use store::traits::{Outcome, Store, Unit, UnitOptions};
use store::{LockMode, LockName, Read, Wait};

pub(super) fn a_unit_sees_its_own_changes<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"a", b"1"), (b"b", b"2"), (b"c", b"3")])?;
    let mut unit = subject.begin()?;
    unit.put(set, b"aa", b"added")?;
    unit.put(set, b"b", b"changed")?;
    ensure_eq!(unit.delete(set, b"c")?, Outcome::Done, "delete");
    let seen = scan(subject.store(), &mut unit, set, KeyRange::ALL)?;
    let expected: [(&[u8], &[u8]); 3] = [(b"a", b"1"), (b"aa", b"added"), (b"b", b"changed")];
    let expected: Vec<_> = expected.iter().map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
    ensure_eq!(seen, expected, "what it sees before its commit");
    for (key, value) in [(&b"aa"[..], Some(&b"added"[..])), (b"b", Some(b"changed")), (b"c", None)]
    {
        for read in [Read::Unlocked, Read::Shared, Read::Exclusive] {
            let seen = get(&mut unit, set, key, read)?;
            ensure_eq!(seen.as_deref(), value, "its own change, read {read:?}");
        }
    }
    unit.commit()?;
    ensure_eq!(subject.keys(set)?, "a aa b", "what others see after it");
    Ok(())
}

pub(super) fn backout_undoes_everything<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"a", b"1"), (b"b", b"2"), (b"c", b"3")])?;
    let other = subject.set_of(&[(b"x", b"9")])?;
    let before = (subject.contents(set)?, subject.contents(other)?);
    let mut unit = subject.begin()?;
    for round in 0..3 {
        unit.put(set, b"a", &[round; 50])?;
        unit.put(set, format!("new {round}").as_bytes(), b"n")?;
        unit.delete(set, b"b").map(drop)?;
        unit.put(set, b"b", &[round])?;
        unit.put(other, b"x", &[round])?;
    }
    ensure_eq!(unit.delete_range(set, KeyRange::from(b"b"))?, 5, "range delete");
    unit.backout()?;
    let after = (subject.contents(set)?, subject.contents(other)?);
    ensure_eq!(after, before, "the sets after the backout");
    Ok(())
}

pub(super) fn dropping_a_unit_backs_it_out<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"a", b"1")])?;
    let mut unit = subject.begin()?;
    unit.put(set, b"a", b"2")?;
    unit.put(set, b"b", b"2")?;
    ensure!(
        unit.lock(LockName { space: 9, name: b"n" }, LockMode::Exclusive, Wait::No)?.is_held(),
        "the name is free"
    );
    drop(unit);
    // Its locks are gone as well: these do not wait.
    let mut unit = subject.begin_impatient()?;
    ensure_eq!(get(&mut unit, set, b"a", Read::Exclusive)?, Some(b"1".to_vec()), "the old value");
    ensure_eq!(get(&mut unit, set, b"b", Read::Exclusive)?, None, "the added key");
    let grant = unit.lock(LockName { space: 9, name: b"n" }, LockMode::Exclusive, Wait::No)?;
    ensure!(grant.is_held(), "the name is free again");
    Ok(())
}

pub(super) fn savepoints_nest<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"a", b"0")])?;
    let mut unit = subject.begin()?;
    unit.put(set, b"b", b"1")?;
    let first = unit.savepoint()?;
    unit.put(set, b"a", b"2")?;
    let second = unit.savepoint()?;
    unit.put(set, b"c", b"3")?;
    ensure_eq!(unit.delete(set, b"a")?, Outcome::Done, "delete");
    let keys = |unit: &mut S::Unit| -> Result<String, StoreError> {
        let entries = scan(subject.store(), unit, set, KeyRange::ALL)?;
        let text = |(key, value): (Vec<u8>, Vec<u8>)| {
            String::from_utf8_lossy(&[key, value].concat()).into_owned()
        };
        Ok(entries.into_iter().map(text).collect::<Vec<_>>().join(" "))
    };
    ensure_eq!(keys(&mut unit)?, "b1 c3", "before any rollback");
    unit.rollback_to(second)?;
    ensure_eq!(keys(&mut unit)?, "a2 b1", "back to the second");
    unit.put(set, b"d", b"4")?;
    unit.rollback_to(second)?;
    ensure_eq!(keys(&mut unit)?, "a2 b1", "back to the second once more");
    unit.rollback_to(first)?;
    ensure_eq!(keys(&mut unit)?, "a0 b1", "back to the first");
    unit.put(set, b"e", b"5")?;
    let third = unit.savepoint()?;
    unit.put(set, b"f", b"6")?;
    unit.rollback_to(third)?;
    unit.commit()?;
    ensure_eq!(subject.keys(set)?, "a b e", "what was committed");
    ensure_eq!(subject.value(set, b"a")?, Some(b"0".to_vec()), "the value put back");
    Ok(())
}

pub(super) fn a_savepoint_that_was_rolled_back_past_is_refused<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let set = subject.set()?;
    let mut unit = subject.begin()?;
    let first = unit.savepoint()?;
    unit.put(set, b"a", b"1")?;
    let second = unit.savepoint()?;
    unit.rollback_to(first)?;
    let result = unit.rollback_to(second);
    ensure_err!(result, StoreError::NoSuchSavepoint, "rolled back past");
    ensure!(unit.failure().is_none(), "the unit of work goes on after it");
    unit.put(set, b"b", b"2")?;
    unit.commit()?;
    let mut other = subject.begin()?;
    other.put(set, b"c", b"3")?;
    let result = other.rollback_to(second);
    ensure_err!(result, StoreError::NoSuchSavepoint, "of another unit of work");
    other.commit()?;
    ensure_eq!(subject.keys(set)?, "b c", "what was committed");
    // As many as the store says, and not one more.
    let most = subject.store().capabilities().savepoints_max.min(1_000);
    let mut unit = subject.begin()?;
    for _ in 0..most {
        unit.savepoint()?;
    }
    if most == subject.store().capabilities().savepoints_max {
        ensure_err!(unit.savepoint(), StoreError::TooLarge(_), "one savepoint more");
    }
    Ok(())
}

pub(super) fn rollback_restores_what_a_range_delete_removed<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let set = subject.set()?;
    let key = |number: u32| format!("{number:06}").into_bytes();
    subject.run(|unit| {
        (0..2_000).try_for_each(|number| unit.put(set, &key(number), &[number as u8; 90]))
    })?;
    let before = subject.contents(set)?;
    let mut unit = subject.begin()?;
    let savepoint = unit.savepoint()?;
    ensure_eq!(unit.delete_range(set, KeyRange::from(&key(3)))?, 1_997, "range delete");
    unit.put(set, &key(1_000), b"in the hole")?;
    unit.rollback_to(savepoint)?;
    let seen = scan(subject.store(), &mut unit, set, KeyRange::ALL)?;
    ensure!(seen.into_iter().eq(before.clone()), "the entries after the rollback");
    ensure_eq!(unit.delete_range(set, KeyRange::ALL)?, 2_000, "range delete of all");
    unit.backout()?;
    ensure!(subject.contents(set)? == before, "the entries after the backout");
    Ok(())
}

pub(super) fn a_read_only_unit_refuses_changes<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"a", b"1")])?;
    let options = UnitOptions { read_only: true, ..patient() };
    let mut unit = subject.store().begin(options)?;
    ensure_err!(unit.put(set, b"a", b"2"), StoreError::ReadOnly, "put");
    ensure_err!(unit.insert(set, b"b", b"2"), StoreError::ReadOnly, "insert");
    ensure_err!(unit.replace(set, b"a", b"2"), StoreError::ReadOnly, "replace");
    ensure_err!(unit.delete(set, b"a"), StoreError::ReadOnly, "delete");
    ensure_err!(unit.delete_range(set, KeyRange::ALL), StoreError::ReadOnly, "range delete");
    ensure_eq!(get(&mut unit, set, b"a", Read::Shared)?, Some(b"1".to_vec()), "it may read");
    let grant = unit.lock(LockName { space: 9, name: b"r" }, LockMode::Shared, Wait::No)?;
    ensure!(grant.is_held(), "it may lock names");
    unit.commit()?;
    Ok(())
}

pub(super) fn many_sets_change_together<S: Store>(subject: &Subject<S>) -> Checked {
    let sets = (0..8).map(|_| subject.set()).collect::<Result<Vec<_>, _>>()?;
    let mut unit = subject.begin()?;
    for (number, set) in sets.iter().enumerate() {
        unit.put(*set, b"same key", &[number as u8])?;
    }
    for (number, set) in sets.iter().enumerate() {
        let seen = get(&mut unit, *set, b"same key", Read::Shared)?;
        ensure_eq!(seen, Some(vec![number as u8]), "the key in set {number}");
    }
    unit.backout()?;
    for set in &sets {
        ensure!(subject.contents(*set)?.is_empty(), "each set is as it was after the backout");
    }
    subject.run(|unit| sets.iter().try_for_each(|set| unit.put(*set, b"k", b"v")))?;
    for set in &sets {
        ensure_eq!(subject.keys(*set)?, "k", "each set after the commit");
    }
    Ok(())
}

pub(super) fn a_failed_body_is_backed_out_and_answers<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let mut calls = 0;
    let answer = store::run(subject.store(), patient(), |unit| -> Found<()> {
        calls += 1;
        unit.put(set, b"a", b"1")?;
        Err(Failure::new("the body's own reason"))
    });
    let message = answer.err().map(|failure| failure.message);
    ensure_eq!(message.as_deref(), Some("the body's own reason"), "the answer");
    ensure_eq!(calls, 1, "how often the body ran");
    ensure!(subject.contents(set)?.is_empty(), "its change is undone");
    Ok(())
}
