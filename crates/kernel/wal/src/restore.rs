//! Restoring a log at open: find its end, make its copies alike, make it ready to go on.
//!
//! Invariants:
//! 1. What is taken as the log is the longest valid chain over all copies that may be trusted;
//!    then every living copy holds it, byte for byte, durably (K8).
//! 2. A copy that is recorded as stale gives nothing from its first missing group on, unless there
//!    is no other and the override was given (K9).
//! 3. The log reaches everything that the caller can prove, or it is refused (K6).
//! 4. The end that was found is the end for every later restart, too, also if nothing is appended
//!    and copies become readable or trusted again.
//! 5. A slot has a file for each stripe of its segment and for each that a new segment gets. Those
//!    that neither needs are removed, once their headers say that they are free.
//! 6. Groups in front of what restart reads that neither a copy nor an archive has are passed over,
//!    and named: whatever reads them is told then.
//! 7. Headers of segments beyond the end are voided before anything is appended, so that a later
//!    walk never turns into them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use base::{GroupNumber, Lsn};
use seal::Tag;
use seam::disk::{BLOCK, File, missing_file};
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;

use crate::config::window_of;
use crate::directory::{GroupAt, Segment, cut_back};
use crate::flush_state::CopyState;
use crate::group::{GroupHead, KeyBook};
use crate::group_lost;
use crate::sealer::Current;
use crate::segment::{
    FileAt, HeadSealer, SegmentId, SlotFiles, group_chunks, make_file, sync_folders, write_zeros,
};
use crate::survey::{Survey, Surveyed};
use crate::wads::{self, Beyond};
use crate::walk::{Step, Walk};
use crate::{LogConfig, LogEnv, LogError, LogStart, STRIPES_MAX};

/// A log that is ready to go on.
pub(crate) struct Restored {
    pub(crate) slots: u32,
    pub(crate) free: VecDeque<Arc<SlotFiles>>,
    pub(crate) segments: VecDeque<Segment>,
    pub(crate) current: Option<Current>,
    pub(crate) sequence: u64,
    pub(crate) next: GroupNumber,
    pub(crate) previous: Tag,
    pub(crate) end: Lsn,
    /// What only the write-ahead data set has, from `end` on.
    pub(crate) ahead: Beyond,
    pub(crate) copies: Vec<CopyState>,
    /// Copies that cannot be used, the first group that they may lack, and why.
    pub(crate) lost: Vec<(u8, GroupNumber, String)>,
    pub(crate) repaired: u64,
    pub(crate) notes: Vec<String>,
}

/// Finds the end of the log and makes its copies alike.
pub(crate) fn restore(
    env: &LogEnv,
    config: &LogConfig,
    book: &mut KeyBook,
    heads: &HeadSealer,
    start: &LogStart,
) -> Result<Restored, LogError> {
    let mut dead: Vec<(u8, String)> = Vec::new();
    let mut put_back = Vec::new();
    let mut lost_to = None;
    loop {
        let mut survey = Survey::take(env, config, book, true)?;
        for (copy, why) in &dead {
            survey.forget(*copy, why);
        }
        let trust = Trust::decide(config, &survey, start)?;
        survey.check_legible(config)?;
        let all = survey.segments(config, &trust.sources)?;
        let found = match Found::search(env, config, book, &survey, &all, &trust, start, lost_to) {
            Ok(found) => found,
            // What no copy has, an archive may have.
            Err(error) => {
                let (copies, last) = (&trust.sources, put_back.last().copied());
                match group_lost::put_back(config, book, &survey, copies, last, error) {
                    Ok(group) => put_back.push(group),
                    Err(LogError::Damaged { group, .. })
                        if lost_to < Some(group) && !survey.has_illegible(copies) =>
                    {
                        lost_to = Some(group);
                    }
                    Err(error) => return Err(error),
                }
                continue;
            }
        };
        let mut repair =
            LogRepair { env, config, heads, survey: &mut survey, found: &found, repaired: 0 };
        match repair.all(&trust) {
            // A copy died while the other one was repaired from it: the other one alone may do.
            Err((copy, error)) => dead.push((copy, error.to_string())),
            Ok(lost) => {
                let repaired = repair.repaired;
                let mut restored = finish(config, start, found, &survey, trust, lost, repaired)?;
                restored.repaired += put_back.len() as u64;
                let note = |group| format!("no copy of the log had {group}: an archive gave it");
                restored.notes.extend(put_back.iter().map(note));
                return Ok(restored);
            }
        }
    }
}

