//! The scheduler: simulated threads as coroutines on one operating system thread.
//!
//! Invariants:
//! 1. Exactly one task runs at a time. It gives way only inside a hook of this module, so state
//!    between two hooks is never seen by another task.
//! 2. Every choice (who runs, who is woken, whether a wake is spurious) is drawn from the seed and
//!    depends on no address, so a seed replays.
//! 3. Virtual time never goes back. It advances a little per scheduling point, and jumps to the
//!    earliest deadline when nobody can run.
//! 4. Once a run dies (crash, panic, deadlock, or its main function's end), each task that is
//!    still alive is unwound at its next hook, exactly once, and its destructors run. A task that
//!    is being unwound gives way only for a lock that another dying task holds.
//! 5. When [`Runtime::drive`] returns, no task is left and their stacks are back in the pool.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::rng::Rng;
use super::{End, Rarely, SimConfig, Step, TaskId, stacks};
use crate::panic_text::text_of;

/// What unwinds a task whose run is over. Never seen outside: it is caught at the task's root.
struct Unwound;

/// What a task waits for, as a deadlock report tells it.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    /// What kind of thing it is: "mutex", "condvar", ...
    pub(crate) kind: &'static str,
    /// Which one: whoever wakes names the same address.
    pub(crate) address: usize,
    /// Who holds it, where that is known.
    pub(crate) holder: Option<TaskId>,
    /// Until when, as a span from now.
    pub(crate) nanos_max: Option<u64>,
}

impl Wait {
    pub(crate) fn new(kind: &'static str, address: usize) -> Wait {
        Wait { kind, address, holder: None, nanos_max: None }
    }
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waited {
    /// Somebody woke the task, perhaps for nothing: look again.
    Woken,
    /// The time is over.
    TimedOut,
    /// The run dies and nobody can give back what is waited for: go on without it.
    Forsaken,
}

type Body = Box<dyn FnOnce()>;
type Fiber = Coroutine<(), (), (), DefaultStack>;

struct Task {
    name: String,
    /// Taken out while it runs; gone when it is done.
    fiber: Option<Fiber>,
    /// Where the running fiber gives way; set by the fiber itself.
    yielder: *const Yielder<(), ()>,
    done: bool,
    /// Whether [`Unwound`] was thrown in it, or its own panic was seen.
    unwinding: bool,
    /// It never began and is only being dropped, so there is nothing to unwind.
    unbegun: bool,
    /// Drawn at its start: a slow task is chosen half as often.
    slow: bool,
    /// What it waits for.
    wait: Option<Wait>,
    /// The line where it gave way last.
    last: Option<&'static Location<'static>>,
    waited: Waited,
    /// Hooks called since the run began to die, so that an endless destructor is noticed.
    late_calls: u32,
}

struct Waiter {
    address: usize,
    task: usize,
    deadline_ns: u64,
}

/// One run's tasks, clock and dice.
pub(crate) struct Runtime {
    pub(super) config: SimConfig,
    /// Virtual time since the run's beginning; shared with the run's clock, which may outlive it.
    pub(super) now_ns: Arc<AtomicU64>,
    rng: RefCell<Rng>,
    tasks: RefCell<Vec<Task>>,
    /// Tasks that may run, the running one among them.
    ready: RefCell<Vec<usize>>,
    waiters: RefCell<Vec<Waiter>>,
    /// The earliest deadline among the waiters.
    deadline_ns: Cell<u64>,
    current: Cell<usize>,
    /// The line of the running task's last point.
    last: Cell<Option<&'static Location<'static>>>,
    /// Whom the task that gave way has chosen to run next.
    next: Cell<Option<usize>>,
    /// Above zero: no scheduling here.
    uninterrupted: Cell<u32>,
    dying: Cell<bool>,
    /// No dying task made progress in a whole round.
    forsaken: Cell<bool>,
    end: RefCell<Option<End>>,
    pub(super) panic_text: RefCell<Option<String>>,
    pub(super) points: Cell<u64>,
    pub(super) switches: Cell<u64>,
    pub(super) fingerprint: Cell<u64>,
    pub(super) schedule: RefCell<Vec<Step>>,
    pub(super) rarely: RefCell<BTreeMap<&'static str, Rarely>>,
}

thread_local! {
    /// The run whose task runs on this thread at this moment.
    static RUNTIME: Cell<*const Runtime> = const { Cell::new(std::ptr::null()) };
}

/// Whether a simulated task is running on this thread.
#[inline]
pub(crate) fn active() -> bool {
    !RUNTIME.get().is_null()
}

/// Calls `body` with the run whose task calls.
#[inline]
#[allow(unsafe_code)]
pub(super) fn with<R>(body: impl FnOnce(&Runtime) -> R) -> R {
    let runtime = RUNTIME.get();
    assert!(!runtime.is_null(), "only a simulated task may call this");
    // SAFETY: the pointer is set by `resume` for as long as it borrows the runtime, and every
    // caller runs within that, on the same thread. The runtime is only ever shared.
    body(unsafe { &*runtime })
}

impl Runtime {
    pub(super) fn new(config: SimConfig) -> Runtime {
        let rng = RefCell::new(Rng::stream(config.seed, "schedule"));
        Runtime {
            config,
            now_ns: Arc::default(),
            rng,
            tasks: RefCell::default(),
            ready: RefCell::default(),
            waiters: RefCell::default(),
            deadline_ns: Cell::new(u64::MAX),
            current: Cell::new(0),
            last: Cell::new(None),
            next: Cell::new(None),
            uninterrupted: Cell::new(0),
            dying: Cell::new(false),
            forsaken: Cell::new(false),
            end: RefCell::default(),
            panic_text: RefCell::default(),
            points: Cell::new(0),
            switches: Cell::new(0),
            fingerprint: Cell::new(0),
            schedule: RefCell::default(),
            rarely: RefCell::default(),
        }
    }

