//! Deletion with the delete rules of logical relationships (DLI-12.74).
//!
//! An occurrence may be gone on its physical path, on its logical path, or on both.
//!
//! Invariants:
//! 1. What must not be deleted is found before anything is: DX leaves everything.

use definitions::DeleteRule;

use crate::bytes::Status;
use crate::forest::{Id, Type};
use crate::lens::Node;
use crate::model::Model;
use crate::types::{is_child, is_virtual, pair, segment_of};

/// Deletes the segment of a node and what is beneath it; of a concatenated segment the logical
/// child only, of an index used as a database the entry only.
pub(crate) fn delete(model: &mut Model, pcb: usize, node: &Node) -> Result<(), Status> {
    if let (Some(_), Some(entry)) = (&model.pcbs[pcb].view.entries, node.entry) {
        let entry = &mut model.forest.entries[entry];
        (entry.gone, entry.deleted) = (true, true);
        return Ok(());
    }
    let home = Type::of(&model.pcbs[pcb].view.segments[node.seg].home);
    match is_virtual(&model.dbds, home) {
        true => delete_logically(model, node.id),
        false => delete_physically(model, node.id),
    }
}

fn rule(model: &Model, id: Id) -> DeleteRule {
    let segment = segment_of(&model.dbds, model.forest.get(id).kind);
    segment.map_or(DeleteRule::Logical, |segment| segment.rules.delete)
}

/// Whether a child can also be met on a logical path.
fn has_logical_path(model: &Model, id: Id) -> bool {
    let one = model.forest.get(id);
    one.logical_parent.is_some() && pair(&model.dbds, one.kind).is_some()
}

/// The logical children of a parent that can still be met.
fn children_of(model: &Model, parent: Id) -> Vec<Id> {
    let all = 0..model.forest.len();
    all.filter(|id| {
        let one = model.forest.get(*id);
        let met = !one.gone || (has_logical_path(model, *id) && !one.gone_logically);
        one.logical_parent == Some(parent) && met
    })
    .collect()
}

/// Over the logical path.
///
/// decision: under P the logical path comes first, so that it is free.
fn delete_logically(model: &mut Model, id: Id) -> Result<(), Status> {
    model.forest.get_mut(id).gone_logically = true;
    if rule(model, id) == DeleteRule::Virtual && !model.forest.get(id).gone {
        return delete_physically(model, id);
    }
    after_child(model, id)
}

/// Over the physical path, with all that is beneath.
fn delete_physically(model: &mut Model, id: Id) -> Result<(), Status> {
    let doomed = model.forest.subtree(id);
    for one in &doomed {
        let occurrence = model.forest.get(*one);
        let rule = rule(model, *one);
        let child = is_child(&model.dbds, occurrence.kind) && has_logical_path(model, *one);
        if child && rule == DeleteRule::Physical && !occurrence.gone_logically {
            return Err(b"DX");
        }
        let mut others = children_of(model, *one).into_iter();
        if rule == DeleteRule::Physical && others.any(|other| !doomed.contains(&other)) {
            return Err(b"DX");
        }
    }
    for one in &doomed {
        model.forest.get_mut(*one).gone = true;
        if is_child(&model.dbds, model.forest.get(*one).kind) {
            let stays = has_logical_path(model, *one) && rule(model, *one) != DeleteRule::Virtual;
            model.forest.get_mut(*one).gone_logically |= !stays;
        }
    }
    let orphans: Vec<Id> = doomed.iter().flat_map(|one| orphan(model, *one)).collect();
    doomed.iter().chain(&orphans).try_for_each(|one| after_child(model, *one))
}

/// Deletes the children of a logical parent on their logical path: that is gone with it.
fn orphan(model: &mut Model, parent: Id) -> Vec<Id> {
    let mut children = children_of(model, parent);
    children.retain(|id| has_logical_path(model, *id) && !model.forest.get(*id).gone_logically);
    for id in &children {
        model.forest.get_mut(*id).gone_logically = true;
    }
    children
}

/// V: a logical parent also goes by itself with its last child; B: a physical parent likewise,
/// when its last child went on the logical path.
///
/// decision: what cannot go by itself, because a rule beneath it forbids, stays.
fn after_child(model: &mut Model, id: Id) -> Result<(), Status> {
    let one = model.forest.get(id).clone();
    if !is_child(&model.dbds, one.kind) {
        return Ok(());
    }
    if let Some(parent) = one.logical_parent
        && rule(model, parent) == DeleteRule::Virtual
        && !model.forest.get(parent).gone
        && children_of(model, parent).is_empty()
    {
        attempt(model, parent);
    }
    if let Some(parent) = one.parent
        && rule(model, parent) == DeleteRule::Bidirectional
        && !model.forest.get(parent).gone
    {
        let mut twins = model.forest.chain(one.kind, Some(parent)).iter();
        if twins.all(|twin| model.forest.get(*twin).gone_logically) {
            attempt(model, parent);
        }
    }
    Ok(())
}

fn attempt(model: &mut Model, id: Id) {
    let before = model.forest.clone();
    if delete_physically(model, id).is_err() {
        model.forest = before;
    }
}
