//! A tree against a BTreeMap: random changes in units of work that commit, back out, or go back
//! to a savepoint, with scans either way in between.
#![allow(clippy::unwrap_used)] // a test stops where something is not as it should be

use std::collections::BTreeMap;

use crate::common::System;
use holdfast_btree::{Bound, Cursor, Inserted};
use seam::sim::{self, Rng, SimConfig, SimDisk};
use uow::Uow;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Keys of several shapes, so few that they meet again.
fn key(rng: &mut Rng, key_bytes_max: usize) -> Vec<u8> {
    match rng.index(10) {
        0..=3 => format!("{:06}", rng.below(2_000)).into_bytes(),
        4..=6 => {
            let (root, child) = (rng.below(50), rng.below(100));
            format!("customer{root:04}/order{child:05}").into_bytes()
        }
        7 => vec![b'l'; rng.index(key_bytes_max + 1)],
        8 => {
            let mut key = vec![b'm'; key_bytes_max];
            key[key_bytes_max - 1] = rng.below(20) as u8;
            key
        }
        _ => vec![rng.below(4) as u8; rng.index(4)],
    }
}

fn value(rng: &mut Rng, usable_bytes: usize) -> Vec<u8> {
    let len = match rng.index(40) {
        0..=19 => rng.index(60),
        20..=33 => rng.index(300),
        34..=38 => rng.index(usable_bytes / 4 + 1),
        _ => rng.index(usable_bytes * 5),
    };
    let byte = rng.below(256) as u8;
    (0..len).map(|at| byte.wrapping_add(at as u8)).collect()
}

fn bound<'a>(rng: &mut Rng, key: &'a [u8]) -> Bound<'a> {
    match rng.index(12) {
        0 => Bound::End,
        1..=5 => Bound::Behind(key),
        _ => Bound::At(key),
    }
}

fn range(model: &Model, from: Bound<'_>, to: Bound<'_>) -> Vec<Vec<u8>> {
    let behind = |bound: Bound<'_>, key: &[u8]| match bound {
        Bound::At(at) => key >= at,
        Bound::Behind(at) => key > at,
        Bound::End => false,
    };
    model.keys().filter(|key| behind(from, key) && !behind(to, key)).cloned().collect()
}

fn change(rng: &mut Rng, system: &System, uow: &mut Uow, model: &mut Model) {
    let tree = system.tree();
    let usable = system.set.usable_bytes();
    let key = key(rng, tree.key_bytes_max());
    match rng.index(20) {
        0..=7 => {
            let value = value(rng, usable);
            let there = tree.put(uow, &key, &value).unwrap();
            assert_eq!(there, model.insert(key, value).is_some());
        }
        8..=10 => {
            let value = value(rng, usable);
            let inserted = tree.insert(uow, &key, &value).unwrap();
            let there = model.contains_key(&key);
            assert_eq!(inserted, if there { Inserted::Duplicate } else { Inserted::Yes });
            model.entry(key).or_insert(value);
        }
        11..=12 => {
            let value = value(rng, usable);
            assert_eq!(tree.replace(uow, &key, &value).unwrap(), model.contains_key(&key));
            if let Some(old) = model.get_mut(&key) {
                *old = value;
            }
        }
        13 => {
            let other = self::key(rng, tree.key_bytes_max());
            let (from, to) = (bound(rng, &key), bound(rng, &other));
            let gone = range(model, from, to);
            // Large ranges now and then only, so that there is something to remove.
            if gone.len() < 40 || rng.index(8) == 0 {
                assert_eq!(tree.remove_range(uow, from, to).unwrap(), gone.len() as u64);
                gone.iter().for_each(|key| assert!(model.remove(key).is_some()));
            }
        }
        _ => {
            assert_eq!(tree.remove(uow, &key).unwrap(), model.remove(&key).is_some());
        }
    }
}

fn look(rng: &mut Rng, system: &System, model: &Model) {
    let tree = system.tree();
    let key = key(rng, tree.key_bytes_max());
    let mut seen = Vec::new();
    let found = tree.get(&key, &mut seen).unwrap();
    assert_eq!(found.then_some(&seen), model.get(&key));
    let above = (std::ops::Bound::Excluded(key.clone()), std::ops::Bound::Unbounded);
    let next = model.range(above).next().map(|(key, _)| key);
    let look = tree.look(&key, &mut seen).unwrap();
    assert_eq!((look.found, look.has_next), (found, next.is_some()));
    assert_eq!(look.has_next.then_some(&seen), next);
}

