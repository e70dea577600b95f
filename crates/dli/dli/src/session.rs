//! A program's use of databases: the PCBs of its PSB, and the unit of work that its calls share.
//!
//! Invariants:
//! 1. One unit of work at a time: it begins with the first call and ends with a sync point.
//! 2. After a failure nothing of the unit of work stays, and no call succeeds until it was backed
//!    out.

use std::sync::Arc;

use definitions::resolve::{Definitions, ResolvedKind, ResolvedPsb};
use definitions::{DbdName, Function, SegmentName};
use hierarchy::{Database, HierarchyError, Levels};
use store::{CommitSink, Read, Savepoint, Store, Unit, UnitOptions};

use crate::context::CallContext;
use crate::failure::{Failure, SessionError};
use crate::get::{Answer, Get};
use crate::locks::Locks;
use crate::mask::Mask;
use crate::pcb::DbPcb;
use crate::status::Status;
use crate::view::{CompiledView, ViewError};

/// How a program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionOptions {
    /// Whether other programs use the databases at the same time.
    pub shared: bool,
    /// BMP, MPP or IFP: a path ISRT needs PROCOPT=P (DLI-12.28).
    pub online: bool,
    /// Whom to name in messages about locks.
    pub owner: u64,
}

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: Status,
    /// How many bytes of the I/O area the call filled.
    pub filled: usize,
}

/// Where a PCB stands, in bytes that outlive the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The segments of the path, as places in the view.
    pub nodes: Vec<u16>,
    /// The path.
    pub key: Vec<u8>,
}

/// What a function asks of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatabaseCall {
    /// A get, and whether it holds what it returns.
    Get(Get, bool),
    Insert,
    Replace,
    Delete,
}

impl DatabaseCall {
    /// `None` for a function that the engine does not answer.
    fn of(function: Function) -> Option<DatabaseCall> {
        Some(match function {
            Function::Gu => DatabaseCall::Get(Get::Unique, false),
            Function::Ghu => DatabaseCall::Get(Get::Unique, true),
            Function::Gn => DatabaseCall::Get(Get::Next, false),
            Function::Ghn => DatabaseCall::Get(Get::Next, true),
            Function::Gnp => DatabaseCall::Get(Get::WithinParent, false),
            Function::Ghnp => DatabaseCall::Get(Get::WithinParent, true),
            Function::Isrt => DatabaseCall::Insert,
            Function::Repl => DatabaseCall::Replace,
            Function::Dlet => DatabaseCall::Delete,
            Function::Pos
            | Function::Fld
            | Function::Deq
            | Function::Open
            | Function::Clse
            | Function::Chkp
            | Function::Xrst
            | Function::Sync
            | Function::Rolb
            | Function::Roll
            | Function::Rols
            | Function::Sets
            | Function::Setu
            | Function::Log
            | Function::Stat
            | Function::Inqy
            | Function::Init
            | Function::Gscd
            | Function::Term
            | Function::Apsb
            | Function::Dpsb
            | Function::Pcb
            | Function::Purg
            | Function::Chng
            | Function::Seto
            | Function::Auth
            | Function::Cmd
            | Function::Gcmd
            | Function::Icmd
            | Function::Rcmd
            | Function::Gmsg
            | Function::Ical
            | Function::Unknown(_) => return None,
        })
    }
}

/// A PCB of the program.
pub(crate) enum Slot<S: Store> {
    /// For a database. Its view once more: a call is lent it beside the PCB.
    Database(Box<DbPcb<S>>, Arc<CompiledView>),
    /// For something else.
    Other,
}

/// A program's databases.
pub struct Session<S: Store> {
    store: S,
    options: SessionOptions,
    unit: Option<S::Unit>,
    locks: Locks,
    pub(crate) slots: Vec<Slot<S>>,
    /// How many DLETs and REPLs there were: a path may have lost what it stands on since.
    changes: u64,
    /// Whether the call in hand carries out an EXEC DLI command.
    of_command: bool,
}

