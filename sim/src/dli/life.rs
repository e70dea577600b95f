//! The lives of one program: it is crashed at some write, the system is restarted, the program
//! goes on behind the last sync point that is there, until it comes to its end.
//!
//! Checked after every restart, and at the end:
//! 1. every sync point that was acknowledged is there, and nothing behind it but one that was asked
//!    for: GN through every PCB meets what the model has there, in its order;
//! 2. hierarchy and secondary indexes agree;
//! 3. every call of the rest answers as the model does.

use std::sync::Arc;

use dli_model::script::{Expected, Step};
use dli_model::{Feedback, Model, Subject};
use parking_lot::Mutex;
use seam::Seam;
use seam::sim::{CrashStyle, End, EventKind, Rng, SimConfig, SimDisk};

use super::tale::{Met, Tale, walk};
use super::{Program, Site};
use crate::machine::Make;
use crate::verify::{self, Wrong};

/// How far a program has come, in steps of its tale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Behind the last sync point that was acknowledged.
    pub acknowledged: usize,
    /// Behind the last sync point that was asked for.
    pub asked: usize,
}

/// What the lives of a program were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lived {
    /// Crashes survived.
    pub crashes: usize,
    /// Sync points that nobody had been told of, and that were there.
    pub in_flight: usize,
}

/// A machine for the databases of a program.
#[must_use]
pub fn machine(rng: &mut Rng) -> Make {
    let drawn = Make::drawn(rng);
    // Each data set keeps two frames; a program has an index, sequences and a database. No unit of
    // work is refused for a log that is full: what is tried here are the calls.
    Make {
        ci_bytes: drawn.ci_bytes.max(4096),
        frames: drawn.frames.max(48),
        segments_max: drawn.segments_max.max(16),
        ..drawn
    }
}

/// Lives through the tale of a seed.
///
/// # Errors
/// The first thing that is wrong.
pub fn live_through(seed: u64) -> Result<Lived, String> {
    let tale = Arc::new(Tale::drawn(seed).map_err(|error| error.to_string())?);
    lives(&tale, seed).map_err(|why| format!("{why}\n{}", tale.source))
}

fn lives(tale: &Arc<Tale>, seed: u64) -> Result<Lived, Wrong> {
    let mut rng = Rng::stream(seed, "lives");
    let make = machine(&mut rng);
    let mut disk = created(&make, seed)?;
    let progress = Arc::new(Mutex::new(Progress::default()));
    let mut lived = Lived::default();
    let crashes = 1 + rng.index(4);
    loop {
        if lived.crashes < crashes {
            let writes = [10, 30, 80][rng.index(3)];
            disk.crash_after(rng.below(writes));
        }
        let (tale, known) = (Arc::clone(tale), Arc::clone(&progress));
        let machine = make.clone();
        let config = SimConfig::new(rng.word() >> 1);
        let (outcome, result) =
            verify::run_to_end(config, &disk, move |seam| live(&tale, &machine, &known, seam));
        let before = lived.crashes;
        match (&outcome.end, result) {
            (End::Completed, Some(Ok(in_flight))) => {
                lived.in_flight += usize::from(in_flight);
                return Ok(lived);
            }
            (End::Completed, Some(Err(why))) => return Err(why.when(&format!("life {before}"))),
            (End::Crashed, _) => lived.crashes += 1,
            _ => return Err(Wrong::Broken(format!("life {before}: {outcome}"))),
        }
        let style = [CrashStyle::DropAll, CrashStyle::Random, CrashStyle::TearAll][rng.index(3)];
        disk = disk.crash_image(&mut rng, style);
    }
}

/// Runs a tale and crashes it everywhere; every image is restarted, and the program comes to its
/// end there. Answers how many images there were.
///
/// # Errors
/// The first image that does not prove itself.
pub fn sweep(tale: &Arc<Tale>, make: &Make, seed: u64) -> Result<usize, Wrong> {
    let disk = created(make, seed)?;
    let progress = Arc::new(Mutex::new(Progress::default()));
    let points = Arc::new(Mutex::new(Vec::new()));
    let (into, known) = (Arc::clone(&points), Arc::clone(&progress));
    disk.observe(move |disk, event| {
        if matches!(event.kind, EventKind::Write | EventKind::Sync | EventKind::SyncDir) {
            let what = format!("{:?} of {}", event.kind, event.path.display());
            into.lock().push((what, disk.snapshot(), *known.lock()));
        }
    });
    run_once(tale, make, &progress, &disk, seed)?;
    disk.stop_observing();
    let mut rng = Rng::stream(seed, "sweep");
    let mut images = 0;
    for (number, (what, disk, there)) in std::mem::take(&mut *points.lock()).into_iter().enumerate()
    {
        for style in [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random] {
            let image = disk.crash_image(&mut rng, style);
            let progress = Arc::new(Mutex::new(there));
            images += 1;
            run_once(tale, make, &progress, &image, rng.word() >> 1).map_err(|why| {
                why.when(&format!("seed {seed}, crashed at event {number}, {what} ({style:?})"))
            })?;
        }
    }
    Ok(images)
}

