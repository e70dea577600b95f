//! The partitions that a PCB is limited to (DLI-12.75 and DLI-12.76).
//!
//! | call | outside of the partitions |
//! |---|---|
//! | a root key with `=`, or where a search would begin at a root key | FM |
//! | a get-next from a point within them, running off their end | GB, or GE where a key limits it |
//! | a get-next for a key in front of the point | GE |
//! | ISRT of a root | FM |
//!
//! Invariants:
//! 1. Over a secondary index the partitions are the index's own: the roots that its entries lead
//!    to, and the entries that a change makes, may be in any partition.
//! 2. A position is never outside: no search leaves the partitions, and none begins elsewhere.

use hierarchy::Database;
use store::Store;

use crate::cursors::Start;
use crate::pcb::DbPcb;
use crate::plan::Plan;
use crate::subject;
use crate::view::{Chain, CompiledView, Span};

impl CompiledView {
    /// Whether the PCB may use a root, of which the part of the virtual key is given.
    pub(crate) fn admits(&self, part: &[u8]) -> bool {
        let Some(span) = &self.span else { return true };
        self.partition_at(part).is_some_and(|number| span.contains(&number))
    }

    /// Whether a root, or where a search for one begins, lies in front of the partitions.
    pub(crate) fn lies_in_front(&self, part: &[u8]) -> bool {
        let Some(span) = &self.span else { return false };
        self.partition_at(part).is_some_and(|number| number < *span.start())
    }

    fn partition_at(&self, part: &[u8]) -> Option<u16> {
        let database = self.databases.first()?;
        match self.nodes.first()?.chain {
            Chain::Index(at) => {
                let tree = &database.indexes[at];
                let key = subject::key_of(tree, database, part);
                tree.placement.as_ref()?.partition_of(&key)
            }
            _ => Some(database.schema.split(part).0),
        }
    }

    /// The partitions of the first database that the PCB walks.
    pub(crate) fn walked(&self) -> Span {
        match (&self.span, self.nodes.first()) {
            (Some(span), Some(node)) if node.chain == Chain::Root => span.clone(),
            _ => 0..=u16::MAX,
        }
    }
}

impl<S: Store> DbPcb<S> {
    /// Whether a root may be inserted, of which partition and anchor are given: one of another
    /// database, as a destination parent, may be anywhere.
    pub(crate) fn may_use_root(&self, database: &Database, front: &[u8]) -> bool {
        let is_own = self.view.databases.first().is_some_and(|one| one.name() == database.name());
        !is_own || self.view.walked().contains(&database.schema.split(front).0)
    }

    /// Whether a search would begin at a root that the PCB may not use.
    pub(crate) fn begins_outside(&mut self, view: &CompiledView, plan: &Plan<'_, '_>) -> bool {
        if view.span.is_none() || plan.base > 0 || !self.search.stack.limits[0].has_lower {
            return false;
        }
        match self.begin(view, plan, 1) {
            Start::At(_) => !view.admits(&self.search.start),
            Start::First | Start::Nowhere => false,
        }
    }
}