impl<S: Store> Session<S> {
    /// Opens the databases of a PSB. `open` gives each database, the same one every time.
    ///
    /// # Errors
    /// If a database cannot be opened.
    pub fn open(
        store: &S,
        psb: &ResolvedPsb,
        definitions: &dyn Definitions,
        open: &mut dyn FnMut(DbdName) -> hierarchy::Result<Arc<Database>>,
        options: SessionOptions,
    ) -> Result<Session<S>, SessionError> {
        let mut slots = Vec::with_capacity(psb.pcbs.len());
        for (number, pcb) in psb.pcbs.iter().enumerate() {
            let ResolvedKind::Database(view) = &pcb.kind else {
                slots.push(Slot::Other);
                continue;
            };
            let view =
                CompiledView::new((**view).clone(), definitions, open).map_err(
                    |error| match error {
                        ViewError::Database(error) => SessionError::Database(*error),
                        ViewError::NoPath(segment) => no_path(psb, view.dbd, segment),
                    },
                )?;
            let view = Arc::new(view);
            let pcb = DbPcb::new(number, Arc::clone(&view), options.shared);
            slots.push(Slot::Database(Box::new(pcb), view));
        }
        tell_who_shares(&mut slots);
        let locks = Locks::new(options.shared, slots.len());
        Ok(Session {
            store: store.clone(),
            options,
            unit: None,
            locks,
            slots,
            changes: 0,
            of_command: false,
        })
    }

    /// Limits a database PCB to some partitions: of its database, or of the index over which it
    /// goes (DLI-12.76).
    pub fn limit(&mut self, pcb: usize, partitions: std::ops::RangeInclusive<u16>) {
        if let Some(Slot::Database(pcb, view)) = self.slots.get_mut(pcb) {
            Arc::make_mut(view).span = Some(partitions);
            pcb.view = Arc::clone(view);
        }
    }

    /// What a PCB shows; `None` if it is not one of a database.
    #[must_use]
    pub fn mask(&self, pcb: usize) -> Option<&Mask> {
        match self.slots.get(pcb)? {
            Slot::Database(pcb, _) => Some(&pcb.feedback.mask),
            Slot::Other => None,
        }
    }

    /// The longest I/O area that a call through a PCB may fill.
    #[must_use]
    pub fn area_max(&self, pcb: usize) -> usize {
        match self.slots.get(pcb) {
            Some(Slot::Database(pcb, _)) => pcb.view.area_max,
            _ => 0,
        }
    }

    /// A call through a database PCB, which may carry out an EXEC DLI command: then REPL and DLET
    /// change the segments that their search arguments name, wherever the path is on an occurrence
    /// (DLI-12.36), and the area holds those segments alone.
    ///
    /// # Errors
    /// As for [`Session::call`].
    pub fn call_of(
        &mut self,
        pcb: usize,
        function: Function,
        of_command: bool,
        area: Option<&mut [u8]>,
        ssas: &[&[u8]],
    ) -> Result<Reply, Failure> {
        self.of_command = of_command;
        let called = self.call(pcb, function, area, ssas);
        self.of_command = false;
        called
    }

    /// A call through a database PCB. `area` is what the program passed, if it did.
    ///
    /// # Errors
    /// A [`Failure`] ends the program: its unit of work has to be backed out.
    pub fn call(
        &mut self,
        pcb: usize,
        function: Function,
        area: Option<&mut [u8]>,
        ssas: &[&[u8]],
    ) -> Result<Reply, Failure> {
        let answer = match self.slots.get(pcb) {
            Some(Slot::Database(_, view)) if view.beside_offline => {
                self.answer_or_undo(pcb, function, area, ssas)?
            }
            _ => self.answer(pcb, function, area, ssas).map_err(Failure::of)?,
        };
        if let Some(Slot::Database(pcb, _)) = self.slots.get_mut(pcb) {
            pcb.feedback.mask.status = answer.status;
        }
        if matches!(function, Function::Dlet | Function::Repl) {
            self.changes += 1;
        }
        Ok(Reply { status: answer.status, filled: answer.filled })
    }

