//! Between stored segments and I/O areas: lengths, sensitive fields, concatenated segments.
//!
//! Invariants:
//! 1. Nothing is written or read beyond the area that was given; what does not fit is cut off,
//!    and `filled` never exceeds the area.

use definitions::SegmentPart;
use definitions::resolve::{SeenField, ViewSegment};
use hierarchy::SegmentType;
use store::Store;

use crate::pcb::DbPcb;
use crate::status::Status;
use crate::view::CompiledView;

impl<S: Store> DbPcb<S> {
    /// Puts the lowest segment of the path, which the search stack holds, into the area.
    pub(crate) fn put_lowest(&self, view: &CompiledView, area: &mut [u8]) -> usize {
        let levels = &self.position.levels;
        let node = view.node_at(levels, levels.len());
        self.put_area(view, node, levels.len(), area, 0)
    }

    /// Puts the segment that the search stack holds at a level into the area, behind what is there.
    pub(crate) fn put_area(
        &self,
        view: &CompiledView,
        node: u16,
        level: usize,
        area: &mut [u8],
        at: usize,
    ) -> usize {
        let (data, joined) =
            (&self.search.stack.data[level - 1], &self.search.stack.joined[level - 1]);
        view.put_area(node, data, joined, area, at)
    }
}

impl CompiledView {
    /// The lengths in the area of a REPL of a segment and of its destination parent's data, of
    /// which either may be left out (`SOURCE=`).
    ///
    /// # Errors
    /// As [`given_len`].
    pub(crate) fn lengths_in_area(&self, node: u16, area: &[u8]) -> Result<(usize, usize), Status> {
        let segment = self.segment(node);
        let joined = self.node(node).destination.zip(segment.destination.as_ref());
        let Some((place, destination)) = joined.filter(|_| segment.access.seen.is_empty()) else {
            return Ok((given_len(segment, area)?, 0));
        };
        let own = match segment.part {
            SegmentPart::Data => given_len(segment, area)?,
            SegmentPart::Key => 0,
        };
        if destination.part == SegmentPart::Key {
            return Ok((own, 0));
        }
        let kind = self.databases[place.database].schema.of(place.of);
        Ok((own, joined_len(kind, &area[own..])?))
    }

    /// Puts a segment and its destination parent into the area, behind what is there.
    pub(crate) fn put_area(
        &self,
        node: u16,
        data: &[u8],
        joined: &[u8],
        area: &mut [u8],
        at: usize,
    ) -> usize {
        let segment = self.segment(node);
        if !segment.access.seen.is_empty() {
            let blank = self.database(self.node(node)).blank;
            return put_seen(segment, data, joined, blank, area, at);
        }
        let mut end = at;
        if segment.part == SegmentPart::Data {
            end = put(area, end, data);
        }
        if let Some(destination) = &segment.destination
            && destination.part == SegmentPart::Data
        {
            end = put(area, end, joined);
        }
        end
    }
}

fn put(area: &mut [u8], at: usize, bytes: &[u8]) -> usize {
    let room = area.len().saturating_sub(at);
    let len = bytes.len().min(room);
    area[at..at + len].copy_from_slice(&bytes[..len]);
    at + len
}

/// DLI-12.45 and DLI-12.46: a segment of fixed length, gaps blank.
fn put_seen(
    segment: &ViewSegment,
    data: &[u8],
    joined: &[u8],
    blank: u8,
    area: &mut [u8],
    at: usize,
) -> usize {
    let len = (segment.access.seen_len as usize).min(area.len().saturating_sub(at));
    let own = &mut area[at..at + len];
    own.fill(blank);
    for seen in &segment.access.seen {
        let source = if seen.field.of_destination { joined } else { data };
        let Some(place) = own.get_mut(span(seen)) else { continue };
        let from = usize::from(seen.field.offset);
        match source.get(from..from + usize::from(seen.field.len)) {
            Some(field) => place.copy_from_slice(field),
            None => seen.field.kind_of_data.fill(place, blank),
        }
    }
    at + len
}

fn span(seen: &SeenField) -> std::ops::Range<usize> {
    let from = usize::from(seen.offset);
    from..from + usize::from(seen.field.len)
}

/// How many bytes of the area a segment takes that the program gives, at the beginning of `area`.
///
/// # Errors
/// V1 for an LL out of bounds, AB where the area is too short.
pub(crate) fn given_len(segment: &ViewSegment, area: &[u8]) -> Result<usize, Status> {
    if !segment.access.seen.is_empty() {
        let len = segment.access.seen_len as usize;
        return if area.len() < len { Err(Status::AB) } else { Ok(len) };
    }
    if !segment.form.variable {
        let len = usize::from(segment.form.max);
        return if area.len() < len { Err(Status::AB) } else { Ok(len) };
    }
    let Some((ll, _)) = area.split_first_chunk() else { return Err(Status::AB) };
    let ll = usize::from(u16::from_be_bytes(*ll));
    let key_end = segment.key.map_or(0, |key| usize::from(key.offset) + usize::from(key.len));
    let bounds = usize::from(segment.form.min)..=usize::from(segment.form.max);
    if !bounds.contains(&ll) || ll < key_end || ll < 2 {
        return Err(Status::V1);
    }
    if area.len() < ll { Err(Status::AB) } else { Ok(ll) }
}

