//! The folders of image copies, and those of them that are away.
//!
//! A folder whose device is not mounted looks like an empty one, or one that is not there: its
//! copies are not gone.
//!
//! Invariants:
//! 1. Each folder that copies are written to gets a mark. One in which RECON knows copies, and that
//!    has neither the mark nor any image copy, is *away*.
//! 2. No copy is written to a folder that is away.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use recon::State;
use seam::disk::{Disk, make_marked_dir};

use crate::RecoveryError;

/// What the names of image copies end with.
const EXTENSION: &str = "copy";

/// The name of the mark.
const MARK: &str = "holdfast.copies";
const MARK_SAYS: &[u8] = b"Image copies of Holdfast stand here. A folder that should have this \
file, and has neither it nor an image copy, is taken for one whose device is not mounted.\n";

/// Makes a folder for image copies, if there is none, with its mark.
///
/// # Errors
/// Whatever the disk says.
pub fn prepare_folder(disk: &dyn Disk, folder: &Path) -> io::Result<()> {
    make_marked_dir(disk, folder, MARK, MARK_SAYS)
}

/// The folders in which RECON knows image copies and that are away.
#[must_use]
pub fn folders_away(disk: &dyn Disk, state: &State) -> BTreeSet<PathBuf> {
    let files = state.image_copies.values().flat_map(|copy| &copy.files);
    let folders: BTreeSet<&Path> = files.filter_map(|file| file.path.parent()).collect();
    folders.into_iter().filter(|folder| is_away(disk, folder)).map(Path::to_owned).collect()
}

/// Refuses folders for new copies that are away (2).
///
/// # Errors
/// [`RecoveryError::Away`] for the first of them.
pub fn refuse_away(disk: &dyn Disk, state: &State, to: &[PathBuf]) -> Result<(), RecoveryError> {
    let away = folders_away(disk, state);
    match to.iter().find(|folder| away.contains(*folder)) {
        Some(folder) => Err(RecoveryError::Away { folder: folder.clone() }),
        None => Ok(()),
    }
}

fn is_away(disk: &dyn Disk, folder: &Path) -> bool {
    match disk.list(folder) {
        Ok(names) => !names.iter().any(|name| is_copy(name) || name == Path::new(MARK)),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Whether a file is called like an image copy.
pub(crate) fn is_copy(name: &Path) -> bool {
    name.extension().is_some_and(|extension| extension == EXTENSION)
}
