//! Reading: a run of records forwards, and single records for backout beyond memory.
//!
//! Invariants:
//! 1. Only what is durable is read, so every byte that is looked at is settled.
//! 2. A group that one copy cannot give is taken from the other. If neither can, it is damage.
//! 3. A group is known by its number and by whether it is of this run: what stands in its place
//!    after its segment was freed and used again, or stood there before a crash cut it off, is not
//!    taken for it.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use base::{GroupNumber, Lsn};
use seam::sync::Mutex;

use crate::LogError;
use crate::directory::{GroupAt, Located, Search, Segment};
use crate::group::{Flaw, GroupHead, KeyBook};
use crate::lens::{LENS_BYTES, Lens};
use crate::record::{self, Record, RecordHead, length_of};
use crate::segment::FileAt;
use crate::survey::{Survey, Surveyed};
use crate::walk::Walk;
use crate::writer::Writing;

/// Reads records forwards. Lends each one until the next call.
pub struct LogReader {
    core: Arc<Reading>,
    groups: Groups,
    /// Where the next record begins.
    at: u64,
    /// No record is lent that begins here or behind.
    to: u64,
    /// No group from here on is read.
    undurable: GroupNumber,
    /// The group in view.
    view: Option<View>,
    /// A record that spans groups, put together.
    whole: Vec<u8>,
}

/// A group that was read and opened.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub(crate) stripe: u8,
    pub(crate) offset: u64,
    pub(crate) head: GroupHead,
}

impl LogReader {
    pub(crate) fn new(core: Arc<Reading>, from: Lsn, to: Lsn) -> LogReader {
        let undurable = core.flush_state.lock().undurable();
        LogReader {
            groups: Groups::new(core.book(), LENS_BYTES),
            at: from.0,
            to: to.min(core.positions.landed()).0,
            undurable,
            view: None,
            whole: Vec::new(),
            core,
        }
    }

    /// The next record; `None` behind the last one.
    ///
    /// # Errors
    /// [`LogError::Damaged`] if no copy has a group whole, [`LogError::Gone`] if the position is
    /// no longer in the log.
    #[allow(clippy::should_implement_trait)] // an iterator could not lend
    pub fn next(&mut self) -> Result<Option<Record<'_>>, LogError> {
        if self.at >= self.to || !self.find()? {
            return Ok(None);
        }
        let Some(view) = self.view else { return Ok(None) };
        let skip = (self.at - view.head.first.0) as usize;
        let rest = self.groups.payload(&view).get(skip..).unwrap_or(&[]);
        let mut inside = None;
        if let Some(field) = rest.first_chunk::<4>() {
            let len = self.length(u32::from_le_bytes(*field))?;
            inside = (len <= rest.len() as u64).then_some(len as usize);
        }
        if inside.is_none() && !self.gather(skip)? {
            return Ok(None);
        }
        let lsn = Lsn(self.at);
        let bytes = match inside {
            Some(len) => &self.groups.payload(&view)[skip..skip + len],
            None => &self.whole[..],
        };
        self.at += bytes.len() as u64;
        record::decode(lsn, bytes).map(Some).map_err(|_| LogError::NotARecord { lsn })
    }

    fn length(&self, field: u32) -> Result<u64, LogError> {
        length_of(field).map_err(|_| LogError::NotARecord { lsn: Lsn(self.at) })
    }

    /// Brings the group into view that holds the next record's first byte.
    fn find(&mut self) -> Result<bool, LogError> {
        match &self.view {
            None => {
                let number = self.core.find_group(Lsn(self.at))?;
                self.bring(number)
            }
            Some(view) if self.at < view.head.end().0 => Ok(true),
            Some(_) => self.advance(),
        }
    }

    /// Brings the next group into view. `false` if it is not durable.
    fn advance(&mut self) -> Result<bool, LogError> {
        let Some(view) = &self.view else { return Ok(false) };
        self.bring(GroupNumber(view.head.number.0 + 1))
    }

    fn bring(&mut self, number: GroupNumber) -> Result<bool, LogError> {
        if number >= self.undurable {
            return Ok(false);
        }
        self.view = Some(self.groups.load(&self.core, number)?);
        Ok(true)
    }

    /// Puts a record together that goes on in the groups behind; `skip` is where it begins in the
    /// one in view.
    fn gather(&mut self, mut skip: usize) -> Result<bool, LogError> {
        self.whole.clear();
        loop {
            let Some(view) = self.view else { return Ok(false) };
            let wanted = match self.whole.first_chunk::<4>() {
                Some(field) => self.length(u32::from_le_bytes(*field))? as usize,
                None => 4,
            };
            let payload = self.groups.payload(&view);
            let more = (wanted - self.whole.len()).min(payload.len() - skip);
            self.whole.extend_from_slice(&payload[skip..skip + more]);
            skip += more;
            if self.whole.len() == wanted && wanted > 4 {
                return Ok(true);
            }
            if skip < payload.len() {
                continue;
            }
            if !self.advance()? {
                return Ok(false);
            }
            skip = 0;
            if let Some(View { head, .. }) = self.view
                && head.is_first_of_salt()
            {
                // What was gathered is the piece that a crash has left; a record begins here.
                self.whole.clear();
                self.at = head.first.0;
                if self.at >= self.to {
                    return Ok(false);
                }
            }
        }
    }
}

