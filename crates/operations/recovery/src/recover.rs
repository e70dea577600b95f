//! Doing a recovery: restore, redo, backout, and the step at which everything changes places (K17).
//!
//! 1. For each data set a successor is filled from its copies. Data sets with the same copies are
//!    filled together, so that a copy is read once.
//! 2. The log is read once, for all of them.
//! 3. To the end of the log: most of it is read while programs go on; then the data sets are locked
//!    and the rest is read. To a point: nothing is left to read.
//! 4. Units of work that were not over at the point are backed out in the successors.
//! 5. RECON is told, then the successors take their places, in one log record.
//!
//! A crash before the fifth step leaves everything as it was; the recovery is run again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use archive::{LogSource, Span};
use base::{CiNumber, DataSetId, Lsn, UowId};
use lock::{LockError, LockName, Mode, Wait};
use recon::{Built, ImageCopy, Recon, Record as Note};
use seam::failpoint::{Failpoint, armed};
use space::{DataSet, Definition};
use store_kernel::KernelStore;
use uow::checkpoint::Checkpoint;
use uow::record::KernelRecord;
use uow::{InFlight, Kernel, Rebuild, RebuildCounts, Repeating, Uow, UowError, UowOptions};
use wal::{Log, Record};

use crate::plan::{Plan, SetPlan, Target};
use crate::proof::{read_any_file, refuse_unproven};
use crate::unproven::Unproven;
use crate::{CopyInfo, CopyKeys, CopyVisitor, Progress, RecoveryError, log_filter};

/// Where a recovery reads the log.
pub trait History {
    /// The oldest position that can be asked for; [`Lsn::NONE`] if there is nothing at all.
    fn oldest(&self) -> Lsn;

