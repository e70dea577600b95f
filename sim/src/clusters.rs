//! Clusters with alternate indexes, on a machine that is crashed at every write.
//!
//! Checked after every crash:
//! 1. the records are those of one commit: none that was answered is missing, none that was never
//!    asked for is there, and each is whole;
//! 2. every path gives the same records as the base, no more and no fewer;
//! 3. of a bulk load all records are there or none, and of a cluster that is emptied; an index that
//!    a load left unbuilt is refused, not wrong: built, it has them all;
//! 4. the catalog has no half of anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::Coded;
use parking_lot::Mutex;
use seam::Seam;
use seam::sim::{CrashStyle, EventKind, Rng};
use store::{Store as _, Unit as _};
use store_kernel::{KernelStore, StoreDefaults};
use vsam::{
    AlternateIndexAttributes, Catalog, CatalogError, ClusterAttributes, DataSetName, Definition,
    DeleteOptions, Failure, File, Filter, Intent, KeyField, LogicalReason, OpenError, OpenMode,
    OpenOptions, PathAttributes, State,
};

use crate::dli::life::created;
use crate::machine::Make;
use crate::verify::{self, Wrong};

pub(crate) type Clusters = Catalog<KernelStore>;
/// Records by key.
type Records = BTreeMap<Vec<u8>, Vec<u8>>;

const KEY: KeyField = KeyField { offset: 0, bytes: 4 };
/// Records at first, and those of a load.
const RECORDS: u32 = 24;
const LOADED: u32 = 120;
/// Units of work, and changes in each.
const UNITS: u32 = 10;
const CHANGES: u32 = 3;

/// What is swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Records come, change and go, with their index entries.
    Upkeep,
    /// A bulk load, and the indexes that are built after it.
    Load,
    /// A cluster with records is emptied, as OPEN OUTPUT does it, and loaded.
    Reload,
    /// A cluster with records is emptied, as DELETE FILE does it.
    Empty,
    /// A cluster is to be deleted that a unit of work has changed which has not ended.
    Refuse,
}

impl Script {
    /// Whether there are records before it begins.
    fn has_records(self) -> bool {
        self != Script::Load
    }

    /// Whether it leaves indexes to be built.
    fn loads(self) -> bool {
        matches!(self, Script::Load | Script::Reload)
    }
}

/// How far a script is: commits that were answered, and those that were asked for.
#[derive(Clone, Copy, Default)]
struct Progress {
    answered: usize,
    asked: usize,
}

pub(crate) fn wrong<E: Coded + std::fmt::Display>(error: &E) -> Wrong {
    Wrong::refused(error)
}

pub(crate) fn failed(failure: &Failure) -> Wrong {
    Wrong::Broken(failure.to_string())
}

pub(crate) fn named(name: &str) -> Result<DataSetName, Wrong> {
    DataSetName::parse(name).map_err(|error| Wrong::Broken(error.to_string()))
}

/// A record: its key, a number that no other has, and one that many have.
fn record(number: u32, by: u32) -> Vec<u8> {
    format!("{number:04}{:04}{:04}{by:08}", number * 7 + by * 1000 % 9973, (number + by) % 5)
        .into_bytes()
}

/// What each commit leaves, from the first on.
fn history(script: Script) -> Vec<Records> {
    let of = |records: Vec<Vec<u8>>| -> Records {
        records.into_iter().map(|record| (record[..4].to_vec(), record)).collect()
    };
    let loaded = || of((0..LOADED).map(|number| record(number, 0)).collect());
    let mut all = vec![of((0..RECORDS).map(|number| record(number * 2, 0)).collect())];
    match script {
        Script::Load => return vec![Records::new(), loaded()],
        Script::Reload => return [all, vec![Records::new(), loaded()]].concat(),
        Script::Empty => return [all, vec![Records::new()]].concat(),
        Script::Refuse => return all,
        Script::Upkeep => {}
    }
    for unit in 1..=UNITS {
        let mut next = all[all.len() - 1].clone();
        for change in changes(unit) {
            match change {
                Change::Put(record) => next.insert(record[..4].to_vec(), record),
                Change::Erase(key) => next.remove(&key),
            };
        }
        all.push(next);
    }
    all
}

