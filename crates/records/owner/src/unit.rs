//! Requests of a connection besides those for files: units of work of the program.
//!
//! Invariants:
//! 1. None of these numbers begins a request of [`file_handler::wire`].

/// Begins a unit of work.
pub const BEGIN: u8 = 10;
/// Commits it; the answer comes when that is durable.
pub const COMMIT: u8 = 11;
/// Backs it out.
pub const BACKOUT: u8 = 12;
