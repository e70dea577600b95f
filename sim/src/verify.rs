//! The proof of one disk: it is started, judged against the history, started again.
//!
//! Checked after every restart:
//! 1. the system opens;
//! 2. what is there is what the history says ([`History::judge`]);
//! 3. every tree proves itself, every interval in use can be read and is fresh;
//! 4. what was being converted goes on and comes to its end;
//! 5. the map of each data set says that exactly those intervals are in use that its tree reaches;
//! 6. no lock, no pin and no unit of work is left;
//! 7. a second restart finds nothing to back out and the same contents; after an orderly stop it
//!    finds nothing to redo either.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use base::{CiNumber, Coded};
use btree::{Tree, TreeError};
use parking_lot::Mutex;
use seam::Seam;
use seam::sim::{CrashStyle, End, EventKind, Outcome, Rng, SimConfig, SimDisk};
use uow::{Kernel, RestartReport, UowError};

use crate::history::{Contents, History, Moment};
use crate::machine::Make;
use crate::world::records_of;

/// Why a disk did not prove itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The system itself says that it cannot go on, and why: after a crash that is a failure, after
    /// a media fault it may be right (K20).
    Refused {
        /// The error's code.
        code: &'static str,
        /// Its text.
        text: String,
    },
    /// A promise is broken and nobody said so.
    Broken(String),
}

impl Wrong {
    /// What the system says.
    pub fn refused<E: Coded + Display>(error: &E) -> Wrong {
        Wrong::Refused { code: error.code().0, text: error.to_string() }
    }

    /// The same with what was tried.
    #[must_use]
    pub fn when(self, what: &str) -> Wrong {
        match self {
            Wrong::Refused { code, text } => {
                Wrong::Refused { code, text: format!("{what}: {text}") }
            }
            Wrong::Broken(why) => Wrong::Broken(format!("{what}: {why}")),
        }
    }
}

impl Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::Refused { code, text } => write!(f, "{code} {text}"),
            Wrong::Broken(why) => f.write_str(why),
        }
    }
}

impl From<String> for Wrong {
    fn from(why: String) -> Wrong {
        Wrong::Broken(why)
    }
}

impl From<TreeError> for Wrong {
    fn from(error: TreeError) -> Wrong {
        Wrong::refused(&error)
    }
}

impl From<UowError> for Wrong {
    fn from(error: UowError) -> Wrong {
        Wrong::refused(&error)
    }
}

/// What is to be proven of a disk.
#[derive(Clone)]
pub struct Claim {
    /// How the machine is made.
    pub make: Make,
    /// What happened to it.
    pub history: History,
    /// Up to when.
    pub moment: Moment,
}

/// A restarted system that proved itself.
#[derive(Clone, Debug)]
pub struct Proven {
    /// What is there.
    pub contents: Contents,
    /// What restart did.
    pub report: RestartReport,
}

/// Runs a function on a simulated machine and returns what it returns.
///
/// # Errors
/// What it says, or how the run broke.
pub fn run<T: Send + 'static>(
    seed: u64,
    disk: &SimDisk,
    body: impl FnOnce(&Seam) -> Result<T, Wrong>,
) -> Result<T, Wrong> {
    let (outcome, result) = run_to_end(SimConfig::new(seed), disk, body);
    match (&outcome.end, result) {
        (End::Completed, Some(result)) => result,
        _ => Err(Wrong::Broken(outcome.to_string())),
    }
}

/// Runs on the machine; `None` if it crashed.
///
/// # Errors
/// What `body` says, or how else it ended.
pub fn run_to_crash<T: Send + 'static>(
    seed: u64,
    disk: &SimDisk,
    body: impl FnOnce(&Seam) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let (outcome, result) = run_to_end(SimConfig::new(seed), disk, body);
    match (&outcome.end, result) {
        (End::Completed, Some(result)) => result.map(Some),
        (End::Crashed, _) => Ok(None),
        _ => Err(outcome.to_string()),
    }
}

/// The same, with the outcome, whatever it is.
pub fn run_to_end<T: Send + 'static>(
    config: SimConfig,
    disk: &SimDisk,
    body: impl FnOnce(&Seam) -> T,
) -> (Outcome, Option<T>) {
    let left = Arc::new(Mutex::new(None));
    let result = Arc::clone(&left);
    let outcome = seam::sim::run(config, disk.clone(), move |seam| {
        let returned = body(&seam);
        *result.lock() = Some(returned);
    });
    let result = left.lock().take();
    (outcome, result)
}

/// Starts the disk once and judges what is there. The disk is left as after a crash.
///
/// # Errors
/// What is wrong, in words.
pub fn restart(claim: &Claim, disk: &SimDisk, seed: u64) -> Result<Proven, Wrong> {
    let claim = claim.clone();
    run(seed, disk, move |seam| {
        let opened = claim.make.open(seam);
        let kernel = opened.map_err(|error| Wrong::refused(&error).when("it does not start"))?;
        prove(&claim, &kernel)
    })
}

/// Judges a system that has just been restarted.
///
/// # Errors
/// What is wrong, in words.
pub fn prove(claim: &Claim, kernel: &Arc<Kernel>) -> Result<Proven, Wrong> {
    let contents = contents_of(kernel)?;
    claim.history.judge(claim.moment, &contents)?;
    wait_for_conversions(kernel)?;
    check_sets(kernel)?;
    wait_for_quiet(kernel)?;
    let report = kernel.restart_report().expect("an open system has been restarted").clone();
    Ok(Proven { contents, report })
}

