//! What is called back for a connection, and how far that is.

use mqi::wire::Wanted;
use seam::thread::JoinHandle;

/// A program that is called back.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) function: usize,
    pub(crate) area: u64,
    pub(crate) options: i32,
}

/// A consumer of one object's messages.
#[derive(Clone)]
pub(crate) struct Consumer {
    pub(crate) program: Program,
    pub(crate) hobj: i32,
    pub(crate) wanted: Wanted,
    pub(crate) suspended: bool,
    /// Milliseconds since its last message; `None` once it was told that there is none.
    pub(crate) idle_ms: Option<i32>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Stopped,
    Started,
    Suspended,
}

/// What is called back for a connection.
#[derive(Default)]
pub(crate) struct Consumers {
    pub(crate) list: Vec<Consumer>,
    pub(crate) event: Option<Program>,
    pub(crate) phase: Phase,
    /// Whether the consuming thread has seen that it is to rest.
    pub(crate) rests: bool,
    /// Whether START has not returned yet.
    pub(crate) is_starting: bool,
    pub(crate) area: u64,
    pub(crate) thread: Option<JoinHandle>,
}

impl Consumers {
    /// An object is closed: nothing of it is consumed any more.
    pub(crate) fn forget(&mut self, hobj: i32) {
        self.list.retain(|one| one.hobj != hobj);
    }
}
