//! Files: connections of an opener to the data of a cluster, directly or by a path: an ACB.
//!
//! 1. A file has its sphere in use until it is closed or dropped; `share` says who may beside it.
//! 2. The upgrade set is that of the moment of the open: no index can be defined, built or deleted
//!    while the sphere is open.
//! 3. Who has a cluster open to change it is mostly the only one (share options 1 and 2, not by
//!    record level). Its units of work lock the cluster as a whole at their first change, if nobody
//!    has anything of it locked then, and nothing record by record. Not so where records arrive.
//! 4. A path without UPDATE, and an index that is not of the upgrade set, may come to disagree with
//!    the base. That is what was asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use seam::sync::Mutex;
use store::{Cover, SetId, Store, StoreError, Unit as _};

use crate::ahead::Ahead;
use crate::attributes::{ClusterAttributes, Organization, Share};
use crate::catalog::{Catalog, Shared, wrong_kind};
use crate::entry::{Definition, Entry, Kind, State};
use crate::error::{CatalogError, OpenError};
use crate::feedback::{Failure, LogicalReason};
use crate::forward::Forward;
use crate::handler::{Described, HandlerError};
use crate::handler_rows::HandlerRows;
use crate::layout::Shape;
use crate::load::Load;
use crate::name::DataSetName;
use crate::pending;
use crate::position::{Buffers, Position, Strings};
use crate::redirection::RecordOwner;
use crate::share::{Arrivals, Counts, Ticket, Use};
use crate::upgrade::{Index, UpgradeSet};

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// To read.
    Input,
    /// To load: the cluster is empty or is emptied (REUSE), and keys ascend.
    Output,
    /// To read and to change.
    InputOutput,
    /// To add records: behind the last key, address or number.
    Extend,
}

impl OpenMode {
    /// Whether records can be changed.
    #[must_use]
    pub fn writes(self) -> bool {
        self != OpenMode::Input
    }
}

/// How a file is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// `RST`: a reusable cluster is emptied, in every mode that changes it. [`OpenMode::Output`]
    /// does so anyway.
    pub reset: bool,
    /// The opener is one of those that share by record locks (RLS): together they count as one
    /// for the share options. So does a file that several units of work use at once: others lock
    /// the cluster as a whole when they change something.
    pub record_level: bool,
    /// With [`OpenMode::Output`]: records are loaded in bulk and are there when the file is closed,
    /// durably, outside of any unit of work; if it is not closed, the cluster stays empty.
    /// Alternate indexes are built then.
    pub bulk: bool,
    /// `STRNO`: how many positions there may be at once; `None`: any number.
    pub strings: Option<u32>,
}

/// An open file.
pub struct File<S: Store> {
    pub(crate) catalog: Catalog<S>,
    pub(crate) base: Entry,
    pub(crate) attributes: ClusterAttributes,
    pub(crate) set: SetId,
    pub(crate) shape: Shape,
    pub(crate) route: Route,
    pub(crate) upgrade: UpgradeSet,
    /// Changes are sent on.
    pub(crate) forward: Option<Forward>,
    pub(crate) mode: OpenMode,
    pub(crate) number: u64,
    /// Nobody else can have it open to change it.
    sole: bool,
    index: Option<Entry>,
    strings: Arc<Strings>,
    ticket: Option<Ticket>,
    pub(crate) load: Option<Mutex<Load>>,
    /// Indexes that are built when the load is over.
    to_build: Vec<Entry>,
}

/// By what a file comes to its records.
pub(crate) enum Route {
    /// The base's own order.
    Base,
    /// An alternate index.
    Path(Index),
    /// An alternate index whose own records are read.
    Index(Index),
    /// A handler, which has the records.
    HandlerRows(Box<HandlerRows>),
}

/// Files get numbers, so that a position is known to be of another file.
static FILES: AtomicU64 = AtomicU64::new(1);

/// What a name leads to.
struct Sphere {
    base: Entry,
    index: Option<Entry>,
    /// The records are those of the index itself.
    is_index: bool,
    /// Changes change the upgrade set.
    upgrades: bool,
    indexes: Vec<Entry>,
}

impl<S: Store> Catalog<S> {
    /// Opens a cluster, a path, or an alternate index as a file of its own (for reading only).
    ///
    /// # Errors
    /// If there is no such object, others have it open, or the mode is not possible.
    pub fn open_file(
        &self,
        name: &DataSetName,
        mode: OpenMode,
        options: &OpenOptions,
    ) -> Result<File<S>, OpenError> {
        self.open_file_within(None, name, mode, options)
    }

