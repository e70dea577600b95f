//! What people do about what a stopped system binds: compare it with the configuration, and accept
//! less.
//!
//! Invariants:
//! 1. Less is bound only by whoever holds the passphrase, under the system's lock.
//! 2. The log does not become plain while anything is sealed.

use std::path::Path;
use std::sync::Arc;

use seal::{Format, Passphrase};
use seam::Seam;
use uow::{UowError, control};

pub use crate::bound::{Compared, ProtectionStatus};
use crate::bound::{asked, compared, control_keys};
use crate::lock::{absolute, open_keyset};
use crate::shadow::without_writes;
use crate::{Stopped, SystemConfig, SystemError};

/// Holds the configuration of a stopped system against its control file; changes nothing.
///
/// # Errors
/// [`SystemError::InUse`]; whatever is wrong with configuration, key file or control file.
pub fn compare(seam: &Seam, dir: &Path, passphrase: &Passphrase) -> Result<Compared, SystemError> {
    let dir = &absolute(seam, dir)?;
    let (keyset, _lock) = open_keyset(seam, dir, passphrase)?;
    compared(seam, dir, &SystemConfig::read(seam.disk.as_ref(), dir)?, &Arc::new(keyset))
}

/// Binds what the configuration of a stopped system asks for, where that is less than what is
/// bound. What is more is bound by the next start. Returns what is bound now, and what was more.
///
/// # Errors
/// As for [`compare`], and if the control file cannot be written.
pub fn accept(seam: &Seam, dir: &Path, passphrase: &Passphrase) -> Result<Compared, SystemError> {
    let dir = &absolute(seam, dir)?;
    let (keyset, lock) = open_keyset(seam, dir, passphrase)?;
    let (config, keyset) = (SystemConfig::read(seam.disk.as_ref(), dir)?, Arc::new(keyset));
    let Compared { bound, asked, lowered } = compared(seam, dir, &config, &keyset)?;
    let becomes_plain = bound.log == Format::Sealed && asked.log == Format::Plain;
    let shadow = without_writes(seam);
    let stopped =
        Stopped::around(dir.to_owned(), config.clone(), Arc::clone(&keyset), shadow, lock);
    if becomes_plain {
        refuse_sealed(&stopped)?;
    }
    let (_, bound) = control::accept(seam, dir, &control_keys(&config, &keyset), &asked)?;
    drop(stopped); // It has held the system's lock.
    Ok(Compared { bound, asked, lowered })
}

/// Refuses to have the log plain while anything is sealed: undo and splits of nodes log it.
fn refuse_sealed(stopped: &Stopped) -> Result<(), SystemError> {
    let survey = stopped.survey(&mut |_| ())?;
    let sealed = survey.catalog.existing().filter(|set| !set.is_all_plain());
    let names: Vec<String> = sealed.map(|set| set.name.clone()).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(UowError::LogStaysSealed { names }.into()),
    }
}

/// Has a stopped system open, on the disk that forgets, whatever its configuration asks for.
pub(crate) fn accept_in_memory(stopped: &Stopped) -> Result<(), UowError> {
    if stopped.lowered.is_empty() {
        return Ok(());
    }
    let keys = control_keys(&stopped.config, &stopped.keys);
    let mut asked = asked(&stopped.config, &stopped.dir);
    // Its data sets may be sealed. What is logged in memory may be so, too.
    if let Some(bound) = &stopped.bound {
        asked.log = bound.log;
    }
    control::accept(&stopped.seam, &stopped.dir, &keys, &asked).map(drop)
}
