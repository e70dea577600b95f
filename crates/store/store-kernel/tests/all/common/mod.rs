//! Systems for tests: in a temporary folder of the real machine, with keys from a seed.
#![allow(clippy::disallowed_methods)] // the same as in the tests
#![allow(dead_code, unreachable_pub)] // each test uses its part

pub(crate) mod lists;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::SystemId;
use holdfast_store_kernel::{KernelStore, StoreDefaults};
use seam::Seam;
use uow::{Kernel, KernelConfig, Parts, PoolPlan};

/// The seeds to run: those that `HOLDFAST_SEEDS` asks for, such as `100..200`, or the usual ones.
pub fn seeds(usual: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let text = std::env::var("HOLDFAST_SEEDS").unwrap_or_default();
    let range = text.split_once("..").map(|(from, to)| (from.parse(), to.parse()));
    if let Some((Ok(from), Ok(to))) = range { from..to } else { usual }
}

/// A folder that is removed with everything in it.
pub struct Folder(pub PathBuf);

impl Folder {
    /// A new, empty folder.
    pub fn new(name: &str) -> Folder {
        let base = std::env::var_os("CARGO_TARGET_TMPDIR").map(PathBuf::from);
        let base = base.unwrap_or_else(std::env::temp_dir);
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = base.join(format!("holdfast-{name}-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A kernel that is abandoned when the test is over.
pub struct Running {
    kernel: Arc<Kernel>,
    _folder: Folder,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kernel.abandon();
    }
}

/// Panics if something is still held after a while: the page writer pins intervals, too.
pub fn expect_quiet(kernel: &Kernel) {
    let mut quiet = kernel.check_quiet();
    for _ in 0..1_000 {
        if quiet.is_ok() {
            return;
        }
        kernel.seam().clock.sleep(std::time::Duration::from_millis(1));
        quiet = kernel.check_quiet();
    }
    quiet.expect("nothing is held in the end");
}

/// A new system, opened, and what has to be kept as long as it is used.
pub fn fresh(name: &str) -> (KernelStore, Running) {
    fresh_with(name, |_| ())
}

/// The same, set up otherwise.
pub fn fresh_with(name: &str, change: impl FnOnce(&mut KernelConfig)) -> (KernelStore, Running) {
    let folder = Folder::new(name);
    let (parts, mut config) = setup(&folder);
    change(&mut config);
    Kernel::create(&parts, &config).expect("a system can be made");
    let kernel = Kernel::open(parts, config).expect("a system can be opened");
    let store = KernelStore::new(&kernel, StoreDefaults::default()).expect("a store");
    (store, Running { kernel, _folder: folder })
}

/// What a small system in a folder is made of.
pub fn setup(folder: &Folder) -> (Parts, KernelConfig) {
    setup_on(&Seam::real(), &folder.0)
}

/// A new system on a simulated machine, opened.
pub fn simulated(seam: &Seam) -> KernelStore {
    let (parts, config) = setup_on(seam, Path::new("/home"));
    seam::disk::make_dir(&*seam.disk, Path::new("/home/data")).expect("folders can be made");
    Kernel::create(&parts, &config).expect("a system can be made");
    reopened(seam)
}

/// A system on a simulated machine, opened again.
pub fn reopened(seam: &Seam) -> KernelStore {
    let (parts, config) = setup_on(seam, Path::new("/home"));
    let kernel = Kernel::open(parts, config).expect("a system can be opened");
    KernelStore::new(&kernel, StoreDefaults::default()).expect("a store")
}

fn setup_on(seam: &Seam, home: &Path) -> (Parts, KernelConfig) {
    let parts = Parts {
        seam: seam.clone(),
        keys: Arc::new(seal::TestKeys::new(1)),
        system: SystemId([7; 16]),
        home: home.to_owned(),
        resource: Arc::new(btree::TreeResource),
        override_stale: false,
        offline: Vec::new(),
    };
    let mut config = KernelConfig::new(home);
    config.log.segment_bytes = 4 << 20;
    config.log.ring_bytes = 4 << 20;
    config.log.segments_min = 2;
    config.pools = vec![PoolPlan { name: "default".into(), unit_bytes: 8192, frames: 256 }];
    (parts, config)
}
