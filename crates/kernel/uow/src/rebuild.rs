//! Building a data set anew, from an image copy and the log, beside the one whose place it takes.
//!
//! A recovery never touches what it recovers. It makes a *successor*: a data set with a number and
//! files of its own, filled from a copy and by the redo of what the log says of its *sources*, the
//! data set itself or those whose place it took in earlier recoveries. When it is whole and on
//! disk, one record says that it takes the place of the other one. So until that record a crash
//! costs only the work done, several data sets change places at one moment, and what the log says
//! of the old number behind the point is void by itself: nobody has that number any more (K17).
//!
//! What is built is not logged. The record that puts it in place follows when every interval of it
//! is on disk; a restart removes what was being built before.
//!
//! Invariants:
//! 1. An interval that is neither in the copy nor formatted since holds nothing: changes of it are
//!    from before it was freed, and are passed over.
//! 2. Records come in the order of the log, from the copy's redo point on, and none is left out.
//! 3. Changes of one interval are repeated in the order of the log (`sweep`).
//! 4. Units of work whose commit is not among the records are backed out, newest change first, by
//!    the undo that any backout uses; its compensation is logged for the successor.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{CiNumber, DataSetId, Lsn, UowId};
use pool::ExclusiveCi;
use seam::failpoint::{Failpoint, armed};
use space::{DataSet, Definition, ROOT, map};
use wal::Record;

use crate::checkpoint::Checkpoint;
use crate::housekeeping::RoomWanted;
use crate::record::{CatalogRecord, Change, Interval, KernelRecord, Recovered, Target, Undone};
use crate::successors::fresh;
use crate::transit::steps_of;
use crate::undoable::{Undoable, Unit, Units};
use crate::{Kernel, Repeating, Undo, UowError};

/// A data set whose records go into a successor, up to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The data set.
    pub set: DataSetId,
    /// Its records from here on are void.
    pub until: Lsn,
}

/// What a rebuild has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebuildCounts {
    /// Intervals from the copy.
    pub intervals: u64,
    /// Changes repeated.
    pub redone: u64,
    /// Units of work that were in flight at the point, and were backed out.
    pub backed_out: Vec<InFlight>,
}

/// A unit of work that was not over at the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Its number.
    pub uow: UowId,
    /// The first of its changes of the data set that counted.
    pub first: Lsn,
    /// The record of the unit of work in front of that one; [`Lsn::NONE`] if there is none.
    pub previous: Lsn,
}

/// A successor that is being built.
pub struct Rebuild {
    kernel: Arc<Kernel>,
    set: Arc<DataSet>,
    sources: Vec<Source>,
    /// Which of them the records are of now.
    source: usize,
    /// Changes before this LSN are in the copy.
    redo: Lsn,
    /// What the copy knows of units of work is as of this LSN.
    begin: Lsn,
    /// Which intervals hold something.
    present: Bits,
    /// Which were in use in the copy that is put in, and in the one in front of it.
    used: Bits,
    used_before: Bits,
    /// Units of work that have changed something, and are not over as far as the log was seen.
    units: Units,
    /// Those that were active when the copy was begun.
    active: BTreeSet<UowId>,
    uncommitted: BTreeMap<UowId, Vec<CiNumber>>,
    frees: BTreeMap<UowId, Vec<CiNumber>>,
    transit: BTreeSet<CiNumber>,
    counts: RebuildCounts,
    targets: Vec<Target>,
}

impl Repeating {
    /// Begins with these successors. It takes up to four times the memory of their largest pool.
    #[must_use]
    pub fn start(kernel: &Arc<Kernel>, rebuilds: &[Rebuild]) -> Repeating {
        Repeating::of(kernel, rebuilds.iter().map(|rebuild| Arc::clone(&rebuild.set)))
    }

