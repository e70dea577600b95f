//! The tasks of a run: who runs, who may run, who waits for what and until when.
//!
//! Invariants:
//! 1. Until the run dies, a task that is not done stands either among the ready ones, the running
//!    one too, or among the waiters.
//! 2. `deadline_ns` is the earliest deadline among the waiters; without any it never comes.
//! 3. Who runs and who is woken is drawn from the dice that the caller brings, and depends on no
//!    address.

use std::cell::{Cell, RefCell, RefMut};
use std::panic::Location;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};

use super::TaskId;
use super::rng::Rng;

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

pub(super) type Fiber = Coroutine<(), (), (), DefaultStack>;

/// A simulated thread.
pub(super) struct Task {
    pub(super) name: String,
    /// Taken out while it runs; gone when it is done.
    fiber: Option<Fiber>,
    /// Where the running fiber gives way; set by the fiber itself.
    yielder: *const Yielder<(), ()>,
    done: bool,
    /// Whether it is being unwound at the run's end, or its own panic was seen.
    pub(super) unwinding: bool,
    /// It never began and is only being dropped, so there is nothing to unwind.
    pub(super) unbegun: bool,
    /// Drawn at its start: a slow task is chosen half as often.
    slow: bool,
    /// What it waits for.
    wait: Option<Wait>,
    /// The line where it gave way last.
    pub(super) last: Option<&'static Location<'static>>,
    waited: Waited,
    /// Hooks called since the run began to die, so that an endless destructor is noticed.
    pub(super) late_calls: u32,
}

struct Waiter {
    address: usize,
    task: usize,
    deadline_ns: u64,
}

/// The tasks of a run.
pub(super) struct Tasks {
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
}

impl Tasks {
    pub(super) fn new() -> Tasks {
        Tasks {
            tasks: RefCell::default(),
            ready: RefCell::default(),
            waiters: RefCell::default(),
            deadline_ns: Cell::new(u64::MAX),
            current: Cell::new(0),
            last: Cell::new(None),
            next: Cell::new(None),
            uninterrupted: Cell::new(0),
        }
    }

    pub(super) fn add(&self, name: &str, fiber: Fiber, slow: bool) -> TaskId {
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

    /// The running task says where it gives way.
    pub(super) fn begin(&self, yielder: &Yielder<(), ()>) {
        self.running().yielder = std::ptr::from_ref(yielder);
    }

    /// The running task, to be let go before the next hook.
    pub(super) fn running(&self) -> RefMut<'_, Task> {
        RefMut::map(self.tasks.borrow_mut(), |tasks| &mut tasks[self.current.get()])
    }

    pub(super) fn current(&self) -> usize {
        self.current.get()
    }

    pub(super) fn is_done(&self, task: usize) -> bool {
        self.tasks.borrow()[task].done
    }

    /// How many tasks there ever were.
    pub(super) fn count(&self) -> usize {
        self.tasks.borrow().len()
    }

    /// How many are not done.
    pub(super) fn alive(&self) -> usize {
        self.tasks.borrow().iter().filter(|task| !task.done).count()
    }

    /// Whether nobody but the caller may run.
    pub(super) fn is_alone(&self) -> bool {
        self.ready.borrow().len() == 1
    }

    /// Takes the fiber out of a task that is to run.
    pub(super) fn take(&self, task: usize) -> Option<Fiber> {
        self.tasks.borrow_mut()[task].fiber.take()
    }

    /// Makes it the running task; says whether another one ran before.
    pub(super) fn enter(&self, task: usize) -> bool {
        self.current.replace(task) != task
    }

    /// A task gave way.
    pub(super) fn put_back(&self, task: usize, fiber: Fiber) {
        self.tasks.borrow_mut()[task].fiber = Some(fiber);
    }

    /// A task is done: whoever waits for that is ready.
    pub(super) fn end(&self, task: usize, dice: &RefCell<Rng>) {
        self.tasks.borrow_mut()[task].done = true;
        self.ready.borrow_mut().retain(|ready| *ready != task);
        self.wake(task_address(task), true, dice);
    }

    /// Draws who runs next.
    pub(super) fn choose(&self, dice: &RefCell<Rng>) -> Option<usize> {
        let ready = self.ready.borrow();
        if ready.len() <= 1 {
            return ready.first().copied();
        }
        let mut rng = dice.borrow_mut();
        let mut task = ready[rng.index(ready.len())];
        if self.tasks.borrow()[task].slow && rng.one_in(2) {
            task = ready[rng.index(ready.len())];
        }
        Some(task)
    }

    /// Whom the task that gave way has chosen.
    pub(super) fn take_next(&self) -> Option<usize> {
        self.next.take()
    }

    pub(super) fn set_next(&self, next: usize) {
        self.next.set(Some(next));
    }

    pub(super) fn deadline_ns(&self) -> u64 {
        self.deadline_ns.get()
    }

    /// Wakes everybody whose deadline has come.
    pub(super) fn expire(&self, now_ns: u64) {
        let mut waiters = self.waiters.borrow_mut();
        let mut tasks = self.tasks.borrow_mut();
        let mut ready = self.ready.borrow_mut();
        waiters.retain(|waiter| {
            if waiter.deadline_ns > now_ns {
                return true;
            }
            tasks[waiter.task].waited = Waited::TimedOut;
            ready.push(waiter.task);
            false
        });
        self.deadline_ns.set(earliest(&waiters));
    }

    /// Notes where the running task passes a point.
    pub(super) fn pass(&self, at: &'static Location<'static>) {
        self.last.set(Some(at));
    }

    /// Notes where the running task is when it gives way, and says whereby it does.
    pub(super) fn leaving(&self) -> *const Yielder<(), ()> {
        let mut task = self.running();
        task.last = self.last.get();
        task.yielder
    }

    /// The running task begins to wait. It has to give way then.
    pub(super) fn wait(&self, wait: Wait, at: &'static Location<'static>, now_ns: u64) {
        let deadline_ns = wait.nanos_max.map_or(u64::MAX, |nanos| now_ns.saturating_add(nanos));
        let task = self.current.get();
        self.waiters.borrow_mut().push(Waiter { address: wait.address, task, deadline_ns });
        self.deadline_ns.set(self.deadline_ns.get().min(deadline_ns));
        self.ready.borrow_mut().retain(|ready| *ready != task);
        self.running().wait = Some(wait);
        self.last.set(Some(at));
    }

    /// The running task has waited.
    pub(super) fn waited(&self) -> Waited {
        let mut task = self.running();
        task.wait = None;
        std::mem::replace(&mut task.waited, Waited::Woken)
    }

    /// Makes one or all who wait for `address` ready.
    pub(super) fn wake(&self, address: usize, all: bool, dice: &RefCell<Rng>) {
        let mut waiters = self.waiters.borrow_mut();
        let count = waiters.iter().filter(|waiter| waiter.address == address).count();
        if count == 0 {
            return;
        }
        let chosen = if all { 0 } else { dice.borrow_mut().index(count) };
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

    /// Whether the caller is in a section without scheduling points.
    pub(super) fn is_held(&self) -> bool {
        self.uninterrupted.get() > 0
    }

    /// Enters or leaves a section without scheduling points.
    pub(super) fn hold(&self, by: i32) {
        self.uninterrupted.set(self.uninterrupted.get().strict_add_signed(by));
    }

    /// Who waits for what, a line each.
    pub(super) fn report(&self, headline: &str, seed: u64) -> String {
        use std::fmt::Write as _;
        let tasks = self.tasks.borrow();
        let mut report = format!("{headline} (seed {seed})");
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
