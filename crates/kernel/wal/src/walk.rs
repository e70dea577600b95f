//! The walk: from a segment's first group along the chain to the end of the log.
//!
//! Invariants:
//! 1. A group follows if its number is the next one, it names its predecessor's tag, it begins
//!    where that ended, it was sealed under the same salt or says that it begins a new one, and it
//!    opens. The first group of a salt may go back to the last record border: what stands behind
//!    that border is the piece of a record that a crash has left.
//! 2. Where a group stands follows from its own segment's number of stripes; a segment of another
//!    number begins with the first group behind the change.
//! 3. If no copy has the next group, the log ends, unless something proves that it was durable:
//!    a group of this log with a number W or more further on, or one that was sealed when the
//!    missing one was durable already, or a segment that begins so far on (K7). Then it is damage.
//!    Where the control file says that the log was closed in order at this very group, the rest of
//!    its segment is not looked at, but for what would stand there first if the log had gone on.
//! 4. Damage is passed over only in front of a position that is asked for, and known to have been
//!    durable: up to the next group in the same segment that proves itself and begins there or in
//!    front. From that one on the chain holds as ever.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use base::{GroupNumber, Lsn};
use seal::{Salt, Tag};
use seam::disk::{BLOCK, File};
use seam::failpoint::{Failpoint, armed};

use crate::config::{SEGMENT_HEADER, window_of};
use crate::directory::GroupAt;
use crate::group::{Flaw, GroupHead, KeyBook, VERSION};
use crate::lens::{LENS_BYTES, Lens};
use crate::record::Framer;
use crate::segment::{FileAt, SegmentId};
use crate::survey::Survey;
use crate::wads::Edge;
use crate::{LogConfig, LogEnd, LogError, STRIPES_MAX};

/// A walk over the segments of a log, on up to two copies at once.
pub(crate) struct Walk<'a> {
    config: &'a LogConfig,
    survey: &'a Survey,
    /// The segments from the first to be walked on: slot and identity.
    pub(crate) chain: Vec<(u32, SegmentId)>,
    /// Which of them holds the last group that was found, if one was.
    pub(crate) at: Option<usize>,
    /// Where each stripe goes on in the segment of the last group, which is `segment`.
    offsets: [u64; STRIPES_MAX as usize],
    segment: usize,
    /// Where the next group should stand: which segment of the chain, stripe and offset.
    candidate: (usize, u8, u64),
    pub(crate) next: GroupNumber,
    /// Where the payload of the last group ended.
    pub(crate) end: Lsn,
    pub(crate) previous: Tag,
    salt: Option<Salt>,
    framer: Option<Framer>,
    lenses: BTreeMap<(u8, u8), (u32, Lens)>,
    /// Where the log ended when it was closed in order.
    ended: Option<LogEnd>,
}

/// One group that was found.
pub(crate) struct Step {
    pub(crate) head: GroupHead,
    pub(crate) segment: usize,
    pub(crate) slot: u32,
    pub(crate) stripe: u8,
    pub(crate) place: GroupAt,
    /// The copy that it was read from.
    pub(crate) source: u8,
    /// The copies that lack it, and how.
    pub(crate) lacking: Vec<(u8, Flaw)>,
}

/// Why no copy has the next group: what the first one says.
#[derive(Debug)]
pub(crate) struct Missing {
    copy: u8,
    flaw: Flaw,
}

