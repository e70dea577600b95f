//! Locks on names, deadlocks, and sets whose locking is the caller's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::subject::{Meeting, NOT_OFFERED, get, number_of, on_threads, parallel, patient, scan};
use super::{Checked, Found, Subject, ensure, ensure_eq, ensure_err};
use store::SetId;
use store::error::{Result, StoreError};
use store::traits::{Cursor, Outcome, Store, Unit, UnitOptions};
use store::{Grant, LockMode, LockName, Read, Wait};
use store::{KeyRange, Position};

use LockMode::{Exclusive, IntentExclusive, IntentShared, Shared, SharedIntentExclusive};

const NAME: LockName<'static> = LockName { space: 1, name: b"PART 02" };
const OTHER: LockName<'static> = LockName { space: 1, name: b"PART 03" };

pub(super) fn modes_are_compatible_as_documented<S: Store>(subject: &Subject<S>) -> Checked {
    for first in LockMode::ALL {
        for second in LockMode::ALL {
            let (mut one, mut two) = (subject.begin()?, subject.begin()?);
            ensure_eq!(one.lock(NAME, first, Wait::No)?, Grant::New, "{first} on a free name");
            let grant = two.lock(NAME, second, Wait::No)?;
            let allowed = first.is_compatible_with(second);
            ensure_eq!(grant.is_held(), allowed, "{second} while another holds {first}");
            ensure_eq!(two.held(NAME).is_some(), allowed, "holding {second} beside {first}");
        }
    }
    Ok(())
}

pub(super) fn a_name_is_held_once_in_the_join_of_its_modes<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let mut unit = subject.begin()?;
    ensure_eq!(unit.held(NAME), None, "before the lock");
    ensure_eq!(unit.lock(NAME, IntentExclusive, Wait::No)?, Grant::New, "first");
    ensure_eq!(unit.lock(NAME, Shared, Wait::No)?, Grant::Again, "second");
    ensure_eq!(unit.held(NAME), Some(SharedIntentExclusive), "the join");
    ensure_eq!(unit.lock(NAME, IntentShared, Wait::No)?, Grant::Again, "a weaker one");
    ensure_eq!(unit.held(NAME), Some(SharedIntentExclusive), "the join stays");
    let mut other = subject.begin()?;
    ensure_eq!(other.lock(NAME, IntentShared, Wait::No)?, Grant::New, "what goes beside it");
    ensure_eq!(unit.lock(NAME, Exclusive, Wait::No)?, Grant::Busy, "a conversion that must wait");
    ensure_eq!(unit.held(NAME), Some(SharedIntentExclusive), "after a refused conversion");
    ensure_eq!(other.lock(NAME, Shared, Wait::No)?, Grant::Busy, "what does not");
    ensure_eq!(other.held(NAME), Some(IntentShared), "after the refusal");
    ensure!(unit.unlock(NAME)?, "given back at once, however often it was locked");
    ensure!(!unit.unlock(NAME)?, "given back already");
    ensure_eq!(other.lock(NAME, Exclusive, Wait::No)?, Grant::Again, "now it is free");
    Ok(())
}

pub(super) fn a_name_given_back_is_free_at_once<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let (mut one, mut two) = (subject.begin()?, subject.begin()?);
    // A scan of a database under record locks: lock, read, give back, and so on.
    for number in 0..100_u32 {
        let bytes = number.to_be_bytes();
        let name = LockName { space: 2, name: &bytes };
        ensure_eq!(one.lock(name, Shared, Wait::No)?, Grant::New, "the next name");
        ensure_eq!(two.lock(name, Exclusive, Wait::No)?, Grant::Busy, "while it is held");
        ensure!(one.unlock(name)?, "it was held");
        ensure_eq!(two.lock(name, Exclusive, Wait::No)?, Grant::New, "once given back");
        one.put(set, &bytes, b"changed meanwhile")?;
    }
    one.commit()?;
    two.commit()?;
    ensure_eq!(subject.contents(set)?.len(), 100, "the changes of the unit of work");
    Ok(())
}