    /// Gives each record that begins within a range to `each`, in order, until it says `false`.
    ///
    /// # Errors
    /// A piece of the log that is nowhere any more, damage, and what `each` says.
    fn each(
        &self,
        from: Lsn,
        to: Lsn,
        each: &mut dyn FnMut(&Record<'_>) -> Result<bool, RecoveryError>,
    ) -> Result<(), RecoveryError>;

    /// The same for a caller that needs only what concerns some data sets where they count; it may
    /// give more.
    ///
    /// # Errors
    /// As for [`History::each`].
    fn each_of(
        &self,
        _spans: &[Span],
        from: Lsn,
        to: Lsn,
        each: &mut dyn FnMut(&Record<'_>) -> Result<bool, RecoveryError>,
    ) -> Result<(), RecoveryError> {
        self.each(from, to, each)
    }
}

impl History for Log {
    fn oldest(&self) -> Lsn {
        Log::oldest(self)
    }

    fn each(
        &self,
        from: Lsn,
        to: Lsn,
        each: &mut dyn FnMut(&Record<'_>) -> Result<bool, RecoveryError>,
    ) -> Result<(), RecoveryError> {
        let mut reader = self.read(from.min(to), to);
        while let Some(record) = reader.next()? {
            if !each(&record)? {
                break;
            }
        }
        Ok(())
    }
}

impl History for LogSource {
    fn oldest(&self) -> Lsn {
        LogSource::oldest(self)
    }

    fn each(
        &self,
        from: Lsn,
        to: Lsn,
        each: &mut dyn FnMut(&Record<'_>) -> Result<bool, RecoveryError>,
    ) -> Result<(), RecoveryError> {
        let mut reader = self.read(from.min(to), to)?;
        while let Some(record) = reader.next()? {
            if !each(&record)? {
                break;
            }
        }
        Ok(())
    }

    fn each_of(
        &self,
        spans: &[Span],
        from: Lsn,
        to: Lsn,
        each: &mut dyn FnMut(&Record<'_>) -> Result<bool, RecoveryError>,
    ) -> Result<(), RecoveryError> {
        LogSource::each_of(self, spans, from.min(to)..to, log_filter, each)
    }
}

/// How a recovery is done.
#[derive(Clone, Copy, Debug)]
pub struct RecoverOptions {
    /// How long the last step waits for programs that use the data sets.
    pub wait: Duration,
}

impl Default for RecoverOptions {
    fn default() -> RecoverOptions {
        RecoverOptions { wait: Duration::from_secs(60) }
    }
}

/// What a recovery did to one data set.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Its name.
    pub name: String,
    /// What was done.
    pub counts: RebuildCounts,
}

/// What a recovery did.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// The point that all data sets were brought to.
    pub to: Lsn,
    /// Each data set.
    pub sets: Vec<Recovered>,
    /// Records of the log that were read.
    pub records: u64,
    /// Units of work that were in flight at the point and had changed other data sets too.
    pub spanning: Vec<UowId>,
}

/// Everything that a recovery works with.
struct Work<'w> {
    kernel: &'w Arc<Kernel>,
    store: &'w KernelStore,
    history: &'w dyn History,
    plan: &'w Plan,
    rebuilds: Vec<Rebuild>,
    /// What each data set is to become, once it is whole and until it counts.
    built: Vec<(DataSetId, Arc<DataSet>)>,
    records: u64,
    progress: &'w mut dyn FnMut(Progress<'_>),
}

/// Recovers data sets as planned. The log that it reads stays until it is done, whatever copies end
/// and archives expire meanwhile.
///
/// # Errors
/// Damage in copies or log; data sets that stay in use; whatever kernel and RECON say. The data
/// sets are as they were then.
pub fn recover(
    store: &KernelStore,
    keys: &CopyKeys,
    recon: &Recon,
    history: &dyn History,
    plan: &Plan,
    options: RecoverOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Recovery, RecoveryError> {
    let held = recon.hold_log();
    held.begin_at(plan.log_from);
    let kernel = store.kernel();
    let (rebuilds, built) = (Vec::new(), Vec::new());
    let mut work = Work { kernel, store, history, plan, rebuilds, built, records: 0, progress };
    let done = work.run(keys, recon, options);
    let given_up = work.give_up();
    let recovery = done?;
    given_up?;
    Ok(recovery)
}

/// Gives up all of them, and says what went wrong first.
fn abandon(rebuilds: impl Iterator<Item = Rebuild>) -> Result<(), UowError> {
    rebuilds.map(Rebuild::abandon).fold(Ok(()), Result::and)
}

impl Work<'_> {
    fn run(
        &mut self,
        keys: &CopyKeys,
        recon: &Recon,
        options: RecoverOptions,
    ) -> Result<Recovery, RecoveryError> {
        let begun = self.kernel.log().next_lsn();
        self.restore_all(keys)?;
        let seen = match self.plan.to {
            // How far the log is read before anybody has to wait; a record ends there.
            Target::Now => self.kernel.log().next_lsn(),
            Target::Lsn(lsn) => lsn,
        };
        self.redo(self.plan.log_from, seen)?;
        // What is on disk already need not be written while programs wait.
        if !armed(Failpoint::SuccessorNotWritten) {
            self.kernel.write_out()?;
        }
        let uow = self.lock_all(options.wait)?;
        let _placing = recon.placing();
        self.refuse_if_replaced()?;
        let to = match self.plan.to {
            Target::Now => {
                let end = self.kernel.log().next_lsn();
                self.redo(seen, end)?;
                end
            }
            Target::Lsn(lsn) => lsn,
        };
        let mut sets = Vec::new();
        while !self.rebuilds.is_empty() {
            let plan = &self.plan.sets[sets.len()];
            let (set, counts) = self.rebuilds.remove(0).finish()?;
            self.built.push((plan.definition.id, set));
            sets.push(Recovered { name: plan.definition.name.clone(), counts });
        }
        self.note(recon, (begun, to))?;
        self.kernel.put_in_place(&self.built, to)?;
        for (old, new) in &std::mem::take(&mut self.built) {
            self.store.replace(*old, new)?;
        }
        uow.backout()?;
        let spanning = self.spanning(&sets, to);
        Ok(Recovery { to, sets, records: self.records, spanning })
    }

    /// Removes what was built and does not count.
    fn give_up(&mut self) -> Result<(), UowError> {
        let begun = abandon(std::mem::take(&mut self.rebuilds).into_iter());
        let built = std::mem::take(&mut self.built).into_iter();
        let whole = built.map(|(_, set)| self.kernel.remove_building(&set));
        whole.fold(begun, Result::and)
    }

    /// Which units of work that were in flight have changed other data sets, too. What cannot be
    /// read any more is taken to be so.
    fn spanning(&self, sets: &[Recovered], to: Lsn) -> Vec<UowId> {
        let mut first: BTreeMap<UowId, InFlight> = BTreeMap::new();
        for unit in sets.iter().flat_map(|set| &set.counts.backed_out) {
            let known = first.entry(unit.uow).or_insert(*unit);
            if unit.first < known.first {
                *known = *unit;
            }
        }
        // A record in front of its first change of all these is of something else.
        let begun_elsewhere = first.values().filter(|unit| unit.previous != Lsn::NONE);
        let mut spanning: BTreeSet<UowId> = begun_elsewhere.map(|unit| unit.uow).collect();
        let Some(from) = first.values().map(|unit| unit.first).min() else { return Vec::new() };
        let ours = self.sources();
        let read = self.history.each(from, to, &mut |record| {
            if first.contains_key(&record.uow)
                && let Ok(KernelRecord::Change(change)) = KernelRecord::of(record)
                && !ours.contains(&change.set)
            {
                spanning.insert(record.uow);
            }
            Ok(true)
        });
        if read.is_err() {
            spanning.extend(first.keys());
        }
        spanning.into_iter().collect()
    }

    /// Whose records of the log are needed.
    fn sources(&self) -> Vec<DataSetId> {
        let sources = self.plan.sets.iter().flat_map(|set| &set.sources);
        sources.map(|source| source.set).collect()
    }

    /// Makes the successors and fills them from the copies.
    fn restore_all(&mut self, keys: &CopyKeys) -> Result<(), RecoveryError> {
        let sets = &self.plan.sets;
        for group in self.plan.groups() {
            let together = self.restore(&group, keys);
            match together {
                // Of the files of a copy each may hold something else that is whole.
                Err(_) if group.len() > 1 => {
                    group.iter().try_for_each(|set| self.restore(&[*set], keys))?;
                }
                other => other?,
            }
        }
        // As the plan has them.
        let place = |rebuild: &Rebuild| {
            let of = |set: &SetPlan| set.definition.name == rebuild.set().name();
            sets.iter().position(of)
        };
        self.rebuilds.sort_by_key(place);
        Ok(())
    }

    /// Makes the successors of data sets with the same copies, and fills them.
    fn restore(&mut self, sets: &[&SetPlan], keys: &CopyKeys) -> Result<(), RecoveryError> {
        let Some(SetPlan { copies, .. }) = sets.first().filter(|set| !set.copies.is_empty()) else {
            for set in sets {
                let rebuild = self.begin_empty(set)?;
                self.rebuilds.push(rebuild);
            }
            return Ok(());
        };
        let sets = sets.iter().copied();
        let mut filling = Filling {
            kernel: self.kernel,
            successors: sets.map(Successor::of).collect(),
            copy: 0,
            what: String::new(),
            progress: self.progress,
        };
        let read = filling.read_chain(keys, copies);
        // A copy has been read, so each has begun.
        let begun = filling.successors.into_iter().filter_map(|one| one.rebuild);
        if read.is_ok() {
            self.rebuilds.extend(begun);
            return Ok(());
        }
        let given_up = abandon(begun);
        read?;
        Ok(given_up?)
    }

    /// Makes a successor of a data set whose whole life is in the log: it was empty then.
    fn begin_empty(&self, set: &SetPlan) -> Result<Rebuild, RecoveryError> {
        let made = Checkpoint { begin: set.from, redo: set.from, ..Checkpoint::initial() };
        let (definition, sources) = (successor_of(&set.definition), set.sources.clone());
        Ok(self.kernel.rebuild(definition, sources, &made, &btree::format_empty)?)
    }

    /// Gives a piece of the log to every successor; a record ends where it does.
    fn redo(&mut self, from: Lsn, to: Lsn) -> Result<(), RecoveryError> {
        self.kernel.log().wait_durable(to)?;
        let spans = self.plan.spans();
        let Work { rebuilds, plan, progress, records, .. } = self;
        let mut repeating = Repeating::start(self.kernel, rebuilds);
        let mut reported = 0;
        let read = self.history.each_of(&spans, from, to, &mut |record| {
            for (rebuild, set) in rebuilds.iter_mut().zip(&plan.sets) {
                if record.lsn >= set.from {
                    rebuild.see(record, &mut repeating)?;
                }
            }
            *records += 1;
            if reported + 1024 < *records {
                reported = *records;
                let (done, total) = (record.lsn.0 - plan.log_from.0, to.0 - plan.log_from.0);
                progress(Progress { what: "the log", done, total });
            }
            Ok(true)
        });
        // Whatever came of it, no thread is at the successors any more.
        let repeated = repeating.finish(rebuilds);
        read?;
        Ok(repeated?)
    }

    /// Another recovery may have been faster: it took what was committed with it, and programs went
    /// on with what it made.
    fn refuse_if_replaced(&self) -> Result<(), RecoveryError> {
        let offline = self.kernel.offline_sets();
        for set in &self.plan.sets {
            let id = set.definition.id;
            let is_there = self.kernel.set(id).is_some() || offline.iter().any(|one| one.id == id);
            if !is_there && !armed(Failpoint::RecoveredTwice) {
                return Err(RecoveryError::Replaced { name: set.definition.name.clone() });
            }
        }
        Ok(())
    }

    /// Has all data sets to itself.
    fn lock_all(&self, wait: Duration) -> Result<Uow, RecoveryError> {
        let mut uow = self.kernel.begin(UowOptions::default())?;
        for set in &self.plan.sets {
            let name = LockName::set(set.definition.id);
            match uow.lock(name, Mode::Exclusive, Wait::AtMost(wait)) {
                Ok(_) => {}
                Err(UowError::Lock(LockError::Deadlock { .. } | LockError::Timeout { .. })) => {
                    return Err(RecoveryError::InUse { name: set.definition.name.clone() });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(uow)
    }

    /// Tells RECON, before it counts: if it then never does, nobody has the new numbers, and what
    /// RECON says of them is about nothing. The log has nothing of them in front of `begun`.
    fn note(&self, recon: &Recon, (begun, to): (Lsn, Lsn)) -> Result<(), RecoveryError> {
        let built = &self.built;
        if armed(Failpoint::RecoveryUnrecorded) {
            return Ok(());
        }
        let copies = self.plan.sets.iter();
        let copies = copies.map(|set| set.copies.last().map_or(0, |copy| copy.number)).collect();
        let void_to = self.kernel.log().next_lsn();
        // What RECON says of the log is there: otherwise a crash now would leave a log that ends
        // before what is proven (K6).
        self.kernel.log().wait_durable(void_to)?;
        let utc_us = self.kernel.seam().clock.utc_us();
        recon.change(|state| {
            let recovery = recon::Recovery {
                number: state.next_number(),
                sets: built.iter().map(|(old, _)| *old).collect(),
                became: built.iter().map(|(_, new)| new.id()).collect(),
                copies,
                to,
                void_to,
                utc_us,
                to_point: self.plan.to != Target::Now,
            };
            let new = built.iter().map(|(_, new)| Built { set: new.id(), from: begun });
            (new.map(Note::Built).chain([Note::Recovery(recovery)]).collect(), ())
        })?;
        Ok(())
    }
}

/// Puts what copies hold of data sets into their successors.
struct Filling<'f, 'p> {
    kernel: &'f Arc<Kernel>,
    successors: Vec<Successor<'f>>,
    /// The copy that is read.
    copy: u32,
    what: String,
    progress: &'p mut dyn FnMut(Progress<'_>),
}

/// A data set whose successor is filled.
struct Successor<'f> {
    plan: &'f SetPlan,
    rebuild: Option<Rebuild>,
    /// Which of the copy's data sets it is.
    index: Option<usize>,
    unproven: Unproven,
}

impl Successor<'_> {
    fn of(plan: &SetPlan) -> Successor<'_> {
        Successor { plan, rebuild: None, index: None, unproven: Unproven::default() }
    }
}

