//! Which data sets exist, by number and by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::DataSetId;
use pool::Backing;
use seam::sync::Mutex;
use space::DataSet;

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

    pub(crate) fn remove(&mut self, id: DataSetId) -> Option<Arc<DataSet>> {
        let set = self.by_id.remove(&id)?;
        self.by_name.remove(set.name());
        Some(set)
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
