//! The configuration of a system: text that people edit.

use std::path::Path;

use seam::disk::Disk;
use seam::sim::SimDisk;
use system::{CONFIG_FILE, SystemConfig};

const DIR: &str = "/";

/// What is accepted, written out and read again, is the same.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    let Some(config) = read(bytes) else { return };
    let again = read(config.to_text().as_bytes());
    assert_eq!(again.as_ref(), Some(&config), "{}", config.to_text());
}

fn read(bytes: &[u8]) -> Option<SystemConfig> {
    let disk = SimDisk::new();
    let path = Path::new(DIR).join(CONFIG_FILE);
    let how = seam::disk::Open { direct: false, ..seam::disk::Open::DATA };
    let file = disk.open(&path, how.create(seam::disk::Create::New)).ok()?;
    file.write_at(bytes, 0).ok()?;
    drop(file);
    SystemConfig::read(&disk, Path::new(DIR)).ok()
}

/// The smallest configuration, the usual one, and one with other settings.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let head = "version = 1\nsystem = \"00112233445566778899aabbccddeeff\"\n";
    let other = "[log]\ncopies = [\"a\", \"b\"]\nstripes = 2\nsegment_bytes = \"1 MiB\"\n\
                 [pool.one]\nunit = 4096\nbytes = \"8 MiB\"\n[data]\nformat = \"plain\"\n";
    let usual = read(head.as_bytes()).map_or_else(String::new, |config| config.to_text());
    vec![head.into(), usual.into_bytes(), format!("{head}{other}").into_bytes()]
}
