//! What a restart has found and done.
//!
//! Invariants:
//! 1. There is one for each time that a system was opened, from the end of its restart on.

use base::{Lsn, UowId};
use wal::Opened;

/// What restart found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestartReport {
    /// Whether the system had been stopped in order.
    pub orderly: bool,
    /// The redo point.
    pub redo_from: Lsn,
    /// Where the log ended.
    pub log_end: Lsn,
    /// Log records read from the redo point on.
    pub records: u64,
    /// Changes repeated.
    pub redone: u64,
    /// How long reading the log and repeating changes took.
    pub redo_us: u64,
    /// Units of work backed out.
    pub backed_out: Vec<UowId>,
    /// Intervals put back from the double-write area.
    pub repaired: u64,
    /// How long it took.
    pub elapsed_us: u64,
    /// What opening the log did.
    pub log: Opened,
}