    /// Repeats what is left, and counts all changes.
    ///
    /// # Errors
    /// A record that does not fit its interval; whatever pool and disk say.
    pub fn finish(self, rebuilds: &mut [Rebuild]) -> Result<(), UowError> {
        self.end(|set, redone| {
            for rebuild in rebuilds.iter_mut().filter(|rebuild| rebuild.set.id() == set) {
                rebuild.counts.redone += redone;
            }
        })
    }
}

/// A set of intervals.
#[derive(Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn has(&self, ci: CiNumber) -> bool {
        let word = self.0.get(ci.0 as usize / 64);
        word.is_some_and(|word| word & (1 << (ci.0 % 64)) != 0)
    }

    fn add(&mut self, ci: CiNumber) {
        let at = ci.0 as usize / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= 1 << (ci.0 % 64);
    }

    fn remove(&mut self, ci: CiNumber) {
        if let Some(word) = self.0.get_mut(ci.0 as usize / 64) {
            *word &= !(1 << (ci.0 % 64));
        }
    }

    /// Those that the other one lacks.
    fn without(&self, other: &Bits) -> Vec<CiNumber> {
        let all = (0..self.0.len() as u32 * 64).map(CiNumber);
        all.filter(|ci| self.has(*ci) && !other.has(*ci)).collect()
    }
}

/// Intervals of maps that a data set keeps in its pool, but for one of many terabytes.
const UPPER_MAPS: usize = 2;

impl Kernel {
    /// Begins to build a successor. `definition` is that of the data set whose place it will take,
    /// and `moment` what the copy says of the time when it was begun. Of the sources, the oldest
    /// first, the first one is what the copy is of; each takes over where the one in front ends.
    ///
    /// # Errors
    /// No fitting pool, or one that is too small for another data set; whatever the disk says.
    pub fn rebuild(
        self: &Arc<Self>,
        mut definition: Definition,
        sources: Vec<Source>,
        moment: &Checkpoint,
        format_root: &dyn Fn(&mut [u8]),
    ) -> Result<Rebuild, UowError> {
        self.stop.check()?;
        self.check_form(&definition)?;
        let pool = self.pool_for(&definition).or_else(|_| {
            definition.pool.clear();
            self.pool_for(&definition)
        })?;
        pool.room_to_keep(UPPER_MAPS)?;
        pool.name().clone_into(&mut definition.pool);
        {
            let mut sets = self.sets.lock();
            sets.next = sets.next.max(1);
            definition.id = DataSetId(sets.next);
            sets.next += 1;
        }
        self.permit(&mut definition)?;
        let set = space::create::create(&self.environment, definition, pool, format_root)?;
        let announced = self.announce(&set);
        if announced.is_err() {
            // Nobody would remove it.
            let _ = set.remove_files();
        }
        self.log.wait_durable(announced?)?;
        let first = sources.first().map_or(DataSetId(0), |source| source.set);
        let mut rebuild = Rebuild {
            kernel: Arc::clone(self),
            set,
            sources,
            source: 0,
            redo: moment.redo,
            begin: moment.begin,
            present: Bits::default(),
            used: Bits::default(),
            used_before: Bits::default(),
            units: Units::default(),
            active: moment.active.iter().map(|active| active.uow).collect(),
            uncommitted: BTreeMap::new(),
            frees: BTreeMap::new(),
            transit: BTreeSet::new(),
            counts: RebuildCounts::default(),
            targets: Vec::new(),
        };
        rebuild.present.add(ROOT);
        rebuild.take_over(moment, first);
        Ok(rebuild)
    }

    /// Tells the log of a successor, which a restart removes from then on. Returns where the record
    /// ends.
    fn announce(&self, set: &Arc<DataSet>) -> Result<Lsn, UowError> {
        set.load_maps()?;
        set.begin_building();
        let definition = Box::new(Definition::clone(&set.definition()));
        let record = KernelRecord::from(CatalogRecord::Building { top: set.top(), definition });
        let mut sets = self.sets.lock();
        let made = record.append(&self.log)?;
        sets.insert_building(Arc::clone(set));
        Ok(made.end)
    }

