//! An open system's kernel: the parts, tied together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::{Lsn, SystemId};
use lock::{LockConfig, LockManager, LockStatistics};
use pool::dirty::DirtyQueue;
use pool::writer::WriterStatistics;
use pool::{ExclusiveCi, PageWriter, PoolConfig, PoolStatistics, WriterConfig};
use seal::KeyProvider;
use seam::Seam;
use seam::plant::{Plant, planted};
use seam::stop::StopSwitch;
use space::{DataSet, Environment};
use wal::{Log, LogConfig, LogStatistics};

use crate::active::Active;
use crate::anchor::AnchorPlan;
use crate::checkpointer::Checkpoints;
use crate::control::ControlFile;
use crate::convert::Converter;
use crate::frees::Frees;
use crate::housekeeper::Housekeeper;
use crate::journal::LogJournal;
use crate::pools::KernelPools;
use crate::protection::{AskedAbove, Protection};
use crate::record::{Change, Interval, KernelRecord};
use crate::registry::Registry;
use crate::transit::{Step, Transit, steps_of};
use crate::units::UnitsOfWork;
use crate::{Resource, RestartReport, UowError};

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
    pub fn new(home: &std::path::Path) -> KernelConfig {
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

/// What a kernel is made of besides its configuration.
#[derive(Clone)]
pub struct Parts {
    /// Disk, clock, entropy.
    pub seam: Seam,
    /// Where keys come from.
    pub keys: Arc<dyn KeyProvider>,
    /// The system.
    pub system: SystemId,
    /// Its folder.
    pub home: PathBuf,
    /// The layer above.
    pub resource: Arc<dyn Resource>,
    /// Use a log copy that is recorded as stale, if there is no other; what it lacks is lost (K9).
    pub override_stale: bool,
    /// The names of data sets that are not opened: they are damaged, and wait for their recovery.
    pub offline: Vec<String>,
}

/// An open system.
pub struct Kernel {
    pub(crate) parts: Parts,
    pub(crate) config: KernelConfig,
    pub(crate) environment: Environment,
    pub(crate) stop: Arc<StopSwitch>,
    pub(crate) log: Arc<Log>,
    pub(crate) control: Arc<ControlFile>,
    pub(crate) pools: KernelPools,
    pub(crate) dirty: Arc<DirtyQueue>,
    pub(crate) writer: Arc<PageWriter>,
    pub(crate) journal: Arc<LogJournal>,
    pub(crate) sets: Arc<Registry>,
    pub(crate) locks: LockManager,
    pub(crate) active: Active,
    pub(crate) transit: Transit,
    pub(crate) units: UnitsOfWork,
    pub(crate) frees: Frees,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) housekeeper: Housekeeper,
    pub(crate) converter: Converter,
    pub(crate) restart: std::sync::OnceLock<RestartReport>,
    /// Whoever else has the system open has none of it.
    pub(crate) lock: Arc<dyn seam::disk::HeldLock>,
}

/// What a kernel has done since it was opened.
#[derive(Clone, Debug)]
pub struct KernelStatistics {
    /// Units of work that changed something and were committed.
    pub commits: u64,
    /// Units of work that changed nothing.
    pub read_only: u64,
    /// Units of work that were backed out.
    pub backouts: u64,
    /// Checkpoints taken.
    pub checkpoints: u64,
    /// Bytes of log that a restart now would redo.
    pub redo_bytes: u64,
    /// The log.
    pub log: LogStatistics,
    /// Each pool.
    pub pools: Vec<PoolStatistics>,
    /// The page writer.
    pub writer: WriterStatistics,
    /// Locks.
    pub locks: LockStatistics,
}

impl Kernel {
    /// The kernel's set-up.
    #[must_use]
    pub fn config(&self) -> &KernelConfig {
        &self.config
    }

    /// Disk, clock, entropy.
    #[must_use]
    pub fn seam(&self) -> &Seam {
        &self.parts.seam
    }

    /// The switch that stops the kernel for good.
    #[must_use]
    pub fn stop_switch(&self) -> &Arc<StopSwitch> {
        &self.stop
    }

