//! Redirected clusters for operators: made, listed, ended; what was not sent, and is sent now.
//!
//! Invariants:
//! 1. A cluster is redirected only when its handler was reached and has, or was given, what it
//!    needs, such as a table.
//! 2. Where records are said to be, they are looked for: a status asks the handler itself.

use redirector::{resending, send};
use serde::{Deserialize, Serialize};
use store_any::AnyStore;
use system::System;
use system::operator::Talk;
use vsam::handler::{Described, HandlerError};
use vsam::{Catalog, DataSetName, Entry, RecordOwner, Redirection, SourceId};

use crate::clusters::catalog_of;
pub use crate::handlers::handlers;
use crate::{OperationsError, Result};

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum RedirectRequest {
    /// Redirects a cluster.
    Add {
        /// The cluster.
        file: String,
        /// Who has its records: `vsam`, or `redir`.
        owner: Owner,
        /// The address of the handler.
        to: String,
        /// What the cluster is there.
        object: String,
        /// The code page of its text.
        page: Option<String>,
        /// Sends all records that are there already; takes them along, so to speak.
        copies: bool,
    },
    /// Ends a redirection.
    Remove {
        /// The cluster.
        file: String,
        /// Also if changes are left.
        discard: bool,
    },
    /// Lists them.
    List {},
    /// Says how they are.
    Status {
        /// The cluster; none: all.
        file: Option<String>,
    },
    /// Sends what was not sent.
    Resend {
        /// The cluster; none: all.
        file: Option<String>,
        /// All records anew.
        all: bool,
    },
}

/// Who has the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// They are here, and changes are sent on.
    Vsam,
    /// The handler.
    Redir,
}

/// A redirected cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RedirectedCluster {
    /// Its name.
    pub file: String,
    /// Its catalog; none is the master catalog.
    pub catalog: Option<String>,
    /// Who has its records.
    pub owner: Owner,
    /// The handler.
    pub to: String,
    /// What it is there.
    pub object: String,
    /// The code page of its text.
    pub page: Option<String>,
    /// Changes that were not sent.
    pub unsent: u64,
    /// The last batch that was put together.
    pub batch: u64,
    /// The last one that the handler has, if it was asked and answered.
    pub received: Option<u64>,
    /// What is wrong, if it was asked.
    pub problem: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Redirected {
    /// The clusters that it is about.
    pub clusters: Vec<RedirectedCluster>,
    /// Changes that were sent.
    pub sent: u64,
}

/// Does what is asked.
///
/// # Errors
/// What the catalog or a handler refuses.
pub fn perform(
    system: &System,
    asked: &RedirectRequest,
    talk: &mut Talk<'_>,
) -> Result<Redirected> {
    let catalog = catalog_of(system)?;
    match asked {
        RedirectRequest::Add { file, owner, to, object, page, copies } => {
            let mut source = [0; 16];
            let entropy = &system.kernel().seam().entropy;
            entropy.fill(&mut source).map_err(|error| {
                refused(file, HandlerError::Refused(format!("no number can be drawn: {error}")))
            })?;
            let redirection = Redirection {
                owner: match owner {
                    Owner::Vsam => RecordOwner::Vsam,
                    Owner::Redir => RecordOwner::Handler,
                },
                to: to.clone(),
                object: object.clone(),
                page: page.clone(),
                source: SourceId(source),
            };
            add(&catalog, file, redirection, *copies, talk)
        }
        RedirectRequest::Remove { file, discard } => {
            let entry = one(&catalog, file)?;
            let was = row(&catalog, &entry, None)?;
            catalog.end_redirection(&entry.name, *discard)?;
            Ok(Redirected { clusters: vec![was], sent: 0 })
        }
        RedirectRequest::List {} => {
            let rows = catalog.redirected()?.into_iter().map(|entry| row(&catalog, &entry, None));
            Ok(Redirected { clusters: rows.collect::<Result<_>>()?, sent: 0 })
        }
        RedirectRequest::Status { file } => {
            let mut clusters = Vec::new();
            for entry in chosen(&catalog, file.as_deref())? {
                clusters.push(row(&catalog, &entry, Some(received(&catalog, &entry)))?);
                talk.check().map_err(OperationsError::Refused)?;
            }
            Ok(Redirected { clusters, sent: 0 })
        }
        RedirectRequest::Resend { file, all } => {
            let mut done = Redirected::default();
            for entry in chosen(&catalog, file.as_deref())? {
                if entry.redirection.as_ref().map(|one| one.owner) != Some(RecordOwner::Vsam) {
                    continue;
                }
                done.sent += resend(&catalog, &entry, *all, talk)?;
                done.clusters.push(row(&catalog, &entry, None)?);
            }
            Ok(done)
        }
    }
}

