//! Expedited inputs (EMH): which ones are, and where they wait.
//!
//! | transaction | its inputs |
//! |---|---|
//! | FP(N) | are queued for their transaction |
//! | FP(E), or FP(P) of a program FP(E) | are expedited: for the program of the routing code of their name, or for their own |
//! | FP(P) of another one | are, if there is a routing code of their name, and a region for its program; otherwise they are queued |
//!
//! All regions of a program share its expedited inputs: they are its balancing group.
//!
//! Invariants:
//! 1. An expedited input is in memory only: it is never written before its program commits, and
//!    ends with the system. What answers it comes as its commit mode demands: in mode 0 the output
//!    is in the unit of work of its program.
//! 2. Nobody waits for a region that there is not: without one the input is refused.
//! 3. Expedited inputs are answered: one that wants no answer is queued, or refused.

use std::sync::Arc;

use otma::{Event, Name, Outcome, Reason, Refusal, Ticket};
use queues::QueueName;
use resources::{FastPath, Transaction};
use store::Store;

use crate::envelope::Envelope;
use crate::error::ControlError;
use crate::inner::{Client, Coming, Inner, State};
use crate::text;

impl<S: Store> Inner<S> {
    /// The program for which an input of a transaction is expedited; none if it is queued.
    pub(crate) fn route(
        &self,
        state: &State,
        of: &Transaction,
        envelope: &Envelope,
    ) -> Result<Option<Name>, Refusal> {
        if of.fast_path == FastPath::No {
            return Ok(None);
        }
        let name = of.name;
        let own = state.dispatch.programs.get(&of.program);
        let is_exclusive = of.fast_path == FastPath::Exclusive
            || own.is_some_and(|one| one.definition.fast_path == FastPath::Exclusive);
        let code = state.dispatch.routing_codes.get(&name).copied();
        let program = code.filter(|program| !program.is_blank());
        let program = program.or_else(|| is_exclusive.then_some(of.program));
        let is_served = |program: &Name| {
            let known = state.dispatch.programs.get(program);
            known.is_some_and(|one| !one.stopped) && state.dispatch.is_expedited(*program)
        };
        let fits = !envelope.options.send_only && envelope.segments.count() <= 1;
        let program = program.filter(is_served).filter(|_| fits);
        match program {
            Some(_) => self.fits_its_buffer(of, envelope).map(|()| program),
            None if !is_exclusive => Ok(None),
            None if !fits => {
                let what = format!("TRAN {name} TAKES ONE SEGMENT, AND IS ANSWERED");
                Err(Refusal::new(Reason::CommitMode, what))
            }
            None => Err(Refusal::new(Reason::TransactionStopped, text::no_region(name))),
        }
    }

    fn fits_its_buffer(&self, of: &Transaction, envelope: &Envelope) -> Result<(), Refusal> {
        let (room, bytes) = (usize::from(of.emh_bytes), envelope.segments.as_bytes().len());
        if room == 0 || bytes <= room {
            return Ok(());
        }
        let what = format!("TRAN {} TAKES {room} BYTES, NOT {bytes}", of.name);
        Err(Refusal::new(Reason::TooLarge, what))
    }

    /// Puts an input where the regions of its program look.
    pub(crate) fn put_expedited(
        self: &Arc<Inner<S>>,
        program: Name,
        envelope: &Envelope,
        lives: Option<std::time::Duration>,
        client: Client,
    ) -> Result<Ticket, ControlError> {
        let queue = QueueName::expedited(program);
        let pending = self.queues.put_volatile(queue, lives, &envelope.encode())?;
        let ticket = Ticket(pending.arrival());
        self.state.lock().clients.insert(ticket, Client { queue, ..client });
        self.tell(ticket, Event::Accepted);
        self.arrived(vec![Coming { pending, answers: 0 }]);
        // The last region may have gone since it was asked for.
        if !self.state.lock().dispatch.is_expedited(program) {
            self.refuse_expedited(program);
        }
        Ok(ticket)
    }

    /// No region takes a program's inputs any more: who waits for one is told.
    pub(crate) fn refuse_expedited(&self, program: Name) {
        while let Some(held) = self.queues.take(QueueName::expedited(program)) {
            let ticket = Ticket(held.arrival());
            let name = self.open(&held).map_or(program, |envelope| envelope.transaction);
            self.gone(held);
            let refusal = Refusal::new(Reason::TransactionStopped, text::no_region(name));
            self.end(ticket, Outcome::BackedOut(refusal));
        }
    }

    /// What a program for expedited inputs is scheduled as: one of its transactions, or its own
    /// name if it is reached by routing codes alone.
    pub(crate) fn expedited_as(&self, state: &State, program: Name) -> Transaction {
        let all = state.dispatch.transactions.values().map(|one| &one.definition);
        let mut own = all.filter(|one| one.fast_path != FastPath::No && one.program == program);
        let mut one = own.next().cloned().unwrap_or_else(|| Transaction::new(program));
        one.program = program;
        // Its region is its own.
        (one.wait_for_input, one.process_limit, one.conversation) = (true, u16::MAX, false);
        one
    }
}
