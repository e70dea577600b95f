//! Room on the devices of a system: whoever asks for the status hears early that it ends.
//!
//! 1. A device is named once for all that stands on it, by what an operator would look for.
//! 2. A device that does not say how much room it has is nothing to warn about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use seam::disk::{DeviceRoom, Disk, is_same_place};

use crate::places::{ARCHIVES, DATA_SETS, LOG};
use crate::{SystemConfig, SystemError};

/// What stands where, in words.
fn places(config: &SystemConfig, dir: &Path, logs: Vec<PathBuf>) -> Vec<(&'static str, PathBuf)> {
    let logs = logs.into_iter().map(|folder| (LOG, folder));
    let archives = config.archive(dir).into_iter().flat_map(|archive| archive.folders);
    let archives = archives.map(|folder| (ARCHIVES, folder));
    let data = config.data.folders.iter().map(|folder| (DATA_SETS, dir.join(folder)));
    logs.chain(archives).chain(data).chain([("the system's files", dir.to_owned())]).collect()
}

/// Refuses folders for image copies in which the system in `dir` has files of its own.
///
/// # Errors
/// [`SystemError::OwnFolder`] for the first of them.
pub(crate) fn refuse_own_folders(
    disk: &dyn Disk,
    config: &SystemConfig,
    dir: &Path,
    to: &[PathBuf],
) -> Result<(), SystemError> {
    let own = places(config, dir, config.all_log_folders(dir));
    let held = |folder: &PathBuf| {
        own.iter().find(|(_, one)| is_same_place(disk, folder, one)).map(|(holds, _)| *holds)
    };
    match to.iter().find_map(|folder| Some((folder.clone(), held(folder)?))) {
        Some((folder, holds)) => Err(SystemError::OwnFolder { folder, holds }),
        None => Ok(()),
    }
}

/// A sentence about each device that has less room than an operator wants; `logs` are the folders
/// where the log's copies are now.
pub(crate) fn notes(
    disk: &dyn Disk,
    config: &SystemConfig,
    dir: &Path,
    logs: Vec<PathBuf>,
) -> Vec<String> {
    let asked = |(what, folder): (&'static str, PathBuf)| {
        disk.room(&folder).ok().map(|room| (what, folder, room))
    };
    scarce(places(config, dir, logs).into_iter().filter_map(asked), config.warn.device_free_percent)
}

/// What stands on each device, by its number.
fn by_device(
    places: impl Iterator<Item = (&'static str, PathBuf, DeviceRoom)>,
) -> BTreeMap<u64, (DeviceRoom, PathBuf, Vec<&'static str>)> {
    let mut devices: BTreeMap<u64, (DeviceRoom, PathBuf, Vec<&'static str>)> = BTreeMap::new();
    for (what, folder, room) in places {
        let (_, _, all) = devices.entry(room.device).or_insert((room, folder, Vec::new()));
        if !all.contains(&what) {
            all.push(what);
        }
    }
    devices
}

/// The devices of which less than `percent` is free.
fn scarce(
    places: impl Iterator<Item = (&'static str, PathBuf, DeviceRoom)>,
    percent: u8,
) -> Vec<String> {
    let scarce = by_device(places).into_values().filter(|(room, ..)| room.free_percent() < percent);
    let note = |(room, folder, all): (DeviceRoom, PathBuf, Vec<&str>)| {
        let (free, left) = (room.free_percent(), room.free_bytes >> 20);
        format!(
            "the device of {} has {free} % of its room left, {left} MiB: it holds {}",
            folder.display(),
            all.join(", ")
        )
    };
    scarce.map(note).collect()
}

/// Whether next to nothing can be written any more where a file or folder is.
#[must_use]
pub fn is_full(disk: &dyn Disk, path: &Path) -> bool {
    disk.room(path).is_ok_and(|room| room.free_bytes < FULL_BYTES)
}

/// A device with less room is full: files grow by about as much.
const FULL_BYTES: u64 = 1 << 20;

/// A device of a system that is full.
pub(crate) struct FullDevice {
    /// What it is found by.
    pub(crate) folder: PathBuf,
    /// What is left of it.
    pub(crate) free_bytes: u64,
    /// What stands on it, in words.
    pub(crate) holds: Vec<&'static str>,
}

/// The devices of a system that are full.
pub(crate) fn full(disk: &dyn Disk, config: &SystemConfig, dir: &Path) -> Vec<FullDevice> {
    let of_system = places(config, dir, config.all_log_folders(dir));
    let second = ("a copy of RECON", dir.join(&config.recon.second));
    let asked = |(what, folder): (&'static str, PathBuf)| {
        disk.room(&folder).ok().map(|room| (what, folder, room))
    };
    let places = of_system.into_iter().chain([second]).filter_map(asked);
    let full = by_device(places).into_values().filter(|(room, ..)| room.free_bytes < FULL_BYTES);
    let device = |(room, folder, holds): (DeviceRoom, PathBuf, Vec<&'static str>)| FullDevice {
        folder,
        free_bytes: room.free_bytes,
        holds,
    };
    full.map(device).collect()
}

/// A sentence about a log that fills up.
pub(crate) fn log_note(space: &wal::LogSpace, percent: u8) -> Option<String> {
    let free = space.ordinary_bytes.min(space.capacity_bytes);
    let used = 100 - free * 100 / space.capacity_bytes.max(1);
    (percent > 0 && used >= u64::from(percent)).then(|| {
        format!("{used} % of the log is in use or kept for backout; at 100 % changes are refused")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(device: u64, free_bytes: u64) -> DeviceRoom {
        DeviceRoom { device, free_bytes, bytes: 1_000 << 20 }
    }

    #[test]
    fn a_device_is_named_once_with_all_that_it_holds() {
        let places = [
            ("the log", PathBuf::from("/a/log"), room(1, 50 << 20)),
            ("archives", PathBuf::from("/b"), room(2, 900 << 20)),
            ("data sets", PathBuf::from("/a/data"), room(1, 50 << 20)),
        ];
        let notes = scarce(places.clone().into_iter(), 10);
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("/a/log has 5 %"), "{notes:?}");
        assert!(notes[0].ends_with("the log, data sets"), "{notes:?}");
        assert!(scarce(places.into_iter(), 0).is_empty());
    }

    #[test]
    fn a_log_that_fills_up_is_told_before_it_is_full() {
        let space = |ordinary_bytes| wal::LogSpace {
            capacity_bytes: 1_000,
            used_bytes: 0,
            unarchived_bytes: 0,
            ordinary_bytes,
            reserved_bytes: 0,
        };
        assert_eq!(log_note(&space(900), 75), None);
        assert!(log_note(&space(200), 75).is_some_and(|note| note.starts_with("80 %")));
        assert_eq!(log_note(&space(0), 0), None);
    }
}
