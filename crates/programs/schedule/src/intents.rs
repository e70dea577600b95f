//! Which programs may run beside each other (DLI-12.41).
//!
//! | holds a database | G, GO | I, R, D, A | E |
//! |---|---|---|---|
//! | with G alone, or GO | yes | yes | yes |
//! | to update it | yes | yes | no |
//! | exclusively (E) | yes | no | no |
//!
//! | operators have closed a database | who is not scheduled | who is, in its next unit of work |
//! |---|---|---|
//! | for updates | - | its updates meet data that is unavailable (`offline`) |
//! | for everything | programs that use it | all of its calls do |
//!
//! Invariants:
//! 1. What a PSB claims it claims at once or not at all, and gives back when its schedule goes.
//! 2. No program waits: one that does not fit beside those that run is refused, by name.
//! 3. A unit of work comes to its end with the databases that it began with.

use std::collections::BTreeMap;
use std::sync::Arc;

use definitions::resolve::{ResolvedKind, ResolvedPsb, View};
use definitions::{DbdName, ProcessingOptions, PsbName};
use seam::sync::Mutex;

use crate::error::ScheduleError;

/// What is claimed of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Intent {
    Read,
    Update,
    Exclusive,
}

/// What a database is closed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closed {
    /// It is read, and not changed.
    Updates,
    /// It is not used.
    Everything,
}

#[derive(Clone, Debug)]
struct Claim {
    number: u64,
    psb: PsbName,
    dbd: DbdName,
    intent: Intent,
}

/// What the programs of a system have claimed.
#[derive(Default)]
pub struct Intents {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    claims: Vec<Claim>,
    last: u64,
    closed: BTreeMap<DbdName, Closed>,
}

/// What one program has claimed; it gives that back when it is dropped.
pub(crate) struct Claimed {
    intents: Arc<Intents>,
    number: u64,
    /// What each PCB uses, by its slot.
    uses: Vec<Vec<(DbdName, Intent)>>,
    /// What was closed when the present unit of work began.
    closed: BTreeMap<DbdName, Closed>,
}

impl Claimed {
    /// A unit of work begins: looks what is closed.
    pub(crate) fn look(&mut self) {
        let state = self.intents.state.lock();
        if self.closed != state.closed {
            self.closed.clone_from(&state.closed);
        }
    }

    /// The database that keeps the PCB of a slot from its calls, or from those that change
    /// something.
    pub(crate) fn closed(&self, slot: usize, updates: bool) -> Option<DbdName> {
        if self.closed.is_empty() {
            return None;
        }
        let uses = self.uses.get(slot)?;
        let is_closed = |(dbd, intent): &&(DbdName, Intent)| match self.closed.get(dbd) {
            Some(Closed::Everything) => true,
            Some(Closed::Updates) => updates && *intent != Intent::Read,
            None => false,
        };
        uses.iter().find(is_closed).map(|(dbd, _)| *dbd)
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.intents.state.lock().claims.retain(|claim| claim.number != self.number);
    }
}

/// Why a program is not scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// It does not fit beside one that runs.
    Claimed { dbd: DbdName, holder: PsbName },
    /// Operators have closed a database.
    Closed { dbd: DbdName },
}

impl Conflict {
    /// What a program with a PSB is told.
    pub(crate) fn keeps_away(self, psb: PsbName) -> ScheduleError {
        match self {
            Conflict::Claimed { dbd, holder } => ScheduleError::Intent { psb, dbd, holder },
            Conflict::Closed { dbd } => ScheduleError::Closed { psb, dbd },
        }
    }
}

impl Intents {
    /// Claims what a PSB needs.
    pub(crate) fn claim(self: &Arc<Intents>, psb: &ResolvedPsb) -> Result<Claimed, Conflict> {
        let wanted = wanted(psb);
        let mut state = self.state.lock();
        let closed = wanted.iter().find(|(dbd, _)| is_shut(&state, *dbd));
        if let Some((dbd, _)) = closed {
            return Err(Conflict::Closed { dbd: *dbd });
        }
        for (dbd, intent) in &wanted {
            let others = state.claims.iter().filter(|claim| claim.dbd == *dbd);
            if let Some(other) = others.into_iter().find(|other| excludes(other.intent, *intent)) {
                return Err(Conflict::Claimed { dbd: *dbd, holder: other.psb });
            }
        }
        state.last += 1;
        let number = state.last;
        let claims = wanted.into_iter();
        state.claims.extend(claims.map(|(dbd, intent)| Claim {
            number,
            psb: psb.name,
            dbd,
            intent,
        }));
        let uses = psb.pcbs.iter().map(|pcb| match &pcb.kind {
            ResolvedKind::Database(view) => used_by(view),
            _ => Vec::new(),
        });
        let (uses, closed) = (uses.collect(), state.closed.clone());
        Ok(Claimed { intents: Arc::clone(self), number, uses, closed })
    }

