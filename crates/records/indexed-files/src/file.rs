//! An open file: what its requests do.
//!
//! | value of the prime key's tree | bytes |
//! |---|---|
//! | arrivals | 8 for each alternate key with duplicates, the greatest first |
//! | the record | the rest |
//!
//! An entry of an alternate key with duplicates is the key and the record's arrival at it.
//!
//! Invariants:
//! 1. A record keeps its arrival at an alternate key until its value for that key changes.

use std::path::Path;
use std::sync::Arc;

use seam::clock::Clock;

use crate::core::{Change, Core, Source};
use crate::definition::{Definition, Key};
use crate::device::{Device, Kind};
use crate::keeper::{Keeper, Watched};
use crate::place::{Place, Relation, Seen, seek};
use crate::refusal::Refusal;
use crate::tree::Spot;

/// How long an arrival is.
const ARRIVAL: usize = 8;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be read, with others.
    Read,
    /// To be read and changed, alone; it has to be there.
    Change,
    /// To be made, or made empty.
    Create,
    /// To be read and changed, alone; made if it is not there.
    CreateIfMissing,
}

/// What is to be said of a record that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Another record has the same value of an alternate key.
    pub duplicate: bool,
}

/// An open file.
pub struct IndexedFile {
    inner: Option<Inner>,
    /// The process that has opened it: a copy of that, made by `fork`, changes nothing.
    process: u32,
}

struct Inner {
    watched: Arc<Watched<Core>>,
    keeper: Option<Keeper<Core>>,
    /// For each key that the program knows its number in the file.
    keys: Vec<usize>,
    place: Place,
    /// The prime key of the record that was read last.
    current: Option<Vec<u8>>,
    /// The greatest prime key, once records are written in sequence.
    greatest: Option<Vec<u8>>,
    /// Memory for a key.
    spare: Vec<u8>,
}

