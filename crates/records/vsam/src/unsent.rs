//! What was not sent on yet: which changes make the next batch, and which batch is on its way.
//!
//! | key, in the set of unsent changes | value |
//! |---|---|
//! | `B`, number of the cluster (4 bytes) | version 1, number of the last batch (8 bytes), the numbers of the changes in it (8 bytes each) while it is on its way |
//! | `F`, number of the cluster (4 bytes) | version 1, why the batch on its way was refused, as text |
//!
//! Invariants:
//! 1. Only what is durable is sent.
//! 2. A batch is what was written down of it before it was sent the first time, so that it is the
//!    same when it is sent again. It goes away, with its changes, when the handler has it.
//! 3. One sends changes of a cluster at a time ([`Unsent::turn`]).
//! 4. A refusal that is kept is the last one of the batch that is on its way.
//! 5. No batch has a change of a record, and an older one of that record is left behind: what was
//!    taken is compared with all that stands in front of it once more.

use std::collections::{BTreeMap, BTreeSet};

use store::{
    Cursor as _, KeyRange, LockMode, LockName, Read, SetId, Store, StoreError, Unit as _, Wait,
};

use crate::catalog::Catalog;
use crate::entry::ObjectNumber;
use crate::error::CatalogError;
use crate::forward::{Forward, Kept, SET, change_key, decode, number_of, prefix, unsent_set};
use crate::handler::{Change, Row};
use crate::rows::{LOCK_WAIT, unit_options};

const VERSION: u8 = 1;
/// Changes and bytes of a batch, at most.
const BATCH_CHANGES_MAX: usize = 2000;
const BATCH_BYTES_MAX: usize = 4 << 20;
/// How much is kept of a refusal.
const FAILURE_BYTES_MAX: usize = 1000;
/// How often a batch is put together anew when an older change has come in between.
const TRIES: u32 = 3;

fn batch_key(cluster: ObjectNumber) -> [u8; 5] {
    let [a, b, c, d] = cluster.0.to_be_bytes();
    [b'B', a, b, c, d]
}

fn failure_key(cluster: ObjectNumber) -> [u8; 5] {
    let [a, b, c, d] = cluster.0.to_be_bytes();
    [b'F', a, b, c, d]
}

/// A batch of changes on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its number, from 1, without gaps.
    pub number: u64,
    /// What it has, in order.
    pub changes: Vec<Change>,
    numbers: Vec<u64>,
}

/// What is known of the batches of a cluster.
#[derive(Default)]
struct State {
    number: u64,
    on_its_way: Vec<u64>,
}

impl State {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.number.to_be_bytes());
        self.on_its_way.iter().for_each(|number| bytes.extend_from_slice(&number.to_be_bytes()));
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<State> {
        let (&VERSION, rest) = bytes.split_first()? else { return None };
        let (numbers, []) = rest.as_chunks::<8>() else { return None };
        let mut numbers = numbers.iter().map(|number| u64::from_be_bytes(*number));
        Some(State { number: numbers.next()?, on_its_way: numbers.collect() })
    }
}

/// The changes of a system that were not sent on.
pub struct Unsent<S: Store> {
    store: S,
    set: SetId,
}

fn damaged(what: &str) -> CatalogError {
    CatalogError::Damaged { name: SET.into(), what: what.into() }
}

impl<S: Store> Catalog<S> {
    /// What was not sent on.
    ///
    /// # Errors
    /// If the store fails.
    pub fn unsent(&self) -> Result<Unsent<S>, CatalogError> {
        let store = self.shared.store.clone();
        let set = unsent_set(&store)?;
        Ok(Unsent { store, set })
    }
}

/// The right to send changes of a cluster, until it is dropped.
pub struct Turn<S: Store> {
    _unit: S::Unit,
}

impl<S: Store> Unsent<S> {
    /// The right to send changes of a cluster: one has it at a time. `None` if somebody else has
    /// it for long.
    ///
    /// # Errors
    /// If the store fails.
    pub fn turn(&self, cluster: ObjectNumber) -> Result<Option<Turn<S>>, CatalogError> {
        let mut unit = self.store.begin(unit_options())?;
        let name = batch_key(cluster);
        let name = LockName { space: self.set.0, name: &name };
        let granted = unit.lock(name, LockMode::Exclusive, Wait::AtMost(LOCK_WAIT))?;
        Ok(granted.is_held().then_some(Turn { _unit: unit }))
    }

