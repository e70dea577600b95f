//! Recoveries of data sets and databases of an open system: to now, to a moment, to a position.
//!
//! Invariants:
//! 1. It works on an open system, no matter who has opened it.
//! 2. A database is recovered with its indexes and its relations; a part of it alone goes to
//!    another time only if that is confirmed.

use base::Lsn;
use recon::State;
use recovery::{
    Births, Look, Plan, Progress, RecoverOptions, RecoveryError, SetHistory, Target,
    look_at_copies, lsn_of,
};
use serde::{Deserialize, Serialize};
use system::System;
use system::operator::Talk;

use crate::point_in_time::PointInTime;
use crate::selection::{Selection, left_out, names};
use crate::{OperationsError, Result};

/// Where to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Point {
    /// The end of the log.
    Now,
    /// A position in the log.
    Lsn(u64),
    /// A moment: UTC in microseconds.
    Time(u64),
}

/// What `recover` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecoverRequest {
    /// What is recovered.
    pub which: Selection,
    /// Where to.
    pub to: Point,
    /// Only say what would be done.
    pub check: bool,
    /// Also read the image copies for that, to the end.
    #[serde(default)]
    pub prove: bool,
    /// Some data sets of a database may go to another time than its others.
    #[serde(default)]
    pub apart: bool,
    /// How many seconds to wait for programs.
    pub wait_seconds: u64,
}

/// What `recover` would do, or did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Recovered {
    /// Whether it was done, and not only examined.
    pub done: bool,
    /// The position that was, or would be, reached.
    pub to: u64,
    /// Where reading of the log begins.
    pub log_from: u64,
    /// How much of the log is read.
    pub log_bytes: u64,
    /// How much of image copies is read.
    pub copy_bytes: u64,
    /// About how long it takes, in seconds.
    pub seconds: u64,
    /// Each data set.
    pub sets: Vec<RecoveredSet>,
    /// Units of work in flight at the point that had changed other data sets, too.
    pub spanning: Vec<u64>,
    /// What is to be known of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One data set of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecoveredSet {
    /// Its name.
    pub name: String,
    /// The image copies that it comes from.
    pub copies: Vec<u32>,
    /// Control intervals that came from them.
    pub intervals: u64,
    /// Changes of the log that were applied again.
    pub redone: u64,
    /// Units of work that were backed out at the point.
    pub backed_out: u64,
}

/// What a recovery reads in a second, for an estimate: copies, and log.
const COPY_RATE: u64 = 200 << 20;
const LOG_RATE: u64 = 100 << 20;

/// Recovers what is named, all of it or nothing; or says only what would be done.
///
/// # Errors
/// What keeps it from the point; what cannot be read; databases whose form of then does not fit.
pub fn recover(
    system: &System,
    request: &RecoverRequest,
    talk: &mut Talk<'_>,
) -> Result<Recovered> {
    let names = names(system, &request.which)?;
    let _held = system.hold_log();
    let state = system.recon().state();
    let history = system.history();
    let to = match request.to {
        Point::Now => Target::Now,
        Point::Lsn(lsn) => Target::Lsn(Lsn(lsn)),
        Point::Time(utc_us) if utc_us > system.kernel().seam().clock.utc_us() => {
            return Err(OperationsError::Future { utc_us });
        }
        Point::Time(utc_us) => {
            let end = system.kernel().log().durable();
            let (from, at_least) = log_before(system, &state, &names, utc_us);
            Target::Lsn(lsn_of(&*history, (from, end), at_least, utc_us)?)
        }
    };
    let mut warnings = match to {
        Target::Lsn(_) => torn_apart(system, request, &names)?,
        Target::Now => Vec::new(),
    };
    let point = match to {
        Target::Lsn(lsn) => PointInTime::find(system, &names, lsn.0)?,
        Target::Now => PointInTime::default(),
    };
    let options = RecoverOptions { wait: std::time::Duration::from_secs(request.wait_seconds) };
    let (store, keys) = (system.store(), system.copy_keys());
    let mut progress = |at: Progress<'_>| {
        let _ = talk.progress(at.what, at.done, at.total, "bytes");
    };
    let look = if request.prove { Look::Bytes } else { Look::Files };
    let (seam, recon) = (system.kernel().seam(), system.recon());
    let mut choice = Choice::new(system, &names, to, request.prove);
    let (plan, recovered) = loop {
        let plan = choice.plan()?;
        let tried = if request.check {
            look_at_copies(seam, &keys, &plan, look, &mut progress).map(|()| None)
        } else {
            point.before(store)?;
            recovery::recover(store, &keys, recon, &*history, &plan, options, &mut progress)
                .map(Some)
        };
        match tried {
            Ok(recovered) => break (plan, recovered),
            Err(error) => choice.leave_aside(error)?,
        }
    };
    warnings.extend(choice.left_aside.iter().map(left_aside));
    if recovered.is_some() {
        point.behind(store)?;
        system.update_recon()?;
    }
    Ok(Recovered { warnings, ..report(&plan, &choice.state, recovered.as_ref()) })
}

/// From which copies data sets are recovered: of those that cannot be read older ones do.
struct Choice<'c> {
    system: &'c System,
    names: &'c [String],
    to: Target,
    /// Whether all of the log is read that a plan needs.
    prove: bool,
    state: State,
    /// What was wrong with those that were left aside.
    left_aside: Vec<RecoveryError>,
}