pub(super) fn names_are_free_after_the_unit_of_work<S: Store>(subject: &Subject<S>) -> Checked {
    let ends: [fn(S::Unit) -> Result<()>; 3] = [
        |unit| unit.commit().map(drop),
        Unit::backout,
        |unit| {
            drop(unit);
            Ok(())
        },
    ];
    for end in ends {
        let (mut one, mut two) = (subject.begin()?, subject.begin()?);
        ensure_eq!(one.lock(NAME, Exclusive, Wait::No)?, Grant::New, "a free name");
        let savepoint = one.savepoint()?;
        ensure_eq!(one.lock(OTHER, Exclusive, Wait::No)?, Grant::New, "another");
        one.rollback_to(savepoint)?;
        ensure_eq!(two.lock(OTHER, Exclusive, Wait::No)?, Grant::Busy, "kept over a rollback");
        ensure_eq!(two.lock(NAME, Exclusive, Wait::No)?, Grant::Busy, "while it is held");
        end(one)?;
        ensure_eq!(two.lock(NAME, Exclusive, Wait::No)?, Grant::New, "after the end");
        ensure_eq!(two.lock(OTHER, Exclusive, Wait::No)?, Grant::New, "the other after the end");
    }
    Ok(())
}

pub(super) fn names_are_told_apart_by_space_and_bytes<S: Store>(subject: &Subject<S>) -> Checked {
    let most = subject.store().capabilities().lock_name_bytes_max;
    let long = vec![b'n'; most];
    let set = subject.set_of(&[(b"n", b"value")])?;
    let names: [LockName<'_>; 6] = [
        LockName { space: 1, name: b"n" },
        LockName { space: 2, name: b"n" },
        LockName { space: set.0, name: b"n\0" },
        LockName { space: 1, name: b"" },
        LockName { space: u32::MAX, name: b"n" },
        LockName { space: 1, name: &long },
    ];
    let (mut one, mut two) = (subject.begin()?, subject.begin_impatient()?);
    for name in names {
        ensure_eq!(one.lock(name, Exclusive, Wait::No)?, Grant::New, "{name}");
    }
    for name in names {
        ensure_eq!(two.lock(name, IntentShared, Wait::No)?, Grant::Busy, "{name}, held");
    }
    let same_as_set = LockName { space: set.0, name: b"n" };
    let _ = one.lock(same_as_set, Exclusive, Wait::No)?;
    let seen = get(&mut two, set, b"n", Read::Exclusive)?;
    ensure_eq!(seen, Some(b"value".to_vec()), "a key of the same bytes as a name");
    let longer = vec![b'n'; most + 1];
    let result = one.lock(LockName { space: 1, name: &longer }, Shared, Wait::No);
    ensure_err!(result, StoreError::TooLarge(_), "a name that is too long");
    ensure!(one.failure().is_none(), "the unit of work goes on after it");
    Ok(())
}

pub(super) fn a_waiting_unit_gets_the_name_when_it_is_free<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    for round in 0..subject.rounds().min(20) {
        let mut holder = subject.begin()?;
        ensure_eq!(holder.lock(NAME, Exclusive, Wait::No)?, Grant::New, "a free name");
        let (store, free) = (subject.store().clone(), Arc::new(AtomicBool::new(false)));
        let freed = Arc::clone(&free);
        let clock = Arc::clone(subject.clock());
        let wait = move || -> Found<bool> {
            let mut unit = store.begin(patient())?;
            let grant = unit.lock(NAME, Shared, patient().wait)?;
            ensure_eq!(grant, Grant::New, "the lock that was waited for");
            Ok(freed.load(Ordering::SeqCst))
        };
        let release = move || -> Found<bool> {
            clock.sleep(Duration::from_millis(u64::from(round % 4)));
            free.store(true, Ordering::SeqCst);
            match round % 2 {
                0 => ensure!(holder.unlock(NAME)?, "it was held"),
                _ => holder.commit().map(drop)?,
            }
            Ok(true)
        };
        let wait = Box::new(wait) as Box<dyn FnOnce() -> _ + Send>;
        let seen = parallel(vec![wait, Box::new(release)])?;
        ensure!(seen[0], "the name was granted while another held it");
    }
    Ok(())
}

pub(super) fn a_wait_ends_when_its_time_is_over<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"k", b"v")])?;
    let mut holder = subject.begin()?;
    ensure_eq!(holder.lock(NAME, Exclusive, Wait::No)?, Grant::New, "a free name");
    holder.put(set, b"k", b"w")?;
    let time = Duration::from_millis(20);
    let options = UnitOptions { wait: Wait::AtMost(time), ..patient() };
    let mut unit = subject.store().begin(options)?;
    let start = subject.clock().monotonic();
    ensure_eq!(unit.lock(NAME, Shared, Wait::AtMost(time))?, Grant::Busy, "a lock that is held");
    let waited = subject.clock().monotonic().saturating_sub(start);
    ensure!(waited >= time, "it waited for {waited:?} of {time:?}");
    if subject.store().capabilities().waits {
        let result = get(&mut unit, set, b"k", Read::Shared);
        ensure_err!(result, StoreError::Timeout(_), "a key that is held");
        ensure!(unit.failure().is_none(), "the unit of work goes on after it");
    }
    holder.backout()?;
    let seen = get(&mut unit, set, b"k", Read::Shared)?;
    ensure_eq!(seen, Some(b"v".to_vec()), "the key once it is free");
    ensure_eq!(unit.lock(NAME, Shared, Wait::No)?, Grant::New, "the name once it is free");
    unit.commit()?;
    Ok(())
}