    /// How many changes of a cluster were not sent, those of units of work that go on among them.
    ///
    /// # Errors
    /// If the store fails.
    pub fn count(&self, cluster: ObjectNumber) -> Result<u64, CatalogError> {
        let mut unit = self.store.begin(unit_options())?;
        let mut cursor = self.store.cursor(self.set)?;
        let (prefix, mut end) = (prefix(cluster), Vec::new());
        cursor.limit(KeyRange::prefix(&prefix, &mut end));
        let mut count = 0;
        while unit.next(&mut cursor, Read::Unlocked)?.is_some() {
            count += 1;
        }
        unit.backout()?;
        Ok(count)
    }

    /// The number of the last batch of a cluster that was put together.
    ///
    /// # Errors
    /// If the store fails.
    pub fn batches(&self, cluster: ObjectNumber) -> Result<u64, CatalogError> {
        let mut unit = self.store.begin(unit_options())?;
        let state = self.state(&mut unit, cluster, Read::Unlocked)?;
        unit.backout()?;
        Ok(state.number)
    }

    /// The batch that is to be sent: the one that is on its way, or the next one; `None` if there
    /// is nothing to send. It is durable, with all that its changes stand on.
    ///
    /// # Errors
    /// If the store fails, or what stands in it makes no sense.
    pub fn next_batch(&self, cluster: ObjectNumber) -> Result<Option<Batch>, CatalogError> {
        for _ in 0..TRIES {
            let mut unit = self.store.begin(unit_options())?;
            let state = self.state(&mut unit, cluster, Read::Update)?;
            if !state.on_its_way.is_empty() {
                let batch = self.known(&mut unit, cluster, state)?;
                unit.backout()?;
                return Ok(Some(batch));
            }
            let taken = self.claim(&mut unit, cluster)?;
            if taken.is_empty() {
                unit.backout()?;
                return Ok(None);
            }
            if self.leaves_older(&mut unit, cluster, &taken)? {
                // One came in between, and is there now.
                unit.backout()?;
                continue;
            }
            let (numbers, changes): (Vec<u64>, Vec<Change>) = taken.into_iter().unzip();
            let state = State { number: state.number + 1, on_its_way: numbers };
            unit.put(self.set, &batch_key(cluster), &state.encode())?;
            unit.commit()?;
            let State { number, on_its_way: numbers } = state;
            return Ok(Some(Batch { number, changes, numbers }));
        }
        // Somebody is in the middle of something: the next time it is over.
        Ok(None)
    }

    /// The handler has a batch: its changes go away.
    ///
    /// # Errors
    /// If the store fails.
    pub fn settle(&self, cluster: ObjectNumber, batch: &Batch) -> Result<(), CatalogError> {
        store::run(&self.store, unit_options(), |unit| {
            let state = self.state(unit, cluster, Read::Update)?;
            if state.number != batch.number || state.on_its_way.is_empty() {
                return Ok(());
            }
            for number in &batch.numbers {
                let _ = unit.delete(self.set, &change_key(cluster, *number))?;
            }
            let _ = unit.delete(self.set, &failure_key(cluster))?;
            let state = State { number: state.number, on_its_way: Vec::new() };
            Ok(unit.put(self.set, &batch_key(cluster), &state.encode())?)
        })
    }

    /// Why the handler has refused the batch that is on its way, if it has.
    ///
    /// # Errors
    /// If the store fails.
    pub fn failure(&self, cluster: ObjectNumber) -> Result<Option<String>, CatalogError> {
        let (mut unit, mut value) = (self.store.begin(unit_options())?, Vec::new());
        let known = unit.get(self.set, &failure_key(cluster), Read::Unlocked, &mut value)?;
        unit.backout()?;
        match value.split_first() {
            Some((&VERSION, text)) if known => Ok(Some(String::from_utf8_lossy(text).into_owned())),
            None if !known => Ok(None),
            _ => Err(damaged("why a batch was refused")),
        }
    }

    /// The handler has refused the batch that is on its way, for this reason.
    ///
    /// # Errors
    /// If the store fails.
    pub fn note_failure(&self, cluster: ObjectNumber, why: &str) -> Result<(), CatalogError> {
        let why = &why[..why.floor_char_boundary(FAILURE_BYTES_MAX)];
        // It is tried again and again: what is known is not written again.
        if self.failure(cluster)?.as_deref() == Some(why) {
            return Ok(());
        }
        store::run(&self.store, unit_options(), |unit| {
            let value = [&[VERSION], why.as_bytes()].concat();
            Ok(unit.put(self.set, &failure_key(cluster), &value)?)
        })
    }

    /// Keeps changes that stand for records as they are now: all of a file that is sent anew.
    ///
    /// # Errors
    /// If the store fails.
    pub fn keep(
        &self,
        unit: &mut S::Unit,
        cluster: ObjectNumber,
        change: &Change,
    ) -> Result<(), StoreError> {
        let kept = match change {
            Change::Put(Row { key, record }) => Kept::Put { key, record },
            Change::Delete(key) => Kept::Delete { key },
            Change::Clear => Kept::Clear,
        };
        Forward { set: self.set, cluster }.keep(&self.store, unit, kept)
    }

