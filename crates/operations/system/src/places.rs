//! The places of a system: which folders and files are its own, and that nobody else's work ever
//! takes them for free.
//!
//! Invariants:
//! 1. A system is made, or restored, only where nothing of a system stands: neither in its folder,
//!    nor in any other that its configuration names ([`Places::free`]). Also what belongs to the
//!    same system is in the way: a restore beside the original is another one with its identity.
//! 2. Where data sets, the write-ahead data set or the second copy of RECON are to stand, a mark
//!    says whose the folder is ([`seam::owner`]); no system is opened on a folder of another one
//!    ([`Places::claim`]). Log and archives say in every file whose they are.
//! 3. What a path leads to is decided by device and inode, never by how it is written
//!    ([`Places::own`]).
//! 4. Files that a system does not make stay free, also in its own folder.

use std::path::{Path, PathBuf};

use base::SystemId;
use seam::Seam;
use seam::disk::{Disk, Open, is_same_place};
use seam::owner::{self, MARK};
use space::definition::is_file_name;
use wal::WADS_FILE;

use crate::config::CONFIG_FILE;
use crate::{SystemConfig, SystemError};

/// It stands in the folder of a system while that is restored, and says how.
pub(crate) const RESTORING: &str = "holdfast.restoring";
/// The name of the lock in a system's folder.
pub(crate) const LOCK: &str = "lock";

/// What stands in a system's own folder, and what it is.
const HOME: [(&str, &str); 7] = [
    (CONFIG_FILE, "the configuration"),
    (LOCK, "the lock"),
    ("control", "the control file"),
    ("double-write", "the double-write area"),
    ("recon.1", RECON),
    (RESTORING, "what a restore is begun again with"),
    (MARK, "the mark"),
];
const RECON: &str = "a copy of RECON";
pub(crate) const KEY_FILE: &str = "the key file";
const ANCHOR: &str = "the anchor";
pub(crate) const LOG: &str = "the log";
pub(crate) const ARCHIVES: &str = "archives";
pub(crate) const DATA_SETS: &str = "data sets";
const WRITE_AHEAD: &str = "the write-ahead data set";

/// Which files of a folder are a system's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// The one of this name.
    One(&'static str),
    /// The one that the path itself names.
    Named,
    /// Segments of the log.
    Segments,
    /// Archives and accumulations.
    Archives,
    /// Files of data sets.
    DataSets,
}

/// A folder, or a file, of a system.
#[derive(Clone, Debug)]
struct Place {
    /// What stands there, in words.
    holds: &'static str,
    folder: PathBuf,
    /// The file's name, for [`Names::Named`].
    name: PathBuf,
    names: Names,
}

impl Place {
    fn new(holds: &'static str, folder: PathBuf, names: Names) -> Place {
        Place { holds, folder, name: PathBuf::new(), names }
    }

    fn file(holds: &'static str, path: &Path) -> Option<Place> {
        let (folder, name) = (path.parent()?.to_owned(), path.file_name()?.into());
        Some(Place { holds, folder, name, names: Names::Named })
    }

    /// Whether a file of that name is the system's, if it stands here.
    fn has(&self, name: &Path) -> bool {
        let text = name.to_string_lossy();
        match self.names {
            Names::One(one) => name == Path::new(one),
            Names::Named => name == self.name,
            Names::Segments => text.starts_with("segment-"),
            Names::Archives => {
                text == "holdfast.archive"
                    || text.starts_with("archive-")
                    || text.starts_with("accumulation-")
            }
            Names::DataSets => text == MARK || is_file_name(&text),
        }
    }

    /// The paths of what may be there.
    fn found(&self, disk: &dyn Disk) -> Vec<PathBuf> {
        match self.names {
            Names::One(name) => vec![self.folder.join(name)],
            Names::Named => vec![self.folder.join(&self.name)],
            Names::Segments | Names::Archives | Names::DataSets => {
                let names = disk.list(&self.folder).unwrap_or_default();
                let own = names.into_iter().filter(|name| self.has(name));
                own.map(|name| self.folder.join(name)).collect()
            }
        }
    }

    /// Whether a mark says whose the folder is (2).
    fn is_marked(&self) -> bool {
        matches!(self.holds, DATA_SETS | WRITE_AHEAD) || self.names == Names::One("recon.2")
    }
}

/// The places of a system.
#[derive(Clone, Debug)]
pub struct Places {
    system: SystemId,
    dir: PathBuf,
    all: Vec<Place>,
}

