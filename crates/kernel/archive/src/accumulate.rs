//! Making accumulations, and reading the log of some data sets through them.
//!
//! Invariants:
//! 1. The file grows under a name that nobody reads; it is synced before it gets its own, in each
//!    folder; the registry is told last.
//! 2. Whoever reads through accumulations gets every record that concerns his data sets once and
//!    in order, be it from an accumulation or from the log. A damaged accumulation costs time,
//!    nothing else, for as long as the log it was made of is still archived.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{DataSetId, Lsn, UowId};
use recon::pieces;
use seal::{Format, Salt};
use seam::disk::{BLOCK, Create, File, Open};
use seam::failpoint::{Failpoint, armed};
use wal::Record;
use zstd::bulk::Compressor;

use crate::accumulation::is_accumulation;
use crate::accumulation::{
    Accumulation, AccumulationFile, AccumulationInfo, BLOCK_BYTES, BLOCK_HEAD, BLOCK_TAG_AT,
    SETS_MAX, block_head, key_of, put_record,
};
use crate::header::HEADER_BYTES;
use crate::place::{Replaces, fresh_name, give_name};
use crate::{ArchiveCatalog, ArchiveEnv, ArchiveError, LogSource, Needs, Registry, Span};

/// Whom a record concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// A recovery of this data set.
    Set(DataSetId),
    /// Whoever is concerned by its unit of work.
    Unit,
    /// The same, and it is the last word about that unit.
    End,
    /// Every recovery.
    Everybody,
    /// No recovery of a data set from a copy.
    Nobody,
}

/// Whether a record concerns some data sets, looked at in the order of the log.
struct Sieve<'s> {
    sets: &'s [DataSetId],
    concern: fn(&Record<'_>) -> Concern,
    /// Units of work that have changed one of the sets.
    mine: BTreeSet<UowId>,
    /// Units of work of which every record was seen.
    begun: BTreeSet<UowId>,
}

impl<'s> Sieve<'s> {
    fn new(sets: &'s [DataSetId], concern: fn(&Record<'_>) -> Concern) -> Sieve<'s> {
        Sieve { sets, concern, mine: BTreeSet::new(), begun: BTreeSet::new() }
    }

    fn keeps(&mut self, record: &Record<'_>) -> bool {
        let uow = record.uow;
        if uow != UowId::NONE && record.previous == Lsn::NONE {
            self.begun.insert(uow);
        }
        // Of a unit that began before, nobody knows here what it changed there.
        let is_mine = self.mine.contains(&uow) || !self.begun.contains(&uow);
        match (self.concern)(record) {
            Concern::Set(set) => {
                let kept = self.sets.contains(&set);
                if kept && uow != UowId::NONE {
                    self.mine.insert(uow);
                }
                kept
            }
            Concern::Unit => is_mine,
            Concern::End => {
                self.mine.remove(&uow);
                self.begun.remove(&uow);
                is_mine
            }
            Concern::Everybody => true,
            Concern::Nobody => false,
        }
    }
}

/// The level of compression: accumulations are read once and written once.
const LEVEL: i32 = 1;

struct Maker<'m> {
    env: &'m ArchiveEnv,
    files: Vec<(PathBuf, Arc<dyn File>)>,
    info: AccumulationInfo,
    key: Arc<seal::WorkingKey>,
    compressor: Compressor<'static>,
    raw: Vec<u8>,
    blocks: u64,
}

