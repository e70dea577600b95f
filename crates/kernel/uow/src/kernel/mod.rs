//! An open system's kernel: the parts, tied together; and its contract with the layer above, which
//! is asked what records mean and undoes changes in the kernel ([`Resource`], [`Undo`]).

mod resource;
mod undo;

use std::path::PathBuf;
use std::sync::Arc;

use base::{Lsn, SystemId};
use lock::{LockManager, LockStatistics};
use pool::dirty::DirtyQueue;
use pool::writer::WriterStatistics;
use pool::{ExclusiveCi, PageWriter, PoolStatistics, Pools};
use seal::KeyProvider;
use seam::Seam;
use seam::failpoint::{Failpoint, armed};
use seam::stop::StopSwitch;
use seam::sync::Mutex;
use space::{DataSet, Environment};
use wal::{Log, LogStatistics};

use crate::active::Active;
use crate::checkpoints::Checkpoints;
use crate::config::KernelConfig;
use crate::control::ControlFile;
use crate::converter::Converter;
use crate::frees::Frees;
use crate::housekeeper::Housekeeper;
use crate::journal::LogJournal;
use crate::protection::Protection;
use crate::record::{Change, Interval, KernelRecord};
use crate::registry::Registry;
use crate::transit::{Step, Transit, steps_of};
use crate::units::UnitsOfWork;
use crate::{RestartReport, UowError};
pub use resource::{RecordDamage, Resource};
pub use undo::Undo;

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
    pub(crate) journal: Arc<LogJournal>,
    pub(crate) buffers: Buffers,
    pub(crate) sets: Arc<Registry>,
    pub(crate) locks: LockManager,
    pub(crate) work: Work,
    pub(crate) upkeep: Upkeep,
    pub(crate) restart: std::sync::OnceLock<RestartReport>,
    /// Whoever else has the system open has none of it.
    pub(crate) lock: Arc<dyn seam::disk::HeldLock>,
}

/// Intervals in memory, and their way to disk.
pub(crate) struct Buffers {
    pub(crate) pools: Arc<Pools>,
    /// Held by whoever changes which pools there are, or who is assigned to them.
    pub(crate) assigning: Mutex<()>,
    pub(crate) dirty: Arc<DirtyQueue>,
    pub(crate) writer: Arc<PageWriter>,
}

/// What is known of units of work.
pub(crate) struct Work {
    pub(crate) units: UnitsOfWork,
    pub(crate) active: Active,
    pub(crate) transit: Transit,
    pub(crate) frees: Frees,
}

/// What goes on by itself.
#[derive(Default)]
pub(crate) struct Upkeep {
    pub(crate) checkpoints: Checkpoints,
    pub(crate) housekeeper: Housekeeper,
    pub(crate) converter: Converter,
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
    /// If the keyset has no such label.
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

    /// How far the log has come for sure, at a record's end: whoever knows it proves that a log
    /// which ends before was cut off (K6).
    #[must_use]
    pub fn proven(&self) -> Lsn {
        self.control.block().proven
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
        let place =
            if steps.is_empty() { append()? } else { self.work.transit.log(&steps, append)? };
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
        if armed(Failpoint::ReadBeforeWriterDurable) {
            return Lsn::NONE;
        }
        self.work.units.read_gate()
    }

    /// Bytes of log that a restart now would redo.
    #[must_use]
    pub fn redo_bytes(&self) -> u64 {
        let next = self.log.next_lsn();
        next.0.saturating_sub(self.buffers.dirty.oldest().unwrap_or(next).0)
    }

    /// Writes every change made so far to disk, while others go on changing.
    ///
    /// # Errors
    /// If the disk refuses; the kernel stops.
    pub fn write_out(&self) -> Result<(), UowError> {
        // What is not logged, as in a data set that is built, may be announced for the log's end.
        Ok(self.buffers.writer.write_before(self.log.next_lsn().plus(1))?)
    }

    /// What the kernel has done since it was opened.
    #[must_use]
    pub fn statistics(&self) -> KernelStatistics {
        KernelStatistics {
            commits: self.work.units.commits.get(),
            read_only: self.work.units.read_only.get(),
            backouts: self.work.units.backouts.get(),
            checkpoints: self.upkeep.checkpoints.taken.get(),
            redo_bytes: self.redo_bytes(),
            log: self.log.statistics(),
            pools: self.buffers.pools.all().iter().map(|pool| pool.statistics()).collect(),
            writer: self.buffers.writer.statistics(),
            locks: self.locks.statistics(),
        }
    }

    /// Whether nothing is held: no pins, no locks, nobody active. For tests between programs.
    ///
    /// # Errors
    /// What is still held, in words.
    pub fn check_quiet(&self) -> Result<(), String> {
        let pins: u64 = self.buffers.pools.all().iter().map(|pool| pool.pins()).sum();
        let locks = self.locks.statistics().held;
        let active = self.work.active.list().len();
        if pins == 0 && locks == 0 && active == 0 {
            return Ok(());
        }
        Err(format!("{pins} pins, {locks} locks, {active} units of work are left over"))
    }
}

impl Drop for Kernel {
    /// A kernel that was not closed leaves its work to restart, but not its threads to the process.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.stop.stop("the kernel was dropped without being closed");
        self.buffers.writer.end();
        self.environment.read_ahead.end();
        let _ = self.log.close();
    }
}
