//! LCHILD and XDFLD as far as one DBD can tell.

use crate::codes;
use crate::finding::{Findings, Spot, nth};
use crate::model::{
    Dbd, FieldKind, FieldName, IndexedField, LchildPointer, LogicalChild, Organization,
};

pub(super) fn check(dbd: &Dbd, found: &mut Findings) {
    for (at, segment) in dbd.segments.iter().enumerate() {
        for (n, child) in segment.children.iter().enumerate() {
            check_child(dbd, child, Spot::Child(nth(at), nth(n)), found);
            if let Some(indexed) = &child.indexed {
                check_indexed(dbd, at, indexed, Spot::Indexed(nth(at), nth(n)), found);
            }
        }
    }
    let has_target = dbd.segments.iter().any(|segment| !segment.children.is_empty());
    if dbd.organization.is_index() && !has_target && !dbd.segments.is_empty() {
        let message = "an index needs an LCHILD that names its target";
        found.error(codes::MISSING, (Spot::Segment(0), ""), message);
    }
}

fn check_child(dbd: &Dbd, child: &LogicalChild, spot: Spot, found: &mut Findings) {
    let organization = dbd.organization;
    let is_index = organization.is_index();
    if is_index && child.index.is_none() {
        let message = "an LCHILD of an index needs INDEX=, the field of its target";
        found.error(codes::MISSING, (spot, ""), message);
    }
    if !is_index && child.index.is_some() {
        let message = format!("INDEX= is for the LCHILD of an index, not for {organization}");
        found.error(codes::NOT_HERE, (spot, "INDEX"), message);
    }
    if is_index && child.indexed.is_some() {
        let message = "an XDFLD stands in the DBD of the target, not in that of the index";
        found.error(codes::NOT_HERE, (spot, ""), message);
    }
    if child.root_key_size.is_some() && organization != Organization::Psindex {
        let message = format!("RKSIZE= is for PSINDEX, not for {organization}");
        found.error(codes::NOT_HERE, (spot, "RKSIZE"), message);
    }
    let points = matches!(child.pointer, Some(LchildPointer::Indx | LchildPointer::Symb) | None);
    if child.indexed.is_some() && !points {
        let message = "the LCHILD of a secondary index has POINTER=INDX or SYMB";
        found.error(codes::CONFLICT, (spot, "POINTER"), message);
    }
    let is_primary = child.pointer == Some(LchildPointer::Indx) && child.indexed.is_none();
    if is_primary && organization == Organization::Phidam {
        let message = "a PHIDAM database has its primary index in its partitions";
        found.warning(codes::NO_EFFECT, (spot, ""), message);
    }
}

fn check_indexed(
    dbd: &Dbd,
    target: usize,
    indexed: &IndexedField,
    spot: Spot,
    found: &mut Findings,
) {
    let source = match indexed.source {
        None => Some(target),
        Some(name) => dbd.position(name),
    };
    let Some(source) = source.filter(|source| dbd.is_within(*source, target)) else {
        let message = format!(
            "the source segment of {} is neither {} nor one of its dependents",
            indexed.name, dbd.segments[target].name
        );
        found.error(codes::INDEX_SOURCE, (spot, "SEGMENT"), message);
        return;
    };
    let mut len = u32::from(indexed.constant.is_some());
    let operands =
        [(&indexed.search, "SRCH"), (&indexed.subsequence, "SUBSEQ"), (&indexed.data, "DDATA")];
    for (names, keyword) in operands {
        for name in names {
            let bytes = check_part(dbd, source, *name, (spot, keyword), found);
            if keyword != "DDATA" {
                len += bytes;
            }
        }
    }
    if len > 255 {
        let message = format!("the key of the index {} has {len} bytes, over 255", indexed.name);
        found.error(codes::LENGTHS, (spot, "SRCH"), message);
    }
}

/// One field of an index; returns its length.
fn check_part(
    dbd: &Dbd,
    source: usize,
    name: FieldName,
    at: (Spot, &'static str),
    found: &mut Findings,
) -> u32 {
    let segment = &dbd.segments[source];
    let Some(field) = segment.field(name) else {
        let message = format!("{}={name}: {} has no such field", at.1, segment.name);
        found.error(codes::INDEX_FIELD, at, message);
        return 0;
    };
    let is_system = matches!(field.kind, FieldKind::ConcatenatedKey | FieldKind::Unique);
    if is_system && at.1 == "SRCH" {
        // DLI-12.68.
        let message = format!("the system field {name} stands in SUBSEQ= or DDATA= only");
        found.error(codes::SYSTEM_FIELD, at, message);
    }
    if field.start_after.is_some() && !is_system {
        let message = format!("{}={name}: the field has no fixed place", at.1);
        found.error(codes::INDEX_FIELD, at, message);
    }
    u32::from(field.len)
}
