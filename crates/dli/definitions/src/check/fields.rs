//! The fields of a segment.

use crate::codes;
use crate::finding::{Findings, Spot, nth};
use crate::model::{Dbd, Field, FieldKind, FieldName, FieldType, Organization, Segment};

/// The longest key (DLI-6: key lengths of the access methods).
const KEY_MAX: u16 = 255;

pub(super) fn check(dbd: &Dbd, at: usize, found: &mut Findings) {
    let segment = &dbd.segments[at];
    let spot = |n: usize| Spot::Field(nth(at), nth(n));
    let mut seen: Vec<FieldName> = Vec::new();
    for (n, field) in segment.fields.iter().enumerate() {
        if let Some(name) = field.name {
            if seen.contains(&name) {
                let message = format!("the field {name} is defined twice in {}", segment.name);
                found.error(codes::NAME_TWICE, (spot(n), "NAME"), message);
            }
            seen.push(name);
        }
        check_field(dbd, at, field, spot(n), found);
    }
    for (n, child) in segment.children.iter().enumerate() {
        let Some(indexed) = &child.indexed else { continue };
        if seen.contains(&indexed.name) {
            let message = format!("{} has a field {} already", segment.name, indexed.name);
            found.error(codes::NAME_TWICE, (Spot::Indexed(nth(at), nth(n)), "NAME"), message);
        }
        seen.push(indexed.name);
    }
    if segment.fields.iter().filter(|field| field.name.is_some()).count() > 255 {
        let message = format!("{} has more than 255 fields with names", segment.name);
        found.error(codes::TOO_MANY, (Spot::Segment(nth(at)), "NAME"), message);
    }
    keys(dbd, at, found);
}

fn keys(dbd: &Dbd, at: usize, found: &mut Findings) {
    let segment = &dbd.segments[at];
    let spot = |n: usize| (Spot::Field(nth(at), nth(n)), "NAME");
    let keys = segment.fields.iter().enumerate().filter(|(_, field)| field.is_key());
    for (count, (n, _)) in keys.enumerate() {
        // A virtual logical child may have a key of several parts.
        if count > 0 && !segment.is_virtual() {
            let message = format!("{} has a sequence field already", segment.name);
            found.error(codes::KEY_TWICE, spot(n), message);
        } else if count == 0 && n > 0 {
            let message = format!("the sequence field is not the first field of {}", segment.name);
            found.error(codes::KEY_NOT_FIRST, spot(n), message);
        }
    }
    if at > 0 {
        return;
    }
    let organization = dbd.organization;
    let missing = match organization {
        // Its uniqueness is the index's own choice (DLI-12.67).
        Organization::Index | Organization::Phdam => segment.key().is_none(),
        _ => organization.needs_unique_root() && !segment.has_unique_key(),
    };
    if missing {
        let unique = if organization == Organization::Index { "" } else { " unique" };
        let message =
            format!("the root {} of {organization} needs a{unique} sequence field", segment.name);
        let spot = (Spot::Segment(0), "NAME");
        found.error(codes::KEY_MISSING, spot, message).help("write FIELD NAME=(name,SEQ,U),...");
    }
}

fn check_field(dbd: &Dbd, at: usize, field: &Field, spot: Spot, found: &mut Findings) {
    let segment = &dbd.segments[at];
    let name = field.name.map_or("the field", |_| "field");
    let shown = field.name.as_ref().map_or("", FieldName::text);
    match field.kind {
        FieldKind::ConcatenatedKey => {
            let whole = dbd.concatenated_key_len(at);
            if field.end() > whole {
                let message = format!(
                    "{shown} ends at {}, and the concatenated key of {} has {whole} bytes",
                    field.end(),
                    segment.name
                );
                found.error(codes::SYSTEM_FIELD, (spot, "BYTES"), message);
            }
            return;
        }
        FieldKind::Unique => return,
        FieldKind::Data | FieldKind::Key { .. } => {}
    }
    // The source decides on the length of a virtual segment; that is resolved later.
    if segment.max > 0 && field.end() > u32::from(segment.max) {
        let message = format!(
            "{name} {shown} ends at {}, and {} has {} bytes",
            field.end(),
            segment.name,
            segment.max
        );
        found.error(codes::FIELD_OUTSIDE, (spot, "START"), message);
    }
    if field.is_key() {
        key_place(segment, field, spot, found);
    }
    let usual = match field.kind_of_data {
        FieldType::Fullword => field.len == 4,
        FieldType::Halfword => field.len == 2,
        FieldType::Packed => field.len <= 16,
        FieldType::Character | FieldType::Hexadecimal => true,
    };
    if !usual {
        let message = format!(
            "{name} {shown}: TYPE={} with {} bytes is unusual",
            field.kind_of_data, field.len
        );
        found.warning(codes::UNUSUAL_LENGTH, (spot, "BYTES"), message);
    }
}

fn key_place(segment: &Segment, field: &Field, spot: Spot, found: &mut Findings) {
    if field.len > KEY_MAX {
        let message = format!("a key has at most {KEY_MAX} bytes, not {}", field.len);
        found.error(codes::LENGTHS, (spot, "BYTES"), message);
    }
    // DLI-12.43: LL must reach to the end of the key, and stands in front of it.
    if segment.variable && (field.end() > u32::from(segment.min) || field.start < 3) {
        let message = format!(
            "the key of {} lies at {} to {}, and must lie between 3 and the shortest length {}",
            segment.name,
            field.start,
            field.end(),
            segment.min
        );
        found.error(codes::KEY_BEYOND, (spot, "START"), message);
    }
    if field.start_after.is_some() {
        let message = format!("the key of {} needs a fixed place", segment.name);
        found.error(codes::KEY_BEYOND, (spot, "STARTAFTER"), message);
    }
}
