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
use std::path::{Path, PathBuf};

use seam::disk::make_marked_dir;

use crate::header::parse_name;
use crate::{ArchiveEnv, ArchiveError};

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

    /// Those that are away.
    pub(crate) fn away(&self) -> Vec<PathBuf> {
        self.away.iter().cloned().collect()
    }

    pub(crate) fn is_away(&self, folder: &Path) -> bool {
        self.away.contains(folder)
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

/// Makes a folder, if there is none, with its mark.
pub(crate) fn prepare_folder(env: &ArchiveEnv, folder: &Path) -> Result<(), ArchiveError> {
    let disk = env.seam.disk.as_ref();
    let made = make_marked_dir(disk, folder, MARK, MARK_SAYS);
    made.map_err(|error| ArchiveError::io("prepare", folder, error))
}
