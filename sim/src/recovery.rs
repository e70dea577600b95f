//! Image copies and recoveries: what comes back is what was there at the point, in both of two
//! related data sets, whatever crashes meanwhile.
//!
//! A script changes two sets in common units of work, some long, some backed out, and notes what
//! they held at each of many log positions. Copies, a full one and one that goes on from it, are
//! made while it runs. Then, on snapshots of its disk, the sets are recovered to noted positions.
//!
//! On every other machine the log is archived and so small that it is used again many times, and
//! what concerns the sets is accumulated: recoveries then read accumulations, archives and log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use archive::{ArchiveCatalog, ArchiveConfig, ArchiveEnv, Archiver, LogSource, ReconRegistry};
use base::{Coded, KeyGeneration, Lsn};
use parking_lot::Mutex;
use recon::{Recon, Setup};
use recovery::{
    CopyFiles, CopyKeys, CopyOptions, Progress, RecoverOptions, Recovery, RecoveryError, Target,
    copy_sets,
};
use seal::{Form, Format};
use seam::Seam;
use seam::disk::{Create, Disk, Open};
use seam::sim::{self, CrashStyle, End, Rng, SimConfig, SimDisk};
use store::{
    Cursor as _, KeyRange, Position, Read, SetAttributes, SetId, Store, Unit, UnitOptions,
};
use store_kernel::{KernelStore, StoreDefaults};

mod writer;

use crate::machine::Make;
use crate::verify::nothing_is_lost;
pub(crate) use writer::Writer;

/// What both sets hold: set, key, value.
pub type Model = BTreeMap<(usize, Vec<u8>), Vec<u8>>;

pub(crate) const NAMES: [&str; 2] = ["ONE", "TWO"];
const STEPS: u64 = 60;

/// A disk with a system that was changed and copied, and what it held when.
pub struct Chronicle {
    /// What machine it was.
    pub(crate) ground: Ground,
    /// The disk, at rest.
    pub disk: SimDisk,
    /// After each commit, and where the log ended then, ascending.
    pub states: Vec<(Lsn, Model)>,
    /// Where the first copy ended, and so the earliest point.
    pub copied: Lsn,
}

/// What machine it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground {
    /// Whether its log is archived, and so small that it is used again.
    pub(crate) archived: bool,
}

/// Where archives go.
pub(crate) const ARCHIVES: &str = "/archive";

impl Ground {
    pub(crate) fn of(seed: u64) -> Ground {
        Ground { archived: seed.is_multiple_of(2) }
    }

    pub(crate) fn make(self) -> Make {
        if !self.archived {
            return Make { segment_bytes: 2 << 20, frames: 48, ..Make::small() };
        }
        Make {
            segment_bytes: 24 << 10,
            segments_max: 20,
            group_bytes_max: 8 << 10,
            ring_bytes: 32 << 10,
            redo_bytes_max: 16 << 10,
            checkpoint_bytes: 16 << 10,
            frames: 48,
            ..Make::small()
        }
    }

    pub(crate) fn catalog(self, parts: &uow::Parts) -> Result<Option<Arc<ArchiveCatalog>>, String> {
        if !self.archived {
            return Ok(None);
        }
        let env = ArchiveEnv {
            seam: parts.seam.clone(),
            keys: Arc::clone(&parts.keys),
            system: parts.system,
            key_label: "log".into(),
            format: Format::Sealed,
            plain: wal::PlainSpan::NONE,
            dated: |_| None,
        };
        let config =
            ArchiveConfig { compress: Some(1), ..ArchiveConfig::new(vec![ARCHIVES.into()]) };
        ArchiveCatalog::open(env, config).map(|catalog| Some(Arc::new(catalog))).map_err(coded)
    }
}

/// Where RECON is.
pub(crate) fn recon_of(parts: &uow::Parts) -> Setup {
    Setup {
        seam: parts.seam.clone(),
        keys: Arc::clone(&parts.keys),
        label: "system".into(),
        system: parts.system,
        folders: [PathBuf::from("/system"), PathBuf::from("/second")],
        compact_bytes: 1 << 20,
    }
}

