//! The keyset of a system: opened for whoever knows the passphrase, and looked at.
//!
//! Invariants:
//! 1. Keys are not taken out of their file where another process watches this one, and a process
//!    that has opened a keyset leaves no core dumps (K22).
//! 2. Only looking needs no lock: a running system keeps its own view of the file.

use std::path::Path;

use seal::{Keyset, Passphrase};
use seam::Seam;

use crate::{SystemConfig, SystemError, hygiene};

/// The labels that every system has: its control file and double-write area, its log, its data.
pub const LABELS: [&str; 3] = ["system", "log", "data"];

/// Opens the keyset of a system whose configuration has been read.
pub(crate) fn open_keys(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    passphrase: &Passphrase,
) -> Result<Keyset, SystemError> {
    // Keys are not taken out where somebody looks over our shoulder.
    let _ = hygiene::protect_process();
    if let Some(tracer) = hygiene::tracer() {
        return Err(SystemError::Traced { tracer });
    }
    Ok(Keyset::open(seam, &config.key_file(dir), config.system, passphrase)?)
}

/// The name under which a session may hold what opens a system's key file; `None` if a token
/// protects it.
///
/// # Errors
/// If the configuration or the key file cannot be read.
pub fn session_name(seam: &Seam, dir: &Path) -> Result<Option<String>, SystemError> {
    let config = SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    Ok(Keyset::session_name(seam.disk.as_ref(), &config.key_file(dir))?)
}

/// What opens a system's key file at once in place of its passphrase; `None` if a token protects
/// it. The system may be running.
///
/// # Errors
/// As [`crate::open_keyset`].
pub fn stretch_passphrase(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
) -> Result<Option<Passphrase>, SystemError> {
    let config = SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    Ok(Keyset::stretch(seam, &config.key_file(dir), config.system, passphrase)?)
}

/// Opens the keyset to look at it; the system may be running.
///
/// # Errors
/// As [`crate::open_keyset`].
pub fn read_keyset(
    seam: &Seam,
    dir: &Path,
    passphrase: &Passphrase,
) -> Result<Keyset, SystemError> {
    let config = SystemConfig::read_any(seam.disk.as_ref(), dir)?;
    open_keys(seam, dir, &config, passphrase)
}
