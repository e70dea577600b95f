//! The swarm: random machines, random programs, random crashes, generation after generation.
//!
//! Everything follows from the seed: how the machine is made, which programs run at once on it and
//! what they do, what goes wrong, when it crashes, what the crash leaves. After each crash the
//! system is started again and judged, and work goes on; at the end it is started several times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use base::Coded;
use btree::TreeError;
use lock::{LockError, Mode};
use seam::sim::{CrashStyle, End, Fault, FaultKind, Outcome, Rng, SimConfig, SimDisk, When};
use space::DataSet;
use uow::UowError;
use wal::LogError;

use crate::history::{History, LEDGER};
use crate::machine::Make;
use crate::scenario::{key, records, value};
use crate::verify::{self, Claim, Wrong};
use crate::world::{Commit, Work, World};

/// What a seed stands for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed.
    pub seed: u64,
    /// The machine.
    pub make: Make,
    /// Programs at once.
    pub tasks: usize,
    /// Units of work of each program in each generation.
    pub units: u64,
    /// Data sets besides the ledger.
    pub sets: usize,
    /// Different keys in each.
    pub keys: u64,
    /// How long most values are, at most.
    pub value_bytes_max: usize,
    /// Data sets that programs make for themselves, at most.
    pub own_sets_max: usize,
    /// Lives of the system.
    pub generations: usize,
    /// What goes wrong besides crashes.
    pub trouble: Trouble,
}

/// What goes wrong besides crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// A log copy dies, another one in each generation.
    LostCopy,
    /// The disk fails some calls; the kernel stops then.
    Errors,
    /// The disk is nearly full.
    NoSpace,
    /// Writes and syncs sometimes take very long.
    Slow,
}

/// What a seed did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swarmed {
    /// Units of work that began.
    pub units: usize,
    /// Units of work that were acknowledged.
    pub acknowledged: usize,
    /// Crashes survived.
    pub crashes: usize,
    /// Units of work that restarts backed out.
    pub backed_out: usize,
    /// Intervals put back from the double-write area.
    pub repaired: u64,
}

/// A seed that found something.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What the seed stands for.
    pub plan: Plan,
    /// In which generation.
    pub generation: usize,
    /// What is wrong.
    pub why: Wrong,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { plan, generation, why } = self;
        writeln!(f, "seed {}, generation {generation}: {why}", plan.seed)?;
        writeln!(f, "{plan:?}")?;
        write!(
            f,
            "replay: cargo run -p holdfast-sim --release --bin soak -- --minutes 0 --from {}",
            plan.seed
        )
    }
}

impl Plan {
    /// The plan of a seed.
    #[must_use]
    pub fn drawn(seed: u64) -> Plan {
        let mut rng = Rng::stream(seed, "plan");
        let make = Make::drawn(&mut rng);
        let trouble = match rng.below(10) {
            0 | 1 if make.copies == 2 => Trouble::LostCopy,
            2 => Trouble::Errors,
            3 => Trouble::NoSpace,
            4 => Trouble::Slow,
            _ => Trouble::None,
        };
        let (tasks, sets) = (1 + rng.index(5), 1 + rng.index(3));
        // Two frames of each data set are kept for good, four are the page writer's, and a program
        // needs up to five at once.
        let frames = make.frames.max(16 + 2 * (sets + 1 + OWN_SETS_MAX) + 5 * tasks);
        Plan {
            seed,
            make: Make { frames, ..make },
            tasks,
            units: 4 + rng.below(16),
            sets,
            keys: [8, 40, 150, 400][rng.index(4)],
            value_bytes_max: [30, 200, 800][rng.index(3)],
            own_sets_max: OWN_SETS_MAX,
            generations: 2 + rng.index(3),
            trouble,
        }
    }
}

/// Lives through the plan of a seed.
///
/// # Errors
/// The first thing that is wrong.
pub fn swarm(plan: &Plan) -> Result<Swarmed, Failure> {
    swarm_with(plan, &mut |_| ())
}

/// The same; `watch` is shown the outcome of each run.
///
/// # Errors
/// The first thing that is wrong.
pub fn swarm_with(plan: &Plan, watch: &mut dyn FnMut(&Outcome)) -> Result<Swarmed, Failure> {
    let mut rng = Rng::stream(plan.seed, "swarm");
    let history = History::new();
    let mut swarmed = Swarmed::default();
    let mut generation = 0;
    let lived = live(plan, &history, &mut rng, &mut swarmed, &mut generation, watch);
    let failed = |why| Failure { plan: plan.clone(), generation, why };
    lived.map_err(failed)?;
    swarmed.units = history.units();
    swarmed.acknowledged = history.acknowledged();
    Ok(swarmed)
}

