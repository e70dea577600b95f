//! Reading an image copy, from front to back, once.
//!
//! Invariants:
//! 1. What a visitor is given has proven itself. Whether the copy is complete is known at its end
//!    only, so a caller that puts intervals somewhere throws them away if the reading fails.
//! 2. The files of a copy are the same bytes, so what one of them has lost stands in the same place
//!    of another one: a piece, or an interval, that does not prove itself is read there.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::bytes::Reader;
use base::{CiNumber, KeyGeneration, Lsn};
use recon::{ArchiveFile, CopyKind, ImageCopy, SetExtent};
use seal::{Accept, Form, Format, PageSealer, TagPrefix};
use seam::Seam;
use space::Definition;
use uow::checkpoint::Checkpoint;

use crate::envelope::{CopyKeys, Flaw, HEAD, Head, Kind, Opener};
use crate::media::Source;
use crate::{CopyFiles, RecoveryError};

/// What a copy says of itself.
#[derive(Clone, Debug)]
pub struct CopyInfo {
    /// Full or incremental.
    pub kind: CopyKind,
    /// Its number in RECON.
    pub number: u32,
    /// The copy that an incremental one goes on from.
    pub base: u32,
    /// When it was begun: UTC in microseconds.
    pub from_us: u64,
    /// The state of the kernel then.
    pub moment: Checkpoint,
    /// The data sets, as they were.
    pub sets: Vec<Definition>,
    /// Nothing in it is newer; [`Lsn::NONE`] before the manifest was read.
    pub end: Lsn,
    /// When it was complete.
    pub to_us: u64,
    /// Intervals of each data set.
    pub intervals: Vec<u32>,
    /// The label and the generation of the key that its pieces are sealed with.
    pub generation: KeyGeneration,
    /// The tag of its manifest.
    pub tag: [u8; 16],
    /// The bytes of its file.
    pub bytes: u64,
    /// The generations that its intervals are sealed with, for each data set.
    pub generations: Vec<Vec<KeyGeneration>>,
}

/// Takes what a copy holds.
pub trait CopyVisitor {
    /// The copy begins.
    ///
    /// # Errors
    /// The visitor's own.
    fn begin(&mut self, info: &CopyInfo) -> Result<(), RecoveryError>;
    /// Whether it wants a data set, as the beginning counts them.
    fn wants(&self, set: usize) -> bool;
    /// Whether an interval was in use.
    ///
    /// # Errors
    /// The visitor's own.
    fn used(&mut self, set: usize, ci: CiNumber, used: bool) -> Result<(), RecoveryError>;
    /// An interval: its unit, in clear.
    ///
    /// # Errors
    /// The visitor's own.
    fn interval(&mut self, set: usize, ci: CiNumber, unit: &[u8]) -> Result<(), RecoveryError>;
    /// An interval that no file of the copy has as it was copied: to be borne, or the copy is
    /// damaged.
    ///
    /// # Errors
    /// What is wrong with it, unless it is borne.
    fn lost(&mut self, _: usize, _: CiNumber, why: RecoveryError) -> Result<(), RecoveryError> {
        Err(why)
    }
    /// So many bytes of the file were read.
    fn progress(&mut self, done: u64, total: u64);
}

/// What is wrong with a file that holds something else than RECON says.
pub(crate) const ANOTHER: &str = "it is another copy than the one that RECON knows";

/// A piece: its head, its payload in clear, and the intervals behind it.
type Piece = (Head, Vec<u8>, Vec<u8>);

/// How an interval of a set was protected when it was copied.
#[derive(Clone, Copy)]
struct SealedAs {
    /// Which of the copy's sets.
    index: usize,
    format: Format,
    generation: KeyGeneration,
}

/// Reads one copy.
pub struct CopyReader {
    seam: Seam,
    keys: CopyKeys,
    source: Source,
    /// Other files of the copy, which may have what this one has lost (2).
    others: VecDeque<Source>,
    /// The copy that it has to be, if that is known: its number, and when it was begun.
    wanted: Option<(u32, u64)>,
    opener: Opener,
    done: u64,
    sealers: BTreeMap<(usize, u8, KeyGeneration), PageSealer>,
    generations: Vec<Vec<KeyGeneration>>,
}