    pub(crate) fn answer(
        &mut self,
        pcb: usize,
        function: Function,
        area: Option<&mut [u8]>,
        ssas: &[&[u8]],
    ) -> hierarchy::Result<Answer> {
        let online = self.options.online;
        self.begin()?;
        let Session { store, unit: Some(unit), locks, slots, changes, of_command, .. } = self
        else {
            return Ok(Answer::of(Status::AD));
        };
        let Some(Slot::Database(pcb, view)) = slots.get_mut(pcb) else {
            return Ok(Answer::of(Status::AD));
        };
        let mut context = CallContext {
            store: &*store,
            unit,
            locks,
            view,
            changes: *changes,
            of_command: *of_command,
        };
        let Some(call) = DatabaseCall::of(function) else {
            return Ok(Answer::of(Status::AD));
        };
        let Some(area) = area else { return Ok(Answer::of(Status::AB)) };
        match call {
            DatabaseCall::Get(get, hold) => pcb.get(&mut context, get, hold, ssas, area),
            DatabaseCall::Insert if view.resolved.options.is_load() => {
                if !pcb.loading.begun {
                    if pcb.holds_something(&mut context)? {
                        return Ok(Answer::of(Status::AI));
                    }
                    pcb.loading.begun = true;
                }
                pcb.load_segments(&mut context, ssas, area)
            }
            DatabaseCall::Insert => pcb.insert(&mut context, ssas, area, online),
            DatabaseCall::Replace => pcb.replace(&mut context, ssas, area),
            DatabaseCall::Delete => pcb.delete(&mut context, ssas, area),
        }
    }

    /// Commits; positions are lost (DLI-12.1). Durable on return.
    ///
    /// # Errors
    /// If the store could not commit.
    pub fn commit(&mut self) -> Result<(), Failure> {
        self.forget(DbPcb::keep_load);
        match self.unit.take() {
            Some(unit) => unit.commit().map(drop).map_err(|error| Failure::of(error.into())),
            None => Ok(()),
        }
    }

    /// Commits without waiting: positions are lost and locks are free on return, and `sink` hears
    /// by `token` when the commit is durable.
    ///
    /// # Errors
    /// If the store could not commit; the sink hears nothing then.
    pub fn commit_queued(&mut self, sink: &Arc<dyn CommitSink>, token: u64) -> Result<(), Failure> {
        self.forget(DbPcb::keep_load);
        let unit = match self.unit.take() {
            Some(unit) => unit,
            None => self.new_unit().map_err(Failure::of)?,
        };
        unit.commit_queued(sink, token).map_err(|error| Failure::of(error.into()))
    }

    /// Whether nothing was done since the last sync point.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.unit.is_none()
    }

    /// Backs out to the last commit; positions are lost.
    ///
    /// # Errors
    /// If the store has stopped.
    pub fn backout(&mut self) -> Result<(), Failure> {
        self.forget(DbPcb::return_load);
        match self.unit.take() {
            Some(unit) => unit.backout().map_err(|error| Failure::of(error.into())),
            None => Ok(()),
        }
    }

    /// The unit of work of the calls, begun if there is none: what is stored through it is
    /// committed with them.
    ///
    /// # Errors
    /// If the store cannot begin one.
    pub fn unit(&mut self) -> Result<&mut S::Unit, Failure> {
        let unit = match self.unit.take() {
            Some(unit) => unit,
            None => self.new_unit().map_err(Failure::of)?,
        };
        Ok(self.unit.insert(unit))
    }

    /// Lends the unit of work, if one has begun; whoever gets it may begin one. What is there
    /// behind `body` is the unit of work of the calls.
    pub fn lend_unit<T>(&mut self, body: impl FnOnce(&mut Option<S::Unit>) -> T) -> T {
        body(&mut self.unit)
    }

    fn new_unit(&self) -> hierarchy::Result<S::Unit> {
        let owner = self.options.owner;
        Ok(self.store.begin(UnitOptions { owner, ..UnitOptions::default() })?)
    }

    fn begin(&mut self) -> hierarchy::Result<()> {
        if self.unit.is_none() {
            self.unit = Some(self.new_unit()?);
        }
        Ok(())
    }

    /// Marks the point reached (SETS).
    ///
    /// # Errors
    /// If the store has no room for another one.
    pub fn savepoint(&mut self) -> Result<Savepoint, Failure> {
        self.unit()?.savepoint().map_err(|error| Failure::of(error.into()))
    }

    /// Undoes every change made since a savepoint (ROLS); positions are lost.
    ///
    /// # Errors
    /// If there is no such savepoint, or the store has stopped.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<(), Failure> {
        for slot in &mut self.slots {
            if let Slot::Database(pcb, _) = slot {
                pcb.forget();
            }
        }
        self.unit()?.rollback_to(savepoint).map_err(|error| Failure::of(error.into()))
    }

    /// Gives back what a class of command code Q keeps (DEQ).
    ///
    /// # Errors
    /// If the store has stopped.
    pub fn dequeue(&mut self, class: u8) -> Result<(), Failure> {
        match &mut self.unit {
            Some(unit) => self.locks.dequeue(unit, class).map_err(Failure::of),
            None => Ok(()),
        }
    }

    /// Where a database PCB stands, to be found again after a restart (DLI-12.53). Empty without
    /// position.
    #[must_use]
    pub fn place(&self, pcb: usize) -> Option<Place> {
        let Slot::Database(pcb, _) = self.slots.get(pcb)? else { return None };
        let levels = &pcb.position.levels;
        let nodes = (1..=levels.len()).map(|level| pcb.node_at(levels, level)).collect();
        Some(Place { nodes, key: pcb.position.path.clone() })
    }

    /// Stands where a PCB stood, as far as that is still there; the PCB's status tells (DLI-12.53).
    ///
    /// # Errors
    /// A [`Failure`] ends the program.
    pub fn find_place(&mut self, pcb: usize, place: &Place) -> Result<Status, Failure> {
        self.begin().map_err(Failure::of)?;
        let Session { store, unit: Some(unit), locks, slots, changes, of_command, .. } = self
        else {
            return Ok(Status::GE);
        };
        let Some(Slot::Database(pcb, view)) = slots.get_mut(pcb) else { return Ok(Status::AD) };
        let mut context = CallContext {
            store: &*store,
            unit,
            locks,
            view,
            changes: *changes,
            of_command: *of_command,
        };
        let status = pcb.return_to(&mut context, place).map_err(Failure::of)?;
        pcb.feedback.mask.status = status;
        Ok(status)
    }

    /// Forgets locks and positions; a load keeps its place, as `load` says.
    fn forget(&mut self, load: fn(&mut DbPcb<S>)) {
        self.locks.forget();
        for slot in &mut self.slots {
            if let Slot::Database(pcb, _) = slot {
                match pcb.loading.begun {
                    true => load(pcb),
                    false => pcb.forget(),
                }
            }
        }
    }
}