    /// Runs `main` and all that it spawns to the run's end, and says what that was and how many
    /// tasks were still alive when it came.
    pub(super) fn drive(&self, main: Body) -> (End, usize) {
        assert!(!active(), "simulations do not nest");
        super::panics::install_hook();
        self.add_task("main", main);
        while self.end.borrow().is_none() && !self.tasks.borrow()[0].done {
            let next = self.next.take().or_else(|| self.choose()).or_else(|| self.jump());
            match next {
                Some(task) => self.resume(task),
                None => self.finish(End::Deadlocked(self.report("nobody can run"))),
            }
        }
        let left = self.tasks.borrow().iter().filter(|task| !task.done).count();
        self.reap();
        (self.end.take().unwrap_or(End::Completed), left)
    }

    fn add_task(&self, name: &str, body: Body) -> TaskId {
        let fiber = Fiber::with_stack(stacks::take(self.config.stack_bytes), move |yielder, ()| {
            with(|run| run.begin(yielder));
            let dying = with(|run| run.dying.get());
            // A task that never began is only dropped, but here, where a hook finds its task.
            let body = AssertUnwindSafe(|| if dying { drop(body) } else { body() });
            with(|run| run.tasks.borrow_mut()[run.current.get()].unbegun = dying);
            if let Err(panic) = catch_unwind(body) {
                with(|run| run.panicked(&*panic));
            }
        });
        let slow = self.rng.borrow_mut().one_in(4);
        let mut tasks = self.tasks.borrow_mut();
        tasks.push(Task {
            name: name.to_owned(),
            fiber: Some(fiber),
            yielder: std::ptr::null(),
            done: false,
            unwinding: false,
            unbegun: false,
            slow,
            wait: None,
            last: None,
            waited: Waited::Woken,
            late_calls: 0,
        });
        let task = tasks.len() - 1;
        self.ready.borrow_mut().push(task);
        TaskId(task)
    }

    fn begin(&self, yielder: &Yielder<(), ()>) {
        self.tasks.borrow_mut()[self.current.get()].yielder = std::ptr::from_ref(yielder);
    }

    fn panicked(&self, panic: &(dyn Any + Send)) {
        if is_end(panic) {
            return;
        }
        let noted = self.panic_text.take();
        let task = self.tasks.borrow()[self.current.get()].name.clone();
        let message = noted.unwrap_or_else(|| text_of(panic).to_owned());
        // Whatever ended the run before, a panic is the news: a destructor that breaks under a
        // crash is a defect too.
        *self.end.borrow_mut() = Some(End::Panicked { task, message });
        self.dying.set(true);
    }

