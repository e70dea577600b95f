//! BLDINDEX: an alternate index over the records that its base has.

use std::collections::VecDeque;

use store::{Entry as StoreEntry, LoadSource, Read, Store, StoreError, Unit as _};

use crate::attributes::AlternateIndexAttributes;
use crate::catalog::{Catalog, wrong_kind};
use crate::entry::{Definition, Entry, Kind, State, Statistics};
use crate::error::CatalogError;
use crate::layout::{Shape, built_key};
use crate::name::DataSetName;
use crate::pending;

/// An alternate key and the key of its record.
type Pair = (Box<[u8]>, Box<[u8]>);

impl<S: Store> Catalog<S> {
    /// Builds an alternate index, or a path's, over the records that its base has (BLDINDEX), anew
    /// if it was built before. Answers how many entries it has then.
    ///
    /// The pairs of keys are sorted in memory.
    ///
    /// # Errors
    /// If base or index are open, or a unit of work that has not ended has changed them; or keys
    /// that are to be unique are not: then it is not built.
    pub fn build_index(&self, name: &DataSetName) -> Result<u64, CatalogError> {
        let mut entry = self.known(name)?;
        if let Definition::Path(path) = &entry.definition {
            let found = self.get_in(entry.catalog.as_ref(), &path.entry)?;
            entry = found.ok_or_else(|| CatalogError::NotFound(path.entry.clone()))?;
        }
        let base = self.base_of(&entry)?;
        let (Some(index), Some(base)) = (entry.alternate_index(), base) else {
            return Err(wrong_kind(&entry, "only an alternate index can be built"));
        };
        let Some(cluster) = base.cluster() else {
            return Err(wrong_kind(&base, "an alternate index stands over a cluster"));
        };
        let _alone = self.alone(&entry)?;
        self.settled(&base)?;
        self.settled(&entry)?;
        self.build_alone(&entry, index, &base, Shape::of(cluster))
    }

    /// The same for whoever has the sphere alone.
    pub(crate) fn build_alone(
        &self,
        entry: &Entry,
        index: &AlternateIndexAttributes,
        base: &Entry,
        shape: Shape,
    ) -> Result<u64, CatalogError> {
        let (set, base_set) = (self.data_of(entry)?, self.data_of(base)?);
        let mut pairs = self.pairs(base_set, shape, index.key)?;
        pairs.sort_unstable();
        if index.unique
            && let Some(two) = pairs.windows(2).find(|two| two[0].0 == two[1].0)
        {
            let key = two[0].0.escape_ascii().to_string();
            return Err(CatalogError::DuplicateKey { name: entry.name.clone(), key });
        }
        // From here to the end an interruption leaves it unbuilt.
        self.note_state(entry, State::Unbuilt, 0)?;
        let store = &self.shared.store;
        let in_use = |error| match error {
            StoreError::SetInUse(_) => CatalogError::InUse(entry.name.clone()),
            other => CatalogError::Store(other),
        };
        if !pending::is_empty(store, set)? {
            store.empty_set(set).map_err(in_use)?;
        }
        let unique = index.unique;
        let mut source = Sorted { pairs: pairs.into(), unique, entry: None };
        let records = store.load_sorted(set, &mut source).map_err(in_use)?;
        self.note_state(entry, State::Ready, records)?;
        Ok(records)
    }

    fn pairs(
        &self,
        set: store::SetId,
        shape: Shape,
        key: crate::attributes::KeyField,
    ) -> Result<Vec<Pair>, CatalogError> {
        let store = &self.shared.store;
        let mut unit = store.begin(store::UnitOptions::READ_ONLY)?;
        let (mut cursor, mut record, mut pairs) = (store.cursor(set)?, Vec::new(), Vec::new());
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            shape.copy(entry.key, entry.value, &mut record)?;
            if let Some(alternate) = key.of(&record) {
                pairs.push((alternate.into(), entry.key.into()));
            }
        }
        unit.commit()?;
        Ok(pairs)
    }

    pub(crate) fn note_state(
        &self,
        entry: &Entry,
        state: State,
        records: u64,
    ) -> Result<(), CatalogError> {
        let name = &entry.name;
        let within = self.within(entry.catalog.as_ref())?;
        self.change(|rows| {
            let (catalog, now) = within
                .find(rows, name)?
                .filter(|(_, entry)| entry.kind() == Kind::AlternateIndex)
                .ok_or_else(|| CatalogError::NotFound(name.clone()))?;
            rows.put(catalog, &Entry { state, ..now })?;
            let statistics = Statistics { records, ..rows.statistics(entry.number)? };
            rows.put_statistics(entry.number, &statistics)
        })
    }
}

/// Sorted pairs as entries of an index.
struct Sorted {
    pairs: VecDeque<Pair>,
    unique: bool,
    entry: Option<(Vec<u8>, Box<[u8]>)>,
}

impl LoadSource for Sorted {
    fn next_entry(&mut self) -> store::Result<Option<StoreEntry<'_>>> {
        let Some((alternate, base)) = self.pairs.pop_front() else { return Ok(None) };
        let mut key = self.entry.take().map(|(key, _)| key).unwrap_or_default();
        if self.unique {
            key.clear();
            key.extend_from_slice(&alternate);
        } else {
            built_key(&alternate, &base, &mut key);
        }
        let (key, value) = self.entry.insert((key, base));
        Ok(Some(StoreEntry { key, value }))
    }
}
