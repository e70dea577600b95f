//! A system on a device that is full: it can be opened and read as often as anybody likes, through
//! crashes, and whoever frees space gets in.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use base::Coded;
use seal::{KdfCost, Passphrase};
use seam::Seam;
use seam::sim::{CrashStyle, Fault, FaultKind, Rng, SimDisk};
use store::{KeyRange, Read, SetAttributes, Store, Unit, UnitOptions};
use system::{Bytes, InitOptions, OpenOptions, System, SystemConfig};

use crate::scenario::{key, value};
use crate::verify::run_to_crash;

const DIR: &str = "/system";
const SET: &str = "ACCOUNTS";
const KEYS: u64 = 1_500;
const STYLES: [CrashStyle; 4] =
    [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];
/// How often the full system is opened.
const LIVES: u64 = 24;

#[allow(clippy::needless_pass_by_value)] // so that `map_err` takes it by its name
fn coded<E: Coded>(error: E) -> String {
    format!("{} {error}", error.code())
}

fn open(seam: &Seam) -> Result<System, String> {
    let options = OpenOptions { serve: false, ..OpenOptions::default() };
    System::open(seam, Path::new(DIR), &Passphrase::from("simulated"), options).map_err(coded)
}

fn make(seam: &Seam) -> Result<(), String> {
    let mut config = SystemConfig::new(base::SystemId::default());
    config.log.segment_bytes = Bytes(1 << 20);
    config.log.ring_bytes = Bytes(1 << 20);
    config.pools.values_mut().for_each(|pool| pool.bytes = Bytes(1 << 20));
    let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
    let options = InitOptions { config, cost, ..InitOptions::default() };
    System::init(seam, Path::new(DIR), &Passphrase::from("simulated"), &options).map_err(coded)?;
    let system = open(seam)?;
    system.store().create_set(SET, &SetAttributes::default()).map_err(coded)?;
    fill(&system, KEYS)?;
    system.update_recon().map_err(coded)?;
    system.close().map_err(coded)
}

fn fill(system: &System, keys: u64) -> Result<(), String> {
    let store = system.store();
    let set = store.set(SET).map_err(coded)?.ok_or("the set is gone")?;
    for first in (0..keys).step_by(50) {
        let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
        for number in first..keys.min(first + 50) {
            unit.put(set, &key(number), &value(number, 1, 1_000)).map_err(coded)?;
        }
        unit.commit().map_err(coded)?;
    }
    Ok(())
}

/// All of it can be read.
fn judge(system: &System) -> Result<(), String> {
    let store = system.store();
    let set = store.set(SET).map_err(coded)?.ok_or("the set is gone")?;
    let mut unit = store.begin(UnitOptions::READ_ONLY).map_err(coded)?;
    let mut found = Vec::new();
    for number in (0..KEYS).step_by(7) {
        let there = unit.get(set, &key(number), Read::Shared, &mut found).map_err(coded)?;
        if !there || found != value(number, 1, 1_000) {
            return Err(format!("key {number} is not what it was"));
        }
    }
    unit.commit().map(drop).map_err(coded)
}

fn free_bytes(seam: &Seam) -> Result<u64, String> {
    let room = seam.disk.room(Path::new(DIR));
    room.map(|room| room.free_bytes).map_err(|error| error.to_string())
}

/// Fills the device to its last byte, opens and reads the system again and again, some lives ending
/// in crashes, and then frees space and uses it.
///
/// # Errors
/// Who was locked out.
pub fn a_full_device_locks_nobody_out(seed: u64) -> Result<(), String> {
    const PLENTY: u64 = 1 << 40;
    let mut disk = SimDisk::new();
    disk.set_capacity(Some(PLENTY));
    let used = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&used);
    run_to_crash(seed, &disk, move |seam| {
        make(seam)?;
        count.store(PLENTY - free_bytes(seam)?, SeqCst);
        Ok(())
    })?
    .ok_or("it crashed")?;
    disk.settle();
    disk.set_capacity(Some(used.load(SeqCst)));
    let mut rng = Rng::stream(seed, "full");
    for number in 0..LIVES {
        if rng.one_in(2) {
            disk.crash_after(1 + rng.below(30));
        }
        let described = |why: String| format!("life {number}: {why}");
        let lived = run_to_crash(seed * 100 + number, &disk, |seam| {
            let system = open(seam)?;
            if let Some(note) = system.notes().iter().find(|note| note.contains("HFN")) {
                return Err(format!("RECON has kept too little room: {note}"));
            }
            judge(&system)?;
            system.close().map_err(coded)
        });
        if lived.map_err(described)?.is_none() {
            let style = STYLES[rng.index(STYLES.len())];
            disk = disk.crash_image(&mut rng, style);
        } else {
            disk = disk.snapshot();
        }
    }
    run_to_crash(seed, &disk, refill)?.ok_or_else(|| "it crashed".into())
}

/// Empties the data set, and puts in what there is room for again.
fn refill(seam: &Seam) -> Result<(), String> {
    let system = open(seam)?;
    let before = free_bytes(seam)?;
    let set = system.store().set(SET).map_err(coded)?.ok_or("the set is gone")?;
    system.store().empty_set(set).map_err(coded)?;
    system.kernel().shrink_now().map_err(coded)?;
    let after = free_bytes(seam)?;
    if after < before + (1 << 20) {
        return Err(format!("{} bytes were freed", after.saturating_sub(before)));
    }
    fill(&system, KEYS / 2)?;
    system.update_recon().map_err(coded)?;
    system.close().map_err(coded)
}

/// RECON cannot take a single change, as that of a system which was made without room in it: it is
/// opened all the same, and says so.
///
/// # Errors
/// Who was locked out.
pub fn a_recon_without_room_locks_nobody_out(seed: u64) -> Result<(), String> {
    let disk = SimDisk::new();
    run_to_crash(seed, &disk, make)?.ok_or("it crashed")?;
    let disk = disk.snapshot();
    let full = disk.inject(Fault::new(FaultKind::NoSpace, "/system/recon*"));
    for number in 1..4 {
        run_to_crash(seed + number, &disk, |seam| {
            let system = open(seam)?;
            if !system.notes().iter().any(|note| note.contains("HFN011")) {
                return Err(format!("nobody says so: {:?}", system.notes()));
            }
            judge(&system)?;
            if system.update_recon().is_err_and(|error| error.code().0 != "HFN011") {
                return Err("room is not what lacks".into());
            }
            system.close().map_err(coded)
        })?
        .ok_or("it crashed")?;
    }
    disk.heal(full);
    run_to_crash(seed, &disk, |seam| {
        let system = open(seam)?;
        let set = system.store().set(SET).map_err(coded)?.ok_or("the set is gone")?;
        let mut unit = system.store().begin(UnitOptions::default()).map_err(coded)?;
        unit.delete_range(set, KeyRange::ALL).map_err(coded)?;
        unit.commit().map_err(coded)?;
        match system.notes().iter().find(|note| note.contains("HFN")) {
            Some(note) => Err(note.clone()),
            None => system.close().map_err(coded),
        }
    })?
    .ok_or_else(|| "it crashed".into())
}
