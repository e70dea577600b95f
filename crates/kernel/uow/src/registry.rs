//! Which data sets exist, by number and by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::DataSetId;
use pool::Backing;
use seam::sync::Mutex;
use space::{DataSet, Definition};

/// The open data sets of a system.
///
/// The record that makes or ends a data set is appended under this registry's mutex, so that a
/// checkpoint, which holds it too, sees both or neither.
#[derive(Default)]
pub(crate) struct Registry {
    state: Mutex<Sets>,
}

#[derive(Default)]
pub(crate) struct Sets {
    by_id: BTreeMap<DataSetId, Arc<DataSet>>,
    by_name: BTreeMap<String, DataSetId>,
    /// Those of `by_id` that nobody finds by name yet: they may take the place of others.
    building: BTreeSet<DataSetId>,
    /// Data sets that exist and are of no use until they are recovered.
    offline: BTreeMap<DataSetId, Definition>,
    pub(crate) next: u32,
}

impl Registry {
    pub(crate) fn lock(&self) -> seam::sync::MutexGuard<'_, Sets> {
        self.state.lock()
    }
}

impl Sets {
    pub(crate) fn insert(&mut self, set: Arc<DataSet>) {
        self.next = self.next.max(set.id().0 + 1);
        self.by_name.insert(set.name().to_owned(), set.id());
        self.by_id.insert(set.id(), set);
    }

    /// A data set that is being built.
    pub(crate) fn insert_building(&mut self, set: Arc<DataSet>) {
        self.next = self.next.max(set.id().0 + 1);
        self.building.insert(set.id());
        self.by_id.insert(set.id(), set);
    }

    pub(crate) fn remove(&mut self, id: DataSetId) -> Option<Arc<DataSet>> {
        self.offline.remove(&id);
        let set = self.by_id.remove(&id)?;
        if !self.building.remove(&id) {
            self.by_name.remove(set.name());
        }
        Some(set)
    }

    /// What was built takes the place of another data set.
    pub(crate) fn put_in_place(&mut self, old: DataSetId, new: DataSetId) {
        self.remove(old);
        if let Some(set) = self.by_id.get(&new).cloned() {
            self.building.remove(&new);
            self.insert(set);
        }
    }

    pub(crate) fn put_offline(&mut self, definition: Definition) {
        self.next = self.next.max(definition.id.0 + 1);
        self.offline.insert(definition.id, definition);
    }

    pub(crate) fn offline(&self) -> Vec<Definition> {
        self.offline.values().cloned().collect()
    }

    pub(crate) fn is_offline(&self, id: DataSetId) -> bool {
        self.offline.contains_key(&id)
    }

    pub(crate) fn is_building(&self, id: DataSetId) -> bool {
        self.building.contains(&id)
    }

    pub(crate) fn building(&self) -> Vec<DataSetId> {
        self.building.iter().copied().collect()
    }

    /// The name of whatever exists under it, in use or not.
    pub(crate) fn taken(&self, name: &str) -> Option<DataSetId> {
        let offline = self.offline.values().find(|definition| definition.name == name);
        self.by_name.get(name).copied().or(offline.map(|definition| definition.id))
    }

    pub(crate) fn get(&self, id: DataSetId) -> Option<Arc<DataSet>> {
        self.by_id.get(&id).cloned()
    }

    pub(crate) fn named(&self, name: &str) -> Option<Arc<DataSet>> {
        self.get(*self.by_name.get(name)?)
    }

    pub(crate) fn all(&self) -> Vec<Arc<DataSet>> {
        self.by_id.values().cloned().collect()
    }
}

impl pool::writer::Sets for Registry {
    fn backing(&self, set: DataSetId) -> Option<Arc<dyn Backing>> {
        let set = self.lock().get(set)?;
        Some(set)
    }
}
