//! The archive catalog: which archives there are, in which folders, and which are missing.
//!
//! Invariants:
//! 1. The files say what there is: each header proves itself. A file that does not is named, never
//!    counted.
//! 2. Archives are in the order of their first groups. What is behind the end of the newest one is
//!    not archived.
//! 3. Whoever looks at the folders, and whoever changes what files there are, does it alone: a look
//!    that saw half of a change would be believed for as long as the system runs.
//! 4. A copy that is missing or damaged is made from the other one, byte for byte, after that has
//!    proven itself from front to back; or from pieces of several that are damaged in different
//!    places, and then it proves itself before it gets its name, which is last.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::{GroupNumber, Lsn};
use seam::disk::{BLOCK, Create, Disk, File, Open, is_same_place, missing_file};
use seam::mem::AlignedBuf;
use seam::sync::Mutex;

use crate::accumulation::is_accumulation;
use crate::folders::{Folders, MARK, prepare_folder};
use crate::header::parse_name;
use crate::place::{Replaces, fresh_name, give_name, is_unfinished};
use crate::writer::Written;
use crate::{
    Accumulation, AccumulationFile, AccumulationInfo, ArchiveConfig, ArchiveEnv, ArchiveError,
    ArchiveFile, ArchiveInfo,
};

/// An archive, and where its copies are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// What it holds.
    pub info: ArchiveInfo,
    /// Its files, in the order of the folders; a copy that is missing is not among them.
    pub files: Vec<PathBuf>,
}

/// A copy that is not what it should be.
#[derive(Debug)]
pub struct CopyFault {
    /// The first group of its archive.
    pub from: GroupNumber,
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: ArchiveError,
}

impl CopyFault {
    /// Whether the file is another system's: nothing is wrong with it but its place.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        matches!(self.why, ArchiveError::Foreign { .. })
    }
}

/// All archives of a system.
pub struct ArchiveCatalog {
    pub(crate) env: ArchiveEnv,
    pub(crate) config: ArchiveConfig,
    state: Mutex<State>,
    /// Held while files come, go, or are looked at.
    pub(crate) changing: Mutex<()>,
    /// Held while an accumulation is made, or some are deleted: one of a name at a time.
    pub(crate) accumulating: Mutex<()>,
    /// Which of the folders must hold archives, and which of those do not.
    pub(crate) folders: Mutex<Folders>,
}

#[derive(Default)]
struct State {
    archives: BTreeMap<GroupNumber, CatalogEntry>,
    accumulations: Vec<Accumulation>,
    faults: Vec<CopyFault>,
}

/// How much is copied at once.
const COPY_BYTES: usize = 1 << 20;

impl ArchiveCatalog {
    /// Looks at all folders; changes nothing.
    ///
    /// # Errors
    /// A folder that cannot be listed, if there is no other.
    pub fn open(env: ArchiveEnv, config: ArchiveConfig) -> Result<ArchiveCatalog, ArchiveError> {
        config.check()?;
        let (changing, accumulating) = (Mutex::new(()), Mutex::new(()));
        let state = Mutex::new(State::default());
        let folders = Mutex::new(Folders::default());
        let catalog = ArchiveCatalog { env, config, state, changing, accumulating, folders };
        catalog.look()?;
        Ok(catalog)
    }

    /// Gets ready to archive: makes the folders, but for those that are away, and removes what an
    /// interrupted archiver has left in them.
    ///
    /// # Errors
    /// Whatever the disk says about the first folder, if none can be had.
    pub fn prepare(&self) -> Result<(), ArchiveError> {
        let disk = self.env.seam.disk.as_ref();
        let (mut first, away) = (None, self.away());
        let mut sound = away.len();
        for folder in self.config.folders.iter().filter(|folder| !away.contains(folder)) {
            if let Some(stranger) = self.stranger_in(folder) {
                first.get_or_insert(stranger);
                continue;
            }
            if let Err(error) = prepare_folder(&self.env, folder) {
                first.get_or_insert(error);
                continue;
            }
            let cleared = (|| {
                let names = disk.list(folder)?;
                let unfinished = names.iter().filter(|name| is_unfinished(self.env.system, name));
                unfinished.map(|name| folder.join(name)).try_for_each(|path| disk.remove(&path))?;
                // What an interrupted archiver has named must keep its name.
                disk.sync_dir(folder)
            })();
            match cleared {
                Ok(()) => sound += 1,
                Err(error) => {
                    first.get_or_insert(ArchiveError::io("prepare", folder, error));
                }
            }
        }
        first.filter(|_| sound == 0).map_or(Ok(()), Err)?;
        self.look()
    }

