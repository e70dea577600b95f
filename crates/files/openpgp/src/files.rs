//! The files of a key ring: those of its folder, and before them those that a keystore that was
//! opened makes up.
//!
//! 1. Each file is replaced whole and durably; a crash leaves the old one or the new one, and a
//!    full disk the old one alone.
//! 2. What comes of a keystore is in memory only, and wiped; with it, nothing is written.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use seam::Seam;
use seam::disk::{Disk, HeldLock, make_dir, read_small};
use seam::fresh::replace_small;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// The file whose lock a change holds.
const LOCK: &str = ".lock";
/// How long another command's change is waited for, in tries of so many milliseconds each.
const TRIES: u32 = 1500;
const TRY_MS: u64 = 20;
/// No file of the ring is longer.
const FILE_MAX: usize = 16 << 20;

pub(crate) struct Files {
    seam: Seam,
    folder: PathBuf,
    /// Those of a keystore, if one was opened.
    opened: Option<BTreeMap<String, Zeroizing<Vec<u8>>>>,
}

fn on(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    Error::io(path.display().to_string())
}

/// Puts a small file in place of the one of that name, whole and durably (1).
///
/// # Errors
/// If the device takes nothing; then nothing new is left beside the old file.
pub fn replace_file(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    replace_small(disk, path, bytes)
}

impl Files {
    pub(crate) fn new(seam: &Seam, folder: &Path) -> Files {
        Files { seam: seam.clone(), folder: folder.to_owned(), opened: None }
    }

    /// The same with these before them.
    pub(crate) fn behind(self, opened: BTreeMap<String, Zeroizing<Vec<u8>>>) -> Files {
        Files { opened: Some(opened), ..self }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a keystore was opened and does not hold the file.
    pub(crate) fn is_behind(&self, name: &str) -> bool {
        self.opened.as_ref().is_some_and(|opened| !opened.contains_key(name))
    }

    /// What stands before the ending in the names of all files with it.
    pub(crate) fn names(&self, ending: &str) -> Result<Vec<String>> {
        let opened = self.opened.iter().flat_map(BTreeMap::keys);
        let opened = opened.filter_map(|name| name.strip_suffix(ending));
        let mut names: Vec<String> = opened.map(str::to_owned).collect();
        if !self.seam.disk.exists(&self.folder).map_err(on(&self.folder))? {
            return Ok(names);
        }
        for path in self.seam.disk.list(&self.folder).map_err(on(&self.folder))? {
            let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(ending));
            names.extend(
                name.filter(|name| !names.iter().any(|known| known == name)).map(str::to_owned),
            );
        }
        Ok(names)
    }

    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        match self.opened.as_ref().and_then(|opened| opened.get(name)) {
            Some(found) => Ok(Some(found.to_vec())),
            None => self.read_folder(name),
        }
    }

    /// The file in the folder, whatever a keystore has.
    pub(crate) fn read_folder(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.folder.join(name);
        if !self.seam.disk.exists(&path).map_err(on(&path))? {
            return Ok(None);
        }
        read_small(&*self.seam.disk, &path, FILE_MAX).map(Some).map_err(on(&path))
    }

    /// Makes the folder.
    pub(crate) fn make(&self) -> Result<()> {
        make_dir(&*self.seam.disk, &self.folder).map_err(on(&self.folder))
    }

    /// Waits until no other process changes the ring.
    pub(crate) fn lock(&self) -> Result<Box<dyn HeldLock>> {
        if self.opened.is_some() {
            let what = "a keystore has no place for that: it holds keys and certificates of X.509 \
                        alone; import it (`holdfast pgp import --keystore FILE`), and leave \
                        --keystore out";
            return Err(Error::Unsupported(what.to_owned()));
        }
        self.make()?;
        let path = self.folder.join(LOCK);
        for _ in 0..TRIES {
            match self.seam.disk.lock_folder(&self.folder, LOCK) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.seam.clock.sleep(Duration::from_millis(TRY_MS));
                }
                locked => return locked.map_err(on(&path)),
            }
        }
        let what = format!("another command has held {} for 30 seconds", path.display());
        Err(Error::Name(what))
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.folder.join(name);
        replace_file(&*self.seam.disk, &path, bytes).map_err(on(&path))
    }

    /// Removes those files that are there.
    pub(crate) fn remove(&self, names: &[String]) -> Result<()> {
        for path in names.iter().map(|name| self.folder.join(name)) {
            if self.seam.disk.exists(&path).map_err(on(&path))? {
                self.seam.disk.remove(&path).map_err(on(&path))?;
            }
        }
        self.seam.disk.sync_dir(&self.folder).map_err(on(&self.folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_put_in_place_leaves_nothing() {
        let disk = Seam::real().disk;
        let folder = std::env::temp_dir().join(format!("hf-files-{}", std::process::id()));
        // No file takes the name of a folder.
        let path = folder.join("taken");
        make_dir(&*disk, &path).unwrap();
        assert!(replace_file(&*disk, &path, b"new").is_err());
        assert_eq!(disk.list(&folder).unwrap(), [PathBuf::from("taken")]);
        replace_file(&*disk, &folder.join("free"), b"new").unwrap();
        assert_eq!(read_small(&*disk, &folder.join("free"), 9).unwrap(), b"new");
        disk.remove(&folder.join("free")).unwrap();
        let _ = std::fs::remove_dir_all(&folder);
    }
}
