//! Which data sets an operator means: the one place where the name of a database becomes those of
//! its data sets.
//!
//! Invariants:
//! 1. A database stands for all of its data sets: partitions, indexes, and the relations of its
//!    logical children and parents. Whatever an operator has done to it is done to all of them.
//! 2. RECON knows what a database consisted of when it was named last, for the time when its
//!    definition cannot be read.

use std::collections::BTreeSet;

use recon::{Database, Record, State};
use serde::{Deserialize, Serialize};
use system::System;
use system::operator::Refusal;

use crate::databases::Databases;
use crate::failure::Result;
use crate::verbs::refusal;

/// Which data sets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Which {
    /// Data sets by name.
    pub(crate) sets: Vec<String>,
    /// Databases by name.
    pub(crate) databases: Vec<String>,
    /// Everything.
    pub(crate) all: bool,
}

/// The names of the data sets that are meant, each once.
pub(crate) fn names(system: &System, which: &Which) -> std::result::Result<Vec<String>, Refusal> {
    let kernel = system.kernel();
    let mut names: BTreeSet<String> = which.sets.iter().cloned().collect();
    if which.all {
        names.extend(kernel.all_sets().iter().map(|set| set.name().to_owned()));
        names.extend(kernel.offline_sets().into_iter().map(|set| set.name));
    }
    for database in &which.databases {
        names.extend(sets_of(system, &database.to_ascii_uppercase())?);
    }
    Ok(names.into_iter().collect())
}

/// The same for what names databases beside data sets: they are replaced by their data sets.
pub(crate) fn spell_out(
    system: &System,
    sets: &mut Vec<String>,
    databases: &mut Vec<String>,
) -> std::result::Result<(), Refusal> {
    let (own, databases) = (std::mem::take(sets), std::mem::take(databases));
    *sets = names(system, &Which { sets: own, databases, all: false })?;
    Ok(())
}

/// What is named, as RECON knows it: for a system that does not start.
pub(crate) fn known_names(which: &Which, state: &State) -> Vec<String> {
    let all = state.sets.values().map(|set| set.name.clone());
    let mut names: Vec<String> = if which.all { all.collect() } else { which.sets.clone() };
    for database in &which.databases {
        let group = state.databases.get(&database.to_ascii_uppercase());
        names.extend(group.into_iter().flat_map(|group| group.sets.iter().cloned()));
    }
    names
}

/// The data sets of a database, and RECON is told of them.
fn sets_of(system: &System, name: &str) -> std::result::Result<Vec<String>, Refusal> {
    let known = system.recon().state().databases.get(name).cloned();
    match (defined(system, name), known) {
        (Ok(sets), known) => {
            let group = Database { name: name.to_owned(), sets: sets.clone() };
            if known.as_ref() != Some(&group) {
                system.recon().add(vec![Record::Database(group)])?;
            }
            Ok(sets)
        }
        // Its definition may be what is damaged: RECON knows what it consisted of.
        (Err(_), Some(known)) => Ok(known.sets),
        (Err(failure), None) => Err(refusal(&failure)),
    }
}

fn defined(system: &System, name: &str) -> Result<Vec<String>> {
    let databases = Databases::of(system.kernel().seam(), system)?;
    databases.sets_of(databases.named(name)?)
}
