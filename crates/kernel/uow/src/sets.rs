//! Data sets that come and go, and their intervals that are given out and taken back.
//!
//! Invariants:
//! 1. The record that makes or ends a data set is appended under the registry's mutex, and durable
//!    before its maker is told, or before its files go.
//! 2. An interval is given out and taken back by one record, applied to the latched map that says
//!    so.

use std::sync::Arc;

use base::{CiNumber, DataSetId, Lsn, UowId};
use pool::{ExclusiveCi, PoolError};
use seal::Format;
use space::{DataSet, Definition, Purpose};

use crate::record::{CatalogRecord, Interval, KernelRecord};
use crate::transit::Step;
use crate::{Kernel, UowError};

/// What an interval is to its data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Nobody has it.
    Free,
    /// It is given out and not yet part of a structure, or no longer part of one and not yet taken
    /// back.
    InTransit,
    /// Something leads to it, or a unit of work that is not over will free it.
    Held,
}

impl Kernel {
    /// A data set by name.
    #[must_use]
    pub fn set_named(&self, name: &str) -> Option<Arc<DataSet>> {
        self.sets.lock().named(name)
    }

    /// A data set by number.
    #[must_use]
    pub fn set(&self, id: DataSetId) -> Option<Arc<DataSet>> {
        self.sets.lock().get(id)
    }

    /// Data sets that wait for their recovery.
    #[must_use]
    pub fn offline_sets(&self) -> Vec<Definition> {
        self.sets.lock().offline()
    }

    /// Every data set, by number.
    #[must_use]
    pub fn all_sets(&self) -> Vec<Arc<DataSet>> {
        let sets = self.sets.lock();
        sets.all().into_iter().filter(|set| !sets.is_building(set.id())).collect()
    }

    /// Makes a data set; it exists when this returns. `definition.id` and, if empty,
    /// `definition.pool` are chosen here.
    ///
    /// # Errors
    /// A name that is taken, no fitting pool, whatever the disk says.
    pub fn create_set(
        &self,
        mut definition: Definition,
        format_root: &dyn Fn(&mut [u8]),
    ) -> Result<Arc<DataSet>, UowError> {
        self.stop.check()?;
        self.check_form(&definition)?;
        let _alone = self.buffers.assigning.lock();
        let pool = self.pool_for(&definition)?;
        pool.name().clone_into(&mut definition.pool);
        {
            let mut sets = self.sets.lock();
            if let Some(set) = sets.taken(&definition.name) {
                let name = definition.name;
                return Err(match sets.is_offline(set) {
                    true => UowError::SetOffline { name, set },
                    false => UowError::SetExists { name, set },
                });
            }
            sets.next = sets.next.max(1);
            definition.id = DataSetId(sets.next);
            sets.next += 1;
        }
        self.permit(&mut definition)?;
        let set = space::create::create(&self.environment, definition, pool, format_root)?;
        set.load_maps()?;
        let definition = Box::new(Definition::clone(&set.definition()));
        let record = KernelRecord::from(CatalogRecord::Made { top: set.top(), definition });
        let end = {
            let mut sets = self.sets.lock();
            if let Some(id) = sets.taken(set.name()) {
                let name = set.name().to_owned();
                drop(sets);
                set.remove_files()?;
                return Err(UowError::SetExists { name, set: id });
            }
            let made = record.append(&self.log)?;
            sets.insert(Arc::clone(&set));
            made.end
        };
        self.log.wait_durable(end)?;
        Ok(set)
    }

    /// Refuses what is to be sealed, or converted, under a plain log.
    pub(crate) fn check_form(&self, definition: &Definition) -> Result<(), UowError> {
        let refuses = self.config.sealed_needs_sealed_log && !definition.is_all_plain();
        if !refuses || self.control.protection().log == Format::Sealed {
            return Ok(());
        }
        let wanted = if definition.conversion.is_some() { "converted" } else { "sealed" };
        Err(UowError::PlainLogTakesNoSealed { name: definition.name.clone(), wanted })
    }

    /// Gives a definition what proves that its data set may be plain, if it is. The caller has it
    /// from the configuration or from a definition that was proven.
    pub(crate) fn permit(&self, definition: &mut Definition) -> Result<(), UowError> {
        let (keys, label) = (&*self.parts.keys, &self.config.system_label);
        Ok(definition.permit_plain(keys, label, self.parts.system)?)
    }

    /// Ends a data set and removes its files. The caller holds it locked exclusively, and no unit
    /// of work in flight has changed it.
    ///
    /// # Errors
    /// Whatever the log or the disk says.
    pub fn drop_set(&self, set: &Arc<DataSet>) -> Result<(), UowError> {
        // It may just be converted, and the housekeeper may be about to look at its maps.
        let _converting = self.upkeep.converter.work.lock();
        let _work = self.upkeep.checkpoints.work.lock();
        let end = {
            let mut sets = self.sets.lock();
            let gone = KernelRecord::from(CatalogRecord::Gone(set.id())).append(&self.log)?;
            sets.remove(set.id());
            gone.end
        };
        self.work.transit.forget(set.id());
        self.log.wait_durable(end)?;
        set.home().forget(set.id(), CiNumber(0))?;
        Ok(set.remove_files()?)
    }

