//! Catalogs for tests: over the model of the store, and over a kernel in a temporary folder.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use base::SystemId;
use seam::Seam;
use seam::clock::RealClock;
use store::{Capabilities, Store, Unit, UnitOptions, Wait};
use store_kernel::{KernelStore, StoreDefaults};
use store_suite::model::ModelStore;
use uow::{Kernel, KernelConfig, Parts, PoolPlan};
use vsam::{
    AlternateIndexAttributes, Catalog, ClusterAttributes, DataSetName, Definition, File, KeyField,
    OpenMode, OpenOptions, Organization, PathAttributes,
};

pub(crate) fn name(text: &str) -> DataSetName {
    DataSetName::parse(text).unwrap()
}

/// Catalogs over the model.
pub(crate) fn catalog() -> Catalog<ModelStore> {
    let limits = Capabilities { savepoints_max: u32::MAX, ..ModelStore::CAPABILITIES };
    let clock = Arc::new(RealClock::new());
    Catalog::open(ModelStore::with(limits, clock.clone()), clock).unwrap()
}

/// A unit of work that waits for nobody for long.
pub(crate) fn begin<S: Store>(catalog: &Catalog<S>) -> S::Unit {
    let wait = Wait::AtMost(Duration::from_millis(20));
    catalog.store().begin(UnitOptions { wait, ..UnitOptions::default() }).unwrap()
}

/// Runs requests in a unit of work and commits it.
pub(crate) fn within<S: Store, T>(catalog: &Catalog<S>, body: impl FnOnce(&mut S::Unit) -> T) -> T {
    let mut unit = begin(catalog);
    let answer = body(&mut unit);
    unit.commit().unwrap();
    answer
}

/// Records of 20 bytes or more: key of 4, then a name of 4, then a town of 4.
pub(crate) const KEY: KeyField = KeyField { offset: 0, bytes: 4 };
pub(crate) const BY_NAME: KeyField = KeyField { offset: 4, bytes: 4 };
pub(crate) const BY_TOWN: KeyField = KeyField { offset: 8, bytes: 4 };

pub(crate) fn define<S: Store>(catalog: &Catalog<S>, named: &str, attributes: ClusterAttributes) {
    catalog.define(&name(named), Definition::Cluster(attributes), None).unwrap();
}

pub(crate) fn keyed<S: Store>(catalog: &Catalog<S>, named: &str) {
    define(catalog, named, ClusterAttributes::keyed(KEY, 80));
}

pub(crate) fn other<S: Store>(catalog: &Catalog<S>, named: &str, organization: Organization) {
    define(catalog, named, ClusterAttributes::new(organization).with_records(80));
}

/// An alternate index over a cluster, and a path through it that is called with `.PATH`.
pub(crate) fn index<S: Store>(
    catalog: &Catalog<S>,
    named: &str,
    base: &str,
    change: impl FnOnce(&mut AlternateIndexAttributes),
) {
    let mut attributes = AlternateIndexAttributes::new(name(base), BY_NAME);
    change(&mut attributes);
    catalog.define(&name(named), Definition::AlternateIndex(attributes), None).unwrap();
    let path = PathAttributes { entry: name(named), update: true };
    catalog.define(&name(named).with("PATH").unwrap(), Definition::Path(path), None).unwrap();
}

pub(crate) fn open<S: Store>(catalog: &Catalog<S>, named: &str, mode: OpenMode) -> File<S> {
    catalog.open_file(&name(named), mode, &OpenOptions::default()).unwrap()
}

/// A record with 20 bytes.
pub(crate) fn record(key: &str, named: &str, town: &str) -> Vec<u8> {
    format!("{key:4}{named:4}{town:4}........").into_bytes()
}

/// Puts records into a file and commits them.
pub(crate) fn fill<S: Store>(catalog: &Catalog<S>, named: &str, records: &[Vec<u8>]) {
    let file = open(catalog, named, OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(catalog, |unit| {
        for record in records {
            file.put(unit, &mut position, record).unwrap();
        }
    });
    drop(position);
    file.close().unwrap();
}

/// All records of a file by its own order, the first 12 bytes of each as text.
pub(crate) fn all<S: Store>(catalog: &Catalog<S>, named: &str) -> Vec<String> {
    let options = OpenOptions { record_level: true, ..OpenOptions::default() };
    let file = catalog.open_file(&name(named), OpenMode::Input, &options).unwrap();
    let mut position = file.position().unwrap();
    let (mut records, mut record) = (Vec::new(), Vec::new());
    within(catalog, |unit| {
        while file.get_next(unit, &mut position, vsam::Intent::Look, &mut record).is_ok() {
            let text = String::from_utf8_lossy(&record[..record.len().min(12)]).into_owned();
            records.push(text);
        }
    });
    records
}

/// A folder that is removed with everything in it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::var_os("CARGO_TARGET_TMPDIR").map(PathBuf::from);
        let number = NEXT.fetch_add(1, Relaxed);
        let path = base
            .unwrap_or_else(std::env::temp_dir)
            .join(format!("holdfast-vsam-{name}-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A kernel in a folder; abandoned, as by a crash of the process, when it is dropped.
pub(crate) struct Running {
    pub(crate) catalog: Catalog<KernelStore>,
    kernel: Arc<Kernel>,
}

impl Running {
    /// As if the process had ended here.
    pub(crate) fn crash(&self) {
        self.kernel.abandon();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kernel.abandon();
    }
}

/// Opens the system of a folder, which is made if it is new.
pub(crate) fn run_in(folder: &Folder) -> Running {
    let is_new = !folder.0.exists();
    let seam = Seam::real();
    let parts = || Parts {
        seam: seam.clone(),
        keys: Arc::new(seal::TestKeys::new(1)),
        system: SystemId([7; 16]),
        home: folder.0.clone(),
        resource: Arc::new(btree::TreeResource),
        override_stale: false,
        offline: Vec::new(),
    };
    let mut config = KernelConfig::new(&folder.0);
    config.log.segment_bytes = 4 << 20;
    config.log.ring_bytes = 4 << 20;
    config.log.segments_min = 2;
    config.pools = vec![PoolPlan { name: "default".into(), unit_bytes: 8192, frames: 512 }];
    if is_new {
        Kernel::create(&parts(), &config).unwrap();
    }
    let kernel = Kernel::open(parts(), config).unwrap();
    let store = KernelStore::new(&kernel, StoreDefaults::default()).unwrap();
    let catalog = Catalog::open(store, Arc::clone(&seam.clock)).unwrap();
    Running { catalog, kernel }
}