impl CopyReader {
    /// Opens a copy's file.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn open(seam: &Seam, path: &Path, keys: &CopyKeys) -> Result<CopyReader, RecoveryError> {
        Ok(CopyReader {
            seam: seam.clone(),
            keys: keys.clone(),
            source: Source::open(seam, path)?,
            others: VecDeque::new(),
            wanted: None,
            opener: Opener::new(keys),
            done: 0,
            sealers: BTreeMap::new(),
            generations: Vec::new(),
        })
    }

    /// Opens one file of a copy; what that has lost is read from the others, as far as they can be
    /// opened.
    ///
    /// # Errors
    /// Whatever the disk says of the first.
    pub fn open_joined(
        seam: &Seam,
        path: &Path,
        copy: &ImageCopy,
        keys: &CopyKeys,
    ) -> Result<CopyReader, RecoveryError> {
        let others = copy.files.iter().filter(|file| file.path != path);
        let others = others.filter_map(|file| Source::open(seam, &file.path).ok()).collect();
        let wanted = Some((copy.number, copy.from_us));
        Ok(CopyReader { others, wanted, ..CopyReader::open(seam, path, keys)? })
    }

    /// Reads all of it. Returns what it says of itself, proven and complete.
    ///
    /// # Errors
    /// Damage; a copy that is not complete, another system's, or of a newer release; the visitor's
    /// own errors.
    pub fn read(mut self, visitor: &mut dyn CopyVisitor) -> Result<CopyInfo, RecoveryError> {
        let (head, payload, _) = self.piece()?;
        if head.kind != Kind::Beginning {
            return Err(self.damaged("it does not begin with its beginning"));
        }
        let mut info = beginning(&payload).ok_or_else(|| self.damaged("its beginning is none"))?;
        if self.wanted.is_some_and(|wanted| wanted != (info.number, info.from_us)) {
            return Err(self.damaged(ANOTHER));
        }
        (info.generation, info.bytes) = (head.generation, self.source.bytes());
        self.generations = vec![Vec::new(); info.sets.len()];
        visitor.begin(&info)?;
        loop {
            let (head, payload, mut units) = self.piece()?;
            match head.kind {
                Kind::Map => self.map(&payload, &info, visitor)?,
                Kind::Intervals => self.intervals(&payload, &mut units, &info, visitor)?,
                Kind::Manifest => {
                    let known = manifest(&payload, &head, &mut info);
                    known.ok_or_else(|| self.damaged("its manifest is none"))?;
                    info.generations = self.generations;
                    return Ok(info);
                }
                Kind::Beginning => return Err(self.damaged("it begins twice")),
            }
            visitor.progress(self.done, self.source.bytes());
        }
    }

    /// The next piece: its payload in clear, and the intervals behind it.
    fn piece(&mut self) -> Result<Piece, RecoveryError> {
        let failed = match self.piece_here() {
            Ok(piece) => return Ok(piece),
            Err(error) => error,
        };
        for _ in 0..self.others.len() {
            if let Some(mut other) = self.others.pop_front() {
                other.seek(self.done);
                self.others.push_back(std::mem::replace(&mut self.source, other));
            }
            if let Ok(piece) = self.piece_here() {
                return Ok(piece);
            }
        }
        Err(failed)
    }

    fn piece_here(&mut self) -> Result<Piece, RecoveryError> {
        let mut clear = [0; HEAD];
        if !self.source.take(&mut clear)? {
            return Err(self.damaged("it is not complete: it ends before its manifest"));
        }
        let decoded = Head::decode(&clear, self.opener.system());
        let head = decoded.map_err(|flaw| self.flawed(&flaw))?;
        // A head that lies may not take memory that the file has no bytes for.
        let rest = self.source.bytes().saturating_sub(self.done + HEAD as u64);
        if (head.sealed + head.behind) as u64 > rest {
            return Err(self.damaged("it is not complete: it ends before its manifest"));
        }
        let (mut payload, mut units) = (vec![0; head.sealed], vec![0; head.behind]);
        if !self.source.take(&mut payload)? || !self.source.take(&mut units)? {
            return Err(self.damaged("it is not complete: it ends before its manifest"));
        }
        let opened = self.opener.open(&head, &clear, &mut payload)?;
        opened.map_err(|flaw| self.flawed(&flaw))?;
        self.done += (HEAD + head.sealed + head.behind) as u64;
        Ok((head, payload, units))
    }

    fn map(
        &self,
        payload: &[u8],
        info: &CopyInfo,
        visitor: &mut dyn CopyVisitor,
    ) -> Result<(), RecoveryError> {
        let mut reader = Reader::new(payload);
        let fields = (|| Some((reader.u16()?, reader.u32()?, reader.u32()?)))();
        let bits = reader.rest();
        let fits = |(set, _, count): &(u16, u32, u32)| {
            usize::from(*set) < info.sets.len() && bits.len() == count.div_ceil(8) as usize
        };
        let Some((set, first, count)) = fields.filter(fits) else {
            return Err(self.damaged("a map is none"));
        };
        let set = usize::from(set);
        if !visitor.wants(set) {
            return Ok(());
        }
        for index in 0..count {
            let used = bits[index as usize / 8] & (1 << (index % 8)) != 0;
            visitor.used(set, CiNumber(first.saturating_add(index)), used)?;
        }
        Ok(())
    }

    fn intervals(
        &mut self,
        payload: &[u8],
        units: &mut [u8],
        info: &CopyInfo,
        visitor: &mut dyn CopyVisitor,
    ) -> Result<(), RecoveryError> {
        let mut reader = Reader::new(payload);
        let index = reader.u16().map(usize::from).filter(|index| *index < info.sets.len());
        let index = index.ok_or_else(|| self.damaged("a piece is of no data set"))?;
        let unit = info.sets[index].unit_bytes();
        if reader.rest().len() % 17 != 0 || reader.rest().len() / 17 * unit != units.len() {
            return Err(self.damaged("a piece has not the intervals that it names"));
        }
        let behind = self.done - units.len() as u64;
        let places = (behind..).step_by(unit);
        for (unit, place) in units.chunks_exact_mut(unit).zip(places) {
            let entry = (|| {
                let (ci, format) = (CiNumber(reader.u32()?), Format::from_byte(reader.u8()?)?);
                Some((ci, format, KeyGeneration(reader.u32()?), TagPrefix(reader.u64()?)))
            })();
            let entry = entry.ok_or_else(|| self.damaged("a piece names no interval"))?;
            if !visitor.wants(index) {
                continue;
            }
            let (ci, format, generation, prefix) = entry;
            if format == Format::Sealed && !self.generations[index].contains(&generation) {
                self.generations[index].push(generation);
            }
            let form = SealedAs { index, format, generation };
            let mut proven = self.prove(form, &info.sets[index], (ci, prefix), unit);
            for other in 0..self.others.len() {
                if proven.is_err() && self.others[other].read_at(place, unit) {
                    let again = self.prove(form, &info.sets[index], (ci, prefix), unit);
                    proven = proven.or(again);
                }
            }
            match proven {
                Ok(()) => visitor.interval(index, ci, unit)?,
                Err(why) => visitor.lost(index, ci, self.damaged(&why))?,
            }
        }
        Ok(())
    }

    /// Puts an interval in clear that is what its piece says.
    fn prove(
        &mut self,
        form: SealedAs,
        set: &Definition,
        (ci, prefix): (CiNumber, TagPrefix),
        unit: &mut [u8],
    ) -> Result<(), String> {
        match self.sealer(form, set).open(ci, unit) {
            Ok(found) if found == prefix => Ok(()),
            Ok(_) => Err(format!("{}, {ci}: it is not the version that was copied", set.name)),
            Err(error) => Err(format!("{}, {ci}: {error}", set.name)),
        }
    }

    fn sealer(&mut self, sealed_as: SealedAs, set: &Definition) -> &PageSealer {
        let form = match sealed_as.format {
            Format::Plain => Form::PLAIN,
            Format::Sealed => Form::sealed(sealed_as.generation),
        };
        let (keys, entropy) = (&self.keys, &self.seam.entropy);
        let key = (sealed_as.index, sealed_as.format as u8, sealed_as.generation);
        self.sealers.entry(key).or_insert_with(|| {
            let (keys, system) = (Arc::clone(&keys.keys), keys.system);
            let accept = Accept::only(form);
            PageSealer::accepting(keys, Arc::clone(entropy), system, set.id, &set.label, &accept)
        })
    }

    fn damaged(&self, why: &str) -> RecoveryError {
        RecoveryError::Damaged { path: self.source.path.clone(), why: why.to_owned() }
    }

    fn flawed(&self, flaw: &Flaw) -> RecoveryError {
        let path = self.source.path.clone();
        match *flaw {
            Flaw::Future(version) => RecoveryError::Future { path, version },
            Flaw::Foreign(found) => RecoveryError::Foreign { path, found },
            Flaw::Damaged(why) => RecoveryError::Damaged { path, why: why.to_owned() },
        }
    }
}