    /// Gives a data set up that waits for its recovery: it ends, and what there is of its files is
    /// removed. Answers whether there was one of that name.
    ///
    /// # Errors
    /// Whatever the log or the disk says.
    pub fn drop_offline_set(&self, name: &str) -> Result<bool, UowError> {
        let (definition, end) = {
            let mut sets = self.sets.lock();
            let waiting = sets.offline().into_iter().find(|definition| definition.name == name);
            let Some(definition) = waiting else { return Ok(false) };
            let gone = KernelRecord::from(CatalogRecord::Gone(definition.id));
            let gone = gone.append(&self.log)?;
            sets.remove(definition.id);
            (definition, gone.end)
        };
        self.log.wait_durable(end)?;
        space::create::remove_closed(&self.environment, definition)?;
        Ok(true)
    }

    /// Gives out an interval, just behind `near` if that is free. No latch is held.
    ///
    /// # Errors
    /// [`space::SpaceError::NoSpace`] and what else may happen to a map.
    pub fn allocate(&self, set: &DataSet, near: Option<CiNumber>) -> Result<CiNumber, UowError> {
        self.allocate_for(set, near, Purpose::Work)
    }

    /// The same for undo, which may use what ordinary work leaves free (K15).
    ///
    /// # Errors
    /// As for [`Kernel::allocate`].
    pub fn allocate_for_undo(
        &self,
        set: &DataSet,
        near: Option<CiNumber>,
    ) -> Result<CiNumber, UowError> {
        self.allocate_for(set, near, Purpose::Undo)
    }

    fn allocate_for(
        &self,
        set: &DataSet,
        near: Option<CiNumber>,
        purpose: Purpose,
    ) -> Result<CiNumber, UowError> {
        set.allocate(near, purpose, &mut |page, ci| self.log_given_out((set.id(), ci), page))
    }

    /// Takes an interval back. No latch is held.
    ///
    /// # Errors
    /// What may happen to a map.
    pub fn release_interval(&self, set: &DataSet, ci: CiNumber) -> Result<(), UowError> {
        self.take_back(set, ci, UowId::NONE)
    }

    /// Whether an interval is in use and, if it is, whether it is in transit: somebody has it who
    /// is about to make it part of a structure or to take it back, and if a crash comes between,
    /// restart takes it back.
    ///
    /// # Errors
    /// If the map cannot be read.
    pub fn use_of(&self, set: &DataSet, ci: CiNumber) -> Result<Use, PoolError> {
        // Both under the map's latch: an interval enters and leaves the map under it.
        set.while_used(ci, |used| match used {
            false => Use::Free,
            true if self.work.transit.has((set.id(), ci)) => Use::InTransit,
            true => Use::Held,
        })
    }

    /// Takes back an interval that a committed unit of work freed.
    pub(crate) fn take_back(
        &self,
        set: &DataSet,
        ci: CiNumber,
        freed_by: UowId,
    ) -> Result<(), UowError> {
        set.give_back(ci, &mut |page, ci| {
            let interval = (set.id(), ci);
            let record = KernelRecord::TakenBack(interval);
            self.log_step((interval, Step::Arrives), &record, freed_by, page)
        })
    }

    /// Logs that an interval is in use, in the latched map that says so.
    pub(crate) fn log_given_out(
        &self,
        interval: Interval,
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), UowError> {
        let record = KernelRecord::GivenOut(interval);
        self.log_step((interval, Step::Leaves), &record, UowId::NONE, page)
    }

    fn log_step(
        &self,
        step: (Interval, Step),
        record: &KernelRecord<'_>,
        uow: UowId,
        page: &mut ExclusiveCi<'_>,
    ) -> Result<(), UowError> {
        page.begin_change(self.log.next_lsn());
        let append = || record.append_for(&self.log, uow, Lsn::NONE);
        let place = self.work.transit.log(&[step], append)?;
        page.set_lsn(place.lsn);
        Ok(())
    }

    /// Gives back the intervals of units of work whose commit is durable.
    pub(crate) fn free_after_commit(&self) -> Result<(), UowError> {
        let _work = self.upkeep.checkpoints.work.lock();
        while let Some((uow, intervals)) = self.work.frees.ready(self.log.durable()) {
            for (id, ci) in intervals {
                if let Some(set) = self.set(id) {
                    self.take_back(&set, ci, uow)?;
                }
            }
            self.work.frees.remove(uow);
        }
        Ok(())
    }

    /// Returns when no committed unit of work has anything of a data set still to be freed: before
    /// all that is in use there is freed at once. No latch is held.
    ///
    /// # Errors
    /// If the kernel has stopped.
    pub fn settle_frees(&self, set: DataSetId) -> Result<(), UowError> {
        while let Some(pending) = self.work.frees.pending(set) {
            self.log.wait_durable(pending)?;
            self.free_after_commit()?;
        }
        Ok(())
    }
}