impl IndexedFile {
    /// Opens a file as a program has it.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(
        path: &Path,
        definition: &Definition,
        purpose: Purpose,
        clock: Arc<dyn Clock>,
    ) -> Result<IndexedFile, Refusal> {
        if !definition.is_sound() {
            return Err(Refusal::Attributes);
        }
        let source = match purpose {
            Purpose::Read => to_read(path)?,
            Purpose::Change => to_change(path)?,
            Purpose::Create => to_create(path, definition, true)?,
            Purpose::CreateIfMissing => to_create(path, definition, false)?,
        };
        IndexedFile::over(Core::open(source, clock)?, definition)
    }

    pub(crate) fn over(core: Core, definition: &Definition) -> Result<IndexedFile, Refusal> {
        if !definition.fits(&core.definition) {
            return Err(Refusal::Attributes);
        }
        let known = &core.definition.keys;
        let number = |key: &Key| known.iter().position(|other| other == key);
        let keys = definition.keys.iter().map(number).collect::<Option<Vec<_>>>();
        let inner = Inner {
            keys: keys.ok_or(Refusal::Attributes)?,
            watched: Watched::new(core),
            keeper: None,
            place: Place::default(),
            current: None,
            greatest: None,
            spare: Vec::new(),
        };
        Ok(IndexedFile { inner: Some(inner), process: std::process::id() })
    }

    fn inner(&mut self) -> Result<&mut Inner, Refusal> {
        self.inner.as_mut().ok_or_else(|| Refusal::Device("it is closed".to_owned()))
    }

    /// Reads the next record along the key of the last READ or START, or the one before.
    ///
    /// # Errors
    /// [`Refusal::End`], or what went wrong.
    pub fn next(&mut self, before: bool, record: &mut Vec<u8>) -> Result<Seen, Refusal> {
        let inner = self.inner()?;
        inner.current = None;
        let watched = Arc::clone(&inner.watched);
        let mut core = watched.value.lock();
        core.reopen()?;
        let key = inner.place.key;
        let spot = inner.place.next(&mut core.trees[key], before)?;
        inner.give(&mut core, key, spot, before, record)
    }

    /// Reads a record by a key.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], or what went wrong.
    pub fn read(
        &mut self,
        key: usize,
        value: &[u8],
        record: &mut Vec<u8>,
    ) -> Result<Seen, Refusal> {
        let inner = self.inner()?;
        inner.current = None;
        let key = *inner.keys.get(key).ok_or(Refusal::NoKey)?;
        let watched = Arc::clone(&inner.watched);
        let mut core = watched.value.lock();
        core.reopen()?;
        if core.definition.keys[key].bytes() != value.len() {
            return Err(Refusal::NoKey);
        }
        let spot = match core.definition.keys[key].duplicates {
            true => seek(&mut core.trees[key], Relation::Equal, value)?,
            false => core.trees[key].get(value)?,
        };
        inner.give(&mut core, key, spot.ok_or(Refusal::NotFound)?, false, record)
    }

    /// Takes a place by a key, or by its first bytes: the next record is read from there.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], or what went wrong.
    pub fn start(&mut self, key: usize, relation: Relation, value: &[u8]) -> Result<(), Refusal> {
        let inner = self.inner()?;
        inner.current = None;
        let key = *inner.keys.get(key).ok_or(Refusal::NoKey)?;
        let mut core = inner.watched.value.lock();
        core.reopen()?;
        let value = &value[..value.len().min(core.definition.keys[key].bytes())];
        let tree = &mut core.trees[key];
        let spot = seek(tree, relation, value)?.ok_or(Refusal::NotFound)?;
        inner.place.found(key, spot, tree)
    }

    /// Writes a new record; `in_sequence`: behind all others.
    ///
    /// # Errors
    /// [`Refusal::Duplicate`], [`Refusal::Sequence`], or what went wrong.
    pub fn write(&mut self, record: &[u8], in_sequence: bool) -> Result<Written, Refusal> {
        let inner = self.inner()?;
        let watched = Arc::clone(&inner.watched);
        let mut core = watched.value.lock();
        core.reopen()?;
        let mut prime = std::mem::take(&mut inner.spare);
        prime_of(&core, record, &mut prime)?;
        if in_sequence {
            inner.follows(&mut core, &prime)?;
            if core.append(&prime, record) {
                inner.spare = inner.greatest.replace(prime).unwrap_or_default();
                return Ok(Written::default());
            }
        } else if core.record(&prime)?.is_some() {
            return Err(Refusal::Duplicate);
        }
        let (changes, written) = additions(&mut core, &prime, record)?;
        inner.changed(&mut core, &changes)?;
        if in_sequence {
            inner.spare = inner.greatest.replace(prime).unwrap_or_default();
        }
        Ok(written)
    }

    /// Replaces the record with the same prime key; `current`: which is the one that was read last.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Sequence`], [`Refusal::Duplicate`], or what went wrong.
    pub fn rewrite(&mut self, record: &[u8], current: bool) -> Result<Written, Refusal> {
        let inner = self.inner()?;
        let watched = Arc::clone(&inner.watched);
        let mut core = watched.value.lock();
        core.reopen()?;
        let mut prime = Vec::new();
        prime_of(&core, record, &mut prime)?;
        if current && inner.current.as_ref() != Some(&prime) {
            return Err(Refusal::Sequence);
        }
        let old = core.record(&prime)?.ok_or(Refusal::NotFound)?.to_vec();
        let (changes, written) = replacement(&mut core, prime, &old, record)?;
        inner.changed(&mut core, &changes)?;
        Ok(written)
    }

    /// Removes a record; without a key the one that was read last.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], or what went wrong.
    pub fn delete(&mut self, prime: Option<&[u8]>) -> Result<(), Refusal> {
        let inner = self.inner()?;
        let watched = Arc::clone(&inner.watched);
        let mut core = watched.value.lock();
        core.reopen()?;
        let prime = prime.map(<[u8]>::to_vec).or(inner.current.take());
        let prime = prime.ok_or(Refusal::NotFound)?;
        let old = core.record(&prime)?.ok_or(Refusal::NotFound)?.to_vec();
        let changes = removals(&core.definition, prime, &old)?;
        inner.changed(&mut core, &changes)
    }

    /// Makes everything durable.
    ///
    /// # Errors
    /// If that cannot be; it is tried again at the next occasion.
    pub fn commit(&mut self) -> Result<(), Refusal> {
        match std::process::id() == self.process {
            true => self.inner()?.watched.value.lock().commit(),
            false => Ok(()),
        }
    }

    /// Closes the file: what was changed is durable then.
    ///
    /// # Errors
    /// If that cannot be: what the last second has changed is lost.
    pub fn close(&mut self) -> Result<(), Refusal> {
        let committed = match self.inner {
            Some(_) => self.commit(),
            None => Ok(()),
        };
        self.let_go();
        committed
    }

    fn let_go(&mut self) {
        let Some(mut inner) = self.inner.take() else { return };
        if std::process::id() == self.process {
            inner.keeper = None;
        } else {
            // The file, its lock and its keeper belong to the process that this one is a copy of.
            std::mem::forget(inner);
        }
    }
}

