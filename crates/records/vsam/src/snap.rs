//! SNAP: copies of many clusters, consistent to one moment, while they are in use.
//!
//! | pass | reads | who waits |
//! |---|---|---|
//! | first | everything, without locks, and loads the copies | nobody |
//! | second | everything again, with locks, and repairs what has changed meanwhile | who changes what was read in this pass, until the pass is over |
//!
//! 1. The copies are the records as they were at one moment: the end of the second pass, when one
//!    unit of work has everything locked against change. What was committed before is in them,
//!    what was not is not.
//! 2. Alternate indexes and paths come along, under names that follow the same rule.
//! 3. All copies appear at once, or none. An interruption leaves nothing.
//!
//! The time is that of reading everything twice and writing it once. A copy shares no storage with
//! what it was made of.

use store::{
    Cover, Entry as StoreEntry, LoadSource, Read, SetId, Store, StoreError, Unit as _, UnitOptions,
};

use crate::catalog::Catalog;
use crate::entry::{DataSet, Definition, Entry, Kind, ObjectNumber, State, Statistics};
use crate::error::CatalogError;
use crate::layout::{ARRIVAL_BYTES, u64_of};
use crate::name::DataSetName;
use crate::pending;
use crate::rows::unit_options;
use crate::share::{Ticket, Use};

/// Under which names a copy stands: the first pair whose left side begins a name renames it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synonyms(pub Vec<(DataSetName, DataSetName)>);

impl Synonyms {
    /// The name of a copy.
    #[must_use]
    pub fn of(&self, name: &DataSetName) -> DataSetName {
        let renamed = self.0.iter().find_map(|(from, to)| name.renamed(from, to));
        renamed.unwrap_or_else(|| name.clone())
    }
}

/// A copy that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapped {
    /// What was copied.
    pub from: DataSetName,
    /// The copy.
    pub to: DataSetName,
    /// What it is.
    pub kind: Kind,
    /// Records, or entries of an index; 0 for a path.
    pub records: u64,
}

/// An object and its copy.
pub(crate) struct Pair {
    pub(crate) source: Entry,
    pub(crate) copy: Entry,
    records: u64,
}

/// How often the second pass is begun before a deadlock, or a wait that is too long, is the answer.
const TRIES_MAX: u32 = 5;
/// Changes of copies that are committed together.
const CHANGES_AT_ONCE: u32 = 10_000;

impl<S: Store> Catalog<S> {
    /// Copies clusters with all that stands over them, into a catalog (`None`: the one that the new
    /// names pick), under other names where the synonyms say so. They may be in use.
    ///
    /// # Errors
    /// If a name is no cluster's, or is taken where the copies are to stand; if somebody keeps a
    /// record for longer than requests wait. Then no copy is left.
    pub fn snap(
        &self,
        clusters: &[DataSetName],
        synonyms: &Synonyms,
        catalog: Option<&DataSetName>,
    ) -> Result<Vec<Snapped>, CatalogError> {
        let (sources, _tickets) = self.spheres(clusters)?;
        let to = match catalog {
            Some(catalog) => self.within(Some(catalog))?,
            None => self.clone(),
        };
        let mut pairs = Vec::new();
        for source in sources {
            pairs.push(to.copy_of(source, synonyms)?);
        }
        // From here on there is something to take back.
        let made = to.make(&mut pairs).and_then(|()| to.fill(&mut pairs));
        if let Err(error) = made {
            to.take_back(&pairs)?;
            return Err(error);
        }
        to.publish(&pairs)?;
        Ok(pairs
            .into_iter()
            .map(|pair| Snapped {
                from: pair.source.name,
                to: pair.copy.name.clone(),
                kind: pair.copy.kind(),
                records: pair.records,
            })
            .collect())
    }

    /// All names that [`snap`](Catalog::snap) would give to copies, those of components among them.
    ///
    /// # Errors
    /// If a name is no cluster's, or the cluster is being loaded or deleted.
    pub fn snap_names(
        &self,
        clusters: &[DataSetName],
        synonyms: &Synonyms,
    ) -> Result<Vec<DataSetName>, CatalogError> {
        let (sources, _tickets) = self.spheres(clusters)?;
        let copies = sources.into_iter().map(|source| renamed(source, synonyms));
        Ok(copies.flat_map(|copy| copy.names()).collect())
    }