impl Places {
    /// Those of the system in `dir`.
    #[must_use]
    pub fn of(config: &SystemConfig, dir: &Path) -> Places {
        let home = HOME.iter().map(|(name, holds)| {
            let holds: &'static str = holds;
            Place::new(holds, dir.to_owned(), Names::One(name))
        });
        let logs = config.all_log_folders(dir).into_iter();
        let logs = logs.map(|folder| Place::new(LOG, folder, Names::Segments));
        let ahead = config.write_ahead(dir).into_iter().flat_map(|wads| wads.copies);
        let ahead = ahead.map(|folder| Place::new(WRITE_AHEAD, folder, Names::One(WADS_FILE)));
        let archives = config.archive(dir).into_iter().flat_map(|archive| archive.folders);
        let archives = archives.map(|folder| Place::new(ARCHIVES, folder, Names::Archives));
        let data = config.data.folders.iter().map(|folder| dir.join(folder));
        let data = data.map(|folder| Place::new(DATA_SETS, folder, Names::DataSets));
        let second = dir.join(&config.recon.second);
        let second = Place::new(RECON, second, Names::One("recon.2"));
        let anchor = &config.anchor.file;
        let anchor = (!anchor.as_os_str().is_empty()).then(|| dir.join(anchor));
        let anchor = anchor.and_then(|path| Place::file(ANCHOR, &path));
        let keys = Place::file(KEY_FILE, &config.key_file(dir));
        let files = keys.into_iter().chain(anchor).chain([second]);
        let all = home.chain(files).chain(logs).chain(ahead).chain(archives).chain(data);
        Places { system: config.system, dir: dir.to_owned(), all: all.collect() }
    }

