//! Logical relationships between physical databases: child, parent, pair, virtual source.

use std::sync::Arc;

use super::databases::{need_dbd, need_segment};
use super::set::Definitions;
use crate::codes;
use crate::finding::{Findings, Spot, nth};
use crate::model::{Dbd, LchildPointer, LogicalChild, Organization, Segment};

pub(super) fn check(dbd: &Arc<Dbd>, all: &dyn Definitions, found: &mut Findings) {
    if dbd.organization == Organization::Logical || dbd.organization.is_index() {
        return;
    }
    for (at, segment) in dbd.segments.iter().enumerate() {
        child(dbd, segment, Spot::Segment(nth(at)), all, found);
        if segment.is_virtual() {
            virtual_child(dbd, segment, Spot::Segment(nth(at)), all, found);
        }
        for (n, lchild) in segment.children.iter().enumerate() {
            let is_index = lchild.indexed.is_some() || lchild.pointer == Some(LchildPointer::Indx);
            if !is_index {
                parent(dbd, at, lchild, Spot::Child(nth(at), nth(n)), all, found);
            }
        }
    }
}

/// A logical child: its parent must be there and name it.
fn child(dbd: &Dbd, segment: &Segment, spot: Spot, all: &dyn Definitions, found: &mut Findings) {
    let Some(logical) = &segment.logical_parent else { return };
    let at = (spot, "PARENT");
    let Some(of) = need_dbd(logical.dbd, at, all, found) else { return };
    let Some(parent) = need_segment(&of, logical.segment, at, found) else { return };
    let named = |back: &LogicalChild| (back.segment, back.dbd) == (segment.name, dbd.name);
    if !parent.children.iter().any(named) {
        let message = format!(
            "the logical parent {} in {} has no LCHILD NAME=({},{})",
            parent.name, of.name, segment.name, dbd.name
        );
        found.error(codes::LOGICAL_PARENT, at, message);
    }
    // DLI-12.71: in the area the child begins with its destination's concatenated key.
    let key = of.position(parent.name).map_or(0, |at| of.concatenated_key_len(at));
    if u32::from(segment.max) < key {
        let message = format!(
            "{} has {} bytes, and begins with the {key} bytes of its logical parent's key",
            segment.name, segment.max
        );
        found.error(codes::LOGICAL_PARENT, (spot, "BYTES"), message);
    }
}

/// An LCHILD of a logical parent: the child must be there and name it back.
fn parent(
    dbd: &Dbd,
    at: usize,
    lchild: &LogicalChild,
    spot: Spot,
    all: &dyn Definitions,
    found: &mut Findings,
) {
    let segment = &dbd.segments[at];
    let Some(of) = need_dbd(lchild.dbd, (spot, "NAME"), all, found) else { return };
    let Some(child) = need_segment(&of, lchild.segment, (spot, "NAME"), found) else { return };
    let names = child
        .logical_parent
        .as_ref()
        .is_some_and(|logical| (logical.segment, logical.dbd) == (segment.name, dbd.name));
    if !names {
        let message = format!(
            "{} in {} does not have {} in {} as its logical parent",
            child.name, of.name, segment.name, dbd.name
        );
        found.error(codes::LOGICAL_PARENT, (spot, "NAME"), message);
    }
    let Some(pair) = lchild.pair else { return };
    let paired =
        dbd.segments.iter().find(|one| one.name == pair && one.parent.map(usize::from) == Some(at));
    let Some(paired) = paired else {
        let message = format!("PAIR={pair} is no dependent of {} in {}", segment.name, dbd.name);
        found.error(codes::PAIRING, (spot, "PAIR"), message);
        return;
    };
    let fits = match (paired.sources.first(), &paired.logical_parent) {
        (Some(source), _) => (source.segment, source.dbd) == (child.name, of.name),
        // Physical pairing: each logical child has the other's physical parent as its logical one.
        (None, Some(logical)) => {
            let above = child.parent.and_then(|at| of.segments.get(usize::from(at)));
            logical.dbd == of.name && above.map(|above| above.name) == Some(logical.segment)
        }
        (None, None) => false,
    };
    if !fits {
        let message = format!(
            "PAIR={pair} is not paired with {} in {}: neither its SOURCE= nor its logical parent \
             fits",
            child.name, of.name
        );
        found.error(codes::PAIRING, (spot, "PAIR"), message);
    }
    // Of a physical pair one is stored, and what an index says of the other could not be kept.
    let mut indexes = dbd.secondary_indexes();
    let index = indexes.find(|(target, _, _, indexed)| {
        indexed.source.unwrap_or(dbd.segments[*target].name) == pair
    });
    if let (None, Some((.., indexed))) = (paired.sources.first(), index) {
        let message = format!(
            "{pair} is physically paired, so it cannot be the source of index {}",
            indexed.name
        );
        found.error(codes::PAIRING, (spot, "PAIR"), message);
    }
}

/// A virtual logical child: its source must be the logical child of its physical parent.
fn virtual_child(
    dbd: &Dbd,
    segment: &Segment,
    spot: Spot,
    all: &dyn Definitions,
    found: &mut Findings,
) {
    let Some(source) = segment.sources.first() else { return };
    let at = (spot, "SOURCE");
    let Some(of) = need_dbd(source.dbd, at, all, found) else { return };
    let above = segment.parent.and_then(|at| dbd.segments.get(usize::from(at)));
    let stored = of.segment(source.segment);
    let fits = stored.and_then(|stored| stored.logical_parent.as_ref()).is_some_and(|logical| {
        logical.dbd == dbd.name && above.map(|above| above.name) == Some(logical.segment)
    });
    if !fits {
        let above = above.map_or_else(String::new, |above| above.name.to_string());
        let message = format!(
            "SOURCE={} in {} is no logical child of {above} in {}",
            source.segment, source.dbd, dbd.name
        );
        found.error(codes::SOURCE, at, message);
    }
}
