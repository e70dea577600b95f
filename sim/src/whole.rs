//! The whole kernel on one machine: programs work while its log is archived and used again, copies
//! are made, archives deleted, changes accumulated, log copies lost and brought back, data sets
//! converted, re-keyed, moved from pool to pool and recovered; and it crashes (K20).
//!
//! What must hold in each life:
//! 1. What is there is what the clients' history says; after a recovery to a point, what it said
//!    then.
//! 2. A recovery to a point succeeds, unless the point is void, before all copies, or before what
//!    was deleted by policy; and then it says so.
//! 3. No operator is refused but for what he can understand: somebody else is at it, or it is so.
//! 4. Trees, maps and everything else on disk prove themselves, in use and afterwards.
//!
//! | file | owns |
//! |---|---|
//! | here | the machine and its lives |
//! | `office` | what clients and operators know of it |
//! | `operators` | what they order |

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use seal::{KdfCost, Passphrase};
use seam::Seam;
use seam::sim::{CrashStyle, Rng, SimDisk};
use store::{SetAttributes, Store};
use system::{Bytes, InitOptions, OpenOptions, PoolSettings, System, SystemConfig};

use crate::history::LEDGER;
use crate::machine::Make;
use crate::recovery::coded;
use crate::swarm::{Plan, Program, Trouble};
use crate::verify;
use crate::world::World;

use self::office::Office;
use self::operators::Operator;

mod office;
mod operators;

const DIR: &str = "/system";
/// Data sets besides the ledger.
const SETS: [&str; 2] = ["set0", "set1"];
const UNIT: u64 = 4096;
const FRAMES: u64 = 110;

/// What a seed did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lived {
    /// Crashes survived.
    pub crashes: usize,
    /// Recoveries to points, and those that were refused as they should be.
    pub went_back: usize,
    /// Points that are out of reach, and were said to be.
    pub refused: usize,
    /// Recoveries in use.
    pub recovered: usize,
    /// Archives that policy let go.
    pub deleted: usize,
    /// Log copies that came back.
    pub came_back: usize,
    /// Units of work that were acknowledged.
    pub acknowledged: usize,
}

impl std::ops::AddAssign for Lived {
    fn add_assign(&mut self, other: Lived) {
        self.crashes += other.crashes;
        self.went_back += other.went_back;
        self.refused += other.refused;
        self.recovered += other.recovered;
        self.deleted += other.deleted;
        self.came_back += other.came_back;
        self.acknowledged += other.acknowledged;
    }
}

fn phrase() -> Passphrase {
    Passphrase::from("of the simulator")
}

/// Lives through what a seed stands for. With `restripes` operators change the stripes of the log
/// as well.
///
/// # Errors
/// The first broken promise, with the life in which it was noticed.
pub fn live_through(seed: u64, restripes: bool) -> Result<Lived, String> {
    let mut rng = Rng::stream(seed, "whole");
    let office = Arc::new(Office::default());
    let mut disk = SimDisk::new();
    let config = drawn(&mut rng);
    let (medium, first) = (disk.clone(), Arc::clone(&office));
    verify::run_to_crash(rng.word() >> 1, &medium, move |seam| found(seam, config, &first))?
        .ok_or("the machine crashed by itself")?;
    let mut lived = Lived::default();
    let lives = 3 + rng.index(4);
    for number in 1..=lives {
        let last = number == lives;
        if !last && !rng.one_in(5) {
            let writes_max = [60, 400, 1_500, 4_000][rng.index(4)];
            disk.crash_after(rng.between(1, writes_max));
        }
        let life = Life {
            seed: rng.word() >> 1,
            restripes,
            office: Arc::clone(&office),
            disk: disk.clone(),
            last,
            stops: rng.one_in(3),
        };
        let ended = verify::run_to_crash(rng.word() >> 1, &disk, move |seam| life.run(seam));
        let ended =
            ended.map_err(|why| format!("life {number} of {lives}: {why}\n{}", office.story()))?;
        lived.crashes += usize::from(ended.is_none());
        office.tell(format!("life {number} of {lives} is over"));
        let styles =
            [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::TearAll, CrashStyle::Random];
        let style = styles[rng.index(4)];
        disk = disk.crash_image(&mut rng, style);
        disk.heal_all();
    }
    lived += office.counts();
    Ok(lived)
}

