//! Records that files of lines are converted into: what processes that are gone have left of them.
//!
//! Invariants:
//! 1. What a process is still at work with stays.

use std::path::Path;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use seam::disk::Disk;

use crate::error::RegionError;

/// The folder of records, within that of compiled programs.
pub const RECORDS: &str = "records";
/// Ends the name of records that could not become lines.
pub(crate) const KEPT: &str = ".kept";

/// Removes records whose job was killed, and says which.
pub(crate) fn clear(disk: &dyn Disk, scratch: &Path) -> Result<Vec<PathBuf>, RegionError> {
    let mut removed = Vec::new();
    for name in disk.list(scratch).map_err(RegionError::file(scratch))? {
        if name.extension().and_then(|number| number.to_str()).is_some_and(is_gone) {
            let path = scratch.join(name);
            disk.remove(&path).map_err(RegionError::file(&path))?;
            removed.push(path);
        }
    }
    Ok(removed)
}

/// Records that are kept because they could not become lines.
pub(crate) fn kept(disk: &dyn Disk, scratch: &Path) -> Result<Vec<PathBuf>, RegionError> {
    let names = disk.list(scratch).map_err(RegionError::file(scratch))?;
    let is_kept = |name: &PathBuf| name.to_string_lossy().ends_with(KEPT);
    Ok(names.into_iter().filter(is_kept).map(|name| scratch.join(name)).collect())
}

/// Whether there is no process of this number.
pub(crate) fn is_gone(number: &str) -> bool {
    let process = number.parse().ok().and_then(Pid::from_raw);
    process.is_some_and(|process| test_kill_process(process) == Err(Errno::SRCH))
}
