//! Random calls by one unit of work after another, compared with a map.

use std::collections::BTreeMap;

use super::subject::get;
use super::{Checked, Subject, ensure_eq};
use crate::rng::Rng;
use store::Read;
use store::SetId;
use store::traits::{Cursor, Outcome, Savepoint, Store, Unit};
use store::{KeyRange, Position};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

pub(super) fn random_calls_agree_with_a_map<S: Store>(subject: &Subject<S>) -> Checked {
    // Few different short keys, so that calls meet.
    let key = |chance: &mut Rng| {
        let len = chance.below(3);
        (0..len).map(|_| b"\x00ab\xff"[chance.below(4)]).collect()
    };
    let value = |chance: &mut Rng| vec![chance.next() as u8; chance.below(20)];
    random_calls(subject, &Shapes { key: &key, value: &value })
}

pub(super) fn random_calls_on_long_keys_and_values_agree_with_a_map<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let most = subject.store().capabilities().clone();
    let key_max = most.key_bytes_max.min(1_500);
    let value_max = most.value_bytes_max.min(20_000);
    let key = move |chance: &mut Rng| {
        let len = if chance.once_in(4) { chance.below(key_max + 1) } else { 300.min(key_max) };
        let mut key = vec![b'k'; len];
        // Keys differ late, or early.
        let at = if chance.once_in(2) { len.saturating_sub(2) } else { 0 };
        key[at..].iter_mut().take(2).for_each(|byte| *byte = b'a' + chance.below(10) as u8);
        key
    };
    let value = move |chance: &mut Rng| {
        let most = if chance.once_in(8) { value_max } else { 200.min(value_max) };
        vec![chance.next() as u8; chance.below(most + 1)]
    };
    random_calls(subject, &Shapes { key: &key, value: &value })
}

/// How keys and values look.
struct Shapes<'a> {
    key: &'a dyn Fn(&mut Rng) -> Vec<u8>,
    value: &'a dyn Fn(&mut Rng) -> Vec<u8>,
}

/// What the store should hold.
struct Expected {
    committed: BTreeMap<SetId, Map>,
    current: BTreeMap<SetId, Map>,
    savepoints: Vec<(Savepoint, BTreeMap<SetId, Map>)>,
}

fn random_calls<S: Store>(subject: &Subject<S>, shapes: &Shapes<'_>) -> Checked {
    let mut chance = subject.chance();
    let mut sets = vec![subject.set()?, subject.set()?];
    sets.extend(subject.callers_set()?);
    let maps: BTreeMap<SetId, Map> = sets.iter().map(|set| (*set, Map::new())).collect();
    let mut expected = Expected { committed: maps.clone(), current: maps, savepoints: Vec::new() };
    let mut cursors = Vec::new();
    for set in &sets {
        cursors.push(subject.store().cursor(*set)?);
    }
    for _ in 0..subject.rounds() {
        let mut unit = subject.begin()?;
        for _ in 0..chance.below(60) {
            let at = chance.below(sets.len());
            match chance.below(20) {
                0..=8 => change(&mut unit, sets[at], &mut expected, shapes, &mut chance)?,
                9..=11 => look(&mut unit, sets[at], &expected, shapes, &mut chance)?,
                12..=18 => step(&mut unit, &mut cursors[at], &mut expected, shapes, &mut chance)?,
                _ => savepoints(&mut unit, &mut expected, &mut chance)?,
            }
        }
        if chance.once_in(3) {
            unit.backout()?;
            expected.current = expected.committed.clone();
        } else {
            unit.commit()?;
            expected.committed = expected.current.clone();
        }
        expected.savepoints.clear();
        let set = sets[chance.below(sets.len())];
        ensure_eq!(subject.contents(set)?, expected.committed[&set], "{set} after a unit of work");
    }
    Ok(())
}

fn read_of(chance: &mut Rng) -> Read {
    [Read::Unlocked, Read::Shared, Read::Update, Read::Exclusive][chance.below(4)]
}

/// A key: often one that is there.
fn some_key(map: &Map, shapes: &Shapes<'_>, chance: &mut Rng) -> Vec<u8> {
    if !map.is_empty() && chance.once_in(2) {
        let at = chance.below(map.len());
        return map.keys().nth(at).cloned().unwrap_or_default();
    }
    (shapes.key)(chance)
}

fn change<U: Unit>(
    unit: &mut U,
    set: SetId,
    expected: &mut Expected,
    shapes: &Shapes<'_>,
    chance: &mut Rng,
) -> Checked {
    let map = expected.current.get_mut(&set).expect("every set has its map");
    let (key, value) = (some_key(map, shapes, chance), (shapes.value)(chance));
    let there = map.contains_key(&key);
    match chance.below(9) {
        0..=2 => {
            let outcome = if there { Outcome::Exists } else { Outcome::Done };
            ensure_eq!(unit.insert(set, &key, &value)?, outcome, "insert");
            map.entry(key).or_insert(value);
        }
        3 | 4 => {
            let outcome = if there { Outcome::Done } else { Outcome::Absent };
            ensure_eq!(unit.replace(set, &key, &value)?, outcome, "replace");
            map.entry(key).and_modify(|old| *old = value);
        }
        5 | 6 => {
            unit.put(set, &key, &value)?;
            map.insert(key, value);
        }
        7 => {
            let outcome = if there { Outcome::Done } else { Outcome::Absent };
            ensure_eq!(unit.delete(set, &key)?, outcome, "delete");
            map.remove(&key);
        }
        _ => {
            let to = some_key(map, shapes, chance);
            let range = KeyRange::between(&key, &to);
            let doomed = map.keys().filter(|key| range.contains(key)).count();
            // Large ranges only now and then, or the sets stay empty.
            if doomed < 4 || chance.once_in(4) {
                ensure_eq!(unit.delete_range(set, range)?, doomed as u64, "range delete");
                map.retain(|key, _| !range.contains(key));
            }
        }
    }
    Ok(())
}

