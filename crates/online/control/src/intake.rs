//! How a program gets its next input, and when it gets none.
//!
//! Invariants:
//! 1. Nobody waits here while an input waits that this program may have.
//! 2. What has expired, or whose client has gone, is never given.
//! 3. Nobody waits here with inputs in hand: those of mode MULT, whose unit of work is open, with
//!    its locks, its log and the replies that it owes.

use std::time::Duration;

use otma::{Name, Outcome, Reason, Refusal};
use queues::{Held, QueueName};
use region::Abend;
use store::Store;

use crate::dispatch::{RegionId, Takes};
use crate::inner::{InHand, State};
use crate::program::ProgramMessages;
use crate::run::Next;

/// How long a program that waits for input sleeps before it looks around.
const NAP: Duration = Duration::from_millis(500);

impl<S: Store> ProgramMessages<S> {
    /// The next input of the program's transaction, waiting for it if that is so defined.
    pub(crate) fn wait_for_input(&mut self) -> Result<Option<Next>, Abend> {
        while let Some(held) = self.take_next() {
            if let Some(next) = self.accept(held)? {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// Opens an input; `None` if nobody wants it any more.
    fn accept(&mut self, held: Held) -> Result<Option<Next>, Abend> {
        let inner = &self.inner;
        if held.is_expired(inner.now_ms()) {
            inner.expire(held);
            return Ok(None);
        }
        let ticket = inner.ticket_of(&held);
        let volatile = inner.queues.is_volatile(&held);
        let state = inner.state.lock();
        let gone = state.clients.get(&ticket).is_none_or(|client| client.gone);
        drop(state);
        let envelope = match inner.open(&held) {
            Ok(envelope) => envelope,
            Err(error) => {
                let text = error.to_string();
                inner.give_back(vec![held]);
                return Err(Abend { code: "U0844".to_owned(), text });
            }
        };
        if volatile && gone && envelope.send_then_commit {
            inner.idle_conversation(envelope.terminal, held.queue().name);
            inner.gone(held);
            let refusal = Refusal::new(Reason::OutputRefused, "the client has gone");
            inner.end(ticket, Outcome::BackedOut(refusal));
            return Ok(None);
        }
        let next = Next {
            envelope: envelope.clone(),
            arrival: held.arrival(),
            put_at_ms: held.put_at_ms(),
            is_old: inner.queues.is_old(&held),
        };
        let mut run = self.run.lock();
        run.given += 1;
        run.inputs.push(InHand { held, envelope, ticket });
        Ok(Some(next))
    }

    fn take_next(&mut self) -> Option<Held> {
        if let Some(first) = self.run.lock().first.take() {
            return Some(first);
        }
        let (transaction, region) = (self.transaction.clone()?, self.region?);
        let limit = u32::from(transaction.process_limit).max(1);
        let (given, pseudo_wait, is_open) = {
            let run = self.run.lock();
            (run.given, run.pseudo_wait, !run.inputs.is_empty())
        };
        let inner = &self.inner;
        let mut state = inner.state.lock();
        loop {
            if state.shutting_down || self.is_blocked(&state, transaction.name) {
                return None;
            }
            let own = state.dispatch.regions.get(&region)?;
            if own.stopped || own.releases {
                return None;
            }
            let queue = match own.takes {
                Takes::Expedited(program) => QueueName::expedited(program),
                _ => QueueName::input(transaction.name),
            };
            let classes = own.classes.clone();
            let spent = transaction.process_limit != u16::MAX && given >= limit;
            let others = || state.dispatch.pick(&classes, |name| inner.waiting(name));
            if spent && !transaction.wait_for_input {
                // Its turn is over, if anybody else has something to do here.
                if others().is_some_and(|other| other != transaction.name) {
                    return None;
                }
                self.run.lock().given = 0;
            }
            if let Some(held) = inner.queues.take(queue) {
                inner.touch(&mut state, transaction.name);
                return Some(held);
            }
            // Its unit of work is open: nobody waits in it for what may never come.
            if is_open || !transaction.wait_for_input && (!pseudo_wait || others().is_some()) {
                return None;
            }
            set_waits(&mut state, region, true);
            inner.work.wait_for(&mut state, NAP);
            set_waits(&mut state, region, false);
        }
    }
}

impl<S: Store> ProgramMessages<S> {
    /// Whether the program gets no further input: it is stopped, its transaction is, or it is not
    /// what it was when it was scheduled.
    fn is_blocked(&self, state: &State, transaction: Name) -> bool {
        let own = self.region.and_then(|region| state.dispatch.regions.get(&region));
        let Some(own) = own else { return true };
        let generation = self.run.lock().generation;
        let program = state.dispatch.programs.get(&self.program);
        // Batch message programs need not be defined.
        let program_blocked = match program {
            Some(one) => one.stopped || generation.is_some_and(|known| known != one.generation),
            None => own.takes != Takes::Batch,
        };
        let of = state.dispatch.transactions.get(&transaction);
        let is_expedited = matches!(own.takes, Takes::Expedited(_));
        program_blocked || (!is_expedited && of.is_none_or(|one| one.no_scheduling))
    }
}

fn set_waits(state: &mut State, region: RegionId, waits: bool) {
    if let Some(region) = state.dispatch.regions.get_mut(&region) {
        region.waits = waits;
    }
}