/// What was being converted when the system went down comes to its end, unless it was paused.
///
/// # Errors
/// Why it does not.
pub(crate) fn wait_for_conversions(kernel: &Arc<Kernel>) -> Result<(), Wrong> {
    for _ in 0..5_000 {
        let left = kernel.conversions();
        if let Some(stuck) = left.iter().find(|conversion| conversion.trouble.is_some()) {
            return Err(Wrong::Broken(format!("{stuck:?}")));
        }
        if left.iter().all(|conversion| conversion.paused) {
            return Ok(());
        }
        kernel.seam().clock.sleep(Duration::from_millis(5));
    }
    Err(Wrong::Broken(format!("conversions do not end: {:?}", kernel.conversions())))
}

/// Nothing is held once the page writer is done with what it has begun.
///
/// # Errors
/// What is still held.
pub fn wait_for_quiet(kernel: &Arc<Kernel>) -> Result<(), Wrong> {
    let mut quiet = kernel.check_quiet();
    for _ in 0..5_000 {
        if quiet.is_ok() {
            break;
        }
        kernel.seam().clock.sleep(Duration::from_millis(5));
        quiet = kernel.check_quiet();
    }
    Ok(quiet?)
}

/// What is there.
///
/// # Errors
/// If something cannot be read.
pub fn contents_of(kernel: &Arc<Kernel>) -> Result<Contents, Wrong> {
    let mut contents = Contents::new();
    for set in kernel.all_sets() {
        let records = records_of(kernel, &set)?;
        contents.insert(set.name().to_owned(), records);
    }
    Ok(contents)
}

/// Every tree proves itself, and every interval in use is readable.
///
/// # Errors
/// What is wrong.
pub fn check_sets(kernel: &Arc<Kernel>) -> Result<(), Wrong> {
    for set in kernel.all_sets() {
        let report = Tree::new(kernel, &set).check()?;
        let lost = report.unreachable + report.in_transit;
        if lost > 0 {
            let name = set.name();
            let why = format!("{lost} intervals of data set {name} are in use for nothing");
            return Err(Wrong::Broken(why));
        }
        for ci in (0..set.intervals()).map(CiNumber) {
            if set.is_used(ci).map_err(TreeError::from)? {
                drop(set.shared(ci).map_err(TreeError::from)?);
            }
        }
    }
    Ok(())
}

/// The tree of a data set that may just be converted is sound and nothing of it is lost: what is in
/// transit, as what a conversion wipes, whoever has it takes back.
///
/// # Errors
/// What is wrong.
pub fn nothing_is_lost(kernel: &Arc<Kernel>, name: &str) -> Result<(), String> {
    let set = kernel.set_named(name).ok_or_else(|| format!("{name} is gone"))?;
    kernel.settle_frees(set.id()).map_err(|error| error.to_string())?;
    let mut in_transit = 0;
    for _ in 0..1_000 {
        let report = Tree::new(kernel, &set).check().map_err(|error| error.to_string())?;
        if report.unreachable != 0 {
            return Err(format!("{} intervals of {name} are lost", report.unreachable));
        }
        in_transit = report.in_transit;
        if in_transit == 0 {
            return Ok(());
        }
        kernel.seam().clock.sleep(Duration::from_millis(10));
    }
    Err(format!("{in_transit} intervals of {name} stay in transit"))
}

/// Starts the disk, then again after another crash, then once more after an orderly stop.
///
/// # Errors
/// What is wrong, in words.
pub fn restart_thrice(claim: &Claim, disk: &SimDisk, seed: u64) -> Result<Proven, Wrong> {
    let first = restart(claim, disk, seed)?;
    let mut rng = Rng::stream(seed, "second restart");
    let style = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random][rng.index(3)];
    let disk = disk.crash_image(&mut rng, style);
    let second = restart(claim, &disk, seed + 1).map_err(|why| why.when("restarted again"))?;
    same(&first, &second, "a second restart")?;
    let disk = disk.crash_image(&mut rng, CrashStyle::Random);
    let claim_of_stop = claim.clone();
    run(seed + 2, &disk, move |seam| {
        let opened = claim_of_stop.make.open(seam);
        let kernel =
            opened.map_err(|error| Wrong::refused(&error).when("restarted a third time"))?;
        kernel.close().map_err(|error| Wrong::refused(&error).when("it does not stop"))
    })?;
    let disk = disk.crash_image(&mut rng, CrashStyle::DropAll);
    let last =
        restart(claim, &disk, seed + 3).map_err(|why| why.when("started after an orderly stop"))?;
    same(&first, &last, "a start after an orderly stop")?;
    if !last.report.orderly || last.report.redone > 0 {
        let why = format!("there was work left after an orderly stop: {:?}", last.report);
        return Err(Wrong::Broken(why));
    }
    Ok(first)
}

fn same(first: &Proven, later: &Proven, what: &str) -> Result<(), Wrong> {
    if !later.report.backed_out.is_empty() {
        return Err(Wrong::Broken(format!("{what} backs out {:?}", later.report.backed_out)));
    }
    if later.contents != first.contents {
        return Err(Wrong::Broken(format!("{what} shows other contents")));
    }
    Ok(())
}

/// The disks of a run as they were at some of its writes: `wanted` says at which.
pub fn snapshots(
    disk: &SimDisk,
    mut wanted: impl FnMut(u64) -> bool + Send + 'static,
) -> Arc<Mutex<Vec<SimDisk>>> {
    let taken = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&taken);
    let mut number = 0;
    disk.observe(move |disk, event| {
        if event.kind == EventKind::Write {
            number += 1;
            if wanted(number) {
                into.lock().push(disk.snapshot());
            }
        }
    });
    taken
}