    /// The same for an opener that may have a unit of work. A cluster that has to be emptied for it
    /// is emptied in that, if it has changed the cluster itself. If others have that have not
    /// ended, it is in use.
    ///
    /// # Errors
    /// As [`open_file`](Catalog::open_file); what the store says of the unit of work.
    pub fn open_file_within(
        &self,
        unit: Option<&mut S::Unit>,
        name: &DataSetName,
        mode: OpenMode,
        options: &OpenOptions,
    ) -> Result<File<S>, OpenError> {
        let sphere = self.sphere_of(name)?;
        let attributes = attributes_of(&sphere)?;
        check_mode(name, &sphere, mode)?;
        let ticket = self.admit(name, &sphere.base, &attributes, mode, options)?;
        let set = self.data_of(&sphere.base)?;
        if let Some(described) = handled(&sphere.base) {
            let elsewhere = self.elsewhere(described, &sphere, (mode, options))?;
            return self.connect(sphere, attributes, set, (mode, options), (ticket, elsewhere));
        }
        if mode == OpenMode::Output || (options.reset && mode.writes()) {
            self.make_empty(&sphere, set, (mode, options), unit)?;
        }
        let ticket = match mode {
            // Whoever resets had it alone for that.
            OpenMode::InputOutput | OpenMode::Extend if options.reset => {
                drop(ticket);
                let options = OpenOptions { reset: false, ..options.clone() };
                self.admit(name, &sphere.base, &attributes, mode, &options)?
            }
            _ => ticket,
        };
        // What is known of the sphere may have changed before it was in use.
        let sphere = self.sphere_of(name)?;
        if sphere.base.state != State::Ready {
            return Err(OpenError::Catalog(CatalogError::InUse(sphere.base.name)));
        }
        let attributes = sphere.base.cluster().cloned().unwrap_or(attributes);
        self.connect(sphere, attributes, set, (mode, options), (ticket, None))
    }

    /// Connects to the handler that has the records, and has it empty them where they are to be
    /// loaded.
    fn elsewhere(
        &self,
        described: Described,
        sphere: &Sphere,
        (mode, options): (OpenMode, &OpenOptions),
    ) -> Result<Option<Box<HandlerRows>>, OpenError> {
        let (name, to) = (described.name.clone(), described.redirection.to.clone());
        if sphere.index.is_some() {
            let what = "its records are at a handler, and no alternate index knows them";
            return Err(OpenError::Mode { name, what });
        }
        let failed = |error| OpenError::Handler { name: name.clone(), to: to.clone(), error };
        let none = || HandlerError::Refused("nobody here knows handlers".into());
        let handlers = self.handlers().ok_or_else(none).map_err(failed)?;
        let reuse = described.attributes.reuse;
        let elsewhere = HandlerRows::open(handlers, described).map_err(failed)?;
        if mode == OpenMode::Output || (options.reset && mode.writes()) {
            if reuse {
                elsewhere.clear().map_err(failed)?;
            } else if options.reset {
                let what = "it was not defined with REUSE, so it is not emptied";
                return Err(OpenError::Mode { name, what });
            } else if !elsewhere.is_empty().map_err(failed)? {
                return Err(OpenError::NotEmpty(name));
            }
            self.shared.registry.sphere(sphere.base.number).forget_address();
        }
        Ok(Some(Box::new(elsewhere)))
    }

    /// Takes all records of a cluster away, and what its indexes have of them, whether it was
    /// defined with REUSE or not: it is as if it had never had one. With a unit of work as
    /// [`open_file_within`](Catalog::open_file_within) does it.
    ///
    /// # Errors
    /// If there is no such cluster, or somebody has it open.
    pub fn empty_cluster(
        &self,
        name: &DataSetName,
        unit: Option<&mut S::Unit>,
    ) -> Result<(), OpenError> {
        let sphere = self.sphere_of(name)?;
        let attributes = attributes_of(&sphere)?;
        let (mode, options) = (OpenMode::Output, OpenOptions::default());
        check_mode(name, &sphere, mode)?;
        let _alone = self.admit(name, &sphere.base, &attributes, mode, &options)?;
        match handled(&sphere.base) {
            None => self.empty_sphere(&sphere, unit)?,
            Some(described) => {
                let (name, to) = (described.name.clone(), described.redirection.to.clone());
                let reads = (OpenMode::Input, &options);
                if let Some(elsewhere) = self.elsewhere(described, &sphere, reads)? {
                    let failed = |error| OpenError::Handler { name, to, error };
                    elsewhere.clear().map_err(failed)?;
                }
                self.shared.registry.sphere(sphere.base.number).forget_address();
            }
        }
        Ok(self.forget_statistics(name)?)
    }

