//! Logical relationships: what is at the other end of a logical child (facts, rows 71 to 74).

use definitions::SegmentPart;
use definitions::resolve::ViewSegment;

use crate::area::{Given, Status};
use crate::forest::{Id, Type};
use crate::lens::{Databases, Lens, Node};
use crate::model::Model;

/// Whether a type is a virtual logical child.
pub(crate) fn is_virtual(dbds: &Databases, kind: Type) -> bool {
    let at = usize::from(kind.code).saturating_sub(1);
    let segment = dbds.get(&kind.dbd).and_then(|dbd| dbd.segments.get(at));
    segment.is_some_and(|segment| segment.is_virtual())
}

/// The type as which an end of a node is seen: of the node itself its home.
pub(crate) fn kind_seen_from(lens: &Lens<'_>, node: &Node, end: Id) -> Type {
    match end == node.id {
        true => Type::of(&lens.seg(node.seg).home),
        false => lens.forest.get(end).kind,
    }
}

/// The destination parent of a logical child, seen from the path that is used.
pub(crate) fn destination(lens: &Lens<'_>, node: &Node) -> Option<Id> {
    let segment = lens.seg(node.seg);
    segment.destination.as_ref()?;
    let occurrence = lens.forest.get(node.id);
    match segment.home == segment.stored {
        true => occurrence.logical_parent,
        false => occurrence.parent,
    }
}

/// The logical twins under a logical parent.
pub(crate) fn twins(lens: &Lens<'_>, kind: Type, parent: Id) -> Vec<Id> {
    lens.forest.logical.get(&(kind, parent)).cloned().unwrap_or_default()
}

/// The bytes of a node on the path that is used.
pub(crate) fn image(lens: &Lens<'_>, node: &Node) -> Vec<u8> {
    lens.forest.get(node.id).data.clone()
}

/// A segment and its destination parent in the area, each as `SOURCE=` says.
pub(crate) fn joined_area(segment: &ViewSegment, image: Vec<u8>, joined: Vec<u8>) -> Vec<u8> {
    let mut area = if segment.part == SegmentPart::Key { Vec::new() } else { image };
    if segment.destination.as_ref().is_some_and(|one| one.part == SegmentPart::Data) {
        area.extend(joined);
    }
    area
}

/// Row 69: under PROCSEQ neither the target nor its parents are inserted or deleted.
pub(crate) fn is_fixed(lens: &Lens<'_>, seg: usize) -> bool {
    if lens.view.sequence.is_none() {
        return false;
    }
    // The target, and what stands above it physically, whatever the view makes of that.
    let target = Type::of(&lens.seg(0).home);
    let mut up = std::iter::successors(Some(target), |kind| lens.parent_type(*kind));
    up.any(|kind| kind == Type::of(&lens.seg(seg).home))
}

/// The end of a node under which segments of a type stand.
pub(crate) fn end_of_type(lens: &Lens<'_>, above: Option<&Node>, kind: Type) -> Option<Id> {
    let node = above?;
    let ends = [Some(node.id), destination(lens, node)];
    let fits = |end: &Id| lens.parent_type(kind) == Some(kind_seen_from(lens, node, *end));
    ends.into_iter().flatten().find(fits)
}

/// Stores a new segment under a parent.
pub(crate) fn store(
    model: &mut Model,
    pcb: usize,
    (seg, parent): (usize, Option<Id>),
    given: &Given,
    at: usize,
) -> Result<Id, Status> {
    let home = Type::of(&model.pcbs[pcb].view.segments[seg].home);
    Ok(model.forest.insert(home, parent, given.image.clone(), at))
}

/// What a REPL gives back: the segment, and the destination parent's data.
pub(crate) fn parts_of_area(
    segment: &ViewSegment,
    old_len: usize,
    now: &[u8],
) -> (Vec<u8>, Option<Vec<u8>>) {
    let _ = (segment, old_len);
    (now.to_vec(), None)
}

/// Puts new bytes in place of a segment.
pub(crate) fn replace(
    model: &mut Model,
    pcb: usize,
    node: &Node,
    image: Vec<u8>,
    joined: Option<Vec<u8>>,
) -> Result<(), Status> {
    let _ = (pcb, joined);
    model.forest.get_mut(node.id).data = image;
    Ok(())
}

/// Deletes a segment and all beneath it.
pub(crate) fn delete(model: &mut Model, pcb: usize, node: &Node) -> Result<(), Status> {
    let _ = pcb;
    model.forest.delete(node.id);
    Ok(())
}

/// Whether a type is a logical child, real or virtual.
pub(crate) fn is_child(dbds: &Databases, kind: Type) -> bool {
    let at = usize::from(kind.code).saturating_sub(1);
    let segment = dbds.get(&kind.dbd).and_then(|dbd| dbd.segments.get(at));
    segment.is_some_and(|segment| segment.is_virtual() || segment.logical_parent.is_some())
}
