//! Which segments are in use, where each group stands in them, and how much room is left.
//!
//! Invariants:
//! 1. Segments are used and freed in the order of their sequence; the last one is the current one
//!    and is never freed.
//! 2. A segment is free once the one behind it begins at or before `needed`, which restart reads
//!    from, and all its groups are archived. What is archived is counted in groups, for positions
//!    can repeat (see `group.rs`).
//! 3. The first LSNs of groups never fall. A group that goes back behind its predecessors, to cut
//!    off the piece of a record that a crash has left, takes theirs down to its own: nothing of
//!    them from there on is part of the log any more.
//! 4. Ordinary records end at `limit` less what is reserved: beyond it lie one segment's worth of
//!    headroom for padding, and what undo has reserved (K15). Undo may make more segments than the
//!    configuration allows, for a log that stops backout is worse than one that is too large; and
//!    because the disk may have no room for those, there are slots for what undo has reserved
//!    before it is needed.

use std::collections::VecDeque;
use std::sync::Arc;

use base::{GroupNumber, Lsn};
use seam::disk::BLOCK;
use seam::failpoint::{Failpoint, armed};

use crate::config::SEGMENT_HEADER;
use crate::segment::{SegmentId, SlotFiles};
use crate::{LogConfig, LogStart, SegmentInfo};

/// A segment in use.
pub(crate) struct Segment {
    pub(crate) id: SegmentId,
    pub(crate) files: Arc<SlotFiles>,
    /// Its groups in order; the first one is `id.first_group`.
    pub(crate) groups: Vec<GroupAt>,
    /// Whether `groups` is complete. Segments before restart's first one are walked when read.
    pub(crate) indexed: bool,
}

/// Where a group stands: its first LSN, and its place in its stripe in blocks of 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupAt {
    pub(crate) first: Lsn,
    pub(crate) block: u32,
}

impl GroupAt {
    pub(crate) fn new(first: Lsn, offset: u64) -> GroupAt {
        GroupAt { first, block: (offset / BLOCK as u64) as u32 }
    }

    /// A group of which nobody knows where it stands.
    pub(crate) fn nowhere(first: Lsn) -> GroupAt {
        GroupAt { first, block: u32::MAX }
    }

    pub(crate) fn offset(self) -> u64 {
        u64::from(self.block) * BLOCK as u64
    }
}

/// A group's place as a reader needs it.
pub(crate) struct Located {
    pub(crate) files: Arc<SlotFiles>,
    pub(crate) stripe: u8,
    pub(crate) offset: u64,
}

/// What a search for a position says.
pub(crate) enum Search {
    /// It is in this group.
    In(GroupNumber),
    /// It is in this segment, which has to be walked first.
    Unindexed(u64),
    /// It is before the oldest segment, which begins here.
    Gone(Lsn),
}

/// Groups that wait to be archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToArchive {
    /// The first of them.
    pub from: GroupNumber,
    /// The group behind the last one.
    pub to: GroupNumber,
    /// Whether they are the last ones of a segment.
    pub full: bool,
}

/// The slots and the segments in them.
pub(crate) struct Directory {
    pub(crate) segments: VecDeque<Segment>,
    pub(crate) free: VecDeque<Arc<SlotFiles>>,
    pub(crate) slots: u32,
    /// No more slots could be made ahead.
    pub(crate) stuck: bool,
    /// There seems to be room again: one more is tried, whether or not it is wanted yet.
    pub(crate) tries: bool,
    /// The segment of that sequence is being repaired: neither it nor any behind it is freed.
    pub(crate) held: Option<u64>,
    pub(crate) needed: Lsn,
    /// How many segments restart walks before the one that holds `needed`: one, if the log may go
    /// on ahead (`restore.rs`).
    pub(crate) walked_before: usize,
    /// Every group before this one is archived; beyond all numbers if nothing need be.
    pub(crate) archived: GroupNumber,
    /// Bytes of the current segment that are written or sealed, over its stripes.
    pub(crate) current_used: u64,
    /// Bytes that still fit into the current segment for sure.
    pub(crate) current_room: u64,
}

impl Directory {
    /// What a log has that was just opened; nothing is known of the current segment yet.
    pub(crate) fn new(
        start: &LogStart,
        segments: VecDeque<Segment>,
        free: VecDeque<Arc<SlotFiles>>,
        slots: u32,
    ) -> Directory {
        Directory {
            segments,
            free,
            slots,
            stuck: false,
            tries: false,
            held: None,
            needed: start.from,
            walked_before: 0,
            archived: start.archived,
            current_used: 0,
            current_room: 0,
        }
    }

    /// Where ordinary records must end if the stream has been taken up to `taken`; `config` is the
    /// layout by now, for the segments to come.
    pub(crate) fn limit(&self, config: &LogConfig, taken: u64) -> u64 {
        let spare = u64::from(self.slots_max(config)).saturating_sub(self.segments.len() as u64);
        let usable = segment_usable(config);
        taken + (self.current_room + spare * usable).saturating_sub(usable)
    }

