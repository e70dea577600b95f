//! Ranges side by side, into which units of work look, and look again: nothing may have appeared or
//! gone. With even seeds a range may hold one entry, and who adds one has looked first; with odd
//! ones entries are also added and taken away without a look.
//!
//! `HOLDFAST_SEEDS=100..200` runs those seeds instead of the usual few.

#![allow(clippy::disallowed_methods)] // tests make and remove their folders themselves

use std::collections::BTreeMap;

use crate::common::{fresh, seeds, simulated};
use holdfast_store_kernel::{KernelStore, KernelUnit};
use seam::failpoint::{Failpoint, arm};
use seam::sim::{self, End, Rng, SimConfig, SimDisk};
use store::{
    Cursor, KeyRange, Position, Read, Result, SetAttributes, SetId, Store, Unit, UnitOptions,
};

const RANGES: usize = 5;
const PLACES: u64 = 4;
/// Between some ranges stands an entry that no program touches.
const FENCES: [u8; 2] = [1, 3];
const STEPS_MAX: u64 = 6;

/// What a unit of work knows of the ranges that it has looked into.
type Known = BTreeMap<usize, Vec<Vec<u8>>>;

#[derive(Clone)]
struct Worker {
    store: KernelStore,
    set: SetId,
    /// Long ones, so that every few entries fill a leaf.
    value: Vec<u8>,
    /// Changes are also made without a look.
    blind: bool,
}

fn from(range: usize) -> Vec<u8> {
    vec![b'a' + range as u8, 1]
}

fn to(range: usize) -> Vec<u8> {
    vec![b'a' + range as u8 + 1, 0]
}

fn some_key(range: usize, rng: &mut Rng) -> Vec<u8> {
    let mut key = from(range);
    key[1] += rng.below(PLACES) as u8;
    key
}

/// Adds a key that a range holds now.
fn add(keys: &mut Vec<Vec<u8>>, key: Vec<u8>) {
    keys.push(key);
    keys.sort();
    keys.dedup();
}

impl Worker {
    fn run(&self, rng: &mut Rng, units: u64) {
        for _ in 0..units {
            let mut unit = self.store.begin(UnitOptions::default()).expect("a unit of work");
            let mut known = Known::new();
            let done = (0..=rng.below(STEPS_MAX)).try_for_each(|_| {
                seam::thread::yield_now();
                self.step(&mut unit, &mut known, rng)
            });
            match done {
                Ok(()) if !rng.one_in(4) => drop(unit.commit().expect("a commit")),
                Ok(()) => unit.backout().expect("a backout"),
                Err(error) => {
                    assert!(error.is_retryable(), "a call failed oddly: {error}");
                    unit.backout().expect("a backout");
                }
            }
        }
    }

    fn step(&self, unit: &mut KernelUnit, known: &mut Known, rng: &mut Rng) -> Result<()> {
        let range = rng.index(RANGES);
        if self.blind && rng.one_in(2) {
            return self.change_blindly(unit, range, known, rng);
        }
        self.look(unit, range, known, rng)?;
        if rng.one_in(3) {
            return Ok(());
        }
        if rng.one_in(3) {
            let before = known.clone();
            let savepoint = unit.savepoint()?;
            self.change(unit, range, known, rng)?;
            if rng.one_in(2) {
                self.look(unit, range, known, rng)?;
            }
            unit.rollback_to(savepoint)?;
            *known = before;
        } else {
            self.change(unit, range, known, rng)?;
        }
        self.look(unit, range, known, rng)
    }

    /// Reads a range one way or the other; it has to be as the unit of work knows it.
    fn look(
        &self,
        unit: &mut KernelUnit,
        range: usize,
        known: &mut Known,
        rng: &mut Rng,
    ) -> Result<()> {
        let mut keys = Vec::new();
        let mut cursor = self.store.cursor(self.set)?;
        let (from, to) = (from(range), to(range));
        cursor.limit(KeyRange::between(&from, &to));
        let read = [Read::Shared, Read::Update][rng.index(2)];
        match rng.index(3) {
            0 => {
                while let Some(entry) = unit.next(&mut cursor, read)? {
                    keys.push(entry.key.to_vec());
                }
            }
            way => {
                cursor.seek(if way == 1 { Position::Back } else { Position::Before(&to) });
                while let Some(entry) = unit.previous(&mut cursor, read)? {
                    keys.insert(0, entry.key.to_vec());
                }
            }
        }
        assert!(self.blind || keys.len() < 2, "phantom: range {range} holds {keys:?}");
        let expected = known.entry(range).or_insert_with(|| keys.clone());
        assert_eq!(*expected, keys, "phantom in range {range}");
        Ok(())
    }

