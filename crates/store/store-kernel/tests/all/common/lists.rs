//! Units of work that append to lists and read them, and shift lists about: ranges of one set, side
//! by side, so that the end of one is the beginning of the next.
#![allow(unreachable_pub)] // shared by tests

use std::sync::Arc;

use seam::sim::Rng;
use store::{
    Cursor, KeyRange, Outcome, Position, Read, Result, SetId, Store, StoreError, Unit, UnitOptions,
};
use store_suite::history::{Fate, Recorder, Recording};

use holdfast_store_kernel::{KernelStore, KernelUnit};

/// Few lists, so that units of work meet.
pub const LISTS: usize = 4;
/// Where the elements of a list stand at first, and how far a shift moves them.
const MIDDLE: u32 = 1 << 16;
const STEPS_MAX: usize = 5;

/// One who runs units of work, one after another.
#[derive(Clone)]
pub struct Worker {
    pub store: KernelStore,
    pub set: SetId,
    pub recorder: Recorder,
    pub process: u64,
}

fn key(list: usize, place: u32) -> [u8; 5] {
    let [a, b, c, d] = place.to_be_bytes();
    [list as u8, a, b, c, d]
}

fn place_of(key: &[u8]) -> u32 {
    u32::from_be_bytes(key[1..5].try_into().expect("a key of a list"))
}

fn element_of(value: &[u8]) -> u64 {
    u64::from_be_bytes(value.try_into().expect("an element of a list"))
}

impl Worker {
    /// Runs so many units of work.
    pub fn run(&self, seed: u64, units: u64) {
        let mut rng = Rng::stream(seed, &format!("worker {}", self.process));
        for number in 0..units {
            let first_element = (self.process * units + number) * 100;
            self.one_unit(first_element, &mut rng);
        }
    }

    fn one_unit(&self, first_element: u64, rng: &mut Rng) {
        let mut recording = self.recorder.begin(self.process);
        let mut unit = self.store.begin(UnitOptions::default()).expect("a unit of work");
        for step in 0..=rng.below(STEPS_MAX as u64) {
            let stepped = self.step(&mut unit, first_element + step, &mut recording, rng);
            if let Err(error) = stepped {
                assert!(error.is_retryable(), "a call failed oddly: {error}");
                unit.backout().expect("a backout");
                return recording.end(Fate::BackedOut);
            }
            seam::thread::yield_now();
        }
        if rng.one_in(8) {
            unit.backout().expect("a backout");
            return recording.end(Fate::BackedOut);
        }
        unit.commit().expect("a commit");
        recording.end(Fate::Committed);
    }

    fn step(
        &self,
        unit: &mut KernelUnit,
        element: u64,
        recording: &mut Recording,
        rng: &mut Rng,
    ) -> Result<()> {
        let list = rng.index(LISTS);
        match rng.index(9) {
            0..=2 => {
                let elements = self.read(unit, list, rng)?;
                recording.read(list as u64, elements);
            }
            3..=5 => {
                self.append(unit, list, element, rng)?;
                recording.append(list as u64, element);
            }
            6 => {
                let savepoint = unit.savepoint()?;
                match rng.index(2) {
                    0 => self.append(unit, list, element, rng)?,
                    _ => self.shift(unit, list, rng)?,
                }
                unit.rollback_to(savepoint)?;
            }
            7 => self.shift(unit, list, rng)?,
            _ => self.shift_one(unit, list, rng)?,
        }
        Ok(())
    }

    /// Reads a list, forward or backward.
    pub fn read(&self, unit: &mut KernelUnit, list: usize, rng: &mut Rng) -> Result<Vec<u64>> {
        Ok(self.entries(unit, list, rng)?.into_iter().map(|(_, element)| element).collect())
    }