    /// Refuses folders that hold an archive of another system.
    ///
    /// # Errors
    /// [`ArchiveError::Foreign`] names the first one.
    pub fn refuse_strangers(&self) -> Result<(), ArchiveError> {
        let mut folders = self.config.folders.iter();
        folders.find_map(|folder| self.stranger_in(folder)).map_or(Ok(()), Err)
    }

    /// An archive of another system in a folder, which is that one's then: what is unfinished
    /// there may be growing.
    fn stranger_in(&self, folder: &Path) -> Option<ArchiveError> {
        self.state.lock().faults.iter().find_map(|fault| match &fault.why {
            ArchiveError::Foreign { path, system } if path.parent() == Some(folder) => {
                Some(ArchiveError::Foreign { path: path.clone(), system: *system })
            }
            _ => None,
        })
    }

    pub(crate) fn look(&self) -> Result<(), ArchiveError> {
        let _alone = self.changing.lock();
        self.look_alone()
    }

    pub(crate) fn look_alone(&self) -> Result<(), ArchiveError> {
        let mut state = State::default();
        let mut refused = Vec::new();
        for folder in &self.config.folders {
            let names = match self.env.seam.disk.list(folder) {
                Ok(names) => names,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                Err(error) => {
                    refused.push(ArchiveError::io("list", folder, error));
                    continue;
                }
            };
            self.folders.lock().note(folder, &names);
            for name in names {
                match parse_name(&name) {
                    Some(from) => state.see(from, folder.join(name), &self.env),
                    None => state.see_accumulation(folder.join(name), &self.env),
                }
            }
        }
        if refused.len() == self.config.folders.len() {
            return Err(refused.swap_remove(0));
        }
        self.see_together(&mut state);
        *self.state.lock() = state;
        Ok(())
    }

    /// Takes in archives of which no copy can be opened, but one that was cut short is whole
    /// together with others.
    fn see_together(&self, state: &mut State) {
        for fault in state.faults.iter().filter(|fault| !fault.is_foreign()) {
            let (from, path) = (fault.from, &fault.path);
            if state.archives.contains_key(&from) {
                continue;
            }
            let Ok(file) = ArchiveFile::open_cut(&self.env, path) else { continue };
            if file.info().from == from && self.pieces(path).is_ok() {
                let (info, files) = (file.info().clone(), vec![path.clone()]);
                state.archives.insert(from, CatalogEntry { info, files });
            }
        }
    }

    /// What reading archives takes.
    #[must_use]
    pub fn env(&self) -> &ArchiveEnv {
        &self.env
    }

    /// How the log is archived.
    #[must_use]
    pub fn config(&self) -> &ArchiveConfig {
        &self.config
    }

