//! Stacks of simulated tasks, kept for the next ones: mapping one costs more than a short run.
//!
//! Only what a task touches takes memory; the page below a stack is not mapped, so an overflow
//! ends the process instead of spoiling another task.

use std::cell::RefCell;

use corosensei::stack::{DefaultStack, Stack as _};

thread_local! {
    static IDLE: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// A stack of this size from the pool, or a new one. All runs of a process use one size or few.
pub(super) fn take(bytes: usize) -> DefaultStack {
    let found = IDLE.with_borrow_mut(|stacks| {
        let fits = |stack: &DefaultStack| stack.base().get() - stack.limit().get() >= bytes;
        stacks.iter().rposition(fits).map(|place| stacks.swap_remove(place))
    });
    found.unwrap_or_else(|| DefaultStack::new(bytes).expect("address space for a task's stack"))
}

/// Keeps the stack of a task that is done.
pub(super) fn give_back(stack: DefaultStack) {
    IDLE.with_borrow_mut(|stacks| stacks.push(stack));
}