impl ArchiveCatalog {
    /// Merges what concerns `sets` in a range of the archived log. `tell` hears how far it is, and
    /// may end it.
    ///
    /// # Errors
    /// A piece of the log that cannot be had; whatever disk and keys say; what `tell` says.
    pub fn accumulate(
        self: &Arc<ArchiveCatalog>,
        sets: &[DataSetId],
        range: Range<Lsn>,
        concern: fn(&Record<'_>) -> Concern,
        registry: &dyn Registry,
        tell: &mut dyn FnMut(Lsn) -> Result<(), ArchiveError>,
    ) -> Result<Accumulation, ArchiveError> {
        let sets: Vec<DataSetId> =
            sets.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        if sets.is_empty() || sets.len() > SETS_MAX {
            let why = format!("{} data sets; an accumulation has 1 to {SETS_MAX}", sets.len());
            return Err(ArchiveError::Config { why });
        }
        let _alone = self.accumulating.lock();
        let source = LogSource::new(Some(Arc::clone(self)), None);
        let mut reader = source.read(range.start, range.end)?;
        let mut maker = Maker::begin(self, sets.clone(), range)?;
        let mut sieve = Sieve::new(&sets, concern);
        let mut made = || -> Result<(), ArchiveError> {
            while let Some(record) = reader.next()? {
                tell(record.lsn)?;
                if sieve.keeps(&record) {
                    maker.add(&record)?;
                }
            }
            maker.block()
        };
        let made = made();
        let finished = made.and_then(|()| maker.finish());
        let accumulation = match finished {
            Ok(accumulation) => accumulation,
            Err(error) => {
                maker.abandon();
                return Err(error);
            }
        };
        let recorded = registry.accumulated(&accumulation.info, &accumulation.files);
        recorded.map_err(|why| ArchiveError::Accumulation { why })?;
        self.look()?;
        Ok(accumulation)
    }

    /// Deletes the accumulations that end before everything that a recovery may ask for.
    ///
    /// # Errors
    /// Whatever the registry or the disk says.
    pub fn delete_accumulations(&self, registry: &dyn Registry) -> Result<u64, ArchiveError> {
        let (_alone, _changing) = (self.accumulating.lock(), self.changing.lock());
        let needed = Needs::of(registry).map_err(|why| ArchiveError::Accumulation { why })?.from();
        let all = self.accumulations();
        let old: Vec<_> = all.iter().filter(|one| one.info.end <= needed).collect();
        for one in &old {
            let recorded = registry.deleting_accumulation(&one.info);
            recorded.map_err(|why| ArchiveError::Accumulation { why })?;
            self.forget(&one.info);
            for path in &one.files {
                let folder = path.parent().unwrap_or(Path::new("."));
                let disk = &self.env.seam.disk;
                let gone = disk.remove(path).and_then(|()| disk.sync_dir(folder));
                gone.map_err(|error| ArchiveError::io("delete", path, error))?;
            }
        }
        Ok(old.len() as u64)
    }

    /// Files of accumulations that do not prove themselves from front to back, and why.
    #[must_use]
    pub fn damaged_accumulations(&self) -> Vec<(PathBuf, ArchiveError)> {
        let disk = self.env.seam.disk.as_ref();
        let mut damaged = Vec::new();
        for folder in &self.config.folders {
            let mut names = disk.list(folder).unwrap_or_default();
            names.retain(|name| is_accumulation(name));
            names.sort();
            for path in names.into_iter().map(|name| folder.join(name)) {
                // One that somebody has deleted meanwhile is not damaged.
                if let Err(error) = self.prove_accumulation(&path)
                    && matches!(disk.exists(&path), Ok(true))
                {
                    damaged.push((path, error));
                }
            }
        }
        damaged
    }

    fn prove_accumulation(&self, path: &Path) -> Result<(), ArchiveError> {
        let mut file = AccumulationFile::open(&self.env, path)?;
        while file.next_record()?.is_some() {}
        Ok(())
    }

    /// Deletes a file of an accumulation that is damaged: what it was made of serves instead. The
    /// registry knows before it goes.
    ///
    /// # Errors
    /// What else is wrong with it, such as that it needs another key: it stays then; whatever the
    /// registry or the disk says.
    pub fn delete_damaged(&self, path: &Path, registry: &dyn Registry) -> Result<(), ArchiveError> {
        let (_alone, _changing) = (self.accumulating.lock(), self.changing.lock());
        match self.prove_accumulation(path) {
            Ok(()) => return Ok(()),
            Err(ArchiveError::Damaged { .. }) => {}
            Err(other) => return Err(other),
        }
        let recorded = registry.deleting_damaged(path);
        recorded.map_err(|why| ArchiveError::Accumulation { why })?;
        self.remove(path)?;
        self.look_alone()
    }
}

impl<'m> Maker<'m> {
    fn begin(
        catalog: &'m ArchiveCatalog,
        sets: Vec<DataSetId>,
        range: Range<Lsn>,
    ) -> Result<Maker<'m>, ArchiveError> {
        let Range { start: first, end } = range;
        let env = &catalog.env;
        let salt = Salt::draw(env.seam.entropy.as_ref()).map_err(ArchiveError::Entropy)?;
        let mut book = env.book();
        // Nothing in it says by itself where the log was plain, so all of it has to have been.
        let was_plain = env.plain_span().has_group(first, end);
        let format = if was_plain { env.format } else { Format::Sealed };
        let info = AccumulationInfo {
            sets,
            first,
            end,
            made_us: env.seam.clock.utc_us(),
            format,
            generation: book.current(format)?,
            block_bytes: 0,
            records: 0,
            salt,
        };
        let key = key_of(&mut book, &info)
            .map_err(|flaw| ArchiveError::Config { why: format!("its key: {flaw}") })?;
        let mut files = Vec::new();
        for folder in &catalog.config.folders {
            let path = folder.join(info.file_name());
            let fresh = fresh_name(env.system, &path);
            let how = Open { create: Create::IfMissing, write: true, direct: false, dsync: false };
            let opened = env.seam.disk.open(&fresh, how).and_then(|file| {
                file.set_len(0)?;
                Ok(file)
            });
            let file = opened.map_err(|error| ArchiveError::io("make", &fresh, error))?;
            files.push((path, file));
        }
        let compressor = Compressor::new(LEVEL)
            .map_err(|error| ArchiveError::Config { why: format!("zstd: {error}") })?;
        Ok(Maker { env, files, info, key, compressor, raw: Vec::new(), blocks: 0 })
    }

