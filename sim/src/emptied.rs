//! A cluster that a unit of work has changed and then empties, as OPEN OUTPUT does it, on a machine
//! that is crashed at every write.
//!
//! Checked after every crash:
//! 1. the records are those from before the unit of work, or, once its commit was asked for, those
//!    that it has loaded; once that was answered, only these;
//! 2. the path gives the same records as the base;
//! 3. the catalog has no half of anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use seam::sim::{CrashStyle, EventKind, Rng};
use store::{Store as _, Unit as _};
use store_kernel::{KernelStore, KernelUnit};
use vsam::{
    AlternateIndexAttributes, ClusterAttributes, Definition, File, Filter, Intent, KeyField,
    LogicalReason, OpenMode, OpenOptions, PathAttributes, State,
};

use crate::clusters::{Clusters, failed, named, within, wrong};
use crate::dli::life::created;
use crate::machine::Make;
use crate::verify::{self, Wrong};

type Records = BTreeSet<Vec<u8>>;

/// Records at first, and those that are loaded in their place.
const BEFORE: std::ops::Range<u32> = 0..12;
const AFTER: std::ops::Range<u32> = 6..14;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    Begun,
    Asked,
    Answered,
}

/// A record: its key, a number that many have, and who wrote it.
fn record(number: u32, by: &str) -> Vec<u8> {
    format!("{number:04}{:04}{by}", number % 5).into_bytes()
}

fn before() -> Records {
    BEFORE.map(|number| record(number, "before")).collect()
}

fn after() -> Records {
    AFTER.map(|number| record(number, "after")).collect()
}

/// Runs it and crashes the machine at every write; answers how many images were judged.
///
/// # Errors
/// The first image that does not prove itself.
pub fn every_crash(seed: u64) -> Result<usize, String> {
    sweep(seed).map_err(|why| why.to_string())
}

fn sweep(seed: u64) -> Result<usize, Wrong> {
    let make = Make { frames: 64, segments_max: 16, redo_bytes_max: 6 << 10, ..Make::dual() };
    let disk = created(&make, seed)?;
    {
        let make = make.clone();
        verify::run(seed, &disk, move |seam| within(&make, seam, set_up))?;
    }
    disk.settle();
    let progress = Arc::new(Mutex::new(Progress::Begun));
    let points = Arc::new(Mutex::new(Vec::new()));
    let (into, seen) = (Arc::clone(&points), Arc::clone(&progress));
    disk.observe(move |disk, event| {
        if matches!(event.kind, EventKind::Write | EventKind::Sync | EventKind::SyncDir) {
            let what = format!("{:?} of {}", event.kind, event.path.display());
            into.lock().push((what, *seen.lock(), disk.snapshot()));
        }
    });
    {
        let make = make.clone();
        verify::run(seed, &disk, move |seam| {
            within(&make, seam, |catalog| play(catalog, &progress))
        })?;
    }
    disk.stop_observing();
    let mut rng = Rng::stream(seed, "emptied");
    let points = std::mem::take(&mut *points.lock());
    let mut images = 0;
    for (number, (what, progress, disk)) in points.into_iter().enumerate() {
        for style in [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random] {
            let image = disk.crash_image(&mut rng, style);
            let make = make.clone();
            let judged = verify::run(rng.word() >> 1, &image, move |seam| {
                within(&make, seam, |catalog| judge(catalog, progress))
            });
            judged.map_err(|why| {
                why.when(&format!("seed {seed}, crashed at event {number}, {what} ({style:?})"))
            })?;
            images += 1;
        }
    }
    Ok(images)
}

fn begin(catalog: &Clusters) -> Result<KernelUnit, Wrong> {
    catalog.store().begin(vsam::unit_options()).map_err(|error| wrong(&error))
}

fn open(
    catalog: &Clusters,
    unit: Option<&mut KernelUnit>,
    name: &str,
    mode: OpenMode,
) -> Result<File<KernelStore>, Wrong> {
    let opened = catalog.open_file_within(unit, &named(name)?, mode, &OpenOptions::default());
    opened.map_err(|error| wrong(&error))
}

