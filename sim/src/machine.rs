//! The machine that the proof runs on: a small system whose every mechanism is at work in a short
//! script.
//!
//! Segments, rings, groups, pools and redo distances are as small as they may be, so that segments
//! are switched, pages written, checkpoints taken and frames stolen within a few hundred records.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::{DataSetId, KeyGeneration, SystemId};
use btree::TreeResource;
use pool::WriterConfig;
use seal::{Format, TestKeys};
use seam::Seam;
use seam::sim::Rng;
use space::{DataSet, Definition};
use uow::{Kernel, KernelConfig, Parts, PoolPlan, UowError};
use wal::{LogConfig, WadsConfig};

/// The system's folder.
pub const HOME: &str = "/system";

/// The make of a machine: everything about a system that is drawn from a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Make {
    /// Whether data sets, log and all else are sealed.
    pub sealed: bool,
    /// Copies of the log, 1 or 2.
    pub copies: usize,
    /// Stripes of the log.
    pub stripes: u8,
    /// Bytes of a log file.
    pub segment_bytes: u64,
    /// Most segments that ordinary records fill.
    pub segments_max: u32,
    /// Most bytes of a group.
    pub group_bytes_max: usize,
    /// Bytes of the log's ring.
    pub ring_bytes: usize,
    /// Size of control intervals.
    pub ci_bytes: u32,
    /// Frames of the pool.
    pub frames: usize,
    /// How far the oldest change in memory may be behind the end of the log.
    pub redo_bytes_max: u64,
    /// Log between checkpoints.
    pub checkpoint_bytes: u64,
    /// Memory that a unit of work has for its undo.
    pub undo_bytes_max: usize,
    /// Intervals in one file of a data set; 0: all.
    pub file_intervals: u32,
    /// Files of the write-ahead data set; 0: there is none.
    pub ahead: usize,
}

impl Make {
    /// A small sealed machine with one log.
    #[must_use]
    pub fn small() -> Make {
        Make {
            sealed: true,
            copies: 1,
            stripes: 1,
            segment_bytes: 64 << 10,
            segments_max: 8,
            group_bytes_max: 16 << 10,
            ring_bytes: 64 << 10,
            ci_bytes: 4096,
            frames: 24,
            redo_bytes_max: 48 << 10,
            checkpoint_bytes: 32 << 10,
            undo_bytes_max: 16 << 10,
            file_intervals: 0,
            ahead: 0,
        }
    }

    /// The same with two log copies.
    #[must_use]
    pub fn dual() -> Make {
        Make { copies: 2, ..Make::small() }
    }

    /// A machine of that seed.
    #[must_use]
    pub fn drawn(rng: &mut Rng) -> Make {
        let group_bytes_max = [8 << 10, 16 << 10, 64 << 10][rng.index(3)];
        Make {
            sealed: !rng.one_in(4),
            copies: 1 + rng.index(2),
            stripes: [1, 1, 2, 3, 4][rng.index(5)],
            segment_bytes: [96, 128, 256][rng.index(3)] << 10,
            segments_max: 6 + rng.index(8) as u32,
            group_bytes_max,
            ring_bytes: (group_bytes_max * 2).max(64 << 10) << rng.index(2),
            ci_bytes: [4096, 4096, 2048, 8192][rng.index(4)],
            frames: [16, 24, 32, 64][rng.index(4)],
            redo_bytes_max: [16, 48, 128, 1024][rng.index(4)] << 10,
            checkpoint_bytes: [24, 64, 256][rng.index(3)] << 10,
            undo_bytes_max: [0, 1 << 10, 64 << 10][rng.index(3)],
            file_intervals: [0, 0, 40][rng.index(3)],
            ahead: [0, 0, 1, 2][rng.index(4)],
        }
    }

    /// The folders of the log's copies.
    #[must_use]
    pub fn log_folders(&self) -> Vec<PathBuf> {
        (1..=self.copies).map(|copy| PathBuf::from(format!("/log{copy}"))).collect()
    }

