//! Finding image copies in folders, where RECON does not name them.
//!
//! Invariants:
//! 1. What is found has been read from front to back and has proven itself.
//! 2. Files with the same manifest are one copy.
//!
//! So a restore reads what it uses twice. The first time decides what there is to choose from:
//! a point is promised, and older copies are left aside, only on copies that are whole. Keeping
//! what was read until then would take as much room again, in a form of its own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use recon::ImageCopy;
use seam::Seam;

use crate::folders::is_copy;
use crate::{CopyFiles, CopyKeys, Progress, RecoveryError};

/// Image copies by number, and a sentence about each file that is none, or not one of this system.
#[derive(Debug, Default)]
pub struct FoundCopies {
    /// The copies.
    pub copies: BTreeMap<u32, ImageCopy>,
    /// What is wrong with others.
    pub faults: Vec<String>,
}

/// Looks for image copies in folders; each one is read and proven.
///
/// # Errors
/// A folder that cannot be listed.
pub fn find_copies(
    seam: &Seam,
    keys: &CopyKeys,
    folders: &[PathBuf],
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<FoundCopies, RecoveryError> {
    let mut found = FoundCopies::default();
    for folder in folders {
        let listed = seam.disk.list(folder);
        let mut names = listed.map_err(|error| RecoveryError::Io {
            path: folder.clone(),
            verb: "listed",
            error,
        })?;
        names.retain(|name| is_copy(name));
        names.sort();
        for path in names.into_iter().map(|name| folder.join(name)) {
            let what = path.display().to_string();
            let tell = &mut |done, total| progress(Progress { what: &what, done, total });
            match CopyFiles::verify(seam, &path, keys, tell) {
                Ok(info) => found.take(info.entry(vec![path], &keys.label), &what),
                Err(error) => found.faults.push(error.to_string()),
            }
        }
    }
    Ok(found)
}

impl FoundCopies {
    fn take(&mut self, entry: ImageCopy, what: &str) {
        match self.copies.get_mut(&entry.number) {
            None => drop(self.copies.insert(entry.number, entry)),
            Some(known) if known.tag == entry.tag => known.files.extend(entry.files),
            Some(_) => {
                self.faults.push(format!("{what} has the number of another image copy"));
            }
        }
    }
}