enum Change {
    Put(Vec<u8>),
    Erase(Vec<u8>),
}

/// The changes of a unit of work: an insert, one of a record's alternate keys, and one that goes.
fn changes(unit: u32) -> Vec<Change> {
    (0..CHANGES)
        .map(|at| match at {
            0 => Change::Put(record(unit * 2 - 1, unit)),
            1 => Change::Put(record(RECORDS * 2 - unit * 2, unit)),
            _ => Change::Erase(record(unit * 2, 0)[..4].to_vec()),
        })
        .collect()
}

/// Runs a script and crashes the machine at every write; every image is judged, and brought to the
/// script's end. Answers how many images there were.
///
/// # Errors
/// The first image that does not prove itself.
pub fn every_crash(script: Script, seed: u64) -> Result<usize, String> {
    sweep(script, seed).map_err(|why| why.to_string())
}

fn sweep(script: Script, seed: u64) -> Result<usize, Wrong> {
    let make = Make { frames: 64, segments_max: 16, redo_bytes_max: 6 << 10, ..Make::dual() };
    let disk = created(&make, seed)?;
    {
        let make = make.clone();
        verify::run(seed, &disk, move |seam| set_up(&make, script, seam))?;
    }
    disk.settle();
    let progress = Arc::new(Mutex::new(Progress::default()));
    let points = Arc::new(Mutex::new(Vec::new()));
    let (into, seen) = (Arc::clone(&points), Arc::clone(&progress));
    disk.observe(move |disk, event| {
        if matches!(event.kind, EventKind::Write | EventKind::Sync | EventKind::SyncDir) {
            let what = format!("{:?} of {}", event.kind, event.path.display());
            into.lock().push((what, *seen.lock(), disk.snapshot()));
        }
    });
    {
        let (make, progress) = (make.clone(), Arc::clone(&progress));
        verify::run(seed, &disk, move |seam| play(&make, script, &progress, seam))?;
    }
    disk.stop_observing();
    let mut rng = Rng::stream(seed, "clusters");
    let points = std::mem::take(&mut *points.lock());
    let images = points.len();
    for (number, (what, progress, disk)) in points.into_iter().enumerate() {
        let style = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random][rng.index(3)];
        let image = disk.crash_image(&mut rng, style);
        let make = make.clone();
        let judged =
            verify::run(rng.word() >> 1, &image, move |seam| judge(&make, script, progress, seam));
        judged.map_err(|why| {
            why.when(&format!("seed {seed}, crashed at event {number}, {what} ({style:?})"))
        })?;
    }
    Ok(images)
}

/// Opens the system's catalog, has work done, and closes the system.
pub(crate) fn within<T>(
    make: &Make,
    seam: &Seam,
    work: impl FnOnce(&Clusters) -> Result<T, Wrong>,
) -> Result<T, Wrong> {
    let kernel = make.open(seam).map_err(|error| wrong(&error).when("it does not start"))?;
    let defaults = StoreDefaults { interval_bytes: 4096, ..StoreDefaults::default() };
    let store = KernelStore::new(&kernel, defaults).map_err(|error| wrong(&error))?;
    let catalog = Catalog::open(store, Arc::clone(&seam.clock)).map_err(|error| wrong(&error))?;
    let done = work(&catalog)?;
    drop(catalog);
    verify::check_sets(&kernel)?;
    verify::wait_for_quiet(&kernel)?;
    kernel.close().map_err(|error| wrong(&error).when("it does not stop"))?;
    Ok(done)
}