fn put_all(
    file: &File<KernelStore>,
    unit: &mut KernelUnit,
    records: &Records,
) -> Result<(), Wrong> {
    let mut position = file.position().map_err(|failure| failed(&failure))?;
    for record in records {
        file.put(unit, &mut position, record).map_err(|failure| failed(&failure))?;
    }
    Ok(())
}

fn set_up(catalog: &Clusters) -> Result<(), Wrong> {
    let define = |name: &str, definition| {
        let defined = catalog.define(&named(name)?, definition, None);
        defined.map(drop).map_err(|error| wrong(&error))
    };
    let key = |offset| KeyField { offset, bytes: 4 };
    let cluster = ClusterAttributes { reuse: true, ..ClusterAttributes::keyed(key(0), 40) };
    define("W", Definition::Cluster(cluster))?;
    let index = AlternateIndexAttributes::new(named("W")?, key(4));
    let index = AlternateIndexAttributes { unique: false, upgrade: true, ..index };
    define("T", Definition::AlternateIndex(index))?;
    catalog.build_index(&named("T")?).map_err(|error| wrong(&error))?;
    define("T.PATH", Definition::Path(PathAttributes { entry: named("T")?, update: true }))?;
    let mut unit = begin(catalog)?;
    let file = open(catalog, None, "W", OpenMode::InputOutput)?;
    put_all(&file, &mut unit, &before())?;
    unit.commit().map(drop).map_err(|error| wrong(&error))
}

/// Changes the cluster, closes it, opens it to load it, and loads it, all in a unit of work: one
/// that is backed out, and one that is committed.
fn play(catalog: &Clusters, progress: &Mutex<Progress>) -> Result<(), Wrong> {
    for commits in [false, true] {
        let mut unit = begin(catalog)?;
        let file = open(catalog, Some(&mut unit), "W", OpenMode::InputOutput)?;
        put_all(&file, &mut unit, &Records::from([record(99, "more")]))?;
        file.close().map_err(|error| wrong(&error))?;
        let file = open(catalog, Some(&mut unit), "W", OpenMode::Output)?;
        put_all(&file, &mut unit, &after())?;
        file.close().map_err(|error| wrong(&error))?;
        if !commits {
            unit.backout().map_err(|error| wrong(&error))?;
            continue;
        }
        *progress.lock() = Progress::Asked;
        unit.commit().map_err(|error| wrong(&error))?;
        *progress.lock() = Progress::Answered;
    }
    Ok(())
}

fn judge(catalog: &Clusters, progress: Progress) -> Result<(), Wrong> {
    let all = catalog.list(&Filter::all(), None).map_err(|error| wrong(&error))?;
    if all.len() != 3 || all.iter().any(|entry| entry.state != State::Ready) {
        return Err(Wrong::Broken(format!("the catalog has {all:?}")));
    }
    let base = read(catalog, "W")?;
    let is_before = progress < Progress::Answered && base == before();
    let is_after = progress > Progress::Begun && base == after();
    if !is_before && !is_after {
        let count = base.len();
        return Err(Wrong::Broken(format!("{progress:?}, and there are {count} other records")));
    }
    let by_path = read(catalog, "T.PATH")?;
    if by_path != base {
        let (found, wanted) = (by_path.len(), base.len());
        return Err(Wrong::Broken(format!("the path gives {found} records of {wanted}")));
    }
    Ok(())
}

fn read(catalog: &Clusters, name: &str) -> Result<Records, Wrong> {
    let file = open(catalog, None, name, OpenMode::Input)?;
    let mut position = file.position().map_err(|failure| failed(&failure))?;
    let (mut unit, mut record, mut all) = (begin(catalog)?, Vec::new(), Records::new());
    loop {
        match file.get_next(&mut unit, &mut position, Intent::Look, &mut record) {
            Ok(_) => {
                all.insert(record.clone());
            }
            Err(failure) if failure.reason() == Some(LogicalReason::EndOfData) => break,
            Err(failure) => return Err(failed(&failure)),
        }
    }
    unit.backout().map_err(|error| wrong(&error))?;
    Ok(all)
}
