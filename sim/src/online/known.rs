//! What clients of a transaction manager know, and what is wrong if they know it.
//!
//! Invariants:
//! 1. What stands in [`Known`] outlives the machine; what stands in [`Life`] ends with it.
//! 2. An input that is marked `Q` came in mode 0: those of one transaction are processed, and
//!    their outputs fetched, in the order in which they came. One came before another if its client
//!    was told so before the other was sent. Inputs of mode 1 (`D`) need not be durable, and may
//!    overtake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use otma::{Event, Outcome, Partner, Ticket};
use parking_lot::Mutex;

/// What clients know, whatever happens to the machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) next: u32,
    /// Inputs of mode 0 that were accepted.
    pub(super) accepted: BTreeSet<u32>,
    /// How many inputs of mode 0 were accepted when one was sent, by its number, and the numbers of
    /// those that were, in their order.
    sent_behind: BTreeMap<u32, usize>,
    in_order: Vec<u32>,
    /// Inputs of mode 1 that were answered.
    pub(super) answered: BTreeSet<u32>,
    /// Inputs of mode 1 that were told to be committed.
    pub(super) committed: BTreeSet<u32>,
    /// Outputs that clients have, and asked to be settled: with a crash they may come once more.
    pub(super) settling: BTreeSet<u32>,
    /// Outputs whose delivery was settled, durably.
    pub(super) delivered: BTreeSet<u32>,
    /// Whether operators were told that a transaction is stopped; not while they ask for it.
    pub(super) stopped: Option<bool>,
}

impl Known {
    /// A number for an input that is sent now.
    pub(super) fn number(&mut self) -> u32 {
        self.next += 1;
        self.sent_behind.insert(self.next, self.in_order.len());
        self.next
    }

    /// Whether an input came before another one was sent.
    pub(super) fn came_before(&self, one: u32, other: u32) -> bool {
        let behind = self.sent_behind.get(&other).copied().unwrap_or_default();
        self.in_order[..behind].contains(&one)
    }

    /// What is wrong with what was told, if anything is.
    pub(super) fn wrong(&self) -> Option<String> {
        let mut silent = self.committed.difference(&self.answered);
        silent.next().map(|number| format!("the reply of input {number} was never sent"))
    }
}

/// What is known during one life of a system.
#[derive(Debug, Default)]
pub(super) struct Life {
    /// When inputs are worth nothing any more, at the latest.
    until_ms: Mutex<BTreeMap<u32, u64>>,
    /// The output that came last from a transaction to a client.
    fetched: Mutex<BTreeMap<(u64, String), u32>>,
}

impl Life {
    /// An input that was put at that time or before lives so long.
    pub(super) fn expires(&self, number: u32, put_at_ms: u64, lives: Duration) {
        let lives = u64::try_from(lives.as_millis()).unwrap_or(u64::MAX);
        // Queues keep whole seconds.
        let until = (put_at_ms + lives).div_ceil(1_000) * 1_000;
        self.until_ms.lock().insert(number, until);
    }

    /// A program that asked for an input at that time has got this one.
    pub(super) fn given(&self, number: u32, asked_at_ms: u64) -> Result<(), String> {
        match self.until_ms.lock().get(&number) {
            Some(until) if *until <= asked_at_ms => {
                Err(format!("input {number} was given after it had expired"))
            }
            _ => Ok(()),
        }
    }

    /// A client has fetched the output of an input.
    pub(super) fn fetched(
        &self,
        known: &Known,
        client: u64,
        text: &str,
        number: u32,
    ) -> Result<(), String> {
        let mut words = text.split(' ').skip(2);
        let (Some(code), Some("Q")) = (words.next(), words.next()) else { return Ok(()) };
        let mut fetched = self.fetched.lock();
        let last = fetched.entry((client, code.to_owned())).or_default();
        if known.came_before(number, *last) {
            return Err(format!("output {number} of {code} came behind output {last}"));
        }
        *last = number;
        Ok(())
    }
}

/// A client's ear for one input.
pub(super) struct Ear {
    pub(super) number: u32,
    pub(super) direct: bool,
    pub(super) known: Arc<Mutex<Known>>,
}

impl Partner for Ear {
    fn event(&self, _ticket: Ticket, event: Event) {
        let mut known = self.known.lock();
        let _ = match (event, self.direct) {
            (Event::Accepted, false) => {
                known.in_order.push(self.number);
                known.accepted.insert(self.number)
            }
            (Event::Output(_), true) => known.answered.insert(self.number),
            (Event::Ended(Outcome::Committed), true) => known.committed.insert(self.number),
            _ => false,
        };
    }
}
