//! The clusters of a system: its catalog for operators, and control statements over it.
//!
//! | question | where |
//! |---|---|
//! | whose catalog is it? | [`attach`], [`catalog_of`] |
//! | how are statements executed in a system that is in use? | [`fn@idcams`]; whose files: [`files`], which: `named` |
//! | which data sets is a cluster? | [`sets_of`] |
//!
//! Invariants:
//! 1. A process has one catalog of a system: who has what open, only one can know. Whoever opens a
//!    system for programs attaches it; in any other one it is opened for the time of one request.
//! 2. Files that statements name are read and written by the client that gave the statements, with
//!    that one's rights, never by the process that has the system open.

pub mod files;
mod named;

use std::sync::Arc;

use schedule::Catalogs;
use serde::{Deserialize, Serialize};
use store_any::AnyStore;
use system::System;
use system::operator::Talk;
use vsam::{Catalog, DataSetName, Definition, Entry, Filter};

use self::files::{Asked, Printed, statements_of};
use crate::handlers::handlers;
use crate::{OperationsError, Result};

/// Control statements to be executed. The statements themselves are asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IdcamsRequest {
    /// What DD names mean, as operands of `--dd`.
    pub dds: Vec<String>,
}

/// What became of control statements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// The greatest condition code.
    pub condition_code: u32,
    /// Each command.
    pub commands: Vec<Command>,
}

/// A command that was executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its first line.
    pub line: u32,
    /// Which it is; a statement that cannot be read has none.
    pub command: String,
    /// Its condition code.
    pub condition_code: u32,
    /// Its messages.
    pub messages: Vec<Message>,
}

/// A message of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Such as `IDC0001I`.
    pub id: String,
    /// What it says.
    pub text: String,
}

impl From<idcams::Summary> for Executed {
    fn from(summary: idcams::Summary) -> Executed {
        let message = |one: idcams::Message| Message { id: one.id.to_owned(), text: one.text };
        let command = |one: idcams::Executed| Command {
            line: one.line,
            command: one.command,
            condition_code: one.code,
            messages: one.messages.into_iter().map(message).collect(),
        };
        let commands = summary.commands.into_iter().map(command).collect();
        Executed { condition_code: summary.code, commands }
    }
}

/// Has operators' commands find the catalog that the programs of a system share.
pub fn attach(system: &System, catalogs: &Arc<Catalogs<AnyStore>>) {
    system.attach(Arc::clone(catalogs) as _);
}

/// The catalog of a system: that of its programs, if it has any.
///
/// # Errors
/// If it cannot be opened.
pub fn catalog_of(system: &System) -> Result<Catalog<AnyStore>> {
    let store = AnyStore::Kernel(system.store().clone());
    let clock = &system.kernel().seam().clock;
    Ok(match system.attached::<Catalogs<AnyStore>>() {
        Some(catalogs) => catalogs.get(&store, clock)?,
        None => {
            let catalog = Catalog::open(store, Arc::clone(clock))?;
            catalog.set_handlers(handlers());
            catalog
        }
    })
}

/// Executes control statements in a system that is in use.
///
/// # Errors
/// If the system is not one for programs, the catalog cannot be opened, or the client that gave the
/// statements is gone.
pub fn idcams(system: &System, asked: &IdcamsRequest, talk: &mut Talk<'_>) -> Result<Executed> {
    if system.attached::<Catalogs<AnyStore>>().is_none() {
        return Err(OperationsError::NoCatalog);
    }
    let catalog = catalog_of(system)?;
    let asker = Arc::new(talk.asker().map_err(OperationsError::Refused)?);
    let mut dds = Vec::new();
    for operand in &asked.dds {
        let dd = idcams::Dd::parse(operand);
        dds.push(dd.ok_or_else(|| OperationsError::NoDd(operand.clone()))?);
    }
    let statements = statements_of(&asker)?;
    let mut machine = Asked::new(&asker, Arc::clone(&system.kernel().seam().clock), talk);
    let mut sysprint = Printed::new(&asker);
    let done = idcams::execute(&catalog, &statements, &dds, &mut machine, &mut sysprint);
    Ok(Executed::from(done?))
}

/// The data sets of a cluster and of its alternate indexes; `None` if there is no such cluster.
///
/// # Errors
/// If the catalog cannot be read.
pub fn sets_of(system: &System, name: &str) -> Result<Option<Vec<String>>> {
    let Ok(name) = DataSetName::parse(name) else { return Ok(None) };
    if !has_catalog(system)? {
        return Ok(None);
    }
    let catalog = catalog_of(system)?;
    let Some(entry) = catalog.get(&name)? else { return Ok(None) };
    let Some(base) = base_of(&catalog, entry)? else { return Ok(None) };
    let mut sets: Vec<String> = set_of(&base).into_iter().collect();
    for related in &base.related {
        let index = catalog.get(related)?;
        sets.extend(index.as_ref().and_then(set_of));
    }
    Ok(Some(sets))
}

/// All clusters of a system, with their data sets.
///
/// # Errors
/// If the catalog cannot be read.
pub fn all(system: &System) -> Result<Vec<(String, Vec<String>)>> {
    let mut all = Vec::new();
    if !has_catalog(system)? {
        return Ok(all);
    }
    let catalog = catalog_of(system)?;
    for entry in catalog.list(&Filter::all(), None)? {
        if matches!(entry.definition, Definition::Cluster(_)) {
            let name = entry.name.to_string();
            let sets = sets_of(system, &name)?;
            all.extend(sets.map(|sets| (name, sets)));
        }
    }
    Ok(all)
}

/// Whether anything was ever defined: looking makes no catalog.
fn has_catalog(system: &System) -> Result<bool> {
    use store::Store as _;
    Ok(system.store().set(vsam::CATALOG_SET)?.is_some())
}

fn set_of(entry: &Entry) -> Option<String> {
    entry.data.as_ref().map(|data| data.set.clone())
}

/// The cluster that a name leads to: its own, or that of an alternate index or a path.
fn base_of(catalog: &Catalog<AnyStore>, entry: Entry) -> Result<Option<Entry>> {
    let mut at = Some(entry);
    // A path, its index, their cluster.
    for _ in 0..3 {
        let Some(entry) = at else { return Ok(None) };
        at = match &entry.definition {
            Definition::Cluster(_) => return Ok(Some(entry)),
            Definition::AlternateIndex(index) => catalog.get(&index.base)?,
            Definition::Path(path) => catalog.get(&path.entry)?,
            _ => None,
        };
    }
    Ok(None)
}
