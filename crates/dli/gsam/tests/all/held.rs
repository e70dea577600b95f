//! A file is written by one step at a time, and not while another one reads it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Coded as _;
use holdfast_gsam::{FileSpec, Gsam, Status};
use seam::disk::{Disk, read_small};
use seam::fresh::replace_small;
use seam::real::RealDisk;

use crate::view;

/// A folder of this machine that goes with the test.
struct Folder(Arc<dyn Disk>, PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
        let path = std::env::temp_dir().join(format!("holdfast-{name}-{}", std::process::id()));
        disk.create_dir(&path).unwrap();
        Folder(disk, path)
    }

    fn file(&self) -> PathBuf {
        self.1.join("file")
    }

    fn pcb(&self, options: &str, path: &Path) -> Gsam {
        let file = FileSpec { path: path.to_owned(), text: false };
        Gsam::new(Arc::clone(&self.0), &view(options, "F", 4, 0), file).unwrap()
    }

    fn bytes(&self) -> Vec<u8> {
        read_small(&*self.0, &self.file(), 100).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.1);
    }
}

#[test]
fn two_steps_never_write_one_file_at_the_same_time() {
    let folder = Folder::new("gsam-two");
    let (mut one, mut other) = (folder.pcb("LS", &folder.file()), folder.pcb("LS", &folder.file()));
    assert_eq!(one.insert(b"ONE1", 0).status, Status::Done);
    one.sync().unwrap();
    assert_eq!(other.insert(b"TWO1", 0).status, Status::Ai);
    let fault = other.fault().unwrap();
    assert_eq!(fault.code().0, "HFQ007");
    assert!(fault.to_string().contains("has it open"), "{fault}");
    assert_eq!(other.insert(b"TWO1", 0).status, Status::Ix);
    assert_eq!(folder.bytes(), b"ONE1");
    assert_eq!(one.insert(b"ONE2", 0).status, Status::Done);
    let place = one.place();
    assert_eq!(one.close(), Status::Done);
    assert_eq!(folder.bytes(), b"ONE1ONE2");
    // A restart holds it as well.
    let mut again = folder.pcb("LS", &folder.file());
    again.reposition(&place).unwrap();
    assert_eq!(other.open(b"OUT"), Status::Ai);
    assert_eq!(folder.bytes(), b"ONE1ONE2");
    assert_eq!(again.close(), Status::Done);
    assert_eq!(other.open(b"OUT"), Status::Done);
    assert!(again.reposition(&place).is_err());
}

#[test]
fn a_file_that_is_read_is_read_by_many_and_written_by_none() {
    let folder = Folder::new("gsam-read");
    replace_small(&*folder.0, &folder.file(), b"ONE1ONE2").unwrap();
    let mut area = [0; 4];
    let mut readers = [folder.pcb("GS", &folder.file()), folder.pcb("GS", &folder.file())];
    for reader in &mut readers {
        assert_eq!(reader.get_next(&mut area).status, Status::Done);
    }
    let mut writer = folder.pcb("LS", &folder.file());
    assert_eq!(writer.open(b""), Status::Ai);
    assert_eq!(folder.bytes(), b"ONE1ONE2");
    // At the end of the file it is closed.
    for reader in &mut readers {
        while reader.get_next(&mut area).status == Status::Done {}
    }
    assert_eq!(writer.open(b""), Status::Done);
    assert_eq!(readers[0].get_next(&mut area).status, Status::Ai);
}

#[test]
fn devices_have_any_number_of_users() {
    let folder = Folder::new("gsam-device");
    let device = Path::new("/dev/zero");
    let (mut one, mut other) = (folder.pcb("GS", device), folder.pcb("GS", device));
    assert_eq!((one.open(b""), other.open(b"")), (Status::Done, Status::Done));
    let (mut one, mut other) = (folder.pcb("LS", device), folder.pcb("LS", device));
    assert_eq!((one.open(b""), other.open(b"")), (Status::Done, Status::Done));
}
