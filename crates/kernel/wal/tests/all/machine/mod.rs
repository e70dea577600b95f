//! A log on a simulated machine that crashes, and a ledger of what it has promised.
//!
//! Every record says which task of which life wrote it as its how-manieth. After each crash the
//! log must hold, for each task of each life, its first records up to at least the last one that
//! was acknowledged, without a gap; and what one restart has found, every later one finds again.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion
#![allow(dead_code)] // each test file uses its part

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use base::{GroupNumber, Lsn, SystemId, UowId};
use holdfast_wal::{
    Beginning, DurableSink, Log, LogConfig, LogEnv, LogError, LogEvents, LogStart, Opened, Scanned,
    scan,
};
use seal::TestKeys;
use seam::Seam;
use seam::sim::{self, CrashStyle, End, Outcome, Rng, SimConfig, SimDisk};
use seam::stop::StopSwitch;
use seam::sync::Mutex;

/// Tasks that append in each life.
pub(crate) const TASKS: u64 = 3;

/// What the log has promised, kept outside of the machine.
#[derive(Default)]
pub(crate) struct Ledger {
    /// By life and task: how many records were acknowledged, and the end of the last one.
    acked: Mutex<BTreeMap<(u64, u64), (u64, Lsn)>>,
    /// The copy that was reported lost.
    pub(crate) stale: Mutex<Option<(u8, GroupNumber)>>,
    /// Since which beginning the write-ahead data set may hold what the log lacks.
    pub(crate) ahead: Mutex<Option<Beginning>>,
    /// The stripes and their folders that were recorded last.
    pub(crate) layout: Mutex<Option<Layout>>,
    /// What the last restart has found: begin, end and hash of each record.
    found: Mutex<Vec<(Lsn, Lsn, u64)>>,
    /// Where restart begins.
    pub(crate) from: AtomicU64,
}

impl LogEvents for Ledger {
    fn copy_lost(&self, copy: u8, from: GroupNumber, _why: &str) -> Result<(), String> {
        let mut stale = self.stale.try_lock().expect("never held across a scheduling point");
        stale.get_or_insert((copy, from));
        Ok(())
    }

    fn copy_back(&self, copy: u8) -> Result<(), String> {
        let mut stale = self.stale.try_lock().expect("never held across a scheduling point");
        stale.take_if(|(stale, _)| *stale == copy);
        Ok(())
    }

    fn ahead(&self, holds: Option<Beginning>) -> Result<(), String> {
        *self.ahead.try_lock().expect("never held across a scheduling point") = holds;
        Ok(())
    }
}

/// Stripes, and folders of those that have their own.
pub(crate) type Layout = (u8, Vec<Vec<PathBuf>>);

/// A machine with a log, from crash to crash.
pub(crate) struct Machine {
    pub(crate) disk: SimDisk,
    pub(crate) config: LogConfig,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) life: u64,
    pub(crate) truncates: bool,
    /// Whether an operator brings lost copies back.
    pub(crate) resyncs: bool,
    /// Whether an operator changes the number of stripes.
    pub(crate) restripes: bool,
}

/// What the tasks of a life do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script {
    pub(crate) seed: u64,
    pub(crate) records: u64,
    /// The longest body, in bytes; below 200, all are that long.
    pub(crate) body_max: u64,
}

pub(crate) fn small(copies: usize, stripes: u8) -> LogConfig {
    let folders = (0..copies).map(|copy| PathBuf::from(format!("/log-{}", copy + 1))).collect();
    LogConfig {
        stripes,
        segment_bytes: 36 << 10,
        segments_min: 2,
        segments_max: 40,
        ring_bytes: 16 << 10,
        group_bytes_max: 8 << 10,
        ..LogConfig::new(folders)
    }
}

impl Machine {
    /// A machine with an empty log.
    pub(crate) fn new(config: LogConfig) -> Machine {
        let disk = SimDisk::new();
        let ledger = Arc::new(Ledger { from: AtomicU64::new(Lsn::FIRST.0), ..Ledger::default() });
        let (truncates, resyncs, restripes) = (false, false, false);
        let machine = Machine { disk, config, ledger, life: 0, truncates, resyncs, restripes };
        sim::run(SimConfig::new(1), machine.disk.clone(), |seam| {
            Log::create(&machine.env(&seam), &machine.config).unwrap();
        })
        .expect_completed();
        machine.disk.settle();
        machine
    }

    /// The same machine once more, with a disk and a ledger of its own.
    pub(crate) fn fork(&self) -> Machine {
        let ledger = Ledger {
            acked: Mutex::new(self.ledger.acked.lock().clone()),
            stale: Mutex::new(*self.ledger.stale.lock()),
            ahead: Mutex::new(*self.ledger.ahead.lock()),
            layout: Mutex::new(self.ledger.layout.lock().clone()),
            found: Mutex::new(self.ledger.found.lock().clone()),
            from: AtomicU64::new(self.ledger.from.load(SeqCst)),
        };
        Machine {
            disk: self.disk.snapshot(),
            config: self.config.clone(),
            ledger: Arc::new(ledger),
            ..*self
        }
    }

