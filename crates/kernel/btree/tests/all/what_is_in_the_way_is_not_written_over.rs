//! Where a data set is to be made, a file may stand already: what an interrupted attempt left is
//! written over, anything else is not.
#![allow(clippy::unwrap_used)] // a test stops where something is not as it should be
#![allow(clippy::disallowed_methods)] // looks at the files from outside

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{System, config, definition, parts};
use base::{Coded as _, SystemId};
use holdfast_btree::format_empty;
use seal::Format;
use seam::Seam;
use space::Definition;
use uow::{Kernel, Parts};

const UNIT: usize = 4096;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("holdfast-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn next(format: Format) -> Definition {
    Definition { format, ..definition("next", UNIT) }
}

/// The file that the second data set of a system gets.
fn file_of(home: &Path) -> PathBuf {
    home.join("data/next.000002.000")
}

#[test]
fn what_an_attempt_of_the_same_system_left_is_written_over() {
    let folder = Folder::new("left-own");
    let (one, other) = (folder.0.join("one"), folder.0.join("other"));
    let first = System::create_in(&Seam::real(), &one, UNIT, 64);
    first.kernel.create_set(next(Format::Sealed), &format_empty).unwrap();
    // The same system, before it made that data set.
    let second = System::create_in(&Seam::real(), &other, UNIT, 64);
    fs::copy(file_of(&one), file_of(&other)).unwrap();
    second.kernel.create_set(next(Format::Sealed), &format_empty).unwrap();
    assert_ne!(fs::read(file_of(&one)).unwrap(), fs::read(file_of(&other)).unwrap());
    assert_eq!(fs::read_dir(other.join("data")).unwrap().count(), 2);
    for empty in [&b""[..], &[0; 3 * UNIT]] {
        let third = folder.0.join(format!("third-{}", empty.len()));
        let system = System::create_in(&Seam::real(), &third, UNIT, 64);
        fs::write(file_of(&third), empty).unwrap();
        system.kernel.create_set(next(Format::Sealed), &format_empty).unwrap();
        assert_eq!(fs::read_dir(third.join("data")).unwrap().count(), 2);
    }
}

#[test]
fn what_nobody_can_prove_is_set_aside() {
    let folder = Folder::new("left-unknown");
    let home = folder.0.join("system");
    let system = System::create_in(&Seam::real(), &home, UNIT, 64);
    let bytes: Vec<u8> = (0..2 * UNIT).map(|at| at as u8).collect();
    fs::write(file_of(&home), &bytes).unwrap();
    system.kernel.create_set(next(Format::Sealed), &format_empty).unwrap();
    assert_eq!(fs::read(file_of(&home).with_extension("000.aside")).unwrap(), bytes);
    assert!(system.kernel.set_named("next").is_some());
}

#[test]
fn a_file_and_a_folder_of_another_system_are_refused() {
    let folder = Folder::new("left-other");
    let (one, other) = (folder.0.join("one"), folder.0.join("other"));
    let first = System::create_in(&Seam::real(), &one, UNIT, 64);
    first.kernel.create_set(next(Format::Plain), &format_empty).unwrap();
    fs::create_dir_all(other.join("data")).unwrap();
    let parts = Parts { system: SystemId([8; 16]), ..parts(&Seam::real(), other.clone()) };
    Kernel::create(&parts, &config(&other, UNIT, 64)).unwrap();
    let kernel = Kernel::open(parts.clone(), config(&other, UNIT, 64)).unwrap();
    kernel.create_set(definition("data", UNIT), &format_empty).unwrap();
    fs::copy(file_of(&one), file_of(&other)).unwrap();
    let refused = kernel.create_set(next(Format::Sealed), &format_empty).map(drop).unwrap_err();
    assert_eq!(refused.code().0, "HFD004");
    assert_eq!(fs::read(file_of(&one)).unwrap(), fs::read(file_of(&other)).unwrap());
    // The mark of a folder says it of all that stands there.
    let disk = &parts.seam.disk;
    seam::owner::claim(disk, &other.join("data"), SystemId([7; 16])).unwrap();
    let refused = kernel.create_set(next(Format::Sealed), &format_empty).map(drop).unwrap_err();
    assert_eq!(refused.code().0, "HFD004");
    assert!(refused.to_string().contains(&SystemId([7; 16]).to_string()), "{refused}");
}