/// Reads groups by number, from whichever copy has them.
pub(crate) struct Groups {
    book: KeyBook,
    lens_bytes: usize,
    /// By stripe: which copy and slot it looks at.
    lenses: Vec<Option<(u8, u32, Lens)>>,
}

impl Groups {
    /// A reader of groups that shows `lens_bytes` at a time.
    pub(crate) fn new(book: KeyBook, lens_bytes: usize) -> Groups {
        Groups { book, lens_bytes, lenses: Vec::new() }
    }

    pub(crate) fn payload(&self, view: &View) -> &[u8] {
        let lens = self.lenses[usize::from(view.stripe)].as_ref();
        lens.map_or(&[], |(_, _, lens)| lens.payload(view.offset, &view.head))
    }

    /// Reads and opens a group that is durable.
    fn load(&mut self, core: &Reading, number: GroupNumber) -> Result<View, LogError> {
        self.load_keeping(core, number, &mut |_| ())
    }

    /// The same; `keep` sees each try before it is opened (see [`Lens::load_keeping`]).
    pub(crate) fn load_keeping(
        &mut self,
        core: &Reading,
        number: GroupNumber,
        keep: &mut dyn FnMut(&[u8]),
    ) -> Result<View, LogError> {
        let place = core.locate(number)?;
        let (slot, stripe) = (place.files.slot, place.stripe);
        let copies = core.config.copies.len() as u8;
        let seen = self.lenses.get(usize::from(stripe)).and_then(Option::as_ref);
        let preferred = seen.map_or(0, |(copy, ..)| *copy);
        let mut first_flaw = None;
        for copy in (0..copies).map(|turn| (preferred + turn) % copies) {
            match self.load_from(core, number, &place, copy, keep) {
                Ok(head) => return Ok(View { stripe, offset: place.offset, head }),
                Err(flaw) => {
                    first_flaw.get_or_insert((FileAt { copy, slot, stripe }, flaw));
                }
            }
        }
        let nowhere = (FileAt { copy: 0, slot, stripe }, Flaw::Absent);
        let (at, flaw) = first_flaw.unwrap_or(nowhere);
        Err(LogError::Damaged {
            group: number,
            path: at.path(&core.layout()),
            offset: place.offset,
            why: flaw.to_string(),
        })
    }