    /// Forgets everything about a cluster.
    pub(crate) fn forget(&self, cluster: ObjectNumber) -> Result<(), CatalogError> {
        loop {
            let more = store::run(&self.store, unit_options(), |unit| {
                let mut cursor = self.store.cursor(self.set)?;
                let (prefix, mut end) = (prefix(cluster), Vec::new());
                cursor.limit(KeyRange::prefix(&prefix, &mut end));
                let mut keys = Vec::new();
                while keys.len() < BATCH_CHANGES_MAX
                    && let Some(entry) = unit.next(&mut cursor, Read::Unlocked)?
                {
                    keys.push(entry.key.to_vec());
                }
                for key in &keys {
                    let _ = unit.delete(self.set, key)?;
                }
                let _ = unit.delete(self.set, &batch_key(cluster))?;
                let _ = unit.delete(self.set, &failure_key(cluster))?;
                Ok::<_, CatalogError>(!keys.is_empty())
            })?;
            if !more {
                return Ok(());
            }
        }
    }

    fn state(
        &self,
        unit: &mut S::Unit,
        cluster: ObjectNumber,
        read: Read,
    ) -> Result<State, CatalogError> {
        let mut value = Vec::new();
        if !unit.get(self.set, &batch_key(cluster), read, &mut value)? {
            return Ok(State::default());
        }
        State::decode(&value).ok_or_else(|| damaged("the state of a cluster's batches"))
    }

    /// The batch that was written down.
    fn known(
        &self,
        unit: &mut S::Unit,
        cluster: ObjectNumber,
        state: State,
    ) -> Result<Batch, CatalogError> {
        let (mut changes, mut value) = (Vec::new(), Vec::new());
        for number in &state.on_its_way {
            if !unit.get(self.set, &change_key(cluster, *number), Read::Unlocked, &mut value)? {
                return Err(damaged("a change of a batch that is on its way is gone"));
            }
            changes.push(decode(&value).ok_or_else(|| damaged("a change cannot be read"))?);
        }
        Ok(Batch { number: state.number, changes, numbers: state.on_its_way })
    }

    /// Takes committed changes from the front; those that others have in work are passed over.
    fn claim(
        &self,
        unit: &mut S::Unit,
        cluster: ObjectNumber,
    ) -> Result<Vec<(u64, Change)>, CatalogError> {
        let mut cursor = self.store.cursor(self.set)?;
        let (prefix, mut end) = (prefix(cluster), Vec::new());
        cursor.limit(KeyRange::prefix(&prefix, &mut end));
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while taken.len() < BATCH_CHANGES_MAX && bytes < BATCH_BYTES_MAX {
            let Some(entry) = unit.claim_next(&mut cursor)? else { break };
            let number = number_of(entry.key).ok_or_else(|| damaged("a key is none"))?;
            let change = decode(entry.value).ok_or_else(|| damaged("a change cannot be read"))?;
            bytes += entry.value.len();
            if change == Change::Clear {
                // It stands alone: nothing that was there before needs to be sent with it.
                if taken.is_empty() {
                    taken.push((number, change));
                }
                break;
            }
            taken.push((number, change));
        }
        Ok(taken)
    }

    /// Whether a change stands in front of one that was taken, is of the same record, or clears
    /// all, and was not taken.
    fn leaves_older(
        &self,
        unit: &mut S::Unit,
        cluster: ObjectNumber,
        taken: &[(u64, Change)],
    ) -> Result<bool, CatalogError> {
        let numbers: BTreeSet<u64> = taken.iter().map(|(number, _)| *number).collect();
        let mut last_of: BTreeMap<&[u8], u64> = BTreeMap::new();
        let mut last = 0;
        for (number, change) in taken {
            last = *number;
            match change {
                Change::Put(row) => last_of.insert(&row.key, *number),
                Change::Delete(key) => last_of.insert(key, *number),
                Change::Clear => None,
            };
        }
        let mut cursor = self.store.cursor(self.set)?;
        let (from, to) = (change_key(cluster, 0), change_key(cluster, last));
        cursor.limit(KeyRange::between(&from, &to));
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let Some(number) = number_of(entry.key) else { continue };
            if numbers.contains(&number) {
                continue;
            }
            let left = match decode(entry.value) {
                Some(Change::Put(row)) => last_of.get(&row.key[..]).is_some_and(|at| *at > number),
                Some(Change::Delete(key)) => last_of.get(&key[..]).is_some_and(|at| *at > number),
                Some(Change::Clear) | None => true,
            };
            if left {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
