//! Archives that policy deletes.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use archive::ArchiveCatalog;
use base::Lsn;
use parking_lot::Mutex;
use seam::sim::{self, Rng, SimConfig};

use super::{Machine, Make, STYLES, Script, crashed};

/// Archives are deleted, one after another, and the machine crashes at any event of its disk: each
/// archive that is recorded then is there. Returns how many crashes there were.
///
/// # Errors
/// If one is recorded and gone.
pub fn deletions(seed: u64) -> Result<u64, String> {
    let folders = 1 + seed as usize % 2;
    let make = Make { log_copies: 1, folders, compress: false, recent: true, ahead: 0 };
    let mut machine = Machine::new(make);
    let keep = std::mem::take(&mut machine.archive.keep);
    crashed(&machine.live(Script { seed, records: 50 }, None))?;
    machine.archive.keep = keep;
    machine.disk.settle();
    machine.ledger.needed.store(u64::MAX, SeqCst);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (into, ledger) = (Arc::clone(&seen), Arc::clone(&machine.ledger));
    machine.disk.observe(move |disk, _| {
        into.lock().push((disk.snapshot(), ledger.archives.lock().clone()));
    });
    let outcome = sim::run(SimConfig::new(seed), machine.disk.clone(), |seam| {
        let catalog = ArchiveCatalog::open(Machine::env(&seam), machine.archive.clone());
        let catalog = catalog.unwrap_or_else(|error| panic!("{error}"));
        for copy in catalog.expired(&machine.archive.keep, Lsn(u64::MAX)) {
            let deleted = catalog.delete(copy.info.from, &*machine.ledger);
            deleted.unwrap_or_else(|error| panic!("{error}"));
        }
    });
    machine.disk.stop_observing();
    crashed(&outcome)?;
    let mut crashes = 0;
    for (disk, recorded) in std::mem::take(&mut *seen.lock()) {
        for style in STYLES {
            crashes += 1;
            machine.disk = disk.crash_image(&mut Rng::new(crashes), style);
            *machine.ledger.archives.lock() = recorded.clone();
            let outcome = sim::run(SimConfig::new(seed), machine.disk.clone(), |seam| {
                let catalog = ArchiveCatalog::open(Machine::env(&seam), machine.archive.clone());
                machine.check_recorded(&catalog.unwrap_or_else(|error| panic!("{error}")));
            });
            crashed(&outcome).map_err(|why| format!("crash {crashes} ({style:?}): {why}"))?;
        }
    }
    Ok(crashes)
}
