//! Crashes at random moments: after restart every acknowledged unit of work is there, none is half
//! there, and the tree is sound.
#![allow(clippy::unwrap_used)] // a test stops where something is not as it should be

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::System;
use holdfast_btree::{Bound, Cursor};
use seam::failpoint::{Failpoint, arm};
use seam::sim::{self, CrashStyle, End, Outcome, Rng, SimConfig, SimDisk};
use seam::sync::Mutex;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// What one writer has been told, and what it was doing when the machine crashed.
#[derive(Clone, Default)]
struct Acknowledged {
    committed: Model,
    /// The state after the commit that has not been acknowledged.
    pending: Option<Model>,
}

const WRITERS: usize = 3;

fn write(system: &System, seed: u64, writer: usize, acknowledged: &Mutex<Vec<Acknowledged>>) {
    let mut rng = Rng::stream(seed, &format!("writer {writer}"));
    let tree = system.tree();
    let mut model = acknowledged.lock()[writer].committed.clone();
    for _ in 0..40 {
        let mut uow = system.begin();
        let mut pending = model.clone();
        for _ in 0..rng.index(30) {
            let key = format!("{writer}{:04}", rng.below(300)).into_bytes();
            match rng.index(12) {
                0..=6 => {
                    let len = if rng.index(40) == 0 { 9_000 } else { rng.index(600) };
                    let value = vec![rng.below(256) as u8; len];
                    tree.put(&mut uow, &key, &value).unwrap();
                    pending.insert(key, value);
                }
                7..=10 => {
                    tree.remove(&mut uow, &key).unwrap();
                    pending.remove(&key);
                }
                _ => {
                    let to = format!("{writer}{:04}", rng.below(300)).into_bytes();
                    tree.remove_range(&mut uow, Bound::At(&key), Bound::At(&to)).unwrap();
                    pending.retain(|entry, _| *entry < key || *entry >= to);
                }
            }
        }
        if rng.index(4) == 0 {
            uow.backout().unwrap();
            continue;
        }
        acknowledged.lock()[writer].pending = Some(pending.clone());
        uow.commit().unwrap();
        model = pending;
        acknowledged.lock()[writer] = Acknowledged { committed: model.clone(), pending: None };
    }
}

/// What the tree holds, writer by writer.
fn contents(system: &System) -> Vec<Model> {
    let tree = system.tree();
    let mut models = vec![Model::new(); WRITERS];
    let mut cursor = Cursor::new();
    while cursor.next(&tree).unwrap() {
        let writer = usize::from(cursor.key()[0] - b'0');
        models[writer].insert(cursor.key().to_vec(), cursor.value().to_vec());
    }
    models
}

fn life(
    seed: u64,
    disk: &SimDisk,
    acknowledged: &Arc<Mutex<Vec<Acknowledged>>>,
    crash_after: u64,
) -> Outcome {
    let created = acknowledged.lock().iter().any(|acknowledged| !acknowledged.committed.is_empty());
    let shared = Arc::clone(acknowledged);
    let medium = disk.clone();
    sim::run(SimConfig::new(seed), disk.clone(), move |seam| {
        let system = match created {
            true => System::open(&seam, 4096, 64),
            false => System::create(&seam, 4096, 64),
        };
        let found = contents(&system);
        for (acknowledged, found) in shared.lock().iter_mut().zip(found) {
            let known =
                found == acknowledged.committed || Some(&found) == acknowledged.pending.as_ref();
            assert!(known, "an acknowledged unit of work is missing, or one is half there");
            *acknowledged = Acknowledged { committed: found, pending: None };
        }
        system.prove();
        if !created {
            let mut uow = system.begin();
            for writer in 0..WRITERS {
                let key = format!("{writer}").into_bytes();
                system.tree().insert(&mut uow, &key, b"first").unwrap();
                shared.lock()[writer].committed.insert(key, b"first".to_vec());
            }
            uow.commit().unwrap();
        }
        medium.crash_after(crash_after);
        let system = Arc::new(system);
        let threads: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (system, shared) = (Arc::clone(&system), Arc::clone(&shared));
                let body = move || write(&system, seed, writer, &shared);
                seam::thread::spawn("writer", body).unwrap()
            })
            .collect();
        threads.into_iter().for_each(seam::thread::JoinHandle::join);
        system.prove();
    })
}

/// Some lives on one disk, each but the last cut short by a crash; how each ended.
fn lives(seed: u64) -> Vec<Outcome> {
    let acknowledged = Arc::new(Mutex::new(vec![Acknowledged::default(); WRITERS]));
    let mut disk = SimDisk::new();
    let mut outcomes = Vec::new();
    for number in 0..4 {
        let mut rng = Rng::stream(seed, &format!("life {number}"));
        outcomes.push(life(seed * 10 + number, &disk, &acknowledged, 1 + rng.below(100)));
        let style = if rng.index(3) == 0 { CrashStyle::DropAll } else { CrashStyle::Random };
        disk = disk.crash_image(&mut rng, style);
    }
    outcomes
}

#[test]
fn acknowledged_work_survives_crashes_and_the_rest_is_undone() {
    let mut crashes = 0;
    for seed in 0..12 {
        for outcome in lives(seed) {
            outcome.expect_unbroken();
            crashes += u32::from(outcome.end == End::Crashed);
        }
    }
    assert!(crashes > 20, "most lives end in a crash, but only {crashes} did");
}

#[test]
fn half_a_split_is_found() {
    arm(Some(Failpoint::HalfSplit));
    let broken = |outcome: &Outcome| matches!(outcome.end, End::Panicked { .. });
    let found = (0..12).any(|seed| lives(seed).iter().any(broken));
    arm(None);
    assert!(found, "a split that logs only its left half loses records in a crash");
}
