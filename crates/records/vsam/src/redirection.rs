//! Redirections: clusters whose records, or whose changes, go to somebody else.
//!
//! | owner | the records are | a request | a change |
//! |---|---|---|---|
//! | VSAM | here | is done here | is sent on, too: it is kept with the unit of work until then |
//! | REDIR | at the handler | is done there | is durable there when it is answered; no backout takes it back |
//!
//! A redirection is a part of the cluster's entry in the catalog, which every OPEN reads anyway:
//! whoever is not redirected pays nothing.
//!
//! Invariants:
//! 1. What a handler has depends on key, lengths and record map of the cluster: they stay while it
//!    is redirected.
//! 2. A redirection that is made anew has another source, so that what was sent for the old one is
//!    never taken for its own.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who has the records of a redirected cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordOwner {
    /// VSAM: they are here, and changes are sent on.
    Vsam,
    /// The handler.
    Handler,
}

impl fmt::Display for RecordOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RecordOwner::Vsam => "VSAM",
            RecordOwner::Handler => "REDIR",
        })
    }
}

/// Who sends: 16 bytes that nobody else has drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceId(pub [u8; 16]);

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base::hex::lower(&self.0))
    }
}

impl fmt::Debug for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Where the records, or the changes, of a cluster go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirection {
    /// Who has the records.
    pub owner: RecordOwner,
    /// The handler: its address, of a form that it knows.
    pub to: String,
    /// What the cluster is there, such as a table.
    pub object: String,
    /// The code page of text in records, if it is not ASCII.
    #[serde(default)]
    pub page: Option<String>,
    /// Who sends.
    pub source: SourceId,
}