fn refused(file: &str, error: HandlerError) -> OperationsError {
    OperationsError::Handler { name: file.to_owned(), error }
}

fn add(
    catalog: &Catalog<AnyStore>,
    file: &str,
    redirection: Redirection,
    copies: bool,
    talk: &mut Talk<'_>,
) -> Result<Redirected> {
    let name = DataSetName::parse(file).map_err(vsam::CatalogError::from)?;
    let entry = catalog.get(&name)?;
    let entry = entry.ok_or_else(|| vsam::CatalogError::NotFound(name.clone()))?;
    let redirection = match &entry.redirection {
        // The address of one that is there is corrected.
        Some(known) if known.owner == redirection.owner => {
            Redirection { source: known.source, ..redirection }
        }
        _ => redirection,
    };
    let planned = Entry { redirection: Some(redirection.clone()), ..entry };
    let owner = redirection.owner;
    if copies && owner == RecordOwner::Handler {
        let what = "records are sent to a handler while they are here: with owner vsam";
        return Err(refused(file, HandlerError::Refused(what.into())));
    }
    if let Some(described) = Described::of(&planned) {
        let handlers = handlers();
        handlers.prepare(&described).map_err(|error| refused(file, error))?;
        handlers.connect(&described).map_err(|error| refused(file, error))?;
    }
    let made = catalog.redirect(&planned.name, &redirection)?;
    let sent = match copies && owner == RecordOwner::Vsam {
        true => resend(catalog, &made, true, talk)?,
        false => 0,
    };
    Ok(Redirected { clusters: vec![row(catalog, &made, None)?], sent })
}

fn resend(
    catalog: &Catalog<AnyStore>,
    entry: &Entry,
    all: bool,
    talk: &mut Talk<'_>,
) -> Result<u64> {
    let mut stopped = Ok(());
    let mut tell = |done: u64| {
        let reported = talk.progress(entry.name.as_str(), done, 0, "changes");
        let goes_on = reported.is_ok();
        if let Err(refusal) = reported {
            stopped = Err(OperationsError::Refused(refusal));
        }
        goes_on
    };
    let sent = match all {
        true => resending::send_all(catalog, entry, &mut tell)?,
        false => send(catalog, entry, &mut |sent| tell(sent.changes))?.changes,
    };
    stopped?;
    Ok(sent)
}

fn one(catalog: &Catalog<AnyStore>, file: &str) -> Result<Entry> {
    let name = DataSetName::parse(file).map_err(vsam::CatalogError::from)?;
    Ok(catalog.get(&name)?.ok_or(vsam::CatalogError::NotFound(name))?)
}

fn chosen(catalog: &Catalog<AnyStore>, file: Option<&str>) -> Result<Vec<Entry>> {
    let Some(file) = file else { return Ok(catalog.redirected()?) };
    let entry = one(catalog, file)?;
    match entry.redirection {
        Some(_) => Ok(vec![entry]),
        None => Err(redirector::SendError::NotRedirected(file.to_owned()).into()),
    }
}

/// What the handler says of itself.
fn received(catalog: &Catalog<AnyStore>, entry: &Entry) -> std::result::Result<u64, HandlerError> {
    let none = || HandlerError::Refused("nobody here knows handlers".into());
    let (Some(described), Some(handlers)) = (Described::of(entry), catalog.handlers()) else {
        return Err(none());
    };
    handlers.connect(&described)?.received(described.redirection.source)
}

fn row(
    catalog: &Catalog<AnyStore>,
    entry: &Entry,
    asked: Option<std::result::Result<u64, HandlerError>>,
) -> Result<RedirectedCluster> {
    let none = || redirector::SendError::NotRedirected(entry.name.to_string());
    let redirection = entry.redirection.as_ref().ok_or_else(none)?;
    let unsent = catalog.unsent()?;
    let (received, problem) = match asked {
        None => (None, None),
        Some(Ok(number)) => {
            let refused = unsent.failure(entry.number)?;
            (Some(number), refused.map(|why| format!("a batch is sent again and again: {why}")))
        }
        Some(Err(error)) => (None, Some(error.to_string())),
    };
    Ok(RedirectedCluster {
        file: entry.name.to_string(),
        catalog: entry.catalog.as_ref().map(ToString::to_string),
        owner: match redirection.owner {
            RecordOwner::Vsam => Owner::Vsam,
            RecordOwner::Handler => Owner::Redir,
        },
        to: redirection.to.clone(),
        object: redirection.object.clone(),
        page: redirection.page.clone(),
        unsent: unsent.count(entry.number)?,
        batch: unsent.batches(entry.number)?,
        received,
        problem,
    })
}