/// How many bytes of the area the destination parent's data takes, at the beginning of `area`.
///
/// # Errors
/// As [`given_len`].
pub(crate) fn joined_len(kind: &SegmentType, area: &[u8]) -> Result<usize, Status> {
    let mut len = kind.max;
    if kind.variable {
        let Some(ll) = area.first_chunk() else { return Err(Status::AB) };
        len = usize::from(u16::from_be_bytes(*ll));
        if !(kind.min..=kind.max).contains(&len) || len < 2 {
            return Err(Status::V1);
        }
    }
    if area.len() < len { Err(Status::AB) } else { Ok(len) }
}

/// Makes the segment to insert from what the program gives (DLI-12.45 and DLI-12.46).
pub(crate) fn from_program(segment: &ViewSegment, given: &[u8], blank: u8, to: &mut Vec<u8>) {
    to.clear();
    if segment.access.seen.is_empty() {
        to.extend_from_slice(given);
        return;
    }
    let own = || segment.access.seen.iter().filter(|seen| !seen.field.of_destination);
    let needed = own().map(|seen| usize::from(seen.field.offset) + usize::from(seen.field.len));
    let len = match segment.form.variable {
        true => needed.max().unwrap_or(0).max(usize::from(segment.form.min)),
        false => usize::from(segment.form.max),
    };
    to.resize(len, 0);
    for field in segment.fields.iter().filter(|field| !field.of_destination) {
        let from = usize::from(field.offset);
        if let Some(place) = to.get_mut(from..from + usize::from(field.len)) {
            field.kind_of_data.fill(place, blank);
        }
    }
    for seen in own() {
        let from = usize::from(seen.field.offset);
        let place = to.get_mut(from..from + usize::from(seen.field.len));
        if let (Some(place), Some(field)) = (place, given.get(span(seen))) {
            place.copy_from_slice(field);
        }
    }
    if segment.form.variable {
        put_ll(to);
    }
}

/// Whether the program gives back something else than it was shown, of the segment itself and,
/// through sensitive fields, of its destination parent.
pub(crate) fn differs(
    segment: &ViewSegment,
    old: &[u8],
    joined: &[u8],
    given: &[u8],
    blank: u8,
) -> bool {
    if segment.access.seen.is_empty() {
        return old != given;
    }
    let mut shown = vec![0; segment.access.seen_len as usize];
    put_seen(segment, old, joined, blank, &mut shown, 0);
    shown != given
}

/// Makes the segment that replaces `old` from what the program gives.
///
/// # Errors
/// DA if a field was changed that may not be (DLI-12.47).
pub(crate) fn replaced(
    segment: &ViewSegment,
    old: &[u8],
    given: &[u8],
    blank: u8,
    to: &mut Vec<u8>,
) -> Result<(), Status> {
    to.clear();
    if segment.access.seen.is_empty() {
        to.extend_from_slice(given);
        return Ok(());
    }
    to.extend_from_slice(old);
    let mut shown = Vec::new();
    for seen in segment.access.seen.iter().filter(|seen| !seen.field.of_destination) {
        let Some(field) = given.get(span(seen)) else { continue };
        let from = usize::from(seen.field.offset);
        let end = from + field.len();
        shown.clear();
        match old.get(from..end) {
            Some(was) => shown.extend_from_slice(was),
            None => {
                shown.resize(field.len(), 0);
                seen.field.kind_of_data.fill(&mut shown, blank);
            }
        }
        if field == shown {
            continue;
        }
        if !seen.replace {
            return Err(Status::DA);
        }
        if to.len() < end {
            lengthen(segment, end, blank, to);
        }
        to[from..end].copy_from_slice(field);
    }
    if segment.form.variable {
        put_ll(to);
    }
    Ok(())
}

/// Lengthens a short segment; the fields that come to light hold their fill (DLI-12.46).
fn lengthen(segment: &ViewSegment, end: usize, blank: u8, data: &mut Vec<u8>) {
    let old = data.len();
    data.resize(end, 0);
    for field in segment.fields.iter().filter(|field| !field.of_destination) {
        let from = usize::from(field.offset);
        if from >= old
            && let Some(place) = data.get_mut(from..from + usize::from(field.len))
        {
            field.kind_of_data.fill(place, blank);
        }
    }
}

fn put_ll(data: &mut [u8]) {
    // A segment is shorter than 64 KiB.
    let ll = (data.len() as u16).to_be_bytes();
    if let Some(place) = data.first_chunk_mut() {
        *place = ll;
    }
}
