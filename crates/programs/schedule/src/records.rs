//! Data sets of a program: clusters and paths of the catalog, in the unit of work of its calls.
//!
//! Invariants:
//! 1. What a program changes in a data set is committed and backed out with what its calls change:
//!    CHKP, SYNC and the normal end commit all, ROLB, ROLL and an abend back out all.
//! 2. The programs of a system share one catalog: who has what open, it knows. It is opened when
//!    the first of them opens a data set; nobody else pays for it.

use std::sync::Arc;

use dli::Session;
use file_handler::Clusters;
use region::Abend;
use seam::clock::Clock;
use seam::sync::Mutex;
use store::Store;
use vsam::handler::Handlers;
use vsam::{Catalog, CatalogError};

use crate::error::{because, ended, refused};

/// The catalog of a system, once somebody needs it.
pub struct Catalogs<S: Store> {
    known: Mutex<Option<Catalog<S>>>,
    /// By whom the handlers of redirected clusters are reached.
    handlers: Option<Arc<dyn Handlers>>,
}

impl<S: Store> Default for Catalogs<S> {
    fn default() -> Catalogs<S> {
        Catalogs { known: Mutex::new(None), handlers: None }
    }
}

impl<S: Store> Catalogs<S> {
    /// The same for programs whose clusters may be redirected.
    #[must_use]
    pub fn with(handlers: Arc<dyn Handlers>) -> Catalogs<S> {
        Catalogs { known: Mutex::new(None), handlers: Some(handlers) }
    }

    /// The catalog, the same one every time.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn get(&self, store: &S, clock: &Arc<dyn Clock>) -> Result<Catalog<S>, CatalogError> {
        let mut known = self.known.lock();
        if let Some(catalog) = &*known {
            return Ok(catalog.clone());
        }
        let catalog = Catalog::open(store.clone(), Arc::clone(clock))?;
        if let Some(handlers) = &self.handlers {
            catalog.set_handlers(Arc::clone(handlers));
        }
        Ok(known.insert(catalog).clone())
    }
}

/// A program's data sets.
pub(crate) struct Records<S: Store> {
    catalogs: Arc<Catalogs<S>>,
    open: Option<Clusters<S>>,
}

impl<S: Store> Records<S> {
    pub(crate) fn new(catalogs: &Arc<Catalogs<S>>) -> Records<S> {
        Records { catalogs: Arc::clone(catalogs), open: None }
    }

    /// Answers a request for records in the unit of work of a program's calls.
    ///
    /// # Errors
    /// The abend of a program whose unit of work cannot go on.
    pub(crate) fn serve(
        &mut self,
        session: &mut Session<S>,
        (store, clock): (&S, &Arc<dyn Clock>),
        request: &[u8],
        answer: &mut Vec<u8>,
    ) -> Result<(), Abend> {
        let unit = session.unit().map_err(ended)?;
        let clusters = match &mut self.open {
            Some(clusters) => clusters,
            none => {
                let catalog = self.catalogs.get(store, clock);
                none.insert(Clusters::new(catalog.map_err(|error| because("U0844", &error))?))
            }
        };
        clusters.serve(unit, request, answer).map_err(|error| refused(&error))
    }

    /// Closes all; what they have changed stays with the unit of work.
    pub(crate) fn close(&mut self) {
        self.open = None;
    }
}
