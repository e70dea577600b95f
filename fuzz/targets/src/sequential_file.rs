//! Sequential files as GSAM gives them to programs, places of checkpoints, and record search
//! arguments.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use definitions::resolve::GsamView;
use gsam::{FileSpec, Gsam, Outcome, Place, Rsa, Status};
use seam::disk::{Create, Disk, Open};
use seam::sim::SimDisk;

use crate::shop;

const PATH: &str = "/records";
/// More records only repeat what was seen.
const RECORDS_MAX: usize = 64;

static FILES: LazyLock<Vec<GsamView>> = LazyLock::new(shop::files);

/// Bytes are a place, a record search argument, and a file in each form, as records and as lines.
/// Every record that is read is found again by its search argument and by its place.
///
/// # Panics
/// If not.
pub fn fuzz(bytes: &[u8]) {
    if let Some(place) = Place::decode(bytes) {
        assert_eq!(place.encode(), bytes);
    }
    if let Some(rsa) = Rsa::read(bytes) {
        assert_eq!(Rsa::read(&rsa.basic()), Some(rsa));
        assert_eq!(Rsa::read(&rsa.large()), Some(rsa));
    }
    let disk = SimDisk::new();
    let how = Open { direct: false, ..Open::DATA };
    let file = disk.open(Path::new(PATH), how.create(Create::New)).expect("a disk in memory");
    file.write_at(bytes, 0).expect("a disk in memory");
    drop(file);
    let disk: Arc<dyn Disk> = Arc::new(disk);
    for view in FILES.iter() {
        for text in [false, true] {
            let open = || {
                let file = FileSpec { path: PathBuf::from(PATH), text };
                Gsam::new(Arc::clone(&disk), view, file).expect("the shop's files have a form")
            };
            read_through(open(), open(), bytes);
        }
    }
}

fn read_through(mut file: Gsam, mut other: Gsam, bytes: &[u8]) {
    let room = file.form().area_bytes();
    let (mut area, mut again) = (vec![0; room], vec![0; room]);
    for _ in 0..RECORDS_MAX {
        let place = file.place();
        let Outcome { status, rsa, length } = file.get_next(&mut area);
        if status != Status::Done {
            assert!(matches!(status, Status::Gb | Status::Af), "{status:?}");
            return;
        }
        assert!(length <= room, "a record of {length} bytes in {room}");
        let rsa = rsa.expect("a record has its argument");
        assert!(rsa.offset() < bytes.len() as u64);
        let found = other.get_unique(Some(&rsa.basic()), &mut again);
        assert_eq!(found, Outcome { status, rsa: Some(rsa), length });
        assert_eq!(area[..length], again[..length], "at {}", rsa.offset());
        if place != Place::Closed {
            other.reposition(&place).expect("the file is as long as it was");
            assert_eq!(other.get_next(&mut again), found);
            assert_eq!(area[..length], again[..length], "at {}", rsa.offset());
        }
    }
}

/// Files of each form, a place, and search arguments.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let output = Place::Output { offset: 4100, records: 41, tail: b"four".to_vec() };
    vec![
        b"RECORD01RECORD02RECORD03".to_vec(),
        b"\0\x08\0\0ONE \0\x09\0\0THREE\0\x05\0\0!".to_vec(),
        b"A LINE\nLINE 2\n\nSHORT".to_vec(),
        Place::Input { offset: 16, records: 2 }.encode(),
        output.encode(),
        vec![0, 0, 0, 1, 0, 0, 0, 8],
        vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 8],
    ]
}
