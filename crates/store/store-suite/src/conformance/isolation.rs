//! Isolation in sets that the store locks: the anomalies by name, and the claims of queues.
//!
//! Most checks let two units of work do the halves of an anomaly together, and look at what they
//! leave behind; whether the store makes one wait or fail is its own business.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::subject::Change;
use super::subject::{
    Meeting, NOT_OFFERED, get, keeps_apart, number_of, on_threads, parallel, patient, scan,
};
use super::{Checked, Found, Subject, ensure, ensure_eq};
use crate::rng::Rng;
use store::Read;
use store::SetId;
use store::error::{Result, StoreError};
use store::traits::{Cursor, Outcome, Store, Unit};
use store::{KeyRange, Position};

pub(super) fn nobody_sees_what_is_not_committed<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"changed", b"old"), (b"deleted", b"old"), (b"kept", b"old")])?;
    let mut writer = subject.begin()?;
    writer.put(set, b"changed", b"new")?;
    writer.put(set, b"added", b"new")?;
    ensure_eq!(writer.delete(set, b"deleted")?, Outcome::Done, "delete");
    let probes: [(&[u8], Option<&[u8]>); 4] = [
        (b"changed", Some(b"old")),
        (b"added", None),
        (b"deleted", Some(b"old")),
        (b"kept", Some(b"old")),
    ];
    for (key, before) in probes {
        for read in [Read::Shared, Read::Update, Read::Exclusive] {
            let mut reader = subject.begin_impatient()?;
            match get(&mut reader, set, key, read) {
                Ok(seen) => ensure_eq!(seen.as_deref(), before, "{read:?} of {key:?}"),
                Err(error) => ensure!(keeps_apart(&error), "a read failed oddly: {error}"),
            }
        }
    }
    let mut reader = subject.begin_impatient()?;
    let mut cursor = subject.store().cursor(set)?;
    loop {
        match reader.next(&mut cursor, Read::Shared) {
            Ok(Some(entry)) => ensure_eq!(entry.value, &b"old"[..], "entry {:?}", entry.key),
            Ok(None) => break,
            Err(error) => {
                ensure!(keeps_apart(&error), "a step failed oddly: {error}");
                break;
            }
        }
    }
    drop(reader);
    writer.commit()?;
    ensure_eq!(subject.keys(set)?, "added changed kept", "what is there after the commit");
    Ok(())
}

pub(super) fn an_unlocked_read_never_waits<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"a", b"old"), (b"b", b"old")])?;
    let uncommitted = subject.store().capabilities().reads_uncommitted;
    let mut writer = subject.begin()?;
    writer.put(set, b"a", b"new")?;
    writer.put(set, b"c", b"new")?;
    let allowed = |value: &[u8]| value == b"old" || value == b"new" && uncommitted;
    let mut reader = subject.begin_impatient()?;
    let seen = get(&mut reader, set, b"a", Read::Unlocked)?;
    ensure!(seen.as_deref().is_some_and(allowed), "an unlocked read saw {seen:?}");
    let seen = get(&mut reader, set, b"c", Read::Unlocked)?;
    ensure!(seen.as_deref().is_none_or(allowed), "an unlocked read saw {seen:?}");
    let mut cursor = subject.store().cursor(set)?;
    while let Some(entry) = reader.next(&mut cursor, Read::Unlocked)? {
        ensure!(allowed(entry.value), "an unlocked step saw {entry:?}");
    }
    cursor.seek(Position::Back);
    while let Some(entry) = reader.previous(&mut cursor, Read::Unlocked)? {
        ensure!(allowed(entry.value), "an unlocked step back saw {entry:?}");
    }
    reader.commit()?;
    writer.backout()?;
    ensure_eq!(subject.keys(set)?, "a b", "what is there after the backout");
    Ok(())
}