fn look<U: Unit>(
    unit: &mut U,
    set: SetId,
    expected: &Expected,
    shapes: &Shapes<'_>,
    chance: &mut Rng,
) -> Checked {
    let map = &expected.current[&set];
    let key = some_key(map, shapes, chance);
    let seen = get(unit, set, &key, read_of(chance))?;
    ensure_eq!(seen.as_ref(), map.get(&key), "the value of {}", key.escape_ascii());
    Ok(())
}

fn step<U: Unit>(
    unit: &mut U,
    cursor: &mut U::Cursor,
    expected: &mut Expected,
    shapes: &Shapes<'_>,
    chance: &mut Rng,
) -> Checked {
    let map = expected.current.get_mut(&cursor.set()).expect("every set has its map");
    if chance.once_in(5) {
        let (from, to) = (some_key(map, shapes, chance), some_key(map, shapes, chance));
        let range = KeyRange { from: &from, to: chance.once_in(2).then_some(&to) };
        cursor.limit(if chance.once_in(2) { KeyRange::ALL } else { range });
        // The check below has to know the limits: the walk takes all steps there are.
        return walk(unit, cursor, map, if chance.once_in(2) { range } else { KeyRange::ALL });
    }
    cursor.limit(KeyRange::ALL);
    if chance.once_in(3) {
        let key = some_key(map, shapes, chance);
        let places = [Position::Before(&key), Position::On(&key), Position::After(&key)];
        let ends = [Position::Front, Position::Back];
        cursor.seek(if chance.once_in(6) {
            ends[chance.below(2)]
        } else {
            places[chance.below(3)]
        });
    }
    if let Some(key) = cursor.key().map(<[u8]>::to_vec).filter(|_| chance.once_in(4)) {
        let there = if map.contains_key(&key) { Outcome::Done } else { Outcome::Absent };
        let value = (shapes.value)(chance);
        if chance.once_in(3) {
            ensure_eq!(unit.delete_at(cursor)?, there, "delete at a cursor");
            map.remove(&key);
        } else {
            ensure_eq!(unit.replace_at(cursor, &value)?, there, "replace at a cursor");
            map.entry(key).and_modify(|old| *old = value);
        }
        return Ok(());
    }
    let forward = chance.once_in(2);
    let wanted = neighbour(map, cursor.position(), forward);
    let wanted = wanted.map(|(key, value)| (key.clone(), value.clone()));
    let read = read_of(chance);
    let seen = if forward { unit.next(cursor, read)? } else { unit.previous(cursor, read)? };
    let seen = seen.map(|entry| (entry.key.to_vec(), entry.value.to_vec()));
    ensure_eq!(seen, wanted, "a step, forward {forward}");
    Ok(())
}

/// All steps forward through a range, whatever limits the cursor had before.
fn walk<U: Unit>(unit: &mut U, cursor: &mut U::Cursor, map: &Map, range: KeyRange<'_>) -> Checked {
    cursor.limit(range);
    cursor.seek(Position::Front);
    let mut wanted = map.iter().filter(|(key, _)| range.contains(key));
    while let Some(entry) = unit.next(cursor, Read::Shared)? {
        let wanted = wanted.next().map(|(key, value)| (&key[..], &value[..]));
        ensure_eq!(Some((entry.key, entry.value)), wanted, "a step within {range:?}");
    }
    ensure_eq!(wanted.next(), None, "what the walk through {range:?} left out");
    Ok(())
}

fn neighbour<'a>(
    map: &'a Map,
    place: Position<'_>,
    forward: bool,
) -> Option<(&'a Vec<u8>, &'a Vec<u8>)> {
    let before = |key: &[u8]| match place {
        Position::Front => false,
        Position::Before(at) | Position::On(at) => key < at,
        Position::After(at) => key <= at,
        Position::Back => true,
    };
    let on = |key: &[u8]| matches!(place, Position::On(at) if key == at);
    match forward {
        true => map.iter().find(|(key, _)| !before(key) && !on(key)),
        false => map.iter().rfind(|(key, _)| before(key)),
    }
}

fn savepoints<U: Unit>(unit: &mut U, expected: &mut Expected, chance: &mut Rng) -> Checked {
    if expected.savepoints.is_empty() || chance.once_in(2) {
        if expected.savepoints.len() < 8 {
            expected.savepoints.push((unit.savepoint()?, expected.current.clone()));
        }
        return Ok(());
    }
    let at = chance.below(expected.savepoints.len());
    unit.rollback_to(expected.savepoints[at].0)?;
    expected.current = expected.savepoints[at].1.clone();
    expected.savepoints.truncate(at + 1);
    Ok(())
}