    /// Puts successors in place of what they were built for, all at one moment. Nobody uses those
    /// data sets: the caller holds them locked exclusively, or they are offline. Their files go.
    ///
    /// # Errors
    /// Whatever log and disk say; what was built is in place or not, all of it.
    pub fn put_in_place(
        &self,
        built: &[(DataSetId, Arc<DataSet>)],
        to: Lsn,
    ) -> Result<(), UowError> {
        // What was built is not in the log, so it has to be on disk.
        if !armed(Failpoint::SuccessorNotWritten) {
            self.write_out()?;
        }
        built.iter().try_for_each(|(_, new)| new.end_building())?;
        // A conversion of what goes comes to the end of its step, and the housekeeper to that of
        // its look at the maps.
        let _converting = self.upkeep.converter.work.lock();
        let _work = self.upkeep.checkpoints.work.lock();
        let places: Vec<(DataSetId, DataSetId)> =
            built.iter().map(|(old, new)| (*old, new.id())).collect();
        let recovered = CatalogRecord::Recovered(Recovered { to, sets: places.clone() });
        let offline = self.offline_sets();
        let (end, old) = {
            let mut sets = self.sets.lock();
            let done = KernelRecord::from(recovered).append(&self.log)?;
            let old: Vec<_> = places.iter().filter_map(|(old, _)| sets.get(*old)).collect();
            places.iter().for_each(|(old, new)| sets.put_in_place(*old, *new));
            (done.end, old)
        };
        places.iter().for_each(|(old, _)| self.work.transit.forget(*old));
        self.log.wait_durable(end)?;
        for set in old {
            set.home().forget(set.id(), CiNumber(0))?;
            // Nothing leads to its files any more, and some may have been missing before: that may
            // be why it was recovered.
            let _ = set.remove_files();
        }
        let is_replaced = |one: &Definition| places.iter().any(|(old, _)| *old == one.id);
        for definition in offline.into_iter().filter(is_replaced) {
            let _ = space::create::remove_closed(&self.environment, definition);
        }
        Ok(())
    }

    /// Removes what was built and took nobody's place; what has done so stays.
    ///
    /// # Errors
    /// Whatever log and disk say; the next restart removes the rest.
    pub fn remove_building(&self, set: &DataSet) -> Result<(), UowError> {
        let _work = self.upkeep.checkpoints.work.lock();
        {
            let mut sets = self.sets.lock();
            if !sets.is_building(set.id()) {
                return Ok(());
            }
            KernelRecord::from(CatalogRecord::Gone(set.id())).append_reserved(&self.log)?;
            sets.remove(set.id());
        }
        self.work.transit.forget(set.id());
        set.home().forget(set.id(), CiNumber(0))?;
        Ok(set.remove_files()?)
    }
}

impl Rebuild {
    /// The successor.
    #[must_use]
    pub fn set(&self) -> &Arc<DataSet> {
        &self.set
    }

    /// The copy that is put in from now on was begun at this moment, which is later than that of
    /// the copies in front of it.
    pub fn at_moment(&mut self, moment: &Checkpoint) {
        (self.redo, self.begin) = (moment.redo, moment.begin);
        self.active = moment.active.iter().map(|active| active.uow).collect();
        self.used_before = std::mem::take(&mut self.used);
        self.units.clear();
        self.frees.clear();
        self.transit.clear();
        let first = self.sources.first().map_or(DataSetId(0), |source| source.set);
        self.take_over(moment, first);
    }

    /// What was done so far.
    #[must_use]
    pub fn counts(&self) -> &RebuildCounts {
        &self.counts
    }

