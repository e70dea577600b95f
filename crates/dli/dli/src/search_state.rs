//! The state of a PCB's searches: the path that is being tried, cursors, and buffers.
//!
//! Invariants:
//! 1. Nothing of it outlasts a call but cursors, which hold no pin (H10), and room.

use store::{Entry, Store};

use crate::cursors::Cursors;
use crate::search_stack::SearchStack;

/// An entry that leads to an occurrence, as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundEntry {
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

impl FoundEntry {
    pub(crate) fn keep(&mut self, entry: Entry<'_>) {
        self.key.clear();
        self.key.extend_from_slice(entry.key);
        self.value.clear();
        self.value.extend_from_slice(entry.value);
    }
}

/// What the searches of a PCB work in.
pub(crate) struct SearchState<S: Store> {
    pub(crate) stack: SearchStack,
    pub(crate) cursors: Cursors<S>,
    /// The level whose data a search keeps in any case.
    pub(crate) wanted_level: usize,
    /// Whether a search met a held occurrence that is no longer there.
    pub(crate) lost: bool,
    /// Whether a search was held to a present occurrence.
    pub(crate) was_held: bool,
    /// The part of the occurrence that the point is within, if the walk of a level began there.
    pub(crate) within: Option<Vec<u8>>,
    /// The key of the cut where the walk of a level begins.
    pub(crate) start: Vec<u8>,
    // Buffers.
    pub(crate) seek: Vec<u8>,
    pub(crate) prefix: Vec<u8>,
    pub(crate) entry: FoundEntry,
    pub(crate) value: Vec<u8>,
    pub(crate) expanded: Vec<u8>,
}

impl<S: Store> SearchState<S> {
    /// For a view of so many levels.
    pub(crate) fn new(depth: usize) -> SearchState<S> {
        let mut stack = SearchStack::default();
        stack.reserve(depth);
        SearchState {
            stack,
            cursors: Cursors::new(),
            wanted_level: 0,
            lost: false,
            was_held: false,
            within: None,
            start: Vec::new(),
            seek: Vec::new(),
            prefix: Vec::new(),
            entry: FoundEntry::default(),
            value: Vec::new(),
            expanded: Vec::new(),
        }
    }
}
