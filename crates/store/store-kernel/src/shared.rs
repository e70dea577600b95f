//! What the units of work of a store share.
//!
//! Invariants:
//! 1. It lasts as long as the store, or any unit of work of it.

use std::sync::Arc;

use store::Capabilities;
use uow::Kernel;

use crate::{commit, owners, sets};

pub(crate) struct Shared {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) capabilities: Capabilities,
    pub(crate) sets: sets::Sets,
    pub(crate) sinks: commit::Sinks,
    pub(crate) owners: owners::Owners,
}
