//! What a recovery to a point means for databases: whether their data of that time fits the
//! definitions and settings of now, and what the system says of them afterwards.
//!
//! Invariants:
//! 1. Data that would be read wrongly is not brought back: before anything is done, the difference
//!    is named.
//! 2. An index that had to be built at the point has to be built again, from before the recovery
//!    on.
//! 3. What goes back says so: no program goes on from a checkpoint behind the point.
//! 4. Where it cannot be known, a recovery goes on: it may be what repairs the system.

use std::collections::BTreeSet;

use definitions::resolve::Definitions as _;
use definitions::{Dbd, DbdName};
use hierarchy::{HierarchyError, form, is_kept, replacements, state};
use store::Store;
use store_any::AnyStore;
use system::System;

use crate::Databases;

/// What is to be recorded of databases and indexes that go back to a point.
#[derive(Default)]
pub(crate) struct PointInTime {
    /// Indexes that had to be built then.
    due: Vec<DbdName>,
    /// Databases that go back as a whole, with their form of then.
    whole: Vec<(DbdName, String)>,
    /// Databases that go back, wholly or in part.
    replaced: Vec<DbdName>,
    /// Where to.
    position: u64,
}

impl PointInTime {
    /// Compares what the named data sets held before a position of the log with what the system
    /// says now.
    ///
    /// # Errors
    /// The first database whose data of then does not fit.
    pub(crate) fn find(
        system: &System,
        names: &[String],
        position: u64,
    ) -> Result<PointInTime, HierarchyError> {
        let mut found = PointInTime { position, ..PointInTime::default() };
        let Ok(databases) = Databases::of(system) else { return Ok(found) };
        let owner = |name: &String| DbdName::new(name.split('.').next()?);
        let owners: BTreeSet<DbdName> = names.iter().filter_map(owner).collect();
        let is_database = |name: &DbdName| {
            let dbd = databases.repository.dbd(*name);
            dbd.is_some_and(|dbd| is_kept(dbd.organization) && !dbd.organization.is_index())
        };
        found.replaced = owners.iter().copied().filter(is_database).collect();
        if names.iter().any(|name| name == state::SET) {
            // What is recorded goes back with the data.
            return Ok(found);
        }
        for name in owners {
            let Some(dbd) = databases.repository.dbd(name) else { continue };
            let Ok(Some(was)) = form::at(&databases.store, name, position) else { continue };
            if dbd.organization.is_index() {
                found.due.extend((was == form::DUE).then_some(name));
            } else if is_kept(dbd.organization) {
                found.database(&databases, &dbd, names, was)?;
            }
        }
        Ok(found)
    }

    fn database(
        &mut self,
        databases: &Databases<AnyStore>,
        dbd: &std::sync::Arc<Dbd>,
        names: &[String],
        was: String,
    ) -> Result<(), HierarchyError> {
        let Ok(placement) = databases.placement(dbd) else { return Ok(()) };
        let set = |partition: &placement::Partition| match partition.name.as_str() {
            "" => dbd.name.text().to_owned(),
            partition => format!("{}.{partition}", dbd.name),
        };
        let is_whole = placement.partitions().iter().all(|one| names.contains(&set(one)));
        // What is left as it is keeps its form; a database that goes back as a whole takes on the
        // one of then.
        let recorded = match is_whole {
            true => was.clone(),
            false => state::state_of(&databases.store, dbd.name)?
                .map_or_else(String::new, |record| record.layout),
        };
        let is = form::of(dbd, &databases.repository, placement, &recorded)?;
        form::compare(dbd.name, &was, &is)?;
        if is_whole {
            self.whole.push((dbd.name, was));
        }
        Ok(())
    }

    /// Before the data goes back.
    pub(crate) fn before(&self, store: &impl Store) -> Result<(), HierarchyError> {
        self.due.iter().try_for_each(|index| state::set_due(store, *index, true))
    }

    /// Behind that.
    pub(crate) fn behind(&self, store: &impl Store) -> Result<(), HierarchyError> {
        let mut all = self.whole.iter();
        all.try_for_each(|(name, form)| state::record_recovered(store, *name, form))?;
        let mut all = self.replaced.iter();
        all.try_for_each(|name| replacements::note(store, *name, self.position))
    }
}
