//! Which data sets an operator means: the one place where the name of a database becomes those
//! of its data sets.
//!
//! Invariants:
//! 1. A database stands for all of its data sets: partitions, indexes, and the relations of its
//!    logical children and parents. Whatever an operator has done to it is done to all of them.
//! 2. A cluster is named as a database is, and stands for its records and its alternate indexes; so
//!    does each of these, and each path.
//! 3. RECON knows what a database consisted of when it was named last, image copies were made, a
//!    command or a program worked on databases or the system was started for programs, for the time
//!    when it cannot be opened.

use std::collections::{BTreeMap, BTreeSet};

use definitions::resolve::Definitions as _;
use definitions::{DbdName, MemberName};
use recon::{Database, Record, State};
use serde::{Deserialize, Serialize};
use store_any::AnyStore;
use system::System;

use crate::{Databases, Result, clusters};

/// Which data sets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// Data sets by name.
    pub sets: Vec<String>,
    /// Databases by name.
    pub databases: Vec<String>,
    /// Everything.
    pub all: bool,
}

/// The names of the data sets that are meant, each once.
///
/// # Errors
/// If a database or cluster is named that there is not.
pub fn names(system: &System, which: &Selection) -> Result<Vec<String>> {
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
///
/// # Errors
/// As [`names`].
pub fn expand(system: &System, sets: &mut Vec<String>, databases: &mut Vec<String>) -> Result<()> {
    let (own, databases) = (std::mem::take(sets), std::mem::take(databases));
    *sets = names(system, &Selection { sets: own, databases, all: false })?;
    Ok(())
}

/// The databases that data sets named by themselves belong to, each with those of its data sets
/// that are not meant. What is named by its database is whole (invariant 1).
#[must_use]
pub fn left_out(
    system: &System,
    which: &Selection,
    names: &[String],
) -> BTreeMap<String, Vec<String>> {
    let mut left = BTreeMap::new();
    if which.all || which.sets.is_empty() {
        return left;
    }
    let groups = groups(system);
    let is_whole = |group: &&Database| which.databases.iter().any(|one| is_same(one, &group.name));
    let whole: BTreeSet<&String> =
        groups.iter().filter(is_whole).flat_map(|group| &group.sets).collect();
    let is_single = |set: &String| which.sets.contains(set) && !whole.contains(set);
    for group in &groups {
        let others: Vec<String> =
            group.sets.iter().filter(|set| !names.contains(set)).cloned().collect();
        if group.sets.iter().any(is_single) && !others.is_empty() {
            left.insert(group.name.clone(), others);
        }
    }
    left
}

/// The database that a data set belongs to.
#[must_use]
pub fn database_of(system: &System, set: &str) -> Option<String> {
    let mut groups = groups(system).into_iter();
    groups.find(|group| group.sets.iter().any(|one| one == set)).map(|group| group.name)
}

fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// All databases with their data sets: as they are defined, else as RECON knows them.
fn groups(system: &System) -> Vec<Database> {
    let mut groups = system.recon().state().databases.clone();
    if let Ok(databases) = Databases::of(system) {
        for name in databases.repository.names() {
            let MemberName::Dbd(name) = name else { continue };
            // What is no database of its own has no data sets either.
            let Ok(sets) = databases.sets_of(name) else { continue };
            let name = name.text().to_owned();
            groups.insert(name.clone(), Database { name, sets });
        }
    }
    for (name, sets) in clusters::all(system).unwrap_or_default() {
        groups.insert(name.clone(), Database { name, sets });
    }
    groups.into_values().collect()
}

/// What is named, as RECON knows it: for a system that does not start.
#[must_use]
pub fn known_names(which: &Selection, state: &State) -> Vec<String> {
    let all = state.sets.values().map(|set| set.name.clone());
    let mut names: Vec<String> = if which.all { all.collect() } else { which.sets.clone() };
    for database in &which.databases {
        let group = state.databases.get(&database.to_ascii_uppercase());
        names.extend(group.into_iter().flat_map(|group| group.sets.iter().cloned()));
    }
    names
}

/// The data sets of a database, and RECON is told of them.
fn sets_of(system: &System, name: &str) -> Result<Vec<String>> {
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
        (Err(failure), None) => Err(failure),
    }
}

/// Tells RECON of every database that has data sets, for the time when one of these is damaged.
/// What cannot be told is told when the database is named.
pub fn register_databases(system: &System) {
    if let Ok(databases) = Databases::of(system) {
        register(system, &databases);
    }
}

/// The same, where the databases are open.
pub fn register(system: &System, databases: &Databases<AnyStore>) {
    let sets = system.kernel().all_sets();
    let names: BTreeSet<&str> =
        sets.iter().filter_map(|set| set.name().split('.').next()).collect();
    let mut news = Vec::new();
    for name in names.into_iter().filter_map(DbdName::new) {
        let dbd = databases.repository.dbd(name);
        if dbd.is_none_or(|dbd| dbd.organization.is_index()) {
            continue;
        }
        let Ok(sets) = databases.sets_of(name) else { continue };
        let group = Database { name: name.text().to_owned(), sets };
        if system.recon().state().databases.get(&group.name) != Some(&group) {
            news.push(Record::Database(group));
        }
    }
    // A catalog that cannot be read is told of by the verb that needs it.
    for (name, sets) in clusters::all(system).unwrap_or_default() {
        let group = Database { name, sets };
        if system.recon().state().databases.get(&group.name) != Some(&group) {
            news.push(Record::Database(group));
        }
    }
    if let Err(error) = system.recon().add(news) {
        system.notice(&format!("RECON does not know of databases: {error}"));
    }
}

fn defined(system: &System, name: &str) -> Result<Vec<String>> {
    let databases = Databases::of(system)?;
    match databases.named(name) {
        Ok(database) => databases.sets_of(database),
        Err(failure) => clusters::sets_of(system, name)?.ok_or(failure),
    }
}