    fn add(&mut self, record: &Record<'_>) -> Result<(), ArchiveError> {
        if armed(Failpoint::AccumulatedTooLittle) && self.info.records == 3 {
            self.info.records += 1;
            return Ok(());
        }
        put_record(record, &mut self.raw);
        self.info.records += 1;
        if self.raw.len() >= BLOCK_BYTES { self.block() } else { Ok(()) }
    }

    /// Seals and writes what has gathered.
    fn block(&mut self) -> Result<(), ArchiveError> {
        if self.raw.is_empty() {
            return Ok(());
        }
        self.blocks += 1;
        let packed = self.compressor.compress(&self.raw);
        let mut packed =
            packed.map_err(|error| ArchiveError::io("compress", self.info.file_name(), error))?;
        let mut head = block_head(packed.len(), self.raw.len(), self.blocks);
        let tag = self.key.seal(self.blocks, &head[..BLOCK_TAG_AT], &mut packed);
        head[BLOCK_TAG_AT..].copy_from_slice(&tag.0);
        let bytes = [&head[..], &packed].concat();
        self.write(&bytes, HEADER_BYTES as u64 + self.info.block_bytes)?;
        self.info.block_bytes += (BLOCK_HEAD + packed.len()) as u64;
        self.raw.clear();
        Ok(())
    }

    fn write(&self, bytes: &[u8], offset: u64) -> Result<(), ArchiveError> {
        for (path, file) in &self.files {
            let written = file.write_at(bytes, offset);
            written.map_err(|error| ArchiveError::io("write", path, error))?;
        }
        Ok(())
    }

