//! The simulator: a seeded machine that runs kernel code, crashes it and spoils its disk (K1).
//!
//! [`run`] executes a function on a simulated machine: its threads are coroutines on the calling
//! thread, its clock is virtual, its randomness is seeded, and its files live in a [`SimDisk`].
//! Every call through the seam is a scheduling point at which another thread may go on; who does
//! is drawn from the seed, so a seed replays exactly. Kernel code needs no change and no
//! declaration: the same binary code runs on real threads when no simulation is active.
//!
//! ```
//! # use holdfast_seam as seam;
//! use seam::disk::{Create, Disk, Open};
//! use seam::mem::AlignedBuf;
//! use seam::sim::{self, CrashStyle, End, Rng, SimConfig, SimDisk};
//!
//! // The machine's first life: two threads, one of them loses power in the middle of a write.
//! let disk = SimDisk::new();
//! let outcome = sim::run(SimConfig::new(7), disk.clone(), |seam| {
//!     let how = Open::DATA.create(Create::New);
//!     let file = seam.disk.open("/pages".as_ref(), how).unwrap();
//!     seam.disk.sync_dir("/".as_ref()).unwrap();
//!     let mut page = AlignedBuf::zeroed(4096);
//!     page.fill(1);
//!     file.write_at(&page, 0).unwrap();
//!     file.sync().unwrap();
//!     page.fill(2);
//!     file.write_at(&page, 0).unwrap();
//!     let other = seam::thread::spawn("bystander", || seam::thread::yield_now()).unwrap();
//!     other.join();
//!     sim::crash();
//! });
//! assert_eq!(outcome.end, End::Crashed);
//!
//! // What the disk may hold afterwards, and the second life on it.
//! let after = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
//! sim::run(SimConfig::new(8), after, |seam| {
//!     let file = seam.disk.open("/pages".as_ref(), Open::READ).unwrap();
//!     let mut page = [0; 4096];
//!     file.read_at(&mut page, 0).unwrap();
//!     assert_eq!(page, [1; 4096], "the second write was never synced");
//! })
//! .expect_completed();
//! ```
//!
//! A seed that fails is run again alone with [`SimConfig::schedule`] set; its [`Outcome::schedule`]
//! then tells who gave way to whom in which line. With `HOLDFAST_SIM_BACKTRACE` in the environment
//! the text of a panic carries its backtrace.
//!
//! The parts: `scheduler` (points and virtual time; `tasks`, `dying`, `trace`, `stacks`,
//! `panics`), `world` (clock and entropy), [`SimDisk`] and its files (`disk`, `file`, `inode`,
//! `image`, `tree`), its [`Fault`]s (`faults`), and what spoils it at rest (`medium`).
//!
//! Invariants:
//! 1. Nothing here reads the real clock, real randomness or an address's value to decide anything.
//! 2. A run leaves nothing behind: all its tasks are unwound and freed when [`run`] returns.
//! 3. A run's main function ends the run: threads that are still alive then are unwound, as those
//!    of a process that exits. [`Outcome::tasks_left`] counts them.

mod disk;
mod dying;
mod faults;
mod file;
mod image;
mod inode;
mod medium;
mod panics;
mod rng;
mod scheduler;
mod stacks;
mod tasks;
#[cfg(test)]
mod tests;
mod trace;
mod tree;
mod world;

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

pub use disk::{CrashStyle, Event, EventKind, IoCounts, SimDisk};
pub(crate) use dying::is_end;
pub use faults::{Fault, FaultId, FaultKind, When};
pub use rng::Rng;
pub(crate) use scheduler::active;
use scheduler::{Runtime, with};
use tasks::task_address;
pub(crate) use tasks::{Wait, Waited};

/// A simulated thread: its number in the order of starting; the main function's is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub usize);

/// How a run is to be simulated.
#[derive(Clone, Debug)]
pub struct SimConfig {
    /// What everything is drawn from.
    pub seed: u64,
    /// How often, in a thousand points, another thread is drawn.
    pub switch_per_mille: u32,
    /// Virtual time that passes per scheduling point, in nanoseconds.
    pub point_ns: u64,
    /// After so many points the run ends as [`End::Endless`].
    pub points_max: u64,
    /// The machine crashes at this scheduling point, if the run gets there.
    pub crash_at_point: Option<u64>,
    /// Whether waits for a condition sometimes end for no reason.
    pub spurious_wakes: bool,
    /// Whether [`crate::rarely`] is ever true.
    pub rarely: bool,
    /// Whether [`Outcome::schedule`] is recorded.
    pub schedule: bool,
    /// Microseconds since 1970-01-01 UTC when the run begins.
    pub utc_us: u64,
    /// How long a read takes, in virtual microseconds, from and to.
    pub read_us: (u64, u64),
    /// How long a write takes.
    pub write_us: (u64, u64),
    /// How long a sync takes.
    pub sync_us: (u64, u64),
    /// The stack of each thread, in bytes; only what is touched takes memory.
    pub stack_bytes: usize,
}