/// What copies are sealed with.
pub(crate) fn keys_of(parts: &uow::Parts) -> CopyKeys {
    CopyKeys { keys: Arc::clone(&parts.keys), label: "system".into(), system: parts.system }
}

/// An open system with its RECON.
pub(crate) struct Site {
    pub(crate) store: KernelStore,
    pub(crate) recon: Arc<Recon>,
    pub(crate) keys: CopyKeys,
    pub(crate) sets: Vec<SetId>,
    pub(crate) archiver: Option<Archiver>,
}

#[allow(clippy::needless_pass_by_value)] // so that `map_err` takes it by its name
pub(crate) fn coded<E: Coded>(error: E) -> String {
    format!("{} {error}", error.code())
}

impl Site {
    pub(crate) fn open(
        seam: &Seam,
        ground: Ground,
        fresh: bool,
        offline: &[&str],
    ) -> Result<Site, String> {
        let make = ground.make();
        let mut parts = make.parts(seam.clone());
        parts.offline = offline.iter().map(|name| (*name).to_owned()).collect();
        let (keys, setup) = (keys_of(&parts), recon_of(&parts));
        if fresh {
            make.create(seam).map_err(coded)?;
            Recon::create(&setup, &[]).map_err(coded)?;
        }
        let recon = Arc::new(Recon::open(setup).map_err(coded)?.0);
        let catalog = ground.catalog(&parts)?;
        let mut config = make.config();
        if let Some(catalog) = &catalog {
            catalog.prepare().map_err(coded)?;
            config.archived = catalog.archived_to().unwrap_or_default();
            config.proven = catalog.proven();
        }
        let kernel = uow::Kernel::open(parts, config).map_err(coded)?;
        let registry = Arc::new(ReconRegistry::new(Arc::clone(&recon), "log"));
        let started =
            catalog.map(|catalog| Archiver::start(catalog, Arc::clone(kernel.log()), registry));
        let archiver = started.transpose().map_err(coded)?;
        let defaults = StoreDefaults { interval_bytes: make.ci_bytes, ..StoreDefaults::default() };
        let store = KernelStore::new(&kernel, defaults).map_err(coded)?;
        let mut site = Site { store, recon, keys, sets: Vec::new(), archiver };
        for name in NAMES.iter().filter(|_| fresh) {
            site.store.create_set(name, &SetAttributes::default()).map_err(coded)?;
        }
        site.find_sets()?;
        Ok(site)
    }

    pub(crate) fn find_sets(&mut self) -> Result<(), String> {
        self.sets.clear();
        for name in NAMES {
            self.sets.extend(self.store.set(name).map_err(coded)?);
        }
        Ok(())
    }

    pub(crate) fn close(self) -> Result<(), String> {
        self.archiver.iter().for_each(Archiver::end);
        self.store.kernel().close().map_err(coded)
    }

    pub(crate) fn history(&self) -> LogSource {
        let catalog = self.archiver.as_ref().map(|archiver| Arc::clone(archiver.catalog()));
        LogSource::new(catalog, Some(Arc::clone(self.store.kernel().log())))
    }

    /// One set goes over to a new key, the other one is plain for a while, with copies made
    /// before, while and after.
    fn change_form(&self, step: u64) -> Result<(), String> {
        let kernel = self.store.kernel();
        let sealed = |generation| Form::sealed(KeyGeneration(generation));
        let (name, form) = match step {
            10 => (NAMES[0], sealed(1)),
            13 => (NAMES[1], Form::PLAIN),
            40 => (NAMES[1], sealed(1)),
            45 => return kernel.log().renew_key().map(drop).map_err(coded),
            _ => return Ok(()),
        };
        let set = kernel.set_named(name).ok_or("a set is gone")?;
        // The one before comes to its end.
        for _ in 0..1_000 {
            if set.definition().conversion.is_none() {
                break;
            }
            kernel.seam().clock.sleep(Duration::from_millis(10));
        }
        kernel.convert(&set, form, 0).map_err(coded)
    }