    /// Takes over an interval of the copy: its usable bytes, in clear. The latest copy of an
    /// interval counts.
    ///
    /// # Errors
    /// Whatever pool and disk say.
    pub fn put(&mut self, ci: CiNumber, page: &[u8]) -> Result<(), UowError> {
        let of_set_itself = self.set.layout().is_reserved(ci) && ci != ROOT;
        if of_set_itself || page.len() != self.set.usable_bytes() {
            let (object, why) = (format!("interval {ci} of the copy"), "it cannot be one".into());
            return Err(UowError::Damaged { object, why });
        }
        self.set.cover(ci)?;
        let mut own = self.fresh(ci)?;
        own.begin_change(self.kernel.log.next_lsn());
        own.bytes_mut().copy_from_slice(page);
        drop(own);
        self.present.add(ci);
        self.counts.intervals += 1;
        Ok(())
    }

    /// Says that an interval was in use when the copy was made.
    ///
    /// # Errors
    /// Whatever pool and disk say.
    pub fn note_used(&mut self, ci: CiNumber) -> Result<(), UowError> {
        self.used.add(ci);
        self.set_used(ci, true)
    }

    /// A copy was put in whole. What it does not call used, although the one in front of it did,
    /// holds nothing any more.
    ///
    /// # Errors
    /// Whatever pool and disk say.
    pub fn end_copy(&mut self) -> Result<(), UowError> {
        for ci in self.used_before.without(&self.used) {
            self.present.remove(ci);
            self.set_used(ci, false)?;
        }
        self.used_before = Bits::default();
        Ok(())
    }

    fn set_used(&mut self, ci: CiNumber, used: bool) -> Result<(), UowError> {
        let layout = self.set.layout();
        if layout.is_reserved(ci) || ci.0 >= layout.intervals_max() {
            return Ok(());
        }
        if used {
            self.set.cover(ci)?;
        }
        let mut page = self.set.exclusive(layout.map1_of(ci))?;
        page.begin_change(self.kernel.log.next_lsn());
        map::set_used(page.bytes_mut(), layout, ci.0 % layout.per_map(), used);
        Ok(())
    }

    /// Takes the next record of the log; its changes are repeated with those of others.
    ///
    /// # Errors
    /// Damage, if it does not decode or fit; whatever pool and disk say.
    pub fn see(&mut self, record: &Record<'_>, repeating: &mut Repeating) -> Result<(), UowError> {
        while let Some(source) = self.sources.get(self.source)
            && record.lsn >= source.until
        {
            if self.source + 1 == self.sources.len() {
                return Ok(());
            }
            self.next_source();
        }
        match KernelRecord::of(record)? {
            KernelRecord::Commit { .. } => self.see_end(record, true),
            KernelRecord::BackedOut { .. } => self.see_end(record, false),
            KernelRecord::FreesAtCommit(places) => {
                let own = places.iter().filter(|(set, _)| self.is_source(*set));
                let own: Vec<CiNumber> = own.map(|(_, ci)| ci).collect();
                self.uncommitted.entry(record.uow).or_default().extend(own);
            }
            KernelRecord::GivenOut(interval) => self.see_place(record, interval, true)?,
            KernelRecord::TakenBack(interval) => self.see_place(record, interval, false)?,
            KernelRecord::UndoEnd(undone) => self.see_undo(record.uow, undone.undo_next),
            KernelRecord::UndoSkipped(undone) => {
                self.see_skipped(record.uow, undone);
                self.see_undo(record.uow, undone.undo_next);
            }
            KernelRecord::Change(change) => self.see_change(record, &change, repeating)?,
            // What becomes of data sets is the caller's affair, and what is on disk is of others.
            KernelRecord::Checkpoint(_) | KernelRecord::Catalog(_) | KernelRecord::Write(_) => {}
        }
        Ok(())
    }

    fn see_end(&mut self, record: &Record<'_>, committed: bool) {
        if record.lsn < self.begin {
            return;
        }
        let places = self.uncommitted.remove(&record.uow);
        if committed {
            self.units.over(record.uow);
            if let Some(places) = places {
                // What a copy says of them is all.
                self.frees.entry(record.uow).or_insert(places);
            }
        } else if let Some(unit) = self.units.get_mut(record.uow) {
            // What its backout could not undo, because the data set was offline, remains.
            unit.retain(|change| change.skipped);
        }
    }

