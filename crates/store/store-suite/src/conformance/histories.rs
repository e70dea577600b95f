//! Random units of work on several threads, recorded and checked for serializability.
//!
//! Lists are kept in three ways: as values that are read and replaced; as ranges of entries, so
//! that an append is an insert into what others scan; and as ranges in a set that the callers
//! lock, a name for each list, as databases under record locks are.

use std::sync::Arc;

use super::subject::{NOT_OFFERED, Notes, get, on_threads, patient};
use super::{Checked, Failure, Found, Subject, ensure};
use crate::history::{Fate, Order, Recorder, Recording, check};
use crate::rng::Rng;
use store::CommitSink;
use store::SetId;
use store::error::{Result, StoreError};
use store::traits::{Cursor, Outcome, Store, Unit};
use store::{Grant, LockMode, LockName, Read};
use store::{KeyRange, Position};

/// Few lists, so that units of work meet.
const LISTS: usize = 4;
const STEPS_MAX: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Values,
    Ranges,
    CallersRanges,
}

pub(super) fn histories_of_values_are_serializable<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    examine(subject, set, Layout::Values, None)
}

pub(super) fn histories_of_ranges_are_serializable<S: Store>(subject: &Subject<S>) -> Checked {
    let set = subject.set()?;
    examine(subject, set, Layout::Ranges, None)
}

pub(super) fn histories_under_the_callers_locks_are_serializable<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let Some(set) = subject.callers_set()? else { return NOT_OFFERED };
    examine(subject, set, Layout::CallersRanges, None)
}

pub(super) fn histories_of_queued_commits_are_serializable<S: Store>(
    subject: &Subject<S>,
) -> Checked {
    let set = subject.set()?;
    examine(subject, set, Layout::Ranges, Some(Notes::shared()))
}

type Sink = (Arc<Notes>, Arc<dyn CommitSink>);

fn examine<S: Store>(
    subject: &Subject<S>,
    set: SetId,
    layout: Layout,
    sink: Option<Sink>,
) -> Checked {
    let recorder = Recorder::new();
    let worker = Worker {
        store: subject.store().clone(),
        set,
        layout,
        recorder: recorder.clone(),
        sink: sink.as_ref().map(|(_, sink)| Arc::clone(sink)),
    };
    let (seed, units) = (subject.seed(), subject.rounds() * 3);
    let last = worker.clone();
    let queued = on_threads(subject.threads(), move |who| {
        let mut chance = Rng::new(seed.wrapping_mul(31).wrapping_add(u64::from(who)));
        let mut queued = 0;
        for number in 0..units {
            let first_element = (u64::from(who) * u64::from(units) + u64::from(number)) * 100;
            queued += worker.one_unit(who, first_element, &mut chance)?;
        }
        Ok(queued)
    })?;
    if let Some((notes, _)) = sink {
        notes.wait(queued.into_iter().sum())?;
    }
    // One more that reads everything, so that nothing hides behind the end of the history.
    let mut unit = last.store.begin(patient())?;
    let mut recording = recorder.begin(u64::from(subject.threads()));
    for list in 0..LISTS {
        let elements = last.read(&mut unit, list, Read::Shared)?;
        recording.read(list as u64, elements);
    }
    unit.commit()?;
    recording.end(Fate::Committed);
    let strict = subject.store().capabilities().strict;
    let order = if strict { Order::StrictSerial } else { Order::Serial };
    let history = recorder.history();
    let committed = history.units.iter().filter(|unit| unit.fate == Fate::Committed).count();
    ensure!(committed > units as usize, "only {committed} units of work were committed");
    match check(&history, order).first() {
        None => Ok(()),
        Some(anomaly) => Err(Failure::new(format!("{anomaly}\n{}", history.to_edn()))),
    }
}

#[derive(Clone)]
struct Worker<S: Store> {
    store: S,
    set: SetId,
    layout: Layout,
    recorder: Recorder,
    sink: Option<Arc<dyn CommitSink>>,
}