impl Filling<'_, '_> {
    /// Puts in one copy after the other: of an interval the newest version counts.
    fn read_chain(&mut self, keys: &CopyKeys, copies: &[ImageCopy]) -> Result<(), RecoveryError> {
        let names = self.successors.iter().map(|one| one.plan.definition.name.clone());
        let (names, seam): (Vec<String>, _) = (names.collect(), self.kernel.seam());
        for copy in copies {
            (self.copy, self.what) = (copy.number, format!("image copy {}", copy.number));
            read_any_file(seam, keys, copy, &names, self)?;
            for one in &mut self.successors {
                one.unproven.end_copy();
                one.rebuild.as_mut().map_or(Ok(()), Rebuild::end_copy)?;
            }
        }
        let unproven = self.successors.iter_mut();
        refuse_unproven(unproven.map(|one| (one.plan.definition.name.as_str(), &mut one.unproven)))
    }

    fn successor(&mut self, index: usize) -> Option<(&mut Rebuild, &mut Unproven)> {
        let of = |one: &&mut Successor<'_>| one.index == Some(index);
        let one = self.successors.iter_mut().find(of)?;
        Some((one.rebuild.as_mut()?, &mut one.unproven))
    }
}

impl CopyVisitor for Filling<'_, '_> {
    fn begin(&mut self, info: &CopyInfo) -> Result<(), RecoveryError> {
        for one in &mut self.successors {
            let name = &one.plan.definition.name;
            one.index = info.sets.iter().position(|set| set.name == *name);
            if one.index.is_none() {
                let why = format!("holds it: {} does not", info.number);
                return Err(RecoveryError::NoCopy { name: name.clone(), why });
            }
            one.unproven.begin_copy();
            match &mut one.rebuild {
                // A second file of a copy, or the next copy of a chain.
                Some(rebuild) => rebuild.at_moment(&info.moment),
                None => {
                    let definition = successor_of(&one.plan.definition);
                    let sources = one.plan.sources.clone();
                    let format = &btree::format_empty;
                    let begun = self.kernel.rebuild(definition, sources, &info.moment, format)?;
                    one.rebuild = Some(begun);
                }
            }
        }
        Ok(())
    }

