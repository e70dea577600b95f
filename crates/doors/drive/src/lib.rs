//! Terminals that drive a system through its port of IMS Connect, and what they saw.
//!
//! | part | owns |
//! |---|---|
//! | [`Plan`] | who drives what, how fast and how long |
//! | [`Work`] | what a terminal sends, and whether the reply is right |
//! | [`run`] | the terminals: connections, pace, reconnecting |
//! | [`Report`] | rates and response times, for people and programs |
//! | [`Ledger`] | which transactions were confirmed, and of which it is not known |
//!
//! Invariants:
//! 1. A transaction is confirmed if its reply, and where the client acknowledges the word on that,
//!    has come and was right. One that was sent and not confirmed is unknown, never forgotten.
//! 2. At a fixed rate a response time begins when the transaction was due, not when the terminal
//!    came to send it: a system that stalls is charged for all who would have asked meanwhile.

mod ledger;
mod plan;
mod report;
mod run;
mod secure;
mod terminal;

pub use ledger::{Entry, Ledger};
pub use plan::{Ask, Flow, Kind, Pace, Plan, Random, Tls, Work};
pub use report::{Report, Times};
pub use run::{Error, run};