fn live(
    plan: &Plan,
    history: &History,
    rng: &mut Rng,
    swarmed: &mut Swarmed,
    generation: &mut usize,
    watch: &mut dyn FnMut(&Outcome),
) -> Result<(), Wrong> {
    let mut disk = SimDisk::new();
    let mut healthy = false;
    let make = plan.make.clone();
    verify::run(plan.seed, &disk, move |seam| Ok(make.create(seam)?))?;
    for number in 1..=plan.generations {
        *generation = number;
        if !healthy {
            upset(plan, &disk, rng);
        }
        let stops = rng.one_in(6);
        if !stops {
            let writes_max = [20, 100, 400][rng.index(3)];
            disk.crash_after(rng.between(1, writes_max));
        }
        let config = SimConfig::new(rng.word() >> 1);
        let life = Life { plan: plan.clone(), history: history.clone(), stops, healthy, number };
        let (outcome, result) = verify::run_to_end(config, &disk, move |seam| life.run(seam));
        watch(&outcome);
        match (&outcome.end, result) {
            (End::Crashed, None) => {
                swarmed.crashes += 1;
                healthy = false;
            }
            (End::Completed, Some(Ok(seen))) => {
                swarmed.backed_out += seen.backed_out;
                swarmed.repaired += seen.repaired;
                healthy = seen.refused;
            }
            (End::Completed, Some(Err(why))) => return Err(why),
            _ => return Err(Wrong::Broken(outcome.to_string())),
        }
        let style = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::TearAll];
        let style = [style[0], style[1], style[2], CrashStyle::Random][rng.index(4)];
        disk = disk.crash_image(rng, style);
        disk.set_capacity(None);
    }
    *generation += 1;
    let claim =
        Claim { make: plan.make.clone(), history: history.clone(), moment: history.moment() };
    verify::restart_thrice(&claim, &disk, rng.word() >> 1)?;
    Ok(())
}

/// Makes things go wrong from now on.
fn upset(plan: &Plan, disk: &SimDisk, rng: &mut Rng) {
    match plan.trouble {
        Trouble::None => {}
        Trouble::LostCopy => {
            let copy = 1 + rng.below(2);
            let kind = [FaultKind::Dead, FaultKind::WriteError][rng.index(2)];
            let from = When::From(rng.between(1, 60));
            disk.inject(Fault::new(kind, format!("/log{copy}")).when(from));
        }
        Trouble::Errors => {
            let kinds = [FaultKind::WriteError, FaultKind::SyncError, FaultKind::ReadError];
            let paths = ["/system/data", "/system/double-write", "/log1", "/system/control"];
            let from = When::Nth(rng.between(1, 40));
            let path = paths[rng.index(paths.len())];
            disk.inject(Fault::new(kinds[rng.index(3)], path).when(from));
        }
        Trouble::NoSpace => {
            let used: u64 = disk.paths().iter().map(|path| disk.len_raw(path)).sum();
            disk.set_capacity(Some(used + (rng.below(6) << 18)));
        }
        Trouble::Slow => {
            let slow = FaultKind::SlowSync(Duration::from_millis(rng.between(5, 80)));
            disk.inject(Fault::new(slow, "/").when(When::Chance(200)));
        }
    }
}

/// What restart did in a life that was seen to its end.
struct Seen {
    /// It would not start.
    refused: bool,
    backed_out: usize,
    repaired: u64,
}

/// One life of the system, from start to stop or crash.
struct Life {
    plan: Plan,
    history: History,
    stops: bool,
    /// Nothing is wrong with the disk.
    healthy: bool,
    number: usize,
}

