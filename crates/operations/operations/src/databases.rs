//! The databases of a system by their names: what operations on databases share.
//!
//! Invariants:
//! 1. A database is opened once, and then it is the same for everybody who asks for it.
//! 2. No program gets a database whose data was stored under other settings or another definition
//!    than the system has now, unless it asks without [`Databases::open`]'s check.
//! 3. Programs get to no partition that is offline; utilities do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use base::Coded as _;
use definitions::resolve::Definitions as _;
use definitions::{Dbd, DbdName, MemberName};
use hierarchy::repository::Repository;
use hierarchy::repository::lists::{self, Files};
use hierarchy::{Database, HierarchyError, Unlike, state};
use placement::{Encoding, Placement, PlacementError, Settings, places_of};
use recovery::Ties;
use seam::Seam;
use seam::sync::Mutex;
use store::{SetId, Store};
use store_any::AnyStore;
use system::Home;

use crate::{OperationsError, Result};

/// The databases of a system.
pub struct Databases<S> {
    /// Where they are.
    pub store: S,
    /// Their definitions.
    pub repository: Repository,
    settings: Settings,
    seam: Seam,
    dir: PathBuf,
    /// Hears what is to be known of a database that was opened all the same.
    notice: fn(&str),
    /// Whether partitions that are offline are out of reach.
    heeds_offline: bool,
    opened: Mutex<BTreeMap<DbdName, Arc<Database>>>,
}

impl Databases<AnyStore> {
    /// The databases of an open system.
    ///
    /// # Errors
    /// If the definitions that it keeps cannot be read.
    pub fn of(home: &(impl Home + ?Sized)) -> Result<Databases<AnyStore>> {
        let store = home.databases();
        Ok(Databases {
            repository: Repository::read(&store)?,
            store,
            settings: home.config().placement_settings(),
            seam: home.seam().clone(),
            dir: home.dir().to_owned(),
            notice: home.notices(),
            heeds_offline: false,
            opened: Mutex::default(),
        })
    }

    /// The databases of an open system, for programs.
    ///
    /// # Errors
    /// As [`Databases::of`].
    pub fn for_programs(home: &(impl Home + ?Sized)) -> Result<Databases<AnyStore>> {
        Ok(Databases { heeds_offline: true, ..Databases::of(home)? })
    }
}

impl<S: Store> Databases<S> {
    /// Says what is to be known, and no reason not to go on.
    pub(crate) fn notice(&self, text: &str) {
        (self.notice)(text);
    }

    /// A database whose data fits its definition and the settings. Programs need it to be whole,
    /// too: [`state::admit_whole`].
    ///
    /// # Errors
    /// Definitions that do not fit, data that was stored otherwise; what the store says.
    pub fn open(&self, name: DbdName) -> std::result::Result<Arc<Database>, HierarchyError> {
        let is_new = !self.opened.lock().contains_key(&name);
        let database = self.open_placed(name)?;
        state::admit(&self.store, &database)?;
        if is_new {
            self.warn_of_settings(&database)?;
        }
        Ok(database)
    }

    /// A database for those who only read it from end to end: whatever randomizer the settings
    /// name, and whether its list can be had.
    ///
    /// # Errors
    /// Definitions that do not fit, data that was stored otherwise; what the store says.
    pub fn open_to_read(
        &self,
        name: DbdName,
    ) -> std::result::Result<Arc<Database>, HierarchyError> {
        let error = match self.open(name) {
            Err(error) if matches!(error, HierarchyError::Placed(_)) || is_without_list(&error) => {
                error
            }
            other => return other,
        };
        let mut made = self.made(name, true)?;
        if state::admit_to_read(&self.store, &mut made).is_err() {
            return Err(error);
        }
        self.notice(&format!("{name} is read without its randomizer: {error}. {}", error.remedy()));
        Ok(Arc::new(made))
    }

