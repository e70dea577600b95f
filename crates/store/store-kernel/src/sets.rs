//! Sets over data sets: attributes, making, dropping, loading, and drawn numbers.
//!
//! What the kernel does not know of a set stands in its definition's attributes:
//!
//! | bytes | field |
//! |---|---|
//! | 1 | layout version, 2; version 1 ends before the prefix; version 3 has a number behind it |
//! | 1 | locking: 0 keys, 1 the caller's |
//! | 1 | percent that a load leaves free |
//! | 1 | what was asked for when the set was made: 1 interval size, 2 pool, 4 key label |
//! | 2 | how many leading bytes of a key say what it belongs to, little-endian |
//! | 4 | the set's number, if its data set took the place of another one: the first one's |
//!
//! Drawn numbers stand in a data set of their own, [`SEQUENCES`]: set number, big-endian, to the
//! first number that has not been set aside. A block of numbers is set aside durably before the
//! first of it is given out.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

use base::hash::FixedMap;
use base::{DataSetId, KeyGeneration};
use btree::{Tree, format_empty};
use lock::{LockName, Mode, Wait};
use pool::PoolError;
use seal::Format;
use seam::sync::Mutex;
use space::{DataSet, Definition, ROOT};
use store::{LoadSource, Locking, Result, SetAttributes, SetId, SetInfo, StoreError};
use uow::{Kernel, Uow, UowOptions};

use crate::error::{of_tree, of_uow};
use crate::ghosts::Ghosts;

/// What a set is given when its attributes leave it open.
#[derive(Clone, Debug)]
pub struct StoreDefaults {
    /// Bytes of a control interval.
    pub interval_bytes: u32,
    /// The label of the key.
    pub key_label: String,
    /// Whether sets are sealed unless asked otherwise.
    pub format: Format,
    /// Where files lie, in turn, relative to the system's folder.
    pub folders: Vec<String>,
    /// Bytes of one file; 0: one file for all.
    pub file_bytes: u64,
}

impl Default for StoreDefaults {
    fn default() -> StoreDefaults {
        StoreDefaults {
            interval_bytes: 8192,
            key_label: "data".into(),
            format: Format::Sealed,
            folders: vec!["data".into()],
            file_bytes: 0,
        }
    }
}

/// The attributes of a data set that is to take the place of another one: the same, and the number
/// by which the store has known the set from its beginning.
#[must_use]
pub fn attributes_of_successor(definition: &Definition) -> Vec<u8> {
    let mut attributes = definition.attributes.clone();
    match attributes[..] {
        [1, ..] => attributes.extend_from_slice(&[0, 0]),
        [VERSION, ..] => {}
        // It took the place of another one itself; or it is none of the store's.
        _ => return attributes,
    }
    attributes[0] = VERSION_NUMBERED;
    attributes.extend_from_slice(&definition.id.0.to_le_bytes());
    attributes
}

/// A set in use.
pub(crate) struct SetHandle {
    pub(crate) id: SetId,
    pub(crate) data: Arc<DataSet>,
    pub(crate) locking: Locking,
    pub(crate) ghosts: Ghosts,
    free_percent: u8,
    asked: u8,
    prefix_bytes: u16,
    gone: AtomicBool,
    sequence: Mutex<Drawn>,
}

/// Numbers set aside and not yet given out.
#[derive(Default)]
struct Drawn {
    next: u64,
    end: u64,
}

/// All sets.
pub(crate) struct Sets {
    defaults: StoreDefaults,
    by_id: Mutex<FixedMap<u32, Arc<SetHandle>>>,
}

/// The data set that keeps drawn numbers; it is no set of the store's.
pub const SEQUENCES: &str = "$SEQUENCES";
/// So many numbers are set aside at once.
const SET_ASIDE: u64 = 1024;
const VERSION: u8 = 2;
const VERSION_NUMBERED: u8 = 3;
const ASKED_INTERVAL: u8 = 1;
const ASKED_POOL: u8 = 2;
const ASKED_LABEL: u8 = 4;
const ASKED_FORM: u8 = 8;

