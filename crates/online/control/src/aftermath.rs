//! What follows a program's sync point: whom it concerns when it is committed, and when it is not.
//!
//! Invariants:
//! 1. Nothing of it is told, or can be taken, before the unit of work is durable; but the outputs
//!    that a client has to confirm first.

use std::sync::Arc;

use otma::{Event, Name, Outcome, Output, Reason, Refusal, Ticket};
use queues::Kind;
use seam::failpoint::{Failpoint, armed};
use store::Store;

use crate::conversation::Conversation;
use crate::envelope::Envelope;
use crate::inner::{Coming, InHand, Inner};

/// What is owed once a unit of work is durable.
#[derive(Default)]
pub(crate) struct Aftermath {
    /// Messages that it has put.
    pub(crate) coming: Vec<Coming>,
    /// Of those, inputs that answer for another input.
    pub(crate) inherits: Vec<(u64, Ticket)>,
    /// Inputs that it has processed.
    pub(crate) inputs: Vec<InHand>,
    /// Outputs for clients who wait.
    pub(crate) replies: Vec<(Ticket, Output)>,
    /// Outputs for clients who wait and answer before the unit of work is committed.
    pub(crate) confirms: Vec<(Ticket, Envelope)>,
    /// Inputs that have ended with it.
    pub(crate) ends: Vec<Ticket>,
    /// What becomes of conversations.
    pub(crate) conversations: Vec<(Name, Option<Conversation>)>,
}

impl<S: Store> Inner<S> {
    /// The unit of work is durable.
    pub(crate) fn finish(self: &Arc<Inner<S>>, aftermath: Aftermath) {
        let Aftermath { mut coming, inherits, inputs, mut replies, ends, conversations, .. } =
            aftermath;
        if armed(Failpoint::ReplyForgotten) {
            replies.clear();
        }
        if armed(Failpoint::OutputForgotten) {
            coming.retain(|one| one.pending.queue().kind != Kind::Output);
        }
        let mut state = self.state.lock();
        for (terminal, conversation) in conversations {
            match conversation {
                Some(conversation) => drop(state.conversations.insert(terminal, conversation)),
                None => drop(state.conversations.remove(&terminal)),
            }
        }
        for input in &inputs {
            state.forget(input.held.arrival());
            let transaction = input.envelope.transaction;
            if let Some(one) = state.dispatch.transactions.get_mut(&transaction) {
                one.failures = 0;
                let program = one.definition.program;
                if let Some(program) = state.dispatch.programs.get_mut(&program) {
                    program.failures = 0;
                }
            }
        }
        state.inherits.extend(inherits);
        state.statistics.delivered += replies.len() as u64;
        drop(state);
        inputs.into_iter().for_each(|input| self.queues.gone(input.held));
        self.arrived(coming);
        for (ticket, output) in replies {
            self.tell(ticket, Event::Output(output));
        }
        for ticket in ends {
            self.end(ticket, Outcome::Committed);
        }
    }

    /// It is not known to be durable, because the store has stopped or cannot be reached.
    pub(crate) fn lost(self: &Arc<Inner<S>>, aftermath: Aftermath, why: &str) {
        for one in aftermath.coming {
            self.queues.forget(one.pending);
        }
        for ticket in aftermath.ends {
            self.end(ticket, Outcome::BackedOut(Refusal::new(Reason::Store, why)));
        }
        self.give_back(aftermath.inputs.into_iter().map(|input| input.held).collect());
    }
}
