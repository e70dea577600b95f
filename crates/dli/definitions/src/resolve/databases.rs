//! Indexes and their targets: whether they name each other and their keys have one length.

use std::sync::Arc;

use super::index::{Index, complete, describe};
use super::set::Definitions;
use crate::codes;
use crate::finding::{Findings, Spot, nth};
use crate::model::{
    Dbd, DbdName, FieldName, LchildPointer, LogicalChild, Organization, Segment, SegmentName,
};

/// Checks what a DBD says about indexes, and returns its secondary ones.
pub(super) fn check(dbd: &Arc<Dbd>, all: &dyn Definitions, found: &mut Findings) -> Vec<Index> {
    if dbd.organization == Organization::Hidam {
        primary(dbd, all, found);
    }
    if dbd.organization.is_index() {
        targets(dbd, all, found);
        return Vec::new();
    }
    let mut indexes = Vec::new();
    for (at, n, child, indexed) in dbd.secondary_indexes() {
        let Some(mut index) = describe(dbd, at, child, indexed) else { continue };
        if let Some(of) = secondary(dbd, child, &index, Spot::Child(nth(at), nth(n)), all, found) {
            complete(&mut index, &of);
        }
        indexes.push(index);
    }
    indexes
}

/// An LCHILD that names the primary index.
pub(super) fn is_primary(child: &LogicalChild) -> bool {
    child.pointer == Some(LchildPointer::Indx) && child.indexed.is_none()
}

/// A HIDAM root and its primary index.
fn primary(dbd: &Dbd, all: &dyn Definitions, found: &mut Findings) {
    let Some(root) = dbd.root() else { return };
    let position = root.children.iter().position(is_primary);
    let Some((n, child)) = position.and_then(|n| Some((n, root.children.get(n)?))) else {
        let message = format!("the root {} of HIDAM has no LCHILD for a primary index", root.name);
        found
            .error(codes::PRIMARY_INDEX, (Spot::Segment(0), "NAME"), message)
            .help("write LCHILD NAME=(segment,index dbd),POINTER=INDX behind it");
        return;
    };
    let at = (Spot::Child(0, nth(n)), "NAME");
    let Some(key) = root.key() else { return };
    let Some((of, segment)) = index_segment(child, Organization::Index, at, all, found) else {
        return;
    };
    let Some(segment) = of.segment(segment) else { return };
    if !names_back(segment, (root.name, dbd.name), key.name) {
        let message = format!(
            "the index {} does not name the key {} of {} in {} as its target",
            of.name,
            key.name.as_ref().map_or("", FieldName::text),
            root.name,
            dbd.name
        );
        found.error(codes::INDEX_PAIR, at, message);
    }
    let len = segment.key().map_or(0, |field| field.len);
    if len != key.len {
        let message = format!(
            "the key of the primary index {} has {len} bytes, that of {} has {}",
            of.name, root.name, key.len
        );
        found.error(codes::INDEX_KEY, at, message);
    }
}