    /// Ends the file: it is durable and has its name when this returns.
    fn finish(&mut self) -> Result<Accumulation, ArchiveError> {
        let behind = HEADER_BYTES as u64 + self.info.block_bytes;
        let padding = behind.next_multiple_of(BLOCK as u64) - behind;
        self.write(&vec![0; padding as usize], behind)?;
        let mut header = vec![0; HEADER_BYTES];
        self.info.encode(self.env.system, &self.key, &mut header);
        self.write(&header, 0)?;
        let disk = &self.env.seam.disk;
        for (path, file) in &self.files {
            let failed = |error| ArchiveError::io("name", path, error);
            file.sync().map_err(failed)?;
            give_name(self.env, path, Replaces::Own)?;
            disk.sync_dir(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        }
        let files = self.files.iter().map(|(path, _)| path.clone()).collect();
        Ok(Accumulation { info: self.info.clone(), files })
    }

    /// Leaves nothing unfinished behind.
    fn abandon(&self) {
        for (path, _) in &self.files {
            // What cannot be removed, the next start removes.
            let _ = self.env.seam.disk.remove(&fresh_name(self.env.system, path));
        }
    }
}

impl LogSource {
    /// Gives every record in a range of positions that concerns data sets where they count
    /// to `each`, until it says `false`: from accumulations where there are any that end by then
    /// and have all of the data sets that count there, and otherwise from archives and log. Where
    /// none of them counts nothing is read: it may be gone.
    ///
    /// # Errors
    /// As [`LogSource::read`], and what `each` says.
    pub fn each_of<E: From<ArchiveError>>(
        &self,
        spans: &[Span],
        range: Range<Lsn>,
        concern: fn(&Record<'_>) -> Concern,
        each: &mut dyn FnMut(&Record<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let Range { start: from, end: to } = range;
        let sets: Vec<DataSetId> = spans.iter().map(|span| span.set).collect();
        let mut usable = self.accumulations();
        usable.retain(|one| one.info.end <= to && one.info.has(spans, from));
        let mut way = Way { source: self, usable, sieve: Sieve::new(&sets, concern), at: from };
        for (from, to) in pieces(spans, from, to) {
            way.at = way.at.max(from);
            if way.to(to, each)? {
                break;
            }
        }
        Ok(())
    }

    fn accumulations(&self) -> Vec<Accumulation> {
        self.catalog().map(|catalog| catalog.accumulations()).unwrap_or_default()
    }
}

/// Somebody on the way through the log of some data sets.
struct Way<'w> {
    source: &'w LogSource,
    /// Accumulations that may be read in place of the log.
    usable: Vec<Accumulation>,
    sieve: Sieve<'w>,
    /// How far he is.
    at: Lsn,
}

impl Way<'_> {
    /// Goes on to a position, or to the end of an accumulation behind it. `true` if `each` has had
    /// enough.
    fn to<E: From<ArchiveError>>(
        &mut self,
        to: Lsn,
        each: &mut dyn FnMut(&Record<'_>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        while self.at < to {
            let at = self.at;
            let here = self.usable.iter().filter(|one| one.info.first <= at && one.info.end > at);
            if let Some(one) = here.max_by_key(|one| one.info.end).cloned() {
                if self.through(&one, each)? {
                    return Ok(true);
                }
                if self.at == one.info.end {
                    continue;
                }
                // It is damaged from here on.
                self.usable.retain(|other| other.info != one.info);
            }
            let begins = self.usable.iter().map(|one| one.info.first);
            let next = begins.filter(|first| *first > self.at).min();
            let until = next.map_or(to, |next| next.min(to));
            if next.is_none() || !armed(Failpoint::BetweenAccumulationsSkipped) {
                let mut reader = self.source.read(self.at, until)?;
                while let Some(record) = reader.next().map_err(E::from)? {
                    if self.sieve.keeps(&record) && !each(&record)? {
                        return Ok(true);
                    }
                }
            }
            self.at = until;
        }
        Ok(false)
    }

    /// Reads an accumulation from here on, as far as that goes. `true` if `each` has had enough.
    fn through<E: From<ArchiveError>>(
        &mut self,
        one: &Accumulation,
        each: &mut dyn FnMut(&Record<'_>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let Some(catalog) = self.source.catalog() else { return Ok(false) };
        for path in &one.files {
            let Ok(mut file) = AccumulationFile::open(&catalog.env, path) else { continue };
            loop {
                match file.next_record() {
                    Ok(Some(record)) if record.lsn < self.at => {}
                    Ok(Some(record)) => {
                        let enough = self.sieve.keeps(&record) && !each(&record)?;
                        self.at = record.end;
                        if enough {
                            return Ok(true);
                        }
                    }
                    Ok(None) => {
                        self.at = one.info.end;
                        return Ok(false);
                    }
                    Err(_) => break,
                }
            }
        }
        Ok(false)
    }
}
