//! The calls of a door, and what a door is told.

use std::sync::Arc;

use crate::message::{Identity, Input, Output, OutputId};
use crate::name::Name;
use crate::refusal::Refusal;

/// An input that was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A client's word on an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It has it.
    Ack,
    /// It does not want it, and why, as it says.
    Nak {
        /// The client's reason code; 0 if it gave none.
        reason: u16,
        /// A queued output stays on its tpipe; otherwise it is discarded.
        retain: bool,
    },
}

/// What becomes of an output that was taken from a tpipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// It was delivered: it leaves the tpipe.
    Delivered,
    /// It goes back to the head of the tpipe.
    Kept,
    /// The client refused it: it leaves the tpipe for the dead-letter queue.
    Refused,
    /// It could not be delivered: it goes to the tpipe that its input names for that, or back to
    /// the head of its own if that names none.
    Rerouted,
}

/// How an input ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program's unit of work is committed, durably.
    Committed,
    /// It was backed out, and why.
    BackedOut(Refusal),
    /// A command was carried out; its answer was the output.
    Answered,
}

/// What a partner is told of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It is queued; in mode 0 it is durable from now on.
    Accepted,
    /// An output of mode 1, or the answer to a command. If it wants an answer, the program's sync
    /// point waits for [`Manager::answer`].
    Output(Output),
    /// Nothing more will come.
    Ended(Outcome),
}

/// Who hears of an input, or watches a tpipe. It is called by threads that have other things to do:
/// it notes what it is told, wakes the thread that sends it, and returns.
pub trait Partner: Send + Sync {
    /// Something became of the input with that ticket.
    fn event(&self, ticket: Ticket, event: Event);

    /// There is an output on a tpipe that it watches.
    fn arrived(&self, tpipe: Name) {
        let _ = tpipe;
    }
}

/// The transaction manager as doors see it.
pub trait Manager: Send + Sync {
    /// Whether a data store of that name is here, and takes messages.
    ///
    /// # Errors
    /// If it is unknown, stopped or shutting down.
    fn data_store(&self, name: Name) -> Result<(), Refusal>;

    /// Checks a user. It hashes a password: not for a thread that serves others.
    ///
    /// # Errors
    /// If the user is unknown or the password is wrong; both say the same.
    fn authenticate(&self, user: Name, group: Name, password: &[u8]) -> Result<Identity, Refusal>;

    /// Whether who has proved by a certificate to be that user is let in: while there are no users
    /// anybody is, and then those alone.
    fn knows(&self, user: Name) -> bool;

    /// What changes with a user's password, and with nothing else; `None`: there is no such user.
    fn user_mark(&self, user: Name) -> Option<u64>;

    /// Whether a client who names no user is let in.
    fn allows_anonymous(&self) -> bool;

    /// Takes an input in. The partner is told all else; it may be told before this returns.
    ///
    /// # Errors
    /// If it is refused at once; the partner hears nothing then.
    fn submit(&self, input: Input, partner: Arc<dyn Partner>) -> Result<Ticket, Refusal>;

    /// A client's answer to an output of mode 1. One that comes too late is ignored.
    fn answer(&self, ticket: Ticket, answer: Answer);

    /// The client has gone, or waits no more: an input of mode 1 that no program has begun is
    /// dropped, and one that waits for an answer is backed out; an answer that was given stands.
    /// Inputs of mode 0 go on.
    fn abandon(&self, ticket: Ticket);

    /// How many outputs wait on a tpipe.
    fn queued(&self, tpipe: Name) -> u64;

    /// Takes the first output of a tpipe that no other has taken.
    ///
    /// # Errors
    /// If the store fails.
    fn take(&self, tpipe: Name) -> Result<Option<Output>, Refusal>;

    /// The same for a client who asks for whatever waits on a tpipe: he is given nothing that is
    /// another user's.
    ///
    /// # Errors
    /// If he may not have it, or the store fails.
    fn fetch(&self, tpipe: Name, who: Identity) -> Result<Option<Output>, Refusal>;

    /// Takes the first output of a tpipe that belongs to an input: what others left there is no
    /// reply to it, and is fetched by a resume. A manager that does not tell them apart gives the
    /// first of all.
    ///
    /// # Errors
    /// If the store fails.
    fn take_reply(&self, tpipe: Name, ticket: Ticket) -> Result<Option<Output>, Refusal> {
        let _ = ticket;
        self.take(tpipe)
    }

    /// Says what became of an output that was taken; `done` is called when that is durable.
    ///
    /// # Errors
    /// If that output is not taken.
    fn settle(
        &self,
        tpipe: Name,
        output: OutputId,
        settlement: Settlement,
        done: Box<dyn FnOnce(Result<(), Refusal>) + Send>,
    ) -> Result<(), Refusal>;

    /// Has a partner, who stands for a user, told of outputs that arrive on a tpipe, until it is
    /// dropped or watches no more. There may be several.
    fn watch(&self, tpipe: Name, user: Name, partner: &Arc<dyn Partner>);

    /// A partner watches a tpipe no more.
    fn unwatch(&self, tpipe: Name, partner: &Arc<dyn Partner>);

    /// Whether a terminal is in a conversation, so that no other client is given its name.
    fn is_in_conversation(&self, _terminal: Name) -> bool {
        false
    }

    /// Whether [`submit`](Manager::submit) and [`settle`](Manager::settle) may have to wait for
    /// long just now: they are called then where that holds up no other.
    fn may_wait(&self) -> bool {
        false
    }
}