    /// Ends the run for this reason, unless it has one already.
    fn finish(&self, end: End) {
        self.end.borrow_mut().get_or_insert(end);
    }

    /// Lets a task run until it gives way or ends.
    fn resume(&self, task: usize) {
        let Some(mut fiber) = self.tasks.borrow_mut()[task].fiber.take() else { return };
        if self.current.replace(task) != task {
            self.switches.set(self.switches.get() + 1);
        }
        let mark = self.fingerprint.get() ^ ((task as u64) << 48) ^ self.points.get();
        self.fingerprint.set(base::hash::avalanche(mark));
        RUNTIME.set(self);
        let result = fiber.resume(());
        RUNTIME.set(std::ptr::null());
        if matches!(result, CoroutineResult::Yield(())) {
            self.tasks.borrow_mut()[task].fiber = Some(fiber);
            return;
        }
        stacks::give_back(fiber.into_stack());
        self.tasks.borrow_mut()[task].done = true;
        self.ready.borrow_mut().retain(|ready| *ready != task);
        self.wake(task_address(task), true);
    }

    /// Draws who runs next.
    fn choose(&self) -> Option<usize> {
        let ready = self.ready.borrow();
        if ready.len() <= 1 {
            return ready.first().copied();
        }
        let mut rng = self.rng.borrow_mut();
        let mut task = ready[rng.index(ready.len())];
        if self.tasks.borrow()[task].slow && rng.one_in(2) {
            task = ready[rng.index(ready.len())];
        }
        Some(task)
    }

    /// Nobody can run: moves the clock to the earliest deadline, and says who runs then.
    fn jump(&self) -> Option<usize> {
        let deadline = self.deadline_ns.get();
        if deadline == u64::MAX {
            return None;
        }
        self.now_ns.fetch_max(deadline, Relaxed);
        self.expire();
        self.choose()
    }

    /// Wakes everybody whose deadline has come.
    fn expire(&self) {
        let now = self.now_ns.load(Relaxed);
        let mut waiters = self.waiters.borrow_mut();
        let mut tasks = self.tasks.borrow_mut();
        let mut ready = self.ready.borrow_mut();
        waiters.retain(|waiter| {
            if waiter.deadline_ns > now {
                return true;
            }
            tasks[waiter.task].waited = Waited::TimedOut;
            ready.push(waiter.task);
            false
        });
        self.deadline_ns.set(earliest(&waiters));
    }

    /// A scheduling point. `eager` always draws; otherwise the task mostly goes on. A `quiet`
    /// point never unwinds its caller, for it stands in destructors.
    #[inline]
    pub(super) fn point(&self, at: &'static Location<'static>, eager: bool, quiet: bool) {
        if self.dying.get() {
            return if quiet { self.late_call() } else { self.die() };
        }
        if self.uninterrupted.get() > 0 || std::thread::panicking() {
            return;
        }
        let points = self.points.get() + 1;
        self.points.set(points);
        // A thread that polls while nobody else can run gets on with it.
        let alone = eager && self.ready.borrow().len() == 1;
        let pass_ns = if alone { 10_000 } else { self.config.point_ns };
        if self.now_ns.fetch_add(pass_ns, Relaxed) + pass_ns >= self.deadline_ns.get() {
            self.expire();
        }
        self.last.set(Some(at));
        if points >= self.config.points_max {
            self.finish(End::Endless(self.report("the run passed its limit of points")));
            return self.leave(quiet);
        }
        if !quiet && self.config.crash_at_point.is_some_and(|crash| points >= crash) {
            self.finish(End::Crashed);
            return self.leave(quiet);
        }
        if eager || self.rng.borrow_mut().chance(self.config.switch_per_mille) {
            self.switch(at, quiet);
        }
    }

    fn switch(&self, at: &'static Location<'static>, quiet: bool) {
        let Some(next) = self.choose() else { return };
        if next == self.current.get() {
            return;
        }
        self.note(next, at);
        self.next.set(Some(next));
        self.leave(quiet);
    }

