//! The IMS bridge: messages on queues of the queue manager become inputs of transactions, and what
//! answers them goes to their reply-to queues.
//!
//! ```text
//!  bridge queue --- one commit ---> input of a transaction
//!                                        |  program, databases: one commit
//!  reply-to queue <-- one commit --- output on the queue's tpipe
//! ```
//!
//! Both managers keep what they have in one store, so each arrow is one unit of work: a message is
//! got and its input is queued together or not at all, and so are an output and its reply. Whenever
//! the system ends, each message is processed once and answered as often as its program did.
//!
//! | to understand | look at |
//! |---|---|
//! | which queues are served, by whom | [`Bridge`] |
//! | the header in front of a message | [`iih`] |
//! | what a message asks for, and what is wrong with it | [`request`], [`feedback`] |
//! | what makes a bridge queue; what its threads share | `common` |
//! | messages become inputs | `intake` |
//! | outputs become replies | `outbound` |
//! | what an answer has to know of its question | `origin` |
//!
//! Invariants:
//! 1. A message leaves its queue in the unit of work in which its input is queued, or in which it
//!    becomes a dead letter with the reason why it cannot be one.
//! 2. An output leaves its tpipe in the unit of work in which its reply is put, or in which the
//!    reply becomes a dead letter.
//! 3. What the transaction manager cannot take now stays where it is, and nothing behind it on its
//!    queue is taken before it.
//! 4. A reply is put by the right of the user who asked; nothing here gives anybody more.

mod bridge;
mod common;
pub mod feedback;
pub mod iih;
mod intake;
mod origin;
mod outbound;
mod pause;
pub mod request;

pub use bridge::Bridge;
pub use common::Options;
