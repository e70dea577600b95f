//! What a trailer says about each segment type.

use crate::layout::ENTRY;

/// What a trailer says about a segment type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The segments of this type.
    pub segments: u32,
    /// The most of them under one parent; 1 for the root.
    pub max_twins: u32,
    /// The sum of their twin chains, which is all of them.
    pub twins: u32,
    /// The most direct children, of all types together, that one of them has.
    pub max_children: u32,
    /// All their direct children.
    pub children: u32,
}

impl Counts {
    /// From a segment type's entry in header or trailer.
    pub(crate) fn decode(entry: &[u8]) -> Self {
        debug_assert_eq!(entry.len(), ENTRY);
        let word = |at: usize| {
            u32::from_be_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
        };
        Counts {
            max_twins: word(8),
            twins: word(12),
            max_children: word(20),
            children: word(24),
            segments: word(32),
        }
    }
}
