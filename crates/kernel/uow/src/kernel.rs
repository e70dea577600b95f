//! An open system's kernel: the parts, tied together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire},
};
use std::time::Duration;

use base::stats::Counter;
use base::{CiNumber, Lsn, SystemId, UowId};
use lock::{LockConfig, LockManager, LockStatistics};
use log::{Log, LogConfig, LogStatistics};
use pool::dirty::DirtyQueue;
use pool::writer::WriterStatistics;
use pool::{
    ExclusiveCi, PageWriter, Pool, PoolConfig, PoolError, PoolStatistics, Pools, WriterConfig,
};
use seal::KeyProvider;
use seam::Seam;
use seam::plant::{Plant, planted};
use seam::stop::StopSwitch;
use seam::sync::Mutex;
use space::{DataSet, Definition, Environment, Purpose};

use crate::active::Active;
use crate::anchor::AnchorPlan;
use crate::control::ControlFile;
use crate::convert::Converter;
use crate::housekeeper::Housekeeper;
use crate::journal::LogJournal;
use crate::protection::{AskedAbove, Protection};
use crate::record::kind;
use crate::registry::Registry;
use crate::transit::{Step, Transit, steps_of};
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
    /// Groups of the log before this one are archived; [`log::LogStart::NO_ARCHIVE`] if nothing
    /// waits for an archive.
    pub archived: base::GroupNumber,
    /// A position that something outside of log and control file proves the log to have reached
    /// (K6).
    pub proven: Lsn,
    /// Where outside of the system it is proven how far it has come (K6).
    pub anchor: Option<AnchorPlan>,
    /// What layers above ask that the system's bytes must prove.
    pub asked: AskedAbove,
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
            archived: log::LogStart::NO_ARCHIVE,
            proven: Lsn::NONE,
            anchor: None,
            asked: AskedAbove::default(),
            system_label: "system".into(),
        }
    }
}

/// What an interval is to its data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Nobody has it.
    Free,
    /// It is given out and not yet part of a structure, or no longer part of one and not yet taken
    /// back.
    InTransit,
    /// Something leads to it, or a unit of work that is not over will free it.
    Held,
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
    pub(crate) pools: Arc<Pools>,
    /// Held by whoever changes which pools there are, or who is assigned to them.
    pub(crate) assigning: Mutex<()>,
    pub(crate) dirty: Arc<DirtyQueue>,
    pub(crate) writer: Arc<PageWriter>,
    pub(crate) journal: Arc<LogJournal>,
    pub(crate) sets: Arc<Registry>,
    pub(crate) locks: LockManager,
    pub(crate) active: Active,
    pub(crate) transit: Transit,
    pub(crate) next_uow: AtomicU64,
    /// The end of the newest commit record: what a reader's reply waits for (K2).
    pub(crate) last_commit: AtomicU64,
    pub(crate) housekeeper: Housekeeper,
    pub(crate) converter: Converter,
    pub(crate) counts: Counts,
    /// Buffers of ended units of work, for the next ones.
    pub(crate) spare: Mutex<Vec<crate::undo::UndoList>>,
    pub(crate) restart: std::sync::OnceLock<RestartReport>,
    pub(crate) _lock: Box<dyn seam::disk::HeldLock>,
}

