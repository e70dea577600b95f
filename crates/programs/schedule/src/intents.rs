//! Which programs may run beside each other (DLI-12.41).
//!
//! | holds a database | G, GO | I, R, D, A | E |
//! |---|---|---|---|
//! | with G alone, or GO | yes | yes | yes |
//! | to update it | yes | yes | no |
//! | exclusively (E) | yes | no | no |
//!
//! Invariants:
//! 1. What a PSB claims it claims at once or not at all, and gives back when its schedule goes.
//! 2. Nobody waits: a program that does not fit beside those that run is refused, by name.

use std::sync::Arc;

use definitions::resolve::{ResolvedKind, ResolvedPsb, View};
use definitions::{DbdName, ProcessingOptions, PsbName};
use seam::sync::Mutex;

/// What is claimed of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Intent {
    Read,
    Update,
    Exclusive,
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
}

/// What one program has claimed; it gives that back when it is dropped.
pub(crate) struct Claimed {
    intents: Arc<Intents>,
    number: u64,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.intents.state.lock().claims.retain(|claim| claim.number != self.number);
    }
}

/// Why a program does not fit beside those that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) dbd: DbdName,
    /// Whose claim stands in the way.
    pub(crate) holder: PsbName,
}

impl Intents {
    /// Claims what a PSB needs.
    pub(crate) fn claim(self: &Arc<Intents>, psb: &ResolvedPsb) -> Result<Claimed, Conflict> {
        let wanted = wanted(psb);
        let mut state = self.state.lock();
        for (dbd, intent) in &wanted {
            let others = state.claims.iter().filter(|claim| claim.dbd == *dbd);
            if let Some(other) = others.into_iter().find(|other| excludes(other.intent, *intent)) {
                return Err(Conflict { dbd: *dbd, holder: other.psb });
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
        Ok(Claimed { intents: Arc::clone(self), number })
    }
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
        let intent = intent_of(view);
        for dbd in &view.databases {
            match wanted.iter_mut().find(|(known, _)| known == dbd) {
                Some((_, known)) => *known = intent.max(*known),
                None => wanted.push((*dbd, intent)),
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
    let segments = view.segments.iter().map(|segment| of(segment.options));
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
