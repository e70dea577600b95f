//! A log in a folder of its own, for tests on real files.

#![allow(clippy::unwrap_used)] // the same as in the tests
#![allow(dead_code)] // each test file uses its part

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::{GroupNumber, SystemId};
use holdfast_wal::{Log, LogConfig, LogEnv, LogError, LogEvents, LogStart, Opened};
use seal::TestKeys;
use seam::Seam;
use seam::stop::StopSwitch;
use seam::sync::Mutex;

/// What the log has told.
#[derive(Default)]
pub(crate) struct RecordedEvents(pub(crate) Mutex<Vec<(u8, GroupNumber)>>);

impl LogEvents for RecordedEvents {
    fn copy_lost(&self, copy: u8, from: GroupNumber, _why: &str) -> Result<(), String> {
        self.0.lock().push((copy, from));
        Ok(())
    }

    fn copy_back(&self, _: u8) -> Result<(), String> {
        Ok(())
    }
}

/// A log in a folder that goes away with it.
pub(crate) struct Bench {
    pub(crate) dir: PathBuf,
    pub(crate) config: LogConfig,
    pub(crate) recorded: Arc<RecordedEvents>,
    pub(crate) system: SystemId,
    pub(crate) seam: Seam,
}

impl Bench {
    /// A new log with small segments.
    pub(crate) fn new(copies: usize, change: impl FnOnce(&mut LogConfig)) -> Bench {
        Bench::make(Seam::real(), copies, change)
    }

    /// The same with one copy on a simulated machine.
    pub(crate) fn on(seam: Seam, change: impl FnOnce(&mut LogConfig)) -> Bench {
        Bench::make(seam, 1, change)
    }

    fn make(seam: Seam, copies: usize, change: impl FnOnce(&mut LogConfig)) -> Bench {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let name = format!("holdfast-log-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        let mut config = LogConfig {
            segment_bytes: 64 << 10,
            segments_min: 2,
            segments_max: 16,
            ring_bytes: 64 << 10,
            group_bytes_max: 16 << 10,
            ..LogConfig::new((0..copies).map(|copy| dir.join(format!("copy-{copy}"))).collect())
        };
        change(&mut config);
        let recorded = Arc::default();
        let bench = Bench { dir, config, recorded, system: SystemId([9; 16]), seam };
        Log::create(&bench.env(), &bench.config).unwrap();
        bench
    }

    pub(crate) fn env(&self) -> LogEnv {
        LogEnv {
            seam: self.seam.clone(),
            keys: Arc::new(TestKeys::new(1)),
            system: self.system,
            stop: Arc::new(StopSwitch::default()),
            events: self.recorded.clone(),
        }
    }

    pub(crate) fn open(&self, start: LogStart) -> Result<(Arc<Log>, Opened), LogError> {
        Log::open(self.env(), self.config.clone(), start)
    }

    pub(crate) fn file(&self, copy: usize, slot: u32, stripe: u8) -> PathBuf {
        self.config.copies[copy].join(format!("segment-{slot:03}.stripe-{stripe}"))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A body that says which one it is.
pub(crate) fn body(index: u64, len: usize) -> Vec<u8> {
    let mut body = index.to_le_bytes().repeat(len / 8 + 1);
    body.truncate(len);
    body
}

/// Changes bytes of a file.
#[allow(clippy::disallowed_methods)] // a fault comes past the seam
pub(crate) fn spoil(path: &Path, offset: u64, bytes: &[u8]) {
    let mut all = std::fs::read(path).unwrap();
    all[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
    std::fs::write(path, all).unwrap();
}

/// The bytes of a file.
#[allow(clippy::disallowed_methods)] // looks past the seam
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}
