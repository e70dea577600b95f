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

use std::ops::RangeInclusive;

use hierarchy::Database;
use store::Store;

use crate::pcb::DbPcb;
use crate::plan::Plan;
use crate::search::Start;
use crate::shape::{Chain, Shape};
use crate::subject;

/// Partitions one behind the other, by their numbers.
pub(crate) type Span = RangeInclusive<u16>;

impl Shape {
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
        let is_own = self.shape.databases.first().is_some_and(|one| one.name() == database.name());
        !is_own || self.shape.walked().contains(&database.schema.split(front).0)
    }

    /// Whether a search would begin at a root that the PCB may not use.
    pub(crate) fn begins_outside(&mut self, shape: &Shape, plan: &Plan<'_, '_>) -> bool {
        if shape.span.is_none() || plan.base > 0 || !self.trail.limits[0].has_lower {
            return false;
        }
        match self.begin(shape, plan, 1) {
            Start::At(_) => !shape.admits(&self.start),
            Start::First | Start::Nowhere => false,
        }
    }
}
