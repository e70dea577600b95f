//! Rare branches, which a simulated run takes often enough.
//!
//! Invariants:
//! 1. Without the feature `sim` nothing of it is left in the code.

/// Whether to take a rare branch this time: always `false`, but drawn from the seed in simulation,
/// and counted there. Stands where unlikely circumstances decide (a queue that is full, a batch of
/// one, a wait that ends early), so that a simulated run meets them often enough.
#[inline(always)]
#[must_use]
pub fn rarely(name: &'static str) -> bool {
    #[cfg(feature = "sim")]
    return crate::sim::rarely(name);
    #[cfg(not(feature = "sim"))]
    {
        let _ = name;
        false
    }
}
