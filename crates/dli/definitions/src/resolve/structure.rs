//! The hierarchy that a PCB may be sensitive to: of a physical database, of a logical one, or of
//! a physical one seen through a secondary index.
//!
//! Invariants:
//! 1. A node's parent stands in front of it; the first node is the root.

use std::sync::Arc;

use super::databases::need_dbd;
use super::set::Definitions;
use crate::codes;
use crate::finding::{Findings, Spot, nth};
use crate::model::{Dbd, Segment, SegmentName, SegmentPart};

/// A segment type of a database.
#[derive(Clone)]
pub(super) struct Type {
    pub(super) dbd: Arc<Dbd>,
    pub(super) at: usize,
}

impl Type {
    pub(super) fn segment(&self) -> &Segment {
        &self.dbd.segments[self.at]
    }

    fn parent(&self) -> Option<Type> {
        let at = usize::from(self.segment().parent?);
        Some(Type { dbd: Arc::clone(&self.dbd), at })
    }

    fn is(&self, other: &Type) -> bool {
        self.dbd.name == other.dbd.name && self.at == other.at
    }

    fn find(dbd: Arc<Dbd>, name: SegmentName) -> Option<Type> {
        let at = dbd.position(name)?;
        Some(Type { dbd, at })
    }

    /// What is stored: of a virtual logical child its source.
    pub(super) fn stored(&self, all: &dyn Definitions) -> Option<Type> {
        match self.segment().sources.first() {
            Some(source) => Type::find(all.dbd(source.dbd)?, source.segment),
            None => Some(self.clone()),
        }
    }

    /// The destination parent of a logical child: the logical parent of a real one, the physical
    /// parent of its source for a virtual one.
    pub(super) fn destination(&self, all: &dyn Definitions) -> Option<Type> {
        let segment = self.segment();
        if segment.is_virtual() {
            return self.stored(all)?.parent();
        }
        let logical = segment.logical_parent.as_ref()?;
        Type::find(all.dbd(logical.dbd)?, logical.segment)
    }
}

/// A segment type as a PCB may see it.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) name: SegmentName,
    pub(super) parent: Option<usize>,
    pub(super) own: Type,
    pub(super) part: SegmentPart,
    /// In a logical database: the destination parent that is joined to a logical child.
    pub(super) destination: Option<(Type, SegmentPart)>,
}

/// The hierarchy of a physical database.
pub(super) fn of_physical(dbd: &Arc<Dbd>) -> Vec<Node> {
    let nodes = dbd.segments.iter().enumerate();
    nodes
        .map(|(at, segment)| Node {
            name: segment.name,
            parent: segment.parent.map(usize::from),
            own: Type { dbd: Arc::clone(dbd), at },
            part: SegmentPart::Data,
            destination: None,
        })
        .collect()
}

/// The hierarchy of a logical database; `None` with findings if it follows no path.
pub(super) fn of_logical(
    dbd: &Arc<Dbd>,
    all: &dyn Definitions,
    found: &mut Findings,
) -> Option<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::with_capacity(dbd.segments.len());
    for (at, segment) in dbd.segments.iter().enumerate() {
        let spot = (Spot::Segment(nth(at)), "SOURCE");
        let mut types = Vec::new();
        for source in &segment.sources {
            let of = need_dbd(source.dbd, spot, all, found)?;
            let Some(one) = Type::find(of, source.segment) else {
                let message = format!("{} has no segment {}", source.dbd, source.segment);
                found.error(codes::SOURCE, spot, message);
                return None;
            };
            types.push((one, source.part));
        }
        let mut types = types.into_iter();
        let (own, part) = types.next()?;
        let destination = types.next();
        if let Some((given, _)) = &destination
            && !own.destination(all).is_some_and(|known| known.is(given))
        {
            let message = format!(
                "{} in {} is not the destination parent of {}",
                given.segment().name,
                given.dbd.name,
                own.segment().name
            );
            found.error(codes::SOURCE, spot, message);
            return None;
        }
        let parent = segment.parent.map(usize::from);
        let node = Node { name: segment.name, parent, own, part, destination };
        if !is_path(&node, parent.and_then(|at| nodes.get(at))) {
            let message = format!(
                "no path leads to {} in {} from where {} stands",
                node.own.segment().name,
                node.own.dbd.name,
                segment.name
            );
            found.error(codes::LOGICAL_PATH, spot, message).help(
                "a dependent's source is a child, or going up the parent, of its parent's source",
            );
            return None;
        }
        nodes.push(node);
    }
    (!nodes.is_empty()).then_some(nodes)
}

/// Whether a physical path leads from the parent's sources to the node's.
fn is_path(node: &Node, parent: Option<&Node>) -> bool {
    let Some(parent) = parent else { return node.own.segment().parent.is_none() };
    let from = [Some(&parent.own), parent.destination.as_ref().map(|(one, _)| one)];
    from.into_iter().flatten().any(|from| {
        let down = node.own.parent().is_some_and(|above| above.is(from));
        let up = from.parent().is_some_and(|above| above.is(&node.own));
        down || up
    })
}

/// The hierarchy with the target of a secondary index as its root: its parents hang below it in
/// reverse order, its dependents as they were (DLI-12.69).
pub(super) fn inverted(nodes: &[Node], target: usize) -> Vec<Node> {
    let mut order = vec![(target, None)];
    let mut above = nodes.get(target).and_then(|node| node.parent);
    while let Some(at) = above {
        order.push((at, Some(order.len() - 1)));
        above = nodes[at].parent;
    }
    for (at, node) in nodes.iter().enumerate().skip(target + 1) {
        let parent = order.iter().position(|(old, _)| Some(*old) == node.parent);
        let beneath = parent.filter(|new| *new == 0 || order[*new].0 > target);
        if let Some(parent) = beneath {
            order.push((at, Some(parent)));
        }
    }
    order.into_iter().map(|(at, parent)| Node { parent, ..nodes[at].clone() }).collect()
}