impl SimConfig {
    /// The machine of this seed: how eagerly it switches and how slow its disk is are drawn, too.
    #[must_use]
    pub fn new(seed: u64) -> SimConfig {
        let mut rng = Rng::stream(seed, "machine");
        let slow = [1, 1, 10, 100][rng.index(4)];
        SimConfig {
            seed,
            switch_per_mille: [20, 100, 300, 700][rng.index(4)],
            point_ns: [50, 200, 1_000][rng.index(3)],
            points_max: 50_000_000,
            crash_at_point: None,
            spurious_wakes: true,
            rarely: true,
            schedule: false,
            utc_us: 1_767_225_600_000_000 + rng.below(1 << 40),
            read_us: (0, 10 * slow),
            write_us: (0, 20 * slow),
            sync_us: (10, 100 * slow),
            stack_bytes: 1 << 20,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The main function returned.
    Completed,
    /// The machine crashed: [`crash`], [`SimDisk::crash_after`] or [`SimConfig::crash_at_point`].
    Crashed,
    /// A thread panicked.
    Panicked {
        /// Its name.
        task: String,
        /// The panic's text and place.
        message: String,
    },
    /// All threads waited for each other; the text names them and what they waited for.
    Deadlocked(String),
    /// The run passed [`SimConfig::points_max`]; the text says who was doing what.
    Endless(String),
}

/// One change of the running thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the scheduling point.
    pub point: u64,
    /// Who gave way.
    pub from: TaskId,
    /// Who went on.
    pub to: TaskId,
    /// Where the one that gave way stood.
    pub at: &'static Location<'static>,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "point {}: {} gives way to {} at {}", self.point, self.from.0, self.to.0, self.at)
    }
}

/// How often a rare branch was asked for and taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rarely {
    /// Times the question was asked.
    pub asked: u64,
    /// Times the answer was yes.
    pub taken: u64,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run's seed.
    pub seed: u64,
    /// How it ended.
    pub end: End,
    /// Scheduling points passed.
    pub points: u64,
    /// Changes of the running thread.
    pub switches: u64,
    /// Virtual time from beginning to end.
    pub time: Duration,
    /// A hash over who ran when: equal for equal seeds and equal code.
    pub fingerprint: u64,
    /// Threads still alive when the run ended.
    pub tasks_left: usize,
    /// The rare branches that were asked for.
    pub rarely: BTreeMap<&'static str, Rarely>,
    /// Every change of the running thread, if [`SimConfig::schedule`] asked for it.
    pub schedule: Vec<Step>,
}

impl Outcome {
    /// # Panics
    /// With the report and the seed, if the run ended otherwise than by its main function's end.
    #[track_caller]
    pub fn expect_completed(&self) {
        assert!(self.end == End::Completed, "{self}");
    }

    /// # Panics
    /// With the report and the seed, if the run broke: a panic, a deadlock or no end. A crash or
    /// the main function's end are fine.
    #[track_caller]
    pub fn expect_unbroken(&self) {
        assert!(matches!(self.end, End::Completed | End::Crashed), "{self}");
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Outcome { seed, points, .. } = self;
        write!(f, "seed {seed}, {points} points, {:?}: ", self.time)?;
        match &self.end {
            End::Completed => write!(f, "completed"),
            End::Crashed => write!(f, "crashed"),
            End::Panicked { task, message } => write!(f, "`{task}` panicked: {message}"),
            End::Deadlocked(report) | End::Endless(report) => write!(f, "{report}"),
        }
    }
}

/// Runs `main` on the machine that `config` describes, with this disk.
///
/// The disk keeps what the run left: ask it for [`SimDisk::crash_image`] after a crash. Its locks
/// are released.
///
/// # Panics
/// If called from within a simulated run. Panics of simulated threads are in the outcome.
pub fn run(config: SimConfig, disk: SimDisk, main: impl FnOnce(crate::Seam)) -> Outcome {
    let life = disk.begin_life(config.seed);
    let medium = disk.clone();
    let runtime = Runtime::new(config);
    let seam = crate::Seam {
        clock: Arc::new(world::SimClock::new(&runtime)),
        entropy: Arc::new(world::SimEntropy::new(runtime.config.seed, life)),
        disk: Arc::new(disk),
    };
    let main: Box<dyn FnOnce() + '_> = Box::new(move || main(seam));
    let (end, tasks_left) = runtime.drive(outlive(main));
    medium.end_life();
    let Runtime { config, now_ns, trace, .. } = runtime;
    Outcome {
        seed: config.seed,
        end,
        points: trace.points.get(),
        switches: trace.switches.get(),
        time: Duration::from_nanos(now_ns.load(Relaxed)),
        fingerprint: trace.fingerprint.get(),
        tasks_left,
        rarely: trace.rarely.into_inner(),
        schedule: trace.schedule.into_inner(),
    }
}