    /// Archives what was logged so far, and accumulates what concerns the sets of it; what was
    /// archived in between stands in archives alone.
    fn accumulate(&self) -> Result<(), String> {
        let Some(archiver) = &self.archiver else { return Ok(()) };
        let catalog = archiver.catalog();
        let from = catalog.newest().map_or(Lsn::FIRST, |newest| newest.info.whole);
        archiver.archive_now().map_err(coded)?;
        let to = catalog.newest().map_or(from, |newest| newest.info.whole);
        if to <= from || from == Lsn::NONE {
            return Ok(());
        }
        let ids = NAMES.iter().filter_map(|name| self.store.kernel().set_named(name));
        let ids: Vec<base::DataSetId> = ids.map(|set| set.id()).collect();
        let registry = &**archiver.registry();
        let filter = recovery::log_filter;
        catalog.accumulate(&ids, from..to, filter, registry, &mut |_| Ok(())).map_err(coded)?;
        Ok(())
    }

    pub(crate) fn copy(&self, path: &str, since: Option<u32>) -> Result<recon::ImageCopy, String> {
        self.copy_while(path, since, &mut |_| ()).map_err(coded)
    }

    /// Makes a copy, and does something meanwhile.
    pub(crate) fn copy_while(
        &self,
        path: &str,
        since: Option<u32>,
        meanwhile: &mut dyn FnMut(Progress<'_>),
    ) -> Result<recon::ImageCopy, RecoveryError> {
        let kernel = self.store.kernel();
        let paths = [PathBuf::from(path), PathBuf::from(format!("/second{path}"))];
        let mut files = CopyFiles::begin(kernel.seam(), &paths)?;
        let options = CopyOptions { since, bytes_per_second: 0 };
        let (keys, recon, names) = (&self.keys, &self.recon, NAMES.map(str::to_owned));
        let watch = &mut |at: Progress<'_>| (meanwhile(at), true).1;
        let done = copy_sets(kernel, keys, recon, &names, &mut files, &options, watch);
        done.map(|report| report.copy)
    }

    pub(crate) fn recover(&self, names: &[&str], to: Target) -> Result<Recovery, String> {
        self.recover_while(names, to, &mut |_| ()).map_err(coded)
    }

    /// Recovers data sets, and does something meanwhile.
    pub(crate) fn recover_while(
        &self,
        names: &[&str],
        to: Target,
        meanwhile: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Recovery, RecoveryError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let (store, keys, recon) = (&self.store, &self.keys, &self.recon);
        let births = recovery::Births::new();
        let plan = recovery::plan(store.kernel(), &recon.state(), &names, to, &births)?;
        let (history, options) = (self.history(), RecoverOptions::default());
        recovery::recover(store, keys, recon, &history, &plan, options, meanwhile)
    }

    /// What both sets hold; their trees are sound and nothing is lost or left.
    pub(crate) fn contents(&self) -> Result<Model, String> {
        let mut model = Model::new();
        let mut unit = self.store.begin(UnitOptions::default()).map_err(coded)?;
        for (number, set) in self.sets.iter().enumerate() {
            let mut cursor = self.store.cursor(*set).map_err(coded)?;
            cursor.limit(KeyRange::ALL);
            cursor.seek(Position::Front);
            while let Some(entry) = unit.next(&mut cursor, Read::Unlocked).map_err(coded)? {
                model.insert((number, entry.key.to_vec()), entry.value.to_vec());
            }
        }
        unit.backout().map_err(coded)?;
        let kernel = self.store.kernel();
        for name in NAMES {
            nothing_is_lost(kernel, name)?;
        }
        // The page writer pins what it writes: let it come to an end.
        let clock = &kernel.seam().clock;
        let quiet = (0..1_000).any(|_| {
            clock.sleep(Duration::from_millis(10));
            kernel.check_quiet().is_ok()
        });
        if quiet { Ok(model) } else { kernel.check_quiet().map(|()| model) }
    }
}

/// Runs on a simulated machine; what it returns, or how the machine ended.
pub(crate) fn run<R>(
    seed: u64,
    disk: &SimDisk,
    body: impl FnOnce(Seam) -> Result<R, String>,
) -> Result<Option<R>, String> {
    let mut result = None;
    let outcome = sim::run(SimConfig::new(seed), disk.clone(), |seam| result = Some(body(seam)));
    match (&outcome.end, result) {
        (End::Completed, Some(result)) => result.map(Some),
        (End::Crashed, _) => Ok(None),
        _ => Err(outcome.to_string()),
    }
}

/// A life of the script, stopped in order.
///
/// # Errors
/// Whatever broke.
pub fn chronicle(seed: u64) -> Result<Chronicle, String> {
    let disk = SimDisk::new();
    let ground = Ground::of(seed);
    let lived = run(seed, &disk, |seam| {
        let site = Arc::new(Site::open(&seam, ground, true, &[])?);
        let mut writer = Writer::new(&site, Rng::stream(seed, "recovery"), Model::new());
        let full = Arc::new(Mutex::new(None));
        let mut copied = Lsn(u64::MAX);
        let mut copier = None;
        for step in 0..STEPS {
            writer.step()?;
            site.change_form(step)?;
            if step % (STEPS / 4) == 7 {
                site.accumulate()?;
            }
            if step == STEPS / 4 {
                let (site, full) = (Arc::clone(&site), Arc::clone(&full));
                let copy = move || *full.lock() = Some(site.copy("/copy-1", None));
                copier = Some(seam::thread::spawn("copier", copy).map_err(|e| e.to_string())?);
            }
            if step == STEPS / 2 {
                if let Some(thread) = copier.take() {
                    thread.join();
                }
                let base = full.lock().take().ok_or("no copy was made")??;
                copied = base.end;
                site.copy("/copy-2", Some(base.number))?;
            }
        }
        writer.end()?;
        let states = std::mem::take(&mut writer.states);
        drop(writer);
        if let Some(first) = site.store.kernel().log().segments().first()
            && ground.archived
            && first.first_group.0 == 1
        {
            return Err("the log was not used again".into());
        }
        let site = Arc::into_inner(site).ok_or("somebody has the site yet")?;
        site.close()?;
        Ok((states, copied))
    })?;
    let (states, copied) = lived.ok_or("the machine crashed by itself")?;
    disk.settle();
    Ok(Chronicle { ground, disk, states, copied })
}

/// How thorough a search over points was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// Points that were recovered to.
    pub points: usize,
    /// Units of work that were in flight at them.
    pub backed_out: usize,
}

