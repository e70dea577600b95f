//! Files that have no name yet: what a crash, a kill or another command leaves of them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::crashed_while;
use crate::disk::{Disk, File, FileId, HeldLock, Open, read_small};
use crate::fresh::Fresh;
use crate::sim::SimDisk;

/// A disk on which every file has a name.
struct OldFashioned(SimDisk);

impl Disk for OldFashioned {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        self.0.open(path, how)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.0.exists(path)
    }
    fn identity(&self, path: &Path) -> io::Result<FileId> {
        self.0.identity(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.list(dir)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.0.create_dir(path)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.0.sync_dir(dir)
    }
    fn lock(&self, path: &Path) -> io::Result<Box<dyn HeldLock>> {
        self.0.lock(path)
    }
}

/// The same disk, with and without files that have no name.
fn both(disk: &SimDisk) -> [Arc<dyn Disk>; 2] {
    [Arc::new(disk.clone()), Arc::new(OldFashioned(disk.clone()))]
}

fn write(disk: &Arc<dyn Disk>, bytes: &[u8], replace: bool) -> io::Result<()> {
    let fresh = Fresh::begin(disk, "/out".as_ref())?;
    fresh.file().write_at(bytes, 0)?;
    fresh.file().sync()?;
    fresh.keep(replace)
}

fn content(disk: &dyn Disk) -> Vec<u8> {
    read_small(disk, "/out".as_ref(), 10_000).unwrap()
}

#[test]
fn a_crash_leaves_the_old_file_or_the_new_one() {
    for way in 0..2 {
        let disk = SimDisk::new();
        write(&both(&disk)[way], &[1; 700], false).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        let replace = || write(&both(&disk)[way], &[2; 900], true).unwrap();
        for after in crashed_while(&disk, replace) {
            let bytes = content(&after);
            assert!(bytes == [1; 700] || bytes == [2; 900]);
            seen.insert(bytes.len());
            // Whatever is left is in nobody's way.
            write(&both(&after)[way], &[3; 50], true).unwrap();
            assert_eq!(after.paths(), [PathBuf::from("/out")]);
        }
        assert_eq!(seen.len(), 2);
        assert_eq!(content(&disk), [2; 900]);
        assert_eq!(disk.paths(), [PathBuf::from("/out")]);
    }
}

#[test]
fn what_is_not_kept_is_gone_and_what_is_there_stays() {
    for way in 0..2 {
        let disk = SimDisk::new();
        let door = &both(&disk)[way];
        drop(Fresh::begin(door, "/out".as_ref()).unwrap());
        assert!(disk.paths().is_empty());
        write(door, b"first", false).unwrap();
        let taken = write(door, b"second", false).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(content(&disk), b"first");
        assert_eq!(disk.paths(), [PathBuf::from("/out")]);
        let lost = Fresh::begin(door, "/none/out".as_ref()).err().unwrap();
        assert_eq!(lost.kind(), io::ErrorKind::NotFound);
    }
}

#[test]
fn commands_for_one_place_do_not_disturb_each_other() {
    for way in 0..2 {
        let disk = SimDisk::new();
        let door = &both(&disk)[way];
        let begin = |byte: u8| {
            let fresh = Fresh::begin(door, "/out".as_ref()).unwrap();
            fresh.file().write_at(&[byte; 9], 0).unwrap();
            fresh.file().sync().unwrap();
            fresh
        };
        let (one, two) = (begin(1), begin(2));
        assert_eq!(disk.paths().len(), if way == 0 { 0 } else { 2 });
        one.keep(true).unwrap();
        two.keep(true).unwrap();
        assert_eq!(content(&disk), [2; 9]);
        assert_eq!(disk.paths(), [PathBuf::from("/out")]);
    }
}

#[test]
fn a_name_of_any_length_can_be_written() {
    let disk = SimDisk::new();
    let path = PathBuf::from(format!("/{}", "x".repeat(250)));
    let fresh = Fresh::begin(&both(&disk)[1], &path).unwrap();
    assert!(fresh.hidden_at().unwrap().as_os_str().len() < 100);
    fresh.keep(false).unwrap();
    assert_eq!(disk.paths(), [path]);
}
