//! The join of a logical child with its destination parent, and how both are stored.

use hierarchy::{Database, Levels, Result, Stored};
use store::{Read, Store, Unit};

use crate::context::CallContext;
use crate::search_stack::Carried;
use crate::view::{Chain, Node};

/// Locks and reads the destination parent of an occurrence, if its node has one (H8).
pub(crate) fn join<S: Store>(
    context: &mut CallContext<'_, S>,
    node: &Node,
    stored: &Stored<'_>,
    carried: &mut Carried,
    data: &mut Vec<u8>,
) -> Result<()> {
    let view = context.view;
    data.clear();
    carried.joined.clear();
    let Some(joined) = node.destination else { return Ok(()) };
    let child = view.database(node);
    match node.chain {
        // On the logical path the destination is the physical parent.
        Chain::Relation { .. } => {
            let levels = child.parse(&carried.path)?;
            let end = levels.end(levels.len().saturating_sub(1));
            let (carried, from) = (&mut carried.joined, &carried.path[..end]);
            carried.extend_from_slice(from);
        }
        _ => carried.joined.extend_from_slice(stored.logical_parent),
    }
    let database = &view.databases[joined.database];
    if let Some(mode) = view.lock_mode().filter(|_| context.locks.are_shared()) {
        let (set, key) = database.locate(&carried.joined)?;
        let levels = database.parse(&carried.joined)?;
        let root = levels.end(1) - (carried.joined.len() - key.len());
        context.locks.join(context.unit, set, &key[..root], mode)?;
    }
    read(context.unit, database, &carried.joined, data).map(drop)
}

/// Reads and expands a segment, behind what `data` holds; `false` if it is not there.
pub(crate) fn read<U: Unit>(
    unit: &mut U,
    database: &Database,
    path: &[u8],
    data: &mut Vec<u8>,
) -> Result<bool> {
    let (set, key) = database.locate(path)?;
    let levels: Levels = database.parse(path)?;
    let kind = database.schema.of(levels.type_at(levels.len()));
    let mut value = Vec::new();
    if !unit.get(set, key, Read::Unlocked, &mut value)? {
        return Ok(false);
    }
    let stored = Stored::read(kind, &value).map_err(|what| database.damaged(what))?;
    let mut scratch = Vec::new();
    let bytes = stored.data(&mut scratch).map_err(|what| database.damaged(what))?;
    data.extend_from_slice(bytes);
    Ok(true)
}

/// A logical child as it is seen on the logical path: the concatenated key of its physical parent
/// stands in place of the logical one's (DLI-12.71).
pub(crate) fn turn<'d>(
    database: &Database,
    node: &Node,
    path: &[u8],
    data: &'d [u8],
    buffer: &'d mut Vec<u8>,
) -> Result<&'d [u8]> {
    if !matches!(node.chain, Chain::Relation { .. }) {
        return Ok(data);
    }
    let Some(relation) = database.relation_of(node.of) else { return Ok(data) };
    database.turn(relation, path, data, buffer)?;
    Ok(buffer)
}

/// The concatenated key of the physical parent.
pub(crate) fn concatenate_above(database: &Database, path: &[u8], to: &mut Vec<u8>) -> Result<()> {
    let mut up = database.parse(path)?;
    up.truncate(up.len().saturating_sub(1));
    database.concatenate(&path[..up.end(up.len())], &up, to);
    Ok(())
}

/// Whether a stored segment was deleted on the path on which a node is reached (DLI-12.74).
pub(crate) fn is_gone(node: &Node, stored: &Stored<'_>) -> bool {
    match node.chain {
        Chain::Relation { .. } => stored.is_deleted_logically,
        _ => stored.is_deleted,
    }
}