/// Forgets what the run's main function borrows.
#[allow(unsafe_code)]
fn outlive<'a>(main: Box<dyn FnOnce() + 'a>) -> Box<dyn FnOnce()> {
    // SAFETY: `drive` returns only when the main task, and with it this closure, is gone, so it
    // never outlives what it borrows. It may not unwind before: it aborts if a task cannot end.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce()>>(main) }
}

/// Crashes the simulated machine: this thread is unwound here, the others where they stand. In a
/// thread that is being unwound already it returns.
///
/// # Panics
/// If no simulation is active.
#[track_caller]
pub fn crash() {
    let at = Location::caller();
    with(|run| {
        run.crash();
        run.point(at, false, false);
    });
}

/// Runs `body` without a scheduling point inside, for harnesses that look at several things at
/// once. `body` may not wait.
pub fn uninterrupted<R>(body: impl FnOnce() -> R) -> R {
    if !active() {
        return body();
    }
    with(|run| run.hold(1));
    let result = body();
    with(|run| run.hold(-1));
    result
}

/// The virtual time since the beginning of the run that is active on this thread, if one is.
#[must_use]
pub fn now() -> Option<Duration> {
    active().then(|| with(|run| Duration::from_nanos(run.now_ns.load(Relaxed))))
}

/// The calling simulated thread.
///
/// # Panics
/// If no simulation is active.
#[must_use]
pub fn current() -> TaskId {
    with(Runtime::current)
}

/// A scheduling point: another thread may go on here.
#[inline]
#[track_caller]
pub(crate) fn point() {
    let at = Location::caller();
    with(|run| run.point(at, false, false));
}

/// A scheduling point in a destructor: it never unwinds its caller.
#[inline]
#[track_caller]
pub(crate) fn quiet_point() {
    let at = Location::caller();
    with(|run| run.point(at, false, true));
}

/// A scheduling point at which the next thread is always drawn.
#[track_caller]
pub(crate) fn yield_now() {
    let at = Location::caller();
    with(|run| run.point(at, true, false));
}

/// Waits until somebody wakes the address, or until the time is over.
#[track_caller]
pub(crate) fn block(wait: Wait) -> Waited {
    let at = Location::caller();
    with(|run| run.block(wait, at))
}

/// Whether a wait that begins now is to end for no reason.
pub(crate) fn spurious() -> bool {
    with(Runtime::spurious)
}

/// Wakes one who waits for the address, drawn from the seed.
pub(crate) fn wake_one(address: usize) {
    with(|run| run.wake(address, false));
}

/// Wakes all who wait for the address.
pub(crate) fn wake_all(address: usize) {
    with(|run| run.wake(address, true));
}

/// Lets virtual time pass.
#[track_caller]
pub(crate) fn sleep(time: Duration) {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX - 1);
    // Nobody wakes the address of this task's own end before it ends.
    let address = task_address(current().0);
    block(Wait { nanos_max: Some(nanos), ..Wait::new("span of time", address) });
}

/// Starts a thread.
#[track_caller]
pub(crate) fn spawn(name: &str, body: Box<dyn FnOnce() + Send>) -> TaskId {
    let task = with(|run| run.spawn(name, body));
    point();
    task
}

/// Waits for a thread's end.
#[track_caller]
pub(crate) fn join(task: TaskId) {
    point();
    while !with(|run| run.is_done(task)) {
        if block(Wait { holder: Some(task), ..Wait::new("thread", task_address(task.0)) })
            == Waited::Forsaken
        {
            return;
        }
    }
}

/// See [`crate::rarely`].
pub(crate) fn rarely(name: &'static str) -> bool {
    active() && with(|run| run.rarely(name))
}

/// What the disk does before it answers: passes a scheduling point and lets time pass.
///
/// # Errors
/// If the machine has crashed and the caller is only being unwound.
#[track_caller]
pub(super) fn disk_pause(nanos: u64) -> std::io::Result<()> {
    if !active() {
        return Ok(());
    }
    if nanos == 0 || with(Runtime::is_held) {
        point();
    } else if !with(Runtime::is_dying) && !std::thread::panicking() {
        sleep(Duration::from_nanos(nanos));
    } else {
        point();
    }
    if std::thread::panicking() || with(Runtime::is_dying) {
        return Err(std::io::Error::other("the simulated machine has crashed"));
    }
    Ok(())
}

/// How long the disk takes this time, in nanoseconds; half of the calls take no time at all, so
/// that both orders of two calls are common.
pub(super) fn disk_latency(range_us: impl FnOnce(&SimConfig) -> (u64, u64)) -> u64 {
    if !active() {
        return 0;
    }
    with(|run| {
        let (low, high) = range_us(&run.config);
        run.draw(|rng| if rng.one_in(2) { 0 } else { rng.between(low * 1_000, high * 1_000) })
    })
}