    /// Backs out who was not over, takes back what belongs to nobody, and hands the successor over:
    /// it is whole, and [`Kernel::put_in_place`] puts it in place. Every change has been repeated.
    ///
    /// # Errors
    /// Whatever stands in the way of undo.
    pub fn finish(mut self) -> Result<(Arc<DataSet>, RebuildCounts), UowError> {
        while self.source + 1 < self.sources.len() {
            self.next_source();
        }
        let done = self.back_out().and_then(|()| self.take_back());
        if let Err(error) = done {
            // What cannot be removed now, the next restart removes.
            let _ = self.abandon();
            return Err(error);
        }
        Ok((self.set, self.counts))
    }

    /// Gives the rebuild up and removes what was built.
    ///
    /// # Errors
    /// Whatever log and disk say; the next restart removes the rest.
    pub fn abandon(self) -> Result<(), UowError> {
        self.kernel.remove_building(&self.set)
    }

    /// What the copy knows of a data set besides its intervals.
    fn take_over(&mut self, moment: &Checkpoint, set: DataSetId) {
        let own = |places: &[(DataSetId, CiNumber)]| -> Vec<CiNumber> {
            places.iter().filter(|(of, _)| *of == set).map(|(_, ci)| *ci).collect()
        };
        self.transit.extend(own(&moment.transit));
        for (uow, places) in &moment.frees {
            self.frees.insert(*uow, own(places));
        }
        for (uow, records) in &moment.anchored {
            let mut own: Vec<_> = records.iter().filter(|record| record.set == set).collect();
            own.sort_by_key(|record| record.lsn);
            let unit = self.units.enter(*uow);
            for record in own {
                unit.add((record.lsn, record.previous), record.kind, &record.body);
            }
        }
    }

    fn is_source(&self, set: DataSetId) -> bool {
        self.sources.get(self.source).is_some_and(|source| source.set == set)
    }

    /// The data set that took the place of the one before: what was not over at that point was
    /// backed out, and what belonged to nobody was taken back, in records of its own.
    fn next_source(&mut self) {
        self.source += 1;
        self.units.clear();
        self.uncommitted.clear();
        self.frees.clear();
        self.transit.clear();
    }

    fn see_place(
        &mut self,
        record: &Record<'_>,
        (set, ci): Interval,
        given_out: bool,
    ) -> Result<(), UowError> {
        if record.lsn < self.redo || !self.is_source(set) {
            return Ok(());
        }
        if given_out {
            self.transit.insert(ci);
        } else {
            self.transit.remove(&ci);
            if let Some(places) = self.frees.get_mut(&record.uow) {
                places.retain(|place| *place != ci);
            }
        }
        self.set_used(ci, given_out)
    }

    /// A compensation: its unit of work goes on undoing before the LSN that it names.
    fn see_undo(&mut self, uow: UowId, next: Lsn) {
        if let Some(unit) = self.units.get_mut(uow) {
            unit.retain(|change| change.lsn <= next || change.skipped);
        }
    }

    /// The record whose undo was skipped is the newest one behind undo-next that is left.
    fn see_skipped(&mut self, uow: UowId, undone: Undone) {
        let own = self.is_source(undone.set);
        if let Some(last) = self.units.get_mut(uow).filter(|_| own).and_then(Unit::newest_mut) {
            last.skipped = last.lsn > undone.undo_next;
        }
    }