    fn change(
        &self,
        unit: &mut KernelUnit,
        range: usize,
        known: &mut Known,
        rng: &mut Rng,
    ) -> Result<()> {
        let keys = known.get_mut(&range).expect("it was looked into");
        if let Some(key) = keys.pop() {
            let (from, to) = (from(range), to(range));
            if rng.one_in(2) {
                let deleted = unit.delete(self.set, &key)?;
                assert!(deleted.is_done(), "phantom: {key:?} is gone from range {range}");
            } else {
                let removed = unit.delete_range(self.set, KeyRange::between(&from, &to))?;
                let count = keys.drain(..).count() as u64 + 1;
                assert_eq!(removed, count, "phantom: range {range} has changed");
            }
            if rng.one_in(2) {
                return Ok(());
            }
        }
        let key = some_key(range, rng);
        let added = unit.insert(self.set, &key, &self.value)?;
        assert_eq!(added.is_done(), !keys.contains(&key), "phantom: {key:?} in range {range}");
        add(keys, key);
        Ok(())
    }

    fn change_blindly(
        &self,
        unit: &mut KernelUnit,
        range: usize,
        known: &mut Known,
        rng: &mut Rng,
    ) -> Result<()> {
        let key = some_key(range, rng);
        if rng.one_in(3) {
            let _ = unit.delete(self.set, &key)?;
            known.entry(range).and_modify(|keys| keys.retain(|other| *other != key));
        } else {
            let _ = unit.insert(self.set, &key, &self.value)?;
            known.entry(range).and_modify(|keys| add(keys, key));
        }
        Ok(())
    }
}

fn examine(store: &KernelStore, seed: u64, workers: u64, units: u64) {
    let set = store.create_set("RANGES", &SetAttributes::default()).expect("a set");
    let len = [10, 1_000, 1_900][(seed % 3) as usize];
    let blind = !seed.is_multiple_of(2);
    let worker = Worker { store: store.clone(), set, value: vec![7; len], blind };
    let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
    for range in FENCES {
        unit.put(set, &[b'a' + range, 0], &worker.value).expect("a fence");
    }
    unit.commit().expect("a commit");
    let threads: Vec<_> = (0..workers)
        .map(|number| {
            let (worker, name) = (worker.clone(), format!("worker-{number}"));
            let mut rng = Rng::stream(seed, &name);
            seam::thread::spawn(&name, move || worker.run(&mut rng, units)).expect("a thread")
        })
        .collect();
    threads.into_iter().for_each(seam::thread::JoinHandle::join);
    let kernel = store.kernel();
    crate::common::expect_quiet(kernel);
    let data = kernel.set_named("RANGES").expect("the set");
    btree::Tree::new(kernel, &data).check().expect("a sound tree");
}

#[test]
fn nothing_appears_on_real_threads() {
    for seed in seeds(0..3) {
        let (store, _running) = fresh("ranges");
        examine(&store, seed, 4, 600);
    }
}

fn simulate(seed: u64, bug: Option<Failpoint>) -> End {
    arm(bug);
    let outcome = sim::run(SimConfig::new(seed), SimDisk::new(), |seam| {
        let store = simulated(&seam);
        examine(&store, seed, 3 + seed % 2, 20);
        store.kernel().close().expect("the system closes in order");
    });
    arm(None);
    outcome.end
}

#[test]
fn nothing_appears_in_simulation() {
    for seed in seeds(0..100) {
        let end = simulate(seed, None);
        assert_eq!(end, End::Completed, "seed {seed}");
    }
}

#[test]
fn a_gap_that_is_not_locked_is_found() {
    let found = (0..40).any(|seed| match simulate(seed, Some(Failpoint::NextKeyNotLocked)) {
        End::Panicked { message, .. } => {
            assert!(message.contains("phantom"), "{message}");
            true
        }
        _ => false,
    });
    assert!(found, "phantoms are not found");
}
