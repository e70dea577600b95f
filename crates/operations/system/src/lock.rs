//! The lock that says that a system is open, and what is done under it alone.
//!
//! Invariants:
//! 1. Whoever has a system open, or changes its key file, holds its lock.
//! 2. What was read before the lock was had is read again: its holder may have changed it.
//! 3. Paths that are recorded, or told to others, are absolute, however the folder was named.

use std::path::{Path, PathBuf};
use std::time::Duration;

use seal::{Keyset, Passphrase};
use seam::Seam;
use seam::disk::HeldLock;

use crate::keyset::open_keys;
use crate::places::LOCK;
use crate::protocol;
use crate::{SystemConfig, SystemError};

/// How long a lock is waited for whose holder does not say that it has the system open.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

/// The folder of a system as everybody finds it: what is recorded, and what others are told, is
/// read by processes that work in other folders.
pub(crate) fn absolute(seam: &Seam, dir: &Path) -> Result<PathBuf, SystemError> {
    seam.disk.absolute(dir).map_err(|error| SystemError::io("find", dir, error))
}

/// Takes the lock that says that a system is open. Whoever only looks at a stopped system holds it
/// for a moment, and so does a process that is starting: they are waited for. Where the lock could
/// be had although a process answers for the system, that process has it open all the same.
pub(crate) fn lock(seam: &Seam, dir: &Path) -> Result<Box<dyn HeldLock>, SystemError> {
    let owner = seam.disk.work_for_owner_of(dir);
    owner.map_err(|error| SystemError::io("look at", dir, error))?;
    let begun = seam.clock.monotonic();
    loop {
        let error = match seam.disk.lock_folder(dir, LOCK) {
            Ok(lock) => match protocol::served_by(dir) {
                None => return Ok(lock),
                Some(_) => std::io::ErrorKind::WouldBlock.into(),
            },
            Err(error) => error,
        };
        if error.kind() != std::io::ErrorKind::WouldBlock {
            return Err(SystemError::io("lock", &dir.join(LOCK), error));
        }
        let holder = protocol::holder(dir).ok().flatten().or_else(|| protocol::served_by(dir));
        if holder.is_some() || seam.clock.monotonic().saturating_sub(begun) > PATIENCE {
            let holder = holder.map_or("another process".into(), |pid| format!("process {pid}"));
            return Err(SystemError::InUse { dir: dir.to_owned(), holder });
        }
        seam.clock.sleep(LOOK);
    }
}

/// Opens the keyset to change it. The lock keeps the system from being opened meanwhile, for a
/// running system keeps its own view of the file.
///
/// # Errors
/// As [`crate::System::open`], for the files that are looked at.
pub fn open_keyset(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
) -> Result<(Keyset, Box<dyn HeldLock>), SystemError> {
    SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    let lock = lock(seam, dir)?;
    // Again: whoever held the lock before may have changed it.
    let config = SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    Ok((open_keys(seam, dir, &config, passphrase)?, lock))
}