    /// What a name leads to.
    fn sphere_of(&self, name: &DataSetName) -> Result<Sphere, OpenError> {
        let entry = self.known(name)?;
        let beneath = |of: &Entry, name: &DataSetName| {
            let found = self.get_in(of.catalog.as_ref(), name)?;
            let there = found.filter(|entry| matches!(entry.state, State::Ready | State::Unbuilt));
            there.ok_or_else(|| CatalogError::NotFound(name.clone()))
        };
        let (through, is_index, upgrades) = match &entry.definition {
            Definition::Path(path) => (beneath(&entry, &path.entry)?, false, path.update),
            Definition::AlternateIndex(_) => (entry.clone(), true, false),
            _ => (entry.clone(), false, true),
        };
        let (base, index) = match &through.definition {
            Definition::Cluster(_) => (through, None),
            Definition::AlternateIndex(index) => {
                (beneath(&through, &index.base)?, Some(through.clone()))
            }
            _ => {
                let what = "a cluster, an alternate index or a path can be opened";
                return Err(OpenError::Catalog(wrong_kind(&entry, what)));
            }
        };
        let mut indexes = Vec::new();
        for name in &base.related {
            let found = self.get_in(base.catalog.as_ref(), name)?;
            indexes.extend(found.filter(|entry| entry.kind() == Kind::AlternateIndex));
        }
        Ok(Sphere { base, index, is_index, upgrades, indexes })
    }

    fn admit(
        &self,
        name: &DataSetName,
        base: &Entry,
        attributes: &ClusterAttributes,
        mode: OpenMode,
        options: &OpenOptions,
    ) -> Result<Ticket, OpenError> {
        let wanted = match (mode, options.record_level) {
            (OpenMode::Output, _) => Use::Alone,
            (OpenMode::InputOutput | OpenMode::Extend, _) if options.reset => Use::Alone,
            (OpenMode::Input, false) => Use::Read,
            (OpenMode::Input, true) => Use::ReadRecords,
            (_, false) => Use::Write,
            (_, true) => Use::WriteRecords,
        };
        let sphere = self.shared.registry.sphere(base.number);
        let ticket = sphere.admit(wanted, attributes.share.regions);
        ticket.ok_or_else(|| OpenError::Shared(name.clone()))
    }

    /// Empties a cluster that is to be loaded, if it may be.
    fn make_empty(
        &self,
        sphere: &Sphere,
        set: SetId,
        (mode, options): (OpenMode, &OpenOptions),
        mut unit: Option<&mut S::Unit>,
    ) -> Result<(), OpenError> {
        let (store, name) = (&self.shared.store, &sphere.base.name);
        if !attributes_of(sphere)?.reuse {
            if mode == OpenMode::Output && !options.reset && pending::is_empty(store, set)? {
                self.check_sole(sphere, set, unit.as_deref_mut())?;
                // An index that a load has left unbuilt knows all records of an empty cluster.
                let is_left = |entry: &Entry| entry.state != State::Ready;
                return match sphere.indexes.iter().chain([&sphere.base]).any(is_left) {
                    true => self.empty_sphere(sphere, unit),
                    false => Ok(()),
                };
            }
            return Err(match options.reset {
                true => OpenError::Mode {
                    name: name.clone(),
                    what: "it was not defined with REUSE, so it is not emptied",
                },
                false => OpenError::NotEmpty(name.clone()),
            });
        }
        self.empty_sphere(sphere, unit)
    }

    /// Refuses a set that units of work have changed that have not ended, unless that is the
    /// opener's own alone: what others have deleted may come back.
    fn check_sole(
        &self,
        sphere: &Sphere,
        set: SetId,
        unit: Option<&mut S::Unit>,
    ) -> Result<(), OpenError> {
        let is_sole = match unit {
            Some(unit) => unit.uses_alone(set)?,
            None => !pending::is_in_use(&self.shared.store, set),
        };
        let in_use = || OpenError::Catalog(CatalogError::InUse(sphere.base.name.clone()));
        if is_sole { Ok(()) } else { Err(in_use()) }
    }

