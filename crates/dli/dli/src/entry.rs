//! An index used as a database: its entries as segments (DLI-12.70).
//!
//! The virtual key of an entry is its key in the index's set. Its record is that of its target,
//! which is locked as if the target were read: whoever moves the entry has locked that, too.
//!
//! Invariants:
//! 1. Of an entry a program can change nothing but its user data.
//! 2. A deleted entry leaves its source where it is, which is not found over the index until its
//!    key in the index changes, or the index is built anew.

use hierarchy::{Database, IndexTree, Result};
use store::{Read, Store, Unit};

use crate::context::CallContext;
use crate::hold_state::Held;
use crate::pcb::DbPcb;
use crate::plan::LevelPlan;
use crate::replacement::{Current, Replacement};
use crate::subject::Occurrence;
use crate::view::{Chain, CompiledView};

impl CompiledView {
    /// The index whose entries are the segments of the view, if it is one of entries.
    pub(crate) fn entry_tree(&self) -> Option<&IndexTree> {
        match self.nodes.first()?.chain {
            Chain::Index(at) if self.resolved.entries.is_some() => {
                self.databases[0].indexes.get(at)
            }
            _ => None,
        }
    }
}

/// Writes an entry as a segment; `path` is that of its target.
fn put_image(
    database: &Database,
    tree: &IndexTree,
    key: &[u8],
    value: &[u8],
    path: &[u8],
    to: &mut Vec<u8>,
) -> Result<()> {
    let mut target = Vec::new();
    if tree.index.symbolic {
        database.concatenate(path, &database.parse(path)?, &mut target);
    }
    tree.image(database.schema.placement.collation(), key, value, &target, to);
    Ok(())
}

/// Whether more differs than user data.
pub(crate) fn differs_elsewhere(tree: &IndexTree, old: &[u8], new: &[u8]) -> bool {
    let user_data = tree.index.user_data();
    old.len() != new.len() || old.get(..user_data.start) != new.get(..user_data.start)
}

impl<S: Store> DbPcb<S> {
    /// Tries the plan on an entry, and adds it to the search stack.
    pub(crate) fn arrive_at_entry(
        &mut self,
        view: &CompiledView,
        tree: &IndexTree,
        step: &LevelPlan<'_, '_>,
        part: &[u8],
        value: &[u8],
        path: &[u8],
    ) -> Result<bool> {
        let node = view.node(step.node);
        let stack = &mut self.search.stack;
        stack.carried[0].set(path, &[]);
        stack.joined[0].clear();
        put_image(view.database(node), tree, part, value, path, &mut stack.data[0])?;
        if stack.limits[0].test {
            let (data, joined) = (&stack.data[0], &stack.joined[0]);
            let occurrence = Occurrence { view, node: step.node, data, joined, indexed: None };
            if !occurrence.satisfies(step) {
                return Ok(false);
            }
        }
        stack.push(node, part);
        Ok(true)
    }

    /// The entry that is held as it is now; `None` if it is gone.
    pub(crate) fn current_entry(
        &mut self,
        context: &mut CallContext<'_, S>,
        tree: &IndexTree,
        held: Held,
    ) -> Result<Option<Current>> {
        let view = context.view;
        let database = &view.databases[0];
        let (key, mut value) = (self.position.down_to(held.level), Vec::new());
        if !context.unit.get(tree.set, key, Read::Unlocked, &mut value)? {
            return Ok(None);
        }
        let Some(path) = database.target_of(tree, &value)?.map(<[u8]>::to_vec) else {
            return Ok(None);
        };
        let (levels, mut data) = (database.parse(&path)?, Vec::new());
        put_image(database, tree, key, &value, &path, &mut data)?;
        Ok(Some(Current { path, levels, value, data, turned: None, joined: Vec::new() }))
    }

    /// Replaces the user data of the entry that is held.
    pub(crate) fn replace_entry(
        &mut self,
        context: &mut CallContext<'_, S>,
        tree: &IndexTree,
        change: &Replacement,
    ) -> Result<()> {
        let view = context.view;
        self.lock_for_change(context, &view.databases[0], &change.path)?;
        let user_data = change.new.get(tree.index.user_data()).unwrap_or(&[]);
        let (key, value) = (self.position.down_to(1), &change.value[..]);
        tree.replace_user_data(context.unit, key, value, user_data)
    }

    /// Deletes the entry that is held, and leaves its source where it is.
    pub(crate) fn delete_entry(
        &mut self,
        context: &mut CallContext<'_, S>,
        tree: &IndexTree,
        held: Held,
    ) -> Result<bool> {
        let view = context.view;
        self.lock_for_change(context, &view.databases[0], &self.stored_path(view, held))?;
        let shared = context.locks.are_shared();
        tree.delete(context.target(), self.position.down_to(1), shared)
    }
}