    fn wads(&self) -> Option<WadsConfig> {
        let folders: Vec<PathBuf> =
            (1..=self.ahead).map(|file| PathBuf::from(format!("/ahead{file}"))).collect();
        let bytes = 2 * self.group_bytes_max as u64;
        (self.ahead > 0).then(|| WadsConfig { bytes, ..WadsConfig::new(folders) })
    }

    fn format(&self) -> Format {
        if self.sealed { Format::Sealed } else { Format::Plain }
    }

    /// The kernel's configuration, in the folder `home`.
    #[must_use]
    pub fn config(&self) -> KernelConfig {
        self.config_at(Path::new(HOME), self.log_folders())
    }

    /// The same at other places.
    #[must_use]
    pub fn config_at(&self, home: &Path, log_folders: Vec<PathBuf>) -> KernelConfig {
        let mut config = KernelConfig::new(home);
        config.log = LogConfig {
            stripes: self.stripes,
            segment_bytes: self.segment_bytes,
            segments_min: 2,
            segments_max: self.segments_max,
            ring_bytes: self.ring_bytes,
            group_bytes_max: self.group_bytes_max,
            format: self.format(),
            wads: self.wads(),
            ..LogConfig::new(log_folders)
        };
        config.pools = vec![PoolPlan {
            name: "default".into(),
            unit_bytes: self.unit_bytes(),
            frames: self.frames,
        }];
        config.writer = WriterConfig {
            redo_bytes_max: self.redo_bytes_max,
            idle: Duration::from_millis(2),
            ..WriterConfig::default()
        };
        config.uow_undo_bytes_max = self.undo_bytes_max;
        config.checkpoint_bytes = self.checkpoint_bytes;
        config.checkpoint_interval = Duration::from_millis(500);
        config
    }

    /// The unit of intervals.
    #[must_use]
    pub fn unit_bytes(&self) -> usize {
        space::definition::unit_of(self.ci_bytes)
    }

    /// The system around the kernel.
    #[must_use]
    pub fn parts(&self, seam: Seam) -> Parts {
        // Data sets are made with the first key; there is a second one to go over to.
        let keys = TestKeys::new(7);
        keys.new_generation();
        Parts {
            seam,
            keys: Arc::new(keys),
            system: SystemId(*b"holdfast-sim-one"),
            home: PathBuf::from(HOME),
            resource: Arc::new(TreeResource),
            override_stale: false,
            offline: Vec::new(),
        }
    }

    /// Makes an empty system.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn create(&self, seam: &Seam) -> Result<(), UowError> {
        Kernel::create(&self.parts(seam.clone()), &self.config())
    }

    /// Opens and restarts the system.
    ///
    /// # Errors
    /// See [`Kernel::open`].
    pub fn open(&self, seam: &Seam) -> Result<Arc<Kernel>, UowError> {
        Kernel::open(self.parts(seam.clone()), self.config())
    }

    /// The definition of a data set with an empty tree.
    #[must_use]
    pub fn definition(&self, name: &str) -> Definition {
        Definition {
            id: DataSetId(0),
            name: name.into(),
            ci_bytes: self.ci_bytes,
            format: self.format(),
            label: "data".into(),
            generation: KeyGeneration(if self.sealed { 1 } else { 0 }),
            pool: String::new(),
            file_intervals: self.file_intervals,
            folders: vec!["data".into()],
            attributes: Vec::new(),
            conversion: None,
            permit: None,
        }
    }

    /// Makes a data set with an empty tree.
    ///
    /// # Errors
    /// See [`Kernel::create_set`].
    pub fn create_set(&self, kernel: &Kernel, name: &str) -> Result<Arc<DataSet>, UowError> {
        kernel.create_set(self.definition(name), &btree::format_empty)
    }
}
