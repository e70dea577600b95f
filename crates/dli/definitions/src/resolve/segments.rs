//! One segment of a view: lengths, key, fields and what its SENSEG adds.

use super::index::{Index, complete, describe};
use super::set::Definitions;
use super::structure::{Node, Type};
use super::view::{
    Destination, Home, SeenField, SegmentAccess, SegmentForm, ViewField, ViewKey, ViewSegment,
};
use crate::codes;
use crate::finding::{Findings, Spot, nth};
use crate::model::{DbdName, FieldKind, FieldName, Segment, SegmentPart, Sensitive};

/// The segment of a node, without what depends on its SENSEG.
pub(super) fn of_node(node: &Node, all: &dyn Definitions) -> ViewSegment {
    let own = node.own.segment();
    let stored = node.own.stored(all).unwrap_or_else(|| node.own.clone());
    let (max, min, variable) = lengths(&node.own, &stored, all);
    let own_len = if node.part == SegmentPart::Key { 0 } else { max };
    let destination = node.destination.as_ref().map(|(one, part)| Destination {
        home: home(one),
        part: *part,
        offset: own_len,
        max: one.segment().max,
        key: one.segment().key().and_then(view_key),
        rules: one.segment().rules,
    });
    let mut fields = view_fields(own, false);
    if own.is_virtual() && own.fields.is_empty() {
        fields = view_fields(stored.segment(), false);
    }
    if let Some((one, _)) = &node.destination {
        // A name that both have means the logical child's field.
        let mut more = view_fields(one.segment(), true);
        more.retain(|field| fields.iter().all(|old| old.name != field.name));
        fields.extend(more);
    }
    ViewSegment {
        name: node.name,
        level: 1,
        parent: None,
        home: home(&node.own),
        stored: home(&stored),
        part: node.part,
        destination,
        key: own.key().and_then(view_key),
        key_at: 0,
        fields,
        indices: Vec::new(),
        form: SegmentForm {
            max,
            min,
            variable,
            compression: stored.segment().compression.clone(),
            single: own.pointers.has("NOTWIN"),
            sequential: own.sequential,
            subset_pointers: own.subset_pointers,
            rules: own.rules,
        },
        access: SegmentAccess::default(),
    }
}

pub(super) fn home(one: &Type) -> Home {
    let segment = one.segment();
    Home { dbd: one.dbd.name, segment: segment.name, code: segment.code }
}

/// The lengths of a segment; those of a virtual logical child follow from its source, with the
/// one parent's key in place of the other's (DLI-12.71).
fn lengths(own: &Type, stored: &Type, all: &dyn Definitions) -> (u16, u16, bool) {
    let segment = own.segment();
    if segment.max > 0 || !segment.is_virtual() {
        return (segment.max, segment.min, segment.variable);
    }
    let source = stored.segment();
    let key_of = |one: Option<Type>| one.map_or(0, |one| one.dbd.concatenated_key_len(one.at));
    let there = key_of(stored.destination(all));
    let here = key_of(own.destination(all));
    let exchange = |len: u16| {
        let len = (u32::from(len) + here).saturating_sub(there);
        u16::try_from(len).unwrap_or(u16::MAX)
    };
    (exchange(source.max), exchange(source.min), source.variable)
}

fn view_key(field: &crate::model::Field) -> Option<ViewKey> {
    let FieldKind::Key { unique } = field.kind else { return None };
    let offset = u16::try_from(field.offset()?).ok()?;
    Some(ViewKey { name: field.name?, offset, len: field.len, unique })
}

fn view_fields(segment: &Segment, of_destination: bool) -> Vec<ViewField> {
    let mut fields = Vec::with_capacity(segment.fields.len());
    for field in &segment.fields {
        let plain = matches!(field.kind, FieldKind::Data | FieldKind::Key { .. });
        let (Some(name), Some(offset), true) = (field.name, field.offset(), plain) else {
            continue;
        };
        fields.push(ViewField {
            name,
            offset: u16::try_from(offset).unwrap_or(u16::MAX),
            len: field.len,
            kind_of_data: field.kind_of_data,
            is_key: field.is_key(),
            of_destination,
        });
    }
    fields
}

/// The index of that name whose target stands in the node's database.
pub(super) fn index_of(node: &Node, name: DbdName, all: &dyn Definitions) -> Option<Index> {
    let types = [Some(&node.own), node.destination.as_ref().map(|(one, _)| one)];
    types.into_iter().flatten().find_map(|one| {
        let mut indexes = one.dbd.secondary_indexes();
        let (at, _, child, indexed) =
            indexes.find(|(at, _, child, _)| *at == one.at && child.dbd == name)?;
        let mut index = describe(&one.dbd, at, child, indexed)?;
        let of = all.dbd(name)?;
        complete(&mut index, &of);
        Some(index)
    })
}

/// Adds what a SENSEG says: indexes, subset pointers, sensitive fields.
pub(super) fn add_sensitivity(
    segment: &mut ViewSegment,
    node: &Node,
    sensitive: &Sensitive,
    pcb: usize,
    at: usize,
    all: &dyn Definitions,
    found: &mut Findings,
) {
    let spot = Spot::Sensitive(nth(pcb), nth(at));
    for name in &sensitive.indices {
        match index_of(node, *name, all) {
            Some(index) => segment.indices.push(index),
            None => {
                let message = format!("INDICES={name} is no index with the target {}", node.name);
                found.error(codes::NOT_ITS_INDEX, (spot, "INDICES"), message);
            }
        }
    }
    for subset in &sensitive.subsets {
        if subset.number > segment.form.subset_pointers {
            let message = format!(
                "{} has {} subset pointers, and none with the number {}",
                segment.name, segment.form.subset_pointers, subset.number
            );
            found.error(codes::SUBSET, (spot, "SSPTR"), message);
        }
    }
    segment.access.subsets.clone_from(&sensitive.subsets);
    for (n, field) in sensitive.fields.iter().enumerate() {
        let spot = Spot::SensitiveField(nth(pcb), nth(at), nth(n));
        let Some(known) = segment.fields.iter().find(|one| one.name == field.name) else {
            let message = format!("{} has no field {}", segment.name, field.name);
            found.error(codes::NO_SUCH_FIELD, (spot, "NAME"), message);
            continue;
        };
        let offset = field.start.saturating_sub(1);
        let seen = SeenField { field: *known, offset, replace: field.replace };
        segment.access.seen_len =
            segment.access.seen_len.max(u32::from(offset) + u32::from(known.len));
        segment.access.seen.push(seen);
    }
    // DLI-12.45: in the order of START.
    segment.access.seen.sort_by_key(|seen| seen.offset);
    let inserts = segment.access.options.allows('I') || segment.access.options.is_load();
    let key = segment.key.map(|key| key.name);
    let unseen = |name: FieldName| segment.access.seen.iter().all(|seen| seen.field.name != name);
    if let Some(name) =
        key.filter(|name| !segment.access.seen.is_empty() && inserts && unseen(*name))
    {
        // DLI-12.46.
        let message = format!(
            "the program may insert {}, but does not see its key {name}: no insert can succeed",
            segment.name
        );
        found.warning(codes::KEY_UNSEEN, (spot, "NAME"), message);
    }
}