/// Recovers both sets to each noted point, and compares.
///
/// # Errors
/// The first point at which something else came back.
pub fn every_point(seed: u64, stride: usize) -> Result<Points, String> {
    let chronicle = chronicle(seed)?;
    let reachable: Vec<&(Lsn, Model)> =
        chronicle.states.iter().filter(|(lsn, _)| *lsn >= chronicle.copied).collect();
    let chosen = reachable.iter().skip(seed as usize % stride).step_by(stride);
    let mut points = Points::default();
    for (lsn, model) in chosen {
        let disk = chronicle.disk.snapshot();
        let backed_out = recovered_equals(&disk, chronicle.ground, seed, Target::Lsn(*lsn), model)
            .map_err(|why| format!("to {lsn}: {why}"))?;
        points.points += 1;
        points.backed_out += backed_out;
    }
    Ok(points)
}

fn recovered_equals(
    disk: &SimDisk,
    ground: Ground,
    seed: u64,
    to: Target,
    expected: &Model,
) -> Result<usize, String> {
    let done = run(seed, disk, |seam| {
        let site = Site::open(&seam, ground, false, &[])?;
        let done = site.recover(&NAMES, to)?;
        compare(&site.contents()?, expected)?;
        site.close()?;
        Ok(done.sets.iter().map(|set| set.counts.backed_out.len()).sum())
    })?;
    let backed_out = done.ok_or("the machine crashed by itself")?;
    run(seed + 1, disk, |seam| {
        let site = Site::open(&seam, ground, false, &[])?;
        compare(&site.contents()?, expected).map_err(|why| format!("after a restart: {why}"))
    })
    .map(|_| backed_out)
}