    /// The generation of a key that new data sets are sealed with.
    ///
    /// # Errors
    /// If the key ring has no such label.
    pub fn current_generation(&self, label: &str) -> Result<base::KeyGeneration, seal::SealError> {
        self.parts.keys.current(label)
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// The lock manager.
    #[must_use]
    pub fn locks(&self) -> &LockManager {
        &self.locks
    }

    /// What restart did when the system was opened; `None` while it is at work.
    #[must_use]
    pub fn restart_report(&self) -> Option<&RestartReport> {
        self.restart.get()
    }

    /// Why the anchor is behind, if it is (K6).
    #[must_use]
    pub fn anchor_trouble(&self) -> Option<String> {
        self.control.anchor_trouble()
    }

    /// What the system's bytes must prove.
    #[must_use]
    pub fn protection(&self) -> Protection {
        self.control.protection()
    }

    /// A structure change: one redo-only record for several intervals, whole or absent (K13). The
    /// pages are latched exclusively, in the order of [`Resource::targets`]. Logs, then applies.
    ///
    /// # Errors
    /// If the log refuses. If the record does not fit the intervals the kernel stops.
    pub fn change_structure(
        &self,
        set: &DataSet,
        kind: u8,
        body: &[&[u8]],
        pages: &mut [&mut ExclusiveCi<'_>],
    ) -> Result<(), UowError> {
        let whole = body.concat();
        for page in pages.iter_mut() {
            page.begin_change(self.log.next_lsn());
        }
        let set_id = set.id();
        let change = Change { kind, set: set_id, undo_next: None, undoable: false, body: &whole };
        let record = KernelRecord::Change(change);
        let append = || record.append_reserved(&self.log);
        let steps = self.steps(set, kind, &whole)?;
        let place = if steps.is_empty() { append()? } else { self.transit.log(&steps, append)? };
        for page in pages.iter_mut() {
            self.apply(set, kind, &whole, page, place.lsn)?;
        }
        Ok(())
    }

    /// Which intervals a record that is about to be logged brings into a structure or out of it.
    pub(crate) fn steps(
        &self,
        set: &DataSet,
        kind: u8,
        body: &[u8],
    ) -> Result<Vec<(Interval, Step)>, UowError> {
        let mut targets = Vec::new();
        let known = self.parts.resource.targets(kind, body, &mut targets);
        known.map_err(|damage| UowError::Damaged {
            object: format!("a record of kind {kind} for data set {}", set.name()),
            why: damage.0,
        })?;
        Ok(steps_of(set.id(), &targets))
    }

    /// Applies a logged record to one latched interval.
    pub(crate) fn apply(
        &self,
        set: &DataSet,
        kind: u8,
        body: &[u8],
        page: &mut ExclusiveCi<'_>,
        lsn: Lsn,
    ) -> Result<(), UowError> {
        let ci = page.ci();
        let applied = self.parts.resource.redo(kind, body, ci, page.bytes_mut());
        page.set_lsn(lsn);
        applied.map_err(|damage| {
            let name = set.name();
            let why = &damage.0;
            UowError::Stopped(self.stop.stop(format!(
                "the record at {lsn} does not fit interval {ci} of data set {name}: {why}"
            )))
        })
    }

    /// The position up to which the log must be durable before anybody is told what he read (K2).
    #[must_use]
    pub fn read_gate(&self) -> Lsn {
        if planted(Plant::ReadBeforeWriterDurable) {
            return Lsn::NONE;
        }
        self.units.read_gate()
    }

    /// Bytes of log that a restart now would redo.
    #[must_use]
    pub fn redo_bytes(&self) -> u64 {
        let next = self.log.next_lsn();
        next.0.saturating_sub(self.dirty.oldest().unwrap_or(next).0)
    }

    /// Writes every change made so far to disk, while others go on changing.
    ///
    /// # Errors
    /// If the disk refuses; the kernel stops.
    pub fn write_out(&self) -> Result<(), UowError> {
        // What is not logged, as in a data set that is built, may be announced for the log's end.
        Ok(self.writer.write_before(self.log.next_lsn().plus(1))?)
    }

    /// What the kernel has done since it was opened.
    #[must_use]
    pub fn statistics(&self) -> KernelStatistics {
        KernelStatistics {
            commits: self.units.commits.get(),
            read_only: self.units.read_only.get(),
            backouts: self.units.backouts.get(),
            checkpoints: self.checkpoints.taken.get(),
            redo_bytes: self.redo_bytes(),
            log: self.log.statistics(),
            pools: self.pools.all.all().iter().map(|pool| pool.statistics()).collect(),
            writer: self.writer.statistics(),
            locks: self.locks.statistics(),
        }
    }

    /// Whether nothing is held: no pins, no locks, nobody active. For tests between programs.
    ///
    /// # Errors
    /// What is still held, in words.
    pub fn check_quiet(&self) -> Result<(), String> {
        let pins: u64 = self.pools.all.all().iter().map(|pool| pool.pins()).sum();
        let locks = self.locks.statistics().held;
        let active = self.active.list().len();
        if pins == 0 && locks == 0 && active == 0 {
            return Ok(());
        }
        Err(format!("{pins} pins, {locks} locks, {active} units of work are left over"))
    }

    /// Stops in order: a last checkpoint with everything on disk, so that the next start has
    /// nothing to redo. Nobody uses the kernel any more.
    ///
    /// # Errors
    /// If the kernel has stopped already, or the disk refuses; restart then does the rest.
    pub fn close(&self) -> Result<(), UowError> {
        self.converter.end();
        self.housekeeper.end();
        let written = self.stop.check().map_err(UowError::from).and_then(|()| {
            self.free_after_commit()?;
            self.writer.write_all()?;
            self.checkpoint_now(true)
        });
        self.writer.end();
        self.environment.read_ahead.end();
        self.log.close()?;
        written
    }

    /// Ends the threads without writing anything, as a crash would. For tests of restart.
    pub fn abandon(&self) {
        self.stop.stop("the kernel was abandoned");
        self.converter.end();
        self.housekeeper.end();
        self.writer.end();
        self.environment.read_ahead.end();
        let _ = self.log.close();
    }
}

impl Drop for Kernel {
    /// A kernel that was not closed leaves its work to restart, but not its threads to the process.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.stop.stop("the kernel was dropped without being closed");
        self.writer.end();
        self.environment.read_ahead.end();
        let _ = self.log.close();
    }
}

impl From<std::io::Error> for UowError {
    fn from(source: std::io::Error) -> UowError {
        UowError::Io { what: "the operating system refuses".into(), source }
    }
}
