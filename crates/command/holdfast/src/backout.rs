//! What a system does for `backout`: finding units of work in the log, and taking them back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base::{DataSetId, Lsn, UowId};
use recovery::{BackoutOptions, Committed, Progress, RecoveryError, committed};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use system::System;
use system::operator::{Refusal, Request, Talk, done};

use crate::databases::Databases;
use crate::recovery::Point;
use crate::verbs::refusal;
use crate::which::{Which, names};

/// What `backout --list` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ListWish {
    /// Only those that have changed one of these; nothing named: all.
    pub(crate) which: Which,
    /// Only those committed behind that; `Now`: all that the log has.
    pub(crate) since: Point,
    /// The newest ones, at most so many.
    pub(crate) most: usize,
}

/// A unit of work that was committed, or was backed out again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnitRow {
    pub(crate) unit: u64,
    pub(crate) committed: u64,
    pub(crate) utc_us: u64,
    /// How many changes of which data set, by name.
    pub(crate) sets: BTreeMap<String, u64>,
}

/// What `backout` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BackoutWish {
    pub(crate) units: Vec<u64>,
    /// Only say what would be done.
    pub(crate) check: bool,
    /// How many seconds to wait for programs.
    pub(crate) wait_seconds: u64,
}

/// What `backout` did, or would do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BackedOut {
    pub(crate) done: bool,
    /// The unit of work that did it; 0 if none was needed.
    pub(crate) by: u64,
    /// Units of work that had taken all of it back before; nothing was left to do then.
    pub(crate) before: Vec<u64>,
    pub(crate) units: Vec<BackedOutUnit>,
    /// How many records change back in each data set, by name.
    pub(crate) sets: BTreeMap<String, u64>,
    pub(crate) log_from: u64,
    pub(crate) log_to: u64,
}

/// One unit of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BackedOutUnit {
    pub(crate) unit: u64,
    pub(crate) committed: u64,
    pub(crate) utc_us: u64,
    pub(crate) changes: u64,
    /// Changes of data sets that were recovered to a point before: those are gone already.
    pub(crate) void: u64,
}

pub(crate) fn list(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> Result<Value, Refusal> {
    let wish: ListWish = request.arguments()?;
    let (_held, history) = (system.hold_log(), system.log_source());
    let end = system.kernel().log().durable();
    let since = |unit: &Committed| match wish.since {
        Point::Now => true,
        Point::Lsn(lsn) => unit.at >= Lsn(lsn),
        Point::Time(utc_us) => unit.utc_us >= utc_us,
    };
    let state = system.recon().state();
    let all = wish.which.sets.is_empty() && wish.which.databases.is_empty();
    let of: BTreeSet<DataSetId> = {
        let names = if all { Vec::new() } else { names(system, &wish.which)? };
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
    let units = committed(&history, log, &wanted, wish.most, &mut progress)?;
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
    done(&rows)
}

/// Data sets by name, offline or not.
fn numbers(system: &System, names: &[String]) -> Result<Vec<DataSetId>, Refusal> {
    let kernel = system.kernel();
    let offline = kernel.offline_sets();
    let number = |name: &String| {
        let waiting = || offline.iter().find(|set| set.name == *name).map(|set| set.id);
        let number = kernel.set_named(name).map(|set| set.id()).or_else(waiting);
        number.ok_or_else(|| RecoveryError::NoSuchSet { name: name.clone() }.into())
    };
    names.iter().map(number).collect()
}

pub(crate) fn backout(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> Result<Value, Refusal> {
    let wish: BackoutWish = request.arguments()?;
    let units: Vec<UowId> = wish.units.iter().copied().map(UowId).collect();
    let wait = Duration::from_secs(wish.wait_seconds);
    let databases = Databases::of(system.kernel().seam(), system);
    let ties = databases.and_then(|all| all.ties()).map_err(|failure| refusal(&failure))?;
    let options = BackoutOptions { check: wish.check, wait, ties };
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
    done(&BackedOut {
        done: !wish.check,
        by: report.by.map_or(0, |by| by.0),
        before: report.before.iter().map(|uow| uow.0).collect(),
        units: report.units.iter().map(unit).collect(),
        sets: report.sets,
        log_from: report.from.0,
        log_to: report.to.0,
    })
}
