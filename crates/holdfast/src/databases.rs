//! The databases of a system by their names: what commands that work on databases share.
//!
//! Invariants:
//! 1. A database is opened once, and then it is the same for everybody who asks for it.
//! 2. Nobody gets a database whose data was stored under other settings or another definition
//!    than the system has now, unless it asks without [`Databases::open`]'s check.
//! 3. Programs get to no partition that is offline; utilities do.
//! 4. A command closes the system, whatever became of its work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use definitions::resolve::Definitions as _;
use definitions::{Dbd, DbdName, MemberName};
use hierarchy::{Database, HierarchyError, Unlike, state};
use placement::{Placement, Settings};
use recovery::Ties;
use repository::Repository;
use seam::Seam;
use seam::sync::Mutex;
use store::{SetId, Store};
use store_kernel::KernelStore;
use system::System;

use crate::command::Context;
use crate::failure::{Failure, Result};
use crate::output::warn;
use crate::passphrase::PassphraseArgs;
use crate::verbs::options;
use crate::which::tell_recon_of;

/// The arguments of a command that works on the databases of a stopped system.
#[derive(Args, Clone, Debug)]
pub(crate) struct SystemArgs {
    /// The system's folder; the system must be stopped
    #[arg(short, long, value_name = "DIR")]
    pub(crate) system: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
}

/// The databases of a system.
pub(crate) struct Databases<S> {
    /// Where they are.
    pub(crate) store: S,
    /// Their definitions.
    pub(crate) repository: Repository,
    settings: Settings,
    seam: Seam,
    dir: PathBuf,
    /// Whether partitions that are offline are out of reach.
    heeds_offline: bool,
    opened: Mutex<BTreeMap<DbdName, Arc<Database>>>,
}

impl Databases<KernelStore> {
    /// The databases of an open system.
    pub(crate) fn of(seam: &Seam, system: &System) -> Result<Databases<KernelStore>> {
        Ok(Databases {
            store: system.store().clone(),
            repository: Repository::read(system.store())?,
            settings: system.config().placement_settings(),
            seam: seam.clone(),
            dir: system.dir().to_owned(),
            heeds_offline: false,
            opened: Mutex::default(),
        })
    }

    /// The databases of an open system, for programs.
    pub(crate) fn for_programs(seam: &Seam, system: &System) -> Result<Databases<KernelStore>> {
        Ok(Databases { heeds_offline: true, ..Databases::of(seam, system)? })
    }
}

impl<S: Store> Databases<S> {
    /// A database whose data fits its definition and the settings. Programs need it to be whole,
    /// too: [`state::admit_whole`].
    pub(crate) fn open(&self, name: DbdName) -> std::result::Result<Arc<Database>, HierarchyError> {
        let is_new = !self.opened.lock().contains_key(&name);
        let database = self.open_unchecked(name)?;
        state::admit(&self.store, &database)?;
        if is_new {
            self.warn_of_settings(&database)?;
        }
        Ok(database)
    }

    /// The databases whose settings are not those that their data were stored with, partitions and
    /// all, with what is wrong and what to do. Nothing is changed.
    pub(crate) fn misfits(&self) -> Vec<HierarchyError> {
        let names = self.repository.names();
        let databases = names.filter_map(|name| match name {
            MemberName::Dbd(name) => self.open_unchecked(name).ok(),
            _ => None,
        });
        let misfit = |database: Arc<Database>| state::fits(&self.store, &database).err();
        let all = databases.filter_map(misfit);
        all.filter(|error| matches!(error, HierarchyError::Placed(_))).collect()
    }

