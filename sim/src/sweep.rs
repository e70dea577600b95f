//! The sweep: a scenario runs once; at each of its writes and syncs the disk is kept; each of these
//! disks is crashed in several ways and must prove itself.

use std::sync::Arc;

use parking_lot::Mutex;
use seam::sim::{CrashStyle, End, EventKind, Rng, SimConfig, SimDisk};

use crate::history::History;
use crate::machine::Make;
use crate::scenario::Scenario;
use crate::verify::{self, Claim, Wrong, run};
use crate::world::World;

/// How thorough a sweep is.
#[derive(Clone, Copy, Debug)]
pub struct Thoroughness {
    /// Random crash images of each crash point, besides those that drop and keep everything.
    pub random_images: usize,
    /// One image of so many is restarted several times, and restarted at writes of its restart.
    pub deep_every: usize,
}

impl Thoroughness {
    /// What tests do.
    pub const USUAL: Thoroughness = Thoroughness { random_images: 1, deep_every: 8 };
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Crash points.
    pub points: usize,
    /// Crashed disks that were restarted.
    pub images: usize,
    /// Restarts of restarts among them.
    pub restarts_crashed: usize,
}

/// A disk that did not prove itself.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which scenario.
    pub scenario: &'static str,
    /// Which seed.
    pub seed: u64,
    /// At which event of the run, and what that was.
    pub point: String,
    /// What is wrong.
    pub why: Wrong,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { scenario, seed, point, why } = self;
        write!(f, "{scenario}, seed {seed}, crashed at {point}: {why}")
    }
}

/// A disk at one of the events of a run.
pub struct Point {
    /// Which event.
    pub what: String,
    /// The disk, with what was not synced.
    pub disk: SimDisk,
    /// What had happened by then.
    pub claim: Claim,
}

/// Runs a scenario once and keeps its disk at each of its writes and syncs.
///
/// # Errors
/// If the scenario itself fails.
pub fn points(scenario: &Scenario, seed: u64) -> Result<Vec<Point>, Failure> {
    let make = (scenario.make)();
    let history = History::new();
    let broken = |point: &str, why: Wrong| Failure {
        scenario: scenario.name,
        seed,
        point: point.to_owned(),
        why,
    };
    let disk = prepare(scenario, &make, &history, seed).map_err(|why| broken("setup", why))?;
    observed(scenario, &make, &history, &disk, seed)
        .map_err(|why| broken("no point: the script itself fails", why))
}

/// Runs a scenario and crashes it everywhere.
///
/// # Errors
/// The first disk that does not prove itself.
pub fn sweep(scenario: &Scenario, seed: u64, thoroughness: Thoroughness) -> Result<Swept, Failure> {
    let broken = |point: String, why: Wrong| Failure { scenario: scenario.name, seed, point, why };
    let points = points(scenario, seed)?;
    let mut swept = Swept { points: points.len(), ..Swept::default() };
    let mut rng = Rng::stream(seed, "sweep");
    for point in points {
        let mut styles = vec![CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::TearAll];
        styles.extend((0..thoroughness.random_images).map(|_| CrashStyle::Random));
        for style in styles {
            let image = point.disk.crash_image(&mut rng, style);
            let word = rng.word() >> 1;
            let deep = swept.images.is_multiple_of(thoroughness.deep_every);
            swept.images += 1;
            let proof = match deep {
                true => prove_deeply(&point.claim, &image, word, &mut swept),
                false => verify::restart(&point.claim, &image, word).map(|_| ()),
            };
            proof.map_err(|why| broken(format!("{} ({style:?})", point.what), why))?;
        }
    }
    Ok(swept)
}

/// Several restarts, and restarts of restarts that were cut short.
fn prove_deeply(claim: &Claim, image: &SimDisk, seed: u64, swept: &mut Swept) -> Result<(), Wrong> {
    let cut = image.snapshot();
    let mut rng = Rng::stream(seed, "restart");
    let from = rng.below(4);
    let taken = verify::snapshots(&cut, move |number| number % 4 == from);
    verify::restart(claim, &cut, seed)?;
    cut.stop_observing();
    let taken = std::mem::take(&mut *taken.lock());
    for (number, disk) in taken.into_iter().enumerate() {
        let style = [CrashStyle::Random, CrashStyle::TearAll, CrashStyle::DropAll][rng.index(3)];
        let disk = disk.crash_image(&mut rng, style);
        swept.restarts_crashed += 1;
        verify::restart(claim, &disk, rng.word() >> 1).map_err(|why| {
            why.when(&format!("restart crashed at its write {number} ({style:?})"))
        })?;
    }
    verify::restart_thrice(claim, image, seed).map(|_| ())
}