/// Puts together what was found and repaired; an error if no copy is left.
fn finish(
    config: &LogConfig,
    start: &LogStart,
    found: Found,
    survey: &Survey,
    trust: Trust,
    mut lost: Vec<(u8, LogError)>,
    repaired: u64,
) -> Result<Restored, LogError> {
    let copies = 0..config.copies.len() as u8;
    if lost.len() == copies.len() {
        return Err(lost.swap_remove(0).1);
    }
    let is_lost = |copy: u8| lost.iter().any(|(lost, _)| *lost == copy);
    let state = |copy| if is_lost(copy) { CopyState::Lost } else { CopyState::Living };
    let states: Vec<CopyState> = copies.map(state).collect();
    let from = |copy| found.lost_from(copy, config, start);
    let lost: Vec<_> =
        lost.iter().map(|(copy, why)| (*copy, from(*copy), why.to_string())).collect();
    let mut notes = trust.notes;
    notes.extend(found.passed.iter().cloned());
    if repaired > 0 {
        notes.push(format!("{repaired} groups were copied from one log copy to the other"));
    }
    if !found.ahead.bytes.is_empty() {
        let bytes = found.ahead.bytes.len();
        notes.push(format!("{bytes} bytes of records were taken from the write-ahead data set"));
    }
    for (copy, from, why) in &lost {
        notes.push(format!("log copy {} cannot be used, stale from {from}: {why}", copy + 1));
    }
    let files = slot_files(survey, &states);
    Ok(Restored { copies: states, lost, repaired, notes, ..found.assemble(&files) })
}

/// Which copies may be believed.
pub(crate) struct Trust {
    /// Copies that groups are taken from.
    pub(crate) sources: Vec<u8>,
    /// A copy that is stale from a group on; a source before it.
    stale: Option<(u8, GroupNumber)>,
    /// Copies that are there, or can be made anew: an empty folder can.
    present: Vec<u8>,
    notes: Vec<String>,
}

impl Trust {
    pub(crate) fn decide(
        config: &LogConfig,
        survey: &Survey,
        start: &LogStart,
    ) -> Result<Trust, LogError> {
        let copies = 0..config.copies.len() as u8;
        let usable: Vec<u8> = copies.clone().filter(|copy| survey.has_files(*copy)).collect();
        let present = copies.filter(|copy| survey.dead[usize::from(*copy)].is_none()).collect();
        let mut trust = Trust { sources: usable, stale: None, present, notes: Vec::new() };
        if trust.sources.is_empty() {
            let path = config.copies[0].clone();
            let dead = survey.dead.iter().flatten().next();
            return Err(dead.map_or(LogError::Missing { path: path.clone() }, |why| {
                LogError::io("use", path, std::io::Error::other(why.clone()))
            }));
        }
        let Some((copy, from)) = start.stale else { return Ok(trust) };
        let others: Vec<u8> = trust.sources.iter().copied().filter(|c| *c != copy).collect();
        if armed(Failpoint::StaleCopyPreferred) && trust.sources.contains(&copy) {
            trust.sources = vec![copy];
        } else if !others.is_empty() {
            trust.sources = others;
            trust.stale = Some((copy, from));
        } else if start.override_stale {
            let lost = format!("everything from {from} on that only the other copy had is lost");
            trust.notes.push(format!("stale log copy {} was used: {lost}", copy + 1));
        } else {
            return Err(LogError::Stale { copy: copy + 1, from });
        }
        Ok(trust)
    }