    /// The archives, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<CatalogEntry> {
        self.state.lock().archives.values().cloned().collect()
    }

    /// The accumulations.
    #[must_use]
    pub fn accumulations(&self) -> Vec<Accumulation> {
        self.state.lock().accumulations.clone()
    }

    /// The newest one.
    #[must_use]
    pub fn newest(&self) -> Option<CatalogEntry> {
        self.state.lock().archives.values().next_back().cloned()
    }

    /// Every group before this one is archived; `None` if nothing is.
    #[must_use]
    pub fn archived_to(&self) -> Option<GroupNumber> {
        self.state.lock().archives.values().map(|copy| copy.info.to).max()
    }

    /// A position that the log has reached, for these archives hold it (K6).
    #[must_use]
    pub fn proven(&self) -> Lsn {
        let state = self.state.lock();
        // Positions can repeat after a crash; what the newest one says is what counts.
        let whole = state.archives.values().rev().map(|copy| copy.info.whole);
        whole.into_iter().find(|whole| *whole != Lsn::NONE).unwrap_or(Lsn::NONE)
    }

    /// Archives that begin where none before them ends: the groups between are in none.
    #[must_use]
    pub fn gaps(&self) -> Vec<(GroupNumber, GroupNumber)> {
        let state = self.state.lock();
        let mut gaps = Vec::new();
        let mut to: Option<GroupNumber> = None;
        for copy in state.archives.values() {
            if let Some(to) = to
                && to < copy.info.from
            {
                gaps.push((to, copy.info.from));
            }
            to = to.max(Some(copy.info.to));
        }
        gaps
    }

    /// What was found wrong when the folders were looked at; copies that are missing among them.
    #[must_use]
    pub fn faults(&self) -> Vec<CopyFault> {
        let state = self.state.lock();
        let mut faults: Vec<CopyFault> = Vec::new();
        for CopyFault { from, path, why } in &state.faults {
            let (from, path) = (*from, path.clone());
            let why = match why {
                ArchiveError::Foreign { system, .. } => {
                    ArchiveError::Foreign { path: path.clone(), system: *system }
                }
                other => {
                    ArchiveError::Damaged { path: path.clone(), offset: 0, why: other.to_string() }
                }
            };
            faults.push(CopyFault { from, path, why });
        }
        for copy in state.archives.values() {
            for path in self.missing(copy) {
                let known = faults.iter().any(|fault| fault.path == path);
                if !known {
                    let gone = missing_file();
                    let why = ArchiveError::io("find", &path, gone);
                    faults.push(CopyFault { from: copy.info.from, path, why });
                }
            }
        }
        faults
    }

    /// What is wrong with archives of this system behind the newest that can be read: the log goes
    /// on behind them.
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        let state = self.state.lock();
        let end = state.archives.values().map(|copy| copy.info.to).max().unwrap_or_default();
        let own = |fault: &&CopyFault| !matches!(fault.why, ArchiveError::Foreign { .. });
        let behind = state.faults.iter().filter(own).filter(|fault| fault.from >= end);
        behind.map(|fault| fault.why.to_string()).collect()
    }

    /// Where copies of an archive should be and are not, but for folders that are away.
    fn missing(&self, copy: &CatalogEntry) -> Vec<PathBuf> {
        let name = copy.info.file_name();
        let all = self.config.folders.iter().map(|folder| folder.join(&name));
        all.filter(|path| !copy.files.contains(path) && !self.is_away(path)).collect()
    }

    /// Takes a new archive in, which `finish` gives its name.
    pub(crate) fn add(
        &self,
        finish: impl FnOnce() -> Result<Written, ArchiveError>,
    ) -> Result<(CatalogEntry, Written), ArchiveError> {
        let _alone = self.changing.lock();
        let written = finish()?;
        let copy = CatalogEntry { info: written.info.clone(), files: written.files.clone() };
        copy.files.iter().filter_map(|file| file.parent()).for_each(|folder| {
            self.folders.lock().hold(folder);
        });
        self.state.lock().archives.insert(copy.info.from, copy.clone());
        Ok((copy, written))
    }

    /// Has the folders away that RECON knows archives in and that hold none.
    ///
    /// # Errors
    /// As [`ArchiveCatalog::open`].
    pub fn expect(&self, state: &recon::State) -> Result<(), ArchiveError> {
        {
            let mut folders = self.folders.lock();
            let files = state.archives.values().flat_map(|one| &one.files);
            let known = files.filter(|file| !file.lost).filter_map(|file| file.path.parent());
            known.filter(|folder| self.has(folder)).for_each(|folder| folders.hold(folder));
        }
        self.look()
    }

    fn has(&self, folder: &Path) -> bool {
        self.config.folders.iter().any(|own| own == folder)
    }

    /// The folders that hold none of the archives that they must hold.
    #[must_use]
    pub fn away(&self) -> Vec<PathBuf> {
        self.folders.lock().away()
    }

    /// Whether a file stands in a folder that is away.
    #[must_use]
    pub fn is_away(&self, file: &Path) -> bool {
        file.parent().is_some_and(|folder| self.folders.lock().is_away(folder))
    }

    /// Begins anew in a folder that is away: what it held is lost.
    ///
    /// # Errors
    /// [`ArchiveError::NoFolder`] if it is none of the archive's; whatever the disk says.
    pub fn accept_empty(&self, folder: &Path) -> Result<(), ArchiveError> {
        let disk = self.env.seam.disk.as_ref();
        let own = self.config.folders.iter().find(|own| is_same_place(disk, own, folder));
        let folder = own.ok_or_else(|| ArchiveError::NoFolder { path: folder.to_owned() })?;
        self.folders.lock().release(folder);
        prepare_folder(&self.env, folder)?;
        self.look()
    }

    /// How to go on: with the folders that are not away.
    ///
    /// # Errors
    /// [`ArchiveError::Away`] if all are.
    pub(crate) fn mounted(&self) -> Result<ArchiveConfig, ArchiveError> {
        let away = self.away();
        let mut config = self.config.clone();
        config.folders.retain(|folder| !away.contains(folder));
        match (config.folders.is_empty(), away.into_iter().next()) {
            (true, Some(folder)) => Err(ArchiveError::Away { folder }),
            _ => Ok(config),
        }
    }

    /// Looks whether folders have gone or come back; then at everything. Whether any has.
    ///
    /// # Errors
    /// As [`ArchiveCatalog::open`].
    pub(crate) fn look_at_folders(&self) -> Result<bool, ArchiveError> {
        let away = self.away();
        let disk = self.env.seam.disk.as_ref();
        let changed = self.config.folders.iter().any(|folder| {
            let was_away = away.contains(folder);
            // One that has its mark is not looked at closely.
            let is_marked = || matches!(disk.exists(&folder.join(MARK)), Ok(true));
            (was_away || !is_marked()) && self.looks_away(folder) != was_away
        });
        if changed {
            self.look()?;
        }
        Ok(changed)
    }

    fn looks_away(&self, folder: &Path) -> bool {
        let listed = self.env.seam.disk.list(folder);
        let names = match listed {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            // It is there and cannot be read: that is another matter.
            Err(_) => return self.folders.lock().is_away(folder),
        };
        self.folders.lock().note(folder, &names)
    }

    /// Reads every copy of one archive from front to back. The damaged ones come back.
    ///
    /// # Errors
    /// [`ArchiveError::NoSuch`], also if it is deleted meanwhile.
    pub fn verify(&self, from: GroupNumber) -> Result<Vec<CopyFault>, ArchiveError> {
        let copy = self.get(from)?;
        let mut faults = Vec::new();
        for path in &copy.files {
            let proven = ArchiveFile::open(&self.env, path).and_then(|mut file| file.prove());
            if let Err(why) = proven {
                faults.push(CopyFault { from, path: path.clone(), why });
            }
        }
        for path in self.missing(&copy) {
            let why = match self.env.seam.disk.exists(&path) {
                Ok(true) => ArchiveFile::open(&self.env, &path).err(),
                _ => None,
            };
            let gone = || ArchiveError::io("find", &path, missing_file());
            faults.push(CopyFault { from, why: why.unwrap_or_else(gone), path });
        }
        if !faults.is_empty() {
            // Whoever deletes it has it forgotten before its files go.
            self.get(from)?;
        }
        Ok(faults)
    }

    /// Makes a missing or damaged copy anew from one that proves itself.
    ///
    /// # Errors
    /// If no other copy is whole, or the disk refuses.
    pub fn repair(&self, from: GroupNumber, path: &Path) -> Result<(), ArchiveError> {
        let _alone = self.changing.lock();
        if let Some(folder) = path.parent().filter(|_| self.is_away(path)) {
            return Err(ArchiveError::Away { folder: folder.to_owned() });
        }
        let copy = self.get(from)?;
        let mut last = None;
        // Its own bytes come last: they are of use only where no other copy has them.
        let (own, others): (Vec<_>, Vec<_>) = copy.files.iter().partition(|file| *file == path);
        for good in others.into_iter().chain(own) {
            match self.pieces(good) {
                Ok(pieces) => {
                    self.copy(&pieces, path, &copy.info)?;
                    return self.look_alone();
                }
                Err(error) => last = Some(error),
            }
        }
        let why = last.map_or("there is no other copy".into(), |error| error.to_string());
        Err(ArchiveError::Damaged { path: path.to_owned(), offset: 0, why })
    }

    /// Whether an archive of which no copy is whole can be had from all of them together.
    #[must_use]
    pub fn is_whole_together(&self, from: GroupNumber) -> bool {
        let files = self.get(from).map(|copy| copy.files).unwrap_or_default();
        files.iter().any(|path| self.pieces(path).is_ok())
    }

    /// Reads an archive from one of its copies; what that has lost, from the others.
    pub(crate) fn read_any(&self, path: &Path) -> Result<ArchiveFile, ArchiveError> {
        let name = path.file_name().unwrap_or_default();
        let others = self.config.folders.iter().map(|folder| folder.join(name));
        let others = others.filter(|other| other != path).collect();
        Ok(ArchiveFile::open_cut(&self.env, path)?.joined(others))
    }

    /// From which copies the bytes of an archive can be had that prove themselves.
    fn pieces(&self, path: &Path) -> Result<Vec<Piece>, ArchiveError> {
        let mut file = self.read_any(path)?;
        let mut pieces = vec![Piece { path: path.to_owned(), bytes: 0..file.place().1 }];
        while file.next_group()?.is_some() {
            let (path, to) = file.place();
            match pieces.last_mut().filter(|last| last.path == path) {
                Some(last) => last.bytes.end = to,
                None => {
                    let from = pieces.last().map_or(0, |last| last.bytes.end);
                    pieces.push(Piece { path: path.to_owned(), bytes: from..to });
                }
            }
        }
        Ok(pieces)
    }

    /// Makes every copy anew that is missing or has no sound header, as far as that goes; says
    /// what could not be made.
    pub(crate) fn complete(&self) -> Vec<ArchiveError> {
        let away = self.away().into_iter().map(|folder| ArchiveError::Away { folder });
        let faults = self.faults();
        let here = faults.iter().filter(|fault| !self.is_away(&fault.path));
        let repaired = here.map(|fault| self.repair(fault.from, &fault.path));
        away.chain(repaired.filter_map(Result::err)).collect()
    }

    /// Makes a copy of pieces that follow each other; behind the last one are zeros.
    fn copy(&self, pieces: &[Piece], to: &Path, info: &ArchiveInfo) -> Result<(), ArchiveError> {
        let disk = self.env.seam.disk.as_ref();
        let fresh = fresh_name(self.env.system, to);
        let write = Open { create: Create::IfMissing, write: true, direct: true, dsync: false };
        let failed = |error| ArchiveError::io("copy to", to, error);
        let copied = disk.open(&fresh, write).and_then(|target| {
            target.set_len(0)?;
            write_pieces(disk, pieces, &*target, info.file_bytes())?;
            target.sync()
        });
        let proven = copied.map_err(failed).and_then(|()| match pieces {
            // What is one copy has proven itself already.
            [_] => Ok(()),
            _ => ArchiveFile::open(&self.env, &fresh)?.prove(),
        });
        let named = proven.and_then(|()| {
            give_name(&self.env, to, Replaces::Copy(info.salt))?;
            disk.sync_dir(to.parent().unwrap_or(Path::new("."))).map_err(failed)
        });
        named.inspect_err(|_| {
            // Half a copy is none; the next start removes it if this does not.
            let _ = disk.remove(&fresh);
        })
    }

    /// Forgets an accumulation whose files are about to go.
    pub(crate) fn forget(&self, accumulation: &AccumulationInfo) {
        self.state.lock().accumulations.retain(|known| known.info != *accumulation);
    }

    /// Waits for a deletion whose registry was asked before now what is needed: from then on
    /// nothing goes that the registry says is.
    pub fn settle(&self) {
        drop(self.changing.lock());
    }

    pub(crate) fn get(&self, from: GroupNumber) -> Result<CatalogEntry, ArchiveError> {
        let found = self.state.lock().archives.get(&from).cloned();
        found.ok_or(ArchiveError::NoSuch { group: from })
    }

    pub(crate) fn forget_archive(&self, from: GroupNumber) {
        self.state.lock().archives.remove(&from);
    }

    /// Removes a file, durably.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), ArchiveError> {
        let disk = self.env.seam.disk.as_ref();
        let folder = path.parent().unwrap_or(Path::new("."));
        let gone = disk.remove(path).and_then(|()| disk.sync_dir(folder));
        gone.map_err(|error| ArchiveError::io("delete", path, error))
    }
}

