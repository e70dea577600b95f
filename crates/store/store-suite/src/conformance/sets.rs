//! Sets as a whole: made, found, dropped, emptied, loaded; the numbers drawn from them.

use super::subject::{Change, NOT_OFFERED, get, on_threads, scan};
use super::{Checked, Found, Subject, ensure, ensure_eq, ensure_err};
use store::Read;
use store::error::{Result, StoreError};
use store::traits::{Outcome, Store, Unit};
use store::{Entry, KeyRange};
use store::{LoadSource, Pairs, source_error};
use store::{Locking, SetAttributes, SetInfo};

pub(super) fn a_set_is_found_by_its_name<S: Store>(subject: &Subject<S>) -> Checked {
    let store = subject.store();
    let name = subject.unused_name()?;
    let attributes = SetAttributes { free_percent: 10, ..SetAttributes::default() };
    let set = store.create_set(&name, &attributes)?;
    ensure_eq!(store.set(&name)?, Some(set), "by its name");
    ensure_eq!(store.set("CONFORMANCE.NONE")?, None, "a name that no set has");
    let again = store.create_set(&name, &SetAttributes::default());
    ensure_err!(again, StoreError::SetExists(_), "a second set of that name");
    let other = subject.unused_name()?;
    ensure!(other != name, "the name is used now");
    let other = store.create_set(&other, &SetAttributes::default())?;
    ensure!(other != set, "two sets have two identities");
    let sets = store.sets()?;
    let expected = SetInfo { id: set, name: name.clone(), attributes };
    let seen = sets.iter().find(|info| info.id == set);
    ensure_eq!(seen, Some(&expected), "the set as it is listed");
    ensure!(sets.iter().any(|info| info.id == other), "the other one is listed, too");
    ensure!(sets.is_sorted_by(|a, b| a.name < b.name), "the list is ordered by name");
    if store.capabilities().caller_locking {
        let callers = subject.callers_set()?;
        let info = store.sets()?.into_iter().find(|info| Some(info.id) == callers);
        let locking = info.map(|info| info.attributes.locking);
        ensure_eq!(locking, Some(Locking::Caller), "its locking");
    }
    Ok(())
}

pub(super) fn a_dropped_set_is_gone_for_good<S: Store>(subject: &Subject<S>) -> Checked {
    let store = subject.store();
    let name = subject.unused_name()?;
    let set = store.create_set(&name, &SetAttributes::default())?;
    subject.fill(set, &[(b"a", b"1"), (b"b", b"2")])?;
    let mut unit = subject.begin()?;
    let mut cursor = store.cursor(set)?;
    ensure!(unit.next(&mut cursor, Read::Unlocked)?.is_some(), "it has an entry");
    store.drop_set(set)?;
    ensure_eq!(store.set(&name)?, None, "by its name");
    ensure!(store.sets()?.iter().all(|info| info.id != set), "it is not listed");
    let step = unit.next(&mut cursor, Read::Shared).map(|entry| entry.is_some());
    ensure_err!(step, StoreError::NoSuchSet(_), "a step");
    ensure_err!(get(&mut unit, set, b"a", Read::Shared), StoreError::NoSuchSet(_), "a read");
    ensure_err!(unit.put(set, b"a", b"1"), StoreError::NoSuchSet(_), "a change");
    ensure!(unit.failure().is_none(), "the unit of work goes on after it");
    ensure_err!(store.cursor(set), StoreError::NoSuchSet(_), "a cursor");
    ensure_err!(store.drop_set(set), StoreError::NoSuchSet(_), "dropping it again");
    ensure_err!(store.empty_set(set), StoreError::NoSuchSet(_), "emptying it");
    ensure_err!(store.draw(set, 1), StoreError::NoSuchSet(_), "drawing from it");
    let again = store.create_set(&name, &SetAttributes::default())?;
    ensure!(again != set, "an identity is not used again");
    ensure!(subject.contents(again)?.is_empty(), "a new set of an old name is empty");
    Ok(())
}

pub(super) fn a_set_in_use_is_neither_dropped_nor_emptied<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    if !subject.store().capabilities().waits {
        return NOT_OFFERED;
    }
    let set = subject.set_of(&[(b"a", b"1")])?;
    let uses: [Change<S>; 3] = [
        |unit, set| unit.put(set, b"b", b"2"),
        |unit, set| unit.delete(set, b"a").map(drop),
        |unit, set| unit.get(set, b"a", Read::Shared, &mut Vec::new()).map(drop),
    ];
    for use_it in uses {
        let mut unit = subject.begin()?;
        use_it(&mut unit, set)?;
        ensure_err!(subject.store().drop_set(set), StoreError::SetInUse(_), "drop");
        ensure_err!(subject.store().empty_set(set), StoreError::SetInUse(_), "empty");
        // Before it is asked whether it is empty, and whatever there is to load.
        let mut nothing = Pairs::new(std::iter::empty::<(Vec<u8>, Vec<u8>)>());
        let loaded = subject.store().load_sorted(set, &mut nothing);
        ensure_err!(loaded, StoreError::SetInUse(_), "load");
        let mut other = subject.begin()?;
        ensure!(!other.uses_alone(set)?, "another one uses it, too");
        other.backout()?;
        ensure!(unit.uses_alone(set)?, "nobody else uses it");
        unit.backout()?;
    }
    ensure_eq!(subject.keys(set)?, "a", "what is there after all that");
    subject.store().empty_set(set)?;
    subject.store().drop_set(set)?;
    Ok(())
}

