//! Programs in a system: job steps, message regions, and the terms on which they run.
//!
//! ```text
//!   job                a job step: program, PSB, files
//!   programs           how a program is made ready, and how one reaches a started system
//!   scheduling         how the PSB of a job, or of a transaction, is scheduled
//!   terms              what all programs of a system share
//!   alone              programs of type DLI and DBB, which have a stopped system to themselves
//!   batch_regions      the door of a started system for programs of type BMP
//!   message_regions    threads that take scheduled programs from the transaction manager
//!   online             the transaction manager and its message regions, at work
//!   leftovers          what killed programs have left
//!   special            names that are no files
//!   ticker             what is done every second
//! ```
//!
//! Invariants:
//! 1. Nothing here prints, reads arguments or ends a process, but for the end in order that an
//!    operator of the transaction manager asks for. What is to be known of programs goes to
//!    [`terms::Notices`], or is answered.

pub mod alone;
pub mod batch_regions;
mod error;
pub mod job;
pub mod leftovers;
mod message_regions;
pub mod online;
pub mod programs;
pub mod scheduling;
pub mod special_files;
pub mod terms;
pub mod ticker;

pub use error::{JobsError, Result};
