//! Several units of work at once, on neighbouring keys of one tree, with scans, merges and moves
//! of nodes going on: every schedule is drawn from a seed.
#![allow(clippy::unwrap_used)] // a test stops where something is not as it should be

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::common::System;
use holdfast_btree::{Bound, Cursor, Tree};
use seam::sim::{self, Rng, SimConfig, SimDisk};
use seam::sync::Mutex;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Records that nobody touches: every scan must see them all.
const FIXED: u32 = 40;
const KEYS: u64 = 400;

fn fixed_key(number: u32) -> Vec<u8> {
    format!("{:05}-fixed", number * 10).into_bytes()
}

fn write(system: &System, seed: u64, writer: u64, units: usize, all: &Mutex<Model>) {
    let mut rng = Rng::stream(seed, &format!("writer {writer}"));
    let tree = system.tree();
    let mut model = Model::new();
    for unit in 0..units {
        let mut uow = system.begin();
        let mut pending = model.clone();
        // Towards the end mostly removals, so that nodes are joined.
        let removals = if unit * 2 > units { 10 } else { 0 };
        for _ in 0..rng.index(25) {
            let key = format!("{:05}-{writer}", rng.below(KEYS)).into_bytes();
            let key = match model.len() {
                0 => key,
                len if rng.index(2) == 0 => model.keys().nth(rng.index(len)).unwrap().clone(),
                _ => key,
            };
            match rng.index(10) + rng.index(removals + 1) {
                0..=4 => {
                    let len = if rng.index(30) == 0 { 9_000 } else { rng.index(500) };
                    let value = vec![rng.below(256) as u8; len];
                    let there = tree.put(&mut uow, &key, &value).unwrap();
                    assert_eq!(there, pending.insert(key, value).is_some());
                }
                5..=7 | 10.. => {
                    let there = tree.remove(&mut uow, &key).unwrap();
                    assert_eq!(there, pending.remove(&key).is_some());
                }
                _ => {
                    let mut seen = Vec::new();
                    let found = tree.get(&key, &mut seen).unwrap();
                    assert_eq!(found.then_some(&seen), pending.get(&key));
                }
            }
        }
        if rng.index(4) > 0 {
            uow.commit().unwrap();
            model = pending;
        } else {
            uow.backout().unwrap();
        }
    }
    all.lock().extend(model);
}

/// One scan from a random place, one way.
fn scan(tree: &Tree<'_>, rng: &mut Rng, cursor: &mut Cursor) {
    let forward = rng.index(2) == 0;
    let start = fixed_key(rng.below(u64::from(FIXED)) as u32);
    cursor.seek(Bound::At(&start));
    let (mut last, mut seen) = (Vec::new(), 0);
    loop {
        let stepped = if forward { cursor.next(tree) } else { cursor.previous(tree) };
        if !stepped.unwrap() {
            break;
        }
        let key = cursor.key();
        let ordered = last.is_empty() || if forward { key > &last[..] } else { key < &last[..] };
        assert!(ordered, "no record comes twice or out of order");
        seen += usize::from(key.ends_with(b"fixed"));
        last.clear();
        last.extend_from_slice(key);
    }
    let wanted = (0..FIXED).filter(|number| (fixed_key(*number) >= start) == forward).count();
    assert_eq!(seen, wanted, "a record that is there all the time is always seen");
}

fn run(seed: u64, frames: usize) {
    sim::run(SimConfig::new(seed), SimDisk::new(), |seam| {
        let system = Arc::new(System::create(&seam, 4096, frames));
        let mut uow = system.begin();
        for number in 0..FIXED {
            system.tree().insert(&mut uow, &fixed_key(number), &[7; 200]).unwrap();
        }
        uow.commit().unwrap();
        let all = Arc::new(Mutex::new(Model::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for writer in 0..4 {
            let (system, all) = (Arc::clone(&system), Arc::clone(&all));
            let body = move || write(&system, seed, writer, 30, &all);
            threads.push(seam::thread::spawn("writer", body).unwrap());
        }
        let mut others = Vec::new();
        for reader in 0..2 {
            let (system, ended) = (Arc::clone(&system), Arc::clone(&ended));
            let body = move || {
                let mut rng = Rng::stream(seed, &format!("reader {reader}"));
                let mut cursor = Cursor::new();
                while !ended.load(SeqCst) {
                    scan(&system.tree(), &mut rng, &mut cursor);
                    system.kernel.seam().clock.sleep(std::time::Duration::from_micros(200));
                }
            };
            others.push(seam::thread::spawn("reader", body).unwrap());
        }
        let (mover, stop) = (Arc::clone(&system), Arc::clone(&ended));
        let body = move || {
            while !stop.load(SeqCst) {
                mover.tree().compact_tail(3).unwrap();
                mover.kernel.seam().clock.sleep(std::time::Duration::from_millis(1));
            }
        };
        others.push(seam::thread::spawn("mover", body).unwrap());
        threads.into_iter().for_each(seam::thread::JoinHandle::join);
        ended.store(true, SeqCst);
        others.into_iter().for_each(seam::thread::JoinHandle::join);
        let mut all = std::mem::take(&mut *all.lock());
        all.extend((0..FIXED).map(|number| (fixed_key(number), vec![7; 200])));
        let tree = system.tree();
        let mut cursor = Cursor::new();
        for (key, value) in &all {
            assert!(cursor.next(&tree).unwrap());
            assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]));
        }
        assert!(!cursor.next(&tree).unwrap());
        let report = system.prove();
        assert_eq!(report.records, all.len() as u64);
        system.kernel.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn writers_readers_and_movers_share_a_tree() {
    (0..12).for_each(|seed| run(seed, 128));
}

#[test]
fn writers_readers_and_movers_share_a_tree_in_a_small_pool() {
    (50..58).for_each(|seed| run(seed, 32));
}