    /// Closes a database, or opens it: for programs that are scheduled from now on, and for units
    /// of work that begin.
    pub fn set_closed(&self, dbd: DbdName, closed: Option<Closed>) {
        let mut state = self.state.lock();
        match closed {
            Some(closed) => drop(state.closed.insert(dbd, closed)),
            None => drop(state.closed.remove(&dbd)),
        }
    }

    /// What a database is closed for.
    #[must_use]
    pub fn closed(&self, dbd: DbdName) -> Option<Closed> {
        self.state.lock().closed.get(&dbd).copied()
    }

    /// Whether any database is closed.
    #[must_use]
    pub fn has_closed(&self) -> bool {
        !self.state.lock().closed.is_empty()
    }

    /// The database for which a PSB would not be scheduled.
    #[must_use]
    pub fn keeps_away(&self, psb: &ResolvedPsb) -> Option<DbdName> {
        let state = self.state.lock();
        wanted(psb).into_iter().map(|(dbd, _)| dbd).find(|dbd| is_shut(&state, *dbd))
    }
}

fn is_shut(state: &State, dbd: DbdName) -> bool {
    state.closed.get(&dbd) == Some(&Closed::Everything)
}

/// The databases that a PCB uses.
fn used_by(view: &View) -> Vec<(DbdName, Intent)> {
    let intent = intent_of(view);
    view.databases.iter().map(|dbd| (*dbd, intent)).collect()
}

fn excludes(one: Intent, other: Intent) -> bool {
    one.max(other) == Intent::Exclusive && one.min(other) >= Intent::Update
}

/// The databases that a PSB uses, each with what is claimed of it in a word: `read`, `update` or
/// `exclusive`.
#[must_use]
pub fn claims_of(psb: &ResolvedPsb) -> Vec<(DbdName, &'static str)> {
    let word = |intent| match intent {
        Intent::Read => "read",
        Intent::Update => "update",
        Intent::Exclusive => "exclusive",
    };
    wanted(psb).into_iter().map(|(dbd, intent)| (dbd, word(intent))).collect()
}

/// The databases that a PSB updates.
pub(crate) fn updates_of(psb: &ResolvedPsb) -> Vec<DbdName> {
    let updated = wanted(psb).into_iter().filter(|(_, intent)| *intent != Intent::Read);
    updated.map(|(dbd, _)| dbd).collect()
}

/// The strongest intent of a PSB for each database that it uses.
fn wanted(psb: &ResolvedPsb) -> Vec<(DbdName, Intent)> {
    let mut wanted: Vec<(DbdName, Intent)> = Vec::new();
    for pcb in &psb.pcbs {
        let ResolvedKind::Database(view) = &pcb.kind else { continue };
        for (dbd, intent) in used_by(view) {
            match wanted.iter_mut().find(|(known, _)| *known == dbd) {
                Some((_, known)) => *known = intent.max(*known),
                None => wanted.push((dbd, intent)),
            }
        }
    }
    wanted
}

fn intent_of(view: &View) -> Intent {
    let of = |options: ProcessingOptions| {
        let updates = ['I', 'R', 'D', 'L'].into_iter().any(|letter| options.allows(letter));
        match (options.has('E'), updates) {
            (true, _) => Intent::Exclusive,
            (false, true) => Intent::Update,
            (false, false) => Intent::Read,
        }
    };
    let segments = view.segments.iter().map(|segment| of(segment.access.options));
    segments.fold(of(view.options), Intent::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusive_use_keeps_updates_away_and_nothing_else() {
        use Intent::{Exclusive, Read, Update};
        for (one, other, apart) in [
            (Exclusive, Exclusive, true),
            (Exclusive, Update, true),
            (Update, Exclusive, true),
            (Exclusive, Read, false),
            (Update, Update, false),
            (Read, Read, false),
        ] {
            assert_eq!(excludes(one, other), apart, "{one:?} {other:?}");
        }
    }
}
