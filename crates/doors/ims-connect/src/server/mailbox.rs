//! What a connection is told by others: the transaction manager, other connections, the server.

use std::collections::VecDeque;

use otma::{Name, Partner, Ticket};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::conversation::Event;

/// A connection's mailbox.
#[derive(Default)]
pub(super) struct Mailbox {
    waiting: Mutex<VecDeque<Event>>,
    pub(super) wake: Notify,
}

impl Mailbox {
    pub(super) fn put(&self, event: Event) {
        self.waiting.lock().push_back(event);
        self.wake.notify_one();
    }

    pub(super) fn next(&self) -> Option<Event> {
        let mut waiting = self.waiting.lock();
        let next = waiting.pop_front();
        if waiting.is_empty() && waiting.capacity() > 16 {
            waiting.shrink_to_fit();
        }
        next
    }
}

impl Partner for Mailbox {
    fn event(&self, ticket: Ticket, event: otma::Event) {
        self.put(Event::Notified(ticket, event));
    }

    fn arrived(&self, tpipe: Name) {
        let mut waiting = self.waiting.lock();
        // One word of a tpipe is enough: a flood of outputs makes no flood here.
        let known = |event: &Event| matches!(event, Event::Arrived(other) if *other == tpipe);
        if !waiting.iter().any(known) {
            waiting.push_back(Event::Arrived(tpipe));
        }
        drop(waiting);
        self.wake.notify_one();
    }
}