impl SetHandle {
    pub(crate) fn check(&self) -> Result<()> {
        if self.gone.load(Acquire) { Err(StoreError::NoSuchSet(self.id)) } else { Ok(()) }
    }
}

impl Sets {
    pub(crate) fn over(kernel: &Arc<Kernel>, defaults: StoreDefaults) -> Result<Sets> {
        let sets = Sets { defaults, by_id: Mutex::default() };
        for data in kernel.all_sets() {
            sets.adopt(data)?;
        }
        Ok(sets)
    }

    fn adopt(&self, data: Arc<DataSet>) -> Result<SetId> {
        let definition = data.definition();
        let (mut id, attributes) = (SetId(data.id().0), &definition.attributes[..]);
        let (locking, free_percent, asked, prefix_bytes) = match *attributes {
            [1, locking @ 0..=1, free, asked] => (locking, free, asked, 0),
            [VERSION, locking @ 0..=1, free, asked, low, high] => {
                (locking, free, asked, u16::from_le_bytes([low, high]))
            }
            [VERSION_NUMBERED, locking @ 0..=1, free, asked, low, high, a, b, c, d] => {
                id = SetId(u32::from_le_bytes([a, b, c, d]));
                (locking, free, asked, u16::from_le_bytes([low, high]))
            }
            _ => return Err(StoreError::Unsupported("a set of a newer release")),
        };
        data.set_prefix_bytes(prefix_bytes);
        let locking = if locking == 0 { Locking::Keys } else { Locking::Caller };
        let gone = AtomicBool::new(false);
        let sequence = Mutex::default();
        let ghosts = Ghosts::default();
        let handle = SetHandle {
            id,
            data,
            locking,
            ghosts,
            free_percent,
            asked,
            prefix_bytes,
            gone,
            sequence,
        };
        self.by_id.lock().insert(id.0, Arc::new(handle));
        Ok(id)
    }

    /// What the smallest interval of any set can hold; a bound for keys.
    pub(crate) fn usable_bytes_min(&self) -> usize {
        let by_id = self.by_id.lock();
        let smallest = by_id.values().map(|set| set.data.usable_bytes()).min();
        let default = space::definition::unit_of(self.defaults.interval_bytes);
        smallest.unwrap_or(usize::MAX).min(default - seal::TRAILER_BYTES)
    }

    pub(crate) fn handle(&self, set: SetId) -> Result<Arc<SetHandle>> {
        self.by_id.lock().get(&set.0).cloned().ok_or(StoreError::NoSuchSet(set))
    }

    pub(crate) fn named(&self, name: &str) -> Option<SetId> {
        if name == SEQUENCES {
            return None;
        }
        let by_id = self.by_id.lock();
        by_id.values().find(|set| set.data.name() == name).map(|set| set.id)
    }