    fn wants(&self, set: usize) -> bool {
        self.successors.iter().any(|one| one.index == Some(set))
    }

    fn used(&mut self, set: usize, ci: CiNumber, used: bool) -> Result<(), RecoveryError> {
        let Some((rebuild, unproven)) = self.successor(set).filter(|_| used) else { return Ok(()) };
        unproven.used(ci);
        Ok(rebuild.note_used(ci)?)
    }

    fn interval(&mut self, set: usize, ci: CiNumber, unit: &[u8]) -> Result<(), RecoveryError> {
        let Some((rebuild, unproven)) = self.successor(set) else { return Ok(()) };
        unproven.give(ci);
        let usable = rebuild.set().usable_bytes();
        Ok(rebuild.put(ci, &unit[..usable])?)
    }

    fn lost(&mut self, set: usize, ci: CiNumber, why: RecoveryError) -> Result<(), RecoveryError> {
        let copy = self.copy;
        if let Some((_, unproven)) = self.successor(set) {
            unproven.lose(ci, copy, why);
        }
        Ok(())
    }

    fn progress(&mut self, done: u64, total: u64) {
        (self.progress)(Progress { what: &self.what, done, total });
    }
}

/// What a successor is: the same, with the number that the store knows it by, and in one form.
fn successor_of(definition: &Definition) -> Definition {
    Definition {
        attributes: store_kernel::attributes_of_successor(definition),
        conversion: None,
        ..definition.clone()
    }
}

/// The position right behind the last commit that is not younger than a moment: what began later,
/// committed or not, is no part of what was then. Commit records carry UTC. It is looked for from
/// `span.0` to `span.1`, and lies not before `at_least`.
///
/// # Errors
/// Whatever reading the log says.
pub fn lsn_of(
    history: &dyn History,
    span: (Lsn, Lsn),
    at_least: Lsn,
    utc_us: u64,
) -> Result<Lsn, RecoveryError> {
    let (mut found, mut is_behind) = (span.0, false);
    history.each(span.0, span.1, &mut |record| {
        if is_behind {
            (found, is_behind) = (record.lsn, false);
        }
        let Ok(KernelRecord::Commit { utc_us: moment }) = KernelRecord::of(record) else {
            return Ok(true);
        };
        is_behind = moment <= utc_us;
        Ok(is_behind)
    })?;
    Ok(if is_behind { span.1 } else { found }.max(at_least))
}
