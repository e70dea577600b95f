//! The catalog.

use std::sync::Arc;

use seam::clock::Clock;
use store::Store;

use crate::entry::{Definition, Entry, Statistics};
use crate::error::CatalogError;
use crate::name::{DataSetName, Filter};

/// What DELETE is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// `PURGE`: before its retention period is over, too.
    pub purge: bool,
    /// `FORCE`: a catalog or a group with entries, too.
    pub force: bool,
    /// `NOSCRATCH`: only the entry; of files that are not VSAM's.
    pub no_scratch: bool,
}

/// The catalogs of a system: a handle, whose clones stand for the same.
pub struct Catalog<S: Store> {
    pub(crate) shared: Arc<Shared<S>>,
}

impl<S: Store> Clone for Catalog<S> {
    fn clone(&self) -> Catalog<S> {
        Catalog { shared: Arc::clone(&self.shared) }
    }
}

pub(crate) struct Shared<S: Store> {
    pub(crate) store: S,
    pub(crate) clock: Arc<dyn Clock>,
}

/// What a definition has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    /// The new entry.
    pub entry: Entry,
    /// Generations that have left their group for it, with whether their data is to go, too.
    pub rolled_off: Vec<Entry>,
}

impl<S: Store> Catalog<S> {
    /// Opens the catalogs of a store; makes the master catalog if there is none. Finishes or takes
    /// back what an interruption left half done.
    ///
    /// # Errors
    /// If the store fails, or an entry cannot be read.
    pub fn open(store: S, clock: Arc<dyn Clock>) -> Result<Catalog<S>, CatalogError> {
        Ok(Catalog { shared: Arc::new(Shared { store, clock }) })
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.shared.store
    }

    /// Defines an object, in the named user catalog or the one that its first qualifiers pick.
    ///
    /// # Errors
    /// If a name is taken, something it rests on is not there, or attributes break a rule.
    pub fn define(
        &self,
        name: &DataSetName,
        definition: Definition,
        catalog: Option<&DataSetName>,
    ) -> Result<Defined, CatalogError> {
        todo!("{name} {definition:?} {catalog:?}")
    }

    /// The entry of that name, in the catalog that its first qualifiers pick. An alias of a data
    /// set is followed.
    ///
    /// # Errors
    /// If the store fails, or the entry cannot be read.
    pub fn get(&self, name: &DataSetName) -> Result<Option<Entry>, CatalogError> {
        todo!("{name}")
    }

    /// The same in a catalog by name (`None`: the master catalog), and without following aliases.
    ///
    /// # Errors
    /// As [`get`](Catalog::get).
    pub fn get_in(
        &self,
        catalog: Option<&DataSetName>,
        name: &DataSetName,
    ) -> Result<Option<Entry>, CatalogError> {
        todo!("{catalog:?} {name}")
    }

    /// All entries that a filter stands for, in one catalog or in all, without components, ordered
    /// by name.
    ///
    /// # Errors
    /// As [`get`](Catalog::get).
    pub fn list(
        &self,
        filter: &Filter,
        catalog: Option<&DataSetName>,
    ) -> Result<Vec<Entry>, CatalogError> {
        todo!("{filter} {catalog:?}")
    }

    /// The statistics of an object.
    ///
    /// # Errors
    /// As [`get`](Catalog::get).
    pub fn statistics(&self, entry: &Entry) -> Result<Statistics, CatalogError> {
        todo!("{entry:?}")
    }

    /// Changes attributes (ALTER). What is not to change, such as the organization of a cluster or
    /// keys while there are records, is refused.
    ///
    /// # Errors
    /// If a rule is broken, or the object is open.
    pub fn alter(
        &self,
        name: &DataSetName,
        change: &mut dyn FnMut(&mut Definition),
    ) -> Result<Entry, CatalogError> {
        todo!("{name} {:p}", &change)
    }

    /// Gives an object another name (ALTER NEWNAME).
    ///
    /// # Errors
    /// If the name is taken, or the object is open.
    pub fn rename(&self, name: &DataSetName, to: &DataSetName) -> Result<Entry, CatalogError> {
        todo!("{name} {to}")
    }

    /// Deletes an object with all that stands over it: a cluster with its alternate indexes and
    /// paths, an index with its paths. Answers the entries that are gone.
    ///
    /// # Errors
    /// If it is not there, is open, or has to be kept.
    pub fn delete(
        &self,
        name: &DataSetName,
        options: DeleteOptions,
    ) -> Result<Vec<Entry>, CatalogError> {
        todo!("{name} {options:?}")
    }

    /// The name of a generation by its relative number: 0 is the newest, -1 the one before, 1 the
    /// one that is defined next.
    ///
    /// # Errors
    /// If there is no such group, or it has no such generation.
    pub fn generation(
        &self,
        group: &DataSetName,
        relative: i32,
    ) -> Result<DataSetName, CatalogError> {
        todo!("{group} {relative}")
    }

    /// Builds an alternate index, or a path's, over the records that its base has (BLDINDEX).
    /// Answers how many entries it has then.
    ///
    /// # Errors
    /// If base or index are open, or keys that are to be unique are not.
    pub fn build_index(&self, index: &DataSetName) -> Result<u64, CatalogError> {
        todo!("{index}")
    }

    /// Counts what a cluster or index has, and corrects its statistics (VERIFY).
    ///
    /// # Errors
    /// As [`get`](Catalog::get).
    pub fn verify(&self, name: &DataSetName) -> Result<Statistics, CatalogError> {
        todo!("{name}")
    }
}