    /// A cluster that is to be copied, and what keeps it from being emptied.
    fn base(&self, name: &DataSetName) -> Result<(Entry, Ticket), CatalogError> {
        let cluster = self.known(name)?;
        let Some(attributes) = cluster.cluster() else {
            return Err(crate::catalog::wrong_kind(&cluster, "clusters are copied"));
        };
        let sphere = self.shared.registry.sphere(cluster.number);
        let ticket = sphere.admit(Use::Copy, attributes.share.regions);
        let ticket = ticket.ok_or_else(|| CatalogError::InUse(cluster.name.clone()))?;
        // Only now: it may have been emptied before. One that an interruption has left half emptied
        // is no source: the next start would empty its copy, too.
        let now = self.known(name)?;
        if now.number != cluster.number || is_unfinished(&now) {
            return Err(CatalogError::InUse(now.name));
        }
        Ok((now, ticket))
    }

    /// The clusters alone, and what keeps them from being emptied.
    pub(crate) fn bases(
        &self,
        clusters: &[DataSetName],
    ) -> Result<(Vec<Entry>, Vec<Ticket>), CatalogError> {
        let all: Result<Vec<_>, _> = clusters.iter().map(|name| self.base(name)).collect();
        Ok(all?.into_iter().unzip())
    }

    /// The clusters with their indexes and paths, and what keeps them from being emptied.
    fn spheres(&self, clusters: &[DataSetName]) -> Result<(Vec<Entry>, Vec<Ticket>), CatalogError> {
        let (mut entries, mut tickets) = (Vec::new(), Vec::new());
        for name in clusters {
            let (cluster, ticket) = self.base(name)?;
            tickets.push(ticket);
            entries.push(cluster);
            let mut at = entries.len() - 1;
            while let Some(over) = entries.get(at).cloned() {
                for name in &over.related {
                    let found = self.get_in(over.catalog.as_ref(), name)?;
                    entries.extend(found.filter(|entry| !is_unfinished(entry)));
                }
                at += 1;
            }
        }
        Ok((entries, tickets))
    }

    /// The entry of a copy.
    pub(crate) fn copy_of(&self, source: Entry, synonyms: &Synonyms) -> Result<Pair, CatalogError> {
        let renamed = renamed(source.clone(), synonyms);
        let scope = self.look(|rows| self.scope_of(rows, &renamed.name))?;
        let drawn = self.shared.store.draw(self.shared.set, 1)?;
        let number = u32::try_from(drawn).map(ObjectNumber).map_err(|_| {
            CatalogError::Store(StoreError::NoSpace("the numbers of objects in the catalog".into()))
        })?;
        let data = match source.data {
            Some(_) => Some(DataSet { set: self.free_set(&renamed.name, number)?, id: None }),
            None => None,
        };
        let copy = Entry {
            catalog: scope.0,
            number,
            created_us: self.shared.clock.utc_us(),
            data,
            state: State::Defining,
            joins_later: false,
            redirection: None,
            ..renamed
        };
        Ok(Pair { source, copy, records: 0 })
    }

    /// Adds the entries, and makes the sets.
    pub(crate) fn make(&self, pairs: &mut [Pair]) -> Result<(), CatalogError> {
        let catalogs = self.catalogs(pairs)?;
        self.change(|rows| {
            let mut all = catalogs.iter().zip(pairs.iter());
            all.try_for_each(|(catalog, pair)| rows.add_whole(*catalog, &pair.copy))
        })?;
        for pair in &mut *pairs {
            pair.copy.data = self.make_set(&pair.copy)?;
        }
        self.change(|rows| {
            let mut all = catalogs.iter().zip(pairs.iter());
            all.try_for_each(|(catalog, pair)| rows.put(*catalog, &pair.copy))
        })
    }

    fn catalogs(&self, pairs: &[Pair]) -> Result<Vec<ObjectNumber>, CatalogError> {
        self.look(|rows| {
            pairs
                .iter()
                .map(|pair| match &pair.copy.catalog {
                    Some(catalog) => rows.catalog_number(catalog),
                    None => Ok(ObjectNumber::MASTER),
                })
                .collect()
        })
    }