impl Life {
    fn run(&self, seam: &seam::Seam) -> Result<Seen, Wrong> {
        let Life { plan, history, .. } = self;
        let may_fail = matches!(plan.trouble, Trouble::Errors | Trouble::NoSpace);
        let seen = Seen { refused: false, backed_out: 0, repaired: 0 };
        let kernel = match plan.make.open(seam) {
            Ok(kernel) => kernel,
            Err(_) if may_fail => return Ok(seen),
            // One copy is stale and the other one dies now: what it has is only there. Refusing to
            // start is right; with the copy back, in the next life, it must.
            Err(UowError::Log(_)) if plan.trouble == Trouble::LostCopy && !self.healthy => {
                return Ok(Seen { refused: true, ..seen });
            }
            Err(error) => return Err(Wrong::refused(&error).when("it does not start")),
        };
        let claim =
            Claim { make: plan.make.clone(), history: history.clone(), moment: history.moment() };
        let proven = match verify::prove(&claim, &kernel) {
            Ok(proven) => proven,
            Err(_) if may_fail && kernel.stop_switch().is_set() => return Ok(seen),
            Err(_) if plan.trouble == Trouble::Errors => return Ok(seen),
            Err(why) => return Err(why),
        };
        let seen = Seen {
            refused: false,
            backed_out: proven.report.backed_out.len(),
            repaired: proven.report.repaired,
        };
        history.settle(&proven.contents);
        let world = World::new(kernel, history.clone(), plan.make.clone());
        let failed = Arc::new(AtomicBool::new(false));
        let made = self.make_sets(&world);
        if let Err(error) = made {
            return if may_fail { Ok(seen) } else { Err(Wrong::refused(&error)) };
        }
        let tasks: Vec<_> = (0..plan.tasks)
            .map(|task| {
                let seed =
                    Rng::stream(plan.seed, "task").word() ^ (self.number * 100 + task) as u64;
                let program = Program {
                    world: world.clone(),
                    plan: plan.clone(),
                    rng: Rng::new(seed),
                    may_fail,
                    failed: Arc::clone(&failed),
                };
                seam::thread::spawn(&format!("program {task}"), move || program.run())
            })
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        tasks.into_iter().for_each(seam::thread::JoinHandle::join);
        if failed.load(SeqCst) {
            return Ok(seen);
        }
        if let Err(why) = verify::wait_for_quiet(&world.kernel)
            && !world.kernel.stop_switch().is_set()
        {
            return Err(why);
        }
        if self.stops {
            match world.kernel.close() {
                Err(error) if !may_fail => {
                    return Err(Wrong::refused(&error).when("it does not stop"));
                }
                _ => {}
            }
        }
        Ok(seen)
    }

    fn make_sets(&self, world: &World) -> Result<(), UowError> {
        let names = (0..self.plan.sets).map(|number| format!("set{number}"));
        for name in [LEDGER.to_owned()].into_iter().chain(names) {
            if world.kernel.set_named(&name).is_none() {
                world.make_set(&name)?;
            }
        }
        Ok(())
    }
}

/// Data sets that programs make for themselves.
const OWN_SETS_MAX: usize = 8;

/// A program that runs beside others.
pub(crate) struct Program {
    pub(crate) world: World,
    pub(crate) plan: Plan,
    pub(crate) rng: Rng,
    /// The kernel may stop beneath it.
    pub(crate) may_fail: bool,
    /// It did.
    pub(crate) failed: Arc<AtomicBool>,
}

impl Program {
    pub(crate) fn run(mut self) {
        let world = self.world.clone();
        for _ in 0..self.plan.units {
            let mut times_chosen = 0;
            loop {
                match self.unit(&world, times_chosen) {
                    Ok(()) => break,
                    Err(Verdict::Deadlock(times)) => times_chosen = times,
                    Err(Verdict::Refused) => break,
                    Err(Verdict::Ended) => {
                        self.failed.store(true, SeqCst);
                        return;
                    }
                }
            }
        }
    }

    /// One unit of work.
    fn unit(&mut self, world: &World, times_chosen: u32) -> Result<(), Verdict> {
        let mut work = match world.begin_again(times_chosen) {
            Ok(work) => work,
            Err(error) => return Err(self.judge(&error.into(), 0)),
        };
        let reader = self.rng.one_in(6);
        let steps = self.rng.between(1, 8);
        for _ in 0..steps {
            let step = if reader { self.look(&mut work) } else { self.step(&mut work) };
            if let Err(error) = step {
                let times = work.times_chosen();
                let backed_out = work.back_out();
                let verdict = self.judge(&error, times);
                if let Err(error) = backed_out {
                    return Err(self.judge(&error, 0));
                }
                return Err(verdict);
            }
        }
        let ended = match self.rng.below(10) {
            0 | 1 => work.back_out(),
            2 | 3 => work.commit(Commit::Early),
            4 | 5 => work.commit(Commit::Queued),
            _ => work.commit(Commit::Wait),
        };
        ended.map_err(|error| self.judge(&error, 0))
    }