    /// What a path leads to, in words, if that is a file of the system, or would become one.
    #[must_use]
    pub fn own(&self, disk: &dyn Disk, path: &Path) -> Option<&'static str> {
        self.own_but(disk, path, |_| false)
    }

    fn own_but(
        &self,
        disk: &dyn Disk,
        path: &Path,
        but: impl Fn(&Place) -> bool,
    ) -> Option<&'static str> {
        let path = disk.absolute(path).unwrap_or_else(|_| path.to_owned());
        let asked = || self.all.iter().filter(|place| !but(place));
        if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            let is_here = |place: &&Place| {
                place.has(Path::new(name)) && is_same_place(disk, folder, &place.folder)
            };
            if let Some(place) = asked().find(is_here) {
                return Some(place.holds);
            }
        }
        // Another name of a file that is there.
        let file = disk.identity(&path).ok()?;
        let is_that = |other: &PathBuf| disk.identity(other).is_ok_and(|other| other == file);
        asked().find(|place| place.found(disk).iter().any(is_that)).map(|place| place.holds)
    }

    /// The folders in which files of the system stand.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self.all.iter().map(|one| one.folder.clone()).collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Refuses to write to a file of the system, or of another one, from outside; `what` is who
    /// would, such as `--trace`.
    ///
    /// # Errors
    /// [`SystemError::OwnFile`].
    pub fn refuse_own(&self, disk: &dyn Disk, what: &str, path: &Path) -> Result<(), SystemError> {
        self.refused(what, path, self.own(disk, path))?;
        refuse_others_file(what, path)
    }

    fn refused(
        &self,
        what: &str,
        path: &Path,
        holds: Option<&'static str>,
    ) -> Result<(), SystemError> {
        let Some(holds) = holds else { return Ok(()) };
        let owner = format!("the system in {}", self.dir.display());
        let (what, path) = (what.to_owned(), path.to_owned());
        Err(SystemError::OwnFile { what, path, holds, owner })
    }

    /// Refuses an anchor that would take the place of another file of the system, or the name of
    /// one of another system. One that has bytes says itself whether it is an anchor.
    fn check_anchor(&self, disk: &dyn Disk) -> Result<(), SystemError> {
        let Some(anchor) = self.all.iter().find(|place| place.holds == ANCHOR) else {
            return Ok(());
        };
        let path = anchor.folder.join(&anchor.name);
        let file = disk.open(&path, Open::READ);
        if file.and_then(|file| file.is_empty()).is_ok_and(|is_empty| !is_empty) {
            return Ok(());
        }
        let holds = self.own_but(disk, &path, |place| place.holds == ANCHOR);
        self.refused("anchor.file", &path, holds)?;
        refuse_others_file("anchor.file", &path)
    }

    /// Refuses places where a system cannot be made anew, because something stands there (1).
    pub(crate) fn free(&self, disk: &dyn Disk) -> Result<(), SystemError> {
        let occupied = |found: &Path| SystemError::Occupied {
            dir: self.dir.clone(),
            found: found.display().to_string(),
        };
        let exists = |path: &Path| {
            disk.exists(path).map_err(|error| SystemError::io("look for", path, error))
        };
        let list = |folder: &Path| match exists(folder)? {
            true => disk.list(folder).map_err(|error| SystemError::io("list", folder, error)),
            false => Ok(Vec::new()),
        };
        for name in list(&self.dir)? {
            // Empty folders do no harm: an unfinished `init` leaves some.
            let is_empty = || disk.list(&self.dir.join(&name)).is_ok_and(|names| names.is_empty());
            if name != Path::new(LOCK) && !is_empty() {
                return Err(occupied(&name));
            }
        }
        for place in &self.all {
            let is_home = is_same_place(disk, &place.folder, &self.dir);
            if place.is_marked() && !is_home {
                self.refuse_others(disk, place, true)?;
            }
            match place.names {
                // A restore reads them; the anchor knows how far they should reach.
                Names::Archives => {}
                Names::Named if place.holds == ANCHOR => {}
                Names::One(_) | Names::Named => {
                    let path = place.folder.join(place.found(disk).remove(0));
                    if !path.ends_with(LOCK) && exists(&path)? {
                        return Err(occupied(&path));
                    }
                }
                Names::Segments => {
                    let is_mark = |name: &&PathBuf| name.as_path() == Path::new(MARK);
                    if let Some(name) = list(&place.folder)?.iter().find(|one| !is_mark(one)) {
                        return Err(occupied(&place.folder.join(name)));
                    }
                }
                Names::DataSets => self.free_of_data_sets(disk, &place.folder)?,
            }
        }
        Ok(())
    }

    /// Refuses a folder in which files of data sets stand, whoever's they are (1).
    pub(crate) fn free_of_data_sets(
        &self,
        disk: &dyn Disk,
        folder: &Path,
    ) -> Result<(), SystemError> {
        let looked = disk.exists(folder).and_then(|exists| match exists {
            true => disk.list(folder),
            false => Ok(Vec::new()),
        });
        let names = looked.map_err(|error| SystemError::io("list", folder, error))?;
        match names.iter().find(|name| is_file_name(&name.to_string_lossy())) {
            Some(name) => {
                let found = folder.join(name).display().to_string();
                Err(SystemError::Occupied { dir: self.dir.clone(), found })
            }
            None => Ok(()),
        }
    }

    /// Refuses folders of another system, and marks those that have no mark (2).
    ///
    /// # Errors
    /// [`SystemError::OthersFolder`]; if `must`, also whatever keeps a mark from being made: a full
    /// device, or one that cannot be written to, keeps no system from being opened.
    pub(crate) fn claim(&self, seam: &Seam, must: bool) -> Result<(), SystemError> {
        let disk = seam.disk.as_ref();
        for place in self.all.iter().filter(|place| place.is_marked()) {
            let folder = &place.folder;
            if is_same_place(disk, folder, &self.dir) {
                continue;
            }
            self.refuse_others(disk, place, must)?;
            // One that is missing may be one that is not mounted.
            if !must && !matches!(disk.exists(folder), Ok(true)) {
                continue;
            }
            match owner::claim(&seam.disk, folder, self.system) {
                Ok(owner) if owner != self.system => return Err(others(place, owner)),
                Err(error) if must => {
                    return Err(SystemError::io("mark", folder, error));
                }
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// What has to be so before a system is opened or RECON made anew: its folders are its own, and
    /// the anchor is none of its files. Who `only_looks` marks nothing.
    ///
    /// # Errors
    /// [`SystemError::OthersFolder`], [`SystemError::OwnFile`].
    pub(crate) fn take(&self, seam: &Seam, only_looks: bool) -> Result<(), SystemError> {
        self.check_anchor(seam.disk.as_ref())?;
        if only_looks {
            let disk = seam.disk.as_ref();
            let is_elsewhere = |place: &&Place| {
                place.is_marked() && !is_same_place(disk, &place.folder, &self.dir)
            };
            let mut marked = self.all.iter().filter(is_elsewhere);
            return marked.try_for_each(|place| self.refuse_others(disk, place, false));
        }
        self.claim(seam, false)
    }

    /// Refuses a folder that is another system's, or its home. What cannot be read says nothing,
    /// unless it `must`: a device that is broken keeps no system from being opened.
    fn refuse_others(&self, disk: &dyn Disk, place: &Place, must: bool) -> Result<(), SystemError> {
        let owner = match owner::owner(disk, &place.folder) {
            Err(error) if must => return Err(SystemError::io("look at", &place.folder, error)),
            owner => owner.ok().flatten(),
        };
        let owner = owner.filter(|owner| *owner != self.system);
        let at_home = || SystemConfig::read(disk, &place.folder).ok().map(|config| config.system);
        match owner.or_else(at_home).filter(|owner| *owner != self.system) {
            Some(owner) => Err(others(place, owner)),
            None => Ok(()),
        }
    }
}

/// Refuses a file of another system, whichever.
fn refuse_others_file(what: &str, path: &Path) -> Result<(), SystemError> {
    let Some(holds) = seam::system_files::of_a_system(path) else { return Ok(()) };
    let (what, path, owner) = (what.to_owned(), path.to_owned(), "another system".to_owned());
    Err(SystemError::OwnFile { what, path, holds, owner })
}

fn others(place: &Place, system: SystemId) -> SystemError {
    SystemError::OthersFolder { folder: place.folder.clone(), holds: place.holds, system }
}