/// One life that nothing cuts short.
fn run_once(
    tale: &Arc<Tale>,
    make: &Make,
    progress: &Arc<Mutex<Progress>>,
    disk: &SimDisk,
    seed: u64,
) -> Result<(), Wrong> {
    let (tale, make, progress) = (Arc::clone(tale), make.clone(), Arc::clone(progress));
    verify::run(seed, disk, move |seam| live(&tale, &make, &progress, seam).map(drop))
}

/// A disk with an empty system.
pub(crate) fn created(make: &Make, seed: u64) -> Result<SimDisk, Wrong> {
    let disk = SimDisk::new();
    let make = make.clone();
    verify::run(seed, &disk, move |seam| make.create(seam).map_err(Wrong::from))?;
    disk.settle();
    Ok(disk)
}

/// One life: starts the system, judges what is there, and goes on to the end of the tale. Answers
/// whether a sync point was there that nobody had been told of.
fn live(tale: &Tale, make: &Make, progress: &Mutex<Progress>, seam: &Seam) -> Result<bool, Wrong> {
    let kernel =
        make.open(seam).map_err(|error| Wrong::refused(&error).when("it does not start"))?;
    let site = Site::open(&kernel, make, &tale.setup)?;
    site.verify()?;
    let mut program = site.program(dli::SessionOptions::default())?;
    let before = *progress.lock();
    let (from, mut model) = resume(tale, before, &mut program)?;
    *progress.lock() = Progress { acknowledged: from, asked: from };
    for (number, step) in tale.steps.iter().enumerate().skip(from) {
        let wrong = |why: Wrong| why.when(&format!("step {number}, {step}"));
        match step {
            Step::Call(call) => {
                let found =
                    program.call(call).map_err(|failure| wrong(Wrong::refused(&failure)))?;
                let expected = model.call(call.pcb, &call.function, &call.area, &call.ssas);
                agree(&expected, &found).map_err(wrong)?;
            }
            Step::Checkpoint => {
                progress.lock().asked = number + 1;
                program.commit().map_err(|failure| wrong(Wrong::refused(&failure)))?;
                progress.lock().acknowledged = number + 1;
                model.checkpoint();
            }
            Step::Rollback => {
                program.back_out().map_err(|failure| wrong(Wrong::refused(&failure)))?;
                model.rollback();
            }
        }
    }
    let there = contents(tale, &mut program)?;
    same(&there, &contents_of_model(tale, &mut model))?;
    site.verify()?;
    drop((program, site));
    verify::check_sets(&kernel)?;
    verify::wait_for_quiet(&kernel)?;
    kernel.close().map_err(|error| Wrong::refused(&error).when("it does not stop"))?;
    Ok(from > before.acknowledged)
}

/// Where the program goes on: behind the last sync point that is there.
fn resume(tale: &Tale, at: Progress, program: &mut Program) -> Result<(usize, Model), Wrong> {
    let there = contents(tale, program)?;
    let mut model = tale.model_behind(at.acknowledged);
    let acknowledged = same(&there, &contents_of_model(tale, &mut model));
    if acknowledged.is_ok() || at.asked <= at.acknowledged {
        return acknowledged.map(|()| (at.acknowledged, model));
    }
    let mut model = tale.model_behind(at.asked);
    same(&there, &contents_of_model(tale, &mut model))?;
    Ok((at.asked, model))
}

/// What GN meets through every PCB; no position is left.
fn contents(tale: &Tale, program: &mut Program) -> Result<Vec<Met>, Wrong> {
    let mut there = Vec::new();
    for pcb in 0..tale.pcbs() {
        let met =
            walk(pcb, |call| program.call(call)).map_err(|failure| Wrong::refused(&failure))?;
        there.extend(met);
    }
    program.back_out().map_err(|failure| Wrong::refused(&failure))?;
    Ok(there)
}

fn contents_of_model(tale: &Tale, model: &mut Model) -> Vec<Met> {
    let mut there = Vec::new();
    for pcb in 0..tale.pcbs() {
        let met = walk(pcb, |call| {
            let feedback = model.call(call.pcb, &call.function, &call.area, &call.ssas);
            Ok::<_, std::convert::Infallible>(feedback)
        });
        there.extend(met.into_iter().flatten());
    }
    model.rollback();
    there
}

fn same(there: &[Met], expected: &[Met]) -> Result<(), Wrong> {
    if there == expected {
        return Ok(());
    }
    let at = there.iter().zip(expected).take_while(|(one, other)| one == other).count();
    let (found, wanted) = (there.get(at), expected.get(at));
    Err(Wrong::Broken(format!("segment {at} is {found:?}, and should be {wanted:?}")))
}

/// Whether an answer is the model's; what a PCB shows after a malformed SSA is left open.
fn agree(expected: &Feedback, found: &Feedback) -> Result<(), Wrong> {
    let mut expected = Expected::of(expected);
    if matches!(&expected.status, b"AC" | b"AJ" | b"AK" | b"GL") {
        (expected.segment, expected.key) = (None, None);
    }
    match expected.is_met_by(found) {
        true => Ok(()),
        false => {
            let found = Expected::of(found);
            Err(Wrong::Broken(format!("answers {found}, and the model {expected}")))
        }
    }
}