    pub(crate) fn env(&self, seam: &Seam) -> LogEnv {
        LogEnv {
            seam: seam.clone(),
            keys: Arc::new(TestKeys::new(5)),
            system: SystemId([3; 16]),
            stop: Arc::new(StopSwitch::default()),
            events: self.ledger.clone(),
        }
    }

    pub(crate) fn start(&self) -> LogStart {
        LogStart {
            from: Lsn(self.ledger.from.load(SeqCst)),
            stale: *self.ledger.stale.lock(),
            ahead: *self.ledger.ahead.lock(),
            ..LogStart::NEW
        }
    }

    /// The configuration with the layout that was recorded last.
    pub(crate) fn config(&self) -> LogConfig {
        let layout = self.ledger.layout.try_lock().expect("never held across a scheduling point");
        let mut config = self.config.clone();
        if let Some((stripes, folders)) = &*layout {
            (config.stripes, config.stripe_folders) = (*stripes, folders.clone());
        }
        config
    }

    pub(crate) fn open(&self, seam: &Seam) -> Result<(Arc<Log>, Opened), LogError> {
        let opened = Log::open(self.env(seam), self.config(), self.start())?;
        if !opened.1.single {
            // Both copies are whole again, so the record of the loss may go.
            *self.ledger.stale.try_lock().expect("never held across a scheduling point") = None;
        }
        Ok(opened)
    }

    /// One life: restart, check, append; ends by itself or by a crash after so many writes.
    pub(crate) fn live(&mut self, script: Script, crash_after: Option<u64>) -> Outcome {
        self.life += 1;
        if let Some(writes) = crash_after {
            self.disk.crash_after(writes);
        }
        sim::run(SimConfig::new(script.seed), self.disk.clone(), |seam| {
            let (log, opened) = self.open(&seam).unwrap();
            self.check(&log, &opened);
            let tasks: Vec<_> = (0..TASKS)
                .map(|task| {
                    let worker = Worker {
                        log: Arc::clone(&log),
                        ledger: Arc::clone(&self.ledger),
                        life: self.life,
                        task,
                        script,
                        truncates: self.truncates,
                    };
                    seam::thread::spawn("task", move || worker.work()).unwrap()
                })
                .collect();
            let over = Arc::new(AtomicBool::new(false));
            let operator = self.resyncs.then(|| {
                let (seam, log, over) = (seam.clone(), Arc::clone(&log), Arc::clone(&over));
                seam::thread::spawn("operator", move || bring_back(&seam, &log, &over)).unwrap()
            });
            let planner = self.restripes.then(|| {
                let (seam, log, over) = (seam.clone(), Arc::clone(&log), Arc::clone(&over));
                let (ledger, seed) = (Arc::clone(&self.ledger), script.seed);
                let plan = move || change_stripes(&seam, &log, &ledger, seed, &over);
                seam::thread::spawn("planner", plan).unwrap()
            });
            tasks.into_iter().for_each(seam::thread::JoinHandle::join);
            over.store(true, SeqCst);
            operator.into_iter().chain(planner).for_each(seam::thread::JoinHandle::join);
            log.close().unwrap();
        })
    }

    /// What the disk holds after a power failure.
    pub(crate) fn crash(&mut self, seed: u64, style: CrashStyle) {
        self.disk = self.disk.crash_image(&mut Rng::new(seed), style);
    }

    /// Restarts twice, and checks that the second time finds what the first one has found.
    pub(crate) fn restart(&mut self, seed: u64) -> Result<(), String> {
        for turn in 0..2 {
            let outcome = sim::run(SimConfig::new(seed + turn), self.disk.clone(), |seam| {
                if turn == 0 && self.config.wads.is_some() {
                    self.look(&seam);
                }
                let (log, opened) = self.open(&seam).unwrap();
                self.check(&log, &opened);
                if turn == 1 {
                    assert_eq!(opened.repaired, 0, "the first restart has repaired everything");
                }
                log.close().unwrap();
                self.scan(&seam, &opened);
            });
            if outcome.end != End::Completed {
                return Err(outcome.to_string());
            }
        }
        Ok(())
    }

    /// Whoever only looks finds what was promised, too, and changes nothing.
    fn look(&self, seam: &Seam) {
        let end = scan(&self.env(seam), &self.config(), &self.start(), &mut |_| ()).unwrap();
        assert!(end >= self.ledger.promised(), "{end} is all that a look finds");
    }

