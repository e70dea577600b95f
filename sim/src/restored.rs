//! A machine is lost, with all but its archives, its image copies and its keys. What is made of
//! them holds exactly what was committed before the archives end; it goes on, and can be recovered
//! to points of both lives, also if its data sets were recovered before. Crashes at every write of
//! the restore cost only the work done.

use std::path::Path;
use std::sync::Arc;

use base::Lsn;
use recon::Recovery;
use recovery::{LostSystem, Target};
use seam::Seam;
use seam::sim::{CrashStyle, Rng, SimDisk};
use store::{Store, Unit, UnitOptions};

use crate::points::matches;
use crate::recovery::{
    ARCHIVES, Ground, Model, NAMES, Site, Writer, coded, compare, keys_of, recon_of, run,
};

/// Steps of the first life.
const STEPS: u64 = 40;
const GROUND: Ground = Ground { archived: true };
/// Where copies go.
const COPIES: &str = "/copies";

/// What is left of a machine, and what it held after each commit.
struct Remains {
    disk: SimDisk,
    states: Vec<(Lsn, Model)>,
    /// Where the first copy ended.
    copied: Lsn,
}

/// A life that ends with the loss of everything but archives and copies. Its newest copy was
/// complete only behind the end of the archives.
fn remains(seed: u64) -> Result<Remains, String> {
    let disk = SimDisk::new();
    let lived = run(seed, &disk, |seam| {
        let site = Site::open(&seam, GROUND, true, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "restored"), Model::new());
        let mut copied = None;
        for step in 0..STEPS {
            writer.step()?;
            if step == STEPS / 3 {
                copied = Some(site.copy(&format!("{COPIES}/1.copy"), None)?);
            }
            if step == STEPS / 2 {
                site.copy(&format!("{COPIES}/2.copy"), copied.as_ref().map(|copy| copy.number))?;
            }
        }
        let archiver = site.archiver.as_ref().ok_or("there is no archiver")?;
        archiver.archive_now().map_err(coded)?;
        writer.small_step()?;
        site.copy(&format!("{COPIES}/3.copy"), None)?;
        let copied = copied.ok_or("no copy was made")?.end;
        let states = std::mem::take(&mut writer.states);
        writer.end()?;
        drop(writer);
        site.close()?;
        Ok((states, copied))
    })?;
    let (states, copied) = lived.ok_or("the machine crashed by itself")?;
    disk.settle();
    lose_all_but_copies(&disk);
    Ok(Remains { disk, states, copied })
}

/// Archives and copies are elsewhere.
fn lose_all_but_copies(disk: &SimDisk) {
    let kept = |path: &Path| path.starts_with(ARCHIVES) || path.starts_with(COPIES);
    disk.paths().into_iter().filter(|path| !kept(path)).for_each(|path| disk.lose(path));
}

/// Makes the system anew, without its data sets. Returns where the archives ended.
fn recreate(seam: &Seam) -> Result<Lsn, String> {
    let make = GROUND.make();
    let parts = make.parts(seam.clone());
    let catalog = GROUND.catalog(&parts)?.ok_or("there is no archive catalog")?;
    let copies = [COPIES.into()];
    let lost =
        LostSystem::look(seam, &catalog, &keys_of(&parts), &copies, &mut |_| ()).map_err(coded)?;
    seam::disk::make_dir(seam.disk.as_ref(), Path::new("/system")).map_err(|e| e.to_string())?;
    lost.make(&parts, &make.config(), &recon_of(&parts)).map_err(coded)?;
    Ok(lost.past().end)
}

/// Restores, compares, goes on, and recovers to points of both lives.
///
/// # Errors
/// The first broken promise.
pub fn a_bare_machine(seed: u64) -> Result<(), String> {
    let remains = remains(seed)?;
    let disk = remains.disk.snapshot();
    let done = run(seed, &disk, |seam| {
        let end = recreate(&seam)?;
        let mut site = Site::open(&seam, GROUND, false, &[])?;
        site.recover(&NAMES, Target::Now)?;
        site.find_sets()?;
        let found = site.contents()?;
        matches(&remains.states, end, &found).map_err(|why| format!("restored: {why}"))?;

        let mut writer = Writer::new(&site, Rng::stream(seed, "second life"), found);
        (0..25).try_for_each(|_| writer.step())?;
        let later = writer.states.clone();
        let model = writer.model.clone();
        writer.end()?;
        drop(writer);
        site.recover(&NAMES, Target::Now)?;
        compare(&site.contents()?, &model).map_err(|why| format!("the second life: {why}"))?;
        let (lsn, then) = &later[later.len() / 2];
        site.recover(&NAMES, Target::Lsn(*lsn))?;
        compare(&site.contents()?, then).map_err(|why| format!("back in it: {why}"))?;
        match site.recover(&NAMES, Target::Lsn(end.plus(1))) {
            Err(why) if why.contains("HFV003") => {}
            other => return Err(format!("a lost point was taken: {other:?}")),
        }
        let early = remains.states.iter().find(|(lsn, _)| *lsn >= remains.copied);
        let (lsn, then) = early.ok_or("no early point")?;
        site.recover(&NAMES, Target::Lsn(*lsn))?;
        compare(&site.contents()?, then).map_err(|why| format!("the first life: {why}"))?;
        site.close()
    })?;
    done.ok_or_else(|| "the machine crashed by itself".to_owned())
}

