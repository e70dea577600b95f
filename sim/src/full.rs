//! Logs that are nearly full: whoever needs room gets it, also where nobody else asks for it, and
//! where the disk has no more.

use std::sync::Arc;
use std::time::Duration;

use base::{Coded, KeyGeneration};
use btree::TreeError;
use parking_lot::Mutex;
use seal::Form;
use seam::Seam;
use seam::sim::{CrashStyle, Fault, FaultKind, Rng, SimDisk};
use space::DataSet;
use uow::{Kernel, KernelConfig, UowError};

use crate::history::History;
use crate::machine::Make;
use crate::scenario::{filled, key, value};
use crate::verify::{self, Wrong};
use crate::world::{Work, World};

/// A machine on which nothing is written and no checkpoint is due until somebody asks for room.
fn lazy() -> Make {
    Make { frames: 512, redo_bytes_max: 1 << 30, checkpoint_bytes: 1 << 30, ..Make::small() }
}

/// A commit in a group of its own, of which a log has only so many.
fn step(world: &World, set: &Arc<DataSet>, by: u64) -> Result<(), TreeError> {
    world.commit(|work| work.put(set, &key(3), &value(3, by, 100)))
}

/// A conversion that lacks room asks for it itself: there may be nobody else to do so.
///
/// # Errors
/// If it waits for ever.
pub fn a_conversion_makes_itself_room(seed: u64) -> Result<(), Wrong> {
    verify::run(seed, &SimDisk::new(), |seam| {
        lazy().create(seam)?;
        let world = World::new(lazy().open(seam)?, History::default(), lazy());
        filled(&world, 40, 200)?;
        let (kernel, one) = (&world.kernel, world.set("one"));
        // So much is kept from whoever can wait.
        let kept = kernel.log().capacity_bytes() / 8;
        let mut by = 0;
        while kernel.log().room() > kept + (32 << 10) {
            by += 1;
            step(&world, &one, by)?;
        }
        // The kernel itself goes on without asking.
        while kernel.log().room() >= kept {
            let end = kernel.redefine_set(&one, |_| Ok(()))?;
            kernel.log().wait_durable(end).map_err(UowError::from)?;
        }
        kernel.convert(&one, Form::sealed(KeyGeneration(2)), 0)?;
        verify::wait_for_conversions(kernel)
    })
}

/// A log that may have 40 segments, on a disk that has room for its first four.
fn cramped() -> KernelConfig {
    let mut config = lazy().config();
    (config.log.segments_min, config.log.segments_max) = (4, 40);
    config
}

/// No more segments than the first four can be made.
fn forbid_more_segments(disk: &SimDisk) {
    for slot in 4..100 {
        let path = format!("/log1/segment-{slot:03}.stripe-0*");
        disk.inject(Fault::new(FaultKind::NoSpace, path));
    }
}

/// A new system with such a log.
fn open_cramped(seam: &Seam, disk: &SimDisk) -> Result<World, Wrong> {
    let parts = lazy().parts(seam.clone());
    Kernel::create(&parts, &cramped())?;
    forbid_more_segments(disk);
    let world = World::new(Kernel::open(parts, cramped())?, History::default(), lazy());
    filled(&world, 40, 200)?;
    Ok(world)
}

/// The disk has no room for more segments than the first ones: the log goes on in those.
///
/// # Errors
/// If somebody is told that the log is full.
pub fn a_log_lives_in_what_its_disk_has(seed: u64) -> Result<(), Wrong> {
    let disk = SimDisk::new();
    let medium = disk.clone();
    verify::run(seed, &disk, move |seam| {
        let world = open_cramped(seam, &medium)?;
        let one = world.set("one");
        // Several times what the log holds.
        (0..200).try_for_each(|by| step(&world, &one, by))?;
        Ok(world.kernel.close()?)
    })
}

/// Logs for a unit of work until others have only so many bytes left.
fn fill(work: &mut Work<'_>, world: &World, left: u64) -> Result<(), Wrong> {
    let (log, one) = (world.kernel.log(), world.set("one"));
    for by in 0.. {
        // An eighth is kept from whoever can wait.
        if log.room() <= log.capacity_bytes() / 8 + left {
            break;
        }
        match work.put(&one, &key(30 + by % 8), &value(30, by, 900)) {
            // That the log cannot grow was just found out.
            Err(error) if error.code().0 == "HFU001" => break,
            done => done?,
        }
    }
    Ok(())
}