    /// Both copies hold the whole log.
    fn scan(&self, seam: &Seam, opened: &Opened) {
        let mut records = 0;
        let end = scan(&self.env(seam), &self.config(), &self.start(), &mut |seen| match seen {
            Scanned::Damage { number, path, why, .. } if !opened.single => {
                panic!("{number} in {}: {why}", path.display())
            }
            Scanned::Lost { path, why, .. } if !opened.single => {
                panic!("{}: {why}", path.display())
            }
            Scanned::Record(_) => records += 1,
            _ => {}
        });
        assert_eq!(end.unwrap(), opened.end);
        let from = Lsn(self.ledger.from.load(SeqCst));
        let known = self.ledger.found.try_lock().unwrap();
        assert!(records >= known.iter().filter(|(lsn, ..)| *lsn >= from).count());
    }

    /// Everything that was promised is there, and nothing else.
    pub(crate) fn check(&self, log: &Arc<Log>, opened: &Opened) {
        let from = Lsn(self.ledger.from.load(SeqCst));
        let mut found = Vec::new();
        let mut last: BTreeMap<(u64, u64), (u64, Lsn)> = BTreeMap::new();
        let mut reader = log.read(from, opened.end);
        let (mut border, mut newest) = (from, 0);
        while let Some(record) = reader.next().unwrap() {
            assert_eq!(record.lsn, border, "records follow each other");
            border = record.end;
            let (life, task) = (u64::from(record.kind), u64::from(record.flags));
            let index = record.uow.0;
            assert_eq!(record.body, body(life, task, index, record.body.len()), "{record:?}");
            assert!(life >= newest, "a record of life {life} stands behind one of life {newest}");
            newest = life;
            let before = last.insert((life, task), (index, record.end));
            match before {
                Some((before, _)) => assert_eq!(index, before + 1, "task {task} of life {life}"),
                None if from == Lsn::FIRST => assert_eq!(index, 0, "task {task} of life {life}"),
                None => {}
            }
            found.push((record.lsn, record.end, base::hash::bytes(record.body)));
        }
        assert_eq!(border, opened.end, "the log ends with a whole record");
        for ((life, task), (count, end)) in self.ledger.acked.try_lock().unwrap().iter() {
            if *end > from {
                let seen = last.get(&(*life, *task)).map_or(0, |(index, _)| index + 1);
                assert!(seen >= *count, "task {task} of life {life}: {seen} of {count} are left");
            }
        }
        let mut known = self.ledger.found.try_lock().unwrap();
        let again = known.iter().filter(|(lsn, ..)| *lsn >= from);
        for (old, new) in again.zip(&found) {
            assert_eq!(old, new, "what was found once is found again");
        }
        let count = known.iter().filter(|(lsn, ..)| *lsn >= from).count();
        assert!(
            found.len() >= count,
            "{} of {count} records that were found are left",
            found.len()
        );
        *known = found;
    }
}

