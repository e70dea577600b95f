//! The conformance suite, for an operator against an engine of his own.
//!
//! Everything happens in a schema that is made for it and dropped afterwards, whatever the outcome;
//! no other table is read or written. First one system runs every check. Then two systems share the
//! store and take turns, unit of work by unit of work, through all that is about keeping units of
//! work apart.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use seam::Seam;
use store::{
    Capabilities, CommitToken, LoadSource, Resolution, Result, SetAttributes, SetId, SetInfo,
    Store, StoreError, UnitOptions,
};
use store_suite::conformance::{Check, Subject, checks};

use crate::{EngineCursor, EngineOptions, EngineStore, EngineUnit};

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Where chance begins.
    pub seed: u64,
    /// How often what depends on chance is repeated.
    pub rounds: u32,
    /// With how many threads.
    pub threads: u32,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { seed: 1, rounds: 40, threads: 4 }
    }
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The part of the suite.
    pub part: &'static str,
    /// What the check shows, with underscores between the words.
    pub name: &'static str,
    /// How many systems took part.
    pub systems: u32,
    /// What was wrong.
    pub failure: Option<String>,
}

/// The parts that two systems run together.
const SHARED: [&str; 4] = ["isolation", "locks", "commits", "histories"];

/// Runs the whole suite against an engine and answers what each check found; `report` hears of each
/// when it is done.
///
/// # Errors
/// If the engine cannot be reached, or a schema for the suite can be neither made nor dropped.
pub fn certify(
    url: &str,
    effort: Effort,
    seam: &Seam,
    mut report: impl FnMut(&Verdict),
) -> Result<Vec<Verdict>> {
    let mut draw = [0; 6];
    seam.entropy
        .fill(&mut draw)
        .map_err(|error| StoreError::Unavailable(format!("no randomness: {error}").into()))?;
    let digits = base::hex::lower(&draw);
    let schema = format!("holdfast_certify_{digits}");
    let options = EngineOptions { schema, ..EngineOptions::default() };
    EngineStore::create(url, &options, seam)?;
    let tried = run(url, &options, effort, seam, &mut report);
    let destroyed = EngineStore::destroy(url, &options, seam);
    let verdicts = tried?;
    destroyed?;
    Ok(verdicts)
}

fn run(
    url: &str,
    options: &EngineOptions,
    effort: Effort,
    seam: &Seam,
    report: &mut impl FnMut(&Verdict),
) -> Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    let open = || EngineStore::open(url, options.clone(), seam);
    let alone = subject(open()?, effort);
    for check in checks() {
        verdicts.push(judge(&check, &alone, 1, report));
    }
    drop(alone);
    let next = Arc::new(AtomicUsize::new(0));
    let pair = subject(Pair { systems: [open()?, open()?], next }, effort);
    for check in checks().iter().filter(|check| SHARED.contains(&check.part)) {
        verdicts.push(judge(check, &pair, 2, report));
    }
    Ok(verdicts)
}

fn subject<S: Store>(store: S, effort: Effort) -> Subject<S> {
    let Effort { seed, rounds, threads } = effort;
    Subject::new(store).with_seed(seed).with_effort(rounds.max(1), threads.max(2))
}

fn judge<S: Store>(
    check: &Check<S>,
    subject: &Subject<S>,
    systems: u32,
    report: &mut impl FnMut(&Verdict),
) -> Verdict {
    // A check that panics on an engine's odd answer has found something, too.
    let found = seam::thread::catch(|| (check.run)(subject));
    let failure = match found {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.to_string()),
        Err(panic) => Some(format!("the check ended with a panic: {panic}")),
    };
    let verdict = Verdict { part: check.part, name: check.name, systems, failure };
    report(&verdict);
    verdict
}

/// Two systems of one store that take turns.
#[derive(Clone)]
struct Pair {
    systems: [EngineStore; 2],
    next: Arc<AtomicUsize>,
}

impl Pair {
    fn turn(&self) -> &EngineStore {
        &self.systems[self.next.fetch_add(1, Relaxed) % 2]
    }
}

impl Store for Pair {
    type Unit = EngineUnit;
    type Cursor = EngineCursor;

    fn capabilities(&self) -> &Capabilities {
        self.systems[0].capabilities()
    }

    fn begin(&self, options: UnitOptions) -> Result<EngineUnit> {
        self.turn().begin(options)
    }

    fn cursor(&self, set: SetId) -> Result<EngineCursor> {
        self.turn().cursor(set)
    }

    fn create_set(&self, name: &str, attributes: &SetAttributes) -> Result<SetId> {
        self.turn().create_set(name, attributes)
    }

    fn drop_set(&self, set: SetId) -> Result<()> {
        self.turn().drop_set(set)
    }

    fn empty_set(&self, set: SetId) -> Result<()> {
        self.turn().empty_set(set)
    }

    fn set(&self, name: &str) -> Result<Option<SetId>> {
        self.turn().set(name)
    }

    fn sets(&self) -> Result<Vec<SetInfo>> {
        self.turn().sets()
    }

    fn load_sorted(&self, set: SetId, source: &mut impl LoadSource) -> Result<u64> {
        self.turn().load_sorted(set, source)
    }

    fn draw(&self, set: SetId, count: u32) -> Result<u64> {
        self.turn().draw(set, count)
    }

    fn wait_durable(&self) -> Result<()> {
        self.systems.iter().try_for_each(Store::wait_durable)
    }

    fn resolve(&self, token: CommitToken) -> Result<Resolution> {
        self.turn().resolve(token)
    }
}