    /// Reads and opens a group as one copy has it.
    pub(crate) fn load_from(
        &mut self,
        core: &Reading,
        number: GroupNumber,
        place: &Located,
        copy: u8,
        keep: &mut dyn FnMut(&[u8]),
    ) -> Result<GroupHead, Flaw> {
        let file = place.files.get(copy, place.stripe).ok_or(Flaw::Absent)?;
        let slot = place.files.slot;
        let index = usize::from(place.stripe);
        if self.lenses.len() <= index {
            self.lenses.resize_with(index + 1, || None);
        }
        let entry = &mut self.lenses[index];
        let (seen_copy, seen_slot, lens) = entry.get_or_insert_with(|| {
            (copy, slot, Lens::new(Arc::clone(file), core.config.segment_bytes, self.lens_bytes))
        });
        if (*seen_copy, *seen_slot) != (copy, slot) {
            lens.point_at(Arc::clone(file));
            (*seen_copy, *seen_slot) = (copy, slot);
        }
        // A number is not enough: the view may be from before this run wrote the group, and show
        // what the run before had written there and a crash has cut off.
        let ours = number >= core.first_of_run;
        let accept = |head: &GroupHead| match head.number == number {
            true if core.salts.lock().contains(&head.salt) == ours => Ok(()),
            true => Err(Flaw::Salt),
            false => Err(Flaw::Number(head.number)),
        };
        let (book, config) = (&mut self.book, &core.config);
        let seen = lens.load_keeping(place.offset, book, config, accept, keep);
        seen.or_else(|_| {
            // The view may be older than the group, or opened already: look at the disk itself.
            lens.forget();
            let read = lens.load_keeping(place.offset, book, config, accept, keep);
            read.inspect_err(|_| lens.forget())
        })
    }
}

/// The last group that a single record was read from: backout reads its records one by one, and
/// they stand close together.
struct ReadCache {
    groups: Groups,
    view: Option<View>,
}

impl ReadCache {
    fn new(book: KeyBook, lens_bytes: usize) -> ReadCache {
        ReadCache { groups: Groups::new(book, lens_bytes), view: None }
    }

    /// Appends bytes `from..from + len` of the stream to `out`; they are durable.
    fn bytes(
        &mut self,
        core: &Reading,
        from: Lsn,
        len: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), LogError> {
        let mut number = core.find_group(from)?;
        let mut at = from.0;
        let end = from.0 + len as u64;
        while at < end {
            let view = match self.view {
                Some(view) if view.head.number == number => view,
                _ => {
                    self.view = None;
                    let view = self.groups.load(core, number)?;
                    *self.view.insert(view)
                }
            };
            if at < view.head.first.0 || at >= view.head.end().0 {
                return Err(LogError::NotARecord { lsn: from });
            }
            let payload = self.groups.payload(&view);
            let skip = (at - view.head.first.0) as usize;
            let more = (payload.len() - skip).min((end - at) as usize);
            out.extend_from_slice(&payload[skip..skip + more]);
            at += more as u64;
            number = GroupNumber(number.0 + 1);
        }
        Ok(())
    }
}

/// The running log, down from what reads it: the highest of its layers.
pub(crate) struct Reading {
    writing: Writing,
    cache: Mutex<ReadCache>,
}

impl Deref for Reading {
    type Target = Writing;

    #[inline]
    fn deref(&self) -> &Writing {
        &self.writing
    }
}

impl Reading {
    pub(crate) fn new(writing: Writing, book: KeyBook) -> Reading {
        let cache = ReadCache::new(book, writing.config.group_bytes_max);
        Reading { writing, cache: Mutex::new(cache) }
    }

