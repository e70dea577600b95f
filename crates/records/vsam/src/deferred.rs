//! Generations that a step has made: they join their group when the step ends well.
//!
//! 1. Until then a generation is a cluster of such a name and no member of its group: `(0)` is not
//!    it, and nothing leaves the group for it.
//! 2. It joins in a unit of work of the caller's, so that its records and its membership are
//!    committed together. Those that leave for it go after that.
//! 3. What a step that was killed has left behind goes when the next one makes the generation. Its
//!    entry says that it is such; nothing else of that name goes.

use std::sync::Arc;

use store::{Read, Store};

use crate::catalog::{Catalog, Shared};
use crate::change::DeleteOptions;
use crate::define::{Rolling, rolled_by};
use crate::entry::{Definition, Entry, Kind};
use crate::error::CatalogError;
use crate::generations::group_of;
use crate::name::DataSetName;
use crate::rows::Rows;

/// A generation that is no member of its group yet. While this is there, nobody else makes it.
pub struct Deferred<S: Store> {
    catalog: Catalog<S>,
    name: DataSetName,
}

impl<S: Store> Deferred<S> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &DataSetName {
        &self.name
    }

    /// Makes it a member of its group, in a unit of work of the caller's. Answers which
    /// generations leave; they go by [`Deferred::joined`] when that is committed.
    ///
    /// # Errors
    /// If the generation is gone, or the store fails.
    pub fn join(&self, unit: &mut S::Unit) -> Result<Vec<DataSetName>, CatalogError> {
        let Shared { store, set, .. } = &*self.catalog.shared;
        let mut rows = Rows { store, unit, set: *set, read: Read::Update };
        let (_, catalog) = self.catalog.scope_of(&mut rows, &self.name)?;
        let mut entry = rows.known(catalog, &self.name)?;
        entry.joins_later = false;
        rows.put(catalog, &entry)?;
        // Without its group it stays what it is, a cluster.
        let Some((mut group, rolled, _)) = rolled_by(&mut rows, catalog, &entry)? else {
            return Ok(Vec::new());
        };
        group.related.clone_from(&rolled.generations);
        rows.put(catalog, &group)?;
        Ok(rolled.leave)
    }

    /// It is a member: deletes those that have left its group. One that somebody has open stays,
    /// without a group.
    ///
    /// # Errors
    /// If the store fails.
    pub fn joined(self, left: &[DataSetName]) -> Result<(), CatalogError> {
        self.roll_off(left).map(drop)
    }

    /// The same; answers the entries that are gone, and whether the data of those that are not
    /// VSAM's is to go, too (`SCRATCH`).
    ///
    /// # Errors
    /// If the store fails.
    pub fn roll_off(self, left: &[DataSetName]) -> Result<(Vec<Entry>, bool), CatalogError> {
        let purge = DeleteOptions { purge: true, force: false };
        let group = group_of(&self.name);
        let found = group.as_ref().map(|group| self.catalog.get(group)).transpose()?.flatten();
        let scratch = match found.map(|group| group.definition) {
            Some(Definition::GenerationGroup(attributes)) => attributes.scratch,
            _ => false,
        };
        let mut gone = Vec::new();
        for name in left.iter().filter(|name| group_of(name) == group) {
            match self.catalog.delete(name, purge) {
                // What stands over it goes with it, and is behind it.
                Ok(all) => gone.extend(all.into_iter().next()),
                Err(CatalogError::NotFound(_) | CatalogError::InUse(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok((gone, scratch))
    }

    /// The step has failed: the generation goes.
    ///
    /// # Errors
    /// If it is open, or the store fails.
    pub fn give_up(self) -> Result<(), CatalogError> {
        self.catalog.delete_deferred(&self.name)
    }
}

impl<S: Store> Drop for Deferred<S> {
    fn drop(&mut self) {
        self.catalog.shared.registry.settle(&self.name);
    }
}

impl<S: Store> Catalog<S> {
    /// Defines a generation that joins its group later.
    ///
    /// # Errors
    /// [`CatalogError::InUse`] if another step is making it, [`CatalogError::Exists`] if something
    /// is called so that no step has made, and those of [`Catalog::define`].
    pub fn define_deferred(
        &self,
        name: &DataSetName,
        definition: Definition,
    ) -> Result<Deferred<S>, CatalogError> {
        if !self.shared.registry.defer(name) {
            return Err(CatalogError::InUse(name.clone()));
        }
        let catalog = Catalog { shared: Arc::clone(&self.shared), scope: self.scope.clone() };
        let deferred = Deferred { catalog, name: name.clone() };
        self.delete_deferred(name)?;
        self.define_as(name, definition, Rolling::Later)?;
        Ok(deferred)
    }

    /// Defines an object whose data is still to be proven: a generation, while there is its group,
    /// joins that later.
    ///
    /// # Errors
    /// Those of [`Catalog::define_deferred`] and [`Catalog::define`].
    pub fn define_unproven(
        &self,
        name: &DataSetName,
        definition: Definition,
        catalog: Option<&DataSetName>,
    ) -> Result<(Entry, Option<Deferred<S>>), CatalogError> {
        let within = match catalog {
            Some(_) => self.within(catalog)?,
            None => self.clone(),
        };
        let group = match group_of(name) {
            Some(group) => within.look(|rows| {
                let (_, catalog) = within.scope_of(rows, name)?;
                rows.get(catalog, &group)
            })?,
            None => None,
        };
        if group.is_none_or(|group| group.kind() != Kind::GenerationGroup) {
            return Ok((self.define(name, definition, catalog)?.entry, None));
        }
        let deferred = within.define_deferred(name, definition)?;
        Ok((within.known(name)?, Some(deferred)))
    }

    /// Deletes what a step has made under that name and has not joined its group, but nothing else
    /// that is called so.
    fn delete_deferred(&self, name: &DataSetName) -> Result<(), CatalogError> {
        let found = self.look(|rows| self.find_itself(rows, name))?;
        if !found.is_some_and(|(_, entry)| entry.joins_later) {
            return Ok(());
        }
        match self.delete(name, DeleteOptions { purge: true, force: false }) {
            Ok(_) | Err(CatalogError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