    /// The databases whose settings are not those that their data were stored with, partitions and
    /// all, with what is wrong and what to do. Nothing is changed.
    #[must_use]
    pub fn misfits(&self) -> Vec<HierarchyError> {
        let names = self.repository.names();
        let databases = names.filter_map(|name| match name {
            MemberName::Dbd(name) => Some(name),
            MemberName::Psb(_) => None,
        });
        let holds_something = |name| state::holds_something(&self.store, name).unwrap_or(true);
        let misfit = |name| match self.open_placed(name) {
            Ok(database) => state::fits(&self.store, &database).err(),
            Err(error) => {
                Some(error).filter(|error| is_without_list(error) && holds_something(name))
            }
        };
        let counts = |error: &HierarchyError| {
            matches!(error, HierarchyError::Placed(_)) || is_without_list(error)
        };
        databases.filter_map(misfit).filter(counts).collect()
    }

    /// Says what a person should do about the settings of a database. What they make of its
    /// definition is said once, when that is compiled.
    fn warn_of_settings(&self, database: &Database) -> std::result::Result<(), HierarchyError> {
        for Unlike { set, set_by, has, wanted } in database.unlike(&self.store)? {
            let name = database.name();
            self.notice(&format!(
                "[database.{set_by}] of holdfast.toml says blocks of {wanted} bytes (block_bytes or \
                 interval_bytes), and the data set {set} was made with {has}: it keeps them until \
                 `holdfast unload {name} FILE`, `holdfast db empty {name} --yes`, and `holdfast \
                 load {name} FILE`"
            ));
        }
        Ok(())
    }

    /// A database, whatever its data is like and whether its list of root keys can be had: to know
    /// its data sets, or to empty it.
    ///
    /// # Errors
    /// Definitions that do not fit, data that was stored otherwise; what the store says.
    pub fn open_unchecked(
        &self,
        name: DbdName,
    ) -> std::result::Result<Arc<Database>, HierarchyError> {
        match self.open_placed(name) {
            Err(error) if is_without_list(&error) => Ok(Arc::new(self.made(name, true)?)),
            other => other,
        }
    }

    /// A database, whatever its data is like, with the randomizer of its roots.
    ///
    /// # Errors
    /// Definitions that do not fit, data that was stored otherwise; what the store says.
    pub fn open_placed(&self, name: DbdName) -> std::result::Result<Arc<Database>, HierarchyError> {
        if let Some(known) = self.opened.lock().get(&name) {
            return Ok(Arc::clone(known));
        }
        let made = self.made(name, false)?;
        let mut opened = self.opened.lock();
        Ok(Arc::clone(opened.entry(name).or_insert_with(|| Arc::new(made))))
    }

    /// Makes a database ready; where it is not asked where a root belongs, a list that cannot be
    /// had is as good as an empty one.
    fn made(
        &self,
        name: DbdName,
        without_list: bool,
    ) -> std::result::Result<Database, HierarchyError> {
        let mut placements = |dbd: &Dbd| match without_list {
            true => self.placement_to_read(dbd),
            false => self.placement(dbd),
        };
        let mut made = Database::open(&self.store, name, &self.repository, &mut placements)?;
        if self.heeds_offline {
            made.heed_offline(&self.store)?;
        }
        Ok(made)
    }

    /// The names of the sets of a database and of everything that is kept together with it: its
    /// partitions, its indexes, the logical relationships of its logical children and parents.
    ///
    /// # Errors
    /// Definitions that do not fit, data that was stored otherwise; what the store says.
    pub fn sets_of(&self, name: DbdName) -> Result<Vec<String>> {
        let database = self.open_unchecked(name)?;
        let relations = database.as_child.iter().chain(&database.as_parent);
        let ids: BTreeSet<SetId> = (database.sets.iter().copied())
            .chain(database.indexes.iter().map(|index| index.set))
            .chain(relations.map(|relation| relation.set))
            .collect();
        let relations = database.as_child.iter().chain(&database.as_parent);
        let waiting: BTreeSet<String> =
            relations.map(|of| format!("{}.{}.WAITING", of.child_dbd, of.child_name)).collect();
        let mine = |set: &store::SetInfo| ids.contains(&set.id) || waiting.contains(&set.name);
        let all = self.store.sets()?.into_iter();
        let mut names: Vec<String> = all.filter(mine).map(|set| set.name).collect();
        names.sort();
        Ok(names)
    }

