//! The archive on a machine that crashes: a small log whose segments are used again and again, an
//! archiver, two archive folders, and a ledger of what was acknowledged outside of the machine.
//!
//! What must hold after every crash, however the disk took it (K20):
//! 1. Every record that was acknowledged, and that the registry says a recovery may ask for, can be
//!    read: from the archives and the log together, in order, each once, as it was written.
//! 2. The log goes on: segments are archived and used again, however often it crashes.
//! 3. An archive that the registry names is there.
//! 4. A damaged copy is never read as if it were whole; if the other one is sound, nothing is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use archive::{
    ArchiveCatalog, ArchiveConfig, ArchiveEnv, ArchiveError, ArchivedGroups, Archiver, Concern,
    Keep, LogSource, Span,
};
use base::{DataSetId, Lsn, SystemId, UowId};
use parking_lot::Mutex;
use seal::{Format, TestKeys};
use seam::Seam;
use seam::sim::{
    self, CrashStyle, End, Fault, FaultId, FaultKind, Outcome, Rng, SimConfig, SimDisk, When,
};
use seam::stop::StopSwitch;
use wal::{Elsewhere, Log, LogConfig, LogEnv, LogError, LogStart, Record, WadsConfig};

use self::ledger::Ledger;

mod deleting;
mod ledger;
mod repairing;
mod returning;
mod slow;
mod striping;

pub use deleting::deletions;
pub use repairing::{
    a_start_takes_them_from_an_archive, repairing, wads_recreated, what_is_nowhere_is_named,
};
pub use returning::resyncs;
pub use slow::a_slow_log;
pub use striping::restripes;

/// Tasks that append in each life.
const TASKS: u64 = 2;
const SYSTEM: SystemId = SystemId([6; 16]);

/// A machine that archives its log, from crash to crash.
pub struct Machine {
    /// Its disk.
    pub disk: SimDisk,
    log: LogConfig,
    archive: ArchiveConfig,
    ledger: Arc<Ledger>,
    life: u64,
}

/// How a machine is made.
#[derive(Clone, Copy, Debug)]
pub struct Make {
    /// Copies of the log.
    pub log_copies: usize,
    /// Folders of the archive.
    pub folders: usize,
    /// Whether archives are compressed.
    pub compress: bool,
    /// Whether groups are taken from the log's memory; otherwise all are read back.
    pub recent: bool,
    /// Files of the write-ahead data set.
    pub ahead: usize,
}

/// What the tasks of a life do.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// Decides everything.
    pub seed: u64,
    /// Records of each task.
    pub records: u64,
}

fn folders(name: &str, count: usize) -> Vec<PathBuf> {
    (1..=count).map(|copy| PathBuf::from(format!("/{name}{copy}"))).collect()
}