/// Whether what a PCB stands on may be deleted through another PCB of the program. Other programs
/// cannot delete it: its record is locked.
fn tell_who_shares<S: Store>(slots: &mut [Slot<S>]) {
    let deleting: Vec<(usize, Vec<DbdName>)> = slots
        .iter()
        .filter_map(|slot| match slot {
            Slot::Database(pcb, _) if pcb.view.nodes.iter().any(|one| one.options.allows('D')) => {
                Some((pcb.number, pcb.view.databases.iter().map(|one| one.name()).collect()))
            }
            _ => None,
        })
        .collect();
    for slot in slots {
        let Slot::Database(pcb, _) = slot else { continue };
        let own: Vec<DbdName> = pcb.view.databases.iter().map(|one| one.name()).collect();
        pcb.sharing.deletes = deleting.iter().any(|(number, databases)| {
            *number != pcb.number && databases.iter().any(|name| own.contains(name))
        });
    }
}

fn no_path(psb: &ResolvedPsb, dbd: DbdName, segment: SegmentName) -> SessionError {
    SessionError::NoPath { psb: psb.name, dbd, segment }
}

impl<S: Store> DbPcb<S> {
    /// Whether the database that is to be loaded holds a segment already.
    fn holds_something(&mut self, context: &mut CallContext<'_, S>) -> hierarchy::Result<bool> {
        for database in &self.view.databases[..1] {
            for set in &database.sets {
                let mut cursor = context.store.cursor(*set)?;
                if context.unit.next(&mut cursor, Read::Unlocked)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl<S: Store> DbPcb<S> {
    fn return_to(
        &mut self,
        context: &mut CallContext<'_, S>,
        place: &Place,
    ) -> hierarchy::Result<Status> {
        self.forget();
        if place.nodes.is_empty() {
            return Ok(Status::OK);
        }
        let view = context.view;
        let Some(levels) = view.levels_of(&place.nodes, &place.key) else {
            return Ok(Status::GE);
        };
        // A load goes on behind what it had loaded.
        self.loading.begun = view.resolved.options.is_load();
        self.search.stack.forget_best();
        self.search.stack.start(&[], &Levels::NONE);
        let there = self.stand_at(context, &place.key, &levels)?;
        self.take_stack();
        self.position.settle();
        self.show_path(self.position.levels.len());
        Ok(if there { Status::OK } else { Status::GE })
    }
}

impl Failure {
    pub(crate) fn of(error: HierarchyError) -> Failure {
        match error {
            error @ HierarchyError::Offline { .. } => Failure::unavailable(error),
            error => Failure::store(error),
        }
    }
}