    /// The copies that may give group `number`.
    pub(crate) fn sources_of(&self, number: GroupNumber) -> Vec<u8> {
        let stale = self.stale.filter(|(copy, from)| number < *from && self.present.contains(copy));
        self.sources.iter().copied().chain(stale.map(|(copy, _)| copy)).collect()
    }

    /// Whether a copy may lack some of the groups before `end`.
    fn is_stale(&self, copy: u8, end: GroupNumber) -> bool {
        self.stale.is_some_and(|(stale, from)| stale == copy && from < end)
    }

    /// The copies that must have it in the end.
    pub(crate) fn checked(&self, sources: &[u8]) -> Vec<u8> {
        self.present.iter().copied().filter(|copy| !sources.contains(copy)).collect()
    }
}

/// A group to be written on a copy that lacks it.
struct Repair {
    copy: u8,
    source: u8,
    slot: u32,
    stripe: u8,
    offset: u64,
    len: usize,
}

/// What the walk has found.
struct Found {
    /// Segments before the walk, oldest first.
    older: Vec<(u32, SegmentId)>,
    chain: Vec<(u32, SegmentId)>,
    /// The groups of each segment of `chain`.
    groups: Vec<Vec<GroupAt>>,
    /// Which segment of `chain` holds the last group.
    last: Option<usize>,
    offsets: Vec<u64>,
    next: GroupNumber,
    previous: Tag,
    end: Lsn,
    /// What only the write-ahead data set has, from `end` on.
    ahead: Beyond,
    repairs: Vec<Repair>,
    /// What was passed over, in words.
    passed: Vec<String>,
}

impl Found {
    /// Walks the log from the segment on that restart needs. Groups in front of what it needs that
    /// nobody has are passed over, but none behind `lost_to`.
    #[allow(clippy::too_many_arguments)] // all of what a start is given
    fn search(
        env: &LogEnv,
        config: &LogConfig,
        book: &mut KeyBook,
        survey: &Survey,
        all: &BTreeMap<u64, (u32, SegmentId)>,
        trust: &Trust,
        start: &LogStart,
        lost_to: Option<GroupNumber>,
    ) -> Result<Found, LogError> {
        let split = split_at(all, start);
        let (older, chain) = split.map_err(|gone| survey.explain(config, gone))?;
        let mut groups: Vec<Vec<GroupAt>> = chain.iter().map(|_| Vec::new()).collect();
        let (mut repairs, mut piece, mut passed) = (Vec::new(), Vec::new(), Vec::new());
        let mut walk = Walk::new(config, survey, chain).ends_at(start.ended);
        loop {
            let error = match advance(&mut walk, book, trust) {
                Ok(None) => break,
                Err(error) => error,
                Ok(Some(step)) => {
                    let offset = step.place.offset();
                    if start.ahead.is_some() {
                        let whole = walk.whole(start.from);
                        keep_piece(&mut piece, &step.head, walk.payload(&step), whole);
                    }
                    groups[step.segment].push(GroupAt::new(step.head.first, offset));
                    cut_back(groups.iter_mut().rev(), step.head.first);
                    repairs.extend(step.lacking.iter().map(|(copy, _)| Repair {
                        copy: *copy,
                        source: step.source,
                        slot: step.slot,
                        stripe: step.stripe,
                        offset,
                        len: step.head.disk_len(),
                    }));
                    continue;
                }
            };
            let (segment, first) = walk.sought();
            let may = lost_to.is_some_and(|last| walk.next <= last);
            let gone = may.then(|| walk.pass_over(book, &trust.sources, start.from)).flatten();
            let Some(gone) = gone else { return Err(error) };
            // Nothing is known of those behind the first one but that they are gone, too.
            let others = gone.clone().skip(1).map(|_| GroupAt::nowhere(walk.end));
            groups[segment].extend(std::iter::once(first).chain(others));
            passed.push(passed_over(&gone, &error));
        }
        let end = walk.whole(start.from);
        let ahead = wads::beyond(env, config, book, start, &walk.edge(end), &piece)?;
        let proven = start.proven.max(start.from);
        if ahead.end() < proven {
            return Err(LogError::RolledBack { end: ahead.end(), proven });
        }
        let (next, previous, last) = (walk.next, walk.previous, walk.at);
        let offsets = walk.offsets().to_vec();
        let chain = walk.chain;
        Ok(Found {
            older,
            chain,
            groups,
            last,
            offsets,
            next,
            previous,
            end: ahead.first,
            ahead,
            repairs,
            passed,
        })
    }

