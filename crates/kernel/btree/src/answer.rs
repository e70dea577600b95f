//! What a change is asked for beside its record, and what it answers.

use crate::tree::{LeafHint, Leaves};

/// What an insert found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The record is there now.
    Yes,
    /// There was one with this key; nothing has changed.
    Duplicate,
}

/// What an insert below a certain key found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertedBelow {
    /// The record is there now, and between it and that key there is no other.
    Yes,
    /// There was one with this key; nothing has changed.
    Duplicate,
    /// Another key follows by now, or the caller's own condition does not hold; nothing has
    /// changed.
    Moved,
}

/// What must be so at the moment of an insert.
pub struct Below<'b> {
    /// The key that follows, as `Tree::look_through` saw it; `None` if no key does.
    pub next: Option<&'b [u8]>,
    /// The leaves that the look went through.
    pub leaves: &'b Leaves,
    /// The caller's own condition. It is asked under the latches of all these leaves and may
    /// neither wait nor use the tree.
    pub holds: &'b dyn Fn() -> bool,
}

/// A leaf in which one value was replaced where it stood, and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Renewed {
    pub(crate) before: LeafHint,
    pub(crate) after: LeafHint,
    pub(crate) slot: usize,
}

/// What became of a replacement.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    /// Whether there was such a record.
    pub was_there: bool,
    /// The leaf, for a cursor that stands in it, unless more than the value changed.
    pub renewed: Option<Renewed>,
}
