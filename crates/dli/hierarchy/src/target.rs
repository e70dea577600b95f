//! What a change works with, and where it goes.

use store::Store;

use crate::schema::{Levels, TypeAt};

/// A store, and the unit of work in it that a change belongs to.
pub struct Target<'t, S: Store> {
    /// The store.
    pub store: &'t S,
    /// The unit of work.
    pub unit: &'t mut S::Unit,
}

/// The path of a segment, and what stands where in it.
#[derive(Clone, Copy, Debug)]
pub struct SegmentPath<'p> {
    /// The path.
    pub path: &'p [u8],
    /// What stands where in it.
    pub levels: &'p Levels,
}

impl SegmentPath<'_> {
    /// The type of the segment.
    #[must_use]
    pub fn of(&self) -> TypeAt {
        self.levels.type_at(self.levels.len())
    }
}

/// The data of a segment before and after it is replaced.
#[derive(Clone, Copy, Debug)]
pub struct DataChange<'d> {
    /// Before.
    pub old: &'d [u8],
    /// Afterwards.
    pub new: &'d [u8],
}
