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

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use corosensei::CoroutineResult;

use super::dying::Dying;
use super::rng::Rng;
use super::tasks::{Fiber, Tasks, Wait, Waited};
use super::trace::Trace;
use super::{End, SimConfig, Step, TaskId, stacks};

type Body = Box<dyn FnOnce()>;

/// One run: its clock and dice, its tasks, its end and its course.
pub(crate) struct Runtime {
    pub(super) config: SimConfig,
    /// Virtual time since the run's beginning; shared with the run's clock, which may outlive it.
    pub(super) now_ns: Arc<AtomicU64>,
    rng: RefCell<Rng>,
    tasks: Tasks,
    pub(super) dying: Dying,
    pub(super) trace: Trace,
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
            tasks: Tasks::new(),
            dying: Dying::default(),
            trace: Trace::default(),
        }
    }

    /// Runs `main` and all that it spawns to the run's end, and says what that was and how many
    /// tasks were still alive when it came.
    pub(super) fn drive(&self, main: Body) -> (End, usize) {
        assert!(!active(), "simulations do not nest");
        super::panics::install_hook();
        self.spawn("main", main);
        while !self.dying.has_reason() && !self.tasks.is_done(0) {
            let next = self.tasks.take_next().or_else(|| self.choose()).or_else(|| self.jump());
            match next {
                Some(task) => self.resume(task),
                None => self.dying.finish(End::Deadlocked(self.report("nobody can run"))),
            }
        }
        let left = self.tasks.alive();
        self.dying.reap(&self.tasks, self.config.seed, |task| self.resume(task));
        (self.dying.take_reason().unwrap_or(End::Completed), left)
    }

    /// Adds a task. One that is added while the run dies is only dropped, like the others.
    pub(super) fn spawn(&self, name: &str, body: Body) -> TaskId {
        let fiber = Fiber::with_stack(stacks::take(self.config.stack_bytes), move |yielder, ()| {
            with(|run| run.tasks.begin(yielder));
            let dying = with(Runtime::is_dying);
            // A task that never began is only dropped, but here, where a hook finds its task.
            let body = AssertUnwindSafe(|| if dying { drop(body) } else { body() });
            with(|run| run.tasks.running().unbegun = dying);
            if let Err(panic) = catch_unwind(body) {
                with(|run| run.dying.panicked(&*panic, &run.tasks));
            }
        });
        let slow = self.rng.borrow_mut().one_in(4);
        self.tasks.add(name, fiber, slow)
    }

    /// Lets a task run until it gives way or ends.
    fn resume(&self, task: usize) {
        let Some(mut fiber) = self.tasks.take(task) else { return };
        self.trace.resume(task, self.tasks.enter(task));
        RUNTIME.set(self);
        let result = fiber.resume(());
        RUNTIME.set(std::ptr::null());
        if matches!(result, CoroutineResult::Yield(())) {
            return self.tasks.put_back(task, fiber);
        }
        stacks::give_back(fiber.into_stack());
        self.tasks.end(task, &self.rng);
    }

    fn choose(&self) -> Option<usize> {
        self.tasks.choose(&self.rng)
    }

    /// Nobody can run: moves the clock to the earliest deadline, and says who runs then.
    fn jump(&self) -> Option<usize> {
        let deadline = self.tasks.deadline_ns();
        if deadline == u64::MAX {
            return None;
        }
        self.now_ns.fetch_max(deadline, Relaxed);
        self.tasks.expire(self.now_ns.load(Relaxed));
        self.choose()
    }

    /// A scheduling point. `eager` always draws; otherwise the task mostly goes on. A `quiet`
    /// point never unwinds its caller, for it stands in destructors.
    #[inline]
    pub(super) fn point(&self, at: &'static Location<'static>, eager: bool, quiet: bool) {
        if self.is_dying() {
            let (dying, tasks) = (&self.dying, &self.tasks);
            return if quiet { dying.late_call(tasks) } else { dying.die(tasks) };
        }
        if self.tasks.is_held() || std::thread::panicking() {
            return;
        }
        let points = self.trace.point();
        // A thread that polls while nobody else can run gets on with it.
        let alone = eager && self.tasks.is_alone();
        let pass_ns = if alone { 10_000 } else { self.config.point_ns };
        if self.now_ns.fetch_add(pass_ns, Relaxed) + pass_ns >= self.tasks.deadline_ns() {
            self.tasks.expire(self.now_ns.load(Relaxed));
        }
        self.tasks.pass(at);
        if points >= self.config.points_max {
            let report = self.report("the run passed its limit of points");
            self.dying.finish(End::Endless(report));
            return self.leave(quiet);
        }
        if !quiet && self.config.crash_at_point.is_some_and(|crash| points >= crash) {
            self.dying.finish(End::Crashed);
            return self.leave(quiet);
        }
        if eager || self.rng.borrow_mut().chance(self.config.switch_per_mille) {
            self.switch(at, quiet);
        }
    }

    fn switch(&self, at: &'static Location<'static>, quiet: bool) {
        let Some(next) = self.choose() else { return };
        if next == self.tasks.current() {
            return;
        }
        if self.config.schedule {
            let point = self.trace.points.get();
            self.trace.note(Step { point, from: self.current(), to: TaskId(next), at });
        }
        self.tasks.set_next(next);
        self.leave(quiet);
    }

    /// Gives way to the driver. Unwinds when the run has died meanwhile, unless `quiet`.
    #[allow(unsafe_code)]
    fn leave(&self, quiet: bool) {
        let yielder = self.tasks.leaving();
        // SAFETY: the running fiber has set it to its own yielder, which lives as long as the
        // fiber runs, and only the running task gives way.
        unsafe { (*yielder).suspend(()) };
        if self.is_dying() && !quiet {
            self.dying.die(&self.tasks);
        }
    }

    /// Waits until woken or until the time is over.
    pub(super) fn block(&self, wait: Wait, at: &'static Location<'static>) -> Waited {
        if std::thread::panicking() && !self.is_dying() {
            self.dying.panics_and_waits(&self.tasks);
        }
        if self.is_dying() {
            return self.block_dying();
        }
        assert!(!self.is_held(), "an uninterrupted section may not wait, at {at}");
        self.tasks.wait(wait, at, self.now_ns.load(Relaxed));
        self.leave(false);
        self.tasks.waited()
    }

    /// A destructor waits while the run dies: the others die first, then it goes on without.
    fn block_dying(&self) -> Waited {
        self.dying.die(&self.tasks);
        if !self.dying.is_forsaken() {
            self.leave(true);
        }
        if self.dying.is_forsaken() { Waited::Forsaken } else { Waited::Woken }
    }

    /// Makes one or all who wait for `address` ready.
    pub(super) fn wake(&self, address: usize, all: bool) {
        self.tasks.wake(address, all, &self.rng);
    }

    /// Whether this wait is to end at once for no reason, as real condition variables may.
    pub(super) fn spurious(&self) -> bool {
        !self.is_dying() && self.config.spurious_wakes && self.rng.borrow_mut().one_in(64)
    }

    pub(super) fn is_done(&self, task: TaskId) -> bool {
        self.tasks.is_done(task.0)
    }

    pub(super) fn current(&self) -> TaskId {
        TaskId(self.tasks.current())
    }

    /// Ends the run as a crash of the machine.
    pub(super) fn crash(&self) {
        self.dying.crash(&self.tasks);
    }

    /// Whether the caller is in a section without scheduling points.
    pub(super) fn is_held(&self) -> bool {
        self.tasks.is_held()
    }

    /// Enters or leaves a section without scheduling points.
    pub(super) fn hold(&self, by: i32) {
        self.tasks.hold(by);
    }

    /// Whether the run is over and tasks are only being unwound.
    pub(super) fn is_dying(&self) -> bool {
        self.dying.has_begun()
    }

    /// Draws from the run's dice, for the disk's latencies.
    pub(super) fn draw<R>(&self, draw: impl FnOnce(&mut Rng) -> R) -> R {
        draw(&mut self.rng.borrow_mut())
    }

    fn report(&self, headline: &str) -> String {
        self.tasks.report(headline, self.config.seed)
    }
}
