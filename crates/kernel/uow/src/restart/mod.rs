//! Making and opening a system: restart.
//!
//! 1. The control file says where the newest checkpoint is; the log is opened, its copies made
//!    equal, its end found (the log crate).
//! 2. *Analysis* reads the log from the redo point: which data sets there are, who was active, what
//!    the freshness maps must say, which batch of writes was cut short.
//! 3. *Repair* settles that batch from the double-write area.
//! 4. The maps are brought up to date, top down, so that intervals can be read and written from
//!    then on like at any other time.
//! 5. *Redo* repeats history; *undo* backs out who was active; intervals that are in use and belong
//!    to nothing are taken back.
//! 6. A checkpoint ends it.
//!
//! Each step can be cut short by another crash: the control file changes only at the end, and what
//! was logged meanwhile is read by the next restart.

mod analysis;
mod maps;
mod redo;
mod repair;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base::{DataSetId, Lsn, UowId};
use lock::LockManager;
use pool::dirty::DirtyQueue;
use pool::double_write::{DoubleWrite, DoubleWriteKeys};
use pool::sequential::ReadAhead;
use pool::{PageWriter, Pool, Pools};
use seal::Format;
use seam::clock::Clock;
use seam::disk::HeldLock;
use seam::failpoint::{Failpoint, armed};
use seam::stop::StopSwitch;
use seam::sync::Mutex;
use space::{DataSet, Definition, Environment};
use wal::{Log, LogEnv, LogStart, Opened, Origin};

use crate::active::{Active, ActiveUow};
use crate::checkpoint::{Checkpoint, Gathered};
use crate::control::{CONTROL, ControlBlock, ControlFile, ControlKeys, refused_by_log};
use crate::frees::Frees;
use crate::journal::LogJournal;
use crate::kernel::{Buffers, Upkeep, Work};
use crate::protection::{FIRST_EDITION, Opening, Protection};
use crate::record::{CatalogRecord, KernelRecord};
use crate::registry::Registry;
use crate::transit::{Step, Transit};
use crate::units::UnitsOfWork;
use crate::{Catalog, Kernel, KernelConfig, Parts, RestartReport, Undo, UowError};
use analysis::Analysis;

impl Kernel {
    /// Makes the files of a new, empty system: control file, log, double-write area. The keys
    /// exist.
    ///
    /// # Errors
    /// If there is a system already, or the disk refuses.
    pub fn create(parts: &Parts, config: &KernelConfig) -> Result<(), UowError> {
        Kernel::create_at(parts, config, &Origin::NEW, None)
    }

