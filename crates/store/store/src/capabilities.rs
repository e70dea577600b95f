//! What an implementation of the store offers, and its limits.

use std::time::Duration;

/// What a store states about itself. A layer above the trait asks here instead of knowing
/// implementations; the conformance suite holds a store to what it states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What to call it in messages: `kernel`, `model`, `postgresql`.
    pub name: &'static str,
    /// Bytes of the longest key.
    pub key_bytes_max: usize,
    /// Bytes of the longest value.
    pub value_bytes_max: usize,
    /// Bytes of the longest name to be locked.
    pub lock_name_bytes_max: usize,
    /// Bytes that one unit of work may change.
    pub unit_bytes_max: Option<u64>,
    /// Changes that one unit of work may make.
    pub unit_writes_max: Option<u64>,
    /// How old a unit of work may become.
    pub unit_age_max: Option<Duration>,
    /// Savepoints that one unit of work may set.
    pub savepoints_max: u32,
    /// What a commit acknowledges survives a restart of the store.
    pub durable: bool,
    /// The order of commits agrees with real time: what was acknowledged is seen by every unit of
    /// work that begins later.
    pub strict: bool,
    /// A conflict makes a unit of work wait. Otherwise it fails, at once or at its commit, with
    /// [`StoreError::Conflict`](crate::StoreError::Conflict).
    pub waits: bool,
    /// Sets whose locking is the caller's ([`Locking::Caller`](crate::Locking)) can be created.
    pub caller_locking: bool,
    /// [`Read::Unlocked`](crate::Read::Unlocked) may return what is not committed yet.
    pub reads_uncommitted: bool,
    /// A queued commit gives its locks back before it is durable.
    pub early_release: bool,
    /// Queued commits are settled in the order in which they were queued, and
    /// [`Committed::order`](crate::Committed) is given.
    pub commit_order: bool,
    /// [`Unit::delete_range`](crate::Unit::delete_range) drops whole parts of the structure.
    /// Otherwise it costs as much as deleting entry by entry.
    pub cheap_range_delete: bool,
}