/// Two units of work that each take one thing, meet, and then take the other's. Where both met,
/// one must be chosen to give way and the other must get through.
fn collide<S: Store>(
    subject: &Subject<S>,
    take: impl Fn(&mut S::Unit, usize) -> Result<()> + Send + Sync + 'static,
) -> Checked {
    let (store, meeting) = (subject.store().clone(), Meeting::default());
    let outcomes = on_threads(2, move |who| {
        let mut unit = store.begin(patient())?;
        // A store may lock more than was asked for, so even the first one may have to give way.
        let mut met = false;
        let taken = take(&mut unit, who as usize).and_then(|()| {
            met = meeting.meet(2);
            take(&mut unit, 1 - who as usize)
        });
        match taken {
            Ok(()) => {
                unit.commit()?;
                Ok((met, false))
            }
            Err(StoreError::Deadlock) => {
                let failure = unit.failure();
                ensure!(matches!(failure, Some(StoreError::Deadlock)), "failure is {failure:?}");
                unit.backout()?;
                Ok((met, true))
            }
            Err(error) => Err(error.into()),
        }
    })?;
    let met = outcomes.iter().all(|(met, _)| *met);
    let victims = outcomes.iter().filter(|(_, victim)| *victim).count();
    ensure!(victims < 2, "both units of work were chosen to give way");
    ensure!(victims == 1 || !met, "nobody gave way, but both got through");
    Ok(())
}

fn take_name<U: Unit>(unit: &mut U, name: LockName<'_>) -> Result<()> {
    match unit.lock(name, Exclusive, patient().wait)? {
        Grant::Busy => Err(StoreError::Unavailable("a deadlock over a name was missed".into())),
        _ => Ok(()),
    }
}

pub(super) fn a_deadlock_over_names_has_one_victim<S: Store>(subject: &Subject<S>) -> Checked {
    for _ in 0..5 {
        collide(subject, |unit, which| take_name(unit, [NAME, OTHER][which]))?;
    }
    Ok(())
}

pub(super) fn a_deadlock_over_keys_has_one_victim<S: Store>(subject: &Subject<S>) -> Checked {
    if !subject.store().capabilities().waits {
        return NOT_OFFERED;
    }
    // Not neighbours, and not at an end: their gaps are locked by nobody else.
    const KEYS: [&[u8]; 2] = [b"d", b"t"];
    let set = subject.set()?;
    subject.run(|unit| (b'a'..=b'z').try_for_each(|key| unit.put(set, &[key], b"0")))?;
    collide(subject, move |unit, which| unit.put(set, KEYS[which], b"1"))?;
    ensure_eq!(subject.contents(set)?.len(), 26, "entries after the deadlock");
    collide(subject, move |unit, which| get(unit, set, KEYS[which], Read::Exclusive).map(drop))?;
    collide(subject, move |unit, which| unit.delete(set, KEYS[which]).map(drop))?;
    // Both read the same gap, then both want to fill it.
    let read_then_fill = move |unit: &mut S::Unit, which: usize| match unit.held(NAME) {
        None => {
            let _ = unit.lock(NAME, Shared, Wait::No)?;
            get(unit, set, b"gap", Read::Shared).map(drop)
        }
        Some(_) => unit.put(set, b"gap", &[which as u8]),
    };
    collide(subject, read_then_fill)
}

pub(super) fn a_deadlock_over_a_name_and_a_key_has_one_victim<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    if !subject.store().capabilities().waits {
        return NOT_OFFERED;
    }
    let set = subject.set_of(&[(b"k", b"v")])?;
    for _ in 0..5 {
        collide(subject, move |unit, which| match which {
            0 => take_name(unit, NAME),
            _ => unit.put(set, b"k", b"w"),
        })?;
    }
    Ok(())
}

