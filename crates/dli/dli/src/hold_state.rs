//! What a get-hold returned, for the REPL or DLET behind it.

/// A segment that a get-hold returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) level: usize,
    pub(crate) node: u16,
}

/// The hold of a PCB.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    /// Whether the last call was a get-hold that found its segment.
    pub(crate) found: bool,
    /// What it returned, the highest level first; nothing of a segment with PROCOPT=K.
    pub(crate) segments: Vec<Held>,
}

impl Hold {
    /// Gives up the hold and what it is of.
    pub(crate) fn release(&mut self) {
        self.found = false;
        self.segments.clear();
    }
}