impl Machine {
    /// A machine with an empty log and no archives.
    #[must_use]
    pub fn new(make: Make) -> Machine {
        let log = LogConfig {
            segment_bytes: 28 << 10,
            segments_min: 2,
            segments_max: 5,
            ring_bytes: 16 << 10,
            group_bytes_max: 8 << 10,
            // Less than a segment, so that the archiver falls behind now and then.
            recent_bytes: if make.recent { 20 << 10 } else { 0 },
            wads: (make.ahead > 0).then(|| WadsConfig {
                bytes: 24 << 10,
                ..WadsConfig::new(folders("ahead", make.ahead))
            }),
            ..LogConfig::new(folders("log", make.log_copies))
        };
        let archive = ArchiveConfig {
            compress: make.compress.then_some(1),
            keep: Keep { time: None, files: Some(2) },
            ..ArchiveConfig::new(folders("archive", make.folders))
        };
        let ledger = Ledger {
            from: AtomicU64::new(Lsn::FIRST.0),
            needed: AtomicU64::new(Lsn::FIRST.0),
            ..Ledger::default()
        };
        let ledger = Arc::new(ledger);
        let machine = Machine { disk: SimDisk::new(), log, archive, ledger, life: 0 };
        sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
            let made = Log::create(&machine.log_env(&seam), &machine.log);
            made.unwrap_or_else(|error| panic!("{error}"));
        })
        .expect_completed();
        machine.disk.settle();
        machine
    }

    /// The same machine once more, with a disk and a ledger of its own.
    #[must_use]
    pub fn fork(&self) -> Machine {
        let number = |number: &AtomicU64| AtomicU64::new(number.load(SeqCst));
        let ledger = Ledger {
            acked: Mutex::new(self.ledger.acked.lock().clone()),
            reached: number(&self.ledger.reached),
            newest: number(&self.ledger.newest),
            from: number(&self.ledger.from),
            needed: number(&self.ledger.needed),
            stale: Mutex::new(*self.ledger.stale.lock()),
            ahead: Mutex::new(*self.ledger.ahead.lock()),
            spare: Mutex::new(self.ledger.spare.lock().clone()),
            restripes: AtomicBool::new(self.ledger.restripes.load(SeqCst)),
            layout: Mutex::new(self.ledger.layout.lock().clone()),
            archives: Mutex::new(self.ledger.archives.lock().clone()),
            log: Mutex::default(),
        };
        Machine {
            disk: self.disk.snapshot(),
            log: self.log.clone(),
            archive: self.archive.clone(),
            ledger: Arc::new(ledger),
            life: self.life,
        }
    }

    fn log_env(&self, seam: &Seam) -> LogEnv {
        LogEnv {
            seam: seam.clone(),
            keys: Arc::new(TestKeys::new(5)),
            system: SYSTEM,
            stop: Arc::new(StopSwitch::default()),
            events: self.ledger.clone(),
        }
    }

    fn env(seam: &Seam) -> ArchiveEnv {
        ArchiveEnv {
            seam: seam.clone(),
            keys: Arc::new(TestKeys::new(5)),
            system: SYSTEM,
            key_label: "log".into(),
            format: Format::Sealed,
            plain: wal::PlainSpan::NONE,
            dated: |_| None,
        }
    }

    fn open(&self, seam: &Seam) -> Result<(Arc<Log>, Archiver), ArchiveError> {
        let catalog = ArchiveCatalog::open(Machine::env(seam), self.archive.clone())?;
        catalog.prepare()?;
        let reached = Lsn(self.ledger.reached.load(SeqCst));
        let start = LogStart {
            from: Lsn(self.ledger.from.load(SeqCst)),
            archived: catalog.archived_to().unwrap_or_default(),
            proven: catalog.proven().max(reached),
            stale: *self.ledger.stale.lock(),
            ahead: *self.ledger.ahead.lock(),
            ..LogStart::NEW
        };
        let catalog = Arc::new(catalog);
        self.check_recorded(&catalog);
        // What a single copy lacks is not made up for: the proof is that it lacks nothing.
        let dual = self.log.copies.len() > 1;
        let elsewhere = dual.then(|| Arc::new(ArchivedGroups::new(Arc::clone(&catalog))) as _);
        let elsewhere = Elsewhere(elsewhere);
        let mut config = LogConfig { elsewhere, ..self.laid_out() };
        if let Some((folder, true)) = self.ledger.spare.lock().clone() {
            config.copies[0] = folder;
        }
        let (log, opened) = Log::open(self.log_env(seam), config, start)?;
        if !opened.single {
            *self.ledger.stale.lock() = None;
        }
        *self.ledger.log.lock() = Arc::downgrade(&log);
        let archiver = Archiver::start(catalog, Arc::clone(&log), self.ledger.clone())?;
        Ok((log, archiver))
    }

    /// Each archive that is recorded is there.
    fn check_recorded(&self, catalog: &ArchiveCatalog) {
        let there: Vec<_> = catalog.list().iter().map(|copy| copy.info.from).collect();
        for from in &*self.ledger.archives.lock() {
            assert!(there.contains(from), "the archive of {from} is recorded, and gone");
        }
    }

    /// Everything that was acknowledged and may still be asked for is there.
    fn check(&self, log: &Arc<Log>, archiver: &Archiver) {
        let needed = Lsn(self.ledger.needed.load(SeqCst));
        let source = LogSource::new(Some(Arc::clone(archiver.catalog())), Some(Arc::clone(log)));
        let panic_with = |error: ArchiveError| -> ! { panic!("{error}") };
        log.wait_durable(log.next_lsn()).unwrap_or_else(|error| panic!("{error}"));
        let mut reader =
            source.read(needed, source.end()).unwrap_or_else(|error| panic_with(error));
        let mut last: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        let mut border = needed;
        while let Some(record) = reader.next().unwrap_or_else(|error| panic_with(error)) {
            assert_eq!(record.lsn, border, "records follow each other");
            border = record.end;
            let (life, task) = (u64::from(record.kind), u64::from(record.flags));
            let index = record.uow.0;
            assert_eq!(record.body, body(life, task, index, record.body.len()), "{record:?}");
            match last.insert((life, task), index) {
                Some(before) => assert_eq!(index, before + 1, "task {task} of life {life}"),
                None if needed == Lsn::FIRST => assert_eq!(index, 0, "task {task} of life {life}"),
                None => {}
            }
        }
        assert_eq!(border, source.end(), "the source ends with a whole record");
        self.check_accumulated(&source, needed);
        for ((life, task), count) in self.ledger.acked.lock().iter() {
            let seen = last.get(&(*life, *task)).map_or(0, |index| index + 1);
            let asked = needed == Lsn::FIRST || seen > 0;
            assert!(!asked || seen >= *count, "task {task} of life {life}: {seen} of {count}");
        }
    }

    /// Through accumulations one task's records are the same as without.
    fn check_accumulated(&self, source: &LogSource, needed: Lsn) {
        let panic_with = |error: ArchiveError| -> ! { panic!("{error}") };
        let mut plain = Vec::new();
        let mut reader =
            source.read(needed, source.end()).unwrap_or_else(|error| panic_with(error));
        while let Some(record) = reader.next().unwrap_or_else(|error| panic_with(error)) {
            if record.flags == 1 {
                plain.push((record.head(), base::hash::bytes(record.body)));
            }
        }
        let mut merged = Vec::new();
        let range = needed..source.end();
        let read = source.each_of::<ArchiveError>(
            &[Span::whole(DataSetId(1))],
            range,
            concern,
            &mut |record| {
                merged.push((record.head(), base::hash::bytes(record.body)));
                Ok(true)
            },
        );
        read.unwrap_or_else(|error| panic_with(error));
        assert_eq!(merged.len(), plain.len(), "records of one task");
        assert!(merged == plain, "the same records");
    }

    /// One life: start, check, log and archive; ends by itself or by a crash after so many writes.
    pub fn live(&mut self, script: Script, crash_after: Option<u64>) -> Outcome {
        self.live_beside(script, crash_after, None)
    }

    /// The same, perhaps with somebody who spoils and repairs the log meanwhile.
    fn live_beside(
        &mut self,
        script: Script,
        crash_after: Option<u64>,
        operator: Option<repairing::Operator>,
    ) -> Outcome {
        self.life += 1;
        self.ledger.newest.store(0, SeqCst);
        if let Some(writes) = crash_after {
            self.disk.crash_after(writes);
        }
        sim::run(SimConfig::new(script.seed), self.disk.clone(), |seam| {
            let (log, archiver) = self.open(&seam).unwrap_or_else(|error| panic!("{error}"));
            self.check(&log, &archiver);
            let archiver = Arc::new(archiver);
            let tasks = (0..TASKS).map(|task| {
                let worker = Worker {
                    seam: seam.clone(),
                    log: Arc::clone(&log),
                    archiver: Arc::clone(&archiver),
                    keep: self.archive.keep,
                    ledger: Arc::clone(&self.ledger),
                    life: self.life,
                    task,
                    script,
                };
                let started = seam::thread::spawn("task", move || worker.work());
                started.unwrap_or_else(|error| panic!("{error}"))
            });
            let tasks: Vec<_> = tasks.collect();
            let over = Arc::new(AtomicBool::new(false));
            let operator = operator.map(|operator| {
                let (seam, log, over) = (seam.clone(), Arc::clone(&log), Arc::clone(&over));
                let archiver = Arc::clone(&archiver);
                let work = move || operator.work(&seam, &log, &archiver, &over);
                let started = seam::thread::spawn("operator", work);
                started.unwrap_or_else(|error| panic!("{error}"))
            });
            tasks.into_iter().for_each(seam::thread::JoinHandle::join);
            over.store(true, SeqCst);
            operator.into_iter().for_each(seam::thread::JoinHandle::join);
            self.check(&log, &archiver);
            archiver.end();
            log.close().unwrap_or_else(|error| panic!("{error}"));
        })
    }

    /// What the disk holds after a power failure.
    pub fn crash(&mut self, seed: u64, style: CrashStyle) {
        self.disk = self.disk.crash_image(&mut Rng::new(seed), style);
    }

    /// Verifies all archives and makes damaged copies anew; a second look finds nothing.
    fn repair(&self, seed: u64) -> Result<(), String> {
        let outcome = sim::run(SimConfig::new(seed), self.disk.clone(), |seam| {
            let panic_with = |error: ArchiveError| -> ! { panic!("{error}") };
            let catalog = ArchiveCatalog::open(Machine::env(&seam), self.archive.clone());
            let catalog = catalog.unwrap_or_else(|error| panic_with(error));
            for turn in 0..2 {
                for copy in catalog.list() {
                    let faults =
                        catalog.verify(copy.info.from).unwrap_or_else(|error| panic_with(error));
                    assert!(turn == 0 || faults.is_empty(), "{faults:?}");
                    for fault in faults {
                        let repaired = catalog.repair(fault.from, &fault.path);
                        repaired.unwrap_or_else(|error| panic_with(error));
                    }
                }
            }
        });
        crashed(&outcome).map(drop)
    }

    /// A life without room for archives: work until it is refused, back out, make room, work on.
    fn starve(&mut self, seed: u64, disk: &SimDisk, full: FaultId) -> Outcome {
        self.life += 1;
        sim::run(SimConfig::new(seed), self.disk.clone(), |seam| {
            let (log, archiver) = self.open(&seam).unwrap_or_else(|error| panic!("{error}"));
            let record = |index: u64, undo: bool| {
                let (text, kind) = (body(self.life, 0, index, 900), self.life as u8);
                let (uow, none) = (UowId(index), Lsn::NONE);
                match undo {
                    true => log.append_reserved(kind, 0, uow, none, &[&text]),
                    false => log.append(kind, 0, uow, none, &[&text]),
                }
            };
            assert!(log.reserve(3_000), "room for undo");
            let mut count = 0;
            let error = loop {
                let place = match record(count, false) {
                    Ok(place) => place,
                    Err(error) => break error,
                };
                log.wait_durable(place.end).unwrap_or_else(|error| panic!("{error}"));
                self.ledger.checkpoint(&log, place.lsn);
                count += 1;
                seam.clock.sleep(Duration::from_millis(20));
            };
            assert!(matches!(error, LogError::ArchiveBehind { .. }), "{error}");
            assert!(error.to_string().contains("/archive1"), "{error}");
            assert!(archiver.status().trouble.is_some(), "{:?}", archiver.status());
            for index in count..count + 3 {
                record(index, true).unwrap_or_else(|error| panic!("backout: {error}"));
            }
            disk.heal(full);
            seam.clock.sleep(Duration::from_secs(5));
            assert_eq!(archiver.status().trouble, None);
            record(count + 3, false).unwrap_or_else(|error| panic!("{error}"));
            let end = log.next_lsn();
            log.wait_durable(end).unwrap_or_else(|error| panic!("{error}"));
            self.check(&log, &archiver);
            archiver.end();
            log.close().unwrap_or_else(|error| panic!("{error}"));
        })
    }

    /// The archive files, by folder and age.
    #[must_use]
    pub fn archives(&self) -> Vec<PathBuf> {
        let paths = self.disk.paths();
        paths.into_iter().filter(|path| path.to_string_lossy().ends_with(".hfa")).collect()
    }
}

