//! The model: a store in memory that says what is right.
//!
//! It is written to be obviously correct and truly concurrent, not to be fast: one mutex, changes
//! in place with undo, strict two-phase locks on keys and on the stretches between them, and a
//! search for a circle at every wait. Models of data are tested on it before any disk is involved,
//! and implementations are compared with it.
//!
//! Its log is imaginary, but can be held ([`ModelStore::hold_log`]) to see who waits for it, it can
//! be full ([`ModelStore::fill_log`]), and the store can be crashed ([`ModelStore::crash`]) to see
//! what a restart would find.
//!
//! ```
//! use holdfast_store_suite::model::ModelStore;
//! use store::{
//!     Cursor, KeyRange, Read, SetAttributes, Store, StoreError, Unit, UnitOptions, run,
//! };
//!
//! let store = ModelStore::new();
//! let parts = store.create_set("PARTS", &SetAttributes::default())?;
//! run(&store, UnitOptions::default(), |unit| -> Result<(), StoreError> {
//!     unit.put(parts, b"02-bolt", b"in stock")?;
//!     unit.put(parts, b"02-nut", b"on order")?;
//!     unit.put(parts, b"03-cog", b"in stock")
//! })?;
//!
//! let mut unit = store.begin(UnitOptions::READ_ONLY)?;
//! let mut cursor = store.cursor(parts)?;
//! let mut end = Vec::new();
//! cursor.limit(KeyRange::prefix(b"02-", &mut end));
//! let mut found = 0;
//! while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
//!     assert!(entry.key.starts_with(b"02-"));
//!     found += 1;
//! }
//! assert_eq!(found, 2);
//! unit.commit()?;
//! # Ok::<(), StoreError>(())
//! ```

mod cursor;
mod cut;
mod locks;
mod state;
mod unit;
mod wait;

use std::collections::BTreeMap;
use std::sync::Arc;

use seam::clock::{Clock, RealClock};
use seam::sync::{Condvar, Mutex};

pub use cursor::ModelCursor;
pub use unit::ModelUnit;

use locks::Locks;
use state::{SetData, State, UnitState};
use store::Capabilities;
use store::LoadSource;
use store::error::{Limit, Result, StoreError};
use store::traits::{Store, UnitOptions};
use store::{CommitOrder, Committed};
use store::{SetAttributes, SetId, SetInfo};

/// A store in memory.
#[derive(Clone)]
pub struct ModelStore {
    shared: Arc<Shared>,
}

struct Shared {
    capabilities: Capabilities,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Something happened that somebody may wait for: a lock given back, the log written.
    changed: Condvar,
}

fn committed(order: u64) -> Committed {
    Committed { order: Some(CommitOrder(order)) }
}

impl Default for ModelStore {
    fn default() -> ModelStore {
        ModelStore::new()
    }
}

impl ModelStore {
    /// What the model offers unless told otherwise.
    pub const CAPABILITIES: Capabilities = Capabilities {
        name: "model",
        key_bytes_max: 2_000,
        value_bytes_max: 64 << 20,
        lock_name_bytes_max: 1_024,
        unit_bytes_max: None,
        unit_writes_max: None,
        unit_age_max: None,
        savepoints_max: 64,
        durable: false,
        strict: true,
        waits: true,
        caller_locking: true,
        reads_uncommitted: true,
        early_release: true,
        commit_order: true,
        cheap_range_delete: false,
    };

    /// An empty store on the machine's clock.
    #[must_use]
    pub fn new() -> ModelStore {
        ModelStore::with(ModelStore::CAPABILITIES, Arc::new(RealClock::new()))
    }

    /// An empty store with other limits, or on another clock. Only the limits can be chosen; the
    /// rest of the capabilities must be as they are.
    #[must_use]
    pub fn with(limits: Capabilities, clock: Arc<dyn Clock>) -> ModelStore {
        ModelStore::of_state(limits, clock, State::default())
    }

