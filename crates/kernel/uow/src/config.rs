//! How a kernel is set up.
//!
//! Invariants:
//! 1. Nothing of it changes while the system is open, but for pools.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use base::Lsn;
use lock::LockConfig;
use pool::{PoolConfig, WriterConfig};
use wal::LogConfig;

use crate::anchor::AnchorPlan;
use crate::protection::{AskedAbove, FIRST_EDITION, Protection};

/// A pool to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPlan {
    /// Its name.
    pub name: String,
    /// The unit of its intervals.
    pub unit_bytes: usize,
    /// Its frames.
    pub frames: usize,
}

impl PoolPlan {
    pub(crate) fn config(&self) -> PoolConfig {
        PoolConfig {
            name: self.name.clone(),
            unit_bytes: self.unit_bytes,
            usable_bytes: self.unit_bytes - seal::TRAILER_BYTES,
            frames: self.frames,
        }
    }
}

/// How a kernel is set up.
#[derive(Clone, Debug)]
pub struct KernelConfig {
    /// The log.
    pub log: LogConfig,
    /// The pools. A data set names one; the default is the first with its unit size.
    pub pools: Vec<PoolPlan>,
    /// Data sets that are assigned to another pool than they were made in, by name.
    pub assigned: BTreeMap<String, String>,
    /// The page writer.
    pub writer: WriterConfig,
    /// The lock manager.
    pub locks: LockConfig,
    /// A unit of work that spans more log than this is backed out (K15).
    pub uow_log_bytes_max: u64,
    /// What a unit of work keeps in memory for its undo; beyond, the log is read (K23).
    pub uow_undo_bytes_max: usize,
    /// A checkpoint is taken after this much log.
    pub checkpoint_bytes: u64,
    /// And after this long, if anything was logged.
    pub checkpoint_interval: Duration,
    /// Threads that read ahead of scans; 0: no sequential buffering.
    pub read_ahead_threads: usize,
    /// Groups of the log before this one are archived; [`wal::LogStart::NO_ARCHIVE`] if nothing
    /// waits for an archive.
    pub archived: base::GroupNumber,
    /// A position that something outside of log and control file proves the log to have reached
    /// (K6).
    pub proven: Lsn,
    /// Where outside of the system it is proven how far it has come (K6).
    pub anchor: Option<AnchorPlan>,
    /// What layers above ask that the system's bytes must prove.
    pub asked: AskedAbove,
    /// Whether nothing that is sealed may be under a log that is plain: undo and splits of nodes
    /// write into the log what pages hold. Tests of the kernel alone mix the forms.
    pub sealed_needs_sealed_log: bool,
    /// The label of the system's own key: control file, double-write area.
    pub system_label: String,
}

impl KernelConfig {
    /// The usual set-up for a system in `home`: one log in `home/log`, 256 MiB of 8 KiB frames and
    /// 64 MiB of 4 KiB frames, restart bounded to some seconds.
    #[must_use]
    pub fn new(home: &Path) -> KernelConfig {
        let pool = |name: &str, unit_bytes: usize, bytes: usize| PoolPlan {
            name: name.into(),
            unit_bytes,
            frames: bytes / unit_bytes,
        };
        KernelConfig {
            log: LogConfig::new(vec![home.join("log")]),
            pools: vec![pool("default", 8192, 256 << 20), pool("small", 4096, 64 << 20)],
            assigned: BTreeMap::new(),
            writer: WriterConfig::default(),
            locks: LockConfig::default(),
            uow_log_bytes_max: 256 << 20,
            uow_undo_bytes_max: 4 << 20,
            checkpoint_bytes: 64 << 20,
            checkpoint_interval: Duration::from_secs(60),
            read_ahead_threads: 5,
            archived: wal::LogStart::NO_ARCHIVE,
            proven: Lsn::NONE,
            anchor: None,
            asked: AskedAbove::default(),
            sealed_needs_sealed_log: false,
            system_label: "system".into(),
        }
    }
}

impl Protection {
    /// What a configuration asks for, of a system in `home`.
    #[must_use]
    pub fn asked(config: &KernelConfig, home: &Path) -> Protection {
        let AskedAbove { new_sets, exceptions, archive_folders } = config.asked.clone();
        let anchor = config.anchor.as_ref().map(|plan| {
            plan.path.strip_prefix(home).map_or_else(|_| plan.path.clone(), Path::to_path_buf)
        });
        Protection {
            log: config.log.format,
            edition: FIRST_EDITION,
            plain: config.log.plain,
            log_copies: u8::try_from(config.log.copies.len()).unwrap_or(u8::MAX),
            archive_folders,
            new_sets,
            exceptions,
            anchor,
            // Bound when doors are open, or by an operator.
            openings: None,
        }
    }
}