/// Each task is a data set of its own.
fn concern(record: &Record<'_>) -> Concern {
    Concern::Set(DataSetId(u32::from(record.flags)))
}

fn body(life: u64, task: u64, index: u64, len: usize) -> Vec<u8> {
    let mut body = (life << 48 | task << 40 | index).to_le_bytes().repeat(len / 8 + 1);
    body.truncate(len);
    body
}

struct Worker {
    seam: Seam,
    log: Arc<Log>,
    archiver: Arc<Archiver>,
    keep: Keep,
    ledger: Arc<Ledger>,
    life: u64,
    task: u64,
    script: Script,
}

impl Worker {
    fn work(&self) {
        let seed = self.script.seed ^ self.task << 32 ^ self.life << 40;
        let mut rng = Rng::stream(seed, "worker");
        let mut previous = Lsn::NONE;
        let mut borders = Vec::new();
        for index in 0..self.script.records {
            let len = if rng.one_in(4) { rng.below(6_000) } else { rng.below(1_500) };
            let body = body(self.life, self.task, index, len as usize);
            let (kind, flags) = (self.life as u8, self.task as u8);
            let place = loop {
                match self.log.append(kind, flags, UowId(index), previous, &[&body]) {
                    Ok(place) => break place,
                    // Work waits for the archive; that it comes is part of the proof.
                    Err(LogError::Full { .. } | LogError::ArchiveBehind { .. }) => {
                        let newest = self.ledger.newest.load(SeqCst);
                        let behind = self.log.next_lsn();
                        self.log.wait_durable(behind).unwrap_or_else(|error| panic!("{error}"));
                        self.ledger.checkpoint(&self.log, Lsn(newest));
                        self.seam.clock.sleep(Duration::from_millis(5));
                    }
                    Err(error) => panic!("{error}"),
                }
            };
            previous = place.lsn;
            self.ledger.newest.fetch_max(place.lsn.0, SeqCst);
            borders.push(place.lsn);
            if rng.one_in(3) {
                self.log.wait_durable(place.end).unwrap_or_else(|error| panic!("{error}"));
                self.acknowledge(index + 1, place.end);
                self.ledger.checkpoint(&self.log, place.lsn);
            }
            if self.task == 0 && rng.one_in(12) {
                self.keep_house(&mut rng, &borders);
            }
            if self.task == 1 && rng.one_in(4) {
                self.bring_back();
            }
            if self.task == 1 {
                self.change_stripes(&mut rng);
            }
        }
    }

