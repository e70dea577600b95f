//! Limits with which a system would start and could then do nothing, or nothing else.
//!
//! Invariants:
//! 1. A limit is refused when a system is made or started, with what is possible, rather than at
//!    every call.
//! 2. Whoever only looks at a system, stops or restores it is not kept from that by a limit.

use std::path::Path;

use seam::disk::{Disk, read_small};

use super::{Bytes, CONFIG_FILE, FILE_BYTES_MAX, SystemConfig, line_with};
use crate::SystemError;

/// With fewer, no call is sure of what it needs.
const LOCKS_MIN: usize = 64;
/// Little, and yet somebody's choice.
const LOCKS_PER_UNIT_MIN: usize = 1;
/// Places of locks are numbered.
pub(super) const LOCKS_MAX: usize = 1 << 30;
/// No call that changes something fits into less.
const SPAN_MIN: Bytes = Bytes(4 << 10);
/// Less would be written for every change.
const LOG_MIN: Bytes = Bytes(4 << 10);

impl SystemConfig {
    /// Checks the limits of the system in `dir`, whose configuration this is, before it starts.
    ///
    /// # Errors
    /// [`SystemError::Config`] with the line.
    pub(crate) fn check_to_start(&self, disk: &dyn Disk, dir: &Path) -> Result<(), SystemError> {
        let Err((setting, why)) = self.check_limits() else { return Ok(()) };
        let path = dir.join(CONFIG_FILE);
        let bytes = read_small(disk, &path, FILE_BYTES_MAX)
            .map_err(|error| SystemError::io("read", &path, error))?;
        let line = line_with(&String::from_utf8_lossy(&bytes), setting);
        Err(SystemError::Config { path, line, why })
    }

    /// The same before a system is made of it.
    ///
    /// # Errors
    /// [`SystemError::Unusable`] with the setting.
    pub(crate) fn check_to_make(&self) -> Result<(), SystemError> {
        self.check_limits()
            .map_err(|(setting, why)| SystemError::Unusable { why: format!("{setting}: {why}") })
    }

    pub(super) fn check_limits(&self) -> Result<(), (&'static str, String)> {
        let (locks, checkpoint) = (&self.locks, &self.checkpoint);
        for (setting, given, least) in [
            ("locks_max", locks.locks_max, LOCKS_MIN),
            ("locks_per_unit_max", locks.locks_per_unit_max, LOCKS_PER_UNIT_MIN),
        ] {
            if !(least..=LOCKS_MAX).contains(&given) {
                let why = format!("{given} locks are not possible; {least} to {LOCKS_MAX}");
                return Err((setting, why));
            }
        }
        for (setting, given, least) in [
            ("log_bytes_max", self.units.log_bytes_max, SPAN_MIN),
            ("log_bytes", checkpoint.log_bytes, LOG_MIN),
            ("redo_bytes_max", checkpoint.redo_bytes_max, LOG_MIN),
        ] {
            if given.0 < least.0 {
                return Err((setting, format!("{given} is too little; {least} or more")));
            }
        }
        match checkpoint.interval_seconds {
            0 => Err(("interval_seconds", "it is 1 second or more".into())),
            _ => Ok(()),
        }
    }
}