/// Crashes a restore at each of its writes. What was not made yet is begun again from what is left;
/// a system that was made goes on with its recovery.
///
/// # Errors
/// The first broken promise.
pub fn every_crash(seed: u64, stride: u64) -> Result<u64, String> {
    let remains = remains(seed)?;
    let mut n = 1 + seed % stride;
    let mut points = 0;
    loop {
        let disk = remains.disk.snapshot();
        disk.crash_after(n);
        let made = Arc::new(parking_lot::Mutex::new(None));
        let shared = Arc::clone(&made);
        let whole = run(n, &disk, move |seam| {
            *shared.lock() = Some(recreate(&seam)?);
            let site = Site::open(&seam, GROUND, false, &[])?;
            site.recover(&NAMES, Target::Now).map(drop)
        })?;
        let style = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random][n as usize % 3];
        let disk = disk.crash_image(&mut Rng::new(n), style);
        let made = *made.lock();
        if made.is_none() {
            lose_all_but_copies(&disk);
        }
        let found = run(n + 1, &disk, |seam| {
            let end = made.map_or_else(|| recreate(&seam), Ok)?;
            let mut site = Site::open(&seam, GROUND, false, &[])?;
            site.recover(&NAMES, Target::Now)?;
            site.find_sets()?;
            matches(&remains.states, end, &site.contents()?)?;
            site.close()
        });
        found.map_err(|why| format!("crash at write {n}: {why}"))?;
        points += 1;
        if whole.is_some() {
            return Ok(points);
        }
        n += stride;
    }
}

/// A life with two recoveries, and what RECON knew of them.
struct TwiceRecovered {
    remains: Remains,
    recoveries: Vec<Recovery>,
}

/// A life in which one data set is recovered to the end, while there is work on the other one, and
/// both then go back to just where that recovery was done. A copy is made before, and behind both
/// if that is asked for.
fn twice_recovered(seed: u64, late_copy: bool) -> Result<TwiceRecovered, String> {
    let disk = SimDisk::new();
    let lived = run(seed, &disk, |seam| {
        let site = Site::open(&seam, GROUND, true, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "twice"), Model::new());
        (0..10).try_for_each(|_| writer.step())?;
        let copied = site.copy(&format!("{COPIES}/1.copy"), None)?.end;
        (0..6).try_for_each(|_| writer.step())?;
        writer.end()?;
        // What is dirty then is logged between the end of the successor and its taking the place.
        let mut unit = site.store.begin(UnitOptions::default()).map_err(coded)?;
        for n in 0..30 {
            unit.put(site.sets[1], format!("x{n:03}").as_bytes(), &[1; 300]).map_err(coded)?;
        }
        site.recover(&NAMES[..1], Target::Now)?;
        let state = site.recon.state();
        let back = state.recoveries.values().next_back().ok_or("RECON lacks it")?.void_to;
        unit.backout().map_err(coded)?;
        let then = writer.model.clone();
        (0..6).try_for_each(|_| writer.step())?;
        writer.end()?;
        drop(writer);
        site.recover(&NAMES, Target::Lsn(back))?;
        compare(&site.contents()?, &then).map_err(|why| format!("back at {back}: {why}"))?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "behind"), then);
        writer.small_step()?;
        if late_copy {
            site.copy(&format!("{COPIES}/2.copy"), None)?;
        }
        (0..4).try_for_each(|_| writer.step())?;
        writer.end()?;
        let archiver = site.archiver.as_ref().ok_or("there is no archiver")?;
        archiver.archive_now().map_err(coded)?;
        let states = std::mem::take(&mut writer.states);
        drop(writer);
        let recoveries = site.recon.state().recoveries.values().cloned().collect();
        site.close()?;
        Ok((states, copied, recoveries))
    })?;
    let (states, copied, recoveries) = lived.ok_or("the machine crashed by itself")?;
    disk.settle();
    lose_all_but_copies(&disk);
    Ok(TwiceRecovered { remains: Remains { disk, states, copied }, recoveries })
}

/// A machine is lost whose data sets were recovered, the second time to just where the first one
/// was done: that point is none that the first one has made void, neither for the RECON that was
/// nor for the one that is made of the archives.
///
/// # Errors
/// The first broken promise.
pub fn a_machine_that_was_recovered(seed: u64) -> Result<(), String> {
    for late_copy in [false, true] {
        let before = twice_recovered(seed, late_copy)?;
        let states = before.remains.states;
        let done = run(seed, &before.remains.disk, |seam| {
            let end = recreate(&seam)?;
            let mut site = Site::open(&seam, GROUND, false, &[])?;
            let found: Vec<Recovery> = site.recon.state().recoveries.values().cloned().collect();
            are_the_same(&before.recoveries, &found)?;
            site.recover(&NAMES, Target::Now)?;
            site.find_sets()?;
            matches(&states, end, &site.contents()?)?;
            site.close()
        });
        let done = done.map_err(|why| format!("with a late copy: {late_copy}: {why}"))?;
        done.ok_or("the machine crashed by itself")?;
    }
    Ok(())
}

/// Recoveries are known as before. Where others logged something at the same moment, less may be
/// void; nothing more is.
fn are_the_same(before: &[Recovery], found: &[Recovery]) -> Result<(), String> {
    let same = |(one, other): (&Recovery, &Recovery)| {
        let void = one.to <= other.void_to && other.void_to <= one.void_to;
        void && (one.to, &one.sets, &one.became) == (other.to, &other.sets, &other.became)
    };
    match before.len() == found.len() && before.iter().zip(found).all(same) {
        true => Ok(()),
        false => Err(format!("RECON knew {before:?}, and now {found:?}")),
    }
}