    /// The segments in use, oldest first.
    fn in_use(&self) -> impl Iterator<Item = &(u32, SegmentId)> {
        let behind = self.last.map_or(0, |last| last + 1);
        self.older.iter().chain(&self.chain[..behind])
    }

    /// What the headers in a slot must say, in those stripes that its segment has.
    fn wanted(&self, slot: u32) -> SegmentId {
        let found = self.in_use().find(|(used, _)| *used == slot);
        found.map_or(SegmentId::FREE, |(_, id)| *id)
    }

    /// How many stripes a slot must have files for.
    fn stripes(&self, config: &LogConfig, slot: u32) -> u8 {
        config.stripes.max(self.wanted(slot).stripes)
    }

    /// The first group behind an older segment.
    fn end_of(&self, slot: u32) -> GroupNumber {
        let all = self.older.iter().chain(&self.chain);
        let mut behind = all.skip_while(|(older, _)| *older != slot).skip(1);
        behind.next().map_or(self.next, |(_, id)| id.first_group)
    }

    fn is_older(&self, slot: u32) -> bool {
        self.older.iter().any(|(older, _)| *older == slot)
    }

    /// The first group that a lost copy may lack.
    fn lost_from(&self, copy: u8, config: &LogConfig, start: &LogStart) -> GroupNumber {
        let known = start.stale.filter(|(stale, _)| *stale == copy);
        let stripes = self.last.map_or(config.stripes, |last| self.chain[last].1.stripes);
        let durable = self.next.0.saturating_sub(window_of(stripes)).max(1);
        known.map_or(GroupNumber(durable), |(_, from)| from)
    }

    fn assemble(self, files: &[Arc<SlotFiles>]) -> Restored {
        let file = |slot: u32| Arc::clone(&files[slot as usize]);
        let used: Vec<u32> = self.in_use().map(|(slot, _)| *slot).collect();
        let free = (0..files.len() as u32).filter(|slot| !used.contains(slot)).map(file).collect();
        let before = self.chain.first().map_or(0, |(_, id)| id.sequence.saturating_sub(1));
        let sequence = self.last.map_or(before, |last| self.chain[last].1.sequence);
        let current = self.last.map(|last| {
            let (slot, id) = self.chain[last];
            let headed = vec![true; usize::from(id.stripes)];
            Current { id, files: file(slot), offsets: self.offsets.clone(), headed }
        });
        let older = self.older.iter().map(|(slot, id)| (*slot, *id, Vec::new(), false));
        let walked = self.chain.iter().zip(self.groups);
        let walked = walked.map(|((slot, id), groups)| (*slot, *id, groups, true));
        let count = used.len();
        let segments = older.chain(walked).take(count);
        let segments = segments
            .map(|(slot, id, groups, indexed)| Segment { id, files: file(slot), groups, indexed })
            .collect();
        Restored {
            slots: files.len() as u32,
            free,
            segments,
            current,
            sequence,
            next: self.next,
            previous: self.previous,
            end: self.end,
            ahead: self.ahead,
            copies: Vec::new(),
            lost: Vec::new(),
            repaired: 0,
            notes: Vec::new(),
        }
    }
}

