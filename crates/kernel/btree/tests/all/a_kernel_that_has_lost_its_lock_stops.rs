//! The lock on a system is taken from a kernel where only the file's name keeps others out: it
//! stops before two go on with one log.
#![allow(clippy::unwrap_used)] // a test stops where something is not as it should be

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::time::Duration;

use crate::common::{System, config, parts};
use seam::disk::{HeldLock, LockPlace};
use seam::sim::{self, SimConfig, SimDisk};
use uow::{Kernel, UowOptions};

const UNIT: usize = 4096;

struct Taken(Arc<AtomicU8>);

impl HeldLock for Taken {
    fn place(&self) -> LockPlace {
        match self.0.load(SeqCst) {
            0 => LockPlace::InPlace,
            1 => LockPlace::FolderHeld,
            _ => LockPlace::Lost,
        }
    }
}

#[test]
fn a_kernel_that_has_lost_its_lock_stops() {
    sim::run(SimConfig::new(7), SimDisk::new(), |seam| {
        let system = System::create(&seam, UNIT, 64);
        system.kernel.close().unwrap();
        drop(system);
        let home = PathBuf::from("/system");
        let place = Arc::new(AtomicU8::new(0));
        let lock = Arc::new(Taken(Arc::clone(&place)));
        let kernel =
            Kernel::open_under(parts(&seam, home.clone()), config(&home, UNIT, 64), lock).unwrap();
        for held in [0, 1] {
            place.store(held, SeqCst);
            seam.clock.sleep(Duration::from_secs(20));
            kernel.begin(UowOptions::default()).unwrap().commit().unwrap();
        }
        place.store(2, SeqCst);
        seam.clock.sleep(Duration::from_secs(20));
        let refused = kernel.close().unwrap_err();
        assert!(refused.is_stopped(), "{refused}");
        assert!(refused.to_string().contains("the lock of /system was removed"), "{refused}");
    });
}
