//! Where a log may get groups back from that all its copies have lost.
//!
//! Invariants:
//! 1. A group that is given is sealed again as it was, and only its old tag will do (K3, K8).

use std::fmt;
use std::sync::Arc;

use base::GroupNumber;
use seam::mem::AlignedBuf;

use crate::group::{GroupHead, KeyBook};

/// Where groups may be had that the log has lost.
pub trait GroupSource: Send + Sync {
    /// A durable group: its header, and its payload as it was before it was sealed.
    ///
    /// # Errors
    /// Why it cannot be had.
    fn group(&self, number: GroupNumber) -> Result<(GroupHead, Vec<u8>), String>;
}

/// What a log can get back from elsewhere: nothing, or the groups of a source.
#[derive(Clone, Default)]
pub struct Elsewhere(pub Option<Arc<dyn GroupSource>>);

impl fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "archives" } else { "nothing" })
    }
}

impl Elsewhere {
    /// A group as it was sealed, padding included (1).
    pub(crate) fn sealed(
        &self,
        book: &mut KeyBook,
        number: GroupNumber,
    ) -> Result<AlignedBuf, String> {
        let Some(source) = &self.0 else { return Err("there is no archive".into()) };
        let (head, payload) = source.group(number)?;
        if head.number != number || head.system != book.system() {
            return Err(format!("the archive has {} in its place", head.number));
        }
        book.seal_again(&head, &payload).map_err(|flaw| flaw.to_string())
    }
}
