//! From the program's area to stored segments (DLI-12.43 to DLI-12.47).
//!
//! Invariants:
//! 1. The area is taken apart in level order without gaps (DLI-2.15).

use definitions::resolve::{Destination, ViewSegment};
use definitions::{Rule, SegmentPart};

use crate::bytes::{Status, fill, ll, part, to_usize};
use crate::forest::Type;
use crate::lens::Lens;
use crate::types::segment_of;

/// What an insert gives for one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The segment, without its destination parent.
    pub(crate) image: Vec<u8>,
    /// The destination parent's data, if the insert rule asks for it (DLI-12.72).
    pub(crate) joined: Option<Vec<u8>>,
}

/// Takes the segment of a level off the front of the area, for an ISRT.
pub(crate) fn take(lens: &Lens<'_>, seg: usize, area: &mut &[u8]) -> Result<Given, Status> {
    let segment = lens.seg(seg);
    if !segment.access.seen.is_empty() {
        let seen = split(area, to_usize(segment.access.seen_len))?;
        return Ok(Given { image: built(segment, seen), joined: None });
    }
    let image = split(area, length(segment, area)?)?.to_vec();
    let joined = match &segment.destination {
        Some(other) if other.rules.insert != Rule::Physical => {
            Some(split(area, joined_len(lens, other, area)?)?.to_vec())
        }
        _ => None,
    };
    check(segment, &image)?;
    Ok(Given { image, joined })
}

/// `len` bytes off the front. decision: an area that is too short is AB.
pub(crate) fn split<'a>(area: &mut &'a [u8], len: usize) -> Result<&'a [u8], Status> {
    let (taken, rest) = area.split_at_checked(len).ok_or(b"AB")?;
    *area = rest;
    Ok(taken)
}

/// The length of the segment at the front of the area.
pub(crate) fn length(segment: &ViewSegment, area: &[u8]) -> Result<usize, Status> {
    if !segment.form.variable {
        return Ok(usize::from(segment.form.max));
    }
    ll(area, segment.form.min, segment.form.max)
}

/// DLI-12.43: LL reaches to the end of the key.
pub(crate) fn check(segment: &ViewSegment, image: &[u8]) -> Result<(), Status> {
    let end = segment.key.map_or(0, |key| usize::from(key.offset) + usize::from(key.len));
    if image.len() < end { Err(b"V1") } else { Ok(()) }
}

/// DLI-12.46: a segment made of its sensitive fields.
///
/// decision: fills are laid down in the order of the fields; LL is at least the shortest length.
fn built(segment: &ViewSegment, area: &[u8]) -> Vec<u8> {
    let mut image = blank_image(segment);
    let mut end =
        usize::from(if segment.form.variable { segment.form.min } else { segment.form.max });
    for seen in segment.access.seen.iter().filter(|seen| !seen.field.of_destination) {
        let (at, len) = (usize::from(seen.field.offset), usize::from(seen.field.len));
        image[at..at + len].copy_from_slice(part(area, usize::from(seen.offset), len));
        end = end.max(at + len);
    }
    image.truncate(end);
    set_length(segment, &mut image);
    image
}

/// A segment of full length with the fill of each field.
fn blank_image(segment: &ViewSegment) -> Vec<u8> {
    let mut image = vec![0; usize::from(segment.form.max)];
    for field in segment.fields.iter().filter(|field| !field.of_destination) {
        let (at, len) = (usize::from(field.offset), usize::from(field.len));
        image[at..at + len].copy_from_slice(&fill(len, field.kind_of_data));
    }
    image
}

fn set_length(segment: &ViewSegment, image: &mut [u8]) {
    if segment.form.variable && image.len() >= 2 {
        let len = u16::try_from(image.len()).unwrap_or(u16::MAX);
        image[..2].copy_from_slice(&len.to_be_bytes());
    }
}

/// A segment after a REPL through its sensitive fields: a field beyond its end that gets another
/// value than its fill lengthens it (DLI-12.46); REPLACE=NO is DA (DLI-12.47).
pub(crate) fn replaced(
    segment: &ViewSegment,
    old: &[u8],
    before: &[u8],
    area: &[u8],
) -> Result<Vec<u8>, Status> {
    let mut image = old.to_vec();
    for seen in segment.access.seen.iter().filter(|seen| !seen.field.of_destination) {
        let (at, len) = (usize::from(seen.field.offset), usize::from(seen.field.len));
        let value = part(area, usize::from(seen.offset), len);
        if value == part(before, usize::from(seen.offset), len) {
            continue;
        }
        if !seen.replace || seen.field.is_key {
            return Err(b"DA");
        }
        if image.len() < at + len {
            let longer = blank_image(segment);
            image.extend_from_slice(&longer[image.len()..at + len]);
        }
        image[at..at + len].copy_from_slice(value);
    }
    set_length(segment, &mut image);
    Ok(image)
}

/// Whether a segment through SENFLDs shows its key, and where.
pub(crate) fn seen_key(segment: &ViewSegment) -> Option<(usize, usize)> {
    let key = segment.key?;
    if segment.access.seen.is_empty() {
        return Some((usize::from(key.offset), usize::from(key.len)));
    }
    let seen = segment.access.seen.iter().find(|seen| seen.field.name == key.name)?;
    Some((usize::from(seen.offset), usize::from(key.len)))
}

/// The length of the destination parent's data at the front of the area.
fn joined_len(lens: &Lens<'_>, other: &Destination, area: &[u8]) -> Result<usize, Status> {
    match segment_of(lens.dbds, Type::of(&other.home)) {
        Some(segment) if segment.variable => ll(area, segment.min, segment.max),
        _ => Ok(usize::from(other.max)),
    }
}

/// The lengths in the area of a REPL of the segment and of its destination parent's data, of
/// which either may be left out (`SOURCE=`).
pub(crate) fn lengths_in_area(
    lens: &Lens<'_>,
    seg: usize,
    area: &[u8],
) -> Result<(usize, usize), Status> {
    let segment = lens.seg(seg);
    let whole = segment.destination.is_none() || segment.part == SegmentPart::Data;
    let own = if whole { length(segment, area)? } else { 0 };
    let joined = match &segment.destination {
        Some(other) if other.part == SegmentPart::Data => {
            joined_len(lens, other, area.get(own..).unwrap_or(&[]))?
        }
        _ => 0,
    };
    Ok((own, joined))
}
