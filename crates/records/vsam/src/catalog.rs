//! The catalogs of a system: a master catalog and user catalogs, all in one set of the store.
//!
//! A name is looked for in the catalog that its first qualifiers pick: that of an alias, or the
//! user catalog that is called so; otherwise in the master catalog. A handle that was made by
//! [`Catalog::within`] looks in one catalog only, as with a job catalog.
//!
//! Invariants:
//! 1. Every call is one unit of work of its own, or several with the state of the entry between
//!    them, so that an interruption is finished or taken back by the next [`Catalog::open`].
//! 2. Alternate indexes and paths stand in the catalog of their base.
//! 3. One handle and its clones serve a process: share options hold among those.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use seam::clock::Clock;
use store::{Read, SetAttributes, SetId, Store, StoreError, UnitOptions};

use crate::entry::{
    Definition, ENTRIES, Entry, Kind, ObjectNumber, State, Statistics, catalog_prefix,
};
use crate::error::CatalogError;
use crate::generations::GenerationList;
use crate::handler::Handlers;
use crate::name::{DataSetName, Filter};
use crate::pending;
use crate::rows::{Rows, SET, unit_options};
use crate::share::{Registry, Ticket, Use};

/// The catalogs of a system: a handle, whose clones stand for the same.
pub struct Catalog<S: Store> {
    pub(crate) shared: Arc<Shared<S>>,
    /// The catalog that all names are looked for in; `None`: the one that each name picks.
    pub(crate) scope: Option<Scope>,
}

/// A catalog: its name, `None` for the master catalog, and its number.
pub(crate) type Scope = (Option<DataSetName>, ObjectNumber);

impl<S: Store> Clone for Catalog<S> {
    fn clone(&self) -> Catalog<S> {
        Catalog { shared: Arc::clone(&self.shared), scope: self.scope.clone() }
    }
}

pub(crate) struct Shared<S: Store> {
    pub(crate) store: S,
    pub(crate) set: SetId,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) registry: Registry,
    pub(crate) handlers: OnceLock<Arc<dyn Handlers>>,
}

impl<S: Store> Catalog<S> {
    /// Opens the catalogs of a store; makes the master catalog if there is none. Finishes or takes
    /// back what an interruption left half done.
    ///
    /// # Errors
    /// If the store fails, or an entry cannot be read.
    pub fn open(store: S, clock: Arc<dyn Clock>) -> Result<Catalog<S>, CatalogError> {
        let set = match store.set(SET)? {
            Some(set) => set,
            None => match store.create_set(SET, &SetAttributes::default()) {
                Err(StoreError::SetExists(_)) => store.set(SET)?.ok_or_else(|| {
                    CatalogError::Damaged { name: SET.into(), what: "its set is gone".into() }
                })?,
                other => other?,
            },
        };
        pending::settle(&store, set)?;
        let (registry, handlers) = (Registry::default(), OnceLock::new());
        let shared = Shared { store, set, clock, registry, handlers };
        Ok(Catalog { shared: Arc::new(shared), scope: None })
    }

    /// The same catalogs, with all names looked for in one of them (`None`: the master catalog),
    /// whatever they begin with.
    ///
    /// # Errors
    /// If there is no such catalog.
    pub fn within(&self, catalog: Option<&DataSetName>) -> Result<Catalog<S>, CatalogError> {
        let number = match catalog {
            Some(name) => self.look(|rows| rows.catalog_number(name))?,
            None => ObjectNumber::MASTER,
        };
        let scope = Some((catalog.cloned(), number));
        Ok(Catalog { shared: Arc::clone(&self.shared), scope })
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.shared.store
    }

    /// The entry of that name. An alias of a data set is followed.
    ///
    /// # Errors
    /// If the store fails, or the entry cannot be read.
    pub fn get(&self, name: &DataSetName) -> Result<Option<Entry>, CatalogError> {
        self.look(|rows| Ok(self.find(rows, name)?.map(|(_, entry)| entry)))
    }

    /// The entry of that name in a catalog (`None`: the master catalog), as it stands there.
    ///
    /// # Errors
    /// As [`get`](Catalog::get); if there is no such catalog.
    pub fn get_in(
        &self,
        catalog: Option<&DataSetName>,
        name: &DataSetName,
    ) -> Result<Option<Entry>, CatalogError> {
        self.look(|rows| {
            let number = match catalog {
                Some(catalog) => rows.catalog_number(catalog)?,
                None => ObjectNumber::MASTER,
            };
            rows.get(number, name)
        })
    }

