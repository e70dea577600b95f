//! The watch: what becomes of the log's files and devices without a write failing.
//!
//! Whoever keeps the system looks now and then; no group ever waits for it.
//!
//! Invariants:
//! 1. A copy of which a file is not the one that its name leads to, because its folder was
//!    unmounted or the file removed, counts as lost: what is written there nobody would find again
//!    (K9). The last copy goes on, and says what is wrong with it: a log that nobody finds is
//!    better than none, and mounting it again is all that it takes.
//! 2. A log that stopped growing because a disk was full grows again once there is room on every
//!    copy for several segments: with room for one alone it would be full again at once.
//! 3. It counts as larger only when the first of them is made.
//! 4. A write-ahead data set of which a file is not the one that its name leads to is left: the log
//!    gets what it had, which is recorded, and goes on alone. Nobody who mends or renews is waited
//!    for: there will be another look.

use std::path::{Path, PathBuf};

use seam::disk::is_misplaced;

use crate::core::Core;
use crate::directory::Directory;
use crate::log::Log;
use crate::{LogConfig, LogError};

/// There must be room for so many segments before a full disk is tried again.
const ROOM_SEGMENTS: u64 = 4;

impl Log {
    /// Looks at files and devices once; [`crate::LogStatistics`] says what was found.
    pub fn look_around(&self) {
        self.look_for_copies();
        // An error has stopped the kernel, and whoever waits is told so.
        let _ = self.look_for_ahead();
        self.core.look_for_room();
    }

    fn look_for_copies(&self) {
        // What was replaced while it was looked at is looked at again.
        let mut found = self.missing_files();
        if !found.is_empty() {
            found = self.missing_files();
        }
        let living: Vec<u8> = self.core.board.lock().living().collect();
        for copy in living {
            let missing = found.iter().find(|(of, _)| *of == copy);
            let error = missing.map(|(_, path)| LogError::Misplaced { path: path.clone() });
            let Some(error) = error else {
                self.core.say(copy, None);
                continue;
            };
            // An error has stopped the kernel, and whoever waits is told so.
            if let Ok(false) = self.core.lose_spare(copy, &error) {
                self.core.say(copy, Some(error.to_string()));
            }
        }
    }
}

impl Log {
    fn look_for_ahead(&self) -> Result<(), LogError> {
        let core = &*self.core;
        if core.config.wads.is_none() {
            return Ok(());
        }
        let Some(_alone) = core.mending.try_lock() else { return Ok(()) };
        match core.misplaced_ahead() {
            Some(path) => self.leave_ahead(&LogError::Misplaced { path }),
            None => Ok(()),
        }
    }
}

impl Core {
    /// A file of the write-ahead data set that nobody would find again.
    fn misplaced_ahead(&self) -> Option<PathBuf> {
        let files = self.sealer.lock().ahead.as_ref()?.files();
        let disk = self.env.seam.disk.as_ref();
        let gone = files.iter().find(|one| is_misplaced(disk, &one.path, one.file.as_ref()));
        gone.map(|one| one.path.clone())
    }

    /// Has a copy count as lost although it can be written. `false` if there is no other one.
    pub(crate) fn lose_spare(&self, copy: u8, error: &LogError) -> Result<bool, LogError> {
        let losing = {
            let mut board = self.board.lock();
            if board.lead().is_none() || board.living().all(|living| living == copy) {
                return Ok(false);
            }
            board.start_losing(copy)
        };
        self.lost_from(copy, losing, error)?;
        Ok(true)
    }

    /// What is wrong with a copy from now on, or nothing.
    pub(crate) fn say(&self, copy: u8, trouble: Option<String>) {
        if let Some(known) = self.troubles.lock().get_mut(usize::from(copy)) {
            *known = trouble;
        }
    }

    fn look_for_room(&self) {
        let is_cramped =
            |directory: &Directory| directory.stuck && directory.slots < self.config.segments_max;
        if !is_cramped(&self.directory.lock()) {
            return;
        }
        let layout = self.layout();
        let living: Vec<u8> = self.board.lock().living().collect();
        let folders: Vec<PathBuf> = living.iter().flat_map(|copy| layout.folders(*copy)).collect();
        if !folders.iter().all(|folder| self.has_room(&layout, &folders, folder)) {
            return;
        }
        let mut directory = self.directory.lock();
        directory.tries = is_cramped(&directory);
        drop(directory);
        self.keeper_wake.notify_all();
    }

    /// Whether the device of a folder has room for several segments of all that share it; yes, if
    /// it does not say.
    fn has_room(&self, layout: &LogConfig, folders: &[PathBuf], folder: &Path) -> bool {
        let disk = self.env.seam.disk.as_ref();
        let Ok(room) = disk.room(folder) else { return true };
        let shares =
            |other: &&PathBuf| disk.room(other).is_ok_and(|other| other.device == room.device);
        let sharing = folders.iter().filter(shares).count() as u64;
        let segment = layout.segment_bytes.saturating_mul(u64::from(layout.stripes));
        room.free_bytes >= segment.saturating_mul(sharing * ROOM_SEGMENTS)
    }
}