    fn of_state(capabilities: Capabilities, clock: Arc<dyn Clock>, state: State) -> ModelStore {
        let (state, changed) = (Mutex::new(state), Condvar::new());
        ModelStore { shared: Arc::new(Shared { capabilities, clock, state, changed }) }
    }

    /// Holds the log: from now on commits happen, but are not durable.
    pub fn hold_log(&self) {
        let mut state = self.shared.state.lock();
        if state.held_image.is_none() {
            state.held_image = Some(state.committed_image());
        }
    }

    /// Lets the log go on: what was committed meanwhile is durable, and sinks are told from here.
    pub fn release_log(&self) {
        let mut state = self.shared.state.lock();
        state.held_image = None;
        state.durable = state.commits;
        drop(state);
        self.shared.changed.notify_all();
        self.shared.settle();
    }

    /// Has the log full, or gives it room again: while it is full, changes meet
    /// [`StoreError::LogFull`], and so does a unit of work with changes that is kept open.
    pub fn fill_log(&self, full: bool) {
        self.shared.state.lock().log_room = full.then_some(0);
    }

    /// The same, after so many changes more.
    pub fn fill_log_after(&self, changes: u32) {
        self.shared.state.lock().log_room = Some(changes);
    }

    /// Stops this store at once and answers the one that a restart would find: with everything
    /// durable and nothing else.
    #[must_use]
    pub fn crash(&self) -> ModelStore {
        let mut state = self.shared.state.lock();
        let sets = state.held_image.take().unwrap_or_else(|| state.committed_image());
        state.stopped = Some("it was crashed".into());
        let survivor = State { sets, sets_made: state.sets_made, ..State::default() };
        drop(state);
        self.shared.changed.notify_all();
        self.shared.settle();
        let clock = Arc::clone(&self.shared.clock);
        ModelStore::of_state(self.shared.capabilities.clone(), clock, survivor)
    }

    /// Changes the sets themselves: now, and in what a restart would find.
    fn change_sets<T>(
        &self,
        check: impl FnOnce(&State) -> Result<()>,
        mut change: impl FnMut(&mut BTreeMap<SetId, SetData>) -> T,
    ) -> Result<T> {
        let mut state = self.shared.state.lock();
        state.check_running()?;
        check(&state)?;
        if let Some(image) = &mut state.held_image {
            change(image);
        }
        Ok(change(&mut state.sets))
    }

    fn check_idle(state: &State, set: SetId) -> Result<()> {
        state.set(set)?;
        if state.is_in_use(set) { Err(StoreError::SetInUse(set)) } else { Ok(()) }
    }

    fn read_source(&self, source: &mut impl LoadSource) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        let most = &self.shared.capabilities;
        let mut loaded = BTreeMap::new();
        while let Some(entry) = source.next_entry()? {
            let (key, value) = (entry.key.len(), entry.value.len());
            if key > most.key_bytes_max {
                return Err(StoreError::too_large(Limit::KeyBytes, key, most.key_bytes_max));
            }
            if value > most.value_bytes_max {
                return Err(StoreError::too_large(Limit::ValueBytes, value, most.value_bytes_max));
            }
            if loaded.last_key_value().is_some_and(|(last, _): (&Vec<u8>, _)| entry.key <= last) {
                return Err(StoreError::OutOfOrder(loaded.len() as u64 + 1));
            }
            loaded.insert(entry.key.to_vec(), entry.value.to_vec());
        }
        Ok(loaded)
    }
}

impl Store for ModelStore {
    type Unit = ModelUnit;
    type Cursor = ModelCursor;

    fn capabilities(&self) -> &Capabilities {
        &self.shared.capabilities
    }