/// The index DBD that an LCHILD names, and the segment's name if it is there.
fn index_segment(
    child: &LogicalChild,
    organization: Organization,
    at: (Spot, &'static str),
    all: &dyn Definitions,
    found: &mut Findings,
) -> Option<(Arc<Dbd>, SegmentName)> {
    let of = need_dbd(child.dbd, at, all, found)?;
    if of.organization != organization {
        let code = if organization == Organization::Psindex || child.indexed.is_some() {
            codes::INDEX_PAIR
        } else {
            codes::PRIMARY_INDEX
        };
        let message = format!(
            "{} is a database of {}, and {organization} is needed here",
            of.name, of.organization
        );
        found.error(code, at, message);
        return None;
    }
    need_segment(&of, child.segment, at, found)?;
    Some((of, child.segment))
}

/// Whether the index segment has an LCHILD for that segment with that field as `INDEX=`.
fn names_back(segment: &Segment, target: (SegmentName, DbdName), field: Option<FieldName>) -> bool {
    segment.children.iter().any(|back| {
        (back.segment, back.dbd) == target && back.index.is_some() && back.index == field
    })
}

/// A secondary index and its DBD.
fn secondary(
    dbd: &Dbd,
    child: &LogicalChild,
    index: &Index,
    spot: Spot,
    all: &dyn Definitions,
    found: &mut Findings,
) -> Option<Arc<Dbd>> {
    let organization = match dbd.organization.is_partitioned() {
        true => Organization::Psindex,
        false => Organization::Index,
    };
    let at = (spot, "NAME");
    let (of, segment) = index_segment(child, organization, at, all, found)?;
    let segment = of.segment(segment)?;
    if !names_back(segment, (index.target, dbd.name), Some(index.name)) {
        let message = format!(
            "the index {} does not name {} of {} in {} as its target",
            of.name, index.name, index.target, dbd.name
        );
        found
            .error(codes::INDEX_PAIR, at, message)
            .help("write LCHILD NAME=(target,dbd),INDEX=xdfld in the DBD of the index");
    }
    let len = segment.key().map_or(0, |field| u32::from(field.len));
    if len != index.key_len() {
        let message = format!(
            "the key of the index {} has {len} bytes; CONST, SRCH and SUBSEQ of {} have {}",
            of.name,
            index.name,
            index.key_len()
        );
        found.error(codes::INDEX_KEY, at, message);
    } else if u32::from(segment.max) < index.entry_len() {
        let message = format!(
            "the segment {} of the index {} has {} bytes; key and DDATA of {} have {}",
            segment.name,
            of.name,
            segment.max,
            index.name,
            index.entry_len()
        );
        found.error(codes::INDEX_KEY, at, message);
    }
    Some(of)
}

/// An index DBD and what it is for.
fn targets(dbd: &Dbd, all: &dyn Definitions, found: &mut Findings) {
    for (at, segment) in dbd.segments.iter().enumerate() {
        for (n, child) in segment.children.iter().enumerate() {
            let spot = Spot::Child(nth(at), nth(n));
            let Some(of) = need_dbd(child.dbd, (spot, "NAME"), all, found) else { continue };
            let target = need_segment(&of, child.segment, (spot, "NAME"), found);
            let Some(target) = target else { continue };
            let named = (segment.name, dbd.name);
            let pairs = target.children.iter().any(|back| {
                (back.segment, back.dbd) == named
                    && match &back.indexed {
                        Some(indexed) => child.index == Some(indexed.name),
                        None => {
                            is_primary(back)
                                && target.key().is_some_and(|key| key.name == child.index)
                        }
                    }
            });
            if !pairs {
                let field = child.index.as_ref().map_or("", FieldName::text);
                let message = format!(
                    "{} in {} has no LCHILD NAME=({},{}) whose field is {field}",
                    target.name, of.name, segment.name, dbd.name
                );
                found.error(codes::INDEX_PAIR, (spot, "INDEX"), message).help(format!(
                    "write it, and compile both; if there is to be no such index any more, take \
                     its DBD out: `holdfast gen --remove {}`",
                    dbd.name
                ));
            }
        }
    }
}

pub(super) fn need_dbd(
    name: DbdName,
    at: (Spot, &'static str),
    all: &dyn Definitions,
    found: &mut Findings,
) -> Option<Arc<Dbd>> {
    let dbd = all.dbd(name);
    if dbd.is_none() {
        found
            .error(codes::NO_DBD, at, format!("there is no DBD {name}"))
            .help("compile its source too, in the same run or before");
    }
    dbd
}

pub(super) fn need_segment<'d>(
    dbd: &'d Dbd,
    name: SegmentName,
    at: (Spot, &'static str),
    found: &mut Findings,
) -> Option<&'d Segment> {
    let segment = dbd.segment(name);
    if segment.is_none() {
        let message = format!("{} has no segment {name}", dbd.name);
        found.error(codes::NO_SUCH_SEGMENT, at, message);
    }
    segment
}
