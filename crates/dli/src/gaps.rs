//! Gaps between roots (H5): what is not there may be what another program has deleted and will
//! put back.
//!
//! A program that deletes a root locks the root behind it too, to the sync point; behind the last
//! one it locks a name that stands for the end. A program that comes to a root over a gap locks
//! that root anyway; if it had to wait, it looks at the gap again. One that ends its search at a
//! gap waits in the same way.
//!
//! Invariants:
//! 1. The name of the end is the empty key: no root has it.

use hierarchy::schema::behind;
use hierarchy::{Result, TypeAt};
use store::{Cursor, LockMode, Position as Place, Read, SetId, Store, Unit};

use crate::pcb::DbPcb;
use crate::search::Reach;

/// The key that stands for the end of a set.
const END: &[u8] = &[];

impl<S: Store> DbPcb<S> {
    /// Before a root is deleted: locks the gap that it leaves.
    pub(crate) fn lock_gap_behind(&mut self, reach: &mut Reach<'_, S>) -> Result<()> {
        let deletes_root = self.holding && self.held.first().is_some_and(|held| held.level == 1);
        let shape = std::sync::Arc::clone(&self.shape);
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
}