impl<S: Store> Worker<S> {
    /// One unit of work, whatever becomes of it; answers how many commits it queued.
    fn one_unit(&self, who: u32, first_element: u64, chance: &mut Rng) -> Found<usize> {
        let mut recording = self.recorder.begin(u64::from(who));
        let mut unit = self.store.begin(patient())?;
        for step in 0..=chance.below(STEPS_MAX) as u64 {
            let stepped = self.step(&mut unit, first_element + step, &mut recording, chance);
            if let Err(error) = stepped {
                ensure!(error.is_retryable(), "a call failed oddly: {error}");
                unit.backout()?;
                recording.end(Fate::BackedOut);
                return Ok(0);
            }
            seam::thread::yield_now();
        }
        if chance.once_in(10) {
            unit.backout()?;
            recording.end(Fate::BackedOut);
            return Ok(0);
        }
        let committed = match &self.sink {
            Some(sink) => unit.commit_queued(sink, first_element).map(|()| 1),
            None => unit.commit().map(|_| 0),
        };
        let fate = match &committed {
            Ok(_) => Fate::Committed,
            Err(StoreError::CommitUnknown(_)) => Fate::Unknown,
            Err(error) => {
                ensure!(error.is_retryable(), "a commit failed oddly: {error}");
                Fate::BackedOut
            }
        };
        recording.end(fate);
        Ok(committed.unwrap_or(0))
    }

    fn step(
        &self,
        unit: &mut S::Unit,
        element: u64,
        recording: &mut Recording,
        chance: &mut Rng,
    ) -> Result<()> {
        let list = chance.below(LISTS);
        let read = [Read::Shared, Read::Update, Read::Exclusive][chance.below(3)];
        match chance.below(5) {
            0 | 1 => {
                let elements = self.read(unit, list, read)?;
                recording.read(list as u64, elements);
            }
            2 | 3 => {
                self.append(unit, list, element, read)?;
                recording.append(list as u64, element);
            }
            // An append that is undone at once is none.
            _ => {
                let savepoint = unit.savepoint()?;
                self.append(unit, list, element, read)?;
                unit.rollback_to(savepoint)?;
            }
        }
        Ok(())
    }

    fn read(&self, unit: &mut S::Unit, list: usize, read: Read) -> Result<Vec<u64>> {
        self.lock(unit, list, LockMode::Shared)?;
        if self.layout == Layout::Values {
            return Ok(numbers(&get(unit, self.set, &key(list, None), read)?.unwrap_or_default()));
        }
        let mut elements = Vec::new();
        let mut cursor = self.store.cursor(self.set)?;
        cursor.limit(KeyRange::between(&key(list, None), &key(list + 1, None)));
        // Some scans run backward, to see that they lock as much.
        if read == Read::Update {
            cursor.seek(Position::Back);
            while let Some(entry) = unit.previous(&mut cursor, read)? {
                elements.insert(0, numbers(entry.value)[0]);
            }
        } else {
            while let Some(entry) = unit.next(&mut cursor, read)? {
                elements.push(numbers(entry.value)[0]);
            }
        }
        Ok(elements)
    }

    fn append(&self, unit: &mut S::Unit, list: usize, element: u64, read: Read) -> Result<()> {
        self.lock(unit, list, LockMode::Exclusive)?;
        if self.layout == Layout::Values {
            let mut value = get(unit, self.set, &key(list, None), read)?.unwrap_or_default();
            value.extend_from_slice(&element.to_be_bytes());
            return unit.put(self.set, &key(list, None), &value);
        }
        let mut cursor = self.store.cursor(self.set)?;
        cursor.limit(KeyRange::between(&key(list, None), &key(list + 1, None)));
        cursor.seek(Position::Back);
        let last = unit.previous(&mut cursor, read)?.map(|entry| place(entry.key));
        let next = key(list, Some(last.map_or(0, |last| last + 1)));
        match unit.insert(self.set, &next, &element.to_be_bytes())? {
            Outcome::Done => Ok(()),
            // The end of the list was read and is locked, or the commit will fail.
            _ => Err(StoreError::Conflict("the end of a list moved".into())),
        }
    }

    fn lock(&self, unit: &mut S::Unit, list: usize, mode: LockMode) -> Result<()> {
        if self.layout != Layout::CallersRanges {
            return Ok(());
        }
        let name = LockName { space: 3, name: &[list as u8] };
        match unit.lock(name, mode, patient().wait)? {
            Grant::Busy => Err(StoreError::Unavailable("a deadlock over a name was missed".into())),
            _ => Ok(()),
        }
    }
}

fn key(list: usize, place: Option<u32>) -> Vec<u8> {
    let mut key = vec![list as u8];
    key.extend(place.iter().flat_map(|place| place.to_be_bytes()));
    key
}

fn place(key: &[u8]) -> u32 {
    key[1..].try_into().map_or(u32::MAX, u32::from_be_bytes)
}

fn numbers(value: &[u8]) -> Vec<u64> {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    value.chunks(8).map(number).collect()
}
