//! A system in use is proven and repaired: whatever is spoilt beneath it is named, and the command
//! that is named repairs it, or it is refused; nothing is repaired with what is not good (K20).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use base::{CiNumber, Coded};
use btree::TreeError;
use operations::recover::Point;
use parking_lot::Mutex;
use seal::{KdfCost, Passphrase};
use seam::Seam;
use seam::mem::AlignedBuf;
use seam::sim::{Rng, SimConfig, SimDisk};
use serde_json::{Value, json};
use space::DataSet;
use store::{Read, SetAttributes, Store, Unit, UnitOptions};
use store_kernel::KernelStore;
use system::operator::Request;
use system::{Bytes, InitOptions, OpenOptions, Repair, System, SystemConfig, VerifyReport};
use uow::{RepairedFrom, UowError};

use crate::history::{History, LEDGER};
use crate::machine::Make;
use crate::media;
use crate::operations::{copy_all, recover_sets, request};
use crate::scenario::{key, value};
use crate::verify::{Wrong, run_to_end};
use crate::world::World;

const DIR: &str = "/system";
const SET: &str = "ACCOUNTS";
const KEYS: u64 = 400;

#[allow(clippy::needless_pass_by_value)] // so that `map_err` takes it by its name
fn coded<E: Coded>(error: E) -> String {
    format!("{} {error}", error.code())
}

fn phrase() -> Passphrase {
    Passphrase::from("of the simulator")
}

/// Makes a system, fills it, copies it, and changes it again.
fn site(seam: &Seam) -> Result<System, String> {
    let mut config = SystemConfig::new(base::SystemId::default());
    config.log.copies = vec!["log".into(), "log-copy".into()];
    config.log.segment_bytes = Bytes(1 << 20);
    config.log.ring_bytes = Bytes(1 << 20);
    config.pools.values_mut().for_each(|pool| pool.bytes = Bytes(256 << 10));
    let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
    let options = InitOptions { config, cost, ..InitOptions::default() };
    System::init(seam, Path::new(DIR), &phrase(), &options).map_err(coded)?;
    let options = OpenOptions { serve: false, ..operations::verbs::options(|_| ()) };
    let system = System::open(seam, Path::new(DIR), &phrase(), options).map_err(coded)?;
    system.store().create_set(SET, &SetAttributes::default()).map_err(coded)?;
    change(&system, 1, 1)?;
    system.update_recon().map_err(coded)?;
    copy_all(&system, false)?;
    change(&system, 2, 3)?;
    system.kernel().write_out().map_err(coded)?;
    system.kernel().renew_control().map_err(coded)?;
    Ok(system)
}

/// Gives every `each`th key a value of that version.
fn change(system: &System, version: u64, each: u64) -> Result<(), String> {
    let store = system.store();
    let set = store.set(SET).map_err(coded)?.ok_or("the set is gone")?;
    for number in (0..KEYS).step_by(each as usize) {
        let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
        unit.put(set, &key(number), &value(number, version, 300)).map_err(coded)?;
        unit.commit().map_err(coded)?;
    }
    Ok(())
}

/// Everything is as it was left.
fn judge(system: &System) -> Result<(), String> {
    let store = system.store();
    let set = store.set(SET).map_err(coded)?.ok_or("the set is gone")?;
    let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
    let mut found = Vec::new();
    for number in 0..KEYS {
        let version = if number.is_multiple_of(3) { 2 } else { 1 };
        let there = unit.get(set, &key(number), Read::Shared, &mut found).map_err(coded)?;
        if !there || found != value(number, version, 300) {
            return Err(format!("key {number} is not what it was"));
        }
    }
    unit.commit().map(drop).map_err(coded)
}

fn ask(system: &System, verb: &str, arguments: Value) -> Result<Value, String> {
    let request = Request { verb: verb.into(), arguments };
    let answer = system.operate(&request, &mut |_| ());
    answer.map_err(|refusal| format!("{} {}", refusal.code, refusal.message))
}

fn proven(system: &System) -> Result<VerifyReport, String> {
    let report = ask(system, "verify", json!({}))?;
    serde_json::from_value(report).map_err(|error| error.to_string())
}

