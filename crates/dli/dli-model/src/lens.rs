//! The stored segments as a PCB sees them: its tree, its keys, its bytes.
//!
//! Invariants:
//! 1. A path is one node for each level from the root of the view; the parent of a node in the
//!    view is the node before it, whatever stands above it physically.
//! 2. Twins include those gone; a walk through them leaves these out (see `forest`).

use definitions::SegmentPart;
use definitions::resolve::{Index, View, ViewSegment};

use crate::bytes::{filled, part, to_usize};
use crate::forest::{Entry, Forest, Id, Type};
use crate::keys::image_as;
use crate::types::{Databases, is_virtual, parent_type};
use crate::{RootOrder, index};

/// An occurrence as a member of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// The place of its type in the view.
    pub(crate) seg: usize,
    pub(crate) id: Id,
    /// Under PROCSEQ the index entry by which the root was met: it may be met several times.
    pub(crate) entry: Option<Id>,
}

/// One occurrence for each level, the root first.
pub(crate) type Path = Vec<Node>;

/// What a PCB looks through.
#[derive(Clone, Copy)]
pub(crate) struct Lens<'m> {
    pub(crate) view: &'m View,
    pub(crate) forest: &'m Forest,
    pub(crate) dbds: &'m Databases,
    pub(crate) order: &'m RootOrder,
}

