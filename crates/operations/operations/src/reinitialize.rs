//! Data sets that wait for a recovery, and are given up instead, to be made again: an index from
//! its database, a database from what was unloaded.
//!
//! Invariants:
//! 1. An index that is given up is recorded as due before: no program uses an empty one.
//! 2. Numbers that were drawn are not given up, and nothing is emptied that could not be loaded
//!    without them.

use definitions::resolve::Definitions as _;
use definitions::{Dbd, DbdName, MemberName};
use hierarchy::state;
use store::{Store as _, StoreError};
use store_any::AnyStore;
use store_kernel::SEQUENCES;
use system::AnySystem;

use crate::{Databases, OperationsError, Result};

/// Gives up what is offline of a database: all of it, or only its indexes, or one of these.
pub enum Part {
    /// Everything.
    All,
    /// One or all secondary indexes.
    Indexes(Option<DbdName>),
}

/// Gives up what is offline of this part of a database.
///
/// # Errors
/// If numbers would be given out again; what the store says.
pub fn give_up(
    system: &AnySystem,
    databases: &Databases<AnyStore>,
    database: DbdName,
    part: &Part,
) -> Result<()> {
    // On an engine nothing waits for a recovery: what it has, it has whole.
    let AnySystem::Kernel(system) = system else { return Ok(()) };
    let is_indexed_by = |name: &str| {
        let dbd = databases.repository.dbd(database).zip(index_of(databases, name));
        dbd.is_some_and(|(dbd, index)| is_child(&dbd, index))
    };
    let is_own = |name: &str| name.split('.').next() == Some(database.text());
    let is_meant = |name: &String| match part {
        Part::All => is_own(name) || is_indexed_by(name),
        Part::Indexes(only) => {
            is_indexed_by(name) && only.is_none_or(|only| name.as_str() == only.text())
        }
    };
    let offline = system.kernel().offline_sets().into_iter().map(|set| set.name);
    if matches!(part, Part::All)
        && let Some(name) = offline.clone().find(|name| name == SEQUENCES)
    {
        return Err(OperationsError::SequencesOffline { set: name, database });
    }
    offline.filter(is_meant).try_for_each(|name| drop_offline(databases, &name))
}

/// Drops a data set, which may be offline.
///
/// # Errors
/// As [`give_up`].
pub fn drop_set(databases: &Databases<AnyStore>, name: &str) -> Result<()> {
    let Some(set) = databases.store.set(name)? else { return drop_offline(databases, name) };
    note_due(databases, name)?;
    databases.store.drop_set(set)?;
    are_unknown(databases, name)
}

/// Gives a data set up that is offline.
fn drop_offline(databases: &Databases<AnyStore>, name: &str) -> Result<()> {
    note_due(databases, name)?;
    match databases.store.drop_offline(name) {
        Ok(_) => are_unknown(databases, name),
        Err(StoreError::Unsupported(_)) => {
            Err(OperationsError::NumbersDrawn { set: name.to_owned() })
        }
        Err(error) => Err(error.into()),
    }
}

/// Records an index as due whose data set is about to go.
fn note_due(databases: &Databases<AnyStore>, name: &str) -> Result<()> {
    match index_of(databases, name) {
        Some(index) => Ok(state::set_due(&databases.store, index, true)?),
        None => Ok(()),
    }
}

/// If this was what is recorded of databases: which indexes were due is not known, so all are.
fn are_unknown(databases: &Databases<AnyStore>, dropped: &str) -> Result<()> {
    if dropped != state::SET {
        return Ok(());
    }
    for name in databases.repository.names() {
        let MemberName::Dbd(name) = name else { continue };
        if databases.store.set(name.text())?.is_some() {
            note_due(databases, name.text())?;
        }
    }
    databases.notice(
        "what was recorded of databases is forgotten, such as loads that were broken off: build \
         their indexes with `holdfast index build`, and prove each with `holdfast db verify`",
    );
    Ok(())
}

/// Whether a database names an index as its own.
fn is_child(dbd: &Dbd, index: DbdName) -> bool {
    dbd.segments.iter().flat_map(|segment| &segment.children).any(|child| child.dbd == index)
}

/// Whether it is the data set of an index.
#[must_use]
pub fn is_index(databases: &Databases<AnyStore>, name: &str) -> bool {
    index_of(databases, name).is_some()
}

/// The index whose data set that is.
fn index_of(databases: &Databases<AnyStore>, name: &str) -> Option<DbdName> {
    let name = DbdName::new(name)?;
    let dbd = databases.repository.dbd(name)?;
    dbd.organization.is_index().then_some(name)
}