/// Does what a command does that a finding names.
fn obey(system: &System, command: &Repair) -> Result<(), String> {
    let words: Vec<&str> = command.0.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u32>().map_err(|error| error.to_string());
    let request = match words[1..] {
        ["recover", "-s", _, "--set", name] => return recover(system, name),
        ["repair", "-s", _, "--set", set, "--interval", at] => {
            json!({ "interval": { "set": set, "interval": number(at)? } })
        }
        ["repair", "-s", _, "--copy", at] => json!({ "copy": { "number": number(at)? } }),
        ["repair", "-s", _, what] => json!(what[2..].replace('-', "_")),
        _ => return Err(format!("nobody knows the command {command}")),
    };
    ask(system, "repair", request).map(drop)
}

fn recover(system: &System, name: &str) -> Result<(), String> {
    recover_sets(system, &request(&[name], Point::Now)).map(drop)
}

/// The data set's own file.
fn data_file(disk: &SimDisk) -> Result<PathBuf, String> {
    let found = disk.paths().into_iter().find(|path| path.to_string_lossy().contains("/ACCOUNTS."));
    found.ok_or_else(|| "there is no data file".into())
}

/// Spoils one thing after another beneath a system in use; each is named and repaired.
///
/// # Errors
/// What was overlooked, or not repaired.
pub fn what_is_spoilt_is_named_and_repaired(seed: u64) -> Result<(), String> {
    let disk = SimDisk::new();
    let medium = disk.clone();
    let (outcome, result) = run_to_end(SimConfig::new(seed), &disk, move |seam| {
        let system = site(seam)?;
        let clean = proven(&system)?;
        if let Some(finding) = clean.findings.first() {
            return Err(format!("nothing is spoilt, and it finds {finding:?}"));
        }
        let mut rng = Rng::stream(seed, "care");
        for round in 0..3 {
            for (path, offset) in places(&system, &medium, &mut rng)? {
                spoil_and_repair(&system, &medium, &path, offset).map_err(|why| {
                    format!("round {round}, {} at {offset}: {why}", path.display())
                })?;
            }
        }
        judge(&system)?;
        system.close().map_err(coded)
    });
    result.unwrap_or_else(|| Err(outcome.to_string()))
}

/// Places that a proof relies on: each small file, intervals in use of the data set, the log.
fn places(system: &System, disk: &SimDisk, rng: &mut Rng) -> Result<Vec<(PathBuf, u64)>, String> {
    let data = data_file(disk)?;
    let within = |rng: &mut Rng, most: usize| rng.index(most) as u64;
    let mut all: Vec<(PathBuf, u64)> =
        [4, 5, 7, 9].map(|interval| (data.clone(), interval * 8192 + within(rng, 8000))).into();
    all.push((data, 8192 + within(rng, 4000)));
    for name in ["/system/recon.1", "/system/recon.2"] {
        all.push((name.into(), within(rng, 100)));
    }
    all.push(("/system/control".into(), 4096 * within(rng, 2) + within(rng, 100)));
    all.push(("/system/holdfast.keys".into(), within(rng, 60)));
    // The current segment of either copy of the log: its first group, its header.
    let slot = system.kernel().log().segments().last().map_or(0, |segment| segment.slot);
    let folder = ["/system/log", "/system/log-copy"][rng.index(2)];
    let segment = PathBuf::from(folder).join(format!("segment-{slot:03}.stripe-0"));
    all.push((segment.clone(), 4096 + within(rng, 120)));
    all.push((segment, within(rng, 120)));
    let state = system.recon().state();
    let copy = state.image_copies.values().next().ok_or("there is no image copy")?;
    all.push((copy.files[rng.index(2)].path.clone(), within(rng, 9000)));
    Ok(all)
}

fn spoil_and_repair(
    system: &System,
    disk: &SimDisk,
    path: &Path,
    offset: u64,
) -> Result<(), String> {
    let byte = disk.read_raw(path, offset, 1);
    disk.write_raw(path, offset, &[!byte[0]]);
    let report = proven(system)?;
    let findings = report.findings;
    let Some(finding) = findings.iter().find(|one| one.file.as_deref() == Some(path)) else {
        return Err(format!("it was overlooked: {findings:?}"));
    };
    for command in &finding.repair {
        obey(system, command).map_err(|why| format!("{command}: {why}"))?;
    }
    match proven(system)?.findings.first() {
        None => Ok(()),
        Some(left) => Err(format!("{:?} has not repaired it: {left:?}", finding.repair)),
    }
}