impl Drop for IndexedFile {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

impl Inner {
    /// Brings a record, and notes where it is.
    fn give(
        &mut self,
        core: &mut Core,
        key: usize,
        spot: Spot,
        before: bool,
        record: &mut Vec<u8>,
    ) -> Result<Seen, Refusal> {
        let mut seen = Seen::default();
        let front = ARRIVAL * core.definition.keys.iter().filter(|key| key.duplicates).count();
        if key == 0 {
            let block = core.trees[0].block(&spot.low)?;
            copy_record(block.value(spot.at), front, record)?;
            let prime = block.key(spot.at);
            let current = self.current.get_or_insert_default();
            current.clear();
            current.extend_from_slice(prime);
        } else {
            let prime = core.trees[key].block(&spot.low)?.value(spot.at).to_vec();
            let missing = || Refusal::damaged("an alternate key leads to no record");
            let value = core.record(&prime)?.ok_or_else(missing)?;
            copy_record(value, front, record)?;
            self.current = Some(prime);
            if core.definition.keys[key].duplicates {
                let bytes = core.definition.keys[key].bytes();
                let tree = &mut core.trees[key];
                let own = tree.block(&spot.low)?.key(spot.at)[..bytes].to_vec();
                if let Some(beside) = tree.step(spot.clone(), before)? {
                    let other = tree.block(&beside.low)?.key(beside.at);
                    seen.duplicate_follows = other.starts_with(&own);
                }
            }
        }
        self.place.read(key, spot, &mut core.trees[key])?;
        Ok(seen)
    }

    /// Whether a prime key may follow what was written in sequence.
    fn follows(&mut self, core: &mut Core, prime: &[u8]) -> Result<(), Refusal> {
        if self.greatest.is_none()
            && let Some(end) = core.trees[0].end()?
        {
            self.greatest = Some(core.trees[0].block(&end.low)?.key(end.at).to_vec());
        }
        match self.greatest.as_deref().map(|greatest| greatest.cmp(prime)) {
            Some(std::cmp::Ordering::Equal) => Err(Refusal::Duplicate),
            Some(std::cmp::Ordering::Greater) => Err(Refusal::Sequence),
            _ => Ok(()),
        }
    }