impl<'a> Walk<'a> {
    /// A walk that begins with the first group of the first segment of `chain`.
    pub(crate) fn new(
        config: &'a LogConfig,
        survey: &'a Survey,
        chain: Vec<(u32, SegmentId)>,
    ) -> Walk<'a> {
        let first = chain.first().map(|(_, id)| *id).unwrap_or(SegmentId {
            sequence: 0,
            first: Lsn::FIRST,
            first_group: GroupNumber(1),
            previous: Tag([0; 16]),
            stripes: config.stripes,
        });
        let fresh = first.sequence == 0 || first.first == Lsn::FIRST;
        Walk {
            config,
            survey,
            chain,
            at: None,
            offsets: [SEGMENT_HEADER as u64; STRIPES_MAX as usize],
            segment: 0,
            candidate: (0, 0, SEGMENT_HEADER as u64),
            next: first.first_group,
            end: first.first,
            previous: first.previous,
            salt: None,
            framer: fresh.then(|| Framer::at(Lsn::FIRST)),
            lenses: BTreeMap::new(),
            ended: None,
        }
    }

    /// The same for a log of which it is known where it ended, if it is.
    pub(crate) fn ends_at(self, ended: Option<LogEnd>) -> Walk<'a> {
        Walk { ended, ..self }
    }

    /// Where the last whole record ends; `border` is a position where one is known to begin.
    pub(crate) fn whole(&self, border: Lsn) -> Lsn {
        self.framer.as_ref().map_or(self.end.min(border), |framer| framer.whole(self.end))
    }

    /// Where the log ends by itself; `whole` is where its last whole record ends.
    pub(crate) fn edge(&self, whole: Lsn) -> Edge {
        Edge { next: self.next, previous: self.previous, end: self.end, whole }
    }

    /// Where the next group of each stripe goes in the segment of the last group.
    pub(crate) fn offsets(&self) -> &[u64] {
        let stripes = self.chain.get(self.segment).map_or(0, |(_, id)| id.stripes);
        &self.offsets[..usize::from(stripes)]
    }

    /// The next group, from the first of `sources` that has it; `checked` are looked at as well.
    pub(crate) fn step(
        &mut self,
        book: &mut KeyBook,
        sources: &[u8],
        checked: &[u8],
    ) -> Result<Result<Step, Missing>, LogError> {
        let first = sources.first().copied().unwrap_or(0);
        let Some((slot, place)) = self.place() else {
            return Ok(Err(Missing { copy: first, flaw: Flaw::Absent }));
        };
        let (segment, stripe, _) = self.candidate;
        let mut found: Option<(GroupHead, u8)> = None;
        let mut lacking = Vec::new();
        let mut contradicted = false;
        for copy in sources.iter().chain(checked).copied() {
            let at = FileAt { copy, slot, stripe };
            match (self.load(book, at, place, found.as_ref().map(|(head, _)| head)), &found) {
                (Ok(head), None) if sources.contains(&copy) => found = Some((head, copy)),
                (Ok(_), _) => contradicted = true,
                (Err(flaw), _) => lacking.push((copy, flaw)),
            }
        }
        let Some((head, source)) = found else {
            // A newer Holdfast writes its version to all copies; alone it is damage.
            let knows = |(_, flaw): &(u8, Flaw)| {
                !matches!(flaw, Flaw::Version(_) | Flaw::Io(_) | Flaw::Absent)
            };
            contradicted |= lacking.iter().any(knows);
            for (copy, flaw) in &lacking {
                if !(contradicted && matches!(flaw, Flaw::Version(_))) {
                    self.refuse(FileAt { copy: *copy, slot, stripe }, place, flaw)?;
                }
            }
            // What nobody can read is no end: it may be readable later, and was acknowledged then.
            // All files of a segment were there before its first group was written.
            let unread = |copy: &u8| {
                let unread = |flaw: &Flaw| matches!(flaw, Flaw::Io(_) | Flaw::Absent);
                lacking.iter().any(|(of, flaw)| of == copy && unread(flaw))
            };
            let nobody_reads = sources.iter().all(unread);
            let (copy, flaw) = lacking.swap_remove(0);
            if nobody_reads {
                return Err(self.damaged(FileAt { copy, slot, stripe }, place, &flaw, ""));
            }
            return Ok(Err(Missing { copy, flaw }));
        };
        if let Err(flaw) = self.follow(&head, source, slot, stripe, place) {
            return Err(self.damaged(FileAt { copy: source, slot, stripe }, place, &flaw, ""));
        }
        let step = Step { head, segment, slot, stripe, place, source, lacking };
        if self.segment != segment {
            self.segment = segment;
            self.offsets.fill(SEGMENT_HEADER as u64);
        }
        self.at = Some(self.segment);
        self.offsets[usize::from(stripe)] += head.disk_len() as u64;
        self.next = GroupNumber(head.number.0 + 1);
        self.end = head.end();
        self.previous = head.tag;
        self.salt = Some(head.salt);
        Ok(Ok(step))
    }

    /// The payload of the group that was just found.
    pub(crate) fn payload(&self, step: &Step) -> &[u8] {
        let (_, lens) = &self.lenses[&(step.source, step.stripe)];
        lens.payload(step.place.offset(), &step.head)
    }

    /// Where the next group must stand: at the front of a segment that begins with it, or behind
    /// the others of its stripe.
    fn place(&mut self) -> Option<(u32, GroupAt)> {
        let stripe = self.chain.get(self.segment).map_or(0, |(_, id)| id.stripe_of(self.next));
        let of_now = armed(Failpoint::StripesOfNow);
        let stripe =
            if of_now { (self.next.0 % u64::from(self.config.stripes)) as u8 } else { stripe };
        self.candidate = (self.segment, stripe, self.offsets[usize::from(stripe)]);
        if let Some((_, id)) = self.chain.get(self.segment + 1)
            && id.first_group == self.next
            && id.sequence == self.chain[self.segment].1.sequence + 1
        {
            self.candidate = (self.segment + 1, id.stripe_of(self.next), SEGMENT_HEADER as u64);
        }
        let (segment, _, offset) = self.candidate;
        let (slot, _) = self.chain.get(segment)?;
        (offset < self.config.segment_bytes).then(|| (*slot, GroupAt::new(Lsn::NONE, offset)))
    }

    fn load(
        &mut self,
        book: &mut KeyBook,
        at: FileAt,
        place: GroupAt,
        twin: Option<&GroupHead>,
    ) -> Result<GroupHead, Flaw> {
        let surveyed = self.survey.files.get(&at).ok_or(Flaw::Absent)?;
        let file = &surveyed.file;
        let expected = Expected {
            number: self.next,
            end: self.end,
            begun: self.at.is_some(),
            previous: self.previous,
            salt: self.salt,
            border: self.framer.as_ref().map(|framer| framer.whole(self.end)),
            twin: twin.copied(),
        };
        let len = surveyed.len.min(self.config.segment_bytes);
        let (slot, lens) = self.lenses.entry((at.copy, at.stripe)).or_insert_with(|| {
            (at.slot, Lens::new(file.clone(), self.config.segment_bytes, LENS_BYTES))
        });
        if *slot != at.slot {
            lens.point_at(file.clone());
            *slot = at.slot;
        }
        lens.limit(len);
        lens.load(place.offset(), book, self.config, |head| expected.accepts(head))
    }

    /// Flaws that are no end of the log, whatever follows.
    fn refuse(&self, at: FileAt, place: GroupAt, flaw: &Flaw) -> Result<(), LogError> {
        match flaw {
            Flaw::Version(found) => Err(LogError::FutureVersion {
                path: at.path(self.config),
                offset: place.offset(),
                found: *found,
                known: VERSION,
            }),
            // The group follows, but may not be opened, or may not be plain.
            Flaw::Key(_) | Flaw::Plain => Err(self.damaged(at, place, flaw, "")),
            _ => Ok(()),
        }
    }

    /// The error for a step that found nothing where a group must be.
    pub(crate) fn missing(&self, missing: &Missing, proof: &str) -> LogError {
        let (segment, stripe, offset) = self.candidate;
        let slot = self.chain.get(segment).or(self.chain.last()).map_or(0, |(slot, _)| *slot);
        let at = FileAt { copy: missing.copy, slot, stripe };
        self.damaged(at, GroupAt::new(Lsn::NONE, offset), &missing.flaw, proof)
    }

    /// Where the group should stand that was looked for last.
    pub(crate) fn sought(&self) -> (usize, GroupAt) {
        let (segment, _, offset) = self.candidate;
        (segment, GroupAt::new(self.end, offset))
    }

    fn damaged(&self, at: FileAt, place: GroupAt, flaw: &Flaw, proof: &str) -> LogError {
        LogError::Damaged {
            group: self.next,
            path: at.path(self.config),
            offset: place.offset(),
            why: format!("{flaw}{proof}"),
        }
    }

    /// Follows the records of a group that was found, and checks its word about the first one.
    fn follow(
        &mut self,
        head: &GroupHead,
        source: u8,
        slot: u32,
        stripe: u8,
        place: GroupAt,
    ) -> Result<(), Flaw> {
        let (at, lens) = &self.lenses[&(source, stripe)];
        assert_eq!(*at, slot, "the lens still looks at the group");
        let payload = lens.payload(place.offset(), head);
        if head.is_first_of_salt() {
            self.framer = Some(Framer::at(head.first));
        }
        match (&mut self.framer, head.first_record) {
            (Some(framer), first_record) => {
                let begins = framer.feed(head.first, payload)?;
                if begins == first_record { Ok(()) } else { Err(Flaw::Record) }
            }
            (None, None) => Ok(()),
            (None, Some(begins)) => {
                let first = head.first.plus(u64::from(begins));
                let mut framer = Framer::at(first);
                framer.feed(first, &payload[begins as usize..])?;
                self.framer = Some(framer);
                Ok(())
            }
        }
    }

    /// After a step that found nothing: whether that is the end of the log, or damage (K7).
    pub(crate) fn judge(
        &mut self,
        book: &mut KeyBook,
        copies: &[u8],
        missing: &Missing,
    ) -> Result<(), LogError> {
        if armed(Failpoint::EndTooEarly) {
            return Ok(());
        }
        let current = self.chain.get(self.segment).map_or(0, |(_, id)| id.sequence);
        for (at, surveyed) in &self.survey.files {
            if !copies.contains(&at.copy) {
                continue;
            }
            let file = &surveyed.file;
            let stripe = usize::from(at.stripe);
            let (from, all) = match &surveyed.id {
                Ok(id) if id.sequence == 0 || id.sequence < current => {
                    (SEGMENT_HEADER as u64, false)
                }
                Ok(id) if id.sequence == current => {
                    (self.offsets.get(stripe).copied().unwrap_or(SEGMENT_HEADER as u64), true)
                }
                Ok(id) if id.first_group.0 >= self.next.0 + window_of(id.stripes) => {
                    return Err(self.proven(*at, 0, missing));
                }
                Ok(_) | Err(_) => (SEGMENT_HEADER as u64, true),
            };
            let len = surveyed.len.min(self.config.segment_bytes) / BLOCK as u64 * BLOCK as u64;
            let to = if all { len } else { len.min(from + BLOCK as u64) };
            let is_current = surveyed.id.as_ref().is_ok_and(|id| id.sequence == current);
            if is_current && self.is_known_end() && !self.goes_on(file, from, to) {
                continue;
            }
            // One group needs no window for many.
            let window = LENS_BYTES.min(to.saturating_sub(from) as usize);
            let mut lens = Lens::new(file.clone(), len.max(BLOCK as u64), window);
            if let Some(offset) = self.proof(book, &mut lens, from, to) {
                return Err(self.proven(*at, offset, missing));
            }
        }
        Ok(())
    }

    /// Whether the walk has come to where the control file says that the log was closed in order.
    fn is_known_end(&self) -> bool {
        let here = LogEnd { next: self.next, last: self.previous };
        self.ended == Some(here)
    }

    /// Whether anything near behind a known end looks as if the log went on: then the control file
    /// is older than the log, and its word says nothing of what is behind. A group that is missing
    /// may be one group long, and the next one begins right behind it.
    fn goes_on(&self, file: &Arc<dyn File>, from: u64, to: u64) -> bool {
        let near = to.min(from + 2 * self.config.group_bytes_max as u64);
        let window = LENS_BYTES.min(near.saturating_sub(from) as usize).max(BLOCK);
        let mut lens = Lens::new(Arc::clone(file), to.max(BLOCK as u64), window);
        (from..near).step_by(BLOCK).any(|offset| {
            // What cannot be read is looked at as ever.
            let read = lens.bring(offset, BLOCK);
            read.map(|()| GroupHead::decode(lens.view(offset, BLOCK)))
                .map_or(true, |head| head.is_ok_and(|head| head.number >= self.next))
        })
    }

    /// Goes on behind groups that no copy has, if the log is asked for from `needed` on, and they
    /// stand in front of it (4). Returns their numbers.
    pub(crate) fn pass_over(
        &mut self,
        book: &mut KeyBook,
        copies: &[u8],
        needed: Lsn,
    ) -> Option<Range<u64>> {
        if self.end >= needed {
            return None;
        }
        let (segment, ..) = self.candidate;
        let (slot, id) = *self.chain.get(segment)?;
        let mut offsets = match segment == self.segment {
            true => self.offsets,
            false => [SEGMENT_HEADER as u64; STRIPES_MAX as usize],
        };
        let mut next: Option<GroupHead> = None;
        for stripe in 0..id.stripes {
            let offset = &mut offsets[usize::from(stripe)];
            let at = |copy: &u8| FileAt { copy: *copy, slot, stripe };
            let found = copies.iter().filter_map(|copy| self.find_behind(book, at(copy), *offset));
            let Some((place, head)) = found.min_by_key(|(_, head)| head.number) else { continue };
            *offset = place;
            next = next.into_iter().chain([head]).min_by_key(|head| head.number);
        }
        let next = next.filter(|head| head.first <= needed)?;
        let passed = self.next.0..next.number.0;
        (self.segment, self.offsets, self.at) = (segment, offsets, Some(segment));
        (self.next, self.end, self.previous) = (next.number, next.first, next.previous);
        (self.salt, self.framer) = (None, None);
        self.lenses.clear();
        Some(passed)
    }

    /// The first group of a file, from an offset on, that proves itself and comes behind the one
    /// that is missing.
    fn find_behind(&self, book: &mut KeyBook, at: FileAt, from: u64) -> Option<(u64, GroupHead)> {
        let surveyed = self.survey.files.get(&at)?;
        let len = surveyed.len.min(self.config.segment_bytes) / BLOCK as u64 * BLOCK as u64;
        let mut lens = Lens::new(surveyed.file.clone(), len.max(BLOCK as u64), LENS_BYTES);
        for offset in (from..len).step_by(BLOCK) {
            let front =
                lens.bring(offset, BLOCK).map(|()| GroupHead::decode(lens.view(offset, BLOCK)));
            if !front.is_ok_and(|head| head.is_ok_and(|head| head.number > self.next)) {
                continue;
            }
            match lens.load(offset, book, self.config, |_| Ok(())) {
                Ok(head) => return Some((offset, head)),
                Err(_) => lens.forget(),
            }
        }
        None
    }

    /// The first place in a file with a group that proves that the missing one was durable.
    fn proof(&self, book: &mut KeyBook, lens: &mut Lens, from: u64, to: u64) -> Option<u64> {
        let next = self.next.0;
        let window = window_of(STRIPES_MAX);
        let proves = |head: &GroupHead| head.number.0 >= next + window || head.undurable.0 > next;
        let mut offset = from;
        while offset + BLOCK as u64 <= to {
            // What cannot be read proves nothing.
            let candidate = lens.bring(offset, BLOCK).is_ok()
                && GroupHead::decode(lens.view(offset, BLOCK)).is_ok_and(|head| proves(&head));
            if candidate {
                if lens.load(offset, book, self.config, |_| Ok(())).is_ok() {
                    return Some(offset);
                }
                // Opening has spoilt the view; a forged length must not hide what stands behind.
                lens.forget();
            }
            offset += BLOCK as u64;
        }
        None
    }

    fn proven(&self, proof: FileAt, offset: u64, missing: &Missing) -> LogError {
        let path = proof.path(self.config);
        let proof = format!("; that it was durable is proven by {} at {offset}", path.display());
        self.missing(missing, &proof)
    }
}

/// What the next group must say about itself.
struct Expected {
    number: GroupNumber,
    end: Lsn,
    begun: bool,
    previous: Tag,
    salt: Option<Salt>,
    border: Option<Lsn>,
    twin: Option<GroupHead>,
}

impl Expected {
    fn accepts(&self, head: &GroupHead) -> Result<(), Flaw> {
        if head.number != self.number {
            return Err(Flaw::Number(head.number));
        }
        if let Some(twin) = &self.twin {
            return if twin == head { Ok(()) } else { Err(Flaw::Chain) };
        }
        // Without a border, this is the first group of the walk, or the records before it are
        // one long one.
        let border = self.border.unwrap_or(head.first);
        let back = head.first_of_salt && head.first == border && head.first <= self.end;
        let first_of_walk = !self.begun && head.first_of_salt && head.first <= self.end;
        if head.first != self.end && !back && !first_of_walk {
            return Err(Flaw::Position(head.first));
        }
        if armed(Failpoint::ChainNotChecked) {
            return Ok(());
        }
        if head.previous != self.previous {
            return Err(Flaw::Chain);
        }
        match self.salt {
            Some(salt) if (salt == head.salt) == head.first_of_salt => Err(Flaw::Salt),
            _ => Ok(()),
        }
    }
}