/// Brings each copy back that is lost.
fn bring_back(seam: &Seam, log: &Log, over: &AtomicBool) {
    while !over.load(SeqCst) {
        for (copy, info) in (0..).zip(log.statistics().copies) {
            if !info.living {
                match log.resync(copy, 0, &mut |_, _| true) {
                    Ok(_) | Err(LogError::CopyBusy { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
        seam.clock.sleep(Duration::from_micros(300));
    }
}

/// The folders of so many stripes, of which all but the first have their own.
pub(crate) fn own_folders(stripes: u8, copies: usize) -> Vec<Vec<PathBuf>> {
    let folder = |stripe, copy| PathBuf::from(format!("/stripe-{stripe}-of-{copy}"));
    (2..=stripes).map(|stripe| (1..=copies).map(|copy| folder(stripe, copy)).collect()).collect()
}

/// Changes the number of stripes now and then.
fn change_stripes(seam: &Seam, log: &Log, ledger: &Ledger, seed: u64, over: &AtomicBool) {
    let mut rng = Rng::stream(seed, "planner");
    for _ in 0..2 {
        seam.clock.sleep(Duration::from_micros(rng.below(3_000)));
        if over.load(SeqCst) {
            return;
        }
        let stripes = 1 + rng.below(4) as u8;
        let copies = log.statistics().copies.len();
        let (_, known) = log.stripes();
        let most = stripes.max(known.len() as u8 + 1);
        let folders = own_folders(most, copies);
        let recorded = (stripes, folders.clone());
        let keep = || {
            *ledger.layout.try_lock().expect("never held across a scheduling point") =
                Some(recorded);
            Ok(())
        };
        match log.restripe(stripes, folders, keep, &mut |_, _| true) {
            Ok(()) | Err(LogError::Stripes { .. }) => {}
            // Its device may be gone.
            Err(LogError::Io { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn body(life: u64, task: u64, index: u64, len: usize) -> Vec<u8> {
    let mut body = (life << 48 | task << 40 | index).to_le_bytes().repeat(len / 8 + 1);
    body.truncate(len);
    body
}

struct Worker {
    log: Arc<Log>,
    ledger: Arc<Ledger>,
    life: u64,
    task: u64,
    script: Script,
    truncates: bool,
}

/// Tells the ledger when the log calls back.
struct Promise {
    ledger: Arc<Ledger>,
    life: u64,
    task: u64,
    ends: Mutex<Vec<Lsn>>,
    delivered: AtomicU64,
}

impl Ledger {
    /// How far the log must reach.
    pub(crate) fn promised(&self) -> Lsn {
        let acked = self.acked.try_lock().expect("never held across a scheduling point");
        acked.values().map(|(_, end)| *end).max().unwrap_or(Lsn::NONE)
    }

    /// How far the last restart has found it to reach.
    pub(crate) fn found_end(&self) -> Lsn {
        let found = self.found.try_lock().expect("never held across a scheduling point");
        found.last().map_or(Lsn::NONE, |(_, end, _)| *end)
    }

    fn promise(&self, life: u64, task: u64, count: u64, end: Lsn) {
        let mut acked = self.acked.try_lock().expect("never held across a scheduling point");
        let entry = acked.entry((life, task)).or_insert((0, Lsn::NONE));
        if count > entry.0 {
            *entry = (count, end);
        }
    }
}

impl DurableSink for Promise {
    fn durable(&self, token: u64, outcome: Result<(), &LogError>) {
        if outcome.is_ok() {
            let end = self.ends.try_lock().unwrap()[token as usize - 1];
            self.ledger.promise(self.life, self.task, token, end);
            let delivered = self.delivered.fetch_max(token, SeqCst);
            assert!(delivered < token, "sinks are told once and in order: {delivered}, {token}");
        }
    }
}

impl Worker {
    fn work(&self) {
        let mut rng = Rng::stream(self.script.seed ^ self.task << 32 ^ self.life << 40, "worker");
        let promise = Arc::new(Promise {
            ledger: Arc::clone(&self.ledger),
            life: self.life,
            task: self.task,
            ends: Mutex::new(Vec::new()),
            delivered: AtomicU64::new(0),
        });
        let sink: Arc<dyn DurableSink> = promise.clone();
        let mut previous = Lsn::NONE;
        for index in 0..self.script.records {
            let long = rng.one_in(8);
            let len = match self.script.body_max {
                alike @ ..200 => alike as usize,
                long_max => rng.below(if long { long_max } else { 200 }) as usize,
            };
            let body = body(self.life, self.task, index, len);
            let (kind, flags) = (self.life as u8, self.task as u8);
            let (front, back) = body.split_at(len / 3);
            let appended = self.log.append(kind, flags, UowId(index), previous, &[front, back]);
            let place = match appended {
                // A disk without space keeps the log small.
                Err(LogError::Full { .. }) => break,
                other => other.unwrap(),
            };
            previous = place.lsn;
            promise.ends.try_lock().unwrap().push(place.end);
            match rng.below(6) {
                0 | 1 => {
                    self.log.wait_durable(place.end).unwrap();
                    self.ledger.promise(self.life, self.task, index + 1, place.end);
                    if self.truncates {
                        self.ledger.from.fetch_max(place.lsn.0, SeqCst);
                        self.log.truncate(place.lsn);
                    }
                }
                2 => self.log.when_durable(place.end, &sink, index + 1),
                3 => {
                    self.log.when_driven(place.end, &sink, index + 1);
                    while self.log.drive() {}
                }
                _ => {}
            }
        }
    }
}

/// Whether a life crashed, as it was told to; an error if it broke.
pub(crate) fn crashed(outcome: &Outcome) -> Result<bool, String> {
    match outcome.end {
        End::Completed => Ok(false),
        End::Crashed => Ok(true),
        _ => Err(outcome.to_string()),
    }
}

const STYLES: [CrashStyle; 4] =
    [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];

/// Crashes after every write of the script, then a few writes into the next life too. Returns how
/// often, or the first broken promise.
pub(crate) fn sweep(base: &Machine, script: Script) -> Result<u64, String> {
    for n in 1.. {
        let mut machine = base.fork();
        let first = Script { seed: script.seed + n, ..script };
        if !crashed(&machine.live(first, Some(n)))? {
            return Ok(n - 1);
        }
        machine.crash(n, STYLES[n as usize % 4]);
        if crashed(&machine.live(Script { seed: n, ..script }, Some(3 + n % 7)))? {
            machine.crash(n + 1, STYLES[(n / 4) as usize % 4]);
        }
        machine.restart(n).map_err(|why| format!("crash after write {n}: {why}"))?;
    }
    unreachable!("a script has an end")
}
