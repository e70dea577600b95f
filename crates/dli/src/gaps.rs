//! Gaps between roots, and between index entries (H5): what is not there may be what another
//! program has deleted and will put back.
//!
//! A program that deletes a root locks the root behind it too, to the sync point; behind the last
//! one it locks a name that stands for the end. A program that comes to a root over a gap locks
//! that root anyway; if it had to wait, it looks at the gap again. One that ends its search at a
//! gap waits in the same way.
//!
//! Of index entries the gaps are locked where entries are changed ([`hierarchy::entry`]); readers
//! pass them here, one by one.
//!
//! Invariants:
//! 1. The name of the end is the empty key: no root has it.

use hierarchy::entry::gap;
use hierarchy::schema::behind;
use hierarchy::{IndexTree, Result, TypeAt};
use store::{Cursor, LockMode, Position as Place, Read, SetId, Store, Unit};

use crate::pcb::DbPcb;
use crate::search::Reach;
use crate::shape::{Chain, Node, Shape};

/// The key that stands for the end of a set.
const END: &[u8] = &[];

impl<S: Store> DbPcb<S> {
    /// Before a root is deleted: locks the gap that it leaves.
    pub(crate) fn lock_gap_behind(
        &mut self,
        reach: &mut Reach<'_, S>,
        shape: &Shape,
    ) -> Result<()> {
        let deletes_root = self.holding && self.held.first().is_some_and(|held| held.level == 1);
        if !reach.locks.are_shared() || !deletes_root || !shape.is_plain {
            return Ok(());
        }
        let database = &shape.databases[0];
        let (set, root) = database.locate(self.position.down_to(1))?;
        let cursor = self.cursors.get(reach.store, set)?;
        let mut next = Vec::new();
        match behind(root, &mut next) {
            true => cursor.seek(Place::Before(&next)),
            false => cursor.seek(Place::Back),
        }
        let key = reach.unit.next(cursor, Read::Unlocked)?.map_or(END, |entry| entry.key);
        let len = database.schema.tree_part_len(TypeAt::ROOT, key).unwrap_or(key.len());
        reach.locks.change(reach.unit, (set, &key[..len]))
    }

    /// Waits until a gap is what it looks like: nobody is deleting what was in it. Answers whether
    /// it had to wait.
    pub(crate) fn pass_gap(
        reach: &mut Reach<'_, S>,
        set: SetId,
        key: Option<&[u8]>,
        mode: Option<LockMode>,
    ) -> Result<bool> {
        match mode {
            Some(mode) => reach.locks.pass(reach.unit, (set, key.unwrap_or(END)), mode),
            None => Ok(false),
        }
    }

    /// The index whose gaps a walk has to pass: that of its entries, where others change it.
    pub(crate) fn gap_index<'s>(
        &self,
        reach: &Reach<'_, S>,
        shape: &'s Shape,
        node: &Node,
    ) -> Option<&'s IndexTree> {
        match node.chain {
            Chain::Index(at) if reach.locks.are_shared() && self.lock_mode().is_some() => {
                shape.database(node).indexes.get(at)
            }
            _ => None,
        }
    }

    /// Waits until the gap in front of an entry, or at the end, is what it looks like. Answers
    /// whether it had to wait.
    pub(crate) fn pass_entry_gap(
        reach: &mut Reach<'_, S>,
        tree: &IndexTree,
        next: Option<&[u8]>,
        name: &mut Vec<u8>,
    ) -> Result<bool> {
        gap(next, name);
        reach.locks.pass(reach.unit, (tree.set, name), LockMode::Shared)
    }
}
