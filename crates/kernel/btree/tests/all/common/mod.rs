//! A kernel with one data set on a simulated machine.
#![allow(clippy::disallowed_methods)] // the same as in the tests
#![allow(dead_code, unreachable_pub)] // each test uses its part
#![allow(clippy::unwrap_used)] // a test stops where something is not as it should be

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::{DataSetId, KeyGeneration, SystemId};
use holdfast_btree::{Tree, TreeReport, TreeResource, format_empty};
use seal::{Format, TestKeys};
use seam::Seam;
use space::{DataSet, Definition};
use uow::{Kernel, KernelConfig, Parts, PoolPlan, Uow, UowOptions};

/// Keys that share so many bytes have a lookup hint in common: every search may begin at one.
const PREFIX_BYTES: u16 = 3;

/// An open system with the data set "data".
pub struct System {
    pub kernel: Arc<Kernel>,
    pub set: Arc<DataSet>,
}

pub fn config(home: &Path, unit_bytes: usize, frames: usize) -> KernelConfig {
    let mut config = KernelConfig::new(home);
    config.log.segment_bytes = 4 << 20;
    config.log.segments_min = 2;
    config.log.ring_bytes = 1 << 20;
    config.pools = vec![PoolPlan { name: "pool".into(), unit_bytes, frames }];
    config.checkpoint_bytes = 2 << 20;
    config.checkpoint_interval = Duration::from_secs(5);
    config
}

pub fn parts(seam: &Seam, home: PathBuf) -> Parts {
    Parts {
        seam: seam.clone(),
        keys: Arc::new(TestKeys::new(1)),
        system: SystemId([7; 16]),
        home,
        resource: Arc::new(TreeResource),
        override_stale: false,
        offline: Vec::new(),
    }
}

pub fn definition(name: &str, unit_bytes: usize) -> Definition {
    Definition {
        id: DataSetId(0),
        name: name.into(),
        ci_bytes: unit_bytes as u32,
        format: Format::Sealed,
        label: "data".into(),
        generation: KeyGeneration(1),
        pool: String::new(),
        file_intervals: 0,
        folders: vec!["data".into()],
        attributes: Vec::new(),
        conversion: None,
        permit: None,
    }
}

impl System {
    /// Makes a system with an empty data set.
    pub fn create(seam: &Seam, unit_bytes: usize, frames: usize) -> System {
        System::create_in(seam, "/system".as_ref(), unit_bytes, frames)
    }

    pub fn create_in(seam: &Seam, home: &Path, unit_bytes: usize, frames: usize) -> System {
        let config = config(home, unit_bytes, frames);
        let parts = parts(seam, home.into());
        seam::disk::make_dir(&*seam.disk, home).unwrap();
        Kernel::create(&parts, &config).unwrap();
        seam::disk::make_dir(&*seam.disk, &home.join("data")).unwrap();
        let kernel = Kernel::open(parts, config).unwrap();
        let set = kernel.create_set(definition("data", unit_bytes), &format_empty).unwrap();
        set.set_prefix_bytes(PREFIX_BYTES);
        System { kernel, set }
    }

    /// Opens it again.
    pub fn open(seam: &Seam, unit_bytes: usize, frames: usize) -> System {
        let home = PathBuf::from("/system");
        let config = config(&home, unit_bytes, frames);
        let kernel = Kernel::open(parts(seam, home), config).unwrap();
        let set = kernel.set_named("data").unwrap();
        set.set_prefix_bytes(PREFIX_BYTES);
        System { kernel, set }
    }

    pub fn tree(&self) -> Tree<'_> {
        Tree::new(&self.kernel, &self.set)
    }

    pub fn begin(&self) -> Uow {
        self.kernel.begin(UowOptions::default()).unwrap()
    }

    /// The tree is sound, every interval that is in use belongs to it, and nobody holds anything.
    pub fn prove(&self) -> TreeReport {
        // The page writer pins what it writes, and the housekeeper frees what commits have freed:
        // let them come to an end.
        for _ in 0..1_000 {
            let report = self.tree().check().unwrap();
            let lost = report.unreachable + report.in_transit;
            if self.kernel.check_quiet().is_ok() && lost == 0 {
                return report;
            }
            self.kernel.seam().clock.sleep(Duration::from_millis(10));
        }
        panic!("{:?}, {:?}", self.kernel.check_quiet(), self.tree().check());
    }
}