    fn fill(&self, pairs: &mut [Pair]) -> Result<(), CatalogError> {
        let store = &self.shared.store;
        for pair in &*pairs {
            if pair.copy.data.is_some() {
                let (from, to) = (self.data_of(&pair.source)?, self.data_of(&pair.copy)?);
                let mut source = Scan {
                    unit: store.begin(UnitOptions::READ_ONLY)?,
                    cursor: store.cursor(from)?,
                    store: std::marker::PhantomData::<S>,
                };
                store.load_sorted(to, &mut source)?;
            }
        }
        let mut victim_count = 0;
        loop {
            let options = UnitOptions { read_only: true, victim_count, ..unit_options() };
            match self.repair_all(pairs, options) {
                Err(CatalogError::Store(error))
                    if victim_count + 1 < TRIES_MAX
                        && matches!(error, StoreError::Deadlock | StoreError::Timeout(_)) =>
                {
                    victim_count += 1;
                }
                other => return other,
            }
        }
    }

    /// The second pass, in one unit of work that reads.
    fn repair_all(&self, pairs: &mut [Pair], options: UnitOptions) -> Result<(), CatalogError> {
        let store = &self.shared.store;
        let mut locked = store.begin(options)?;
        for pair in &mut *pairs {
            if pair.copy.data.is_some() {
                let (from, to) = (self.data_of(&pair.source)?, self.data_of(&pair.copy)?);
                let index = pair.copy.alternate_index().filter(|index| !index.unique);
                let key_bytes = index.map_or(usize::MAX / 2, |index| index.key.bytes as usize);
                let mut repair = Repair::<S>::new(store, (from, to), key_bytes)?;
                // Entries of an index change under the locks of their records.
                locked.cover(from, Cover::Look)?;
                pair.records = repair.run(&mut locked)?;
                pass_arrivals(store, to, repair.arrival_max)?;
            }
        }
        locked.commit()?;
        Ok(())
    }

    /// Makes the copies visible, all at once.
    fn publish(&self, pairs: &[Pair]) -> Result<(), CatalogError> {
        let catalogs = self.catalogs(pairs)?;
        self.change(|rows| {
            for (catalog, pair) in catalogs.iter().zip(pairs) {
                let state = pair.source.state;
                rows.put(*catalog, &Entry { state, ..pair.copy.clone() })?;
                let statistics = Statistics { records: pair.records, ..Statistics::default() };
                rows.put_statistics(pair.copy.number, &statistics)?;
            }
            Ok(())
        })
    }

    pub(crate) fn take_back(&self, pairs: &[Pair]) -> Result<(), CatalogError> {
        let catalogs = self.catalogs(pairs)?;
        for (catalog, pair) in catalogs.iter().zip(pairs) {
            let known = self.look(|rows| rows.get(*catalog, &pair.copy.name))?;
            // What stands there may be what was in the way.
            let Some(own) = known.filter(|entry| entry.number == pair.copy.number) else {
                continue;
            };
            pending::drop_data(&self.shared.store, pair.copy.data.as_ref())?;
            self.change(|rows| rows.remove(*catalog, &own))?;
        }
        Ok(())
    }
}

/// An entry under the names of its copy.
fn renamed(mut entry: Entry, synonyms: &Synonyms) -> Entry {
    let components = |names: [&mut Option<DataSetName>; 2]| {
        for name in names.into_iter().flatten() {
            *name = synonyms.of(name);
        }
    };
    match &mut entry.definition {
        Definition::AlternateIndex(attributes) => {
            attributes.base = synonyms.of(&attributes.base);
            components([&mut attributes.data_name, &mut attributes.index_name]);
        }
        Definition::Cluster(attributes) => {
            components([&mut attributes.data_name, &mut attributes.index_name]);
        }
        Definition::Path(attributes) => attributes.entry = synonyms.of(&attributes.entry),
        _ => {}
    }
    entry.related = entry.related.iter().map(|name| synonyms.of(name)).collect();
    entry.name = synonyms.of(&entry.name);
    entry
}

fn is_unfinished(entry: &Entry) -> bool {
    !matches!(entry.state, State::Ready | State::Unbuilt)
}

/// Numbers that the index draws from now on are above those that were copied.
fn pass_arrivals<S: Store>(store: &S, set: SetId, arrival_max: u64) -> Result<(), StoreError> {
    if arrival_max == 0 {
        return Ok(());
    }
    loop {
        let drawn = store.draw(set, 1)?;
        if drawn > arrival_max {
            return Ok(());
        }
        let more = u32::try_from(arrival_max - drawn).unwrap_or(u32::MAX).max(1);
        store.draw(set, more)?;
    }
}