    fn changed(&mut self, core: &mut Core, changes: &[Change]) -> Result<(), Refusal> {
        let is_first = core.change(changes)?;
        if self.keeper.is_none() && core.is_changed() {
            let started = Keeper::start(&self.watched);
            // Without another thread, changes are durable at once.
            match started {
                Ok(keeper) => self.keeper = Some(keeper),
                Err(_) => return core.commit(),
            }
        } else if is_first {
            self.watched.notify();
        }
        Ok(())
    }
}

fn to_read(path: &Path) -> Result<Source, Refusal> {
    let device = Device::shared(path)?;
    match device.kind()? {
        Kind::Indexed => (),
        Kind::Empty | Kind::Missing => return Err(Refusal::Missing),
        Kind::BerkeleyDb | Kind::Foreign => return Err(Refusal::Foreign),
    }
    if let Some(store) = device.read_only()? {
        return Ok(Source::Reader(store));
    }
    // Its last writer was killed at a bad moment: an opener that may write repairs it.
    drop(device);
    drop(Device::alone(path)?.store()?);
    let store = Device::shared(path)?.read_only()?;
    store.map(Source::Reader).ok_or_else(|| Refusal::damaged("it could not be repaired"))
}

fn writer(device: Device) -> Result<Source, Refusal> {
    let store = Some(device.store()?);
    let rooms = device.clone();
    let open = Box::new(move || device.store());
    Ok(Source::Writer { store, open, room: Box::new(move || rooms.room()) })
}

fn to_change(path: &Path) -> Result<Source, Refusal> {
    match crate::device::kind_of(path)? {
        Kind::Missing | Kind::Empty => return Err(Refusal::Missing),
        Kind::BerkeleyDb | Kind::Foreign => return Err(Refusal::Foreign),
        Kind::Indexed => (),
    }
    let device = Device::alone(path)?;
    match device.kind()? {
        Kind::Indexed => writer(device),
        _ => Err(Refusal::InUse),
    }
}

fn to_create(path: &Path, definition: &Definition, empties: bool) -> Result<Source, Refusal> {
    let device = Device::alone(path)?;
    match device.kind()? {
        Kind::Foreign => return Err(Refusal::Foreign),
        // Another process has made it meanwhile.
        Kind::Indexed if !empties => return writer(device),
        Kind::BerkeleyDb if !empties => return Err(Refusal::InUse),
        Kind::Indexed => {
            // It is emptied only if it is ours, and not a store of another program's.
            let source = writer(device.clone())?;
            if let Source::Writer { store: Some(store), .. } = &source {
                let read = redb::ReadableDatabase::begin_read(store);
                crate::core::read_meta(&read.map_err(Refusal::of_store)?)?;
            }
        }
        Kind::Missing | Kind::Empty | Kind::BerkeleyDb => (),
    }
    device.clear()?;
    let source = writer(device.clone())?;
    if let Source::Writer { store: Some(store), .. } = &source {
        Core::create(store, definition)?;
    }
    device.sync_name()?;
    Ok(source)
}

fn copy_record(value: &[u8], front: usize, record: &mut Vec<u8>) -> Result<(), Refusal> {
    let bytes = value.get(front..).ok_or_else(|| Refusal::damaged("a record is cut"))?;
    record.clear();
    record.extend_from_slice(bytes);
    Ok(())
}

fn prime_of(core: &Core, record: &[u8], prime: &mut Vec<u8>) -> Result<(), Refusal> {
    let taken = core.definition.keys.first().is_some_and(|key| key.take(record, prime));
    match taken && record.len() <= core.definition.most as usize {
        true => Ok(()),
        false => Err(Refusal::Length),
    }
}

/// Whether an alternate key has a record with this value.
fn has(core: &mut Core, key: usize, value: &[u8]) -> Result<bool, Refusal> {
    Ok(match core.definition.keys[key].duplicates {
        true => seek(&mut core.trees[key], Relation::Equal, value)?.is_some(),
        false => core.trees[key].get(value)?.is_some(),
    })
}

/// What a new record changes.
fn additions(
    core: &mut Core,
    prime: &[u8],
    record: &[u8],
) -> Result<(Vec<Change>, Written), Refusal> {
    let keys = core.definition.keys.len();
    let (mut changes, mut written) = (Vec::with_capacity(keys), Written::default());
    let mut value = Vec::with_capacity(ARRIVAL * (keys - 1) + record.len());
    let mut alternate = Vec::new();
    for key in 1..keys {
        let has_key = core.definition.keys[key].take(record, &mut alternate);
        let duplicates = core.definition.keys[key].duplicates;
        if has_key && has(core, key, &alternate)? {
            if !duplicates {
                return Err(Refusal::Duplicate);
            }
            written.duplicate = true;
        }
        if duplicates {
            let arrival = core.arrivals.to_be_bytes();
            alternate.extend_from_slice(&arrival);
            value.extend_from_slice(&arrival);
        }
        if has_key {
            let key_bytes = std::mem::take(&mut alternate);
            changes.push(Change::Put { tree: key, key: key_bytes, value: prime.to_vec() });
        }
    }
    core.arrivals += u64::from(keys > 1);
    value.extend_from_slice(record);
    changes.push(Change::Put { tree: 0, key: prime.to_vec(), value });
    Ok((changes, written))
}

/// What a record in place of another changes.
fn replacement(
    core: &mut Core,
    prime: Vec<u8>,
    old: &[u8],
    record: &[u8],
) -> Result<(Vec<Change>, Written), Refusal> {
    let keys = core.definition.keys.len();
    let front = ARRIVAL * core.definition.keys.iter().filter(|key| key.duplicates).count();
    let (arrivals, old_record) =
        old.split_at_checked(front).ok_or_else(|| Refusal::damaged("a record is cut"))?;
    let (mut removed, mut put, mut written) = (Vec::new(), Vec::new(), Written::default());
    let mut value = arrivals.to_vec();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut slot = 0;
    let mut arrived = false;
    for key in 1..keys {
        let definition = &core.definition.keys[key];
        let (had, has_key) =
            (definition.take(old_record, &mut before), definition.take(record, &mut after));
        let arrival = definition.duplicates.then(|| slot..slot + ARRIVAL);
        slot += arrival.as_ref().map_or(0, |_| ARRIVAL);
        if had == has_key && (!had || before == after) {
            continue;
        }
        if had {
            if let Some(arrival) = &arrival {
                before.extend_from_slice(&arrivals[arrival.clone()]);
            }
            removed.push(Change::Remove { tree: key, key: before.clone() });
        }
        if has_key && has(core, key, &after)? {
            if arrival.is_none() {
                return Err(Refusal::Duplicate);
            }
            written.duplicate = true;
        }
        if let Some(arrival) = arrival {
            let number = core.arrivals.to_be_bytes();
            value[arrival].copy_from_slice(&number);
            after.extend_from_slice(&number);
            arrived = true;
        }
        if has_key {
            put.push(Change::Put { tree: key, key: after.clone(), value: prime.clone() });
        }
    }
    core.arrivals += u64::from(arrived);
    value.extend_from_slice(record);
    removed.append(&mut put);
    removed.push(Change::Put { tree: 0, key: prime, value });
    Ok((removed, written))
}

/// What taking a record away changes.
fn removals(definition: &Definition, prime: Vec<u8>, old: &[u8]) -> Result<Vec<Change>, Refusal> {
    let front = ARRIVAL * definition.keys.iter().filter(|key| key.duplicates).count();
    let (arrivals, record) =
        old.split_at_checked(front).ok_or_else(|| Refusal::damaged("a record is cut"))?;
    let mut arrivals = arrivals.chunks_exact(ARRIVAL);
    let (mut changes, mut alternate) = (Vec::new(), Vec::new());
    for (tree, key) in definition.keys.iter().enumerate().skip(1) {
        let arrival = if key.duplicates { arrivals.next() } else { None };
        if key.take(record, &mut alternate) {
            alternate.extend_from_slice(arrival.unwrap_or_default());
            changes.push(Change::Remove { tree, key: alternate.clone() });
        }
    }
    changes.push(Change::Remove { tree: 0, key: prime });
    Ok(changes)
}
