//! The log from one position to another, wherever it stands: in archives, in the log, or both.
//!
//! Recovery reads through here and through nothing else.
//!
//! Invariants:
//! 1. Groups come in the order of their numbers, none left out, each naming its predecessor's tag,
//!    across archives, their copies and the log.
//! 2. What one place cannot give, another one gives, group by group: the copies of an archive in
//!    the order of their folders, archives that overlap, the log. Only when none can, there is an
//!    error, and it says what was tried. Nothing is skipped.
//! 3. Records come whole and in order, each once. The piece of a record that a crash has left is
//!    not shown.

use std::sync::Arc;

use base::{GroupNumber, Lsn};
use seal::Tag;
use seam::sync::Mutex;
use wal::{
    Flaw, GroupHead, GroupSource, Log, Record, RecordHead, SealedGroups, decode_record,
    record_length,
};

use crate::{ArchiveCatalog, ArchiveError, ArchiveFile};

/// Archives and, where there is one, the log that goes on from them.
#[derive(Clone)]
pub struct LogSource {
    catalog: Option<Arc<ArchiveCatalog>>,
    log: Option<Arc<Log>>,
}

/// Has the log itself hold what is durable before `to`. One that has stopped is read as it is.
fn settle(log: &Log, to: Lsn) {
    let _ = log.land(to.min(log.durable()));
}

impl LogSource {
    /// A source of archives, of a running log, or of both.
    #[must_use]
    pub fn new(catalog: Option<Arc<ArchiveCatalog>>, log: Option<Arc<Log>>) -> LogSource {
        LogSource { catalog, log }
    }

    pub(crate) fn catalog(&self) -> Option<&Arc<ArchiveCatalog>> {
        self.catalog.as_ref()
    }

    /// Where the source ends: everything before can be read.
    #[must_use]
    pub fn end(&self) -> Lsn {
        let archived = || self.catalog.as_ref().and_then(|catalog| catalog.newest());
        match &self.log {
            Some(log) => {
                settle(log, log.durable());
                log.landed()
            }
            None => archived().map_or(Lsn::NONE, |newest| newest.info.end),
        }
    }

    /// The oldest position that can be asked for; [`Lsn::NONE`] if there is nothing at all.
    #[must_use]
    pub fn oldest(&self) -> Lsn {
        let catalog = self.catalog.as_ref();
        let archives =
            catalog.and_then(|catalog| catalog.list().first().map(|copy| copy.info.first));
        let logged = self.log.as_ref().map(|log| log.oldest()).filter(|lsn| *lsn != Lsn::NONE);
        archives.into_iter().chain(logged).min().unwrap_or(Lsn::NONE)
    }

    /// Where the first archive, or segment of the log, begins that begins behind a group.
    #[must_use]
    pub fn begins_behind(&self, group: GroupNumber) -> Option<Lsn> {
        let archives = self.catalog.as_ref().map(|catalog| catalog.list()).unwrap_or_default();
        let segments = self.log.as_ref().map(|log| log.segments()).unwrap_or_default();
        let archived = archives.iter().map(|copy| (copy.info.from, copy.info.first));
        let logged = segments.iter().map(|segment| (segment.first_group, segment.first));
        let behind = archived.chain(logged).filter(|(from, _)| *from > group);
        behind.min().map(|(_, first)| first)
    }

    /// Reads the records that begin at `from` or behind and before `to`.
    ///
    /// # Errors
    /// [`ArchiveError::Gone`] if `from` is before everything that is left.
    pub fn read(&self, from: Lsn, to: Lsn) -> Result<SourceReader, ArchiveError> {
        self.log.iter().for_each(|log| settle(log, to));
        let first = self.group_before(from)?;
        Ok(SourceReader {
            groups: Groups::from(self.clone(), first),
            from: from.0,
            to: to.0,
            view: None,
            skip: 0,
            aligned: false,
            at: 0,
            whole: Vec::new(),
        })
    }

    /// Reads one record; its body replaces what is in `out`.
    ///
    /// # Errors
    /// As [`LogSource::read`]; [`wal::LogError::NotARecord`] if none begins there.
    pub fn read_record(&self, lsn: Lsn, out: &mut Vec<u8>) -> Result<RecordHead, ArchiveError> {
        let none = || ArchiveError::Log(wal::LogError::NotARecord { lsn });
        let mut reader = self.read(lsn, lsn.plus(1))?;
        let record = reader.next()?.filter(|record| record.lsn == lsn).ok_or_else(none)?;
        out.clear();
        out.extend_from_slice(record.body);
        Ok(record.head())
    }

    /// The first group of the archive or segment that holds `from`.
    fn group_before(&self, from: Lsn) -> Result<GroupNumber, ArchiveError> {
        // In this order: what leaves the log is archived by then.
        let segments = self.log.as_ref().map(|log| log.segments()).unwrap_or_default();
        let archives = self.catalog.as_ref().map(|catalog| catalog.list()).unwrap_or_default();
        let archived = archives.iter().map(|copy| (copy.info.first, copy.info.from));
        let logged = segments.iter().map(|segment| (segment.first, segment.first_group));
        let before = archived.chain(logged).filter(|(first, _)| *first <= from);
        let newest = before.map(|(_, group)| group).max();
        // Before anything was logged, everything is still to come.
        let oldest = self.oldest();
        let first = (oldest == Lsn::NONE).then_some(GroupNumber(1));
        newest.or(first).ok_or(ArchiveError::Gone { lsn: from, oldest })
    }
}