pub(super) fn nobody_is_the_victim_three_times<S: Store>(subject: &Subject<S>) -> Checked {
    if !subject.store().capabilities().waits {
        return NOT_OFFERED;
    }
    let set = subject.set_of(&[(b"counter", &0_u64.to_be_bytes())])?;
    let (store, rounds) = (subject.store().clone(), subject.rounds());
    on_threads(2, move |_| {
        for _ in 0..rounds {
            let mut options = patient();
            loop {
                let mut unit = store.begin(options)?;
                let value = get(&mut unit, set, b"counter", Read::Shared)?.unwrap_or_default();
                seam::thread::yield_now();
                let next = number_of(&value)? + 1;
                match unit.put(set, b"counter", &next.to_be_bytes()) {
                    Ok(()) => {
                        unit.commit()?;
                        break;
                    }
                    Err(StoreError::Deadlock) => options.victim_count += 1,
                    Err(error) => return Err(error.into()),
                }
                ensure!(options.victim_count < 3, "a unit of work was chosen three times");
            }
        }
        Ok(())
    })?;
    let value = subject.value(set, b"counter")?.unwrap_or_default();
    ensure_eq!(number_of(&value)?, u64::from(rounds) * 2, "the counter");
    Ok(())
}

pub(super) fn a_doomed_unit_repeats_its_error<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let (store, meeting) = (subject.store().clone(), Meeting::default());
    let names = [NAME, OTHER];
    let victims = on_threads(2, move |who| {
        let who = who as usize;
        let mut unit = store.begin(patient())?;
        unit.put(set, &[b'a' + who as u8], b"of the victim, to be undone")?;
        take_name(&mut unit, names[who])?;
        meeting.meet(2);
        match take_name(&mut unit, names[1 - who]) {
            Ok(()) => {
                unit.backout()?;
                return Ok(0);
            }
            Err(StoreError::Deadlock) => (),
            Err(error) => return Err(error.into()),
        }
        let read = get(&mut unit, set, b"x", Read::Unlocked);
        ensure_err!(read, StoreError::Deadlock, "a read");
        ensure_err!(unit.put(set, b"x", b""), StoreError::Deadlock, "a change");
        ensure_err!(unit.savepoint(), StoreError::Deadlock, "a savepoint");
        let lock = unit.lock(names[who], Shared, Wait::No);
        ensure_err!(lock, StoreError::Deadlock, "a lock");
        ensure_err!(unit.commit(), StoreError::Deadlock, "the commit");
        Ok(1)
    })?;
    ensure!(victims.iter().sum::<u32>() <= 1, "both units of work were chosen");
    ensure!(subject.contents(set)?.is_empty(), "what the victim had changed is undone");
    Ok(())
}

pub(super) fn a_set_locked_by_its_callers_makes_nobody_wait<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let Some(set) = subject.callers_set()? else { return NOT_OFFERED };
    let root = |name| LockName { space: 7, name };
    subject.fill(set, &[(b"a1", b"0"), (b"b1", b"0"), (b"c1", b"0")])?;
    let (mut one, mut two) = (subject.begin_impatient()?, subject.begin_impatient()?);
    for (unit, name) in [(&mut one, root(b"a")), (&mut two, root(b"b"))] {
        ensure_eq!(unit.lock(name, Exclusive, Wait::No)?, Grant::New, "the record");
    }
    // Neighbours in the same gap, ranges that touch, a scan up to the other's record.
    one.put(set, b"a3", b"one")?;
    two.put(set, b"b0", b"two")?;
    one.put(set, b"a2", b"one")?;
    ensure_eq!(two.delete(set, b"b1")?, Outcome::Done, "delete");
    ensure_eq!(one.delete_range(set, KeyRange::between(b"a", b"a2"))?, 1, "range delete");
    let seen = scan(subject.store(), &mut one, set, KeyRange::between(b"a", b"b"))?;
    ensure_eq!(seen.len(), 2, "entries of the record");
    ensure_eq!(two.replace(set, b"b0", b"two again")?, Outcome::Done, "replace");
    let mut cursor = subject.store().cursor(set)?;
    cursor.seek(Position::Before(b"b"));
    let entry = two.next(&mut cursor, Read::Exclusive)?;
    let entry = entry.map(|entry| (entry.key.to_vec(), entry.value.to_vec()));
    ensure_eq!(entry, Some((b"b0".to_vec(), b"two again".to_vec())), "a step");
    // It finds the next record before it can lock it, though that is being changed.
    let grant = one.lock(root(b"c"), Exclusive, Wait::No)?;
    ensure_eq!(grant, Grant::New, "another record");
    one.put(set, b"c1", b"one")?;
    let key = two.next(&mut cursor, Read::Exclusive)?.map(|entry| entry.key.to_vec());
    ensure_eq!(key, Some(b"c1".to_vec()), "a step onto the other's record");
    ensure_eq!(two.lock(root(b"c"), Exclusive, Wait::No)?, Grant::Busy, "the other's record");
    one.backout()?;
    two.put(set, b"b2", b"two")?;
    two.commit()?;
    ensure_eq!(subject.keys(set)?, "a1 b0 b2 c1", "one backed out, the other committed");
    ensure_eq!(subject.value(set, b"b0")?, Some(b"two again".to_vec()), "the value");
    ensure_eq!(subject.value(set, b"c1")?, Some(b"0".to_vec()), "what was backed out");
    Ok(())
}

