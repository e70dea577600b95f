//! Files of a step that are one file: the output would be emptied before the input is read.
//!
//! Invariants:
//! 1. Two files are one by device and inode, whatever links lead to them.
//! 2. Nothing is opened to find that out: it is refused before any file is touched.

use std::path::{Path, PathBuf};

use definitions::resolve::{ResolvedKind, ResolvedPsb};
use seam::disk::{Disk, is_same_place};

use crate::ScheduleError;
use crate::file::dd_of;

/// The DD names of the files that a PSB writes.
#[must_use]
pub fn outputs_of(psb: &ResolvedPsb) -> Vec<String> {
    let views = psb.pcbs.iter().filter_map(|pcb| match &pcb.kind {
        ResolvedKind::Gsam(view) => Some(view),
        _ => None,
    });
    views.filter(|view| view.options.is_load()).map(dd_of).collect()
}

/// Refuses a file that is written and is another file of the step as well. Each comes with what it
/// is called in a message; devices are none of them.
///
/// # Errors
/// [`ScheduleError::SameFile`] for the first.
pub fn refuse_same_files(
    disk: &dyn Disk,
    written: &[(String, PathBuf)],
    all: &[(String, PathBuf)],
) -> Result<(), ScheduleError> {
    for (name, path) in written {
        let is_same = |(other, at): &&(String, PathBuf)| {
            other != name && is_same_place(disk, &absolute(disk, path), &absolute(disk, at))
        };
        if let Some((other, _)) = all.iter().find(is_same) {
            let (written, other, path) = (name.clone(), other.clone(), path.clone());
            return Err(ScheduleError::SameFile { written, other, path });
        }
    }
    Ok(())
}

fn absolute(disk: &dyn Disk, path: &Path) -> PathBuf {
    disk.absolute(path).unwrap_or_else(|_| path.to_owned())
}
