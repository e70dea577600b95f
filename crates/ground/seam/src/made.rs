//! A disk that remembers which files were made through it: work that fails takes away what it made
//! itself, whatever else stands in the same folders.
//!
//! 1. A file counts as made here only if it was not there when it was made; who makes it is decided
//!    by the file system, so of two that make one file at once one has made it.
//! 2. A file that took another one's place is not taken away: what it replaced would not come back.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Seam;
use crate::disk::{Create, DeviceRoom, Disk, File, FileId, HeldLock, Open};
use crate::sync::Mutex;

/// See the head of this file.
pub struct MadeHere {
    below: Arc<dyn Disk>,
    made: Mutex<BTreeSet<PathBuf>>,
}

impl MadeHere {
    /// The same outside, whose disk remembers; and its memory.
    #[must_use]
    pub fn over(seam: &Seam) -> (Seam, Arc<MadeHere>) {
        let made = MadeHere { below: Arc::clone(&seam.disk), made: Mutex::default() };
        let made = Arc::new(made);
        (Seam { disk: Arc::clone(&made) as Arc<dyn Disk>, ..seam.clone() }, made)
    }

    /// Takes away what was made, as far as that goes; folders stay.
    pub fn undo(&self) {
        let made = std::mem::take(&mut *self.made.lock());
        for path in made.iter().rev() {
            // What is not there need not go; what cannot be removed, the next try names.
            let _ = self.below.remove(path);
        }
    }

    fn note(&self, path: &Path) {
        self.made.lock().insert(path.to_owned());
    }
}

impl Disk for MadeHere {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let opened = match how.create {
            Create::Never => return self.below.open(path, how),
            Create::New => self.below.open(path, how),
            Create::IfMissing => match self.below.open(path, how.create(Create::New)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return self.below.open(path, how);
                }
                opened => opened,
            },
        };
        opened.inspect(|_| self.note(path))
    }

    fn open_unnamed(&self, dir: &Path) -> io::Result<(Arc<dyn File>, Box<dyn HeldLock>)> {
        self.below.open_unnamed(dir)
    }

    fn give_name(&self, file: &dyn File, path: &Path) -> io::Result<()> {
        self.below.give_name(file, path)?;
        self.note(path);
        Ok(())
    }

    fn write_copies(
        &self,
        files: &[&dyn File],
        offset: u64,
        bufs: &[&[u8]],
    ) -> Option<Vec<io::Result<()>>> {
        self.below.write_copies(files, offset, bufs)
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.below.absolute(path)
    }

    fn is_read_only(&self, path: &Path) -> io::Result<bool> {
        self.below.is_read_only(path)
    }

    fn work_for_owner_of(&self, home: &Path) -> io::Result<()> {
        self.below.work_for_owner_of(home)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.below.exists(path)
    }

    fn identity(&self, path: &Path) -> io::Result<FileId> {
        self.below.identity(path)
    }

    fn room(&self, path: &Path) -> io::Result<DeviceRoom> {
        self.below.room(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.below.list(dir)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.below.create_dir(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.below.remove(path)?;
        self.made.lock().remove(path);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let replaces = self.below.exists(to)?;
        self.below.rename(from, to)?;
        let mut made = self.made.lock();
        if made.remove(from) && !replaces {
            made.insert(to.to_owned());
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.below.sync_dir(dir)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn HeldLock>> {
        let new = Open { create: Create::New, write: true, direct: false, dsync: false };
        if self.below.open(path, new).is_ok() {
            self.note(path);
        }
        self.below.lock(path)
    }

    fn lock_folder(&self, folder: &Path, name: &str) -> io::Result<Box<dyn HeldLock>> {
        let new = Open { create: Create::New, write: true, direct: false, dsync: false };
        let path = folder.join(name);
        if self.below.open(&path, new).is_ok() {
            self.note(&path);
        }
        self.below.lock_folder(folder, name)
    }
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use super::*;
    use crate::fresh::replace_small;
    use crate::sim::SimDisk;

    #[test]
    fn what_was_made_goes_and_what_was_there_stays() {
        let disk = SimDisk::new();
        let new = Open { create: Create::New, write: true, direct: false, dsync: false };
        disk.create_dir("/a".as_ref()).unwrap();
        for name in ["/a/old", "/a/replaced"] {
            disk.open(name.as_ref(), new).unwrap();
        }
        let mut seam = Seam::real();
        seam.disk = Arc::new(disk.clone());
        let (seam, made) = MadeHere::over(&seam);
        let at = |name: &str| PathBuf::from("/a").join(name);
        let door = &*seam.disk;
        assert!(door.open(&at("old"), new).is_err());
        for name in ["old", "new", "moved", "gone"] {
            door.open(&at(name), new.create(Create::IfMissing)).unwrap();
        }
        door.rename(&at("moved"), &at("here")).unwrap();
        door.remove(&at("gone")).unwrap();
        replace_small(door, &at("small"), b"small").unwrap();
        replace_small(door, &at("replaced"), b"small").unwrap();
        drop(door.lock(&at("lock")).unwrap());
        assert_eq!(door.list("/a".as_ref()).unwrap().len(), 6);
        // Another process made that one meanwhile.
        disk.open(&at("other"), new).unwrap();
        made.undo();
        let left = disk.list("/a".as_ref()).unwrap();
        assert_eq!(left, ["old", "other", "replaced"].map(PathBuf::from));
    }
}