    fn entries(
        &self,
        unit: &mut KernelUnit,
        list: usize,
        rng: &mut Rng,
    ) -> Result<Vec<(u32, u64)>> {
        let read = [Read::Shared, Read::Update, Read::Exclusive][rng.index(3)];
        let mut entries = Vec::new();
        let mut cursor = self.store.cursor(self.set)?;
        let (from, to) = (key(list, 0), key(list + 1, 0));
        cursor.limit(KeyRange::between(&from, &to));
        if rng.one_in(2) {
            while let Some(entry) = unit.next(&mut cursor, read)? {
                entries.push((place_of(entry.key), element_of(entry.value)));
            }
        } else {
            cursor.seek(if rng.one_in(2) { Position::Back } else { Position::Before(&to) });
            while let Some(entry) = unit.previous(&mut cursor, read)? {
                entries.insert(0, (place_of(entry.key), element_of(entry.value)));
            }
        }
        Ok(entries)
    }

    fn append(
        &self,
        unit: &mut KernelUnit,
        list: usize,
        element: u64,
        rng: &mut Rng,
    ) -> Result<()> {
        let mut cursor = self.store.cursor(self.set)?;
        cursor.limit(KeyRange::between(&key(list, 0), &key(list + 1, 0)));
        cursor.seek(Position::Back);
        let last = unit.previous(&mut cursor, Read::Shared)?.map(|entry| place_of(entry.key));
        let next = last.map_or(MIDDLE, |last| last + 1 + rng.below(3) as u32);
        self.add(unit, list, next, element)
    }

    fn add(&self, unit: &mut KernelUnit, list: usize, place: u32, element: u64) -> Result<()> {
        match unit.insert(self.set, &key(list, place), &element.to_be_bytes())? {
            Outcome::Done => Ok(()),
            // What was read there is locked, so this is what a broken store does.
            _ => Err(StoreError::Conflict("a place in a list that was read is taken".into())),
        }
    }

    /// Takes a whole list away and puts it back at other places.
    fn shift(&self, unit: &mut KernelUnit, list: usize, rng: &mut Rng) -> Result<()> {
        let entries = self.entries(unit, list, rng)?;
        let range = KeyRange { from: &key(list, 0), to: Some(&key(list + 1, 0)) };
        if rng.one_in(2) {
            let removed = unit.delete_range(self.set, range)?;
            if removed != entries.len() as u64 {
                return Err(StoreError::Conflict("a list that was read has changed".into()));
            }
        } else {
            for (place, _) in &entries {
                let _ = unit.delete(self.set, &key(list, *place))?;
            }
        }
        let first = MIDDLE - 8 + rng.below(16) as u32;
        for (at, (_, element)) in entries.into_iter().enumerate() {
            self.add(unit, list, first + at as u32 * 2, element)?;
        }
        Ok(())
    }

    /// Moves one element of a list to the place behind its own, if that is free.
    fn shift_one(&self, unit: &mut KernelUnit, list: usize, rng: &mut Rng) -> Result<()> {
        let entries = self.entries(unit, list, rng)?;
        if entries.is_empty() {
            return Ok(());
        }
        let at = rng.index(entries.len());
        let (place, element) = entries[at];
        if entries.get(at + 1).is_some_and(|(next, _)| *next == place + 1) {
            return Ok(());
        }
        let _ = unit.delete(self.set, &key(list, place))?;
        self.add(unit, list, place + 1, element)
    }
}

/// Workers on threads of their own, and one that reads everything in the end.
pub fn run_all(store: &KernelStore, set: SetId, seed: u64, workers: u64, units: u64) -> Recorder {
    let recorder = Recorder::new();
    let worker =
        |process| Worker { store: store.clone(), set, recorder: recorder.clone(), process };
    let threads: Vec<_> = (0..workers)
        .map(|process| {
            let worker = Arc::new(worker(process));
            let name = format!("worker-{process}");
            seam::thread::spawn(&name, move || worker.run(seed, units)).expect("a thread")
        })
        .collect();
    threads.into_iter().for_each(seam::thread::JoinHandle::join);
    let last = worker(workers);
    let mut recording = recorder.begin(workers);
    let mut unit = store.begin(UnitOptions::READ_ONLY).expect("a unit of work");
    let mut rng = Rng::stream(seed, "the last reader");
    for list in 0..LISTS {
        let elements = last.read(&mut unit, list, &mut rng).expect("a list");
        recording.read(list as u64, elements);
    }
    unit.commit().expect("a commit");
    recording.end(Fate::Committed);
    recorder
}