pub(super) fn an_emptied_set_is_empty_and_its_sequence_goes_on<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let set = subject.set_of(&[(b"a", b"1"), (b"b", b"2")])?;
    let drawn = subject.store().draw(set, 5)?;
    subject.store().empty_set(set)?;
    ensure!(subject.contents(set)?.is_empty(), "no entry is left");
    ensure!(subject.store().draw(set, 1)? >= drawn + 5, "the sequence goes on");
    subject.fill(set, &[(b"c", b"3")])?;
    ensure_eq!(subject.keys(set)?, "c", "the set can be used again");
    let mut unit = subject.begin()?;
    ensure_eq!(unit.insert(set, b"a", b"1")?, Outcome::Done, "an old key is free");
    Ok(())
}

pub(super) fn a_sorted_load_fills_a_set<S: Store>(subject: &Subject<S>) -> Checked {
    const COUNT: u32 = 5_000;
    let set = subject.set()?;
    let key = |number: u32| format!("key {number:08}").into_bytes();
    let value = |number: u32| vec![number as u8; (number as usize * 7) % 300];
    let pairs = || Pairs::new((0..COUNT).map(|number| (key(number * 2), value(number))));
    ensure_eq!(subject.store().load_sorted(set, &mut pairs())?, u64::from(COUNT), "loaded");
    let mut unit = subject.begin()?;
    let seen = scan(subject.store(), &mut unit, set, KeyRange::ALL)?;
    let expected = (0..COUNT).map(|number| (key(number * 2), value(number)));
    ensure!(seen.into_iter().eq(expected), "the entries read forward");
    for number in (0..COUNT).step_by(97) {
        let seen = get(&mut unit, set, &key(number * 2), Read::Shared)?;
        ensure_eq!(seen, Some(value(number)), "entry {number}");
        let seen = get(&mut unit, set, &key(number * 2 + 1), Read::Shared)?;
        ensure_eq!(seen, None, "the gap after entry {number}");
        ensure_eq!(unit.insert(set, &key(number * 2 + 1), b"n")?, Outcome::Done, "filling it");
    }
    unit.commit()?;
    let again = subject.store().load_sorted(set, &mut pairs());
    ensure_err!(again, StoreError::SetNotEmpty(_), "loading what is not empty");
    let empty = subject.set()?;
    let none = Pairs::new(Vec::<(Vec<u8>, Vec<u8>)>::new());
    ensure_eq!(subject.store().load_sorted(empty, &mut { none })?, 0, "loading nothing");
    ensure!(subject.contents(empty)?.is_empty(), "nothing was loaded");
    Ok(())
}

/// A source that fails after some entries.
struct Failing(u8);

impl LoadSource for Failing {
    fn next_entry(&mut self) -> Result<Option<Entry<'_>>> {
        self.0 += 1;
        match self.0 {
            200.. => Err(source_error(std::io::Error::other("the tape broke"))),
            _ => Ok(Some(Entry { key: std::slice::from_ref(&self.0), value: b"v" })),
        }
    }
}

pub(super) fn a_load_that_fails_loads_nothing<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let store = subject.store();
    for (pairs, place) in [
        (vec![("b", "1"), ("c", "2"), ("a", "3")], 3),
        (vec![("b", "1"), ("b", "2")], 2),
        (vec![("", "1"), ("", "2")], 2),
    ] {
        let result = store.load_sorted(set, &mut Pairs::new(pairs));
        let at = match result {
            Err(StoreError::OutOfOrder(at)) => Some(at),
            _ => None,
        };
        ensure_eq!(at, Some(place), "a load that is not in order");
        ensure!(subject.contents(set)?.is_empty(), "nothing of it is there");
    }
    ensure_err!(store.load_sorted(set, &mut Failing(0)), StoreError::Source(_), "a broken source");
    ensure!(subject.contents(set)?.is_empty(), "nothing of it is there");
    let long = vec![b'k'; store.capabilities().key_bytes_max + 1];
    let pairs = [(b"a".to_vec(), b"1"), (long, b"2")];
    let result = store.load_sorted(set, &mut Pairs::new(pairs));
    ensure_err!(result, StoreError::TooLarge(_), "a key that is too long");
    ensure!(subject.contents(set)?.is_empty(), "nothing of it is there");
    ensure_eq!(store.load_sorted(set, &mut Pairs::new([("a", "1")]))?, 1, "the set still loads");
    Ok(())
}

pub(super) fn numbers_are_drawn_once<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    ensure!(subject.store().draw(set, 1)? >= 1, "zero is never drawn");
    let (store, rounds) = (subject.store().clone(), subject.rounds());
    let draw = move |who: u32| -> Found<Vec<u64>> {
        let mut numbers = Vec::new();
        for round in 0..rounds {
            let count = 1 + (who + round) % 7;
            let mut unit = store.begin(super::subject::patient())?;
            let first = store.draw(set, count)?;
            ensure!(numbers.last().is_none_or(|last| first > *last), "numbers ascend");
            numbers.extend(first..first + u64::from(count));
            unit.put(set, &first.to_be_bytes(), b"an arrival")?;
            // A backout gives no number back.
            match round % 3 {
                0 => unit.backout()?,
                _ => unit.commit().map(drop)?,
            }
        }
        Ok(numbers)
    };
    let mut numbers: Vec<u64> = on_threads(subject.threads(), draw)?.concat();
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    ensure_eq!(numbers.len(), count, "different numbers");
    let next = subject.store().draw(set, 1)?;
    ensure!(numbers.last().is_some_and(|last| next > *last), "a later draw is greater");
    Ok(())
}
