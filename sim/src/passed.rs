//! Data sets are converted while the double-write area still holds what was written before: the
//! proof of the system, in use and stopped, does not take for damage what the conversion has
//! passed, and names what is spoilt of it (K4, K20).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::CiNumber;
use pool::double_write::{DoubleWrite, DoubleWriteKeys};
use seal::{Format, KdfCost, KeyProvider, PageSealer, Passphrase};
use seam::Seam;
use seam::sim::{SimConfig, SimDisk};
use serde_json::{Value, json};
use store::{SetAttributes, Store, Unit, UnitOptions};
use system::operator::Request;
use system::{Bytes, Finding, InitOptions, OpenOptions, System, SystemConfig, VerifyReport};

use crate::recovery::coded;
use crate::scenario::{key, value};
use crate::verify::run_to_end;

const DIR: &str = "/system";
const AREA: &str = "/system/double-write";
const SET: &str = "ACCOUNTS";
const KEYS: u64 = 600;
/// Slots of the area, and where each begins.
const SLOTS: u64 = 2;
const SLOT_BYTES: u64 = 4096 + (1 << 20);

/// What a data set is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// No seal any more.
    Plain,
    /// The next generation of its key.
    NextKey,
}

fn phrase() -> Passphrase {
    Passphrase::from("of the simulator")
}

fn open(seam: &Seam) -> Result<System, String> {
    let options = OpenOptions { serve: false, ..operations::verbs::options(|_| ()) };
    System::open(seam, Path::new(DIR), &phrase(), options).map_err(coded)
}

fn ask(system: &System, verb: &str, arguments: Value) -> Result<Value, String> {
    let request = Request { verb: verb.into(), arguments };
    let answer = system.operate(&request, &mut |_| ());
    answer.map_err(|refusal| format!("{} {}", refusal.code, refusal.message))
}

fn findings(system: &System) -> Result<Vec<Finding>, String> {
    let report = ask(system, "verify", json!({}))?;
    let report: VerifyReport = serde_json::from_value(report).map_err(|e| e.to_string())?;
    Ok(report.findings)
}

fn nothing(findings: &[Finding], when: &str) -> Result<(), String> {
    let first = findings.first();
    first.map_or(Ok(()), |finding| {
        Err(format!("nothing is spoilt, and {when} it finds {finding:?}"))
    })
}

/// A system with a sealed data set, all on disk; its newest batches are small.
fn site(seam: &Seam) -> Result<System, String> {
    let mut config = SystemConfig::new(base::SystemId::default());
    config.log.segment_bytes = Bytes(1 << 20);
    config.log.ring_bytes = Bytes(1 << 20);
    config.pools.values_mut().for_each(|pool| pool.bytes = Bytes(1 << 20));
    let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
    let options = InitOptions { config, cost, ..InitOptions::default() };
    System::init(seam, Path::new(DIR), &phrase(), &options).map_err(coded)?;
    let system = open(seam)?;
    system.store().create_set(SET, &SetAttributes::default()).map_err(coded)?;
    for (version, last) in [(1, KEYS), (2, 1), (3, 1)] {
        let store = system.store();
        let set = store.set(SET).map_err(coded)?.ok_or("the set is gone")?;
        let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
        for number in 0..last {
            unit.put(set, &key(number), &value(number, version, 300)).map_err(coded)?;
        }
        unit.commit().map_err(coded)?;
        system.kernel().write_out().map_err(coded)?;
    }
    system.update_recon().map_err(coded)?;
    Ok(system)
}

/// Begins a conversion that stands still once its first chunk is done.
fn begin(system: &System, to: To) -> Result<CiNumber, String> {
    let wanted = json!({ "sets": [SET], "bytes_per_second": 1, "no_wait": true });
    match to {
        To::NextKey => ask(system, "rekey", wanted)?,
        To::Plain => {
            let mut wanted = wanted;
            wanted["plain"] = true.into();
            ask(system, "convert", wanted)?
        }
    };
    let kernel = system.kernel();
    for _ in 0..1_000 {
        let set = kernel.set_named(SET).ok_or("the set is gone")?;
        let next = set.definition().conversion.ok_or("it is not converted")?.next;
        if next > CiNumber(0) {
            return Ok(next);
        }
        kernel.seam().clock.sleep(Duration::from_millis(5));
    }
    Err("the conversion does not begin".into())
}

/// Where a copy stands in the area that the conversion has passed.
fn passed(system: &System, disk: &SimDisk, next: CiNumber) -> Result<u64, String> {
    let set = system.kernel().set_named(SET).ok_or("the set is gone")?;
    let from = set.definition().conversion.ok_or("it is not converted")?.from;
    let keys = DoubleWriteKeys {
        keys: Arc::clone(system.keys()) as Arc<dyn KeyProvider>,
        label: "system".into(),
        format: Format::Sealed,
        system: system.config().system,
    };
    let area = DoubleWrite::open(system.kernel().seam(), Path::new(AREA), keys).map_err(coded)?;
    let found = area.found().map_err(coded)?;
    let mut units = found.iter().flat_map(|batch| &batch.units).filter(|(of, ci, _, unit)| {
        let form = PageSealer::trailer(unit).map(|trailer| trailer.form);
        *of == set.id() && *ci < next && form == Ok(from)
    });
    let (_, _, _, unit) = units.next().ok_or("the area has nothing that it has passed")?;
    let places = (0..SLOTS)
        .flat_map(|slot| (4096..SLOT_BYTES).step_by(4096).map(move |at| slot * SLOT_BYTES + at));
    let mut places = places.filter(|at| disk.read_raw(Path::new(AREA), *at, 4096) == unit[..4096]);
    places.next().ok_or_else(|| "the copy stands nowhere".into())
}

/// Whether a proof names the double-write area.
fn is_named(findings: &[Finding], offset: u64) -> Result<(), String> {
    let of_area = |one: &Finding| one.object == "double-write area" && one.offset == Some(offset);
    match findings.iter().any(of_area) {
        true => Ok(()),
        false => Err(format!("the copy at {offset} is spoilt, and it finds {findings:?}")),
    }
}

/// A conversion has passed what the area holds, in a system in use, and in one that was stopped.
///
/// # Errors
/// What is called damaged although it is sound, or what is overlooked.
pub fn what_a_conversion_has_passed_is_no_damage(seed: u64, to: To) -> Result<(), String> {
    let disk = SimDisk::new();
    let medium = disk.clone();
    let (outcome, result) = run_to_end(SimConfig::new(seed), &disk, move |seam| {
        let system = site(seam)?;
        nothing(&findings(&system)?, "at rest")?;
        let next = begin(&system, to)?;
        let at = passed(&system, &medium, next)?;
        nothing(&findings(&system)?, "while it converts")?;
        // What does not prove itself in either form is damage.
        let spoil = |seen: &[u8]| medium.write_raw(Path::new(AREA), at + 100, &[!seen[0]]);
        spoil(&medium.read_raw(Path::new(AREA), at + 100, 1));
        is_named(&findings(&system)?, at)?;
        spoil(&medium.read_raw(Path::new(AREA), at + 100, 1));
        nothing(&findings(&system)?, "once it is repaired")?;
        system.close().map_err(coded)?;
        let stopped = || {
            let report = system::verify(seam, Path::new(DIR), &phrase(), &mut |_| ());
            report.map(|report| report.findings).map_err(coded)
        };
        nothing(&stopped()?, "once it is stopped")
    });
    result.unwrap_or_else(|| Err(outcome.to_string()))
}
