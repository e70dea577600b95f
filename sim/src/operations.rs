//! The verbs that operators use, as they are shipped: `image-copy` and `recover` of a system that
//! crashes at each of their writes.
//!
//! A system with two data sets is filled and copied, and changed again. Then, on snapshots of its
//! disk, it is copied once more, goes back to a point in the log, and crashes meanwhile. What is
//! there afterwards is what was there at the end or at the point, in both data sets; every copy
//! that RECON knows can be read; and the same verbs go through.

use std::collections::BTreeMap;
use std::path::Path;

use base::Lsn;
use operations::Selection;
use operations::image_copy::{Copied, CopyRequest, image_copy};
use operations::recover::{Point, RecoverRequest, Recovered, recover};
use seal::{KdfCost, Passphrase};
use seam::Seam;
use seam::sim::{CrashStyle, Rng, SimDisk};
use store::{Read, SetAttributes, Store, Unit, UnitOptions};
use system::{Bytes, InitOptions, OpenOptions, System, SystemConfig};

use crate::recovery::{coded, run};
use crate::scenario::{key, value};

const DIR: &str = "/system";
const SETS: [&str; 2] = ["ACCOUNTS", "ENTRIES"];
const KEYS: u64 = 60;

/// What both data sets hold: the version of each key.
type Versions = BTreeMap<u64, u64>;

fn phrase() -> Passphrase {
    Passphrase::from("of the simulator")
}

fn open(seam: &Seam) -> Result<System, String> {
    let options = OpenOptions { serve: false, ..operations::verbs::options(|_| ()) };
    System::open(seam, Path::new(DIR), &phrase(), options).map_err(coded)
}

/// Copies everything into two files.
pub(crate) fn copy_all(system: &System, incremental: bool) -> Result<Copied, String> {
    let request = CopyRequest {
        which: Selection { all: true, ..Selection::default() },
        folders: vec!["/copies".into(), "/second".into()],
        pipe: None,
        incremental,
        rate: 0,
    };
    let done = system.reporting(&mut |_| (), |talk| image_copy(system, &request, talk));
    done.map_err(|error| format!("{} {error}", error.code()))
}

/// What asks for a recovery of these data sets; of all, if none is named.
pub(crate) fn request(sets: &[&str], to: Point) -> RecoverRequest {
    let sets: Vec<String> = sets.iter().map(|name| (*name).to_owned()).collect();
    RecoverRequest {
        which: Selection { all: sets.is_empty(), sets, databases: Vec::new() },
        to,
        check: false,
        prove: false,
        apart: false,
        wait_seconds: 60,
    }
}

/// Does what `recover` does.
pub(crate) fn recover_sets(system: &System, request: &RecoverRequest) -> Result<Recovered, String> {
    let done = system.reporting(&mut |_| (), |talk| recover(system, request, talk));
    done.map_err(|error| format!("{} {error}", error.code()))
}

/// Gives every `each`th key a value of that version, in both data sets at once.
fn change(system: &System, held: &mut Versions, version: u64, each: u64) -> Result<(), String> {
    let store = system.store();
    let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
    for name in SETS {
        let set = store.set(name).map_err(coded)?.ok_or("a set is gone")?;
        for number in (0..KEYS).step_by(each as usize) {
            unit.put(set, &key(number), &value(number, version, 300)).map_err(coded)?;
            held.insert(number, version);
        }
    }
    unit.commit().map(drop).map_err(coded)
}

/// Whether both data sets hold just these versions.
fn holds(system: &System, versions: &Versions) -> Result<bool, String> {
    let store = system.store();
    let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
    let mut found = Vec::new();
    for name in SETS {
        let set = store.set(name).map_err(coded)?.ok_or("a set is gone")?;
        for (number, version) in versions {
            let there = unit.get(set, &key(*number), Read::Shared, &mut found).map_err(coded)?;
            if !there || found != value(*number, *version, 300) {
                return Ok(false);
            }
        }
    }
    unit.commit().map_err(coded)?;
    Ok(true)
}