    /// How the data sets of all databases depend on each other: logical children stand beneath
    /// their logical parents, and programs lock gaps of indexes.
    ///
    /// # Errors
    /// Definitions that do not fit, data that was stored otherwise; what the store says.
    pub fn ties(&self) -> Result<Ties> {
        let infos = self.store.sets()?;
        let name = |id: SetId| {
            let info = infos.iter().find(|info| info.id == id);
            info.map(|info| info.name.clone())
        };
        let kept = [hierarchy::repository::SET, state::SET].map(str::to_owned).into();
        let mut ties = Ties { gap: Some(hierarchy::entry::gap), kept, ..Ties::default() };
        for database in self.repository.names() {
            let MemberName::Dbd(database) = database else { continue };
            // No program has come to one that cannot be opened.
            let Ok(database) = self.open_unchecked(database) else { continue };
            for relation in &database.as_parent {
                let above = database.sets.iter().filter_map(|set| name(*set));
                let below = name(relation.set);
                ties.beneath.extend(above.filter_map(|above| Some((below.clone()?, above))));
            }
            ties.gapped.extend(database.indexes.iter().filter_map(|index| name(index.set)));
        }
        Ok(ties)
    }

    /// The database and the index whose entries stand in the set of that name, if it is one.
    #[must_use]
    pub fn index_of(&self, set: &str) -> Option<(DbdName, DbdName)> {
        let index = DbdName::new(set)?;
        self.repository.names().find_map(|name| {
            let MemberName::Dbd(name) = name else { return None };
            let database = self.open_unchecked(name).ok()?;
            let mut indexes = database.indexes.iter();
            indexes.find(|tree| tree.index.dbd == index).map(|_| (name, index))
        })
    }

    /// The sections `[database.NAME]` of holdfast.toml that are about no database, once what is
    /// given besides is stored, and how they would be right.
    #[must_use]
    pub fn without_database(&self, coming: &[DbdName]) -> Vec<String> {
        let stored = self.repository.names().filter_map(|name| match name {
            MemberName::Dbd(name) => Some(name),
            MemberName::Psb(_) => None,
        });
        let known: BTreeSet<String> =
            stored.chain(coming.iter().copied()).map(|name| name.text().to_owned()).collect();
        let lost = self.settings.databases.keys().filter(|name| !known.contains(*name));
        lost.map(|name| {
            format!(
                "[database.{name}] of holdfast.toml has no effect: there is no database {name}; \
                 correct the name, or compile its DBD with `holdfast gen`"
            )
        })
        .collect()
    }

    /// The DD names of the data sets of all databases.
    #[must_use]
    pub fn dd_names(&self) -> BTreeSet<String> {
        let dbds = self.repository.names().filter_map(|name| match name {
            MemberName::Dbd(name) => self.repository.dbd(name),
            MemberName::Psb(_) => None,
        });
        let mut names = BTreeSet::new();
        for dbd in dbds {
            for set in &dbd.data_sets {
                let dds = [&set.dd1, &set.dd2, &set.overflow];
                names.extend(dds.into_iter().flatten().map(ToString::to_string));
            }
        }
        names
    }

    /// Where the settings put the roots of a database, but for the order of a list that cannot be
    /// had.
    ///
    /// # Errors
    /// Definitions that do not fit, data that was stored otherwise; what the store says.
    pub fn placement_to_read(&self, dbd: &Dbd) -> std::result::Result<Placement, HierarchyError> {
        match self.placement(dbd) {
            Err(error) if is_without_list(&error) => {
                let empty = Placement::new(dbd, &self.settings, &mut |_| Ok(Vec::new()));
                empty.map_err(|error| Arc::new(error).into())
            }
            other => other,
        }
    }

