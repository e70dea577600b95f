//! The folders of the archive, and those of them that are away.
//!
//! A folder whose device is not mounted looks like an empty one, and one that is not there. Writing
//! there would put archives where nobody finds them once it is mounted.
//!
//! Invariants:
//! 1. A folder that is known to hold archives, because RECON says so or because some were there or
//!    were written there in this life, and that has neither archives nor the mark, is *away*.
//!    Nothing is made or written in it until it is back, or an operator begins anew in it.
//! 2. The mark is made where archives are to go, so that a folder is told from one that is not
//!    mounted also after somebody has deleted all of its archives.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use recon::State;
use seam::disk::{is_same_place, make_marked_dir};

use crate::header::parse_name;
use crate::{ArchiveConfig, ArchiveError, Shelf};

/// The name of the mark.
pub(crate) const MARK: &str = "holdfast.archive";
const MARK_SAYS: &[u8] = b"Archives of Holdfast's log stand here. A folder that should have this \
file, and has neither it nor an archive, is taken for one whose device is not mounted.\n";

/// What is known of folders.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    /// They must hold archives, or the mark.
    holding: BTreeSet<PathBuf>,
    /// They do not.
    away: BTreeSet<PathBuf>,
}

impl Folders {
    /// Notes what a folder holds; whether it is away.
    pub(crate) fn note(&mut self, folder: &Path, names: &[PathBuf]) -> bool {
        let has_archives = names.iter().any(|name| parse_name(name).is_some());
        let has_mark = names.iter().any(|name| name == Path::new(MARK));
        if has_archives {
            self.holding.insert(folder.to_owned());
        }
        let is_away = self.holding.contains(folder) && !has_archives && !has_mark;
        match is_away {
            true => self.away.insert(folder.to_owned()),
            false => self.away.remove(folder),
        };
        is_away
    }

    /// Archives were written to a folder.
    pub(crate) fn hold(&mut self, folder: &Path) {
        self.holding.insert(folder.to_owned());
    }

    /// A folder need not hold anything.
    pub(crate) fn release(&mut self, folder: &Path) {
        self.holding.remove(folder);
        self.away.remove(folder);
    }
}

impl Shelf {
    /// Has the folders away that RECON knows archives in and that hold none.
    ///
    /// # Errors
    /// As [`Shelf::open`].
    pub fn expect(&self, state: &State) -> Result<(), ArchiveError> {
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
        self.folders.lock().away.iter().cloned().collect()
    }

    /// Whether a file stands in a folder that is away.
    #[must_use]
    pub fn is_away(&self, file: &Path) -> bool {
        file.parent().is_some_and(|folder| self.folders.lock().away.contains(folder))
    }

    /// Begins anew in a folder that is away: what it held is lost.
    ///
    /// # Errors
    /// [`ArchiveError::NoFolder`] if it is none of the archive's; whatever the disk says.
    pub fn begin_anew(&self, folder: &Path) -> Result<(), ArchiveError> {
        let disk = self.env.seam.disk.as_ref();
        let own = self.config.folders.iter().find(|own| is_same_place(disk, own, folder));
        let folder = own.ok_or_else(|| ArchiveError::NoFolder { path: folder.to_owned() })?;
        self.folders.lock().release(folder);
        self.prepare_folder(folder)?;
        self.look()
    }

    /// Makes a folder, if there is none, with its mark.
    pub(crate) fn prepare_folder(&self, folder: &Path) -> Result<(), ArchiveError> {
        let disk = self.env.seam.disk.as_ref();
        let made = make_marked_dir(disk, folder, MARK, MARK_SAYS);
        made.map_err(|error| ArchiveError::io("prepare", folder, error))
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
    /// As [`Shelf::open`].
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
            Err(_) => return self.folders.lock().away.contains(folder),
        };
        self.folders.lock().note(folder, &names)
    }
}