/// Reads records forwards. Lends each one until the next call.
pub struct SourceReader {
    groups: Groups,
    /// Records before are not shown.
    from: u64,
    /// No record is shown that begins here or behind.
    to: u64,
    /// The group in view.
    view: Option<GroupHead>,
    /// How much of its payload has been shown.
    skip: usize,
    /// Whether a record begins there, or goes on that is being put together.
    aligned: bool,
    /// Where the record begins that is being put together.
    at: u64,
    /// A record that spans groups, put together.
    whole: Vec<u8>,
}

impl SourceReader {
    /// The next record; `None` behind the last one.
    ///
    /// # Errors
    /// [`ArchiveError::Missing`] if a group cannot be had from anywhere.
    #[allow(clippy::should_implement_trait)] // an iterator could not lend
    pub fn next(&mut self) -> Result<Option<Record<'_>>, ArchiveError> {
        loop {
            // What stands behind need not be there to be read.
            let between = self.aligned && (self.whole.is_empty() || self.is_whole()?);
            if between && self.place() >= self.to {
                return Ok(None);
            }
            let Some(inside) = self.step()? else { return Ok(None) };
            let (lsn, len) = match inside {
                Some(len) => (self.place(), len),
                None => (self.at, self.whole.len()),
            };
            if lsn >= self.to {
                return Ok(None);
            }
            let begins = self.skip;
            if inside.is_some() {
                self.skip += len;
            }
            if lsn < self.from {
                self.whole.clear();
                continue;
            }
            let bytes = match inside {
                Some(_) => &self.groups.payload()[begins..begins + len],
                None => &self.whole[..],
            };
            let lsn = Lsn(lsn);
            let none = |_| ArchiveError::Log(wal::LogError::NotARecord { lsn });
            return decode_record(lsn, bytes).map(Some).map_err(none);
        }
    }

    /// How far the reader is: everything before was shown.
    #[must_use]
    pub fn position(&self) -> Lsn {
        Lsn(if self.whole.is_empty() { self.place() } else { self.at })
    }

    /// The position of the next byte of the payload in view.
    fn place(&self) -> u64 {
        self.view.map_or(self.from, |head| head.first.0 + self.skip as u64)
    }

    /// Comes to the next record: the length of one that lies in the payload in view, or nothing of
    /// one that has been put together in `whole`. `None` at the end.
    fn step(&mut self) -> Result<Option<Option<usize>>, ArchiveError> {
        // What was shown last is no longer lent.
        if self.is_whole()? {
            self.whole.clear();
        }
        loop {
            let rest = self.groups.payload().get(self.skip..).unwrap_or(&[]);
            if self.view.is_none() || rest.is_empty() || !self.aligned {
                if !self.advance()? {
                    return Ok(None);
                }
                continue;
            }
            if self.whole.is_empty() {
                self.at = self.place();
                let len = match rest.first_chunk::<4>() {
                    Some(field) => self.length(*field)?,
                    None => usize::MAX,
                };
                if len <= rest.len() {
                    return Ok(Some(Some(len)));
                }
            }
            let wanted = match self.whole.first_chunk::<4>() {
                Some(field) => self.length(*field)?,
                None => 4,
            };
            let more = (wanted - self.whole.len()).min(rest.len());
            self.whole.extend_from_slice(&rest[..more]);
            self.skip += more;
            if self.is_whole()? {
                return Ok(Some(None));
            }
        }
    }

    fn is_whole(&self) -> Result<bool, ArchiveError> {
        match self.whole.first_chunk::<4>() {
            Some(field) => Ok(self.length(*field)? == self.whole.len()),
            None => Ok(false),
        }
    }

    fn length(&self, field: [u8; 4]) -> Result<usize, ArchiveError> {
        let none = |_| ArchiveError::Log(wal::LogError::NotARecord { lsn: Lsn(self.at) });
        record_length(u32::from_le_bytes(field)).map(|len| len as usize).map_err(none)
    }

    /// Brings the next group into view. `false` behind the last one.
    fn advance(&mut self) -> Result<bool, ArchiveError> {
        let Some(head) = self.groups.next()? else { return Ok(false) };
        self.view = Some(head);
        self.skip = 0;
        if head.is_first_of_salt() {
            // What was put together is the piece that a crash has left; a record begins here.
            self.whole.clear();
            self.aligned = true;
        } else if !self.aligned
            && let Some(begins) = head.first_record
        {
            self.skip = begins as usize;
            self.aligned = true;
        }
        Ok(true)
    }
}

/// Groups that a log has lost, from archives (2).
pub struct ArchivedGroups {
    source: LogSource,
    /// Where the last one was found: the next one that is asked for often stands behind it.
    last: Mutex<Option<Groups>>,
}