    fn begin(&self, options: UnitOptions) -> Result<ModelUnit> {
        let begun = self.shared.clock.monotonic();
        let mut state = self.shared.state.lock();
        state.check_running()?;
        state.units_begun += 1;
        let number = state.units_begun;
        let unit = UnitState {
            options,
            begun,
            undo: Vec::new(),
            bytes: 0,
            savepoints: Vec::new(),
            locks: Locks::default(),
            waiting: None,
            ticket: None,
            asked: None,
            victim: false,
        };
        state.units.insert(number, unit);
        drop(state);
        Ok(ModelUnit::new(Arc::clone(&self.shared), number, options))
    }

    fn cursor(&self, set: SetId) -> Result<ModelCursor> {
        self.shared.state.lock().set(set)?;
        Ok(ModelCursor::new(set))
    }

    fn create_set(&self, name: &str, attributes: &SetAttributes) -> Result<SetId> {
        let id = {
            let mut state = self.shared.state.lock();
            state.sets_made += 1;
            SetId(state.sets_made)
        };
        let exists = |state: &State| match state.sets.values().any(|set| set.name == name) {
            true => Err(StoreError::SetExists(name.into())),
            false => Ok(()),
        };
        let (name, attributes) = (name.to_owned(), attributes.clone());
        let made = SetData { name: name.clone(), attributes, entries: BTreeMap::new(), drawn: 0 };
        self.change_sets(exists, |sets| drop(sets.insert(id, made.clone())))?;
        Ok(id)
    }

    fn drop_set(&self, set: SetId) -> Result<()> {
        self.change_sets(|state| Self::check_idle(state, set), |sets| drop(sets.remove(&set)))
    }

    fn empty_set(&self, set: SetId) -> Result<()> {
        let empty = |sets: &mut BTreeMap<SetId, SetData>| {
            sets.get_mut(&set).into_iter().for_each(|set| set.entries.clear());
        };
        self.change_sets(|state| Self::check_idle(state, set), empty)
    }

    fn set(&self, name: &str) -> Result<Option<SetId>> {
        let state = self.shared.state.lock();
        state.check_running()?;
        Ok(state.sets.iter().find(|(_, set)| set.name == name).map(|(id, _)| *id))
    }

    fn sets(&self) -> Result<Vec<SetInfo>> {
        let state = self.shared.state.lock();
        state.check_running()?;
        let info = |(id, set): (&SetId, &SetData)| SetInfo {
            id: *id,
            name: set.name.clone(),
            attributes: set.attributes.clone(),
        };
        let mut sets: Vec<SetInfo> = state.sets.iter().map(info).collect();
        sets.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(sets)
    }

    fn is_short_of_room(&self) -> bool {
        self.shared.state.lock().check_log().is_err()
    }

    fn load_sorted(&self, set: SetId, source: &mut impl LoadSource) -> Result<u64> {
        let check = |state: &State| {
            Self::check_idle(state, set)?;
            let empty = state.set(set)?.entries.is_empty();
            if empty { Ok(()) } else { Err(StoreError::SetNotEmpty(set)) }
        };
        check(&self.shared.state.lock())?;
        let loaded = self.read_source(source)?;
        self.change_sets(check, |sets| {
            sets.get_mut(&set).into_iter().for_each(|set| set.entries = loaded.clone());
        })?;
        Ok(loaded.len() as u64)
    }

    fn draw(&self, set: SetId, count: u32) -> Result<u64> {
        let count = u64::from(count);
        let room = |state: &State| match state.set(set)?.drawn.checked_add(count) {
            Some(_) => Ok(()),
            None => Err(StoreError::NoSpace("the set's sequence".into())),
        };
        let draw = |sets: &mut BTreeMap<SetId, SetData>| match sets.get_mut(&set) {
            Some(set) => {
                set.drawn += count;
                set.drawn - count + 1
            }
            None => 0,
        };
        self.change_sets(room, draw)
    }

    fn wait_durable(&self) -> Result<()> {
        let commits = self.shared.state.lock().commits;
        self.shared.wait_for(commits)
    }
}

#[cfg(test)]
mod tests;