    /// What to do about an error. One that cannot be is a panic.
    fn judge(&self, error: &TreeError, times_chosen: u32) -> Verdict {
        match error {
            TreeError::Uow(UowError::Lock(LockError::Deadlock { .. })) => {
                Verdict::Deadlock(times_chosen)
            }
            TreeError::Uow(
                UowError::PastLogLimit { .. }
                | UowError::LogFull { keeper: Some(_), .. }
                | UowError::NoSuchSet { .. }
                | UowError::Log(LogError::ArchiveBehind { .. }),
            ) => Verdict::Refused,
            _ if self.may_fail && self.world.kernel.stop_switch().is_set() => Verdict::Ended,
            _ if self.plan.trouble == Trouble::NoSpace && is_no_space(error) => Verdict::Refused,
            // A page that cannot be read, a data set that cannot be made.
            _ if self.plan.trouble == Trouble::Errors
                && ["HFP002", "HFD001"].contains(&error.code().0) =>
            {
                Verdict::Refused
            }
            error => panic!("a program gets an error: {error}"),
        }
    }

    fn some_set(&mut self) -> Arc<DataSet> {
        let number = self.rng.index(self.plan.sets);
        self.world.set(&format!("set{number}"))
    }

    fn some_key(&mut self) -> Vec<u8> {
        key(self.rng.below(self.plan.keys))
    }

    fn some_value(&mut self) -> Vec<u8> {
        let len = match self.rng.below(40) {
            0 => self.rng.between(3_000, 14_000) as usize,
            _ => self.rng.index(self.plan.value_bytes_max + 1),
        };
        value(self.rng.below(1_000), self.rng.word() & 0xffff, len)
    }

    fn look(&mut self, work: &mut Work<'_>) -> Result<(), TreeError> {
        let set = self.some_set();
        if self.rng.one_in(8) {
            return work.read_all(&set);
        }
        let key = self.some_key();
        work.read(&set, &key).map(|_| ())
    }

    /// One call of a unit of work.
    fn step(&mut self, work: &mut Work<'_>) -> Result<(), TreeError> {
        let set = self.some_set();
        let key = self.some_key();
        match self.rng.below(40) {
            0..=13 => work.put(&set, &key, &self.some_value()),
            14..=17 => work.insert(&set, &key, &self.some_value()).map(|_| ()),
            18..=24 => work.remove(&set, &key).map(|_| ()),
            25..=28 => work.read(&set, &key).map(|_| ()),
            29 => work.sign(),
            30 => {
                let to = self.some_key();
                work.remove_range(&set, (&key).min(&to), (&key).max(&to)).map(|_| ())
            }
            31..=33 => {
                let point = work.savepoint();
                for _ in 0..self.rng.below(4) {
                    let (key, value) = (self.some_key(), self.some_value());
                    if self.rng.one_in(3) {
                        work.remove(&set, &key)?;
                    } else {
                        work.put(&set, &key, &value)?;
                    }
                }
                if self.rng.one_in(2) { work.roll_back(point) } else { Ok(()) }
            }
            34 => Ok(self.world.kernel.checkpoint_now(false)?),
            35 => self.load_and_drop(work),
            36 => {
                work.own(&set, Mode::IntentExclusive)?;
                let tree = btree::Tree::new(&self.world.kernel, &set);
                tree.compact_tail(2).map(|_| ())
            }
            _ => self.look(work),
        }
    }

    /// Makes a data set of its own, fills it, and perhaps drops it.
    fn load_and_drop(&mut self, work: &mut Work<'_>) -> Result<(), TreeError> {
        let room = 1 + self.plan.sets + self.plan.own_sets_max;
        if self.world.kernel.all_sets().len() + self.plan.tasks > room {
            return Ok(());
        }
        let name = format!("own{}.{}", work.unit().0, self.rng.below(1 << 40));
        let set = self.world.make_set(&name)?;
        let count = self.rng.between(0, 60);
        let world = self.world.clone();
        if self.rng.one_in(2) {
            work.load(&set, &records(0, count, self.plan.value_bytes_max))?;
        } else {
            world.commit(|other| other.load(&set, &records(0, count, 40)))?;
        }
        if self.rng.one_in(2) {
            return Ok(());
        }
        let mut owner = world.begin()?;
        if work.has_used(&set) {
            return owner.back_out();
        }
        owner.own(&set, Mode::Exclusive)?;
        world.drop_set(&set)?;
        owner.back_out()
    }
}

fn is_no_space(error: &TreeError) -> bool {
    // The data set cannot grow, the log cannot make its next segment.
    ["HFD002", "HFL001"].contains(&error.code().0) || error.to_string().contains("No space left")
}

/// What an error means for a program.
enum Verdict {
    /// Chosen to break a deadlock, so often.
    Deadlock(u32),
    /// The unit of work is not possible now.
    Refused,
    /// The kernel has stopped.
    Ended,
}