/// The next group of a walk; nothing where the log ends.
pub(crate) fn advance(
    walk: &mut Walk<'_>,
    book: &mut KeyBook,
    trust: &Trust,
) -> Result<Option<Step>, LogError> {
    let sources = trust.sources_of(walk.next);
    match walk.step(book, &sources, &trust.checked(&sources))? {
        Ok(step) => Ok(Some(step)),
        Err(missing) => walk.judge(book, &trust.sources, &missing).map(|()| None),
    }
}

/// What is to be known of groups that nobody has, and a start has done without.
fn passed_over(gone: &Range<u64>, error: &LogError) -> String {
    let count = match gone.end - gone.start {
        1 => String::new(),
        count => format!("{count} groups of the log from group{} on are lost; ", gone.start),
    };
    format!(
        "{count}{error}; no start needs it, but a recovery that reads across it does: make image \
         copies now, `holdfast image-copy --all --to FOLDER`"
    )
}

type Chain = Vec<(u32, SegmentId)>;

/// Keeps what the log has behind its last whole record, which ends at `whole`.
pub(crate) fn keep_piece(piece: &mut Vec<u8>, head: &GroupHead, payload: &[u8], whole: Lsn) {
    let behind = match whole.0.checked_sub(head.first.0) {
        Some(behind) => {
            piece.clear();
            behind as usize
        }
        None => 0,
    };
    piece.extend_from_slice(payload.get(behind..).unwrap_or(&[]));
}

/// The segments before the one that holds `from`, as far back as they follow each other, and those
/// from it on. If the log may go on ahead, also the one before: the position may be ahead of all
/// groups, and a border of records must be met before they end.
pub(crate) fn split_at(
    all: &BTreeMap<u64, (u32, SegmentId)>,
    start: &LogStart,
) -> Result<(Chain, Chain), LogError> {
    let from = start.from;
    let Some((_, (_, oldest))) = all.first_key_value() else { return Ok((vec![], vec![])) };
    let first = all.values().rev().find(|(_, id)| id.first <= from);
    let Some((_, first)) = first else {
        return Err(LogError::Gone { lsn: from, oldest: oldest.first });
    };
    let before = all.get(&(first.sequence - 1)).filter(|_| start.ahead.is_some());
    let begin = before.map_or(first.sequence, |(_, before)| before.sequence);
    let chain: Chain = all.range(begin..).map(|(_, segment)| *segment).collect();
    let mut older = Vec::new();
    let mut sequence = begin - 1;
    while let Some(segment) = all.get(&sequence) {
        older.push(*segment);
        sequence -= 1;
    }
    older.reverse();
    Ok((older, chain))
}

/// Brings the copies to what was found.
struct LogRepair<'a> {
    env: &'a LogEnv,
    config: &'a LogConfig,
    heads: &'a HeadSealer,
    survey: &'a mut Survey,
    found: &'a Found,
    repaired: u64,
}

/// Which copy failed, and how.
type Failed = (u8, LogError);