impl<'m> Lens<'m> {
    pub(crate) fn seg(&self, at: usize) -> &'m ViewSegment {
        &self.view.segments[at]
    }

    /// The types from the root down to `seg`.
    pub(crate) fn types_to(&self, seg: usize) -> Vec<usize> {
        let up = |at: &usize| self.seg(*at).parent.map(usize::from);
        let mut types: Vec<usize> = std::iter::successors(Some(seg), up).collect();
        types.reverse();
        types
    }

    /// The types right beneath one, or the root.
    pub(crate) fn types_under(&self, seg: Option<usize>) -> Vec<usize> {
        let parent_of = |at: &usize| self.seg(*at).parent.map(usize::from);
        (0..self.view.segments.len()).filter(|at| parent_of(at) == seg).collect()
    }

    /// Whether `seg` lies beneath `above`.
    pub(crate) fn is_beneath(&self, seg: usize, above: usize) -> bool {
        seg != above && self.types_to(seg).contains(&above)
    }

    /// All twins of a type under the last node of `above`.
    pub(crate) fn twins(&self, seg: usize, above: &[Node]) -> Vec<Node> {
        let node = |id| Node { seg, id, entry: None };
        let Some(parent) = above.last() else { return self.roots() };
        let home = Type::of(&self.seg(seg).home);
        let mut ends = vec![parent.id];
        if self.seg(parent.seg).destination.is_some() {
            ends.extend(destination(self, parent));
        }
        for end in ends {
            let kind = kind_seen_from(self, parent, end);
            if is_virtual(self.dbds, home) && self.parent_type(home) == Some(kind) {
                return twins(self.forest, home, end).iter().copied().map(node).collect();
            }
            if self.parent_type(home) == Some(kind) {
                return self.forest.chain(home, Some(end)).iter().copied().map(node).collect();
            }
            if self.parent_type(kind) == Some(home) {
                return self.forest.get(end).parent.map(node).into_iter().collect();
            }
        }
        Vec::new()
    }

    fn roots(&self) -> Vec<Node> {
        match self.view.entries.as_ref().or(self.view.sequence.as_ref()) {
            Some(index) => {
                let entries = self.forest.indexes.get(&index.dbd).map_or(&[][..], Vec::as_slice);
                let node = |entry: &Id| {
                    let id = self.forest.entries[*entry].target;
                    Node { seg: 0, id, entry: Some(*entry) }
                };
                entries.iter().map(node).collect()
            }
            None => {
                let chain = self.forest.chain(Type::of(&self.seg(0).home), None);
                chain.iter().map(|id| Node { seg: 0, id: *id, entry: None }).collect()
            }
        }
    }

    pub(crate) fn parent_type(&self, kind: Type) -> Option<Type> {
        parent_type(self.dbds, kind)
    }

    /// Whether a node was deleted, or its index entry went away.
    pub(crate) fn is_gone(&self, node: &Node) -> bool {
        let entry_gone = node.entry.is_some_and(|entry| self.forest.entries[entry].gone);
        let occurrence = self.forest.get(node.id);
        let home = Type::of(&self.seg(node.seg).home);
        let by_logical_path = is_virtual(self.dbds, home);
        entry_gone || if by_logical_path { occurrence.gone_logically } else { occurrence.gone }
    }

    /// The entry that a node is, of an index used as a database (DLI-12.70).
    pub(crate) fn entry_of(&self, node: &Node) -> Option<(&'m Index, &'m Entry)> {
        Some((self.view.entries.as_ref()?, &self.forest.entries[node.entry?]))
    }

    /// The segment's bytes on the path that is used, LL included, destination parent not.
    pub(crate) fn image(&self, node: &Node) -> Vec<u8> {
        match self.entry_of(node) {
            Some((index, entry)) => index::image(self.forest, self.dbds, index, entry),
            None => image_as(self.forest, self.dbds, Type::of(&self.seg(node.seg).home), node.id),
        }
    }

    /// The bytes of the destination parent that is joined to it.
    pub(crate) fn joined(&self, node: &Node) -> Vec<u8> {
        let end = destination(self, node);
        end.map_or_else(Vec::new, |end| self.forest.get(end).data.clone())
    }

    /// The part of the concatenated key that a node adds; under PROCSEQ the root adds its search
    /// fields (DLI-12.64).
    pub(crate) fn key(&self, node: &Node) -> Vec<u8> {
        if let Some((index, entry)) = self.entry_of(node) {
            return index::entry_key(index, entry);
        }
        if let Some(entry) = node.entry {
            return self.forest.entries[entry].search.clone();
        }
        let Some(key) = self.seg(node.seg).key else { return Vec::new() };
        part(&self.image(node), usize::from(key.offset), usize::from(key.len)).to_vec()
    }

    /// The length of that part.
    pub(crate) fn key_len(&self, seg: usize) -> usize {
        match (&self.view.sequence, self.seg(seg).key) {
            (Some(index), _) if seg == 0 => to_usize(index.search_len()),
            (_, key) => key.map_or(0, |key| usize::from(key.len)),
        }
    }

    /// The concatenated key of a path.
    pub(crate) fn concatenated_key(&self, path: &[Node]) -> Vec<u8> {
        path.iter().flat_map(|node| self.key(node)).collect()
    }

    /// What orders a node among its twins: the randomizer's order first, then the key.
    pub(crate) fn rank(&self, seg: usize, key: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let order = match self.is_hashed(seg) {
            true => (self.order)(self.seg(seg).home.dbd, key),
            false => Vec::new(),
        };
        (order, key.to_vec())
    }

    /// Whether a type is the root of a hashed database in its own order.
    pub(crate) fn is_hashed(&self, seg: usize) -> bool {
        let dbd = self.dbds.get(&self.seg(seg).home.dbd);
        let hashed = dbd.is_some_and(|dbd| dbd.organization.is_hashed());
        hashed && seg == 0 && self.view.sequence.is_none() && self.view.entries.is_none()
    }

    /// Whether the program sees and may get at the entries of this index on this type.
    pub(crate) fn indexes(&self, seg: usize) -> impl Iterator<Item = &'m Index> {
        let sequence = self.view.sequence.as_ref().filter(|_| seg == 0);
        sequence.into_iter().chain(&self.seg(seg).indices)
    }

    /// The entries of an index that are there and lead to a segment.
    pub(crate) fn entries_to(&self, index: &Index, target: Id) -> Vec<&'m Entry> {
        let ids = self.forest.indexes.get(&index.dbd).map_or(&[][..], Vec::as_slice);
        let entries = ids.iter().map(|id| &self.forest.entries[*id]);
        entries.filter(|entry| entry.target == target && !entry.gone).collect()
    }

    /// The bytes that a get puts into the area for a node (DLI-12.45, DLI-12.46 and DLI-12.71).
    pub(crate) fn area(&self, node: &Node) -> Vec<u8> {
        let segment = self.seg(node.seg);
        let (image, joined) = (self.image(node), self.joined(node));
        if segment.access.seen.is_empty() {
            return joined_area(segment, image, joined);
        }
        let mut area = vec![b' '; to_usize(segment.access.seen_len)];
        for seen in &segment.access.seen {
            let from = if seen.field.of_destination { &joined } else { &image };
            let len = usize::from(seen.field.len);
            let value = filled(from, usize::from(seen.field.offset), len, seen.field.kind_of_data);
            let at = usize::from(seen.offset);
            area[at..at + len].copy_from_slice(&value);
        }
        area
    }
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
    match is_virtual(lens.dbds, Type::of(&segment.home)) {
        true => occurrence.parent,
        false => occurrence.logical_parent,
    }
}

/// The logical twins under a logical parent.
pub(crate) fn twins(forest: &Forest, kind: Type, parent: Id) -> &[Id] {
    forest.logical.get(&(kind, parent)).map_or(&[], Vec::as_slice)
}

/// A segment and its destination parent in the area, each as `SOURCE=` says.
fn joined_area(segment: &ViewSegment, image: Vec<u8>, joined: Vec<u8>) -> Vec<u8> {
    let mut area = if segment.part == SegmentPart::Key { Vec::new() } else { image };
    if segment.destination.as_ref().is_some_and(|one| one.part == SegmentPart::Data) {
        area.extend(joined);
    }
    area
}