pub(crate) fn compare(found: &Model, expected: &Model) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let text = |place: &(usize, Vec<u8>)| {
        format!("{} {}", NAMES[place.0], String::from_utf8_lossy(&place.1))
    };
    let wrong = expected.iter().find(|(place, value)| found.get(*place) != Some(*value));
    let extra = found.keys().find(|place| !expected.contains_key(*place));
    let wrong = wrong.map(|(place, _)| text(place));
    Err(format!("{wrong:?} is not as it was; {:?} was not there", extra.map(text)))
}

/// Crashes a recovery at each of its writes: the sets are as they were, or recovered, both of them;
/// and the recovery can be run again.
///
/// # Errors
/// The first broken promise.
pub fn every_crash(seed: u64, stride: u64) -> Result<u64, String> {
    let chronicle = chronicle(seed)?;
    let ground = chronicle.ground;
    let now = &chronicle.states.last().ok_or("nothing was done")?.1;
    let place = chronicle.states.iter().position(|(lsn, _)| *lsn >= chronicle.copied);
    let (lsn, then) = &chronicle.states[place.ok_or("no point")?];
    let mut n = 1 + seed % stride;
    let mut points = 0;
    loop {
        let disk = chronicle.disk.snapshot();
        disk.crash_after(n);
        let whole = run(n, &disk, |seam| {
            let site = Site::open(&seam, ground, false, &[])?;
            site.recover(&NAMES, Target::Lsn(*lsn)).map(|_| ())
        })?;
        let style = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random][n as usize % 3];
        let disk = disk.crash_image(&mut Rng::new(n), style);
        let found = run(n + 1, &disk, |seam| {
            let site = Site::open(&seam, ground, false, &[])?;
            let found = site.contents()?;
            if found != *then {
                compare(&found, now)?;
            }
            site.recover(&NAMES, Target::Lsn(*lsn))?;
            compare(&site.contents()?, then)?;
            site.recover(&NAMES, Target::Now)?;
            compare(&site.contents()?, then)?;
            site.close()?;
            Ok(found == *then)
        });
        found.map_err(|why| format!("crash at write {n}: {why}"))?;
        points += 1;
        if whole.is_some() {
            return Ok(points);
        }
        n += stride;
    }
}

/// A recovery to a point, changes, a second recovery to the end, and points before, in and behind
/// what the first one has made void.
///
/// # Errors
/// The first broken promise.
pub fn one_after_another(seed: u64) -> Result<(), String> {
    let chronicle = chronicle(seed)?;
    let reachable: Vec<&(Lsn, Model)> =
        chronicle.states.iter().filter(|(lsn, _)| *lsn >= chronicle.copied).collect();
    let ground = chronicle.ground;
    let (first, early) = (&reachable[reachable.len() / 2], &reachable[reachable.len() / 4]);
    let disk = chronicle.disk.snapshot();
    let done = run(seed, &disk, |seam| {
        let site = Site::open(&seam, ground, false, &[])?;
        let end = site.store.kernel().log().next_lsn();
        site.recover(&NAMES, Target::Lsn(first.0))?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "after"), first.1.clone());
        let mut later = Vec::new();
        for _ in 0..12 {
            writer.step()?;
            later.push((site.store.kernel().log().next_lsn(), writer.model.clone()));
        }
        writer.end()?;
        let model = writer.model.clone();
        site.recover(&NAMES, Target::Now)?;
        compare(&site.contents()?, &model).map_err(|why| format!("to the end: {why}"))?;
        match site.recover(&NAMES, Target::Lsn(Lsn(end.0 - 1))) {
            Err(why) if why.contains("HFV003") => {}
            other => return Err(format!("a void point was taken: {other:?}")),
        }
        site.recover(&NAMES, Target::Lsn(later[6].0))?;
        compare(&site.contents()?, &later[6].1).map_err(|why| format!("behind: {why}"))?;
        site.recover(&NAMES, Target::Lsn(early.0))?;
        compare(&site.contents()?, &early.1).map_err(|why| format!("before: {why}"))?;
        // What the recoveries in front of the last one had left does not come back by another one.
        site.recover(&NAMES, Target::Now)?;
        compare(&site.contents()?, &early.1).map_err(|why| format!("and to the end: {why}"))?;
        site.close()
    })?;
    done.ok_or("the machine crashed by itself")?;
    let expected = early.1.clone();
    run(seed + 1, &disk, |seam| {
        compare(&Site::open(&seam, ground, false, &[])?.contents()?, &expected)
    })
    .map(|_| ())
}