    fn note(&self, next: usize, at: &'static Location<'static>) {
        if self.config.schedule {
            let step =
                Step { point: self.points.get(), from: self.current(), to: TaskId(next), at };
            self.schedule.borrow_mut().push(step);
        }
    }

    /// Gives way to the driver. Unwinds when the run has died meanwhile, unless `quiet`.
    #[allow(unsafe_code)]
    fn leave(&self, quiet: bool) {
        let yielder = {
            let task = &mut self.tasks.borrow_mut()[self.current.get()];
            task.last = self.last.get();
            task.yielder
        };
        // SAFETY: the running fiber has set it to its own yielder, which lives as long as the
        // fiber runs, and only the running task gives way.
        unsafe { (*yielder).suspend(()) };
        if self.dying.get() && !quiet {
            self.die();
        }
    }

    /// In a dying run: unwinds the calling task, or returns if it is being unwound already.
    fn die(&self) {
        let task = self.current.get();
        let (unwinding, unbegun) = {
            let task = &mut self.tasks.borrow_mut()[task];
            (std::mem::replace(&mut task.unwinding, true), task.unbegun)
        };
        self.late_call();
        if unbegun || unwinding && std::thread::panicking() {
            return;
        }
        resume_unwind(Box::new(Unwound));
    }

    /// Counts what a dying task still calls. One that never ends is a defect to be named: a
    /// destructor that loops, or a loop that catches each panic (see `seam::thread::catch`).
    fn late_call(&self) {
        let mut tasks = self.tasks.borrow_mut();
        let task = &mut tasks[self.current.get()];
        task.late_calls += 1;
        if task.late_calls < 1_000_000 {
            return;
        }
        eprintln!("simulator: task `{}` does not end, {:?}", task.name, task.last);
        std::process::abort();
    }

    /// Waits until woken or until the time is over.
    pub(super) fn block(&self, wait: Wait, at: &'static Location<'static>) -> Waited {
        if std::thread::panicking() && !self.dying.get() {
            // A task that panics needs a lock that another holds. Its message is known already;
            // the others are unwound first, and give the lock back.
            let task = self.tasks.borrow()[self.current.get()].name.clone();
            let message = self.panic_text.borrow().clone().unwrap_or_default();
            self.finish(End::Panicked { task, message });
            self.tasks.borrow_mut()[self.current.get()].unwinding = true;
            self.dying.set(true);
        }
        if self.dying.get() {
            return self.block_dying();
        }
        assert!(self.uninterrupted.get() == 0, "an uninterrupted section may not wait, at {at}");
        let now = self.now_ns.load(Relaxed);
        let deadline_ns = wait.nanos_max.map_or(u64::MAX, |nanos| now.saturating_add(nanos));
        let task = self.current.get();
        self.waiters.borrow_mut().push(Waiter { address: wait.address, task, deadline_ns });
        self.deadline_ns.set(self.deadline_ns.get().min(deadline_ns));
        self.ready.borrow_mut().retain(|ready| *ready != task);
        self.tasks.borrow_mut()[task].wait = Some(wait);
        self.last.set(Some(at));
        self.leave(false);
        let task = &mut self.tasks.borrow_mut()[task];
        task.wait = None;
        std::mem::replace(&mut task.waited, Waited::Woken)
    }

    /// A destructor waits while the run dies: the others die first, then it goes on without.
    fn block_dying(&self) -> Waited {
        self.die();
        if !self.forsaken.get() {
            self.leave(true);
        }
        if self.forsaken.get() { Waited::Forsaken } else { Waited::Woken }
    }

    /// Makes one or all who wait for `address` ready.
    pub(super) fn wake(&self, address: usize, all: bool) {
        let mut waiters = self.waiters.borrow_mut();
        let count = waiters.iter().filter(|waiter| waiter.address == address).count();
        if count == 0 {
            return;
        }
        let chosen = if all { 0 } else { self.rng.borrow_mut().index(count) };
        let mut ready = self.ready.borrow_mut();
        let mut nth = 0;
        waiters.retain(|waiter| {
            let this = waiter.address == address;
            let woken = this && (all || nth == chosen);
            nth += usize::from(this);
            if woken {
                ready.push(waiter.task);
            }
            !woken
        });
        self.deadline_ns.set(earliest(&waiters));
    }

