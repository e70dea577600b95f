//! What a client and the server say to each other, and when: events in, actions out.
//!
//! | state | waits for | leaves it by |
//! |---|---|---|
//! | idle | a request | any request |
//! | submitting | what the transaction manager says at once | submitted, refused |
//! | working | the output of mode 1, or the end | output, end, timer |
//! | queued | the output of mode 0 on the tpipe | arrival, timer |
//! | accepting | that a send-only input is durable | acceptance, timer |
//! | confirming | the client's answer to an output of mode 1 | ACK, NAK, D, timer |
//! | deciding | how the program's work ended | end, the next output of mode 1 |
//! | acknowledging | the client's answer to a queued output | ACK, NAK, timer |
//! | resuming | an output on a tpipe | arrival, timer |
//! | notifying | the timer, of which the client is told | timer |
//! | closed | nothing | - |
//!
//! Invariants:
//! 1. An output that was taken is settled once: by the client's answer, or kept when the client
//!    goes, waits no more or is too slow.
//! 2. An input of mode 1 whose client goes before the end is abandoned; where it has said ACK or
//!    NAK already, that word stands. One of mode 0 is abandoned before its output has come: it goes
//!    on, and what becomes of the output is as the client has asked for that.
//! 3. After `Close` comes nothing that is sent to the client.
//! 4. The client is told that an acknowledgement was taken only when that is durable.

mod asked;
mod resume;
mod state;

pub use asked::{Asked, Limits};
pub use resume::Resume;
pub use state::Conversation;
pub(crate) use state::status;

use std::time::Duration;

use otma::{Answer, Encoding, Input, Name, Output, OutputId, Refusal, Settlement, Ticket};

use crate::wire::{Response, Rsm};

/// What happens.
#[derive(Clone, Debug)]
pub enum Event {
    /// A request that was let in, with the input to be made of it if it has data.
    Request(Box<Asked>, Option<Box<Input>>),
    /// A request that was not, and why: the connection ends.
    Denied(Rsm),
    /// Somebody asks if anybody is there.
    Ping(Box<Asked>),
    /// The input was taken.
    Submitted(Ticket),
    /// The input was refused.
    Refused(Refusal),
    /// The transaction manager says something of an input.
    Notified(Ticket, otma::Event),
    /// There is an output on a tpipe.
    Arrived(Name),
    /// What was on the tpipe.
    Took(Result<Option<Output>, Refusal>),
    /// What was said of an output is durable, or failed.
    Settled(Result<(), Refusal>),
    /// Whether the other connection of this client was there to be told.
    Cancelled(bool),
    /// The time that was set has passed.
    Timer,
    /// Another connection of this client ends the wait.
    Cancel,
    /// Another connection takes this client's place.
    Superseded,
    /// The server goes down; what has begun may end.
    Shutdown,
    /// The server goes down now.
    ShutdownNow,
    /// The client has gone.
    Gone,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Give the input to the transaction manager; `Submitted` or `Refused` follows.
    Submit(Box<Input>),
    /// Tell the client's answer to an output of mode 1.
    Answer(Ticket, Answer),
    /// The client waits no more for that input.
    Abandon(Ticket),
    /// Be told of outputs on a tpipe.
    Watch(Name),
    /// Take an output from a tpipe, of that input if one is named; `Took` follows.
    Take(Name, Option<Ticket>),
    /// Say what became of an output; `Settled` follows.
    Settle(Name, OutputId, Settlement),
    /// Send that; the data is in that code page.
    Reply(Box<Response>, Encoding),
    /// Let `Timer` come after that time; it replaces an earlier one.
    SetTimer(Duration),
    /// Let no timer come.
    StopTimer,
    /// End the wait of this client's other connection; `Cancelled` follows.
    CancelOther(Name),
    /// End the connection when everything is sent.
    Close,
}

#[cfg(test)]
mod tests;
