//! A system in use is proven while files of its data sets are cut off and grow again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use base::Coded;
use parking_lot::Mutex;
use seal::{KdfCost, Passphrase};
use seam::Seam;
use seam::sim::{SimConfig, SimDisk};
use serde_json::json;
use store::{KeyRange, SetAttributes, Store, Unit, UnitOptions};
use system::operator::Request;
use system::{Bytes, InitOptions, OpenOptions, System, SystemConfig, VerifyReport};

use crate::scenario::{key, value};
use crate::verify::run_to_end;

const DIR: &str = "/system";
const SET: &str = "TIDE";
const KEYS: u64 = 900;
const ROUNDS: u64 = 4;

#[allow(clippy::needless_pass_by_value)] // so that `map_err` takes it by its name
fn coded<E: Coded>(error: E) -> String {
    format!("{} {error}", error.code())
}

fn site(seam: &Seam) -> Result<System, String> {
    let mut config = SystemConfig::new(base::SystemId::default());
    config.log.segment_bytes = Bytes(1 << 20);
    config.log.ring_bytes = Bytes(1 << 20);
    config.pools.values_mut().for_each(|pool| pool.bytes = Bytes(2 << 20));
    let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
    let options = InitOptions { config, cost, ..InitOptions::default() };
    let phrase = Passphrase::from("of the simulator");
    System::init(seam, Path::new(DIR), &phrase, &options).map_err(coded)?;
    let options = OpenOptions { serve: false, ..OpenOptions::default() };
    let system = System::open(seam, Path::new(DIR), &phrase, options).map_err(coded)?;
    system.store().create_set(SET, &SetAttributes::default()).map_err(coded)?;
    Ok(system)
}

/// Fills the data set, empties it, and has its file cut off, again and again.
fn tide(system: &System) -> Result<(), String> {
    let (store, kernel) = (system.store(), system.kernel());
    let set = store.set(SET).map_err(coded)?.ok_or("the set is gone")?;
    for round in 0..ROUNDS {
        for first in (0..KEYS).step_by(30) {
            let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
            for number in first..first + 30 {
                unit.put(set, &key(number), &value(number, round, 3_000)).map_err(coded)?;
            }
            unit.commit().map_err(coded)?;
        }
        kernel.write_out().map_err(coded)?;
        let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
        unit.delete_range(set, KeyRange::ALL).map_err(coded)?;
        unit.commit().map_err(coded)?;
        kernel.shrink_now().map_err(coded)?;
    }
    Ok(())
}

fn proven(system: &System) -> Result<VerifyReport, String> {
    let request = Request { verb: "verify".into(), arguments: json!({ "sets": [SET] }) };
    let answer = system.operate(&request, &mut |_| ());
    let answer = answer.map_err(|refusal| format!("{} {}", refusal.code, refusal.message))?;
    serde_json::from_value(answer).map_err(|error| error.to_string())
}

/// Proves the data set again and again meanwhile: nothing is damaged, and nothing is said to be.
///
/// # Errors
/// What is called damaged.
pub fn nothing_is_called_damaged_that_is_sound(seed: u64) -> Result<(), String> {
    let disk = SimDisk::new();
    let (outcome, result) = run_to_end(SimConfig::new(seed), &disk, move |seam| {
        let system = Arc::new(site(seam)?);
        let (over, verdict) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Ok(()))));
        let (mine, until, tell) = (Arc::clone(&system), Arc::clone(&over), Arc::clone(&verdict));
        let teller = seam::thread::spawn("teller", move || {
            *tell.lock() = tide(&mine);
            drop(mine);
            until.store(true, SeqCst);
        });
        let teller = teller.map_err(|error| error.to_string())?;
        let mut looks = 0;
        let mut found = None;
        while !over.load(SeqCst) && found.is_none() {
            found = proven(&system)?.findings.into_iter().next();
            looks += 1;
        }
        teller.join();
        verdict.lock().clone()?;
        if let Some(finding) = found {
            return Err(format!("look {looks} calls damaged what is sound: {finding:?}"));
        }
        if looks < 5 {
            return Err(format!("only {looks} looks"));
        }
        let system = Arc::try_unwrap(system).map_err(|_| "somebody still has the system")?;
        system.close().map_err(coded)
    });
    result.unwrap_or_else(|| Err(outcome.to_string()))
}