    /// Whether this wait is to end at once for no reason, as real condition variables may.
    pub(super) fn spurious(&self) -> bool {
        !self.dying.get() && self.config.spurious_wakes && self.rng.borrow_mut().one_in(64)
    }

    pub(super) fn spawn(&self, name: &str, body: Body) -> TaskId {
        // A task that is added while the run dies is only dropped, like the others.
        self.add_task(name, body)
    }

    pub(super) fn is_done(&self, task: TaskId) -> bool {
        self.tasks.borrow()[task.0].done
    }

    pub(super) fn current(&self) -> TaskId {
        TaskId(self.current.get())
    }

    /// Ends the run as a crash of the machine.
    pub(super) fn crash(&self) {
        self.finish(End::Crashed);
        self.dying.set(true);
        if std::thread::panicking() {
            self.tasks.borrow_mut()[self.current.get()].unwinding = true;
        }
    }

    /// Whether the caller is in a section without scheduling points.
    pub(super) fn is_held(&self) -> bool {
        self.uninterrupted.get() > 0
    }

    /// Whether the run is over and tasks are only being unwound.
    pub(super) fn is_dying(&self) -> bool {
        self.dying.get()
    }

    /// Draws from the run's dice, for the disk's latencies.
    pub(super) fn draw<R>(&self, draw: impl FnOnce(&mut Rng) -> R) -> R {
        draw(&mut self.rng.borrow_mut())
    }

    /// Enters or leaves a section without scheduling points.
    pub(super) fn hold(&self, by: i32) {
        self.uninterrupted.set(self.uninterrupted.get().strict_add_signed(by));
    }

    /// Unwinds whoever is left.
    fn reap(&self) {
        self.dying.set(true);
        let mut rounds_idle = 0;
        loop {
            let count = self.tasks.borrow().len();
            let before = self.alive();
            (0..count).for_each(|task| self.resume(task));
            let after = self.alive();
            if after == 0 {
                break;
            }
            let progress = after < before || self.tasks.borrow().len() > count;
            self.forsaken.set(!progress);
            rounds_idle = if progress { 0 } else { rounds_idle + 1 };
            if rounds_idle > 100_000 {
                let report = self.report("a destructor waits for what never comes");
                eprintln!("simulator: {report}");
                std::process::abort();
            }
        }
    }

    fn alive(&self) -> usize {
        self.tasks.borrow().iter().filter(|task| !task.done).count()
    }

    /// Who waits for what, a line each.
    fn report(&self, headline: &str) -> String {
        use std::fmt::Write as _;
        let tasks = self.tasks.borrow();
        let mut report = format!("{headline} (seed {})", self.config.seed);
        for (number, task) in tasks.iter().enumerate().filter(|(_, task)| !task.done) {
            let _ = write!(report, "\n  task {number} `{}`", task.name);
            let running = number == self.current.get();
            let last = if running { self.last.get() } else { task.last };
            let Some(wait) = task.wait else {
                report.push_str(" could run");
                let _ = last.map(|at| write!(report, ", last seen at {at}"));
                continue;
            };
            let _ = write!(report, " waits for a {}", wait.kind);
            let _ = last.map(|at| write!(report, " at {at}"));
            if let Some(holder) = wait.holder {
                let name = tasks.get(holder.0).map_or("?", |task| &task.name);
                let _ = write!(report, ", held by task {} `{name}`", holder.0);
            }
        }
        report
    }
}

fn earliest(waiters: &[Waiter]) -> u64 {
    waiters.iter().map(|waiter| waiter.deadline_ns).min().unwrap_or(u64::MAX)
}

/// What a task's end wakes: never a real address, for no object lies in the first page.
pub(super) fn task_address(task: usize) -> usize {
    usize::MAX - task
}

/// Whether this panic is only the end of a simulated run.
pub(crate) fn is_end(panic: &(dyn Any + Send)) -> bool {
    panic.is::<Unwound>()
}