    /// Whether anything stands under a name where it is looked for: an alias that leads nowhere,
    /// and what is being made, too.
    ///
    /// # Errors
    /// As [`get`](Catalog::get).
    pub fn is_taken(&self, name: &DataSetName) -> Result<bool, CatalogError> {
        self.look(|rows| {
            let (_, number) = self.scope_of(rows, name)?;
            Ok(rows.get(number, name)?.is_some())
        })
    }

    /// All entries that a filter stands for, in one catalog, or all that are found by their names,
    /// without components, ordered by name.
    ///
    /// # Errors
    /// As [`get_in`](Catalog::get_in).
    pub fn list(
        &self,
        filter: &Filter,
        catalog: Option<&DataSetName>,
    ) -> Result<Vec<Entry>, CatalogError> {
        let of_one = match (catalog, &self.scope) {
            (Some(name), _) => Some(self.look(|rows| rows.catalog_number(name))?),
            (None, Some((_, number))) => Some(*number),
            (None, None) => None,
        };
        match of_one {
            Some(number) => {
                let all = self.look(|rows| rows.list(&catalog_prefix(number)))?;
                Ok(meant(all, filter))
            }
            None => {
                let all = self.look(|rows| rows.list(ENTRIES))?;
                let levels = Levels::of(&all);
                Ok(meant(all.into_iter().filter(|(at, entry)| levels.find(*at, entry)), filter))
            }
        }
    }

    /// Those that a filter stands for and that are not found by their names, because the first
    /// qualifiers of these pick another catalog.
    ///
    /// # Errors
    /// As [`get_in`](Catalog::get_in).
    pub fn hidden(&self, filter: &Filter) -> Result<Vec<Entry>, CatalogError> {
        if self.scope.is_some() {
            return Ok(Vec::new());
        }
        let all = self.look(|rows| rows.list(ENTRIES))?;
        let levels = Levels::of(&all);
        Ok(meant(all.into_iter().filter(|(at, entry)| !levels.find(*at, entry)), filter))
    }

    /// The statistics of a cluster, with what its open files have done. Those of an alternate
    /// index are those of its last [`verify`](Catalog::verify) or build.
    ///
    /// # Errors
    /// As [`get`](Catalog::get).
    pub fn statistics(&self, entry: &Entry) -> Result<Statistics, CatalogError> {
        if entry.kind() == Kind::Cluster {
            self.keep_statistics(entry.number)?;
        }
        self.look(|rows| rows.statistics(entry.number))
    }

    /// Forgets what was counted of a cluster: it is as one that was never used.
    ///
    /// # Errors
    /// As [`get`](Catalog::get); if there is no such object.
    pub fn forget_statistics(&self, name: &DataSetName) -> Result<(), CatalogError> {
        let entry = self.known(name)?;
        let Some(base) = self.base_of(&entry)? else { return Ok(()) };
        self.keep_statistics(base.number)?;
        self.change(|rows| rows.put_statistics(base.number, &Statistics::default()))
    }

    /// Writes down what was counted since the last time.
    pub(crate) fn keep_statistics(&self, number: ObjectNumber) -> Result<(), CatalogError> {
        let sphere = self.shared.registry.sphere(number);
        let counts = sphere.counters().take();
        if counts == crate::share::Counts::default() {
            return Ok(());
        }
        let kept = self.change(|rows| {
            let mut statistics = rows.statistics(number)?;
            counts.add_to(&mut statistics);
            rows.put_statistics(number, &statistics)
        });
        if kept.is_err() {
            sphere.counters().add(&counts);
        }
        kept
    }

    /// Counts what a cluster or an alternate index has, and corrects its statistics (VERIFY).
    ///
    /// # Errors
    /// As [`get`](Catalog::get); if the object has no data.
    pub fn verify(&self, name: &DataSetName) -> Result<Statistics, CatalogError> {
        let entry = self.known(name)?;
        let set = self.data_of(&entry)?;
        if entry.kind() == Kind::Cluster {
            self.keep_statistics(entry.number)?;
        }
        let mut unit = self.shared.store.begin(UnitOptions::READ_ONLY)?;
        let (mut cursor, mut records) = (self.shared.store.cursor(set)?, 0);
        while store::Unit::next(&mut unit, &mut cursor, Read::Unlocked)?.is_some() {
            records += 1;
        }
        store::Unit::commit(unit)?;
        self.change(|rows| {
            let statistics = Statistics { records, ..rows.statistics(entry.number)? };
            rows.put_statistics(entry.number, &statistics)?;
            Ok(statistics)
        })
    }