    /// Reads the record at `lsn`; its body replaces what is in `out`.
    pub(crate) fn read_record(&self, lsn: Lsn, out: &mut Vec<u8>) -> Result<RecordHead, LogError> {
        let head_len = record::RECORD_HEADER;
        let end = Lsn(self.ring.next());
        if lsn.0 + head_len as u64 > end.0 {
            return Err(LogError::Beyond { lsn, end });
        }
        self.land(lsn.plus(head_len as u64))?;
        out.clear();
        let mut cache = self.cache.lock();
        cache.bytes(self, lsn, head_len, out)?;
        let Some(field) = out.first_chunk::<4>() else { return Err(LogError::NotARecord { lsn }) };
        let len =
            length_of(u32::from_le_bytes(*field)).map_err(|_| LogError::NotARecord { lsn })?;
        if lsn.0 + len > end.0 {
            return Err(LogError::NotARecord { lsn });
        }
        if self.positions.landed() < lsn.plus(len) {
            drop(cache);
            self.land(lsn.plus(len))?;
            cache = self.cache.lock();
        }
        cache.bytes(self, lsn.plus(head_len as u64), len as usize - head_len, out)?;
        drop(cache);
        let head = record::decode(lsn, out).map_err(|_| LogError::NotARecord { lsn })?.head();
        out.drain(..head_len);
        Ok(head)
    }

    /// Keys for one reader.
    pub(crate) fn book(&self) -> KeyBook {
        KeyBook::new(Arc::clone(&self.env.keys), &self.config.key_label, self.env.system)
    }

    /// The group that holds `lsn`.
    pub(crate) fn find_group(&self, lsn: Lsn) -> Result<GroupNumber, LogError> {
        loop {
            let search = self.directory.lock().search(lsn);
            match search {
                Search::In(number) => return Ok(number),
                Search::Gone(oldest) => return Err(LogError::Gone { lsn, oldest }),
                Search::Unindexed(sequence) => self.index(sequence)?,
            }
        }
    }

    /// Where a group stands.
    pub(crate) fn locate(&self, number: GroupNumber) -> Result<Located, LogError> {
        loop {
            let directory = self.directory.lock();
            let Some(segment) = directory.holding(number) else {
                let oldest = directory.segments.front().map_or(Lsn::FIRST, |s| s.id.first);
                return Err(LogError::Gone { lsn: oldest, oldest });
            };
            if segment.indexed {
                let found = directory.locate(number);
                return found.ok_or(LogError::Beyond {
                    lsn: self.positions.durable(),
                    end: self.positions.durable(),
                });
            }
            let sequence = segment.id.sequence;
            drop(directory);
            self.index(sequence)?;
        }
    }

    /// Walks a segment that restart had no need of, to learn where its groups stand.
    fn index(&self, sequence: u64) -> Result<(), LogError> {
        let (id, files, behind) = {
            let directory = self.directory.lock();
            let mut from = directory.segments.iter().skip_while(|s| s.id.sequence < sequence);
            let Some(Segment { id, files, .. }) = from.next() else { return Ok(()) };
            (*id, Arc::clone(files), from.next().map(|next| next.id.first_group))
        };
        let copies = 0..self.config.copies.len() as u8;
        let mut survey = Survey { files: BTreeMap::new(), dead: Vec::new(), slots: files.slot + 1 };
        for copy in copies.clone() {
            for stripe in 0..id.stripes {
                let Some(file) = files.get(copy, stripe).cloned() else { continue };
                let len = self.config.segment_bytes;
                let at = FileAt { copy, slot: files.slot, stripe };
                survey.files.insert(at, Surveyed { file, len, id: Ok(id) });
            }
        }
        let layout = self.layout();
        let mut walk = Walk::new(&layout, &survey, vec![(files.slot, id)]);
        let mut book = self.book();
        let sources: Vec<u8> = copies.collect();
        let mut groups = Vec::new();
        while behind.is_none_or(|behind| walk.next < behind) {
            match walk.step(&mut book, &sources, &[])? {
                Ok(step) => groups.push(GroupAt::new(step.head.first, step.place.offset())),
                Err(missing) => return Err(walk.missing(&missing, "")),
            }
        }
        let mut directory = self.directory.lock();
        if let Some(segment) = directory.by_sequence(sequence) {
            segment.groups = groups;
            segment.indexed = true;
        }
        Ok(())
    }
}