impl ArchivedGroups {
    /// The groups of a catalog.
    #[must_use]
    pub fn new(catalog: Arc<ArchiveCatalog>) -> ArchivedGroups {
        ArchivedGroups { source: LogSource::new(Some(catalog), None), last: Mutex::new(None) }
    }
}

impl GroupSource for ArchivedGroups {
    fn group(&self, number: GroupNumber) -> Result<(GroupHead, Vec<u8>), String> {
        let mut last = self.last.lock();
        let behind = last.take().filter(|groups| groups.next == number);
        let mut groups = behind.unwrap_or_else(|| Groups::from(self.source.clone(), number));
        let found = groups.next().map_err(|error| error.to_string())?;
        let head = found.ok_or_else(|| format!("no archive holds {number}"))?;
        let payload = groups.payload().to_vec();
        *last = Some(groups);
        Ok((head, payload))
    }
}

/// Groups by number, from wherever they can be had.
struct Groups {
    source: LogSource,
    next: GroupNumber,
    previous: Option<Tag>,
    place: Option<Place>,
    /// Places that could not give the next group, and why.
    tried: Vec<(Which, String)>,
}

/// Where groups are being read from.
enum Place {
    Archive(Which, Box<ArchiveFile>),
    Log(Box<SealedGroups>),
}

/// A place that groups can be read from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Which {
    File(std::path::PathBuf),
    Log,
}

impl Groups {
    fn from(source: LogSource, next: GroupNumber) -> Groups {
        Groups { source, next, previous: None, place: None, tried: Vec::new() }
    }

    fn payload(&self) -> &[u8] {
        match &self.place {
            Some(Place::Archive(_, file)) => file.payload(),
            Some(Place::Log(groups)) => groups.payload(),
            None => &[],
        }
    }

    /// The next group; `None` where archives and log end.
    fn next(&mut self) -> Result<Option<GroupHead>, ArchiveError> {
        loop {
            let Some(place) = &mut self.place else {
                if !self.open()? {
                    return Ok(None);
                }
                continue;
            };
            let (which, read) = match place {
                Place::Archive(which, file) => (which.clone(), file.next_group()),
                Place::Log(groups) => {
                    let read = groups.next(&mut |_| ());
                    (Which::Log, read.map_err(ArchiveError::from))
                }
            };
            match read {
                Ok(Some(head)) if head.number < self.next => {}
                Ok(Some(head)) => {
                    if head.number == self.next
                        && self.previous.is_none_or(|previous| previous == head.previous)
                    {
                        self.next = GroupNumber(head.number.0 + 1);
                        self.previous = Some(head.tag);
                        self.tried.clear();
                        return Ok(Some(head));
                    }
                    self.give_up(which, Flaw::Chain.to_string());
                }
                Ok(None) if which == Which::Log => return Ok(None),
                Ok(None) => self.place = None,
                Err(ArchiveError::Log(wal::LogError::Stopped(stopped))) => {
                    return Err(ArchiveError::Stopped(stopped));
                }
                Err(error) => self.give_up(which, error.to_string()),
            }
        }
    }

    fn give_up(&mut self, which: Which, why: String) {
        self.place = None;
        self.tried.push((which, why));
    }

    /// Opens a place that should have the next group. `false` if there is none because everything
    /// ends here.
    fn open(&mut self) -> Result<bool, ArchiveError> {
        // The log first: what it no longer has when it is asked, an archive has by then.
        let log = self.source.log.clone();
        let segments = log.as_ref().map(|log| log.segments()).unwrap_or_default();
        let logged = segments.first().is_some_and(|first| first.first_group <= self.next);
        let tried = |which: &Which| self.tried.iter().any(|(tried, _)| tried == which);
        let catalog = self.source.catalog.clone();
        let archives = catalog.as_ref().map(|catalog| catalog.list()).unwrap_or_default();
        let holding = archives.iter().filter(|copy| copy.info.holds(self.next));
        let files = holding.flat_map(|copy| &copy.files).map(|path| Which::File(path.clone()));
        let file = files.into_iter().find(|which| !tried(which));
        if let (Some(Which::File(path)), Some(catalog)) = (&file, &catalog) {
            let which = Which::File(path.clone());
            match catalog.read_any(path) {
                Ok(opened) => self.place = Some(Place::Archive(which, Box::new(opened))),
                Err(error) => self.give_up(which, error.to_string()),
            }
            return Ok(true);
        }
        if let Some(log) = log.as_ref().filter(|_| logged && !tried(&Which::Log)) {
            let groups = log.sealed(self.next, GroupNumber(u64::MAX));
            self.place = Some(Place::Log(Box::new(groups)));
            return Ok(true);
        }
        let behind = archives.iter().any(|copy| copy.info.to > self.next);
        let ends = !behind && segments.is_empty();
        if ends && self.tried.is_empty() {
            return Ok(false);
        }
        let tries = self.tried.iter().map(|(_, why)| why.clone()).collect::<Vec<_>>();
        let why = if tries.is_empty() { "none holds it".into() } else { tries.join("; ") };
        Err(ArchiveError::Missing { from: self.next, why })
    }
}