#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) commits: Counter,
    pub(crate) read_only: Counter,
    pub(crate) backouts: Counter,
    pub(crate) checkpoints: Counter,
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

    /// A data set by name.
    #[must_use]
    pub fn set_named(&self, name: &str) -> Option<Arc<DataSet>> {
        self.sets.lock().named(name)
    }

    /// A data set by number.
    #[must_use]
    pub fn set(&self, id: base::DataSetId) -> Option<Arc<DataSet>> {
        self.sets.lock().get(id)
    }

    /// Data sets that wait for their recovery.
    #[must_use]
    pub fn offline_sets(&self) -> Vec<Definition> {
        self.sets.lock().offline()
    }

    /// Every data set, by number.
    #[must_use]
    pub fn all_sets(&self) -> Vec<Arc<DataSet>> {
        let sets = self.sets.lock();
        sets.all().into_iter().filter(|set| !sets.is_building(set.id())).collect()
    }

    /// The pools.
    #[must_use]
    pub fn pools(&self) -> Vec<Arc<Pool>> {
        self.pools.all()
    }

    /// Makes a data set; it exists when this returns. `definition.id` and, if empty,
    /// `definition.pool` are chosen here.
    ///
    /// # Errors
    /// A name that is taken, no fitting pool, whatever the disk says.
    pub fn create_set(
        &self,
        mut definition: Definition,
        format_root: &dyn Fn(&mut [u8]),
    ) -> Result<Arc<DataSet>, UowError> {
        self.stop.check()?;
        let _alone = self.assigning.lock();
        let pool = self.pool_for(&definition)?;
        pool.name().clone_into(&mut definition.pool);
        {
            let mut sets = self.sets.lock();
            if let Some(set) = sets.taken(&definition.name) {
                let name = definition.name;
                return Err(match sets.is_offline(set) {
                    true => UowError::SetOffline { name, set },
                    false => UowError::SetExists { name, set },
                });
            }
            sets.next = sets.next.max(1);
            definition.id = base::DataSetId(sets.next);
            sets.next += 1;
        }
        self.permit(&mut definition)?;
        let set = space::create::create(&self.environment, definition, pool, format_root)?;
        set.load_maps()?;
        let mut body = set.top().to_le_bytes().to_vec();
        body.extend_from_slice(&set.definition().encode());
        let end = {
            let mut sets = self.sets.lock();
            if let Some(id) = sets.taken(set.name()) {
                let name = set.name().to_owned();
                drop(sets);
                set.remove_files()?;
                return Err(UowError::SetExists { name, set: id });
            }
            let made = self.log.append(kind::SET_MADE, 0, UowId::NONE, Lsn::NONE, &[&body])?;
            sets.insert(Arc::clone(&set));
            made.end
        };
        self.log.wait_durable(end)?;
        Ok(set)
    }

    /// Gives a definition what proves that its data set may be plain, if it is. The caller has it
    /// from the configuration or from a definition that was proven.
    pub(crate) fn permit(&self, definition: &mut Definition) -> Result<(), UowError> {
        let (keys, label) = (&*self.parts.keys, &self.config.system_label);
        Ok(definition.permit_plain(keys, label, self.parts.system)?)
    }

    /// Ends a data set and removes its files. The caller holds it locked exclusively, and no unit
    /// of work in flight has changed it.
    ///
    /// # Errors
    /// Whatever the log or the disk says.
    pub fn drop_set(&self, set: &Arc<DataSet>) -> Result<(), UowError> {
        // It may just be converted, and the housekeeper may be about to look at its maps.
        let _converting = self.converter.work.lock();
        let _work = self.housekeeper.work.lock();
        let end = {
            let mut sets = self.sets.lock();
            let body = set.id().0.to_le_bytes();
            let gone = self.log.append(kind::SET_GONE, 0, UowId::NONE, Lsn::NONE, &[&body])?;
            sets.remove(set.id());
            gone.end
        };
        self.transit.forget(set.id());
        self.log.wait_durable(end)?;
        set.home().forget(set.id(), CiNumber(0))?;
        Ok(set.remove_files()?)
    }

    /// Gives a data set up that waits for its recovery: it ends, and what there is of its files is
    /// removed. Answers whether there was one of that name.
    ///
    /// # Errors
    /// Whatever the log or the disk says.
    pub fn drop_offline_set(&self, name: &str) -> Result<bool, UowError> {
        let (definition, end) = {
            let mut sets = self.sets.lock();
            let waiting = sets.offline().into_iter().find(|definition| definition.name == name);
            let Some(definition) = waiting else { return Ok(false) };
            let body = definition.id.0.to_le_bytes();
            let gone = self.log.append(kind::SET_GONE, 0, UowId::NONE, Lsn::NONE, &[&body])?;
            sets.remove(definition.id);
            (definition, gone.end)
        };
        self.log.wait_durable(end)?;
        space::create::remove_closed(&self.environment, definition)?;
        Ok(true)
    }

    pub(crate) fn pool_for(&self, definition: &Definition) -> Result<Arc<Pool>, UowError> {
        let unit_bytes = definition.unit_bytes();
        let named = |pool: &Arc<Pool>| {
            pool.unit_bytes() == unit_bytes
                && (definition.pool.is_empty() || pool.name() == definition.pool)
        };
        self.pools.all().into_iter().find(named).ok_or_else(|| UowError::NoPool {
            name: definition.name.clone(),
            pool: definition.pool.clone(),
            unit_bytes,
        })
    }

    /// Gives out an interval, just behind `near` if that is free. No latch is held.
    ///
    /// # Errors
    /// [`space::SpaceError::NoSpace`] and what else may happen to a map.
    pub fn allocate(&self, set: &DataSet, near: Option<CiNumber>) -> Result<CiNumber, UowError> {
        self.allocate_for(set, near, Purpose::Work)
    }

    /// The same for undo, which may use what ordinary work leaves free (K15).
    ///
    /// # Errors
    /// As for [`Kernel::allocate`].
    pub fn allocate_for_undo(
        &self,
        set: &DataSet,
        near: Option<CiNumber>,
    ) -> Result<CiNumber, UowError> {
        self.allocate_for(set, near, Purpose::Undo)
    }

    fn allocate_for(
        &self,
        set: &DataSet,
        near: Option<CiNumber>,
        purpose: Purpose,
    ) -> Result<CiNumber, UowError> {
        set.allocate(near, purpose, &mut |page, ci| {
            self.log_place(set, kind::GIVEN_OUT, UowId::NONE, page, ci)
        })
    }

    /// Takes an interval back. No latch is held.
    ///
    /// # Errors
    /// What may happen to a map.
    pub fn release_interval(&self, set: &DataSet, ci: CiNumber) -> Result<(), UowError> {
        self.take_back(set, ci, UowId::NONE)
    }

    /// Whether an interval is in use and, if it is, whether it is in transit: somebody has it who
    /// is about to make it part of a structure or to take it back, and if a crash comes between,
    /// restart takes it back.
    ///
    /// # Errors
    /// If the map cannot be read.
    pub fn use_of(&self, set: &DataSet, ci: CiNumber) -> Result<Use, PoolError> {
        // Both under the map's latch: an interval enters and leaves the map under it.
        set.while_used(ci, |used| match used {
            false => Use::Free,
            true if self.transit.has((set.id(), ci)) => Use::InTransit,
            true => Use::Held,
        })
    }

    /// Takes back an interval that a committed unit of work freed.
    pub(crate) fn take_back(
        &self,
        set: &DataSet,
        ci: CiNumber,
        freed_by: UowId,
    ) -> Result<(), UowError> {
        set.give_back(ci, &mut |page, ci| self.log_place(set, kind::TAKEN_BACK, freed_by, page, ci))
    }

    pub(crate) fn log_place(
        &self,
        set: &DataSet,
        kind: u8,
        uow: UowId,
        page: &mut ExclusiveCi<'_>,
        ci: CiNumber,
    ) -> Result<(), UowError> {
        let body = crate::record::encode_places(&[(set.id(), ci)]);
        page.begin_change(self.log.next_lsn());
        let step = if kind == kind::GIVEN_OUT { Step::Leaves } else { Step::Arrives };
        let append = || self.log.append_reserved(kind, 0, uow, Lsn::NONE, &[&body]);
        let place = self.transit.log(&[((set.id(), ci), step)], append)?;
        page.set_lsn(place.lsn);
        Ok(())
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
        let id = set.id().0.to_le_bytes();
        let parts: [&[u8]; 2] = [&id, &whole];
        let append = || self.log.append_reserved(kind, 0, UowId::NONE, Lsn::NONE, &parts);
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
    ) -> Result<Vec<(crate::transit::Interval, Step)>, UowError> {
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
        Lsn(self.last_commit.load(Acquire))
    }

    pub(crate) fn publish_commit(&self, end: Lsn) {
        self.last_commit.fetch_max(end.0, AcqRel);
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
            commits: self.counts.commits.get(),
            read_only: self.counts.read_only.get(),
            backouts: self.counts.backouts.get(),
            checkpoints: self.counts.checkpoints.get(),
            redo_bytes: self.redo_bytes(),
            log: self.log.statistics(),
            pools: self.pools.all().iter().map(|pool| pool.statistics()).collect(),
            writer: self.writer.statistics(),
            locks: self.locks.statistics(),
        }
    }

    /// Whether nothing is held: no pins, no locks, nobody active. For tests between programs.
    ///
    /// # Errors
    /// What is still held, in words.
    pub fn check_quiet(&self) -> Result<(), String> {
        let pins: u64 = self.pools.all().iter().map(|pool| pool.pins()).sum();
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
