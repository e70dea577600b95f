//! The IMS bridge of a started system: between its queue manager and its transaction manager.
//!
//! Invariants:
//! 1. It begins when the queue manager is opened, and ends before either manager does.

use std::sync::Arc;

use ims_bridge::{Bridge, Options};
use operations::messages::Messages;
use operations::transactions::TransactionManager;
use queue_manager::QueueManager;
use seam::sync::Mutex;
use store_any::AnyStore;
use system::System;

use crate::output::warn;

/// What becomes of it.
enum State {
    /// The queue manager is not open yet.
    Waiting,
    Running(Bridge<AnyStore>),
    Over,
}

/// The bridge of a system that has both managers.
pub(super) struct ImsBridge(Arc<Mutex<State>>);

impl ImsBridge {
    /// Has it begin when the queue manager is opened.
    pub(super) fn open(
        system: &System,
        messages: &Arc<Messages>,
        transactions: TransactionManager,
    ) -> ImsBridge {
        let state = Arc::new(Mutex::new(State::Waiting));
        let (own, reported) = (Arc::clone(&state), Arc::clone(&state));
        let clock = Arc::clone(&system.kernel().seam().clock);
        let options = Options { user: seam::user::own().name, clock };
        messages.when_opened(Box::new(move |manager| {
            begin(&own, manager, transactions, options);
        }));
        system.tell(Box::new(move || match &*reported.lock() {
            State::Running(bridge) => bridge.notes(),
            _ => Vec::new(),
        }));
        ImsBridge(state)
    }

    /// Ends it: a batch that is under way ends, nothing more is taken.
    pub(super) fn close(self) {
        let before = std::mem::replace(&mut *self.0.lock(), State::Over);
        if let State::Running(bridge) = before {
            bridge.close();
        }
    }
}

fn begin(
    state: &Mutex<State>,
    manager: &QueueManager<AnyStore>,
    transactions: TransactionManager,
    options: Options,
) {
    let mut state = state.lock();
    if !matches!(*state, State::Waiting) {
        return;
    }
    match Bridge::start(manager.clone(), transactions, options) {
        Ok(bridge) => *state = State::Running(bridge),
        Err(error) => {
            warn(format!("the IMS bridge has no threads: {error}. Start the system again."));
        }
    }
}