    /// The name of a generation by its relative number: 0 is the newest, -1 the one before, 1 the
    /// one that is defined next.
    ///
    /// # Errors
    /// If there is no such group, or it has no such generation.
    pub fn generation(
        &self,
        group: &DataSetName,
        relative: i32,
    ) -> Result<DataSetName, CatalogError> {
        self.generations(group)?.relative(relative)
    }

    /// The generations of a group as they are now.
    ///
    /// # Errors
    /// If there is no such group.
    pub fn generations(&self, group: &DataSetName) -> Result<GenerationList, CatalogError> {
        let entry = self.known(group)?;
        if entry.kind() != Kind::GenerationGroup {
            let what = "a relative number needs a generation data group";
            return Err(wrong_kind(&entry, what));
        }
        Ok(GenerationList { group: entry.name, generations: entry.related })
    }

    /// The entry of that name, which has to be there.
    pub(crate) fn known(&self, name: &DataSetName) -> Result<Entry, CatalogError> {
        self.get(name)?.ok_or_else(|| CatalogError::NotFound(name.clone()))
    }

    /// The set of an object that has data.
    pub(crate) fn data_of(&self, entry: &Entry) -> Result<SetId, CatalogError> {
        let Some(data) = &entry.data else {
            return Err(wrong_kind(entry, "it has no records of its own"));
        };
        match self.shared.store.set(&data.set)? {
            Some(set) => Ok(set),
            None => Err(CatalogError::Damaged {
                name: entry.name.to_string(),
                what: format!("its data set {} is not there", data.set),
            }),
        }
    }

    /// Where a name is looked for.
    pub(crate) fn scope_of(
        &self,
        rows: &mut Rows<'_, S>,
        name: &DataSetName,
    ) -> Result<Scope, CatalogError> {
        match &self.scope {
            Some(scope) => Ok(scope.clone()),
            None => rows.picked(name),
        }
    }

    /// The entry of that name and the number of its catalog; an alias is followed.
    pub(crate) fn find(
        &self,
        rows: &mut Rows<'_, S>,
        name: &DataSetName,
    ) -> Result<Option<(ObjectNumber, Entry)>, CatalogError> {
        let found = self.find_itself(rows, name)?;
        let Some((_, Entry { definition: Definition::Alias(of), .. })) = &found else {
            return Ok(found);
        };
        // An alias of an alias cannot be defined: this ends here.
        Ok(self.find_itself(rows, of)?.filter(|(_, entry)| entry.kind() != Kind::Alias))
    }

    /// The same without following an alias.
    pub(crate) fn find_itself(
        &self,
        rows: &mut Rows<'_, S>,
        name: &DataSetName,
    ) -> Result<Option<(ObjectNumber, Entry)>, CatalogError> {
        let (_, number) = self.scope_of(rows, name)?;
        let found = rows.get(number, name)?.map(|entry| (number, entry));
        // User catalogs and aliases of them stand in the master catalog, whatever they are called.
        let found = match found {
            None if number != ObjectNumber::MASTER => rows
                .get(ObjectNumber::MASTER, name)?
                .filter(|entry| matches!(entry.kind(), Kind::UserCatalog | Kind::Alias))
                .map(|entry| (ObjectNumber::MASTER, entry)),
            found => found,
        };
        Ok(found
            .filter(|(_, entry)| entry.state != State::Deleting && entry.state != State::Defining))
    }