    /// Says what a person should know about the settings of a database and of its indexes.
    fn warn_of_settings(&self, database: &Database) -> std::result::Result<(), HierarchyError> {
        let of_indexes = database.indexes.iter().filter_map(|tree| tree.placement.as_deref());
        let placements = std::iter::once(&*database.schema.placement).chain(of_indexes);
        placements.flat_map(|placement| placement.notes()).for_each(warn);
        for Unlike { set, says, has, wanted } in database.unlike(&self.store)? {
            let name = database.name();
            warn(format!(
                "[database.{says}] of holdfast.toml says blocks of {wanted} bytes (block_bytes or \
                 interval_bytes), and the data set {set} was made with {has}: it keeps them until \
                 `holdfast unload {name} FILE`, `holdfast db empty {name} --yes`, and `holdfast \
                 load {name} FILE`"
            ));
        }
        Ok(())
    }

    /// A database, whatever its data is like: to empty it.
    pub(crate) fn open_unchecked(
        &self,
        name: DbdName,
    ) -> std::result::Result<Arc<Database>, HierarchyError> {
        if let Some(known) = self.opened.lock().get(&name) {
            return Ok(Arc::clone(known));
        }
        let mut placements = |dbd: &Dbd| self.placement(dbd);
        let mut made = Database::open(&self.store, name, &self.repository, &mut placements)?;
        if self.heeds_offline {
            made.heed_offline(&self.store)?;
        }
        let mut opened = self.opened.lock();
        Ok(Arc::clone(opened.entry(name).or_insert_with(|| Arc::new(made))))
    }

    /// The names of the sets of a database and of everything that is kept together with it: its
    /// partitions, its indexes, the logical relationships of its logical children and parents.
    pub(crate) fn sets_of(&self, name: DbdName) -> Result<Vec<String>> {
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
    pub(crate) fn ties(&self) -> Result<Ties> {
        let infos = self.store.sets()?;
        let name = |id: SetId| {
            let info = infos.iter().find(|info| info.id == id);
            info.map(|info| info.name.clone())
        };
        let kept = [repository::SET, state::SET].map(str::to_owned).into();
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
    pub(crate) fn index_of(&self, set: &str) -> Option<(DbdName, DbdName)> {
        let index = DbdName::new(set)?;
        self.repository.names().find_map(|name| {
            let MemberName::Dbd(name) = name else { return None };
            let database = self.open_unchecked(name).ok()?;
            let mut indexes = database.indexes.iter();
            indexes.find(|tree| tree.index.dbd == index).map(|_| (name, index))
        })
    }

    /// Where the settings put the roots of a database.
    pub(crate) fn placement(&self, dbd: &Dbd) -> std::result::Result<Placement, HierarchyError> {
        let disk = &*self.seam.disk;
        let mut load = |file: &str| system::read_root_list(disk, &self.dir, file);
        Placement::new(dbd, &self.settings, &mut load).map_err(|error| Arc::new(error).into())
    }

    /// The name of a database that is defined, in whatever case it was typed.
    pub(crate) fn named(&self, text: &str) -> Result<DbdName> {
        let name = DbdName::new(&text.to_ascii_uppercase());
        match name.filter(|name| self.repository.dbd(*name).is_some()) {
            Some(name) => Ok(name),
            None => Err(Failure::other(
                format!("there is no DBD {}", text.to_ascii_uppercase()),
                "Correct the name, or compile its source with `holdfast gen`.",
            )),
        }
    }
}

/// Opens the system, lets `body` work on its databases, and closes the system in any case.
pub(crate) fn with<T>(
    context: &mut Context,
    args: &SystemArgs,
    body: impl FnOnce(&mut Context, &System, &Databases<KernelStore>) -> Result<T>,
) -> Result<T> {
    let passphrase = args.passphrase.get()?;
    let dir: &Path = &args.system;
    let system = System::open(&context.seam, dir, &passphrase, options())?;
    system.notes().iter().for_each(warn);
    let done = Databases::of(&context.seam, &system).and_then(|databases| {
        let answer = body(context, &system, &databases)?;
        // What was made by it, RECON knows for the time when it is damaged.
        tell_recon_of(&system, &databases);
        Ok(answer)
    });
    match (done, system.close()) {
        (Ok(answer), Ok(())) => Ok(answer),
        (Ok(_), Err(error)) => Err(error.into()),
        (Err(failure), _) => Err(failure),
    }
}