/// An interval whose newest version is whole nowhere is not repaired, least of all by another.
///
/// # Errors
/// What it was repaired with.
pub fn only_what_is_good_repairs() -> Result<(), String> {
    let disk = SimDisk::new();
    let medium = disk.clone();
    let make = Make { frames: 16, ..Make::small() };
    let (outcome, result) = run_to_end(SimConfig::new(1), &disk, move |seam| {
        make.create(seam)?;
        let kernel = make.open(seam)?;
        let world = World::new(Arc::clone(&kernel), History::new(), make);
        world.make_set(LEDGER)?;
        let set = world.make_set("one")?;
        for n in 0..200 {
            world.commit(|work| work.put(&set, &key(n), &value(n, 1, 200)))?;
        }
        kernel.write_out()?;
        // Two batches with the first leaf in them, one behind the other.
        for version in [2, 3] {
            world.commit(|work| work.put(&set, &key(0), &value(0, version, 200)))?;
            kernel.write_out()?;
        }
        let leaf = leaf_of(&set, &key(0))?;
        evict(&set, leaf)?;
        let unit = set.unit_bytes() as u64;
        let path = PathBuf::from("/system/data").join(file_name(&medium)?);
        let newest = medium.read_raw(&path, u64::from(leaf.0) * unit, unit as usize);
        medium.write_raw(&path, u64::from(leaf.0) * unit + 77, &[!newest[77]]);
        // From the double-write area it can be had.
        let repaired = kernel.repair_interval(&set, leaf)?;
        readable(&set, leaf, repaired == Some(RepairedFrom::DoubleWrite))?;
        // With its newest version spoilt there, too, an older one is all that is left.
        evict(&set, leaf)?;
        medium.write_raw(&path, u64::from(leaf.0) * unit + 77, &[!newest[77]]);
        spoil_copy(&medium, &newest)?;
        let repaired = kernel.repair_interval(&set, leaf)?;
        readable(&set, leaf, repaired.is_some())?;
        if repaired.is_some() {
            return Err(Wrong::Broken("it was repaired with what is not good".into()));
        }
        kernel.abandon();
        Ok(())
    });
    result.unwrap_or_else(|| Err(Wrong::Broken(outcome.to_string()))).map_err(|why| why.to_string())
}

/// What is said to be repaired can be read.
fn readable(set: &Arc<DataSet>, ci: CiNumber, repaired: bool) -> Result<(), Wrong> {
    match (set.shared(ci).map(drop), repaired) {
        (Ok(()), true) | (Err(_), false) => Ok(()),
        (Ok(()), false) => Err(Wrong::Broken("it was not repaired, and can be read".into())),
        (Err(error), true) => Err(Wrong::Broken(format!("it is repaired, and {error}"))),
    }
}

/// The interval on disk where a key stands.
fn leaf_of(set: &Arc<DataSet>, key: &[u8]) -> Result<CiNumber, Wrong> {
    let mut unit = AlignedBuf::zeroed(set.unit_bytes());
    for ci in (5..set.intervals()).map(CiNumber) {
        let whole = set.read_past_pool(ci, &mut unit).is_ok();
        if whole && unit[8] == 5 && unit.windows(key.len()).any(|part| part == key) {
            return Ok(ci);
        }
    }
    Err(Wrong::Broken("the key is in no leaf".into()))
}

/// Reads other intervals until this one is in no frame.
fn evict(set: &Arc<DataSet>, ci: CiNumber) -> Result<(), Wrong> {
    for _ in 0..20 {
        for other in (4..set.intervals()).map(CiNumber).filter(|other| *other != ci) {
            if set.is_used(other).map_err(TreeError::from)? {
                drop(set.shared(other).map_err(UowError::from)?);
            }
            if !set.is_resident(ci) {
                return Ok(());
            }
        }
    }
    Err(Wrong::Broken("it stays in memory".into()))
}

/// Spoils the copy of a unit in the double-write area.
fn spoil_copy(disk: &SimDisk, unit: &[u8]) -> Result<(), Wrong> {
    let path = Path::new("/system/double-write");
    let slot = 4096 + (1 << 20);
    for at in (0..2 * slot).step_by(4096) {
        if disk.read_raw(path, at, unit.len().min(4096)) == unit[..unit.len().min(4096)] {
            disk.write_raw(path, at + 100, &[!unit[100]]);
            return Ok(());
        }
    }
    Err(Wrong::Broken("the double-write area has no copy of it".into()))
}

fn file_name(disk: &SimDisk) -> Result<String, Wrong> {
    let paths = disk.paths().into_iter();
    let names = paths.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let mut of_set = names.filter(|name| name.starts_with("one."));
    of_set.next().ok_or_else(|| Wrong::Broken("there is no data file".into()))
}

