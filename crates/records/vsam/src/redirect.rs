//! Redirections in the catalog: clusters get one, and lose it.
//!
//! Invariants:
//! 1. A cluster is closed when its redirection begins, changes or ends.
//! 2. Changes that were not sent are not forgotten unless that is asked for.

use std::sync::Arc;

use store::Store;

use crate::attributes::{AttributeError, Organization};
use crate::catalog::{Catalog, wrong_kind};
use crate::entry::{Definition, Entry, Kind};
use crate::error::CatalogError;
use crate::forward::unsent_set;
use crate::handler::{Described, Handlers};
use crate::name::{DataSetName, Filter};
use crate::redirection::Redirection;

impl<S: Store> Catalog<S> {
    /// Says by whom handlers are reached. The first one that is given stays.
    pub fn set_handlers(&self, handlers: Arc<dyn Handlers>) {
        let _ = self.shared.handlers.set(handlers);
    }

    /// By whom handlers are reached; `None` if nobody has said.
    #[must_use]
    pub fn handlers(&self) -> Option<&Arc<dyn Handlers>> {
        self.shared.handlers.get()
    }

    /// Redirects a cluster, or corrects where it goes: the address of a redirection can change
    /// while its source stays.
    ///
    /// # Errors
    /// If it is no cluster with records, is open, or is redirected otherwise.
    pub fn redirect(
        &self,
        name: &DataSetName,
        redirection: &Redirection,
    ) -> Result<Entry, CatalogError> {
        let entry = self.known(name)?;
        let Some(attributes) = entry.cluster() else {
            return Err(wrong_kind(&entry, "a cluster is redirected, with all that leads to it"));
        };
        if attributes.organization == Organization::Linear {
            return Err(wrong_kind(&entry, "a linear cluster has no records to redirect"));
        }
        if let Some(known) = &entry.redirection
            && (known.owner, known.source) != (redirection.owner, redirection.source)
        {
            return Err(CatalogError::Redirected(entry.name));
        }
        let _alone = self.alone(&entry)?;
        // Whose changes would not be sent, or stay here.
        self.settled(&entry)?;
        unsent_set(&self.shared.store)?;
        self.put_redirection(name, Some(redirection))
    }

    /// Ends the redirection of a cluster; what was not sent is forgotten if `discard` says so.
    ///
    /// # Errors
    /// If it has none, is open, or changes are left that were not sent.
    pub fn end_redirection(
        &self,
        name: &DataSetName,
        discard: bool,
    ) -> Result<Entry, CatalogError> {
        let entry = self.known(name)?;
        if entry.redirection.is_none() {
            return Err(wrong_kind(&entry, "it is not redirected"));
        }
        let _alone = self.alone(&entry)?;
        self.settled(&entry)?;
        let unsent = self.unsent()?;
        let left = unsent.count(entry.number)?;
        if left > 0 && !discard {
            return Err(CatalogError::Unsent { name: entry.name, left });
        }
        let ended = self.put_redirection(name, None)?;
        unsent.forget(entry.number)?;
        Ok(ended)
    }

    fn put_redirection(
        &self,
        name: &DataSetName,
        redirection: Option<&Redirection>,
    ) -> Result<Entry, CatalogError> {
        self.change(|rows| {
            let found = self.find(rows, name)?;
            let (catalog, entry) = found.ok_or_else(|| CatalogError::NotFound(name.clone()))?;
            let changed = Entry { redirection: redirection.cloned(), ..entry };
            rows.put(catalog, &changed)?;
            Ok(changed)
        })
    }

    /// The clusters that are redirected.
    ///
    /// # Errors
    /// As [`list`](Catalog::list).
    pub fn redirected(&self) -> Result<Vec<Entry>, CatalogError> {
        let mut all = self.list(&Filter::all(), None)?;
        all.retain(|entry| entry.redirection.is_some() && entry.kind() == Kind::Cluster);
        Ok(all)
    }
}

/// Why a definition cannot change so while the cluster is redirected.
pub(crate) fn refusal(entry: &Entry, altered: &Definition) -> Option<AttributeError> {
    entry.redirection.as_ref()?;
    let (Definition::Cluster(old), Definition::Cluster(new)) = (&entry.definition, altered) else {
        return None;
    };
    let changed = [
        (old.key != new.key, "KEYS"),
        (old.record_bytes_max != new.record_bytes_max, "RECORDSIZE"),
        (old.record_map != new.record_map, "RECORDMAP"),
    ];
    let (_, operand) = changed.into_iter().find(|(differs, _)| *differs)?;
    Some(AttributeError { operand, what: "it stays while the cluster is redirected" })
}

impl Described {
    /// What a handler is told of a redirected cluster; `None` if it is not redirected.
    #[must_use]
    pub fn of(entry: &Entry) -> Option<Described> {
        Some(Described {
            name: entry.name.clone(),
            attributes: entry.cluster()?.clone(),
            redirection: entry.redirection.clone()?,
        })
    }
}
