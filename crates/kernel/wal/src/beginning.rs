//! Which beginning of the write-ahead data set something belongs to.
//!
//! Invariants:
//! 1. It is drawn anew whenever the data set begins: at each start, and in use.
//! 2. All its entries have it. The first one stands in every file before anything else does, holds
//!    nothing, and is never written over.
//! 3. The control file has it before the second entry is written. So a file that has no entry of
//!    what the control file names was overwritten, or put back to an older state.

use seam::entropy::Entropy;

/// Bytes of a beginning: what the control file has room for.
pub const BEGINNING_BYTES: usize = 5;

/// Which beginning of the write-ahead data set it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beginning(pub [u8; BEGINNING_BYTES]);

impl Beginning {
    /// One of an earlier release, which drew none: nothing tells its files from others.
    pub const UNNAMED: Beginning = Beginning([0; BEGINNING_BYTES]);

    /// A new one.
    pub(crate) fn draw(entropy: &dyn Entropy) -> std::io::Result<Beginning> {
        let mut drawn = Beginning::UNNAMED;
        while drawn == Beginning::UNNAMED {
            entropy.fill(&mut drawn.0)?;
        }
        Ok(drawn)
    }

    /// Whether an entry of `other` counts where this one is asked for.
    pub(crate) fn takes(self, other: Beginning) -> bool {
        self == Beginning::UNNAMED || self == other
    }
}