pub(super) fn what_was_read_stays_as_it_was_read<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"a", b"1"), (b"c", b"1")])?;
    let mut reader = subject.begin()?;
    let before = scan(subject.store(), &mut reader, set, KeyRange::ALL)?;
    // Each of these changes what was read; it has to wait, to fail, or to come later in the order.
    let changes: [Change<S>; 4] = [
        |unit, set| unit.put(set, b"a", b"2"),
        |unit, set| unit.put(set, b"b", b"2"),
        |unit, set| unit.delete(set, b"c").map(drop),
        |unit, set| unit.delete_range(set, KeyRange::from(b"b")).map(drop),
    ];
    for change in changes {
        let mut writer = subject.begin_impatient()?;
        let written = change(&mut writer, set).and_then(|()| writer.commit());
        if let Err(error) = written {
            ensure!(keeps_apart(&error), "a change failed oddly: {error}");
        }
        match scan(subject.store(), &mut reader, set, KeyRange::ALL) {
            Ok(again) => ensure_eq!(again, before, "the second read"),
            Err(error) => ensure!(error.is_retryable(), "the second read failed oddly: {error}"),
        }
    }
    match reader.commit() {
        Ok(_) => Ok(()),
        Err(error) if error.is_retryable() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn increments_are_not_lost<S: Store>(subject: &Subject<S>) -> Checked {
    for read in [Read::Shared, Read::Update, Read::Exclusive] {
        let set = subject.set_of(&[(b"counter", &0_u64.to_be_bytes())])?;
        let (store, rounds) = (subject.store().clone(), subject.rounds());
        on_threads(subject.threads(), move |_| {
            for _ in 0..rounds {
                store::run(&store, patient(), |unit| -> Found<()> {
                    let value = get(unit, set, b"counter", read)?.unwrap_or_default();
                    seam::thread::yield_now();
                    let next = number_of(&value)? + 1;
                    Ok(unit.put(set, b"counter", &next.to_be_bytes())?)
                })?;
            }
            Ok(())
        })?;
        let value = subject.value(set, b"counter")?.unwrap_or_default();
        let expected = u64::from(rounds) * u64::from(subject.threads());
        ensure_eq!(number_of(&value)?, expected, "the counter, incremented by {read:?} reads");
    }
    Ok(())
}

/// Two units of work that each look at something, meet, and then, if what they saw allows it,
/// change what the other looked at. Answers whether each of them did. Serializable units of work
/// cannot both do it.
fn crosswise<S: Store>(
    subject: &Subject<S>,
    allows: impl Fn(&S, &mut S::Unit, u32) -> Result<bool> + Send + Sync + 'static,
    change: impl Fn(&mut S::Unit, u32) -> Result<()> + Send + Sync + 'static,
) -> Found<u32> {
    let store = subject.store().clone();
    let meeting = Meeting::default();
    let changed = on_threads(2, move |who| {
        let mut first_try = true;
        let changed = store::run(&store, patient(), |unit| -> Result<bool> {
            let allowed = allows(&store, unit, who)?;
            if std::mem::take(&mut first_try) {
                meeting.meet(2);
            }
            if allowed {
                change(unit, who)?;
            }
            Ok(allowed)
        })?;
        Ok(u32::from(changed))
    })?;
    Ok(changed.into_iter().sum())
}

pub(super) fn crosswise_writes_do_not_both_commit<S: Store>(subject: &Subject<S>) -> Checked {
    const KEYS: [&[u8]; 2] = [b"x", b"y"];
    for round in 0..subject.rounds().min(20) {
        let set = subject.set_of(&[(KEYS[0], b"1"), (KEYS[1], b"1")])?;
        let by_cursor = round % 2 == 1;
        let both_there = move |store: &S, unit: &mut S::Unit, who: u32| -> Result<bool> {
            if by_cursor {
                let entries = scan(store, unit, set, KeyRange::ALL)?;
                return Ok(entries.iter().all(|(_, value)| value == b"1"));
            }
            let mine = get(unit, set, KEYS[who as usize], Read::Shared)?;
            let other = get(unit, set, KEYS[1 - who as usize], Read::Shared)?;
            Ok(mine == other && mine.as_deref() == Some(b"1"))
        };
        let clear = move |unit: &mut S::Unit, who: u32| unit.put(set, KEYS[who as usize], b"0");
        let changed = crosswise(subject, both_there, clear)?;
        ensure_eq!(changed, 1, "how many found both set and cleared one, in round {round}");
    }
    Ok(())
}

pub(super) fn a_range_that_was_read_gains_no_entry<S: Store>(subject: &Subject<S>) -> Checked {
    // The range lies in an empty set, in front of all entries, between two, and behind all.
    let surroundings: [&[&[u8]]; 4] = [&[], &[b"x"], &[b"a", b"x"], &[b"a", b"b"]];
    for around in surroundings {
        for (backward, limited) in [(false, true), (true, true), (false, false)] {
            let set = subject.set()?;
            subject.run(|unit| around.iter().try_for_each(|key| unit.put(set, key, b"")))?;
            let no_entry = move |store: &S, unit: &mut S::Unit, _: u32| -> Result<bool> {
                let mut cursor = store.cursor(set)?;
                if limited {
                    cursor.limit(KeyRange::between(b"m", b"n"));
                }
                cursor.seek(if backward { Position::Back } else { Position::Before(b"m") });
                let entry = match backward {
                    true => unit.previous(&mut cursor, Read::Shared)?,
                    false => unit.next(&mut cursor, Read::Shared)?,
                };
                Ok(entry.is_none_or(|entry| entry.key[0] != b'm'))
            };
            let add = move |unit: &mut S::Unit, who: u32| unit.put(set, &[b'm', who as u8], b"");
            let changed = crosswise(subject, no_entry, add)?;
            ensure_eq!(
                changed,
                1,
                "how many found the range empty and added to it, among {around:?}, backward \
                 {backward}, limited {limited}"
            );
        }
    }
    Ok(())
}

pub(super) fn an_absent_key_that_was_read_stays_absent<S: Store>(subject: &Subject<S>) -> Checked {
    for (round, neighbours) in [&[][..], &[&b"a"[..]], &[b"z"], &[b"a", b"z"]].iter().enumerate() {
        let set = subject.set()?;
        subject.run(|unit| neighbours.iter().try_for_each(|key| unit.put(set, key, b"")))?;
        let absent = move |_: &S, unit: &mut S::Unit, _: u32| -> Result<bool> {
            Ok(get(unit, set, b"key", Read::Shared)?.is_none())
        };
        let insert = move |unit: &mut S::Unit, who: u32| unit.put(set, b"key", &[who as u8]);
        let changed = crosswise(subject, absent, insert)?;
        ensure_eq!(changed, 1, "how many found the key absent and added it, round {round}");
        // The refusal of a change is a read as well.
        let set = subject.set()?;
        subject.run(|unit| neighbours.iter().try_for_each(|key| unit.put(set, key, b"")))?;
        let own: [&[u8]; 2] = [b"m", b"n"];
        let refused = move |_: &S, unit: &mut S::Unit, who: u32| -> Result<bool> {
            Ok(unit.delete(set, own[1 - who as usize])? == Outcome::Absent)
        };
        let insert = move |unit: &mut S::Unit, who: u32| unit.put(set, own[who as usize], b"");
        let changed = crosswise(subject, refused, insert)?;
        ensure_eq!(changed, 1, "how many could not delete the other's key, round {round}");
    }
    Ok(())
}

pub(super) fn a_range_that_was_deleted_gains_no_entry<S: Store>(subject: &Subject<S>) -> Checked {
    for entries in [&[][..], &[(&b"a"[..], &b""[..]), (b"x", b"")]] {
        let set = subject.set_of(entries)?;
        let mark = subject.set()?;
        // One finds nothing to delete and notes that; the other finds no note and adds an entry.
        let look = move |_: &S, unit: &mut S::Unit, who: u32| -> Result<bool> {
            match who {
                0 => Ok(unit.delete_range(set, KeyRange::between(b"m", b"n"))? == 0),
                _ => Ok(get(unit, mark, b"none", Read::Shared)?.is_none()),
            }
        };
        let change = move |unit: &mut S::Unit, who: u32| match who {
            0 => unit.put(mark, b"none", b""),
            _ => unit.put(set, b"mm", b""),
        };
        let changed = crosswise(subject, look, change)?;
        ensure_eq!(changed, 1, "how many acted on an empty range and on a missing note");
    }
    Ok(())
}

pub(super) fn totals_survive_transfers<S: Store>(subject: &Subject<S>) -> Checked {
    const ACCOUNTS: usize = 8;
    const EACH: u64 = 100;
    let set = subject.set()?;
    let account = |number: usize| [b'a', number as u8];
    subject.run(|unit| {
        (0..ACCOUNTS).try_for_each(|n| unit.put(set, &account(n), &EACH.to_be_bytes()))
    })?;
    let (store, rounds, chance) = (subject.store().clone(), subject.rounds(), subject.chance());
    let total = move |store: &S, unit: &mut S::Unit| -> Found<u64> {
        let entries = scan(store, unit, set, KeyRange::ALL)?;
        entries.iter().map(|(_, value)| number_of(value)).sum()
    };
    on_threads(subject.threads(), move |who| {
        let mut chance = Rng::new(chance.clone().next() + u64::from(who));
        for _ in 0..rounds {
            if chance.once_in(4) {
                let seen = store::run(&store, patient(), |unit| total(&store, unit))?;
                ensure_eq!(seen, EACH * ACCOUNTS as u64, "a total read among transfers");
                continue;
            }
            let (from, to) = (chance.below(ACCOUNTS), chance.below(ACCOUNTS));
            let read = if chance.once_in(2) { Read::Shared } else { Read::Update };
            store::run(&store, patient(), |unit| -> Found<()> {
                for (number, change) in [(from, -1_i64), (to, 1)] {
                    let key = account(number);
                    let value = get(unit, set, &key, read)?.unwrap_or_default();
                    let value = number_of(&value)?.wrapping_add_signed(change);
                    unit.put(set, &key, &value.to_be_bytes())?;
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;
    let seen = subject.contents(set)?.values().map(|value| number_of(value)).sum();
    let seen: Found<u64> = seen;
    ensure_eq!(seen?, EACH * ACCOUNTS as u64, "the total in the end");
    Ok(())
}

pub(super) fn intending_updaters_do_not_deadlock<S: Store>(subject: &Subject<S>) -> Checked {
    if !subject.store().capabilities().waits {
        return NOT_OFFERED;
    }
    let set = subject.set_of(&[(b"counter", &0_u64.to_be_bytes())])?;
    let (store, rounds) = (subject.store().clone(), subject.rounds());
    on_threads(subject.threads(), move |who| {
        for round in 0..rounds {
            let mut unit = store.begin(patient())?;
            let value = if (who + round) % 2 == 0 {
                get(&mut unit, set, b"counter", Read::Update)?.unwrap_or_default()
            } else {
                let mut cursor = store.cursor(set)?;
                let entry = unit.next(&mut cursor, Read::Update)?;
                entry.map(|entry| entry.value.to_vec()).unwrap_or_default()
            };
            let next = number_of(&value)? + 1;
            unit.put(set, b"counter", &next.to_be_bytes())?;
            unit.commit()?;
        }
        Ok(())
    })?;
    let value = subject.value(set, b"counter")?.unwrap_or_default();
    let expected = u64::from(rounds) * u64::from(subject.threads());
    ensure_eq!(number_of(&value)?, expected, "the counter");
    Ok(())
}

pub(super) fn claimed_entries_go_to_one_unit_each<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    let count = subject.rounds() * 3;
    let key = |number: u32| number.to_be_bytes();
    subject.run(|unit| (0..count).try_for_each(|number| unit.put(set, &key(number), b"m")))?;
    let (store, chance) = (subject.store().clone(), subject.chance());
    let taken = on_threads(subject.threads(), move |who| {
        let mut chance = Rng::new(chance.clone().next() + u64::from(who));
        let mut taken = Vec::new();
        loop {
            let mut unit = store.begin(patient())?;
            let mut cursor = store.cursor(set)?;
            let claimed = unit.claim_next(&mut cursor)?.map(|entry| entry.key.to_vec());
            let Some(key) = claimed else { return Ok(taken) };
            ensure_eq!(unit.delete_at(&mut cursor)?, Outcome::Done, "deleting what was claimed");
            if chance.once_in(5) {
                unit.backout()?;
                continue;
            }
            match unit.commit() {
                Ok(_) => taken.push(key),
                Err(error) => ensure!(error.is_retryable(), "a commit failed oddly: {error}"),
            }
        }
    })?;
    let mut taken: Vec<Vec<u8>> = taken.into_iter().flatten().collect();
    let left = subject.contents(set)?.into_keys();
    taken.extend(left);
    taken.sort();
    let expected: Vec<Vec<u8>> = (0..count).map(|number| key(number).to_vec()).collect();
    ensure_eq!(taken, expected, "what was taken or is left");
    Ok(())
}

pub(super) fn a_claim_passes_over_what_is_locked<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set_of(&[(b"a", b""), (b"b", b""), (b"c", b""), (b"d", b"")])?;
    let claim = |unit: &mut S::Unit| -> Found<String> {
        let mut cursor = subject.store().cursor(set)?;
        let entry = unit.claim_next(&mut cursor)?;
        Ok(entry.map_or("-".into(), |entry| String::from_utf8_lossy(entry.key).into_owned()))
    };
    let mut adder = subject.begin()?;
    adder.put(set, b"0", b"not committed")?;
    let (mut first, mut second) = (subject.begin_impatient()?, subject.begin_impatient()?);
    ensure_eq!(claim(&mut first)?, "a", "the first claim, past what is not committed");
    ensure_eq!(claim(&mut second)?, "b", "the second claim, past the first");
    ensure_eq!(first.delete(set, b"a")?, Outcome::Done, "deleting what was claimed");
    let mut third = subject.begin_impatient()?;
    let mut cursor = subject.store().cursor(set)?;
    for expected in ["c", "d"] {
        let entry = third.claim_next(&mut cursor)?.map(|entry| entry.key.to_vec());
        ensure_eq!(entry.as_deref(), Some(expected.as_bytes()), "claims one after another");
    }
    ensure!(third.claim_next(&mut cursor)?.is_none(), "nothing is left to claim");
    ensure_eq!(cursor.key(), Some(&b"d"[..]), "the place after a claim of nothing");
    first.backout()?;
    adder.commit()?;
    let mut fourth = subject.begin_impatient()?;
    ensure_eq!(claim(&mut fourth)?, "0", "what is committed by now");
    ensure_eq!(fourth.delete(set, b"0")?, Outcome::Done, "deleting it");
    ensure_eq!(claim(&mut fourth)?, "a", "what was given back");
    for unit in [second, third, fourth] {
        unit.commit()?;
    }
    ensure_eq!(subject.keys(set)?, "a b c d", "what is there in the end");
    lost_wakeups(subject, set)
}

/// Those who wait for a claimed entry by reading it get it when it is free.
fn lost_wakeups<S: Store>(subject: &Subject<S>, set: SetId) -> Checked {
    if !subject.store().capabilities().waits {
        return NOT_OFFERED;
    }
    let mut holder = subject.begin()?;
    let mut cursor = subject.store().cursor(set)?;
    ensure!(holder.claim_next(&mut cursor)?.is_some(), "an entry to claim");
    holder.replace_at(&mut cursor, b"by the holder").map(drop)?;
    let (store, asked) = (subject.store().clone(), Arc::new(AtomicU32::new(0)));
    let clock = Arc::clone(subject.clock());
    let asking = Arc::clone(&asked);
    let wait = move || -> Found<Option<Vec<u8>>> {
        let mut unit = store.begin(patient())?;
        asking.store(1, Ordering::SeqCst);
        Ok(get(&mut unit, set, b"a", Read::Shared)?)
    };
    let release = move || -> Found<Option<Vec<u8>>> {
        while asked.load(Ordering::SeqCst) == 0 {
            clock.sleep(std::time::Duration::from_millis(1));
        }
        holder.commit().map_err(|error: StoreError| error.into()).map(|_| None)
    };
    let seen = parallel(vec![Box::new(wait) as Box<dyn FnOnce() -> _ + Send>, Box::new(release)])?;
    ensure_eq!(seen[0].as_deref(), Some(&b"by the holder"[..]), "what the waiter saw");
    Ok(())
}
