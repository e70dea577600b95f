//! What was compiled, kept on disk: a folder for each result, which appears when it is complete.
//!
//! | in a folder | what |
//! |---|---|
//! | `digest` | for each file that counts a line: SHA-256 in hexadecimal, and its name |
//!
//! Invariants:
//! 1. A folder has its name only after everything in it has reached the disk.
//! 2. What does not agree with its digests, is missing or has none is no result: it is compiled
//!    anew, and takes the other's place.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use ring::digest::{SHA256, digest};
use seam::disk::{Create, Disk, Open};

use super::Workshop;
use crate::error::RegionError;
use crate::scratch::{self, is_gone};

/// How many compilations this process has begun.
static COMPILATIONS: AtomicU32 = AtomicU32::new(0);

const DIGESTS: &str = "digest";
/// Begins the extension of a folder that is being made, or was put aside.
const NEW: &str = "new-";

impl Workshop<'_> {
    /// A folder to compile in, which becomes `object_folder` when everything has succeeded.
    pub(super) fn begin(&self, object_folder: &Path) -> Result<PathBuf, RegionError> {
        let folder = aside(object_folder);
        self.disk.create_dir(&folder).map_err(RegionError::file(&folder))?;
        // Sources are no other user's to read, whatever the compiler gives its files.
        let private = std::fs::Permissions::from_mode(0o700);
        #[allow(clippy::disallowed_methods)] // the seam knows no permissions
        std::fs::set_permissions(&folder, private).map_err(RegionError::file(&folder))?;
        Ok(folder)
    }

    /// Gives a folder its name, with digests of the files that count. Another process may have
    /// compiled the same meanwhile, or what has the name may be damaged.
    pub(super) fn publish(
        &self,
        folder: &Path,
        object_folder: &Path,
        files: &[String],
    ) -> Result<(), RegionError> {
        let mut lines = String::new();
        for name in files {
            let path = folder.join(name);
            lines.push_str(&format!("{} {name}\n", hex(&self.read(&path)?)));
            self.sync(&path)?;
        }
        self.write(&folder.join(DIGESTS), lines.as_bytes())?;
        self.sync(&folder.join(DIGESTS))?;
        self.disk.sync_dir(folder).map_err(RegionError::file(folder))?;
        if self.disk.rename(folder, object_folder).is_err() {
            if self.is_sound(object_folder, files) {
                self.discard(folder);
                return Ok(());
            }
            let spoilt = aside(object_folder);
            // It may be gone already: another process does the same.
            let _ = self.disk.rename(object_folder, &spoilt);
            let renamed = self.disk.rename(folder, object_folder);
            self.discard(&spoilt);
            if let Err(error) = renamed
                && !self.is_sound(object_folder, files)
            {
                return Err(RegionError::file(object_folder)(error));
            }
        }
        self.disk.sync_dir(&self.cache).map_err(RegionError::file(&self.cache))
    }

    /// Whether a folder holds these files as they were when they were made.
    pub(super) fn is_sound(&self, object_folder: &Path, files: &[impl AsRef<str>]) -> bool {
        let Ok(lines) = self.read(&object_folder.join(DIGESTS)) else { return false };
        let lines = String::from_utf8_lossy(&lines);
        files.iter().map(AsRef::as_ref).all(|name| {
            let kept = lines.lines().find_map(|line| {
                line.split_once(' ').filter(|(_, other)| *other == name).map(|(kept, _)| kept)
            });
            let bytes = self.read(&object_folder.join(name));
            kept.zip(bytes.ok()).is_some_and(|(kept, bytes)| kept == hex(&bytes))
        })
    }

    /// Removes the folder of a compilation that failed. What cannot be removed does no harm.
    pub(super) fn discard(&self, folder: &Path) {
        remove_all(self.disk, folder);
    }

    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), RegionError> {
        let how = Open { create: Create::IfMissing, write: true, direct: false, dsync: false };
        let file = self.disk.open(path, how).map_err(RegionError::file(path))?;
        file.set_len(0).and_then(|()| file.write_at(bytes, 0)).map_err(RegionError::file(path))
    }

    fn sync(&self, path: &Path) -> Result<(), RegionError> {
        let how = Open { create: Create::Never, write: true, direct: false, dsync: false };
        let file = self.disk.open(path, how).map_err(RegionError::file(path))?;
        file.sync().map_err(RegionError::file(path))
    }
}

fn hex(bytes: &[u8]) -> String {
    base::hex::lower(digest(&SHA256, bytes).as_ref())
}

/// A name beside a folder's that no other thread takes: threads of one process may compile the same
/// at the same time. It stands in what is compiled there: as many digits each time, the same
/// length.
fn aside(object_folder: &Path) -> PathBuf {
    let number = COMPILATIONS.fetch_add(1, Relaxed);
    object_folder.with_extension(format!("{NEW}{}-{number:06}", std::process::id()))
}

fn remove_all(disk: &dyn Disk, folder: &Path) {
    for path in disk.list(folder).unwrap_or_default() {
        let path = folder.join(path);
        if disk.remove(&path).is_err() {
            remove_all(disk, &path);
        }
    }
    let _ = rustix::fs::rmdir(folder);
}

/// What a killed program or compilation had left, and what still lies there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Records in clear that were removed.
    pub records: Vec<PathBuf>,
    /// Records in clear that could not become lines, and are kept for their owner.
    pub kept: Vec<PathBuf>,
}

/// Clears the folder of compiled programs of what belongs to processes that are gone: the records
/// of `,text` files, which are in clear, and results that were never finished.
///
/// # Errors
/// If records cannot be removed.
pub fn clear(disk: &dyn Disk, programs: &Path) -> Result<Cleared, RegionError> {
    let mut cleared = Cleared::default();
    if !disk.exists(programs).map_err(RegionError::file(programs))? {
        return Ok(cleared);
    }
    for name in disk.list(programs).map_err(RegionError::file(programs))? {
        let extension = name.extension().and_then(OsStr::to_str);
        let number = extension.and_then(|text| text.strip_prefix(NEW)?.split('-').next());
        if number.is_some_and(is_gone) {
            remove_all(disk, &programs.join(&name));
        }
    }
    let records = programs.join(scratch::RECORDS);
    if disk.exists(&records).map_err(RegionError::file(&records))? {
        cleared.records = scratch::clear(disk, &records)?;
        cleared.kept = scratch::kept(disk, &records)?;
    }
    Ok(cleared)
}
