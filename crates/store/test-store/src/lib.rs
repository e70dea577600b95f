//! A store on the kernel in a folder of its own, for tests of crates that keep their data in one.
//!
//! Invariants:
//! 1. The folder is new, and goes away with its machine.
//! 2. What was abandoned, as by a crash, can be started again.
#![allow(clippy::unwrap_used)] // a test that fails says where
#![allow(clippy::disallowed_methods)] // folders of tests stand outside of the seam

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::SystemId;
use seam::Seam;
use store_kernel::{KernelStore, StoreDefaults};
use uow::{Kernel, KernelConfig, Parts, PoolPlan};

/// A folder with a kernel in it, removed in the end.
pub struct Machine(PathBuf);

impl Machine {
    /// Makes a kernel; `name` tells the test from others of its process.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn new(name: &str) -> Machine {
        let base = std::env::var_os("CARGO_TARGET_TMPDIR").map(PathBuf::from);
        let base = base.unwrap_or_else(std::env::temp_dir);
        let path = base.join(format!("holdfast-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let (parts, config) = setup(&Seam::real(), &path);
        Kernel::create(&parts, &config).unwrap();
        Machine(path)
    }

    /// Starts it, after whatever end.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn start(&self) -> KernelStore {
        let (parts, config) = setup(&Seam::real(), &self.0);
        let kernel = Kernel::open(parts, config).unwrap();
        KernelStore::new(&kernel, StoreDefaults::default()).unwrap()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a kernel in a folder is opened with: small, sealed under keys of tests.
#[must_use]
pub fn setup(seam: &Seam, home: &Path) -> (Parts, KernelConfig) {
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
    config.log.segment_bytes = 8 << 20;
    config.log.ring_bytes = 4 << 20;
    config.log.segments_min = 2;
    config.pools = vec![PoolPlan { name: "default".into(), unit_bytes: 8192, frames: 1_024 }];
    (parts, config)
}