    /// The segments that ordinary records may have: those that there are, if no more can be made.
    fn slots_max(&self, config: &LogConfig) -> u32 {
        if self.stuck { self.slots } else { config.segments_max }
    }

    /// Bytes that all of them have for groups.
    pub(crate) fn capacity_bytes(&self, config: &LogConfig) -> u64 {
        u64::from(self.slots_max(config)) * config.segment_area(config.stripes)
    }

    /// Whether a slot should be made ahead, where the stream has been taken up to `taken`, and what
    /// undo has reserved ends at `reserved_end`.
    pub(crate) fn wants_slot(&self, config: &LogConfig, taken: u64, reserved_end: u64) -> bool {
        let more = self.slots < config.segments_max && !self.segments.is_empty();
        let lacks = (!self.stuck && self.free.is_empty())
            || reserved_end > early(config, self.reserved_limit(config, taken));
        more && (self.tries || lacks)
    }

    /// Where what undo has reserved must end until another slot is made, so that half of one is
    /// left for padding and for what the kernel logs; anywhere that `limit` allows, if none can be
    /// made.
    pub(crate) fn reserved_limit(&self, config: &LogConfig, taken: u64) -> u64 {
        if self.stuck || self.slots >= config.segments_max {
            return u64::MAX;
        }
        let usable = segment_usable(config);
        taken + (self.current_room + self.free.len() as u64 * usable).saturating_sub(usable / 2)
    }

    /// Frees what is no longer needed; says whether anything was freed.
    pub(crate) fn free_unneeded(&mut self) -> bool {
        let mut freed = false;
        while let Some(behind) = self.segments.get(1).map(|segment| segment.id) {
            let archived = behind.first_group <= self.archived;
            let is_walked = self.first_relief().is_none_or(|first| first > self.needed);
            if is_walked || !(archived || armed(Failpoint::ReusedUnarchived)) {
                break;
            }
            if self.segments.front().is_some_and(|oldest| self.held == Some(oldest.id.sequence)) {
                break;
            }
            let Some(segment) = self.segments.pop_front() else { break };
            self.free.push_back(segment.files);
            freed = true;
        }
        freed
    }

    /// Where a restart must begin for the oldest segment to be free; `None` while there is none to
    /// walk in its place.
    pub(crate) fn first_relief(&self) -> Option<Lsn> {
        self.segments.get(1 + self.walked_before).map(|segment| segment.id.first)
    }

    /// The oldest groups of one segment that are not archived, before `undurable`: all that the
    /// segment holds of them, or with `partial` also those of the current one.
    pub(crate) fn unarchived(&self, undurable: GroupNumber, partial: bool) -> Option<ToArchive> {
        let from = self.archived.max(self.segments.front()?.id.first_group);
        let behind = self.segments.partition_point(|segment| segment.id.first_group <= from);
        let (to, full) = match self.segments.get(behind) {
            Some(next) if next.id.first_group <= undurable => (next.id.first_group, true),
            _ if partial => (undurable, false),
            _ => return None,
        };
        (from < to).then_some(ToArchive { from, to, full })
    }

    /// How many of the oldest segments wait for the archive and for nothing else.
    pub(crate) fn held_by_archive(&self) -> usize {
        let starts = self.segments.iter().skip(1).map(|segment| segment.id);
        let walked = self.segments.iter().skip(1 + self.walked_before);
        let unneeded = walked.take_while(|segment| segment.id.first <= self.needed).count();
        starts.take(unneeded).filter(|behind| behind.first_group > self.archived).count()
    }

    /// Bytes of full segments that are not archived.
    pub(crate) fn unarchived_bytes(&self, config: &LogConfig) -> u64 {
        let behind = self.segments.iter().skip(1).map(|segment| segment.id.first_group);
        let full = self.segments.iter().zip(behind).filter(|(_, first)| *first > self.archived);
        full.map(|(segment, _)| config.segment_area(segment.id.stripes)).sum()
    }

    /// Bytes of segments in use, the current one as far as it is written.
    pub(crate) fn used_bytes(&self, config: &LogConfig) -> u64 {
        self.area_from(config, Lsn::NONE)
    }

    /// The same without the segments that are free once the log is needed from `lsn` on only.
    pub(crate) fn area_from(&self, config: &LogConfig, lsn: Lsn) -> u64 {
        let relief = |index: usize| self.segments.get(index + 1 + self.walked_before);
        let kept = |index: &usize| relief(*index).is_none_or(|segment| segment.id.first > lsn);
        let full = (0..self.segments.len().saturating_sub(1)).filter(kept);
        let areas = full.map(|index| config.segment_area(self.segments[index].id.stripes));
        areas.sum::<u64>() + self.current_used
    }