/// A visitor that wants to know only that all of it is as it was written.
struct Verifying<'v>(&'v mut dyn FnMut(u64, u64));

impl CopyVisitor for Verifying<'_> {
    fn begin(&mut self, _info: &CopyInfo) -> Result<(), RecoveryError> {
        Ok(())
    }
    fn wants(&self, _set: usize) -> bool {
        true
    }
    fn used(&mut self, _set: usize, _ci: CiNumber, _used: bool) -> Result<(), RecoveryError> {
        Ok(())
    }
    fn interval(&mut self, _: usize, _: CiNumber, _: &[u8]) -> Result<(), RecoveryError> {
        Ok(())
    }
    fn progress(&mut self, done: u64, total: u64) {
        (self.0)(done, total);
    }
}

impl CopyInfo {
    /// What RECON says of a copy that consists of these files.
    #[must_use]
    pub fn entry(&self, files: Vec<PathBuf>, label: &str) -> ImageCopy {
        let sets = self.sets.iter().zip(&self.intervals).zip(&self.generations);
        ImageCopy {
            number: self.number,
            kind: self.kind,
            base: self.base,
            files: files.into_iter().map(|path| ArchiveFile { path, lost: false }).collect(),
            sets: sets
                .map(|((set, intervals), generations)| SetExtent {
                    set: set.id,
                    name: set.name.clone(),
                    intervals: *intervals,
                    label: set.label.clone(),
                    generations: generations.clone(),
                })
                .collect(),
            start: self.moment.needed_from(),
            end: self.end,
            from_us: self.from_us,
            to_us: self.to_us,
            label: label.to_owned(),
            generation: self.generation,
            bytes: self.bytes,
            tag: self.tag,
        }
    }
}