    fn see_change(
        &mut self,
        record: &Record<'_>,
        change: &Change<'_>,
        repeating: &mut Repeating,
    ) -> Result<(), UowError> {
        if let Some(next) = change.undo_next {
            self.see_undo(record.uow, next);
        }
        if !self.is_source(change.set) {
            return Ok(());
        }
        let counts = record.lsn >= self.begin || self.active.contains(&record.uow);
        if change.undoable && change.undo_next.is_none() && counts {
            // What the copy carries of an anchored unit of work may stand in the log too.
            let lsns = (record.lsn, record.previous);
            self.units.enter(record.uow).add(lsns, change.kind, change.body);
        }
        if record.lsn < self.redo {
            return Ok(());
        }
        let mut targets = std::mem::take(&mut self.targets);
        targets.clear();
        let resource = Arc::clone(&self.kernel.parts.resource);
        let known = resource.targets(change.kind, change.body, &mut targets);
        let object = || format!("the log record at {}", record.lsn);
        known.map_err(|damage| UowError::Damaged { object: object(), why: damage.0 })?;
        for (interval, step) in steps_of(change.set, &targets) {
            match step {
                crate::transit::Step::Leaves => self.transit.insert(interval.1),
                crate::transit::Step::Arrives => self.transit.remove(&interval.1),
            };
        }
        for target in &targets {
            self.redo(record, change.body, *target, repeating)?;
        }
        self.targets = targets;
        Ok(())
    }

    /// Has a change of one interval repeated, if the copy has not got it.
    fn redo(
        &mut self,
        record: &Record<'_>,
        body: &[u8],
        target: Target,
        repeating: &mut Repeating,
    ) -> Result<(), UowError> {
        let Target { ci, fresh, .. } = target;
        let known = self.present.has(ci);
        if ci.0 >= self.set.layout().intervals_max() || !(fresh || known) {
            return Ok(());
        }
        if fresh {
            self.set.cover(ci)?;
            self.present.add(ci);
        }
        repeating.give(self.set.id(), target, known, (record.kind, record.lsn, body))
    }

    /// An interval that the copy has, to be written anew.
    fn fresh(&self, ci: CiNumber) -> Result<ExclusiveCi<'_>, UowError> {
        fresh(&self.set, ci, self.present.has(ci))
    }

    /// Undoes what no commit has made count, newest first over all units of work.
    fn back_out(&mut self) -> Result<(), UowError> {
        let units = std::mem::take(&mut self.units);
        let in_flight = units.all().filter_map(|(uow, unit)| {
            let Undoable { lsn: first, previous, .. } = *unit.first()?;
            Some(InFlight { uow, first, previous })
        });
        self.counts.backed_out = in_flight.collect();
        let mut changes = units.newest_first().peekable();
        if changes.peek().is_none() || armed(Failpoint::RecoveryUndoSkipped) {
            return Ok(());
        }
        let kernel = Arc::clone(&self.kernel);
        let uow = kernel.work.units.number();
        let slot = kernel.work.active.enter(uow)?;
        kernel.work.active.begin_append(slot);
        kernel.work.active.pin(slot, kernel.log.next_lsn());
        kernel.work.active.end_append(slot, Lsn::NONE);
        let mut undo = Undo::new(&kernel, uow, slot, Lsn::NONE);
        let mut undone = Ok(());
        for (change, body) in changes {
            let room = RoomWanted { uow, reserved: 0, bytes: body.len() as u64 * 2 };
            undone = kernel
                .wait_for_log_room(&room)
                .and_then(|()| undo.undo_for(&self.set, change.kind, body));
            if undone.is_err() {
                break;
            }
        }
        undo.end_at_restart()?;
        undone
    }

    /// Takes back what a commit freed, and what was given out and never used.
    fn take_back(&mut self) -> Result<(), UowError> {
        let freed = std::mem::take(&mut self.frees).into_values().flatten();
        let mut all: BTreeSet<CiNumber> = freed.collect();
        all.append(&mut self.transit);
        for ci in all {
            if self.set.is_used(ci)? {
                self.kernel.release_interval(&self.set, ci)?;
            }
        }
        Ok(())
    }
}