/// A set as the source of a load.
struct Scan<S: Store> {
    unit: S::Unit,
    cursor: S::Cursor,
    store: std::marker::PhantomData<S>,
}

impl<S: Store> LoadSource for Scan<S> {
    fn next_entry(&mut self) -> store::Result<Option<StoreEntry<'_>>> {
        self.unit.next(&mut self.cursor, Read::Unlocked)
    }
}

/// A copy that is compared with its source, and made equal.
struct Repair<'s, S: Store> {
    store: &'s S,
    to: SetId,
    source: S::Cursor,
    copy: S::Cursor,
    /// The entry of the copy that comes next, if there is one.
    ahead: Option<(Vec<u8>, Vec<u8>)>,
    unit: Option<S::Unit>,
    changes: u32,
    /// Bytes of the alternate key, if it is an index whose entries are counted.
    key_bytes: usize,
    arrival_max: u64,
}

impl<'s, S: Store> Repair<'s, S> {
    fn new(
        store: &'s S,
        (from, to): (SetId, SetId),
        key_bytes: usize,
    ) -> Result<Repair<'s, S>, StoreError> {
        Ok(Repair {
            store,
            to,
            source: store.cursor(from)?,
            copy: store.cursor(to)?,
            ahead: Some((Vec::new(), Vec::new())),
            unit: None,
            changes: 0,
            key_bytes,
            arrival_max: 0,
        })
    }

    /// Answers how many entries there are.
    fn run(&mut self, locked: &mut S::Unit) -> Result<u64, StoreError> {
        let mut records = 0;
        self.advance()?;
        let (mut key, mut value) = (Vec::new(), Vec::new());
        while let Some(entry) = locked.next(&mut self.source, Read::Shared)? {
            key.clear();
            key.extend_from_slice(entry.key);
            value.clear();
            value.extend_from_slice(entry.value);
            records += 1;
            self.note_arrival(&key);
            while self.ahead.as_ref().is_some_and(|(ahead, _)| *ahead < key) {
                self.remove_ahead()?;
            }
            match &self.ahead {
                Some((ahead, old)) if *ahead == key => {
                    if *old != value {
                        self.put(&key, &value)?;
                    }
                    self.advance()?;
                }
                _ => self.put(&key, &value)?,
            }
        }
        while self.ahead.is_some() {
            self.remove_ahead()?;
        }
        if let Some(unit) = self.unit.take() {
            unit.commit()?;
        }
        Ok(records)
    }

    /// In an index the arrival stands behind the alternate key.
    fn note_arrival(&mut self, key: &[u8]) {
        let arrival = key.get(self.key_bytes..self.key_bytes + ARRIVAL_BYTES);
        self.arrival_max = self.arrival_max.max(arrival.map_or(0, u64_of));
    }

    fn advance(&mut self) -> Result<(), StoreError> {
        let unit = match &mut self.unit {
            Some(unit) => unit,
            None => self.unit.insert(self.store.begin(unit_options())?),
        };
        self.ahead = match unit.next(&mut self.copy, Read::Unlocked)? {
            None => None,
            Some(entry) => {
                let (mut key, mut value) = self.ahead.take().unwrap_or_default();
                key.clear();
                key.extend_from_slice(entry.key);
                value.clear();
                value.extend_from_slice(entry.value);
                Some((key, value))
            }
        };
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let to = self.to;
        self.changing()?.put(to, key, value)
    }

    fn remove_ahead(&mut self) -> Result<(), StoreError> {
        if let Some((key, _)) = self.ahead.clone() {
            let to = self.to;
            let _ = self.changing()?.delete(to, &key)?;
        }
        self.advance()
    }

    fn changing(&mut self) -> Result<&mut S::Unit, StoreError> {
        self.changes += 1;
        if self.changes.is_multiple_of(CHANGES_AT_ONCE)
            && let Some(unit) = self.unit.take()
        {
            unit.commit()?;
        }
        let unit = match self.unit.take() {
            Some(unit) => unit,
            None => self.store.begin(unit_options())?,
        };
        Ok(self.unit.insert(unit))
    }
}
