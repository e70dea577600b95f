//! The database as a whole and its segments.

use crate::codes;
use crate::finding::{Findings, Spot, nth};
use crate::model::{Dbd, Organization, Segment};

pub(super) fn check(dbd: &Dbd, found: &mut Findings) {
    operands(dbd, found);
    data_sets(dbd, found);
    let organization = dbd.organization;
    if dbd.segments.is_empty() && organization != Organization::Gsam {
        found.error(codes::NO_SEGMENT, (Spot::Member, ""), "the database has no segment");
    }
    if organization.is_root_only() && dbd.segments.len() > 1 {
        let second = (Spot::Segment(1), "NAME");
        let message = format!("{organization} has one segment type only");
        found.error(codes::NOT_HERE, second, message);
    }
    for (at, segment) in dbd.segments.iter().enumerate() {
        check_segment(dbd, segment, Spot::Segment(nth(at)), found);
    }
}

/// Operands of DBD that an organization needs or does not take.
fn operands(dbd: &Dbd, found: &mut Findings) {
    let organization = dbd.organization;
    // A PHDAM takes it from its partitions if the DBD is silent.
    let needs_randomizer = matches!(organization, Organization::Hdam | Organization::Dedb);
    if needs_randomizer && dbd.randomizer.is_none() {
        let message = format!("{organization} needs RMNAME=");
        found.error(codes::MISSING, (Spot::Member, "ACCESS"), message);
    }
    if dbd.fp_index && organization != Organization::Index {
        let message = format!("FPINDEX=YES is for ACCESS=INDEX, not for {organization}");
        found.error(codes::NOT_HERE, (Spot::Member, "FPINDEX"), message);
    }
    if dbd.partition_exit.is_some() && !organization.is_partitioned() {
        let message = format!("PSNAME= has no effect for {organization}");
        found.warning(codes::NO_EFFECT, (Spot::Member, "PSNAME"), message);
    }
}

fn data_sets(dbd: &Dbd, found: &mut Findings) {
    let at = (Spot::Member, "");
    match dbd.organization {
        Organization::Gsam if dbd.data_sets.is_empty() => {
            let message = "a GSAM database needs a DATASET that names its DD";
            found.error(codes::NO_DATA_SET, at, message);
        }
        Organization::Dedb if dbd.areas.is_empty() => {
            found.warning(codes::NO_DATA_SET, at, "the DEDB has no AREA: it gets one of its name");
        }
        Organization::Dedb
        | Organization::Logical
        | Organization::Msdb
        | Organization::Phdam
        | Organization::Phidam
        | Organization::Psindex => {}
        _ if dbd.data_sets.is_empty() => {
            let message = "the database has no DATASET: it is stored under its own name";
            found.warning(codes::NO_DATA_SET, at, message);
        }
        _ => {}
    }
}

fn check_segment(dbd: &Dbd, segment: &Segment, spot: Spot, found: &mut Findings) {
    let organization = dbd.organization;
    let name = segment.name;
    if segment.variable && !organization.takes_variable_length() {
        let message = format!("{organization} has segments of fixed length only");
        found.error(codes::LENGTHS, (spot, "BYTES"), message);
    }
    if segment.variable && segment.min < 4 {
        let message = format!("the segment {name}: LL and some data need at least 4 bytes");
        found.error(codes::LENGTHS, (spot, "BYTES"), message);
    }
    if organization == Organization::Logical && segment.sources.is_empty() {
        let message = format!("the segment {name} of a logical database needs SOURCE=");
        found.error(codes::MISSING, (spot, ""), message);
    }
    let is_physical = organization != Organization::Logical;
    if is_physical && segment.sources.len() > 1 {
        let message = format!("the virtual logical child {name} has one source only");
        found.error(codes::TOO_MANY_VALUES, (spot, "SOURCE"), message);
    }
    let takes_logical = matches!(
        organization,
        Organization::Hisam
            | Organization::Hdam
            | Organization::Hidam
            | Organization::Phdam
            | Organization::Phidam
    );
    let related = segment.logical_parent.is_some() || (is_physical && segment.is_virtual());
    if related && !takes_logical {
        let keyword = if segment.is_virtual() { "SOURCE" } else { "PARENT" };
        let message = format!("{organization} takes no part in logical relationships");
        found.error(codes::NOT_HERE, (spot, keyword), message);
    }
    if segment.logical_parent.is_some() && segment.parent.is_none() {
        let message = format!("{name} is the root, so it cannot be a logical child");
        found.error(codes::CONFLICT, (spot, "PARENT"), message);
    }
    if segment.logical_parent.is_some() && segment.is_virtual() {
        let message = format!("{name} has SOURCE=, so it cannot have a logical parent of its own");
        found.error(codes::CONFLICT, (spot, "SOURCE"), message);
    }
}