/// A small machine that has everything.
fn drawn(rng: &mut Rng) -> SystemConfig {
    let mut config = SystemConfig::new(base::SystemId::default());
    config.log.copies = vec!["/log1".into(), "/log2".into()];
    config.log.segment_bytes = Bytes([24, 40, 64][rng.index(3)] << 10);
    config.log.segments_min = 2;
    config.log.segments_max = 20;
    config.log.group_bytes_max = Bytes(8 << 10);
    config.log.ring_bytes = Bytes(32 << 10);
    config.log.stripes = [1, 1, 2][rng.index(3)];
    if rng.one_in(3) {
        config.log.write_ahead = vec!["/ahead".into()];
        config.log.write_ahead_bytes = Bytes(24 << 10);
    }
    if rng.one_in(3) {
        config.anchor.file = "/elsewhere/anchor".into();
    }
    let folders = ["/archive1", "/archive2"].map(PathBuf::from);
    config.archive.folders = folders[..1 + rng.index(2)].to_vec();
    config.archive.compress = i32::from(rng.one_in(2));
    config.archive.keep_files = 2;
    config.recon.second = "/second".into();
    config.data.interval_bytes = Bytes(UNIT);
    let pool = PoolSettings { unit: Bytes(UNIT), bytes: Bytes(FRAMES * UNIT), data_sets: vec![] };
    config.pools = BTreeMap::from([("default".to_owned(), pool)]);
    config.checkpoint.log_bytes = Bytes([16, 48][rng.index(2)] << 10);
    config.checkpoint.redo_bytes_max = Bytes([16, 48][rng.index(2)] << 10);
    config.units.undo_bytes_max = Bytes([0, 1 << 10, 64 << 10][rng.index(3)]);
    config
}

/// Makes the machine, its data sets and a first copy of them.
fn found(seam: &Seam, config: SystemConfig, office: &Office) -> Result<(), String> {
    for folder in ["/second", "/elsewhere", "/copies"] {
        seam::disk::make_dir(seam.disk.as_ref(), Path::new(folder)).map_err(|e| e.to_string())?;
    }
    let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
    let options = InitOptions { config, cost, ..InitOptions::default() };
    System::init(seam, Path::new(DIR), &phrase(), &options).map_err(coded)?;
    let system = open(seam, true)?;
    for name in [LEDGER].iter().chain(&SETS) {
        office.history.make_set(name);
        system.store().create_set(name, &SetAttributes::default()).map_err(coded)?;
        office.history.set_made(name);
    }
    office.copy(&system, false)?;
    system.close().map_err(coded)
}

fn open(seam: &Seam, begin_anchor: bool) -> Result<System, String> {
    let options = OpenOptions { serve: false, begin_anchor, ..operations::verbs::options(|_| ()) };
    System::open(seam, Path::new(DIR), &phrase(), options).map_err(coded)
}

/// From a start to a stop or crash.
struct Life {
    seed: u64,
    restripes: bool,
    office: Arc<Office>,
    disk: SimDisk,
    /// Nothing comes behind it.
    last: bool,
    stops: bool,
}

impl Life {
    fn run(self, seam: &Seam) -> Result<(), String> {
        let mut rng = Rng::stream(self.seed, "life");
        let system =
            Arc::new(open(seam, false).map_err(|why| format!("it does not start: {why}"))?);
        self.office.look(&system)?;
        if rng.one_in(3) {
            self.office.go_back(&system, &mut rng)?;
        }
        self.work(seam, &system, &mut rng)?;
        verify::wait_for_quiet(system.kernel()).map_err(|why| why.to_string())?;
        for _ in 0..if self.last { 4 } else { rng.index(2) } {
            self.office.go_back(&system, &mut rng)?;
        }
        if self.last {
            self.office.recovered_now(&system)?;
            self.office.proven(&system, true)?;
        }
        let system = Arc::into_inner(system).ok_or("somebody has the system yet")?;
        if self.stops || self.last { system.close().map_err(coded) } else { Ok(()) }
    }

    /// Programs and operators at once.
    fn work(&self, seam: &Seam, system: &Arc<System>, rng: &mut Rng) -> Result<(), String> {
        let tasks = 1 + rng.index(3);
        let plan = Plan {
            tasks,
            units: 10 + rng.below(60),
            sets: SETS.len(),
            keys: [8, 40, 150][rng.index(3)],
            value_bytes_max: [30, 200, 800][rng.index(3)],
            own_sets_max: 0,
            trouble: Trouble::None,
            ..Plan::drawn(self.seed)
        };
        let history = self.office.history.clone();
        let world = World::new(Arc::clone(system.kernel()), history, Make::small());
        let failed = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for task in 0..tasks {
            let program = Program {
                world: world.clone(),
                plan: plan.clone(),
                rng: Rng::stream(self.seed, &format!("program {task}")),
                may_fail: false,
                failed: Arc::clone(&failed),
            };
            threads.push(seam::thread::spawn(&format!("program {task}"), move || program.run()));
        }
        let device = ["/log1", "/log2"][rng.index(2)];
        let wrong = Arc::new(parking_lot::Mutex::new(Ok(())));
        for number in 0..2 {
            let operator = Operator {
                system: Arc::clone(system),
                office: Arc::clone(&self.office),
                disk: self.disk.clone(),
                device,
                seam: seam.clone(),
                restripes: self.restripes,
                rng: Rng::stream(self.seed, &format!("operator {number}")),
            };
            let (wrong, orders) = (Arc::clone(&wrong), 4 + rng.index(12));
            let body = move || {
                if let Err(why) = operator.work(orders) {
                    *wrong.lock() = Err(why);
                }
            };
            threads.push(seam::thread::spawn(&format!("operator {number}"), body));
        }
        for thread in threads {
            thread.map_err(|error| error.to_string())?.join();
        }
        if failed.load(SeqCst) {
            return Err("a program saw the kernel stop".into());
        }
        wrong.lock().clone()
    }
}
