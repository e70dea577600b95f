//! How a run ends, and how the tasks that are left then are unwound.
//!
//! Invariants:
//! 1. The first reason for the end stays, but for a panic, which is the news whatever came before.
//! 2. A task is unwound once. While that happens its hooks return.
//! 3. Only when a whole round of tasks made no progress are those that still wait forsaken.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;

use super::End;
use super::tasks::Tasks;
use crate::panic_text::text_of;

/// What unwinds a task whose run is over. Never seen outside: it is caught at the task's root.
struct Unwound;

/// The end of a run.
#[derive(Default)]
pub(super) struct Dying {
    begun: Cell<bool>,
    /// No dying task made progress in a whole round.
    forsaken: Cell<bool>,
    end: RefCell<Option<End>>,
    /// The text and place of the last panic, from the hook.
    panic_text: RefCell<Option<String>>,
}

impl Dying {
    /// Whether the run is over and tasks are only being unwound.
    pub(super) fn has_begun(&self) -> bool {
        self.begun.get()
    }

    /// Whether nobody gives back what a dying task waits for.
    pub(super) fn is_forsaken(&self) -> bool {
        self.forsaken.get()
    }

    /// Whether there is a reason to end.
    pub(super) fn has_reason(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// The reason, which is taken out.
    pub(super) fn take_reason(&self) -> Option<End> {
        self.end.take()
    }

    /// Ends the run for this reason, unless it has one already.
    pub(super) fn finish(&self, end: End) {
        self.end.borrow_mut().get_or_insert(end);
    }

    /// Ends the run as a crash of the machine.
    pub(super) fn crash(&self, tasks: &Tasks) {
        self.finish(End::Crashed);
        self.begun.set(true);
        if std::thread::panicking() {
            tasks.running().unwinding = true;
        }
    }

    /// Notes what the hook saw of a panic.
    pub(super) fn note_panic(&self, text: String) {
        *self.panic_text.borrow_mut() = Some(text);
    }

    /// The running task ended with this panic.
    pub(super) fn panicked(&self, panic: &(dyn Any + Send), tasks: &Tasks) {
        if is_end(panic) {
            return;
        }
        let noted = self.panic_text.take();
        let task = tasks.running().name.clone();
        let message = noted.unwrap_or_else(|| text_of(panic).to_owned());
        // Whatever ended the run before, a panic is the news: a destructor that breaks under a
        // crash is a defect too.
        *self.end.borrow_mut() = Some(End::Panicked { task, message });
        self.begun.set(true);
    }

    /// A task that panics needs a lock that another holds. Its message is known already; the
    /// others are unwound first, and give the lock back.
    pub(super) fn panics_and_waits(&self, tasks: &Tasks) {
        let task = tasks.running().name.clone();
        let message = self.panic_text.borrow().clone().unwrap_or_default();
        self.finish(End::Panicked { task, message });
        tasks.running().unwinding = true;
        self.begun.set(true);
    }

    /// In a dying run: unwinds the calling task, or returns if it is being unwound already.
    pub(super) fn die(&self, tasks: &Tasks) {
        let (unwinding, unbegun) = {
            let mut task = tasks.running();
            (std::mem::replace(&mut task.unwinding, true), task.unbegun)
        };
        self.late_call(tasks);
        if unbegun || unwinding && std::thread::panicking() {
            return;
        }
        resume_unwind(Box::new(Unwound));
    }

    /// Counts what a dying task still calls. One that never ends is a defect to be named: a
    /// destructor that loops, or a loop that catches each panic (see `seam::thread::catch`).
    pub(super) fn late_call(&self, tasks: &Tasks) {
        let mut task = tasks.running();
        task.late_calls += 1;
        if task.late_calls < 1_000_000 {
            return;
        }
        eprintln!("simulator: task `{}` does not end, {:?}", task.name, task.last);
        std::process::abort();
    }

    /// Unwinds whoever is left.
    pub(super) fn reap(&self, tasks: &Tasks, seed: u64, resume: impl Fn(usize)) {
        self.begun.set(true);
        let mut rounds_idle = 0;
        loop {
            let count = tasks.count();
            let before = tasks.alive();
            (0..count).for_each(&resume);
            let after = tasks.alive();
            if after == 0 {
                break;
            }
            let progress = after < before || tasks.count() > count;
            self.forsaken.set(!progress);
            rounds_idle = if progress { 0 } else { rounds_idle + 1 };
            if rounds_idle > 100_000 {
                let report = tasks.report("a destructor waits for what never comes", seed);
                eprintln!("simulator: {report}");
                std::process::abort();
            }
        }
    }
}

/// Whether this panic is only the end of a simulated run.
pub(crate) fn is_end(panic: &(dyn Any + Send)) -> bool {
    panic.is::<Unwound>()
}