    pub(crate) fn list(&self) -> Vec<SetInfo> {
        let by_id = self.by_id.lock();
        let users = by_id.values().filter(|set| set.data.name() != SEQUENCES);
        let mut all: Vec<SetInfo> = users.map(|set| info(set)).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    pub(crate) fn create(
        &self,
        kernel: &Arc<Kernel>,
        name: &str,
        attributes: &SetAttributes,
    ) -> Result<SetId> {
        if name == SEQUENCES {
            return Err(StoreError::SetExists(name.into()));
        }
        self.make(kernel, name, attributes)
    }

    fn make(&self, kernel: &Kernel, name: &str, attributes: &SetAttributes) -> Result<SetId> {
        let ci_bytes = attributes.interval_bytes.unwrap_or(self.defaults.interval_bytes);
        let label = attributes.key_label.clone().unwrap_or(self.defaults.key_label.clone());
        let format = match attributes.plain {
            None => self.defaults.format,
            Some(true) => Format::Plain,
            Some(false) => Format::Sealed,
        };
        let generation = match format {
            Format::Plain => KeyGeneration(0),
            Format::Sealed => {
                kernel.current_generation(&label).map_err(|error| of_uow(error.into()))?
            }
        };
        let unit = space::definition::unit_of(ci_bytes) as u64;
        let locking = u8::from(attributes.locking == Locking::Caller);
        let asked = [
            (attributes.interval_bytes.is_some(), ASKED_INTERVAL),
            (attributes.pool.is_some(), ASKED_POOL),
            (attributes.key_label.is_some(), ASKED_LABEL),
            (attributes.plain.is_some(), ASKED_FORM),
        ];
        let asked = asked.into_iter().map(|(was, bit)| if was { bit } else { 0 }).sum();
        let definition = Definition {
            id: DataSetId(0),
            name: name.to_owned(),
            ci_bytes,
            format,
            label,
            generation,
            pool: attributes.pool.clone().unwrap_or_default(),
            file_intervals: (self.defaults.file_bytes / unit) as u32,
            folders: self.defaults.folders.clone(),
            attributes: vec![
                VERSION,
                locking,
                attributes.free_percent,
                asked,
                attributes.prefix_bytes as u8,
                (attributes.prefix_bytes >> 8) as u8,
            ],
            conversion: None,
            permit: None,
        };
        let made = kernel.create_set(definition, &format_empty);
        let data = made.map_err(|error| match error {
            uow::UowError::SetExists { name, .. } => StoreError::SetExists(name.into()),
            other => of_uow(other),
        })?;
        self.adopt(data)
    }

    /// Runs `body` while no other unit of work uses the set.
    fn alone<T>(
        &self,
        kernel: &Arc<Kernel>,
        set: SetId,
        body: impl FnOnce(Uow, &Arc<SetHandle>) -> Result<T>,
    ) -> Result<T> {
        let handle = self.handle(set)?;
        let mut uow = kernel.begin(UowOptions::default()).map_err(of_uow)?;
        let name = LockName::set(handle.data.id());
        match uow.lock(name, Mode::Exclusive, Wait::No) {
            Err(uow::UowError::Lock(lock::LockError::WouldBlock { .. })) => {
                return Err(StoreError::SetInUse(set));
            }
            other => other.map_err(of_uow)?,
        };
        handle.check()?;
        body(uow, &handle)
    }

    pub(crate) fn drop_set(&self, kernel: &Arc<Kernel>, set: SetId) -> Result<()> {
        self.alone(kernel, set, |uow, handle| {
            handle.gone.store(true, Release);
            self.by_id.lock().remove(&set.0);
            kernel.drop_set(&handle.data).map_err(of_uow)?;
            uow.backout().map_err(of_uow)
        })
    }

    pub(crate) fn drop_offline(&self, kernel: &Kernel, name: &str) -> Result<bool> {
        if name == SEQUENCES {
            return Err(StoreError::Unsupported("dropping the numbers that were drawn"));
        }
        kernel.drop_offline_set(name).map_err(of_uow)
    }

    /// Another data set is the set from now on.
    pub(crate) fn replace(&self, old: DataSetId, new: &Arc<DataSet>) -> Result<()> {
        let known = {
            let by_id = self.by_id.lock();
            by_id.values().find(|set| set.data.id() == old).cloned()
        };
        // Numbers that were set aside stay so: those that were not given out are passed over.
        if let Some(known) = known {
            known.gone.store(true, Release);
        }
        self.adopt(Arc::clone(new)).map(|_| ())
    }

    /// What stands in a set that is emptied is not needed, and may be damaged: of its tree only the
    /// root is read.
    pub(crate) fn empty(&self, kernel: &Arc<Kernel>, set: SetId) -> Result<()> {
        let root = self.handle(set)?.data.shared(ROOT).map(drop);
        if matches!(root, Err(PoolError::Damaged { .. } | PoolError::Read { .. })) {
            return self.reset(kernel, set);
        }
        self.alone(kernel, set, |uow, handle| {
            Tree::new(kernel, &handle.data).clear().map_err(of_tree)?;
            uow.backout().map_err(of_uow)?;
            kernel.log().wait_durable(kernel.log().next_lsn()).map_err(|e| of_uow(e.into()))
        })
    }

    /// Another data set becomes the set, an empty one of the same form. A crash in between leaves
    /// none.
    fn reset(&self, kernel: &Arc<Kernel>, set: SetId) -> Result<()> {
        let old = self.handle(set)?.data.definition();
        let attributes = attributes_of_successor(&old);
        let (id, conversion) = (DataSetId(0), None);
        let definition = Definition { id, attributes, conversion, ..Definition::clone(&old) };
        self.drop_set(kernel, set)?;
        let data = kernel.create_set(definition, &format_empty).map_err(of_uow)?;
        self.adopt(data).map(|_| ())
    }

    pub(crate) fn load(
        &self,
        kernel: &Arc<Kernel>,
        set: SetId,
        source: &mut impl LoadSource,
    ) -> Result<u64> {
        self.alone(kernel, set, |mut uow, handle| {
            let tree = Tree::new(kernel, &handle.data);
            let mut load = match tree.load(&mut uow, handle.free_percent) {
                Err(btree::TreeError::NotEmpty { .. }) => return Err(StoreError::SetNotEmpty(set)),
                other => other.map_err(of_tree)?,
            };
            let mut count = 0;
            while let Some(entry) = source.next_entry()? {
                load.push(&mut uow, entry.key, entry.value).map_err(of_tree)?;
                count += 1;
            }
            load.finish(&mut uow).map_err(of_tree)?;
            uow.commit().map_err(of_uow)?;
            Ok(count)
        })
    }

    pub(crate) fn draw(&self, kernel: &Arc<Kernel>, set: SetId, count: u32) -> Result<u64> {
        let handle = self.handle(set)?;
        let mut drawn = handle.sequence.lock();
        handle.check()?;
        let count = u64::from(count);
        if drawn.next + count > drawn.end {
            let aside = count.max(SET_ASIDE);
            drawn.next = self.set_aside(kernel, set, aside)?;
            drawn.end = drawn.next + aside;
        }
        let first = drawn.next;
        drawn.next += count;
        Ok(first)
    }

    /// Sets a block of numbers aside, durably, and returns the first.
    fn set_aside(&self, kernel: &Arc<Kernel>, set: SetId, count: u64) -> Result<u64> {
        let sequences = match kernel.set_named(SEQUENCES) {
            Some(data) => data,
            None => {
                let attributes = SetAttributes { locking: Locking::Caller, ..Default::default() };
                match self.make(kernel, SEQUENCES, &attributes) {
                    Ok(_) | Err(StoreError::SetExists(_)) => {}
                    Err(error) => return Err(error),
                }
                kernel.set_named(SEQUENCES).ok_or(StoreError::NoSuchSet(set))?
            }
        };
        let tree = Tree::new(kernel, &sequences);
        let key = set.0.to_be_bytes();
        let mut value = Vec::new();
        let mut uow = kernel.begin(UowOptions::default()).map_err(of_uow)?;
        let name = LockName::key(sequences.id(), &key);
        uow.lock(name, Mode::Exclusive, Wait::Yes).map_err(of_uow)?;
        let known = tree.get(&key, &mut value).map_err(of_tree)?;
        let first = match (known, <[u8; 8]>::try_from(&value[..])) {
            (true, Ok(bytes)) => u64::from_le_bytes(bytes),
            _ => 1,
        };
        let end = first
            .checked_add(count)
            .ok_or_else(|| StoreError::NoSpace("the numbers of a set's sequence".into()))?;
        tree.put(&mut uow, &key, &end.to_le_bytes()).map_err(of_tree)?;
        uow.commit().map_err(of_uow)?;
        Ok(first)
    }
}

fn info(set: &SetHandle) -> SetInfo {
    let definition = set.data.definition();
    let asked = |what| set.asked & what != 0;
    SetInfo {
        id: set.id,
        name: definition.name.clone(),
        attributes: SetAttributes {
            locking: set.locking,
            interval_bytes: asked(ASKED_INTERVAL).then_some(definition.ci_bytes),
            pool: asked(ASKED_POOL).then(|| definition.pool.clone()),
            key_label: asked(ASKED_LABEL).then(|| definition.label.clone()),
            plain: asked(ASKED_FORM).then_some(definition.format == Format::Plain),
            free_percent: set.free_percent,
            prefix_bytes: set.prefix_bytes,
        },
    }
}