/// Spoils files of a stopped system at random, several at once, and has the doctor look: there is
/// always an answer, and nothing is written.
///
/// # Errors
/// If it does not answer, or writes.
pub fn the_doctor_survives_any_damage(seed: u64, patients: u64) -> Result<(), String> {
    let disk = SimDisk::new();
    let medium = disk.clone();
    let earlier = Arc::new(Mutex::new(None));
    let before = Arc::clone(&earlier);
    let (outcome, made) = run_to_end(SimConfig::new(seed), &disk, move |seam| {
        let system = site(seam)?;
        *before.lock() = Some(medium.snapshot());
        change(&system, 3, 7)?;
        system.close().map_err(coded)
    });
    made.unwrap_or_else(|| Err(outcome.to_string()))?;
    let earlier = earlier.lock().take().ok_or("there is no earlier disk")?;
    for patient in 0..patients {
        let mut rng = Rng::stream(seed * 10_007 + patient, "patient");
        let spoilt = disk.snapshot();
        let mut done = Vec::new();
        let mut paths = spoilt.paths();
        // It is empty.
        paths.retain(|path| !path.ends_with("lock"));
        for _ in 0..=rng.index(4) {
            let path = paths.swap_remove(rng.index(paths.len()));
            done.push(media::spoil(&spoilt, &earlier, &path, &mut rng));
        }
        let writes = spoilt.counts().writes;
        let keyless = rng.one_in(4);
        let (outcome, answer) = run_to_end(SimConfig::new(patient), &spoilt, move |seam| {
            let phrase = phrase();
            system::diagnose(seam, Path::new(DIR), (!keyless).then_some(&phrase))
        });
        let answer = answer.ok_or_else(|| format!("{done:?}: {outcome}"))?;
        if spoilt.counts().writes != writes {
            return Err(format!("{done:?}: the doctor wrote"));
        }
        if answer.parts.is_empty() || (!answer.is_sound() && answer.steps.is_empty()) {
            return Err(format!("{done:?}: it says nothing: {answer:?}"));
        }
    }
    Ok(())
}

/// Somebody changes a data set while it is recovered to now: nothing that was acknowledged is
/// missing afterwards, and who had to wait for the last step goes on.
///
/// # Errors
/// What is missing.
pub fn nothing_is_lost_while_it_is_recovered(seed: u64) -> Result<(), String> {
    let disk = SimDisk::new();
    let (outcome, result) = run_to_end(SimConfig::new(seed), &disk, move |seam| {
        let system = site(seam)?;
        // The log that the first copy needs has been used again.
        copy_all(&system, false)?;
        let over = Arc::new(AtomicBool::new(false));
        let (store, until) = (system.store().clone(), Arc::clone(&over));
        let verdict = Arc::new(Mutex::new(Ok(0)));
        let tell = Arc::clone(&verdict);
        let teller = seam::thread::spawn("teller", move || {
            *tell.lock() = count_up(&store, &until);
        });
        let teller = teller.map_err(|error| error.to_string())?;
        let recovered = recover(&system, SET);
        over.store(true, SeqCst);
        teller.join();
        recovered?;
        let verdict = verdict.lock().clone()?;
        let store = system.store();
        let set = store.set(SET).map_err(coded)?.ok_or("the set is gone")?;
        let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
        let mut found = Vec::new();
        for number in 0..verdict {
            if !unit.get(set, &counted(number), Read::Shared, &mut found).map_err(coded)? {
                return Err(format!(
                    "{number} of {verdict} keys that were acknowledged is missing"
                ));
            }
        }
        drop(unit);
        system.close().map_err(coded)
    });
    result.unwrap_or_else(|| Err(outcome.to_string()))
}

fn counted(number: u64) -> Vec<u8> {
    format!("counted {number:08}").into_bytes()
}

/// Inserts one key after another until it is over, and some more; says how many.
fn count_up(store: &KernelStore, over: &AtomicBool) -> Result<u64, String> {
    let set = store.set(SET).map_err(coded)?.ok_or("the set is gone")?;
    let (mut number, mut more) = (0, 20);
    while more > 0 {
        more -= u64::from(over.load(SeqCst));
        let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
        unit.put(set, &counted(number), b"there").map_err(coded)?;
        unit.commit().map_err(coded)?;
        number += 1;
    }
    Ok(number)
}