/// The same by removals of runs of small records: their undo logs more than they do.
fn remove_runs(work: &mut Work<'_>, world: &World, left: u64) -> Result<(), Wrong> {
    let (log, small) = (world.kernel.log(), world.set("small"));
    for first in (0..SMALL_RECORDS).step_by(SMALL_RUN as usize) {
        if log.room() <= log.capacity_bytes() / 8 + left {
            return Ok(());
        }
        match work.remove_range(&small, &key(first), &key(first + SMALL_RUN)) {
            Err(error) if error.code().0 == "HFU001" => return Ok(()),
            done => drop(done?),
        }
    }
    Err(Wrong::Broken("there are too few small records".into()))
}

/// A data set of small records, on disk.
fn small_records(world: &World) -> Result<(), Wrong> {
    let small = world.make_set("small")?;
    let records = (0..SMALL_RECORDS).map(|number| (key(number), vec![7; 4])).collect();
    world.commit(|work| work.load(&small, &records))?;
    Ok(())
}

const SMALL_RECORDS: u64 = 6_000;
const SMALL_RUN: u64 = 40;

/// Others commit, each in a group of its own, until they are told that the log is full.
fn until_full(world: &World) -> Result<(), Wrong> {
    let one = world.set("one");
    for by in 0..1_000 {
        match step(world, &one, by) {
            Ok(()) => {}
            Err(error) if error.code().0 == "HFU002" => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Wrong::Broken("the log is never full".into()))
}

/// A unit of work has logged most of what the log holds, and others the rest; the disk has no room
/// for more. It can be backed out all the same: at once, or at the restart after a crash; and
/// whether that was known when it began, or is found while it goes on.
///
/// # Errors
/// If it cannot.
pub fn undo_has_its_room(seed: u64) -> Result<(), String> {
    let all = [(false, false), (false, true), (true, false), (true, true)];
    for (crashes, known) in all {
        for removes in [false, true] {
            let disk = SimDisk::new();
            let medium = disk.clone();
            verify::run_to_crash(seed, &disk, move |seam| {
                backed_out_when_full(seam, &medium, Full { crashes, known, removes })
                    .map_err(|why| why.to_string())
            })?;
            let styles = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random];
            let mut rng = Rng::stream(seed, "full");
            let style = styles[rng.index(3)];
            let disk = disk.crash_image(&mut rng, style);
            forbid_more_segments(&disk);
            let reopened = verify::run(seed + 1, &disk, move |seam| {
                let kernel = Kernel::open(lazy().parts(seam.clone()), cramped())?;
                verify::check_sets(&kernel)?;
                Ok(kernel.close()?)
            });
            reopened.map_err(|why| why.when("with a full disk").to_string())?;
        }
    }
    Ok(())
}

/// How a log is filled.
#[derive(Clone, Copy)]
struct Full {
    /// The machine crashes then.
    crashes: bool,
    /// That the log cannot grow is known from the beginning.
    known: bool,
    /// By removals of runs.
    removes: bool,
}

fn backed_out_when_full(
    seam: &Seam,
    disk: &SimDisk,
    Full { crashes, known, removes }: Full,
) -> Result<(), Wrong> {
    let world = open_cramped(seam, disk)?;
    small_records(&world)?;
    let one = world.set("one");
    for by in 0.. {
        if !known || world.kernel.log().statistics().cramped {
            break;
        }
        step(&world, &one, by)?;
    }
    world.kernel.write_out()?;
    world.kernel.checkpoint_now(false)?;
    let mut work = world.begin()?;
    match removes {
        true => remove_runs(&mut work, &world, 24 << 10)?,
        false => fill(&mut work, &world, 24 << 10)?,
    }
    until_full(&world)?;
    if crashes {
        seam::sim::crash();
    }
    work.back_out()?;
    step(&world, &one, 1)?;
    Ok(world.kernel.close()?)
}

/// A unit of work rests while others fill the log, each commit in a group of its own: not the bytes
/// that were logged since it began count, but those that cannot be used again.
///
/// # Errors
/// If it is not told that it is the one, or the others do not go on behind it.
pub fn who_keeps_the_log_full_is_told_so(seed: u64) -> Result<(), Wrong> {
    verify::run(seed, &SimDisk::new(), |seam| {
        lazy().create(seam)?;
        let world = World::new(lazy().open(seam)?, History::default(), lazy());
        filled(&world, 40, 200)?;
        let one = world.set("one");
        let mut work = world.begin()?;
        work.put(&one, &key(1), &value(1, 1, 100))?;
        until_full(&world)?;
        let told = (0..1_000).find_map(|by| work.put(&one, &key(2), &value(2, by, 100)).err());
        if told.as_ref().is_none_or(|error| error.code().0 != "HFU001") {
            return Err(Wrong::Broken(format!("it is not told so: {told:?}")));
        }
        work.back_out()?;
        step(&world, &one, 1)?;
        Ok(world.kernel.close()?)
    })
}