    /// The same for a system that goes on, elsewhere, where its archives end: its log begins at
    /// `origin`, with `checkpoint` in it, so that this is what its first restart begins with.
    ///
    /// # Errors
    /// As for [`Kernel::create`].
    pub fn create_at(
        parts: &Parts,
        config: &KernelConfig,
        origin: &Origin,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<(), UowError> {
        let disk = &parts.seam.disk;
        let made = seam::disk::make_dir(disk.as_ref(), &parts.home);
        made.map_err(|source| folder(&parts.home, source))?;
        let stop = Arc::new(StopSwitch::default());
        let keys = control_keys(parts, config);
        let protection = Protection::asked(config, &parts.home);
        ControlFile::create(&parts.seam, &parts.home.join(CONTROL), &keys, &protection)?;
        let (control, _) = ControlFile::open(&parts.seam, &parts.home.join(CONTROL), &keys)?;
        let control = Arc::new(control);
        let env = log_env(parts, &stop, Arc::clone(&control));
        Log::create_at(&env, &config.log, origin)?;
        DoubleWrite::open(&parts.seam, &parts.home.join(AREA), area_keys(parts, config))?;
        let Some(checkpoint) = checkpoint else { return Ok(()) };
        let start = LogStart { from: origin.first, ..LogStart::NEW };
        let (log, _) = Log::open(env, config.log.clone(), start)?;
        let (first, end) = checkpoint.log(&log)?;
        log.close()?;
        control.update(|block| {
            (block.checkpoint, block.needed_from, block.proven) = (first, origin.first, end);
        })
    }

    /// Opens a system and restarts it.
    ///
    /// # Errors
    /// Another process has it; a file is missing, foreign, damaged or of a newer release; no key.
    pub fn open(parts: Parts, config: KernelConfig) -> Result<Arc<Kernel>, UowError> {
        let lock = parts.seam.disk.lock_folder(&parts.home, LOCK).map_err(|source| {
            let what = match source.kind() {
                std::io::ErrorKind::WouldBlock => "another process has the system open",
                _ => "the system's lock file cannot be used",
            };
            UowError::Io { what: format!("{what} ({})", parts.home.display()), source }
        })?;
        Kernel::open_under(parts, config, lock.into())
    }

    /// The same for a caller who holds the system's lock, so that nobody comes between what he has
    /// looked at and this. The kernel keeps the lock.
    ///
    /// # Errors
    /// As for [`Kernel::open`], but for the lock.
    pub fn open_under(
        parts: Parts,
        mut config: KernelConfig,
        lock: Arc<dyn HeldLock>,
    ) -> Result<Arc<Kernel>, UowError> {
        let start = parts.seam.clock.monotonic();
        let keys = control_keys(&parts, &config);
        let opened = ControlFile::open(&parts.seam, &parts.home.join(CONTROL), &keys)?;
        let (mut control, block) = opened;
        let asked = Protection::asked(&config, &parts.home);
        let bound = control.protection();
        if !armed(Failpoint::ProtectionNotCompared) {
            bound.check(&asked, &parts.home)?;
        }
        config.log.plain = bound.plain;
        if let Some(plan) = &config.anchor {
            control.anchor_to(plan)?;
        }
        let control = Arc::new(control);
        let stop = Arc::new(StopSwitch::default());
        let (log, opened) = open_log(&parts, &config, &stop, &control, block)?;
        let checkpoint = read_checkpoint(&log, block)?;
        let redo_start = parts.seam.clock.monotonic();
        let mut analysis = Analysis::run(&log, &checkpoint, opened.end, &*parts.resource)?;
        if !armed(Failpoint::ProtectionNotCompared) {
            bound.refuse_older(analysis.catalog.protection(), &parts.home)?;
        }
        refuse_active(&parts, block, &checkpoint)?;
        prove_plain(&parts, &config, &analysis.catalog)?;
        // Where a log that was plain becomes sealed, the first start begins in its plain piece.
        let begins_plain = bound.log == Format::Plain || block.checkpoint < bound.plain.until;
        if config.sealed_needs_sealed_log && begins_plain {
            refuse_sealed(&analysis.catalog)?;
        }
        let offline = put_offline(&parts, &mut analysis.catalog);
        let kernel = assemble(parts, config, stop, log, control, &analysis, lock)?;
        let times = (start, redo_start);
        for set in offline {
            KernelRecord::from(CatalogRecord::Offline(set)).append_reserved(&kernel.log)?;
        }
        let restarted = kernel.restart(&checkpoint, analysis, block, opened, times);
        if let Err(error) = restarted.and_then(|()| kernel.bind_more(&asked)) {
            kernel.abandon();
            return Err(error);
        }
        Ok(kernel)
    }

    /// Binds what the configuration asks for beyond what is bound.
    fn bind_more(&self, asked: &Protection) -> Result<(), UowError> {
        let bound = self.control.protection();
        let raised = bound.raised_to(asked);
        if let Some(path) = &raised.anchor
            && bound.anchor.is_none()
            && let Some(why) = self.control.anchor_trouble()
        {
            return Err(UowError::Anchor { path: path.clone(), why });
        }
        if raised != bound {
            self.control.bind(&raised)?;
        }
        self.note_edition()
    }

    /// Binds what is open to others, for a start whose doors are: all of it the first time, and
    /// from then on what is open of that which was bound. Answers whether anything changed.
    ///
    /// # Errors
    /// If the control file has no room for it, or the disk refuses.
    pub fn bind_openings(&self, mut openings: BTreeSet<Opening>) -> Result<bool, UowError> {
        let bound = self.control.protection();
        if let Some(bound) = &bound.openings {
            openings.retain(|one| bound.contains(one));
        }
        let openings = Some(openings);
        if bound.openings == openings {
            return Ok(false);
        }
        self.control.bind(&Protection { openings, ..bound })?;
        self.note_edition()?;
        Ok(true)
    }

    /// Has the log know the edition of what is bound.
    fn note_edition(&self) -> Result<(), UowError> {
        let edition = self.control.protection().edition;
        if edition > FIRST_EDITION {
            let protected = CatalogRecord::Protected { edition };
            KernelRecord::from(protected).append_reserved(&self.log)?;
            self.log.wait_durable(self.log.next_lsn())?;
        }
        Ok(())
    }

    fn restart(
        self: &Arc<Self>,
        checkpoint: &Checkpoint,
        mut analysis: Analysis,
        block: ControlBlock,
        opened: Opened,
        (start, redo_start): (Duration, Duration),
    ) -> Result<(), UowError> {
        self.open_sets(&analysis.catalog)?;
        let repaired = self.settle(&mut analysis)?;
        for set in self.all_sets() {
            let overlay = analysis.overlays.remove(&set.id()).unwrap_or_default();
            if let Some(prefix) = overlay.tag_prefix(TOPMOST_MAP) {
                set.set_top(prefix);
            }
            set.set_overlay(overlay);
        }
        self.buffers.writer.start()?;
        self.bring_maps_up(checkpoint.redo)?;
        for interval in &checkpoint.transit {
            self.work.transit.see(&[(*interval, Step::Leaves)]);
        }
        self.read_wanted(&analysis);
        let redone = self.redo(checkpoint.redo, opened.end)?;
        let redo_time = self.parts.seam.clock.monotonic().saturating_sub(redo_start);
        // A long undo may take checkpoints, so from here on everything is where they look for it.
        for (uow, places) in std::mem::take(&mut analysis.frees) {
            self.work.frees.add(uow, Lsn::NONE, places);
        }
        let backed_out = self.back_out(&analysis)?;
        self.take_back_stranded()?;
        self.free_after_commit()?;
        self.log.wait_durable(self.log.next_lsn())?;
        self.checkpoint_now(false)?;
        self.all_sets().iter().for_each(|set| set.drop_overlay());
        self.start_housekeeper()?;
        self.wake_converter(None)?;
        let elapsed = self.parts.seam.clock.monotonic().saturating_sub(start);
        let report = RestartReport {
            orderly: block.orderly,
            redo_from: checkpoint.redo,
            log_end: opened.end,
            records: analysis.records,
            redone,
            redo_us: redo_time.as_micros() as u64,
            backed_out,
            repaired,
            elapsed_us: elapsed.as_micros() as u64,
            log: opened,
        };
        assert!(self.restart.set(report).is_ok(), "a kernel restarts once");
        Ok(())
    }

    /// Opens every data set that exists; removes what is left of those that do not.
    fn open_sets(&self, catalog: &Catalog) -> Result<(), UowError> {
        let mut sets = self.sets.lock();
        for (top, definition) in catalog.open() {
            let pool = self.pool_at_restart(definition)?;
            sets.insert(DataSet::open(&self.environment, definition.clone(), pool, top)?);
        }
        catalog.offline().for_each(|definition| sets.put_offline(definition.clone()));
        sets.next = sets.next.max(catalog.next_set());
        for definition in catalog.gone() {
            for number in 0.. {
                let path = self.parts.home.join(definition.file_name(number));
                let io = |source| UowError::Io { what: path.display().to_string(), source };
                if !self.parts.seam.disk.exists(&path).map_err(io)? {
                    break;
                }
                self.parts.seam.disk.remove(&path).map_err(io)?;
            }
        }
        Ok(())
    }

    /// Takes back the intervals that a crash has left between the map and a structure.
    fn take_back_stranded(&self) -> Result<(), UowError> {
        for (id, ci) in self.work.transit.list(|| ()).0 {
            match self.set(id) {
                Some(set) => self.release_interval(&set, ci)?,
                None => self.work.transit.forget(id),
            }
        }
        Ok(())
    }

    /// The pool that a data set is assigned to, or the one that it was made in, or, if that is
    /// gone, any with its unit.
    fn pool_at_restart(&self, definition: &Definition) -> Result<Arc<Pool>, UowError> {
        let assigned = self.config.assigned.get(&definition.name).map(String::as_str);
        let unit_bytes = definition.unit_bytes();
        let fits = |pool: &Arc<Pool>| pool.unit_bytes() == unit_bytes;
        let names = assigned.into_iter().chain([definition.pool.as_str()]);
        let named = names.filter_map(|name| self.buffers.pools.named(name)).find(fits);
        named.or_else(|| self.buffers.pools.all().into_iter().find(fits)).ok_or_else(|| {
            UowError::NoPool {
                name: definition.name.clone(),
                pool: definition.pool.clone(),
                unit_bytes,
            }
        })
    }

    /// Backs out everybody who was active, newest record first over all of them.
    fn back_out(self: &Arc<Self>, analysis: &Analysis) -> Result<Vec<UowId>, UowError> {
        if armed(Failpoint::UndoSkipped) {
            return Ok(Vec::new());
        }
        for (uow, records) in &analysis.anchored {
            self.work.active.carry(*uow, records.clone());
        }
        let mut heads = std::collections::BTreeMap::new();
        for ActiveUow { uow, first, last } in analysis.active.values().copied() {
            let slot = self.work.active.enter(uow)?;
            self.work.active.begin_append(slot);
            self.work.active.pin(slot, first);
            self.work.active.end_append(slot, last);
            heads.insert((last, uow), Undo::new(self, uow, slot, last));
        }
        while let Some(((lsn, uow), mut undo)) = heads.pop_last() {
            let next = if lsn == Lsn::NONE { lsn } else { undo.undo_at(lsn)? };
            if next == Lsn::NONE {
                undo.end_at_restart()?;
            } else {
                heads.insert((next, uow), undo);
            }
        }
        Ok(analysis.active.keys().copied().collect())
    }
}

const TOPMOST_MAP: base::CiNumber = base::CiNumber(3);
const AREA: &str = "double-write";
const LOCK: &str = "lock";
const FORGED: &str = "Somebody may have forged the log, if it is or was plain. Put control file \
                      and log of the same moment back, or restore the system in a new folder from \
                      its archives and image copies.";

fn folder(path: &std::path::Path, source: std::io::Error) -> UowError {
    UowError::Io { what: format!("folder {}", path.display()), source }
}

/// Refuses a checkpoint that has units of work where nobody was active.
fn refuse_active(
    parts: &Parts,
    block: ControlBlock,
    checkpoint: &Checkpoint,
) -> Result<(), UowError> {
    let Some(active) = checkpoint.active.first().filter(|_| block.orderly) else { return Ok(()) };
    let why = format!(
        "it says that the system was stopped in order, and the log's checkpoint at {} has unit of \
         work {} in flight",
        block.checkpoint, active.uow
    );
    Err(UowError::Control { path: parts.home.join(CONTROL), why, remedy: FORGED })
}

/// Refuses what is sealed, and what is being converted: undo and splits of nodes would write what
/// it holds into a plain log.
fn refuse_sealed(catalog: &Catalog) -> Result<(), UowError> {
    for definition in catalog.existing() {
        let state = if definition.conversion.is_some() { "being converted" } else { "sealed" };
        if !definition.is_all_plain() && !armed(Failpoint::SealedUnderPlainLog) {
            return Err(UowError::SealedUnderPlainLog { name: definition.name.clone(), state });
        }
    }
    Ok(())
}

/// Refuses definitions of plain data sets that nobody with the system's key has made: the log may
/// be plain, so that anybody can write them.
fn prove_plain(parts: &Parts, config: &KernelConfig, catalog: &Catalog) -> Result<(), UowError> {
    for definition in catalog.existing() {
        let permitted =
            definition.is_permitted(&*parts.keys, &config.system_label, parts.system)?;
        if !permitted && !armed(Failpoint::PermitNotChecked) {
            return Err(UowError::NotPermitted { name: definition.name.clone() });
        }
    }
    Ok(())
}

fn control_keys(parts: &Parts, config: &KernelConfig) -> ControlKeys {
    ControlKeys {
        keys: Arc::clone(&parts.keys),
        label: config.system_label.clone(),
        system: parts.system,
    }
}

fn area_keys(parts: &Parts, config: &KernelConfig) -> DoubleWriteKeys {
    DoubleWriteKeys {
        keys: Arc::clone(&parts.keys),
        label: config.system_label.clone(),
        format: Format::Sealed,
        system: parts.system,
    }
}

fn log_env(parts: &Parts, stop: &Arc<StopSwitch>, control: Arc<ControlFile>) -> LogEnv {
    LogEnv {
        seam: parts.seam.clone(),
        keys: Arc::clone(&parts.keys),
        system: parts.system,
        stop: Arc::clone(stop),
        events: control,
    }
}

fn open_log(
    parts: &Parts,
    config: &KernelConfig,
    stop: &Arc<StopSwitch>,
    control: &Arc<ControlFile>,
    block: ControlBlock,
) -> Result<(Arc<Log>, Opened), UowError> {
    let start = LogStart {
        from: block.needed_from,
        archived: config.archived,
        proven: block.proven.max(config.proven),
        stale: block.stale,
        override_stale: parts.override_stale,
        ahead: block.ahead,
        ended: block.ended.filter(|_| block.orderly),
    };
    let env = log_env(parts, stop, Arc::clone(control));
    let opened = Log::open(env, config.log.clone(), start);
    let refused = |error| refused_by_log(&parts.home.join(CONTROL), error);
    let (log, opened) = opened.map_err(refused)?;
    if block.stale.is_some() && !opened.single {
        control.update(|block| block.stale = None)?;
    }
    Ok((log, opened))
}

/// Leaves out the data sets that are to be recovered before anybody uses them again. Returns those
/// of which the log does not know that yet.
fn put_offline(parts: &Parts, catalog: &mut Catalog) -> Vec<DataSetId> {
    let named = |definition: &Definition| parts.offline.contains(&definition.name);
    let known = catalog.open().filter(|(_, definition)| named(definition));
    let sets: Vec<DataSetId> = known.map(|(_, definition)| definition.id).collect();
    sets.iter().for_each(|set| catalog.put_offline(*set));
    sets
}

/// Gathers the parts of the newest checkpoint.
fn read_checkpoint(log: &Log, block: ControlBlock) -> Result<Checkpoint, UowError> {
    if block.checkpoint == Lsn::NONE {
        return Ok(Checkpoint::initial());
    }
    let damaged = |why: String| UowError::Damaged {
        object: format!("the checkpoint at {}", block.checkpoint),
        why,
    };
    let mut reader = log.read(block.checkpoint, Lsn(u64::MAX));
    let mut gathered = Gathered::default();
    while let Some(record) = reader.next()? {
        if let KernelRecord::Checkpoint(part) = KernelRecord::of(&record)?
            && let Some(checkpoint) = gathered.part(&part).map_err(damaged)?
        {
            return Ok(checkpoint);
        }
    }
    Err(damaged("the log ends before its last part".into()))
}

fn make_pools(
    config: &KernelConfig,
    dirty: &Arc<DirtyQueue>,
    stop: &Arc<StopSwitch>,
    clock: &Arc<dyn Clock>,
) -> Result<Arc<Pools>, UowError> {
    let pools = Pools::new(Arc::clone(dirty), Arc::clone(stop), Arc::clone(clock));
    for plan in &config.pools {
        pools.add(plan.config())?;
    }
    Ok(Arc::new(pools))
}

/// Builds the kernel around its log, with no data set open yet.
fn assemble(
    parts: Parts,
    config: KernelConfig,
    stop: Arc<StopSwitch>,
    log: Arc<Log>,
    control: Arc<ControlFile>,
    analysis: &Analysis,
    lock: Arc<dyn HeldLock>,
) -> Result<Arc<Kernel>, UowError> {
    let (dirty, sets) = (Arc::new(DirtyQueue::new()), Arc::new(Registry::default()));
    let pools = make_pools(&config, &dirty, &stop, &parts.seam.clock)?;
    let journal = Arc::new(LogJournal {
        log: Arc::clone(&log),
        sets: Arc::clone(&sets),
        stop: Arc::clone(&stop),
        tops: Mutex::new(()),
    });
    let area_keys = area_keys(&parts, &config);
    let area = DoubleWrite::open(&parts.seam, &parts.home.join(AREA), area_keys)?;
    let writer = Arc::new(PageWriter::new(
        parts.seam.clone(),
        config.writer.clone(),
        Arc::clone(&pools),
        Arc::clone(&dirty),
        Arc::clone(&journal) as Arc<dyn pool::Journal>,
        Arc::clone(&sets) as Arc<dyn pool::writer::Sets>,
        Arc::clone(&stop),
        area,
        analysis.last_batch,
    ));
    let environment = Environment {
        seam: parts.seam.clone(),
        keys: Arc::clone(&parts.keys),
        system: parts.system,
        home: parts.home.clone(),
        stop: Arc::clone(&stop),
        read_ahead: Arc::new(ReadAhead::start(config.read_ahead_threads)?),
        contents: Some({
            let resource = Arc::clone(&parts.resource);
            Arc::new(move |ci, page| resource.damage(ci, page))
        }),
    };
    Ok(Arc::new(Kernel {
        locks: LockManager::new(Arc::clone(&parts.seam.clock), config.locks.clone()),
        work: Work {
            units: UnitsOfWork::new(analysis.next_uow),
            active: Active::new(),
            transit: Transit::default(),
            frees: Frees::default(),
        },
        parts,
        config,
        environment,
        stop,
        log,
        control,
        buffers: Buffers { pools, assigning: Mutex::new(()), dirty, writer },
        journal,
        sets,
        upkeep: Upkeep::default(),
        restart: std::sync::OnceLock::new(),
        lock,
    }))
}
