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
//! 4. A write-ahead data set of which a file is not the one that its name leads to is left: the
//!    log gets what it had, which is recorded, and goes on alone. Nobody who repairs or renews is
//!    waited for: there will be another look.

use std::path::PathBuf;

use seam::disk::is_misplaced;

use crate::LogError;
use crate::log::Log;

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
        let living: Vec<u8> = self.core.flush_state.lock().living().collect();
        for copy in living {
            let missing = found.iter().find(|(of, _)| *of == copy);
            let error = missing.map(|(_, path)| LogError::Misplaced { path: path.clone() });
            let Some(error) = error else {
                self.core.set_trouble(copy, None);
                continue;
            };
            // An error has stopped the kernel, and whoever waits is told so.
            if let Ok(false) = self.core.lose_spare(copy, &error) {
                self.core.set_trouble(copy, Some(error.to_string()));
            }
        }
    }

    fn look_for_ahead(&self) -> Result<(), LogError> {
        if self.core.config.wads.is_none() {
            return Ok(());
        }
        let Some(_alone) = self.repairing.try_lock() else { return Ok(()) };
        match self.misplaced_ahead() {
            Some(path) => self.leave_ahead(&LogError::Misplaced { path }),
            None => Ok(()),
        }
    }

    /// A file of the write-ahead data set that nobody would find again.
    fn misplaced_ahead(&self) -> Option<PathBuf> {
        let files = self.core.sealer.lock().ahead.as_ref()?.files();
        let disk = self.core.env.seam.disk.as_ref();
        let gone = files.iter().find(|one| is_misplaced(disk, &one.path, one.file.as_ref()));
        gone.map(|one| one.path.clone())
    }
}
