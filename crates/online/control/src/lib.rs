//! The transaction manager: who gets which message, and what becomes of it.
//!
//! ```text
//!  doors ---otma::Manager--> Control --Region::next--> a program's process
//!                              |  ^                        |
//!                       queues |  | Messages (GU, ISRT ..) |
//!                              v  |                        v
//!                            store <----- one unit of work --- databases
//! ```
//!
//! | to understand | look at |
//! |---|---|
//! | opening; regions, statistics | [`Control`] |
//! | what doors call | `manager` |
//! | who is scheduled next | `dispatch`, [`Region`]; batch message programs: [`BatchProgram`] |
//! | which inputs are expedited | `expedite` |
//! | what programs call | [`ProgramMessages`], `present_input`, `outputs`, `intake`, `run` |
//! | sync points; what follows them | `sync`, `aftermath`, `commits` |
//! | failures, deadlocks, expiry | `failed_input` |
//! | conversations | `conversation` |
//! | inputs and outputs in units of work of others | `outside` |
//! | operators' commands | `commands`, `operate`, `display` |
//! | users; who may use what | `users`; `profiles` |
//! | who waits at a tpipe; what a client fetches there | `tpipes`; `fetch` |
//! | bytes of queues, for fuzzing | [`exercise`] |
//!
//! Invariants:
//! 1. An input of mode 0 that was accepted is processed exactly once: it leaves its queue in the
//!    unit of work that its outputs and the database's changes are in.
//! 2. An input of mode 1 is processed at most once, and its client is told which.
//! 3. What clients are told of as committed is durable.
//! 4. Everything durable is found again at the start; only a cold start, asked for by a person,
//!    forgets.

mod aftermath;
mod batch;
mod commands;
mod commits;
mod control;
mod conversation;
mod dispatch;
mod display;
mod envelope;
mod error;
mod expedite;
mod failed_input;
mod fetch;
mod fuzz;
mod inner;
mod intake;
mod manager;
mod operate;
mod options;
mod outputs;
mod outside;
mod present_input;
mod profiles;
mod program;
mod region;
mod run;
mod statistics;
mod sync;
mod text;
mod tpipes;
mod users;

pub use batch::{BatchProgram, BatchStart};
pub use commands::Answered;
pub use control::{Control, DeadLetter};
pub use dispatch::RegionId;
pub use error::ControlError;
pub use failed_input::Ending;
pub use fuzz::{examples, exercise};
pub use options::{
    Anonymous, Checkpoint, DatabaseState, DatabaseUse, NoSystem, OnFailure, Options, PoolState,
    System,
};
pub use outputs::AlternatePcb;
pub use outside::{Entering, Leaving};
pub use profiles::Profile;
pub use program::ProgramMessages;
pub use region::{Region, Scheduled};
pub use statistics::{Statistics, TRANSIT_US};