/// Bytes of an archive, and a copy that has them whole.
struct Piece {
    path: PathBuf,
    bytes: Range<u64>,
}

impl Piece {
    /// Reads what the piece has of a buffer that begins at `offset` of the archive.
    fn read(&self, disk: &dyn Disk, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let block = BLOCK as u64;
        let from = self.bytes.start.max(offset);
        let to = self.bytes.end.min(offset + out.len() as u64);
        if from >= to {
            return Ok(());
        }
        let (first, end) = (from / block * block, to.next_multiple_of(block));
        let mut blocks = AlignedBuf::zeroed((end - first) as usize);
        let read = Open { create: Create::Never, write: false, direct: true, dsync: false };
        disk.open(&self.path, read)?.read_at(&mut blocks, first)?;
        let inside = &blocks[(from - first) as usize..(to - first) as usize];
        out[(from - offset) as usize..(to - offset) as usize].copy_from_slice(inside);
        Ok(())
    }
}

/// Writes pieces that follow each other, and zeros behind them up to `bytes`.
fn write_pieces(
    disk: &dyn Disk,
    pieces: &[Piece],
    target: &dyn File,
    bytes: u64,
) -> io::Result<()> {
    let mut buffer = AlignedBuf::zeroed(COPY_BYTES);
    for offset in (0..bytes).step_by(COPY_BYTES) {
        let out = &mut buffer[..(bytes - offset).min(COPY_BYTES as u64) as usize];
        out.fill(0);
        pieces.iter().try_for_each(|piece| piece.read(disk, offset, out))?;
        target.write_at(out, offset)?;
    }
    Ok(())
}