/// A restart would read nothing any more of what is logged.
fn forget_what_is_logged(world: &World) -> Result<(), Wrong> {
    let kernel = &world.kernel;
    kernel.write_out()?;
    kernel.log().land(kernel.log().next_lsn()).map_err(UowError::from)?;
    Ok(kernel.checkpoint_now(false)?)
}

/// A unit of work logs until it is told that it keeps a log full that has a write-ahead data set,
/// while so few segments are in use that nobody's end would free one: what it has reserved keeps
/// the log full.
///
/// # Errors
/// If it is not told so, others are not told who it is, or they do not go on behind it.
pub fn who_fills_few_segments_is_told_so(seed: u64) -> Result<(), Wrong> {
    verify::run(seed, &SimDisk::new(), |seam| {
        let make = Make { ahead: 1, segments_max: 4, ..lazy() };
        make.create(seam)?;
        let world = World::new(make.open(seam)?, History::default(), make);
        filled(&world, 40, 200)?;
        let (log, one) = (world.kernel.log(), world.set("one"));
        // The current segment is hardly begun, and only the one before it is in use besides.
        forget_what_is_logged(&world)?;
        for by in 0..100 {
            if log.first_relief().is_some() {
                break;
            }
            step(&world, &one, by)?;
        }
        forget_what_is_logged(&world)?;
        let mut work = world.begin()?;
        let put = |by| work.put(&one, &key(30 + by % 8), &value(30, by, 900)).err();
        let told = (0..1_000).find_map(put);
        if log.first_relief().is_some() {
            return Err(Wrong::Broken("more segments are in use than this is about".into()));
        }
        if told.as_ref().is_none_or(|error| error.code().0 != "HFU001") {
            return Err(Wrong::Broken(format!("it is not told so: {told:?}")));
        }
        match step(&world, &one, 1) {
            Err(TreeError::Uow(UowError::LogFull { uow, keeper: Some(keeper) }))
                if uow != keeper => {}
            other => return Err(Wrong::Broken(format!("others are not told who: {other:?}"))),
        }
        work.back_out()?;
        step(&world, &one, 1)?;
        Ok(world.kernel.close()?)
    })
}

/// A unit of work goes back to the same savepoint again and again, behind an earlier change.
///
/// # Errors
/// If what it reserves in the log for its undo adds up.
pub fn savepoints_give_back_what_they_reserved(seed: u64) -> Result<(), Wrong> {
    verify::run(seed, &SimDisk::new(), |seam| {
        let make = Make { segment_bytes: 512 << 10, ..lazy() };
        make.create(seam)?;
        let world = World::new(make.open(seam)?, History::default(), make);
        filled(&world, 40, 200)?;
        let one = world.set("one");
        let mut work = world.begin()?;
        work.put(&one, &key(1), &value(1, 1, 100))?;
        let moment = work.savepoint();
        let mut most = 0;
        for by in 0..600 {
            work.put(&one, &key(2), &value(2, by, 300))?;
            work.roll_back(moment)?;
            most = most.max(world.kernel.log().space().reserved_bytes);
        }
        if most > 64 << 10 {
            return Err(Wrong::Broken(format!("{most} bytes are reserved for one change")));
        }
        work.back_out()?;
        match world.kernel.log().space().reserved_bytes {
            0 => Ok(world.kernel.close()?),
            left => Err(Wrong::Broken(format!("{left} bytes stay reserved"))),
        }
    })
}

/// Several programs need room at once, the disk takes its time, and nobody keeps anything.
///
/// # Errors
/// If one of them is told that the log is full.
pub fn nobody_is_refused_while_room_is_made(seed: u64) -> Result<(), Wrong> {
    let disk = SimDisk::new();
    let medium = disk.clone();
    verify::run(seed, &disk, move |seam| {
        lazy().create(seam)?;
        let world = World::new(lazy().open(seam)?, History::default(), lazy());
        filled(&world, 40, 200)?;
        let slow = FaultKind::SlowSync(Duration::from_millis(700));
        medium.inject(Fault::new(slow, "/system/data"));
        let refused = Arc::new(Mutex::new(None));
        let programs = (0..3_u64).map(|number| {
            let (world, refused) = (world.clone(), Arc::clone(&refused));
            let program = move || {
                let one = world.set("one");
                let done = (0..120).try_for_each(|by| {
                    world.commit(|work| work.put(&one, &key(number), &value(number, by, 100)))
                });
                if let Err(error) = done {
                    *refused.lock() = Some(error);
                }
            };
            seam::thread::spawn(&format!("program {number}"), program)
        });
        let programs: Vec<_> = programs.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        programs.into_iter().for_each(seam::thread::JoinHandle::join);
        match refused.lock().take() {
            Some(error) => Err(error.into()),
            None => Ok(world.kernel.close()?),
        }
    })
}