/// Steps about at random; the cursor and a place in the model must agree.
fn wander(rng: &mut Rng, system: &System, model: &Model, cursor: &mut Cursor) {
    let tree = system.tree();
    let start = key(rng, tree.key_bytes_max());
    let bound = bound(rng, &start);
    cursor.seek(bound);
    // Where the model stands: so many records are before the place, and whether it is on one.
    let keys: Vec<&Vec<u8>> = model.keys().collect();
    let behind = range(model, bound, Bound::End).len();
    let (mut place, mut on) = (keys.len() - behind, false);
    for _ in 0..rng.index(60) {
        let forward = rng.index(3) > 0;
        let target = match (forward, on) {
            (true, true) => Some(place + 1),
            (true, false) => Some(place),
            (false, _) => place.checked_sub(1),
        };
        let target = target.filter(|target| *target < keys.len());
        let stepped = if forward { cursor.next(&tree) } else { cursor.previous(&tree) };
        assert_eq!(stepped.unwrap(), target.is_some());
        let Some(target) = target else { continue };
        assert_eq!(cursor.key(), keys[target]);
        assert_eq!(cursor.value(), &model[keys[target]][..]);
        assert_eq!(cursor.value_len(), model[keys[target]].len());
        if rng.index(10) == 0 {
            cursor.retry();
            continue;
        }
        (place, on) = (target, true);
    }
}

fn scan(system: &System, model: &Model) {
    let tree = system.tree();
    let mut cursor = Cursor::new();
    for (key, value) in model {
        assert!(cursor.next(&tree).unwrap());
        assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]));
    }
    assert!(!cursor.next(&tree).unwrap());
    for (count, (key, _)) in model.iter().rev().enumerate() {
        assert_eq!(cursor.key(), key);
        assert_eq!(cursor.previous(&tree).unwrap(), count + 1 < model.len());
    }
}

fn run(seed: u64, unit_bytes: usize, frames: usize, units: usize) {
    sim::run(SimConfig::new(seed), SimDisk::new(), |seam| {
        let mut rng = Rng::stream(seed, "model");
        let system = System::create(&seam, unit_bytes, frames);
        let mut model = Model::new();
        let mut cursor = Cursor::new();
        for unit in 0..units {
            let mut uow = system.begin();
            let mut pending = model.clone();
            for _ in 0..rng.index(80) {
                change(&mut rng, &system, &mut uow, &mut pending);
                if rng.index(30) == 0 {
                    let (savepoint, saved) = (uow.savepoint(), pending.clone());
                    for _ in 0..rng.index(20) {
                        change(&mut rng, &system, &mut uow, &mut pending);
                    }
                    uow.rollback_to(savepoint).unwrap();
                    pending = saved;
                }
                look(&mut rng, &system, &pending);
                wander(&mut rng, &system, &pending, &mut cursor);
            }
            if rng.index(3) > 0 {
                uow.commit().unwrap();
                model = pending;
            } else {
                uow.backout().unwrap();
            }
            scan(&system, &model);
            if unit % 4 == 0 {
                let report = system.tree().check().unwrap();
                assert_eq!(report.records, model.len() as u64);
            }
        }
        system.kernel.close().unwrap();
        drop(system);
        let system = System::open(&seam, unit_bytes, frames);
        scan(&system, &model);
        let report = system.prove();
        assert_eq!((report.records, report.unreachable), (model.len() as u64, 0));
        system.tree().clear().unwrap();
        assert_eq!(system.prove().records, 0);
        system.kernel.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_tree_of_small_intervals_does_what_a_map_does() {
    (0..6).for_each(|seed| run(seed, 4096, 64, 40));
}

#[test]
fn a_tree_larger_than_its_pool_does_what_a_map_does() {
    (100..104).for_each(|seed| run(seed, 4096, 24, 40));
}

#[test]
fn a_tree_of_large_intervals_does_what_a_map_does() {
    (200..203).for_each(|seed| run(seed, 32_768, 32, 30));
}