impl<'c> Choice<'c> {
    fn new(system: &'c System, names: &'c [String], to: Target, prove: bool) -> Choice<'c> {
        let state = (*system.recon().state()).clone();
        Choice { system, names, to, prove, state, left_aside: Vec::new() }
    }

    /// By the newest copies that are not left aside. If there is no plan without those, the first
    /// of them is what is wrong.
    fn plan(&mut self) -> std::result::Result<Plan, RecoveryError> {
        let planned = plan(self.system, &self.state, self.names, self.to)
            .and_then(|plan| log_is_there(self.system, &plan, self.prove).map(|()| plan));
        match planned {
            Err(_) if !self.left_aside.is_empty() => Err(self.left_aside.remove(0)),
            planned => planned,
        }
    }

    /// Leaves the copy aside that could not be read; any other error ends the recovery.
    fn leave_aside(&mut self, error: RecoveryError) -> std::result::Result<(), RecoveryError> {
        let RecoveryError::Unreadable { number, names, .. } = &error else { return Err(error) };
        recovery::leave_aside(&mut self.state, *number, names);
        self.left_aside.push(error);
        Ok(())
    }
}

/// Says of a copy why it was left aside.
fn left_aside(error: &RecoveryError) -> String {
    match error {
        RecoveryError::Unreadable { number, names, error } => {
            let names = names.join(", ");
            format!(
                "image copy {number} is left aside for {names}, in favour of older ones: {error}"
            )
        }
        other => other.to_string(),
    }
}

/// Whether the log is there that a plan needs, which is said before anything is done; to prove it,
/// all of it is read.
fn log_is_there(
    system: &System,
    plan: &Plan,
    prove: bool,
) -> std::result::Result<(), RecoveryError> {
    let (history, spans) = (system.history(), plan.spans());
    for (from, to) in plan.pieces() {
        if prove {
            history.each_of(&spans, from, to, &mut |_| Ok(true))?;
            continue;
        }
        let logged = history.each(from, to, &mut |_| Ok(false));
        // What no archive has any more an accumulation may have.
        logged.or_else(|_| history.each_of(&spans, from, plan.log_to, &mut |_| Ok(false)))?;
    }
    Ok(())
}

/// Says which databases would have some of their data sets at another time than the others: then
/// indexes and relations lead to what is not there. That is done only if it is meant.
fn torn_apart(system: &System, request: &RecoverRequest, names: &[String]) -> Result<Vec<String>> {
    let left = left_out(system, &request.which, names);
    let say = |(database, sets): (&String, &Vec<String>)| {
        format!(
            "of database {database} the data sets {} stay as they are, and will not agree with \
             what goes back",
            sets.join(", ")
        )
    };
    let warnings: Vec<String> = left.iter().map(say).collect();
    if warnings.is_empty() || request.apart || request.check {
        return Ok(warnings);
    }
    Err(OperationsError::TornApart { warnings, databases: left.into_keys().collect() })
}

/// Plans a recovery. Only where a copy is missing is the log asked where data sets came to be: for
/// that all of it has to be read.
fn plan(
    system: &System,
    state: &State,
    names: &[String],
    to: Target,
) -> std::result::Result<Plan, RecoveryError> {
    let kernel = system.kernel();
    let planned = recovery::plan(kernel, state, names, to, &Births::new());
    if !matches!(planned, Err(RecoveryError::NoCopy { .. })) {
        return planned;
    }
    let history = system.log_source();
    let births = SetHistory::read_around(&history, history.oldest(), &mut |_| ())?.0.births;
    // Whatever the log does not reach back to, the first refusal names best.
    if births.is_empty() { planned } else { recovery::plan(kernel, state, names, to, &births) }
}

/// What a recovery would do, or did.
fn report(plan: &Plan, state: &State, recovered: Option<&recovery::Recovery>) -> Recovered {
    let pieces = plan.pieces().into_iter();
    let log_bytes = pieces.map(|(from, to)| state.log_bytes(from, to)).sum::<u64>();
    let set = |(at, set): (usize, &recovery::SetPlan)| {
        let counts = recovered.and_then(|recovered| recovered.sets.get(at)).map(|set| &set.counts);
        RecoveredSet {
            name: set.definition.name.clone(),
            copies: set.copies.iter().map(|copy| copy.number).collect(),
            intervals: counts.map_or(0, |counts| counts.intervals),
            redone: counts.map_or(0, |counts| counts.redone),
            backed_out: counts.map_or(0, |counts| counts.backed_out.len() as u64),
        }
    };
    let spanning = recovered.map(|recovered| recovered.spanning.iter().map(|uow| uow.0).collect());
    Recovered {
        done: recovered.is_some(),
        to: recovered.map_or(plan.log_to, |recovered| recovered.to).0,
        log_from: plan.log_from.0,
        log_bytes,
        copy_bytes: plan.copy_bytes,
        seconds: plan.copy_bytes.div_ceil(COPY_RATE) + log_bytes.div_ceil(LOG_RATE),
        sets: plan.sets.iter().enumerate().map(set).collect(),
        spanning: spanning.unwrap_or_default(),
        warnings: Vec::new(),
    }
}

/// Where in the log a moment is looked for: from the newest copies on that were complete by then,
/// and not before their ends, nor before what was recovered by then; from where the log begins, if
/// something has no copy.
fn log_before(system: &System, state: &State, names: &[String], utc_us: u64) -> (Lsn, Lsn) {
    let recovered = state.recoveries.values().filter(|recovery| recovery.utc_us <= utc_us);
    let mut at_least = recovered.map(|recovery| recovery.void_to).max().unwrap_or(Lsn::NONE);
    let mut from = Lsn(u64::MAX);
    for name in names {
        let copies = state.copies_of(name);
        let copy = copies.iter().find(|copy| copy.to_us <= utc_us);
        from = from.min(copy.map_or_else(|| system.log_source().oldest(), |copy| copy.start));
        at_least = at_least.max(copy.map_or(Lsn::NONE, |copy| copy.end));
    }
    (from, at_least)
}