fn set_up(make: &Make, script: Script, seam: &Seam) -> Result<(), Wrong> {
    within(make, seam, |catalog| {
        let define = |name: &str, definition| {
            let defined = catalog.define(&named(name)?, definition, None);
            defined.map(drop).map_err(|error| wrong(&error))
        };
        let cluster = ClusterAttributes { reuse: true, ..ClusterAttributes::keyed(KEY, 40) };
        define("K", Definition::Cluster(cluster))?;
        for (name, offset, unique) in [("N", 4, true), ("T", 8, false)] {
            let key = KeyField { offset, bytes: 4 };
            let index = AlternateIndexAttributes::new(named("K")?, key);
            let index = AlternateIndexAttributes { unique, upgrade: true, ..index };
            define(name, Definition::AlternateIndex(index))?;
            catalog.build_index(&named(name)?).map_err(|error| wrong(&error))?;
            let path = PathAttributes { entry: named(name)?, update: true };
            define(&format!("{name}.PATH"), Definition::Path(path))?;
        }
        if script.has_records() {
            let file = open(catalog, "K", OpenMode::InputOutput, false)?;
            let mut position = file.position().map_err(|failure| failed(&failure))?;
            let mut unit = begin(catalog)?;
            for record in history(script)[0].values() {
                let put = file.put(&mut unit, &mut position, record);
                put.map_err(|failure| failed(&failure))?;
            }
            unit.commit().map_err(|error| wrong(&error))?;
        }
        Ok(())
    })
}

fn begin(catalog: &Clusters) -> Result<<KernelStore as store::Store>::Unit, Wrong> {
    catalog.store().begin(vsam::unit_options()).map_err(|error| wrong(&error))
}

fn open(
    catalog: &Clusters,
    name: &str,
    mode: OpenMode,
    bulk: bool,
) -> Result<File<KernelStore>, Wrong> {
    let options = OpenOptions { bulk, ..OpenOptions::default() };
    catalog.open_file(&named(name)?, mode, &options).map_err(|error| wrong(&error))
}

fn play(make: &Make, script: Script, progress: &Mutex<Progress>, seam: &Seam) -> Result<(), Wrong> {
    within(make, seam, |catalog| match script {
        Script::Load | Script::Reload => load(catalog, script, progress),
        Script::Upkeep => change(catalog, progress),
        Script::Empty => empty(catalog, progress),
        Script::Refuse => refuse(catalog),
    })
}

fn refuse(catalog: &Clusters) -> Result<(), Wrong> {
    let file = open(catalog, "K", OpenMode::InputOutput, false)?;
    let mut position = file.position().map_err(|failure| failed(&failure))?;
    let mut unit = begin(catalog)?;
    for number in 0..RECORDS {
        let put = file.put(&mut unit, &mut position, &record(number * 2 + 1, 0));
        put.map_err(|failure| failed(&failure))?;
    }
    drop(position);
    file.close().map_err(|error| wrong(&error))?;
    for name in ["K", "N"] {
        match catalog.delete(&named(name)?, DeleteOptions::default()) {
            Err(CatalogError::InUse(_)) => {}
            other => return Err(Wrong::Broken(format!("{name} was deleted: {other:?}"))),
        }
    }
    unit.backout().map_err(|error| wrong(&error))
}

fn empty(catalog: &Clusters, progress: &Mutex<Progress>) -> Result<(), Wrong> {
    progress.lock().asked = 1;
    catalog.empty_cluster(&named("K")?, None).map_err(|error| wrong(&error))?;
    progress.lock().answered = 1;
    Ok(())
}

fn load(catalog: &Clusters, script: Script, progress: &Mutex<Progress>) -> Result<(), Wrong> {
    let history = history(script);
    let last = history.len() - 1;
    progress.lock().asked = last - 1;
    let file = open(catalog, "K", OpenMode::Output, true)?;
    progress.lock().answered = last - 1;
    let mut position = file.position().map_err(|failure| failed(&failure))?;
    let mut unit = begin(catalog)?;
    for record in history[last].values() {
        let put = file.put(&mut unit, &mut position, record);
        put.map_err(|failure| failed(&failure))?;
    }
    drop(position);
    unit.backout().map_err(|error| wrong(&error))?;
    progress.lock().asked = last;
    file.close().map_err(|error| wrong(&error))?;
    progress.lock().answered = last;
    Ok(())
}