impl LogRepair<'_> {
    /// Makes all copies whole. Returns those that cannot be; an error if one died that another
    /// one was to be repaired from.
    fn all(&mut self, trust: &Trust) -> Result<Vec<Failed>, Failed> {
        let mut lost = Vec::new();
        for copy in 0..self.config.copies.len() as u8 {
            let repaired = match &self.survey.dead[usize::from(copy)] {
                Some(why) => {
                    let path = self.config.copies[usize::from(copy)].clone();
                    Err((copy, LogError::io("use", path, std::io::Error::other(why.clone()))))
                }
                None => self.copy(copy, trust),
            };
            match repaired {
                Err((failed, error)) if failed == copy => lost.push((copy, error)),
                other => other?,
            }
        }
        Ok(lost)
    }

    /// Makes one copy whole.
    fn copy(&mut self, copy: u8, trust: &Trust) -> Result<(), Failed> {
        let mine = |error| (copy, error);
        let mut made = false;
        for slot in 0..self.survey.slots {
            match self.slot(copy, slot, trust) {
                Err((_, error)) if error.lacks_room() && !made && self.is_unfinished(slot) => {
                    self.forget_last(slot);
                    break;
                }
                done => made |= done?,
            }
        }
        if made {
            let disk = self.env.seam.disk.as_ref();
            sync_folders(disk, self.config, copy, false).map_err(mine)?;
        }
        for repair in self.found.repairs.iter().filter(|repair| repair.copy == copy) {
            let Repair { source, slot, stripe, offset, len, .. } = *repair;
            let (from, to) = (FileAt { copy: source, slot, stripe }, FileAt { copy, slot, stripe });
            self.transfer(from, to, offset, len)?;
            self.repaired += 1;
        }
        self.seal_end(copy)
    }

    /// Makes the files of a slot whole. Says whether some were made, or taken away.
    fn slot(&mut self, copy: u8, slot: u32, trust: &Trust) -> Result<bool, Failed> {
        let mine = |error| (copy, error);
        let mut made = false;
        let stripes = self.found.stripes(self.config, slot);
        for stripe in 0..STRIPES_MAX {
            let at = FileAt { copy, slot, stripe };
            if stripe < stripes {
                made |= self.complete(at).map_err(mine)?;
                self.head(at, trust)?;
            } else if self.survey.files.contains_key(&at) {
                self.head(at, trust)?;
                self.remove(at).map_err(mine)?;
                made = true;
            }
        }
        Ok(made)
    }

    /// Whether the maker of a slot may have been interrupted: it is the last one, two are left
    /// without it, and no segment stands in it.
    fn is_unfinished(&self, slot: u32) -> bool {
        let is_last = slot + 1 == self.survey.slots && slot >= 2;
        is_last && self.found.in_use().all(|(used, _)| *used < slot)
    }

    /// Forgets the last slot, whose maker was interrupted, and that the disk has no room for: a log
    /// lives in those that it has, and makes others once there is room.
    fn forget_last(&mut self, slot: u32) {
        let (config, disk) = (self.config, self.env.seam.disk.as_ref());
        for copy in 0..config.copies.len() as u8 {
            for stripe in 0..STRIPES_MAX {
                let at = FileAt { copy, slot, stripe };
                self.survey.files.remove(&at);
                // What cannot be removed now the next start makes whole, or forgets.
                let _ = disk.remove(&at.path(config));
            }
            // The other copy may be one that is lost.
            let _ = sync_folders(disk, config, copy, false);
        }
        self.survey.slots = slot;
    }

    /// Makes sure that the end that was found stays the end: a stale copy, or one that could not
    /// be read just now, may hold a group that would follow once it is believed again.
    fn seal_end(&self, copy: u8) -> Result<(), Failed> {
        let Found { next, last: Some(last), .. } = self.found else { return Ok(()) };
        let stripe = self.found.chain[*last].1.stripe_of(*next);
        let offset = self.found.offsets[usize::from(stripe)];
        if offset >= self.config.segment_bytes {
            return Ok(());
        }
        let at = FileAt { copy, slot: self.found.chain[*last].0, stripe };
        let file = self.file(at)?;
        let failed = |verb, error| (copy, LogError::io(verb, at.path(self.config), error));
        let mut block = AlignedBuf::zeroed(BLOCK);
        file.read_at(&mut block, offset).map_err(|error| failed("read", error))?;
        if GroupHead::decode(&block).is_ok_and(|head| head.number == *next) {
            block.fill(0);
            file.write_at(&block, offset).map_err(|error| failed("write", error))?;
        }
        Ok(())
    }

    /// Makes a file that is missing, and fills up one that is too short: its maker was interrupted.
    fn complete(&mut self, at: FileAt) -> Result<bool, LogError> {
        let config = self.config;
        let failed = |verb| move |error| LogError::io(verb, at.path(config), error);
        match self.survey.files.get(&at) {
            Some(Surveyed { len, .. }) if *len >= config.segment_bytes => return Ok(false),
            Some(Surveyed { file, len, .. }) => {
                write_zeros(file.as_ref(), *len, config.segment_bytes).map_err(failed("fill"))?;
                file.sync().map_err(failed("sync"))?;
                return Ok(false);
            }
            None => {}
        }
        let file = make_file(self.env, config, self.heads, at)?;
        let (len, id) = (config.segment_bytes, Ok(SegmentId::FREE));
        self.survey.files.insert(at, Surveyed { file, len, id });
        Ok(true)
    }

    /// Takes a file away that no segment needs, of a stripe that is not written any more.
    fn remove(&mut self, at: FileAt) -> Result<(), LogError> {
        let path = at.path(self.config);
        self.survey.files.remove(&at);
        self.env.seam.disk.remove(&path).map_err(|error| LogError::io("remove", path, error))
    }

    /// Makes a file's header say what it must; fills a segment that was not walked.
    fn head(&mut self, at: FileAt, trust: &Trust) -> Result<(), Failed> {
        let wanted = self.found.wanted(at.slot).in_stripe(at.stripe);
        let older = self.found.is_older(at.slot) && wanted != SegmentId::FREE;
        let stale = older && trust.is_stale(at.copy, self.found.end_of(at.slot));
        if self.survey.id(at) == Some(&wanted) && !stale {
            return Ok(());
        }
        let file = self.file(at)?;
        if older {
            let sources = trust.sources.iter().filter(|copy| **copy != at.copy);
            let mut twins = sources.map(|copy| FileAt { copy: *copy, ..at });
            if let Some(twin) = twins.find(|twin| self.survey.id(*twin) == Some(&wanted)) {
                for (offset, len) in group_chunks(self.config) {
                    self.transfer(twin, at, offset, len)?;
                }
            }
        }
        let written = self.heads.write(self.config, &wanted, at, file.as_ref());
        written.map_err(|error| (at.copy, error))?;
        if let Some(surveyed) = self.survey.files.get_mut(&at) {
            surveyed.id = Ok(wanted);
        }
        Ok(())
    }

    /// Copies bytes as they are, sealed, from one copy to the other.
    fn transfer(&self, from: FileAt, to: FileAt, offset: u64, len: usize) -> Result<(), Failed> {
        let failed =
            |at: FileAt, verb, error| (at.copy, LogError::io(verb, at.path(self.config), error));
        let mut bytes = AlignedBuf::zeroed(len);
        let read = self.file(from)?.read_at(&mut bytes, offset);
        read.map_err(|error| failed(from, "read", error))?;
        let written = self.file(to)?.write_at(&bytes, offset);
        written.map_err(|error| failed(to, "write", error))
    }

    fn file(&self, at: FileAt) -> Result<Arc<dyn File>, Failed> {
        let surveyed = self.survey.files.get(&at);
        surveyed.map(|surveyed| Arc::clone(&surveyed.file)).ok_or_else(|| {
            let gone = missing_file();
            (at.copy, LogError::io("open", at.path(self.config), gone))
        })
    }
}

/// The open files of all slots on the living copies.
fn slot_files(survey: &Survey, states: &[CopyState]) -> Vec<Arc<SlotFiles>> {
    let slots = 0..survey.slots;
    slots
        .map(|slot| {
            let mut files = SlotFiles::new(slot);
            for (at, surveyed) in &survey.files {
                let living = states[usize::from(at.copy)] == CopyState::Living;
                if at.slot == slot && living {
                    files.set(at.copy, at.stripe, Arc::clone(&surveyed.file));
                }
            }
            Arc::new(files)
        })
        .collect()
}
