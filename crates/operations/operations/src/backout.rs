//! What a system does for `backout`: finding units of work in the log, and taking them back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base::{DataSetId, Lsn, UowId};
use recovery::{BackoutOptions, Committed, Progress, RecoveryError, committed};
use serde::{Deserialize, Serialize};
use system::System;
use system::operator::Talk;

use crate::recover::Point;
use crate::selection::{Selection, names};
use crate::{Databases, Result};

/// What `backout --list` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListRequest {
    /// Only those that have changed one of these; nothing named: all.
    pub which: Selection,
    /// Only those committed behind that; `Now`: all that the log has.
    pub since: Point,
    /// The newest ones, at most so many.
    pub most: usize,
}

/// A unit of work that was committed, or was backed out again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnitRow {
    /// Its number.
    pub unit: u64,
    /// Where in the log it was committed.
    pub committed: u64,
    /// And when.
    pub utc_us: u64,
    /// How many changes of which data set, by name.
    pub sets: BTreeMap<String, u64>,
}

/// What `backout` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackoutRequest {
    /// Units of work by their numbers.
    pub units: Vec<u64>,
    /// Only say what would be done.
    pub check: bool,
    /// How many seconds to wait for programs.
    pub wait_seconds: u64,
}

/// What `backout` did, or would do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackedOut {
    /// Whether it was done, and not only examined.
    pub done: bool,
    /// The unit of work that did it; 0 if none was needed.
    pub by: u64,
    /// Units of work that had taken all of it back before; nothing was left to do then.
    pub before: Vec<u64>,
    /// Each of them.
    pub units: Vec<BackedOutUnit>,
    /// How many records change back in each data set, by name.
    pub sets: BTreeMap<String, u64>,
    /// Where reading of the log began.
    pub log_from: u64,
    /// And ended.
    pub log_to: u64,
}

/// One unit of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackedOutUnit {
    /// Its number.
    pub unit: u64,
    /// Where in the log it was committed.
    pub committed: u64,
    /// And when.
    pub utc_us: u64,
    /// How many changes it made.
    pub changes: u64,
    /// Changes of data sets that were recovered to a point before: those are gone already.
    pub void: u64,
}

/// Lists units of work that the log has.
///
/// # Errors
/// What cannot be read; data sets that there are not.
pub fn list(system: &System, request: &ListRequest, talk: &mut Talk<'_>) -> Result<Vec<UnitRow>> {
    let (_held, history) = (system.hold_log(), system.log_source());
    let end = system.kernel().log().durable();
    let since = |unit: &Committed| match request.since {
        Point::Now => true,
        Point::Lsn(lsn) => unit.at >= Lsn(lsn),
        Point::Time(utc_us) => unit.utc_us >= utc_us,
    };
    let state = system.recon().state();
    let all = request.which.sets.is_empty() && request.which.databases.is_empty();
    let of: BTreeSet<DataSetId> = {
        let names = if all { Vec::new() } else { names(system, &request.which)? };
        let sets: Vec<DataSetId> = numbers(system, &names)?;
        sets.into_iter().flat_map(|set| state.lineage(set)).map(|span| span.set).collect()
    };
    let wanted =
        |unit: &Committed| since(unit) && (all || unit.changes.keys().any(|set| of.contains(set)));
    let mut progress = |at: Progress<'_>| {
        let _ = talk.progress(at.what, at.done, at.total, "bytes");
    };
    // One that was committed behind may have begun long before.
    let log = (history.oldest(), end);
    let units = committed(&history, log, &wanted, request.most, &mut progress)?;
    let name = |id: &DataSetId| match system.kernel().set(*id) {
        Some(set) => set.name().to_owned(),
        None => format!("{id}"),
    };
    let rows: Vec<UnitRow> = units
        .iter()
        .map(|unit| UnitRow {
            unit: unit.uow.0,
            committed: unit.at.0,
            utc_us: unit.utc_us,
            sets: unit.changes.iter().map(|(set, count)| (name(set), *count)).collect(),
        })
        .collect();
    Ok(rows)
}

/// Data sets by name, offline or not.
fn numbers(system: &System, names: &[String]) -> Result<Vec<DataSetId>> {
    let kernel = system.kernel();
    let offline = kernel.offline_sets();
    let number = |name: &String| {
        let waiting = || offline.iter().find(|set| set.name == *name).map(|set| set.id);
        let number = kernel.set_named(name).map(|set| set.id()).or_else(waiting);
        number.ok_or_else(|| RecoveryError::NoSuchSet { name: name.clone() }.into())
    };
    names.iter().map(number).collect()
}

/// Takes committed units of work back, all of them or none.
///
/// # Errors
/// Those that have changed the same since; what cannot be read; data sets in use.
pub fn backout(
    system: &System,
    request: &BackoutRequest,
    talk: &mut Talk<'_>,
) -> Result<BackedOut> {
    let units: Vec<UowId> = request.units.iter().copied().map(UowId).collect();
    let wait = Duration::from_secs(request.wait_seconds);
    let ties = Databases::of(system)?.ties()?;
    let options = BackoutOptions { check: request.check, wait, ties };
    let mut progress = |at: Progress<'_>| {
        let _ = talk.progress(at.what, at.done, at.total, "bytes");
    };
    let (_held, history) = (system.hold_log(), system.log_source());
    let (store, recon) = (system.store(), system.recon());
    let report = recovery::backout(store, recon, &history, &units, &options, &mut progress)?;
    let unit = |one: &recovery::BackedOut| BackedOutUnit {
        unit: one.uow.0,
        committed: one.committed.0,
        utc_us: one.utc_us,
        changes: one.changes,
        void: one.void,
    };
    Ok(BackedOut {
        done: !request.check,
        by: report.by.map_or(0, |by| by.0),
        before: report.before.iter().map(|uow| uow.0).collect(),
        units: report.units.iter().map(unit).collect(),
        sets: report.sets,
        log_from: report.from.0,
        log_to: report.to.0,
    })
}
