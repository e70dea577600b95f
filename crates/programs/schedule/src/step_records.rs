//! The records of a step under its PSB, in the set of checkpoints: written, removed, looked
//! through.
//!
//! Invariants:
//! 1. A record is put into the unit of work that it is a checkpoint of, right before the commit.
//! 2. The record of a step's end is put into the unit of work that the end commits. It is put where
//!    the step's newest record is a checkpoint, and nowhere else.
//! 3. A step sees its own records under its PSB, and those of version 1, which name no step.
//! 4. The newest [`KEPT`] records that a step sees are kept; older ones go with its next one.

use std::collections::VecDeque;

use definitions::{DbdName, PsbName};
use hierarchy::replacements::Replaced;
use store::{
    Cursor, KeyRange, Position, Read, SetAttributes, SetId, Store, StoreError, Unit, UnitOptions,
};

use crate::checkpoint::{Event, Record, SET};
use crate::search::{Search, Sought};

/// How many records of a step are kept.
const KEPT: usize = 1_000;

/// The records of a step under its PSB.
pub(crate) struct StepRecords {
    psb: PsbName,
    step: String,
    set: Option<SetId>,
    /// The numbers of those that there are, once one was put.
    numbers: Option<VecDeque<u64>>,
}

impl StepRecords {
    pub(crate) fn new(psb: PsbName, step: &str) -> StepRecords {
        StepRecords { psb, step: step.to_owned(), set: None, numbers: None }
    }

    fn key(&self, number: u64) -> [u8; 16] {
        let mut key = [0; 16];
        key[..8].copy_from_slice(self.psb.bytes());
        key[8..].copy_from_slice(&number.to_be_bytes());
        key
    }

    /// The set and a number for the next record. Outside of the unit of work.
    pub(crate) fn prepare<S: Store>(&mut self, store: &S) -> Result<(SetId, u64), StoreError> {
        let set = match self.set {
            Some(set) => set,
            None => *self.set.insert(named_set(store, SET)?),
        };
        if self.numbers.is_none() {
            let mut numbers = VecDeque::new();
            self.each(store, set, |number, record| {
                // What cannot be read stays for those who look into it.
                if record.is_some_and(|record| record.is_of(&self.step)) {
                    numbers.push_front(number);
                }
                true
            })?;
            self.numbers = Some(numbers);
        }
        Ok((set, store.draw(set, 1)?))
    }

    /// Puts a record of the step into its unit of work; the oldest goes.
    pub(crate) fn put<U: Unit>(
        &mut self,
        unit: &mut U,
        (set, number): (SetId, u64),
        position: u64,
        event: Event,
    ) -> Result<(), StoreError> {
        let (step, position) = (Some(self.step.clone()), Some(position));
        let record = Record { step, position, event };
        unit.put(set, &self.key(number), &record.encode())?;
        let mut numbers = self.numbers.take().unwrap_or_default();
        numbers.push_back(number);
        while numbers.len() > KEPT
            && let Some(oldest) = numbers.pop_front()
        {
            // Another run of the step may have removed it already.
            let _ = unit.delete(set, &self.key(oldest))?;
        }
        self.numbers = Some(numbers);
        Ok(())
    }

    /// Whether the step's newest record is a checkpoint: whether its end has to be told.
    pub(crate) fn is_open<S: Store>(&self, store: &S) -> Result<bool, StoreError> {
        let Some(set) = store.set(SET)? else { return Ok(false) };
        let mut newest = None;
        self.each(store, set, |_, record| {
            newest = record.filter(|record| record.is_of(&self.step));
            newest.is_none()
        })?;
        Ok(matches!(newest, Some(Record { event: Event::Checkpoint(_), .. })))
    }

    /// Looks for a checkpoint of the step: the newest of that id or time stamp, or with `LAST` the
    /// newest of all, unless the step has ended normally since, or databases that it updates do not
    /// stand there.
    pub(crate) fn find<S: Store>(
        &self,
        store: &S,
        wanted: &str,
        updated: &[(DbdName, Vec<Replaced>)],
    ) -> Result<Sought, StoreError> {
        let Some(set) = store.set(SET)? else { return Ok(Sought::Absent(Vec::new())) };
        let mut search = Search::new(wanted, &self.step, updated);
        self.each(store, set, |_, record| search.goes_on(record))?;
        Ok(search.outcome())
    }

    /// Shows the records of the PSB, the newest first, until `take` has enough.
    fn each<S: Store>(
        &self,
        store: &S,
        set: SetId,
        mut take: impl FnMut(u64, Option<Record>) -> bool,
    ) -> Result<(), StoreError> {
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = store.cursor(set)?;
        let mut end = Vec::new();
        cursor.limit(KeyRange::prefix(self.psb.bytes(), &mut end));
        cursor.seek(Position::Back);
        while let Some(entry) = unit.previous(&mut cursor, Read::Shared)? {
            let number = entry.key.get(8..).and_then(|number| number.try_into().ok());
            if !take(number.map_or(0, u64::from_be_bytes), Record::decode(entry.value)) {
                break;
            }
        }
        unit.commit().map(drop)
    }
}

/// The set of that name, made if there is none. Another program may make it at the same moment.
pub(crate) fn named_set<S: Store>(store: &S, name: &str) -> Result<SetId, StoreError> {
    if let Some(set) = store.set(name)? {
        return Ok(set);
    }
    match store.create_set(name, &SetAttributes::default()) {
        Err(StoreError::SetExists(exists)) => store.set(name)?.ok_or(StoreError::SetExists(exists)),
        made => made,
    }
}