    /// Notes a group that has been placed in the current segment.
    pub(crate) fn placed(&mut self, number: GroupNumber, at: GroupAt) {
        let current = self.segments.back_mut().expect("a group is placed in a segment");
        let index = number.0 - current.id.first_group.0;
        assert_eq!(index, current.groups.len() as u64, "groups are placed in order");
        current.groups.push(at);
        cut_back(self.segments.iter_mut().rev().map(|segment| &mut segment.groups), at.first);
    }

    /// The group that holds `lsn`: the last one that begins at or before it.
    pub(crate) fn search(&self, lsn: Lsn) -> Search {
        for segment in self.segments.iter().rev() {
            if !segment.indexed {
                if segment.id.first <= lsn {
                    return Search::Unindexed(segment.id.sequence);
                }
                continue;
            }
            let before = segment.groups.partition_point(|group| group.first <= lsn);
            if before > 0 {
                return Search::In(GroupNumber(segment.id.first_group.0 + before as u64 - 1));
            }
        }
        let oldest = self.segments.front().map_or(Lsn::FIRST, |segment| segment.id.first);
        Search::Gone(oldest)
    }

    /// The segment that holds a group.
    pub(crate) fn holding(&self, number: GroupNumber) -> Option<&Segment> {
        let behind = self.segments.partition_point(|s| s.id.first_group <= number);
        self.segments.get(behind.checked_sub(1)?)
    }

    /// Where a group stands, if its segment is indexed.
    pub(crate) fn locate(&self, number: GroupNumber) -> Option<Located> {
        let segment = self.holding(number)?;
        let at = segment.groups.get((number.0 - segment.id.first_group.0) as usize)?;
        let (files, stripe) = (Arc::clone(&segment.files), segment.id.stripe_of(number));
        Some(Located { files, stripe, offset: at.offset() })
    }

    /// The segment of that sequence.
    pub(crate) fn by_sequence(&mut self, sequence: u64) -> Option<&mut Segment> {
        self.segments.iter_mut().find(|segment| segment.id.sequence == sequence)
    }

    /// The same to look at.
    pub(crate) fn by_order(&self, sequence: u64) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.id.sequence == sequence)
    }

    /// How many stripes the segment in a slot has; 0 if the slot is free.
    pub(crate) fn stripes_in(&self, slot: u32) -> u8 {
        let mut used = self.segments.iter().filter(|segment| segment.files.slot == slot);
        used.next_back().map_or(0, |segment| segment.id.stripes)
    }

    /// The files of a slot.
    pub(crate) fn files_of(&self, slot: u32) -> Option<Arc<SlotFiles>> {
        let used = self.segments.iter().map(|segment| &segment.files);
        used.chain(&self.free).find(|files| files.slot == slot).cloned()
    }

    /// The segments in use, oldest first.
    pub(crate) fn list(&self) -> Vec<SegmentInfo> {
        let last = self.segments.len().saturating_sub(1);
        let info = |(index, segment): (usize, &Segment)| SegmentInfo {
            sequence: segment.id.sequence,
            slot: segment.files.slot,
            first: segment.id.first,
            first_group: segment.id.first_group,
            stripes: segment.id.stripes,
            end: self.segments.get(index + 1).map(|next| next.id.first),
            current: index == last,
        };
        self.segments.iter().enumerate().map(info).collect()
    }
}

/// Takes the first LSNs of groups, given newest first, down to `first`.
pub(crate) fn cut_back<'a>(segments: impl Iterator<Item = &'a mut Vec<GroupAt>>, first: Lsn) {
    for group in segments.flat_map(|groups| groups.iter_mut().rev()) {
        if group.first < first {
            break;
        }
        group.first = first;
    }
}

/// What undo reserves up to `limit` calls for another slot half of one before.
pub(crate) fn early(config: &LogConfig, limit: u64) -> u64 {
    limit.saturating_sub(segment_usable(config) / 2)
}

/// Bytes that a new segment takes for sure, however badly its groups fit: each stripe may end with
/// a gap of almost a group.
pub(crate) fn segment_usable(config: &LogConfig) -> u64 {
    let stripe = config.segment_bytes - SEGMENT_HEADER as u64;
    let sure = (stripe - config.group_bytes_max as u64).max(stripe / 2);
    u64::from(config.stripes) * sure
}

/// Bytes that fit into a segment whose stripes are filled up to `offsets`: as much as the fullest
/// stripe takes, for each of them.
pub(crate) fn room_left(config: &LogConfig, offsets: &[u64]) -> u64 {
    let fullest = offsets.iter().copied().max().unwrap_or(0);
    let left = config.segment_bytes.saturating_sub(fullest);
    left.saturating_sub(config.group_bytes_max as u64 / 2) * offsets.len() as u64
}
