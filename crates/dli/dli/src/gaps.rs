//! Gaps between roots, and between index entries (H5): what is not there may be what another
//! program has deleted and will put back.
//!
//! A program that deletes a root locks the root behind it too, to the sync point; behind the last
//! one it locks a name that stands for the end. A program that comes to a root over a gap locks
//! that root anyway; if it had to wait, it looks at the gap again. One that ends its search at a
//! gap waits in the same way. So a step over roots costs no lock for their gaps.
//!
//! A root that is added splits a gap, and whoever comes over its front part locks the new root and
//! no more the old one. So the gap has a name of its own besides, that of the root behind it and
//! X'00': who deletes locks it, too, who adds tests it, and waits until what is gone for the time
//! being is gone or back (K14).
//!
//! Of index entries the gaps are locked where entries are changed ([`hierarchy::entry`]); readers
//! pass them here, one by one.
//!
//! Invariants:
//! 1. The name of the end is the empty key, which is that of its gap, too: no root has it.
//! 2. No root's key begins with another one's, so the name of a gap is that of no root.
//! 3. The root behind a gap is looked for again once the gap is locked, and stays the same while
//!    it is.

use hierarchy::entry::{gap, lock_gap};
use hierarchy::schema::behind;
use hierarchy::{Changed, Database, IndexTree, Levels, Result, Schema, SegmentPath, TypeAt};
use store::{Cursor, LockMode, LockName, Position as Place, Read, SetId, Store, Unit};

use crate::context::CallContext;
use crate::pcb::DbPcb;
use crate::view::{Chain, Node};

/// The key that stands for the end of a set.
const END: &[u8] = &[];

/// Writes the key of the root behind a root that is there or not; nothing if there is none.
fn root_behind<S: Store>(
    unit: &mut S::Unit,
    cursor: &mut S::Cursor,
    schema: &Schema,
    root: &[u8],
    next: &mut Vec<u8>,
) -> Result<()> {
    match behind(root, next) {
        true => cursor.seek(Place::Before(next)),
        false => cursor.seek(Place::Back),
    }
    let key = unit.next(cursor, Read::Unlocked)?.map_or(END, |entry| entry.key);
    let len = schema.tree_part_len(TypeAt::ROOT, key).unwrap_or(key.len());
    next.clear();
    next.extend_from_slice(&key[..len]);
    Ok(())
}

/// Writes the name of the gap in front of a root, or of that at the end.
fn name_gap(next: &[u8], name: &mut Vec<u8>) {
    gap(Some(next).filter(|next| *next != END), name);
}

impl<S: Store> DbPcb<S> {
    /// Before a segment is deleted, whichever view or rule it is by: if it is a root, locks the gap
    /// that it leaves.
    pub(crate) fn lock_gap_behind(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        path: &[u8],
    ) -> Result<()> {
        if !context.locks.are_shared() || database.parse(path)?.len() != 1 {
            return Ok(());
        }
        let (set, root) = database.locate(path)?;
        let (mut next, mut now) = (Vec::new(), Vec::new());
        loop {
            // Who adds a root tests the gap, who reads on locks the root behind it.
            let cursor = self.search.cursors.get(context.store, set)?;
            lock_gap(context.unit, set, LockMode::Exclusive, |unit, name| {
                root_behind::<S>(unit, cursor, &database.schema, root, &mut next)?;
                name_gap(&next, name);
                Ok(())
            })?;
            context.locks.change(context.unit, set, &next)?;
            let cursor = self.search.cursors.get(context.store, set)?;
            root_behind::<S>(context.unit, cursor, &database.schema, root, &mut now)?;
            if now == next {
                return Ok(());
            }
        }
    }

    /// Stores a new segment. A root keeps the gap that it goes into as it is until it is there: it
    /// waits for whoever has deleted a root there, who would look at another gap after that.
    pub(crate) fn store_new(
        &mut self,
        context: &mut CallContext<'_, S>,
        database: &Database,
        path: &[u8],
        levels: &Levels,
        data: &[u8],
        logical_parent: &[u8],
    ) -> Result<Changed> {
        let (set, key) = database.locate(path)?;
        let gap = match context.locks.are_shared() && levels.len() == 1 {
            true => {
                let cursor = self.search.cursors.get(context.store, set)?;
                let mut next = Vec::new();
                lock_gap(context.unit, set, LockMode::Shared, |unit, name| {
                    root_behind::<S>(unit, cursor, &database.schema, key, &mut next)?;
                    name_gap(&next, name);
                    Ok(())
                })?
            }
            false => None,
        };
        let target = context.target();
        let at = SegmentPath { path, levels };
        let done = database.insert(target, at, data, logical_parent, &mut self.work)?;
        if let Some(name) = gap {
            context.unit.unlock(LockName { space: set.0, name: &name })?;
        }
        Ok(done)
    }

    /// Waits until a gap is what it looks like: nobody is deleting what was in it. Answers whether
    /// it had to wait.
    pub(crate) fn pass_gap(
        context: &mut CallContext<'_, S>,
        set: SetId,
        key: Option<&[u8]>,
        mode: Option<LockMode>,
    ) -> Result<bool> {
        match mode {
            Some(mode) => context.locks.pass(context.unit, set, key.unwrap_or(END), mode),
            None => Ok(false),
        }
    }

    /// The index whose gaps a walk has to pass: that of its entries, where others change it.
    pub(crate) fn gap_index<'s>(
        &self,
        context: &CallContext<'s, S>,
        node: &Node,
    ) -> Option<&'s IndexTree> {
        let view = context.view;
        match node.chain {
            Chain::Index(at) if context.locks.are_shared() && self.lock_mode().is_some() => {
                view.database(node).indexes.get(at)
            }
            _ => None,
        }
    }

    /// Waits until the gap in front of an entry, or at the end, is what it looks like. Answers
    /// whether it had to wait.
    pub(crate) fn pass_entry_gap(
        context: &mut CallContext<'_, S>,
        tree: &IndexTree,
        next: Option<&[u8]>,
        name: &mut Vec<u8>,
    ) -> Result<bool> {
        gap(next, name);
        context.locks.pass(context.unit, tree.set, name, LockMode::Shared)
    }
}