pub(super) fn a_lock_on_a_name_shows_what_its_last_holder_committed<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let Some(set) = subject.callers_set()? else { return NOT_OFFERED };
    let set: SetId = set;
    subject.fill(set, &[(b"k1", b"0"), (b"k2", b"0")])?;
    let mut unit = subject.begin()?;
    let mut cursor = subject.store().cursor(set)?;
    for round in 1..=5_u8 {
        // It has read, perhaps read ahead, before another one changes everything.
        ensure_eq!(unit.lock(NAME, Shared, Wait::No)?, Grant::New, "the record");
        cursor.seek(Position::Front);
        let entry = unit.next(&mut cursor, Read::Shared)?;
        let expected = if round == 1 { b'0' } else { round - 1 };
        ensure_eq!(entry.map(|entry| entry.value.to_vec()), Some(vec![expected]), "before");
        ensure!(unit.unlock(NAME)?, "it was held");
        subject.run(|other| {
            let _ = other.lock(NAME, Exclusive, patient().wait)?;
            other.put(set, b"k1", &[round])?;
            other.put(set, b"k2", &[round])
        })?;
        ensure_eq!(unit.lock(NAME, Shared, Wait::No)?, Grant::New, "the record again");
        let entry = unit.next(&mut cursor, Read::Shared)?;
        let entry = entry.map(|entry| (entry.key.to_vec(), entry.value.to_vec()));
        ensure_eq!(entry, Some((b"k2".to_vec(), vec![round])), "the step after, round {round}");
        let seen = get(&mut unit, set, b"k1", Read::Shared)?;
        ensure_eq!(seen, Some(vec![round]), "the read after, round {round}");
        ensure!(unit.unlock(NAME)?, "it was held");
    }
    unit.commit()?;
    Ok(())
}

pub(super) fn a_walk_under_locks_keeps_what_it_stands_on_alone<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let Some(set) = subject.callers_set()? else { return NOT_OFFERED };
    let set: SetId = set;
    let keys: Vec<[u8; 3]> = (10..90_u8).map(|number| [b'k', b'.', number]).collect();
    subject.run(|unit| keys.iter().try_for_each(|key| unit.put(set, key, b"old")))?;
    fn name(set: SetId, key: &[u8]) -> LockName<'_> {
        LockName { space: set.0, name: key }
    }
    for mode in [Shared, LockMode::Update] {
        let mut walker = subject.begin()?;
        let mut cursor = subject.store().cursor(set)?;
        let mut seen = Vec::new();
        while let Some(entry) = walker.next(&mut cursor, Read::Unlocked)? {
            let key = entry.key.to_vec();
            ensure_eq!(walker.lock_along(&mut cursor, mode)?, Grant::New, "the next record");
            ensure_eq!(walker.lock_along(&mut cursor, mode)?, Grant::Again, "the same record");
            let Some(now) = walker.current(&mut cursor, Read::Unlocked)? else {
                ensure!(walker.unlock(name(set, &key))?, "it was held");
                continue;
            };
            seen.push((key.clone(), now.value.to_vec()));
            if seen.len() == 40 {
                let mut other = subject.begin()?;
                let here = other.lock(name(set, &key), mode.join(LockMode::Update), Wait::No)?;
                ensure_eq!(here.is_held(), mode == Shared, "where the walk stands");
                // What is ahead, and what was given back, is anybody's.
                for at in [5, 45, 50] {
                    let _ = other.lock(name(set, &keys[at]), Exclusive, patient().wait)?;
                }
                other.put(set, &keys[45], b"new")?;
                let _ = other.delete(set, &keys[50])?;
                other.commit()?;
            }
            ensure!(walker.unlock(name(set, &key))?, "it was held");
        }
        walker.commit()?;
        let changed = |key: &[u8]| if *key == keys[45] { &b"new"[..] } else { b"old" };
        let there = keys.iter().filter(|key| **key != keys[50]);
        let expected: Vec<_> = there.map(|key| (key.to_vec(), changed(key).to_vec())).collect();
        ensure_eq!(seen, expected, "the records as they were when they were locked, {mode}");
        subject.run(|unit| {
            unit.put(set, &keys[45], b"old")?;
            unit.put(set, &keys[50], b"old")
        })?;
    }
    Ok(())
}