    /// Empties a cluster and its indexes: outside of units of work, unless one that has not ended
    /// has changed it, and that is the opener's. It waits for nobody: two that wait for each other
    /// would both lose what they have done.
    fn empty_sphere(&self, sphere: &Sphere, unit: Option<&mut S::Unit>) -> Result<(), OpenError> {
        let Shared { store, set, registry, .. } = &*self.shared;
        let base = &sphere.base;
        let catalog = match &base.catalog {
            Some(catalog) => self.look(|rows| rows.catalog_number(catalog))?,
            None => crate::entry::ObjectNumber::MASTER,
        };
        match pending::empty(store, *set, catalog, base) {
            Ok(()) => registry.sphere(base.number).forget_address(),
            Err(CatalogError::Store(StoreError::SetInUse(_))) => {
                let in_use = || OpenError::Catalog(CatalogError::InUse(base.name.clone()));
                let unit = unit.ok_or_else(in_use)?;
                if base.state != State::Ready {
                    // The next start empties all of it for good.
                    return Err(in_use());
                }
                let (data, shape) = (self.data_of(base)?, Shape::of(&attributes_of(sphere)?));
                let known = registry.sphere(base.number);
                if shape == Shape::Entries {
                    // Addresses go on from there: the records may come back.
                    known.next_address(0, || shape.end_address(store, unit, data))?;
                }
                for one in [base].into_iter().chain(&sphere.indexes) {
                    let own = self.data_of(one)?;
                    self.check_sole(sphere, own, Some(&mut *unit))?;
                }
                let deleted = pending::empty_within(store, unit, base, &sphere.indexes)?;
                known.counters().add(&Counts { deleted, ..Counts::default() });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn connect(
        &self,
        sphere: Sphere,
        attributes: ClusterAttributes,
        set: SetId,
        (mode, options): (OpenMode, &OpenOptions),
        (ticket, elsewhere): (Ticket, Option<Box<HandlerRows>>),
    ) -> Result<File<S>, OpenError> {
        let is_elsewhere = elsewhere.is_some();
        let route = match &sphere.index {
            None => elsewhere.map_or(Route::Base, Route::HandlerRows),
            Some(index) if index.state != State::Ready => {
                return Err(OpenError::NotBuilt(index.name.clone()));
            }
            Some(index) if sphere.is_index => Route::Index(self.index_of(index)?),
            Some(index) => Route::Path(self.index_of(index)?),
        };
        let mut upgrade = Vec::new();
        let upgrades = |index: &Entry| index.alternate_index().is_some_and(|index| index.upgrade);
        let follow = sphere.upgrades && !is_elsewhere;
        for index in sphere.indexes.iter().filter(|index| follow && upgrades(index)) {
            if index.state == State::Ready {
                upgrade.push(self.index_of(index)?);
            }
        }
        // Who appends waits for nobody who has appended, whatever the share options are.
        let sole = mode.writes()
            && !options.record_level
            && attributes.organization != Organization::EntrySequenced
            && matches!(attributes.share.regions, Share::ReadersOrWriter | Share::WriterAndReaders);
        let most = options.strings.unwrap_or(u32::MAX);
        let (mut load, mut to_build) = (None, Vec::new());
        let sent_on = pending::sent_on(self.store(), &sphere.base)?;
        let forward = sent_on.map(|set| Forward { set, cluster: sphere.base.number });
        let is_bulk = options.bulk && forward.is_none() && !is_elsewhere;
        if is_bulk && mode == OpenMode::Output {
            to_build = sphere.indexes.into_iter().filter(upgrades).collect();
            upgrade.clear();
            for index in &to_build {
                self.note_state(index, State::Unbuilt, 0)?;
            }
            load = Some(Mutex::new(Load::begin(self.store(), set)?));
        }
        Ok(File {
            catalog: self.clone(),
            shape: Shape::of(&attributes),
            base: sphere.base,
            attributes,
            set,
            route,
            upgrade: UpgradeSet::new(upgrade, sole),
            forward,
            mode,
            sole,
            number: FILES.fetch_add(1, Relaxed),
            index: sphere.index,
            strings: Arc::new(Strings { most, taken: AtomicU32::new(0) }),
            ticket: Some(ticket),
            load,
            to_build,
        })
    }

    pub(crate) fn index_of(&self, entry: &Entry) -> Result<Index, CatalogError> {
        let Some(attributes) = entry.alternate_index() else {
            return Err(wrong_kind(entry, "it is no alternate index"));
        };
        let arrivals: Arc<Arrivals> = self.shared.registry.arrivals(entry.number);
        let (key, unique) = (attributes.key, attributes.unique);
        Ok(Index { set: self.data_of(entry)?, key, unique, arrivals })
    }
}

/// A cluster whose records a handler has.
fn handled(base: &Entry) -> Option<Described> {
    let owner = base.redirection.as_ref()?.owner;
    if owner == RecordOwner::Handler { Described::of(base) } else { None }
}

fn attributes_of(sphere: &Sphere) -> Result<ClusterAttributes, OpenError> {
    let none = || OpenError::Catalog(wrong_kind(&sphere.base, "it has no records"));
    sphere.base.cluster().cloned().ok_or_else(none)
}

fn check_mode(name: &DataSetName, sphere: &Sphere, mode: OpenMode) -> Result<(), OpenError> {
    let wrong = |what| Err(OpenError::Mode { name: name.clone(), what });
    if sphere.is_index && mode.writes() {
        return wrong("an alternate index changes only with its base");
    }
    if sphere.index.is_some() && mode == OpenMode::Output {
        return wrong("a cluster is loaded by its own name, not by a path");
    }
    Ok(())
}

impl<S: Store> File<S> {
    /// The entry of the cluster whose records it gives.
    #[must_use]
    pub fn base(&self) -> &Entry {
        &self.base
    }

    /// The attributes of that cluster.
    #[must_use]
    pub fn attributes(&self) -> &ClusterAttributes {
        &self.attributes
    }

    /// How that cluster orders its records.
    #[must_use]
    pub fn organization(&self) -> Organization {
        self.attributes.organization
    }

    /// The entry of the alternate index through which it goes, if it does.
    #[must_use]
    pub fn alternate_index(&self) -> Option<&Entry> {
        self.index.as_ref()
    }

    /// What it was opened for.
    #[must_use]
    pub fn mode(&self) -> OpenMode {
        self.mode
    }

    /// A unit of work is about to change something.
    #[inline]
    pub(crate) fn begin_change(&self, unit: &mut S::Unit) -> Result<(), StoreError> {
        if self.sole { unit.cover(self.set, Cover::Whole) } else { Ok(()) }
    }

    /// A position in front of the first record.
    ///
    /// # Errors
    /// If no string is left.
    pub fn position(&self) -> Result<Position<S>, Failure> {
        let store = self.catalog.store();
        let Some(ticket) = &self.ticket else {
            return Err(Failure::logical(LogicalReason::NotOpenForThis));
        };
        let (walked, peeks) = match &self.route {
            Route::Base | Route::HandlerRows(_) => (self.set, false),
            Route::Path(index) => (index.set, !index.unique),
            Route::Index(index) => (index.set, true),
        };
        let cursor = store.cursor(walked)?;
        let peek = if peeks { Some(store.cursor(walked)?) } else { None };
        let scratch = self.upgrade.scratch(store)?;
        // Only now: what fails before takes no string.
        if !self.strings.take() {
            return Err(Failure::logical(LogicalReason::NoString));
        }
        Ok(Position {
            cursor,
            peek,
            scratch,
            file: self.number,
            placed: true,
            held: false,
            base_key: Vec::new(),
            written: None,
            area_bytes: None,
            access: None,
            buffers: Buffers::default(),
            ahead: Ahead::default(),
            counts: Counts::default(),
            sphere: Arc::clone(ticket.sphere()),
            string: Arc::clone(&self.strings),
        })
    }

    /// Closes it: what was counted is written to the catalog. Dropping it does the same, but says
    /// nothing of failures. Positions count what they did when they are dropped or end their
    /// request: that comes first. What was changed is committed with the caller's unit of work,
    /// before or after.
    ///
    /// # Errors
    /// If the catalog cannot be changed, a bulk load fails, or an index cannot be built after it.
    pub fn close(mut self) -> Result<(), OpenError> {
        self.end_load()?;
        self.give_back()
    }

    fn end_load(&mut self) -> Result<(), OpenError> {
        let Some(load) = self.load.take() else { return Ok(()) };
        load.into_inner().end()?;
        for index in std::mem::take(&mut self.to_build) {
            if let Some(attributes) = index.alternate_index() {
                self.catalog.build_alone(&index, attributes, &self.base, self.shape)?;
            }
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<(), OpenError> {
        if self.ticket.take().is_none() {
            return Ok(());
        }
        Ok(self.catalog.keep_statistics(self.base.number)?)
    }
}

impl<S: Store> Drop for File<S> {
    fn drop(&mut self) {
        // A load that was not closed is given up; its indexes know all records of an empty cluster.
        if self.load.take().is_some() {
            for index in std::mem::take(&mut self.to_build) {
                let _ = self.catalog.note_state(&index, State::Ready, 0);
            }
        }
        // What was counted stays with the sphere and is written by the next close.
        let _ = self.give_back();
    }
}