/// The disk on which the script begins.
fn prepare(
    scenario: &Scenario,
    make: &Make,
    history: &History,
    seed: u64,
) -> Result<SimDisk, Wrong> {
    let disk = SimDisk::new();
    if scenario.crashed {
        return prepare_crashed(scenario, make, history, seed);
    }
    let (make, history, setup) = (make.clone(), history.clone(), scenario.setup);
    run(seed, &disk, move |seam| {
        make.create(seam).map_err(Wrong::from)?;
        let kernel = make.open(seam).map_err(Wrong::from)?;
        setup(&World::new(Arc::clone(&kernel), history, make)).map_err(Wrong::from)?;
        kernel.close().map_err(Wrong::from)
    })?;
    disk.settle();
    Ok(disk)
}

/// The same, with a crash at one of the last writes of the setup.
fn prepare_crashed(
    scenario: &Scenario,
    make: &Make,
    history: &History,
    seed: u64,
) -> Result<SimDisk, Wrong> {
    let setup = scenario.setup;
    let mut writes = 0;
    for crash_at in [None, Some(())] {
        let disk = SimDisk::new();
        let mut rng = Rng::stream(seed, "crash of the setup");
        if crash_at.is_some() {
            disk.crash_after(writes - rng.below(writes / 8));
        }
        let history = if crash_at.is_some() { history.clone() } else { History::new() };
        let make = make.clone();
        let (outcome, result) = verify::run_to_end(SimConfig::new(seed), &disk, move |seam| {
            make.create(seam).map_err(Wrong::from)?;
            let kernel = make.open(seam).map_err(Wrong::from)?;
            setup(&World::new(Arc::clone(&kernel), history, make)).map_err(Wrong::from)
        });
        writes = disk.counts().writes;
        match (&outcome.end, result) {
            (End::Crashed, None) => return Ok(disk.crash_image(&mut rng, CrashStyle::TearAll)),
            (End::Completed, Some(Ok(()))) => {}
            (_, result) => return Err(Wrong::Broken(format!("{outcome}, {result:?}"))),
        }
    }
    Err(Wrong::Broken("the setup ends before its crash".into()))
}

/// Runs the script and keeps the disk at each of its events.
fn observed(
    scenario: &Scenario,
    make: &Make,
    history: &History,
    disk: &SimDisk,
    seed: u64,
) -> Result<Vec<Point>, Wrong> {
    let points = Arc::new(Mutex::new(Vec::new()));
    let claim = Claim { make: make.clone(), history: history.clone(), moment: history.moment() };
    let (into, judge) = (Arc::clone(&points), claim);
    disk.observe(move |disk, event| {
        if matches!(event.kind, EventKind::Write | EventKind::Sync | EventKind::SyncDir) {
            let mut points = into.lock();
            let number = points.len();
            let what = format!(
                "event {number}, {:?} of {} at {:#x}, {} bytes",
                event.kind,
                event.path.display(),
                event.offset,
                event.len
            );
            let claim = Claim { moment: judge.history.moment(), ..judge.clone() };
            points.push(Point { what, disk: disk.snapshot(), claim });
        }
    });
    let (make, history, script) = (make.clone(), history.clone(), scenario.script);
    let medium = disk.clone();
    let (outcome, result) = verify::run_to_end(SimConfig::new(seed), disk, move |seam| {
        let kernel = make.open(seam).map_err(Wrong::from)?;
        let world = World::new(Arc::clone(&kernel), history, make).on(&medium);
        script(&world).map_err(Wrong::from)
    });
    disk.stop_observing();
    match (&outcome.end, result) {
        (End::Completed, Some(result)) => result?,
        _ => return Err(Wrong::Broken(outcome.to_string())),
    }
    let taken = std::mem::take(&mut *points.lock());
    Ok(taken)
}