impl State {
    /// Looks at one file.
    fn see(&mut self, from: GroupNumber, path: PathBuf, env: &ArchiveEnv) {
        let named = |info: &ArchiveInfo| info.from == from;
        match ArchiveFile::open(env, &path).map(|file| file.info().clone()) {
            Ok(info) if named(&info) => {
                let fresh = || CatalogEntry { info: info.clone(), files: Vec::new() };
                let known = self.archives.entry(from).or_insert_with(fresh);
                if known.info == info {
                    known.files.push(path);
                } else if info.to > known.info.to {
                    // The other one is of an earlier try that was shorter.
                    let shorter =
                        std::mem::replace(known, CatalogEntry { info, files: vec![path] });
                    self.other(from, shorter.files);
                } else {
                    self.other(from, vec![path]);
                }
            }
            Ok(info) => {
                let why = format!("it is the archive of {}", info.from);
                let why = ArchiveError::Damaged { path: path.clone(), offset: 0, why };
                self.faults.push(CopyFault { from, path, why });
            }
            Err(why) => self.faults.push(CopyFault { from, path, why }),
        }
    }

    /// Looks at a file that may be an accumulation. One that is none serves nobody: the archives
    /// that it was made of do.
    fn see_accumulation(&mut self, path: PathBuf, env: &ArchiveEnv) {
        if !is_accumulation(&path) {
            return;
        }
        let Ok(file) = AccumulationFile::open(env, &path) else { return };
        let info = file.info().clone();
        match self.accumulations.iter_mut().find(|known| known.info == info) {
            Some(known) => known.files.push(path),
            None => self.accumulations.push(Accumulation { info, files: vec![path] }),
        }
    }

    fn other(&mut self, from: GroupNumber, files: Vec<PathBuf>) {
        for path in files {
            let why = "it is not a copy of the other one".into();
            let why = ArchiveError::Damaged { path: path.clone(), offset: 0, why };
            self.faults.push(CopyFault { from, path, why });
        }
    }
}