fn change(catalog: &Clusters, progress: &Mutex<Progress>) -> Result<(), Wrong> {
    let file = open(catalog, "K", OpenMode::InputOutput, false)?;
    let mut position = file.position().map_err(|failure| failed(&failure))?;
    for number in 1..=UNITS {
        let mut unit = begin(catalog)?;
        for change in changes(number) {
            let done = match &change {
                Change::Erase(key) => file.erase_keyed(&mut unit, &mut position, key),
                Change::Put(record) => {
                    let rewritten = file.rewrite_keyed(&mut unit, &mut position, record);
                    match rewritten {
                        Err(failure) if failure.reason() == Some(LogicalReason::NotFound) => {
                            file.put(&mut unit, &mut position, record)
                        }
                        other => other,
                    }
                }
            };
            done.map_err(|failure| failed(&failure).when(&format!("unit {number}")))?;
        }
        progress.lock().asked = number as usize;
        unit.commit().map_err(|error| wrong(&error))?;
        progress.lock().answered = number as usize;
    }
    Ok(())
}

/// Judges what is there after a crash, twice: as it is, and after the indexes are built.
fn judge(make: &Make, script: Script, progress: Progress, seam: &Seam) -> Result<(), Wrong> {
    let history = history(script);
    within(make, seam, |catalog| {
        let all = catalog.list(&Filter::all(), None).map_err(|error| wrong(&error))?;
        let is_half = |state| !matches!(state, State::Ready | State::Unbuilt);
        if all.len() != 5 || all.iter().any(|entry| is_half(entry.state)) {
            return Err(Wrong::Broken(format!("the catalog has {all:?}")));
        }
        let base = read(catalog, "K")?.unwrap_or_default();
        let possible = history.get(progress.answered..=progress.asked).unwrap_or_default();
        if !possible.contains(&base) {
            let (records, Progress { answered, asked }) = (base.len(), progress);
            let what = format!("{records} records are none of commits {answered} to {asked}");
            return Err(Wrong::Broken(what));
        }
        for index in ["N", "T"] {
            let path = format!("{index}.PATH");
            let by_path = match read(catalog, &path)? {
                Some(records) => records,
                None if script.loads() => {
                    let built = catalog.build_index(&named(index)?);
                    built.map_err(|error| wrong(&error))?;
                    read(catalog, &path)?.unwrap_or_default()
                }
                None => return Err(Wrong::Broken(format!("{index} is not built"))),
            };
            if by_path != base {
                let (found, wanted) = (by_path.len(), base.len());
                return Err(Wrong::Broken(format!("{path} gives {found} records of {wanted}")));
            }
        }
        Ok(())
    })
}

/// All records by a name; `None` if its index is not built.
fn read(catalog: &Clusters, name: &str) -> Result<Option<Records>, Wrong> {
    let file = match catalog.open_file(&named(name)?, OpenMode::Input, &OpenOptions::default()) {
        Err(OpenError::NotBuilt(_)) => return Ok(None),
        other => other.map_err(|error| wrong(&error))?,
    };
    let mut position = file.position().map_err(|failure| failed(&failure))?;
    let (mut unit, mut record, mut all) = (begin(catalog)?, Vec::new(), Records::new());
    loop {
        match file.get_next(&mut unit, &mut position, Intent::Look, &mut record) {
            Ok(_) => {}
            Err(failure) if failure.reason() == Some(LogicalReason::EndOfData) => break,
            Err(failure) => return Err(failed(&failure)),
        }
        let key = record.get(..4).unwrap_or_default().to_vec();
        if all.insert(key, record.clone()).is_some() {
            return Err(Wrong::Broken(format!("{name} gives a record twice")));
        }
    }
    unit.backout().map_err(|error| wrong(&error))?;
    Ok(Some(all))
}