impl CopyFiles {
    /// Proves a copy, every interval of it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn verify(
        seam: &Seam,
        path: &Path,
        keys: &CopyKeys,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<CopyInfo, RecoveryError> {
        CopyReader::open(seam, path, keys)?.read(&mut Verifying(progress))
    }
}

pub(crate) fn beginning(payload: &[u8]) -> Option<CopyInfo> {
    let mut reader = Reader::new(payload);
    let kind = match reader.u8()? {
        1 => CopyKind::Full,
        2 => CopyKind::Incremental,
        _ => return None,
    };
    let (number, base) = (reader.u32()?, reader.u32()?);
    let (from_us, _since) = (reader.u64()?, reader.u64()?);
    let bytes = reader.u32()? as usize;
    let moment = Checkpoint::decode(reader.take(bytes)?).ok()?;
    let mut sets = Vec::new();
    for _ in 0..reader.u16()? {
        sets.push(Definition::decode(reader.string16()?).ok()?);
    }
    let none = (Lsn::NONE, 0, Vec::new());
    reader.is_empty().then_some(CopyInfo {
        kind,
        number,
        base,
        from_us,
        moment,
        sets,
        end: none.0,
        to_us: none.1,
        intervals: none.2,
        generation: KeyGeneration(0),
        tag: [0; 16],
        bytes: 0,
        generations: Vec::new(),
    })
}

fn manifest(payload: &[u8], head: &Head, info: &mut CopyInfo) -> Option<()> {
    let mut reader = Reader::new(payload);
    if reader.u64()? != head.number {
        return None;
    }
    (info.end, info.to_us) = (Lsn(reader.u64()?), reader.u64()?);
    for _ in 0..info.sets.len() {
        info.intervals.push(reader.u32()?);
    }
    info.tag = head.tag.0;
    reader.is_empty().then_some(())
}