    /// Reads the catalog in a unit of work.
    pub(crate) fn look<T>(
        &self,
        mut body: impl FnMut(&mut Rows<'_, S>) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let Shared { store, set, .. } = &*self.shared;
        let options = UnitOptions { read_only: true, ..unit_options() };
        store::run(store, options, |unit| {
            body(&mut Rows { store, unit, set: *set, read: Read::Shared })
        })
    }

    /// Changes the catalog in a unit of work.
    pub(crate) fn change<T>(
        &self,
        body: impl FnMut(&mut Rows<'_, S>) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        pending::change(&self.shared.store, self.shared.set, body)
    }

    /// The cluster that an entry is, or stands over: what is opened with it.
    pub(crate) fn base_of(&self, entry: &Entry) -> Result<Option<Entry>, CatalogError> {
        let mut entry = entry.clone();
        // A path, its index, the cluster.
        for _ in 0..3 {
            let above = match &entry.definition {
                Definition::Cluster(_) => return Ok(Some(entry)),
                Definition::AlternateIndex(attributes) => attributes.base.clone(),
                Definition::Path(attributes) => attributes.entry.clone(),
                _ => return Ok(None),
            };
            match self.get_in(entry.catalog.as_ref(), &above)? {
                Some(found) => entry = found,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// For who has a sphere alone: no unit of work that has not ended has changed the records, or
    /// the entries, of an object.
    pub(crate) fn settled(&self, entry: &Entry) -> Result<(), CatalogError> {
        let Some(data) = &entry.data else { return Ok(()) };
        let Some(set) = self.shared.store.set(&data.set)? else { return Ok(()) };
        let is_own = data.id.is_none_or(|id| id == set.0);
        match is_own && pending::is_in_use(&self.shared.store, set) {
            true => Err(CatalogError::InUse(entry.name.clone())),
            false => Ok(()),
        }
    }

    /// Has the sphere of an entry alone, so that nobody opens it meanwhile.
    pub(crate) fn alone(&self, entry: &Entry) -> Result<Option<Ticket>, CatalogError> {
        let Some(base) = self.base_of(entry)? else { return Ok(None) };
        let Some(attributes) = base.cluster() else { return Ok(None) };
        let sphere = self.shared.registry.sphere(base.number);
        let ticket = sphere.admit(Use::Alone, attributes.share.regions);
        ticket.map(Some).ok_or(CatalogError::InUse(base.name))
    }
}

/// The entries that a filter stands for, in the order of their names.
fn meant(all: impl IntoIterator<Item = (ObjectNumber, Entry)>, filter: &Filter) -> Vec<Entry> {
    let is_meant = |entry: &Entry| {
        entry.kind() != Kind::Component
            && entry.state != State::Deleting
            && filter.matches(&entry.name)
    };
    let mut entries: Vec<Entry> =
        all.into_iter().map(|(_, entry)| entry).filter(is_meant).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// First qualifiers that pick a catalog, as [`Rows::picked`] does: for many names at once.
struct Levels(BTreeMap<DataSetName, ObjectNumber>);

impl Levels {
    fn of(all: &[(ObjectNumber, Entry)]) -> Levels {
        let master = || all.iter().filter(|(at, _)| *at == ObjectNumber::MASTER).map(|(_, e)| e);
        let is_catalog = |entry: &&Entry| entry.kind() == Kind::UserCatalog;
        let catalogs: BTreeMap<_, _> =
            master().filter(is_catalog).map(|entry| (&entry.name, entry.number)).collect();
        let level = |entry: &Entry| match &entry.definition {
            Definition::Alias(of) => catalogs.get(of).map(|number| (entry.name.clone(), *number)),
            Definition::UserCatalog => Some((entry.name.clone(), entry.number)),
            _ => None,
        };
        Levels(master().filter_map(level).collect())
    }

    /// Whether an entry of a catalog is found by its name.
    fn find(&self, catalog: ObjectNumber, entry: &Entry) -> bool {
        // User catalogs and aliases of them are found in the master catalog, whatever their names.
        let is_master = catalog == ObjectNumber::MASTER;
        if is_master && matches!(entry.kind(), Kind::UserCatalog | Kind::Alias) {
            return true;
        }
        let mut longest_first = (1..entry.name.qualifiers().count()).rev();
        let picked = longest_first
            .find_map(|count| self.0.get(&entry.name.first_qualifiers(count)?).copied());
        picked.unwrap_or(ObjectNumber::MASTER) == catalog
    }
}

/// An error about an entry's kind.
pub(crate) fn wrong_kind(entry: &Entry, what: &'static str) -> CatalogError {
    CatalogError::WrongKind { name: entry.name.clone(), kind: entry.kind(), what }
}