    /// Brings each log copy back that is lost.
    fn bring_back(&self) {
        for (copy, info) in (0..).zip(self.log.statistics().copies) {
            if !info.living {
                if copy == 0 {
                    self.relocate();
                }
                match self.log.resync(copy, 0, &mut |_, _| true) {
                    // Its device may be gone.
                    Ok(_) | Err(LogError::CopyBusy { .. } | LogError::Io { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }

    /// Has the lost copy live in its other folder, if there is one and it does not yet.
    fn relocate(&self) {
        let spare = self.ledger.spare.lock().clone();
        let Some((folder, false)) = spare else { return };
        let moved = self.log.relocate(0, &folder, || {
            *self.ledger.spare.lock() = Some((folder.clone(), true));
            Ok(())
        });
        match moved {
            Ok(()) | Err(LogError::CopyBusy { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Merges what concerns one task, from where recoveries may begin to the newest archive.
    fn accumulate(&self, needed: Lsn, catalog: &Arc<ArchiveCatalog>) {
        let whole = catalog.newest().map_or(Lsn::NONE, |newest| newest.info.whole);
        if needed < whole {
            let sets = [DataSetId(1)];
            let range = needed..whole;
            let made = catalog.accumulate(&sets, range, concern, &*self.ledger, &mut |_| Ok(()));
            made.map(drop).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    fn acknowledge(&self, count: u64, end: Lsn) {
        self.ledger.reached.fetch_max(end.0, SeqCst);
        self.ledger.acked.lock().insert((self.life, self.task), count);
    }

    /// What an operator does: archive now, take an image copy, delete what has expired.
    fn keep_house(&self, rng: &mut Rng, borders: &[Lsn]) {
        if rng.one_in(2) {
            let archived = self.archiver.archive_now();
            archived.map(drop).unwrap_or_else(|error| panic!("{error}"));
        }
        let durable = self.log.durable();
        let border = borders.iter().rev().nth(12).filter(|border| **border < durable);
        if let Some(border) = border.filter(|_| rng.one_in(2)) {
            // As if image copies of everything began here.
            self.ledger.needed.fetch_max(border.0, SeqCst);
        }
        let needed = Lsn(self.ledger.needed.load(SeqCst));
        let catalog = self.archiver.catalog();
        if rng.one_in(3) {
            self.accumulate(needed, catalog);
        }
        let deleted = catalog.delete_accumulations(&*self.ledger);
        deleted.map(drop).unwrap_or_else(|error| panic!("{error}"));
        for copy in catalog.expired(&self.keep, needed) {
            match catalog.delete(copy.info.from, &*self.ledger) {
                // Somebody else has deleted it; or the log still has its segment.
                Ok(()) | Err(ArchiveError::NoSuch { .. } | ArchiveError::Needed { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Whether a life crashed, as it was told to; an error if it broke.
fn crashed(outcome: &Outcome) -> Result<bool, String> {
    match outcome.end {
        End::Completed => Ok(false),
        End::Crashed => Ok(true),
        _ => Err(outcome.to_string()),
    }
}

const STYLES: [CrashStyle; 4] =
    [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];

/// Crashes after every `step`th write of a life, and some writes into the next life too; then a
/// life without a crash. Returns how many crashes there were.
///
/// # Errors
/// The first broken promise.
pub fn sweep(base: &Machine, script: Script, step: u64) -> Result<u64, String> {
    let mut crashes = 0;
    for n in (1..).step_by(step as usize) {
        let mut machine = base.fork();
        let described = |why: String| format!("crash after write {n}: {why}");
        let first = Script { seed: script.seed + n, ..script };
        if !crashed(&machine.live(first, Some(n))).map_err(described)? {
            break;
        }
        crashes += 1;
        machine.crash(n, STYLES[(n / step) as usize % 4]);
        let next = Script { seed: n, records: 6 };
        if crashed(&machine.live(next, Some(3 + n % 40))).map_err(described)? {
            crashes += 1;
            machine.crash(n + 1, STYLES[(n / step / 4) as usize % 4]);
        } else {
            machine.disk = machine.disk.snapshot();
        }
        crashed(&machine.live(Script { seed: n, records: 4 }, None)).map_err(described)?;
    }
    Ok(crashes)
}

/// Sweeps over machines of each make, in another order of things in each round.
///
/// # Errors
/// The first broken promise.
pub fn sweeps(round: u64, step: u64) -> Result<u64, String> {
    let makes = [
        (1, 1, false, true, 0),
        (2, 2, false, true, 0),
        (1, 2, true, true, 0),
        (1, 1, false, false, 0),
        (2, 1, false, true, 2),
        (1, 1, false, true, 1),
    ];
    let mut crashes = 0;
    for (at, (log_copies, folders, compress, recent, ahead)) in makes.into_iter().enumerate() {
        let machine = Machine::new(Make { log_copies, folders, compress, recent, ahead });
        let script = Script { seed: 1_000 * at as u64 + round, records: 60 };
        crashes += sweep(&machine, script, step)?;
    }
    Ok(crashes)
}

/// Groups that one log copy stores wrong are archived from the other one.
///
/// # Errors
/// If they are not.
pub fn damage_is_not_archived(seed: u64) -> Result<(), String> {
    let mut machine =
        Machine::new(Make { log_copies: 2, folders: 2, compress: false, recent: false, ahead: 0 });
    let flips = Fault::new(FaultKind::FlipAtRest, "/log1").when(When::Chance(200));
    machine.disk.inject(flips);
    crashed(&machine.live(Script { seed, records: 60 }, None))?;
    machine.disk.heal_all();
    machine.disk = machine.disk.snapshot();
    crashed(&machine.live(Script { seed, records: 5 }, None))?;
    Ok(())
}

/// Archives that one folder damages, or does not have at all, are read from the other one, and made
/// anew there.
///
/// # Errors
/// If something is lost, or a damaged copy stays.
pub fn damaged_copies_are_made_anew(seed: u64) -> Result<(), String> {
    let mut machine = Machine::new(Make {
        log_copies: 1,
        folders: 2,
        compress: seed.is_multiple_of(2),
        recent: !seed.is_multiple_of(3),
        ahead: 0,
    });
    crashed(&machine.live(Script { seed, records: 50 }, None))?;
    let archives = machine.archives();
    let mut rng = Rng::stream(seed, "damage");
    for path in archives.iter().filter(|path| path.starts_with("/archive1")) {
        let block = rng.below(machine.disk.len_raw(path) / 4096) * 4096;
        match rng.index(3) {
            0 => machine.disk.corrupt(path, block + rng.below(4096), &[0x10]),
            1 => machine.disk.write_raw(path, block, &[0; 4096]),
            _ => machine.disk.swap_ranges(path, 0, block, 4096),
        }
    }
    machine.disk = machine.disk.snapshot();
    crashed(&machine.live(Script { seed, records: 3 }, None))?;
    machine.disk = machine.disk.snapshot();
    machine.repair(seed)?;
    let sound = |path: &PathBuf| machine.disk.len_raw(path);
    for path in machine.archives().iter().filter(|path| path.starts_with("/archive1")) {
        let name = path.file_name().unwrap_or_default();
        let twin = PathBuf::from("/archive2").join(name);
        let bytes = |path| machine.disk.read_raw(path, 0, sound(path) as usize);
        if bytes(path) != bytes(&twin) {
            return Err(format!("{} is still not what its copy is", path.display()));
        }
    }
    Ok(())
}

/// While no archive folder has room, work is refused in the end, backout is not, and all goes on
/// as soon as there is room.
///
/// # Errors
/// If it does not.
pub fn a_full_archive_holds_work_but_loses_nothing(seed: u64) -> Result<(), String> {
    let mut machine = Machine::new(Make {
        log_copies: 1,
        folders: 1,
        compress: false,
        recent: seed.is_multiple_of(2),
        ahead: 0,
    });
    let full = machine.disk.inject(Fault::new(FaultKind::NoSpace, "/archive1/*.new"));
    let disk = machine.disk.clone();
    let outcome = machine.starve(seed, &disk, full);
    crashed(&outcome)?;
    machine.disk = machine.disk.snapshot();
    crashed(&machine.live(Script { seed, records: 20 }, None))?;
    Ok(())
}