/// A system at rest, and what it held.
struct Before {
    disk: SimDisk,
    /// A point in the log, and what there was then.
    point: Lsn,
    then: Versions,
    now: Versions,
}

fn before(seed: u64) -> Result<Before, String> {
    let disk = SimDisk::new();
    let lived = run(seed, &disk, |seam| {
        let mut config = SystemConfig::new(base::SystemId::default());
        config.log.segment_bytes = Bytes(1 << 20);
        config.log.ring_bytes = Bytes(1 << 20);
        config.pools.values_mut().for_each(|pool| pool.bytes = Bytes(256 << 10));
        let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
        let options = InitOptions { config, cost, ..InitOptions::default() };
        System::init(&seam, Path::new(DIR), &phrase(), &options).map_err(coded)?;
        let system = open(&seam)?;
        for name in SETS {
            system.store().create_set(name, &SetAttributes::default()).map_err(coded)?;
        }
        let mut held = Versions::new();
        change(&system, &mut held, 1, 1)?;
        copy_all(&system, false)?;
        change(&system, &mut held, 2, 3)?;
        let (point, then) = (system.kernel().log().next_lsn(), held.clone());
        change(&system, &mut held, 3, 2)?;
        system.close().map_err(coded)?;
        Ok((point, then, held))
    })?;
    let (point, then, now) = lived.ok_or("the machine crashed by itself")?;
    disk.settle();
    Ok(Before { disk, point, then, now })
}

/// Crashes `image-copy` and `recover` at every `stride`th of their writes; says how often.
///
/// # Errors
/// The first broken promise.
pub fn every_crash_of_copy_and_recover(seed: u64, stride: u64) -> Result<u64, String> {
    let before = before(seed)?;
    let mut n = 1 + seed % stride;
    let mut points = 0;
    loop {
        let disk = before.disk.snapshot();
        disk.crash_after(n);
        let whole = run(n, &disk, |seam| {
            let system = open(&seam)?;
            copy_all(&system, seed.is_multiple_of(2))?;
            recover_sets(&system, &request(&SETS, Point::Lsn(before.point.0)))?;
            copy_all(&system, false)?;
            system.close().map_err(coded)
        })?;
        let style = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random][n as usize % 3];
        let disk = disk.crash_image(&mut Rng::new(n), style);
        afterwards(&before, &disk, n).map_err(|why| format!("crash at write {n}: {why}"))?;
        points += 1;
        if whole.is_some() {
            return Ok(points);
        }
        n += stride;
    }
}

/// What is to hold on the disk of a system that crashed.
fn afterwards(before: &Before, disk: &SimDisk, seed: u64) -> Result<(), String> {
    let judged = run(seed + 1, disk, |seam| {
        let system = open(&seam)?;
        if !holds(&system, &before.then)? && !holds(&system, &before.now)? {
            return Err("it is neither what was there at the end nor at the point".into());
        }
        for copy in system.recon().state().image_copies.values() {
            for file in &copy.files {
                readable(&seam, &file.path)?;
            }
        }
        let to_point = request(&SETS, Point::Lsn(before.point.0));
        let check = RecoverRequest { check: true, prove: true, ..to_point.clone() };
        recover_sets(&system, &check).map_err(|why| format!("tried before: {why}"))?;
        recover_sets(&system, &to_point)?;
        if !holds(&system, &before.then)? {
            return Err("recovered to the point it is something else".into());
        }
        copy_all(&system, false)?;
        recover_sets(&system, &request(&[], Point::Now))?;
        if !holds(&system, &before.then)? {
            return Err("recovered to the end it is something else".into());
        }
        system.close().map_err(coded)
    })?;
    judged.ok_or_else(|| "the machine crashed by itself".into())
}

/// What RECON knows of stands there.
fn readable(seam: &Seam, path: &Path) -> Result<(), String> {
    match seam.disk.exists(path) {
        Ok(true) => Ok(()),
        other => Err(format!("RECON knows of {}, which is not there: {other:?}", path.display())),
    }
}