    /// Where the settings put the roots of a database. Where its roots stand by a list, what counts
    /// is the list by which they were placed, which the system keeps: files may change or get lost.
    ///
    /// # Errors
    /// Definitions that do not fit, data that was stored otherwise; what the store says.
    pub fn placement(&self, dbd: &Dbd) -> std::result::Result<Placement, HierarchyError> {
        let mut files: Files = Vec::new();
        let mut load = |file: &str| {
            let contents = system::read_root_list(&*self.seam.disk, &self.dir, file)?;
            files.push((file.to_owned(), contents.clone()));
            Ok(contents)
        };
        let now = Placement::new(dbd, &self.settings, &mut load);
        let is_lost = now.as_ref().is_err_and(is_of_list);
        if files.is_empty() && !is_lost {
            return now.map_err(|error| Arc::new(error).into());
        }
        let record = state::state_of(&self.store, dbd.name)?;
        let stored = record.map(|record| record.placing()).filter(|placing| !placing.is_empty());
        let holds = stored.is_some() && state::holds_something(&self.store, dbd.name)?;
        let Some(was) = stored.filter(|_| holds) else {
            // It is empty: it takes what the file says now.
            let now = now.map_err(Arc::new)?;
            self.keep_list(dbd.name, &now, &files);
            return Ok(now);
        };
        // The file proves nothing: it may be made to look like the list that is kept.
        if let Some(kept) = self.kept_placement(dbd, &was) {
            let exactly = now.as_ref().map(Placement::exact_identity);
            if exactly.as_ref().ok() != Some(&kept.exact_identity()) {
                self.tell_of_list(dbd.name, now.err());
            }
            return Ok(kept);
        }
        let now = now.map_err(Arc::new)?;
        match now.recorded_as(&was) {
            Some(same) => {
                self.keep_list(dbd.name, &same, &files);
                Ok(same)
            }
            None => Ok(now),
        }
    }

    /// Keeps the list of a database. Where that cannot be, it is not the command's business.
    fn keep_list(&self, name: DbdName, placement: &Placement, files: &Files) {
        if let Err(error) = lists::keep(&self.store, name, &places_of(&placement.identity()), files)
        {
            self.notice(&format!(
                "the list of root keys of {name} could not be kept in the system: {error} ({})",
                error.code()
            ));
        }
    }

    /// Where roots stand by a list that the system keeps.
    fn kept_placement(&self, dbd: &Dbd, was: &str) -> Option<Placement> {
        let files = lists::files(&self.store, dbd.name, &places_of(was)).ok()??;
        let mut load = |file: &str| {
            // One that has another name now is the only one, or nothing is said of it.
            let found = files.iter().find(|(name, _)| name == file);
            let only = files.first().filter(|_| files.len() == 1);
            let (_, contents) = found.or(only).ok_or(std::io::ErrorKind::NotFound)?;
            Ok(contents.clone())
        };
        let kept = Placement::new(dbd, &self.settings, &mut load).ok()?;
        kept.recorded_as(was)
    }

    /// Says that the list in the system counts, and not the file.
    fn tell_of_list(&self, name: DbdName, lost: Option<PlacementError>) {
        let why = match lost {
            Some(error) => error.to_string(),
            None => "the list of root keys has changed since its roots were placed".to_owned(),
        };
        self.notice(&format!(
            "{name}: {why}. Its data stays where it is, by the list that the system has kept; the \
             file counts again after `holdfast unload {name} FILE`, `holdfast db empty {name} \
             --yes`, and `holdfast load {name} FILE`"
        ));
    }

    /// What the data of a database or a sequential file is declared to be.
    #[must_use]
    pub fn encoding(&self, name: DbdName) -> Encoding {
        self.settings.databases.get(name.text()).map(|one| one.encoding).unwrap_or_default()
    }

    /// The name of a database that is defined, in whatever case it was typed.
    ///
    /// # Errors
    /// Definitions that do not fit, data that was stored otherwise; what the store says.
    pub fn named(&self, text: &str) -> Result<DbdName> {
        let name = DbdName::new(&text.to_ascii_uppercase());
        match name.filter(|name| self.repository.dbd(*name).is_some()) {
            Some(name) => Ok(name),
            None => Err(OperationsError::NoDatabase { name: text.to_ascii_uppercase() }),
        }
    }
}

/// Whether it is about a list of root keys: its file is gone, cannot be read, or holds no keys.
fn is_of_list(error: &PlacementError) -> bool {
    matches!(
        error,
        PlacementError::ListUnread { .. }
            | PlacementError::ListKey { .. }
            | PlacementError::ListTwice { .. }
    )
}

/// Whether a database cannot be had for want of a list of root keys.
#[must_use]
pub fn is_without_list(error: &HierarchyError) -> bool {
    matches!(error, HierarchyError::Placement(error) if is_of_list(error))
}
