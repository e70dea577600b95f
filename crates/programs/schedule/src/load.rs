//! Loads: PCBs with PROCOPT=L, and the databases that they fill.
//!
//! | the load | the database is then | what programs get |
//! |---|---|---|
//! | ends normally | ready | the data |
//! | abends before its first commit | empty and ready | an empty database |
//! | abends later, or dies | in a load | a message that says so, until it is emptied |
//!
//! Invariants:
//! 1. A database is recorded as being loaded before its first segment is inserted, and as ready
//!    after the last one was committed (DLI-12.50).
//! 2. A long load is committed now and then; no program can take its beginning for all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::Coded as _;
use definitions::DbdName;
use definitions::resolve::{ResolvedKind, ResolvedPsb, View};
use hierarchy::{Database, HierarchyError, state};
use region::Abend;
use store::Store;

use crate::error::{ScheduleError, because};

/// The databases that a program loads.
#[derive(Default)]
pub(crate) struct Loads {
    /// The database of each load PCB, by its place in the PSB.
    of_pcb: BTreeMap<usize, Arc<Database>>,
    begun: Vec<Arc<Database>>,
    /// Those of which the operator was told that they are not empty.
    reported: BTreeSet<DbdName>,
    inserts: u32,
}

/// Whether a load may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    Yes,
    /// There is something in the database already: AI.
    NotEmpty,
}

impl Loads {
    /// Admits all databases of a PSB: those that are loaded as they are, the others only if they
    /// are whole.
    pub(crate) fn of<S: Store>(
        store: &S,
        psb: &ResolvedPsb,
        open: &mut dyn FnMut(DbdName) -> hierarchy::Result<Arc<Database>>,
    ) -> Result<Loads, ScheduleError> {
        let failed = |error| ScheduleError::Database { psb: psb.name, error };
        let mut loads = Loads::default();
        for (slot, pcb) in psb.pcbs.iter().enumerate() {
            if let ResolvedKind::Database(view) = &pcb.kind
                && let Some(loaded) = loaded(view)
            {
                loads.of_pcb.insert(slot, open(loaded).map_err(failed)?);
            }
        }
        let views = psb.pcbs.iter().filter_map(|pcb| match &pcb.kind {
            ResolvedKind::Database(view) => Some(view),
            _ => None,
        });
        let mut names: Vec<DbdName> = views.flat_map(|view| view.databases.clone()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let database = open(name).map_err(failed)?;
            let is_loaded = loads.of_pcb.values().any(|one| one.name() == name);
            match is_loaded {
                true => state::admit(store, &database).map(drop).map_err(failed)?,
                false => state::admit_whole(store, &database).map_err(failed)?,
            }
        }
        Ok(loads)
    }

    /// The database that the PCB at this place of the PSB loads.
    pub(crate) fn database_of(&self, slot: usize) -> Option<Arc<Database>> {
        self.of_pcb.get(&slot).cloned()
    }

    /// A database that is loaded, if there is one.
    pub(crate) fn first(&self) -> Option<DbdName> {
        self.of_pcb.values().next().map(|database| database.name())
    }

    /// Whether the PCB at this place loads.
    pub(crate) fn is_load(&self, slot: usize) -> bool {
        self.of_pcb.contains_key(&slot)
    }

    /// Begins the load of a database, if it has not begun; tells the operator why it cannot.
    pub(crate) fn begin<S: Store>(
        &mut self,
        store: &S,
        database: &Arc<Database>,
        tell: fn(&str),
    ) -> Result<Begun, Abend> {
        if self.begun.iter().any(|one| one.name() == database.name()) {
            return Ok(Begun::Yes);
        }
        match state::begin_load(store, database) {
            Ok(()) => {
                self.begun.push(Arc::clone(database));
                Ok(Begun::Yes)
            }
            Err(error @ (HierarchyError::NotEmpty(_) | HierarchyError::Loading(_))) => {
                if self.reported.insert(database.name()) {
                    // A program shows AI at best; what to do, the operator has to know.
                    tell(&format!("{error} ({}): status AI\n{}", error.code(), error.remedy()));
                }
                Ok(Begun::NotEmpty)
            }
            Err(error) => Err(because("U0844", &error)),
        }
    }

    /// Counts an insert; answers whether it is time to commit.
    pub(crate) fn inserted(&mut self, limit: u32) -> bool {
        self.inserts += 1;
        self.inserts >= limit
    }

    /// A commit was made.
    pub(crate) fn committed(&mut self) {
        self.inserts = 0;
    }

    /// Everything that was loaded is committed: the databases can be used.
    pub(crate) fn end<S: Store>(&mut self, store: &S) -> Result<(), Abend> {
        for database in self.begun.drain(..) {
            state::end_load(store, &database).map_err(|error| because("U0844", &error))?;
        }
        Ok(())
    }

    /// The load is backed out: what is empty again can be used, the rest has to be emptied.
    pub(crate) fn give_up<S: Store>(&mut self, store: &S) -> Result<(), Abend> {
        for database in self.begun.drain(..) {
            let failed = |error: HierarchyError| because("U0844", &error);
            if state::is_empty(store, &database).map_err(failed)? {
                state::end_load(store, &database).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// The database that a PCB loads.
fn loaded(view: &View) -> Option<DbdName> {
    let root = view.segments.first()?;
    view.options.is_load().then_some(root.home.dbd)
}
