//! Segment types of the databases: what stands above them, and which are at the two ends of a
//! logical relationship (DLI-12.71).
//!
//! Invariants:
//! 1. Nothing here looks at an occurrence: it is all in the definitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use definitions::{Dbd, DbdName, LogicalChild, Organization, Segment, TwinPlace};

use crate::bytes::to_usize;
use crate::forest::Type;

/// The databases beneath the views.
pub(crate) type Databases = BTreeMap<DbdName, Arc<Dbd>>;

/// The type above a type in its physical database.
pub(crate) fn parent_type(dbds: &Databases, kind: Type) -> Option<Type> {
    let dbd = dbds.get(&kind.dbd)?;
    let at = usize::from(kind.code).checked_sub(1)?;
    let parent = dbd.segments.get(at)?.parent?;
    Some(Type { dbd: kind.dbd, code: parent + 1 })
}

pub(crate) fn segment_of(dbds: &Databases, kind: Type) -> Option<&Segment> {
    let at = usize::from(kind.code).checked_sub(1)?;
    dbds.get(&kind.dbd)?.segments.get(at)
}

fn type_named(dbds: &Databases, dbd: DbdName, name: &definitions::SegmentName) -> Option<Type> {
    let segment = dbds.get(&dbd)?.segment(*name)?;
    Some(Type { dbd, code: segment.code })
}

/// Of a physically paired child the other one of the pair.
fn partner(dbds: &Databases, kind: Type) -> Option<Type> {
    let logical = segment_of(dbds, kind)?.logical_parent.as_ref()?;
    let parent = dbds.get(&logical.dbd)?.segment(logical.segment)?;
    let names = |child: &&LogicalChild| type_named(dbds, child.dbd, &child.segment) == Some(kind);
    let other = type_named(dbds, logical.dbd, &parent.children.iter().find(names)?.pair?)?;
    let is_real = segment_of(dbds, other).is_some_and(|one| one.logical_parent.is_some());
    is_real.then_some(other)
}

/// Whether a type is a virtual logical child. Of two that are physically paired one is stored
/// and the other is shown as if it were virtual: a program sees no difference.
pub(crate) fn is_virtual(dbds: &Databases, kind: Type) -> bool {
    let declared = segment_of(dbds, kind).is_some_and(Segment::is_virtual);
    declared || partner(dbds, kind).is_some_and(|other| other < kind)
}

/// Whether a type is a logical child, real or virtual.
pub(crate) fn is_child(dbds: &Databases, kind: Type) -> bool {
    let segment = segment_of(dbds, kind);
    segment.is_some_and(|segment| segment.is_virtual() || segment.logical_parent.is_some())
}

/// The type that is stored: of a virtual child its source.
pub(crate) fn stored(dbds: &Databases, kind: Type) -> Type {
    if let Some(other) = partner(dbds, kind) {
        return other.min(kind);
    }
    let source = segment_of(dbds, kind).and_then(|segment| segment.sources.first());
    source.and_then(|one| type_named(dbds, one.dbd, &one.segment)).unwrap_or(kind)
}

/// The virtual pair of a real child, if it has one.
pub(crate) fn pair(dbds: &Databases, kind: Type) -> Option<Type> {
    // The segments of a logical database have sources too, and are none.
    let physical = dbds.values().filter(|dbd| dbd.organization != Organization::Logical);
    physical.into_iter().find_map(|dbd| {
        let is_pair = |one: &&Segment| {
            let own = Type { dbd: dbd.name, code: one.code };
            is_virtual(dbds, own) && stored(dbds, own) == kind
        };
        let segment = dbd.segments.iter().find(is_pair)?;
        Some(Type { dbd: dbd.name, code: segment.code })
    })
}

/// The type at the other end of a child, real or virtual.
pub(crate) fn destination_type(dbds: &Databases, kind: Type) -> Option<Type> {
    if is_virtual(dbds, kind) {
        return parent_type(dbds, stored(dbds, kind));
    }
    let logical = segment_of(dbds, kind)?.logical_parent.as_ref()?;
    type_named(dbds, logical.dbd, &logical.segment)
}

fn key_len(dbds: &Databases, kind: Type) -> usize {
    let len = |dbd: &Dbd| dbd.concatenated_key_len(usize::from(kind.code) - 1);
    dbds.get(&kind.dbd).map_or(0, |dbd| to_usize(len(dbd)))
}

/// The length of the destination's key at the front of a child, and where it begins.
pub(crate) fn key_part(dbds: &Databases, kind: Type) -> (usize, usize) {
    let variable = segment_of(dbds, stored(dbds, kind)).is_some_and(|segment| segment.variable);
    let len = destination_type(dbds, kind).map_or(0, |other| key_len(dbds, other));
    (if variable { 2 } else { 0 }, len)
}

/// Where twins go that no unique key places: of a virtual child the LCHILD says it.
pub(crate) fn twin_rule(dbds: &Databases, kind: Type) -> TwinPlace {
    let own = segment_of(dbds, kind).map_or(TwinPlace::Last, |segment| segment.rules.place);
    if !is_virtual(dbds, kind) {
        return own;
    }
    let real = stored(dbds, kind);
    let above = parent_type(dbds, kind).and_then(|above| segment_of(dbds, above));
    let mut children = above.into_iter().flat_map(|above| &above.children);
    let names = |child: &&LogicalChild| type_named(dbds, child.dbd, &child.segment) == Some(real);
    children.find(names).and_then(|child| child.place).unwrap_or(own)
}
