//! The contract between a door to the network and the transaction manager, after OTMA: what comes
//! in, what goes out, and who owes whom an answer.
//!
//! A door makes an [`Input`] of what a client sends and [`submits`](Manager::submit) it together
//! with a [`Partner`], which hears of everything that becomes of it. Two commit modes differ in who
//! waits for whom:
//!
//! | mode | input | output | commit |
//! |---|---|---|---|
//! | [`CommitThenSend`](CommitMode::CommitThenSend) (0) | durable once it is accepted | queued on its tpipe in the program's unit of work | before the output is sent; the output stays on its tpipe until it is acknowledged |
//! | [`SendThenCommit`](CommitMode::SendThenCommit) (1) | in memory: it ends with its client or with the system | sent by the program's sync point, never queued | with sync level none it comes first and the output is released when it is durable; with confirm the output is sent first and the answer decides |
//!
//! Invariants:
//! 1. A partner hears nothing of an input before `submit` has begun, and nothing after
//!    [`Event::Ended`].
//! 2. What a partner is told of as committed is durable.
//! 3. An output that is taken from a tpipe belongs to who took it until it is settled; an output
//!    that is not settled when its taker has gone is at the head of the tpipe again.
//! 4. No call here waits for a program, for a client or for a log write: a call may read from disk.
//!
//! | question | where |
//! |---|---|
//! | what does a door call? | [`Manager`] |
//! | what is it told? | [`Partner`], [`Event`] |
//! | how do messages look? | [`Segments`] |
//! | what can be refused, and with which sense code? | [`Refusal`] |

mod manager;
mod message;
mod name;
mod refusal;
mod segments;

pub use manager::{Answer, Event, Manager, Outcome, Partner, Settlement, Ticket};
pub use message::{
    CommitMode, Correlator, Encoding, Identity, Input, InputOptions, Output, OutputId, SyncLevel,
};
pub use name::Name;
pub use refusal::{Reason, Refusal};
pub use segments::{SEGMENT_BYTES_MAX, SEGMENT_HEAD, SegmentError, Segments};
