//! Which transactions were confirmed, and of which it is not known.

use serde::Serialize;

/// A transaction of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Entry {
    /// The terminal.
    pub terminal: u32,
    /// Its number there.
    pub number: u64,
    /// Which of the mix.
    pub kind: u32,
}

/// What terminals know of what they sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// The system has said that they are done.
    pub confirmed: Vec<Entry>,
    /// They were sent, and it has said nothing, or nothing that counts.
    pub unknown: Vec<Entry>,
}

impl Ledger {
    pub(crate) fn add(&mut self, mut other: Ledger) {
        self.confirmed.append(&mut other.confirmed);
        self.unknown.append(&mut other.unknown);
    }
}