/// Makes an empty file of that name.
fn empty_file(disk: &SimDisk, path: &Path) -> Result<(), String> {
    let how = Open::DATA.create(Create::New);
    let failed = |error: std::io::Error| format!("an empty file: {error}");
    disk.create_dir(path.parent().ok_or("it lies nowhere")?).map_err(failed)?;
    disk.open(path, how).map(drop).map_err(failed)
}

/// A system whose data set ONE loses its file, or what stands in it, while units of work are in
/// flight: its disk, and what was committed.
pub(crate) fn one_is_lost(seed: u64) -> Result<(SimDisk, Ground, Model), String> {
    let chronicle = chronicle(seed)?;
    let (disk, ground) = (chronicle.disk.snapshot(), chronicle.ground);
    let expected = Arc::new(Mutex::new(Model::new()));
    let shared = Arc::clone(&expected);
    let before = chronicle.states.last().ok_or("nothing was done")?.1.clone();
    run(seed, &disk, move |seam| {
        let site = Site::open(&seam, ground, false, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "lost"), before);
        (0..10).try_for_each(|_| writer.step())?;
        *shared.lock() = writer.model.clone();
        // In flight when the machine crashes.
        let mut unit = site.store.begin(UnitOptions::default()).map_err(coded)?;
        for (number, set) in site.sets.iter().enumerate() {
            unit.put(*set, format!("s{number:03}").as_bytes(), b"in flight").map_err(coded)?;
        }
        site.store.kernel().write_out().map_err(coded)?;
        sim::crash();
        Ok(())
    })?;
    let disk = disk.crash_image(&mut Rng::new(seed), CrashStyle::KeepAll);
    let lost = disk.paths().into_iter().find(|path| path.to_string_lossy().contains("ONE"));
    let lost = lost.ok_or("there is no such file")?;
    if seed.is_multiple_of(2) {
        disk.lose(&lost);
    } else {
        // It is there, and of no use.
        let empty = SimDisk::new();
        empty_file(&empty, &lost)?;
        disk.take_from(&empty, &lost);
    }
    let expected = expected.lock().clone();
    Ok((disk, ground, expected))
}

/// The system starts without a data set whose file is lost, and the recovery brings back exactly
/// what was committed.
///
/// # Errors
/// The first broken promise.
pub fn a_lost_data_set_comes_back(seed: u64) -> Result<(), String> {
    let (disk, ground, expected) = one_is_lost(seed)?;
    let refused =
        run(seed + 1, &disk.snapshot(), |seam| Site::open(&seam, ground, false, &[]).map(drop));
    if refused.is_ok() {
        return Err("it starts without a file".into());
    }
    let done = run(seed + 2, &disk, |seam| {
        let mut site = Site::open(&seam, ground, false, &["ONE"])?;
        site.recover(&["ONE"], Target::Now)?;
        site.find_sets()?;
        compare(&site.contents()?, &expected)?;
        site.close()
    })?;
    done.ok_or_else(|| "the machine crashed by itself".to_owned())?;
    let files = disk.paths().into_iter().filter(|path| path.to_string_lossy().contains("ONE"));
    if files.count() != 1 {
        return Err("a file of the data set from before is left".into());
    }
    run(seed + 3, &disk, |seam| {
        compare(&Site::open(&seam, ground, false, &[])?.contents()?, &expected)
    })
    .map(|_| ())
}
