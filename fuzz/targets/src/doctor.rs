//! The doctor: whatever has become of a system's files, it looks at each of them and answers.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use base::SystemId;
use seal::{KdfCost, Passphrase};
use seam::Seam;
use seam::sim::SimDisk;
use store::{SetAttributes, Store, Unit, UnitOptions};
use system::{Bytes, Health, InitOptions, OpenOptions, System, SystemConfig, diagnose};

use crate::input::{Input, simulated, spoil};

const HOME: &str = "/system";

/// A system that was stopped in order, and one that was not.
static TEMPLATES: LazyLock<[SimDisk; 2]> = LazyLock::new(|| [true, false].map(template));

fn template(orderly: bool) -> SimDisk {
    let disk = SimDisk::new();
    let killed = simulated(&disk, |seam| {
        let mut config = SystemConfig::new(SystemId::default());
        config.log.segment_bytes = Bytes(1 << 20);
        config.log.ring_bytes = Bytes(1 << 20);
        config.pools.values_mut().for_each(|pool| pool.bytes = Bytes(256 << 10));
        config.archive.folders = vec!["archive".into()];
        let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
        let options = InitOptions { config, cost, token: None };
        System::init(&seam, Path::new(HOME), &passphrase(), &options).expect("an empty disk");
        let options = OpenOptions { serve: false, ..OpenOptions::default() };
        let system =
            System::open(&seam, Path::new(HOME), &passphrase(), options).expect("a new system");
        fill(&system);
        let archiver = system.archiver().expect("an archive is set up");
        archiver.archive_now().expect("an archive");
        system.update_recon().expect("RECON");
        let killed = disk.snapshot();
        system.close().expect("a system that does nothing");
        killed
    });
    let disk = if orderly { disk } else { killed };
    disk.settle();
    disk
}

/// Commits something.
fn fill(system: &System) {
    let store = system.store();
    let set = store.create_set("ACCOUNTS", &SetAttributes::default()).expect("a data set");
    for number in 0..20_u8 {
        let mut unit = store.begin(UnitOptions::default()).expect("a unit of work");
        unit.put(set, &[number], &[number; 100]).expect("room for a record");
        unit.commit().expect("a commit");
    }
}

fn passphrase() -> Passphrase {
    Passphrase::new(b"fuzz".to_vec())
}

/// Files that are spoilt byte by byte, or replaced as a whole: first 1 byte: which system, and
/// whether the passphrase is known; then 1 byte: a file that is replaced by the rest, or steps.
pub fn fuzz(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let how = input.byte();
    let disk = TEMPLATES[usize::from(how & 1)].snapshot();
    let replaced = input.byte();
    if replaced % 4 == 3 {
        let paths: Vec<PathBuf> = disk.paths();
        let path = &paths[usize::from(replaced / 4) % paths.len()];
        disk.truncate(path, 0);
        disk.write_raw(path, 0, input.rest());
    } else {
        spoil(&disk, &mut input);
    }
    let sound = bytes.len() < 3 && replaced % 4 != 3;
    simulated(&disk, |seam| look(&seam, how & 2 == 0, sound));
}

fn look(seam: &Seam, knows: bool, sound: bool) {
    let passphrase = passphrase();
    let found = diagnose(seam, Path::new(HOME), knows.then_some(&passphrase));
    assert!(!found.parts.is_empty(), "it has nothing to say");
    assert!(!found.files.is_empty(), "it has found no file");
    for part in &found.parts {
        let failed = part.notes.iter().any(|one| one.starts_with("looking at it failed"));
        assert!(!failed, "{part:?}");
    }
    let lost = found.parts.iter().any(|part| part.health == Health::Lost);
    assert!(!lost || !found.steps.is_empty(), "something is lost, and nothing is advised");
    assert!(!sound || found.is_sound(), "a sound system is ill: {:?}", found.parts);
    serde_json::to_string(&found).expect("what it says can be written");
}

/// Both systems with and without the passphrase; then each file replaced, or damaged.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = (0..4).map(|how| vec![how]).collect();
    for file in 0..16_u8 {
        seeds.push([&[0, file * 4 + 3][..], b"HFCONTRL"].concat());
        seeds.push(vec![1, file * 4 + 3]);
        seeds.push(vec![1, 0, file, 1, 2, 0, 4, 0xff, 0, 0xff, 1]);
    }
    seeds
}
