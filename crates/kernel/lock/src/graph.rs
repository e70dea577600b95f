//! The memory of the search for deadlocks; the waits themselves stand in the lock table.

/// What the graph latch protects: besides the waits themselves, the memory of the search.
#[derive(Default)]
pub(crate) struct Graph {
    /// By slot: from whom the search came here, and in which search.
    pub(crate) reached: Vec<(u64, u32)>,
    /// Slots to look at, in the order in which they were reached.
    pub(crate) queue: Vec<u32>,
    pub(crate) search: u64,
    pub(crate) cycle: Vec<u32>,
}
