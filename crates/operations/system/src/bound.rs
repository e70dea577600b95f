//! What the bytes of a system must prove: what its configuration asks for, held against what its
//! control file binds ([`uow::protection`]).
//!
//! 1. Log and archives are read as what is bound says; where no control file can be asked, plain
//!    groups are believed nowhere.
//! 2. Less is bound by [`crate::protection::accept`] alone, whose caller holds the passphrase; more
//!    by a start.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use base::Lsn;
use recon::State;
use seal::{KeyProvider, Keyset};
use seam::Seam;
use serde::{Deserialize, Serialize};
use uow::control::{self, ControlKeys};
use uow::{Lowered, Protection, UowError};

use crate::keyset::LABELS;
use crate::{SystemConfig, SystemError, openings};

/// What the bytes of a system must prove, as people and programs read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtectionStatus {
    /// The form of the log and its archives.
    pub log: String,
    /// Copies of the log.
    pub log_copies: u8,
    /// Plain groups of log and archives are believed from here; they end nowhere while it is plain.
    pub plain_from: u64,
    /// And up to here; 0: none are.
    pub plain_until: u64,
    /// Folders of the archive; 0: the log is not archived.
    pub archive_folders: u8,
    /// The form of new data sets.
    pub new_sets: String,
    /// Databases whose new data sets have the other form.
    pub exceptions: Vec<String>,
    /// The anchor's file, if there is one.
    pub anchor: Option<String>,
    /// How many things of its doors may be open to others; none: that was never bound.
    #[serde(default)]
    pub openings: Option<usize>,
}

impl ProtectionStatus {
    /// What is bound.
    #[must_use]
    pub fn of(bound: &Protection) -> ProtectionStatus {
        ProtectionStatus {
            log: bound.log.to_string(),
            log_copies: bound.log_copies,
            plain_from: bound.plain.from.0,
            plain_until: bound.plain.until.0,
            archive_folders: bound.archive_folders,
            new_sets: bound.new_sets.to_string(),
            exceptions: bound.exceptions.iter().cloned().collect(),
            anchor: bound.anchor.as_ref().map(|path| path.display().to_string()),
            openings: bound.openings.as_ref().map(BTreeSet::len),
        }
    }
}

impl fmt::Display for ProtectionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let copies = if self.log_copies == 1 { "copy" } else { "copies" };
        write!(f, "log {}, {} {copies}", self.log, self.log_copies)?;
        if self.plain_until > 0 {
            write!(f, ", plain from {:#x} to {:#x}", self.plain_from, self.plain_until)?;
        }
        match self.archive_folders {
            0 => write!(f, "; not archived")?,
            1 => write!(f, "; archived in 1 folder")?,
            many => write!(f, "; archived in {many} folders")?,
        }
        write!(f, "; new data sets {}", self.new_sets)?;
        if !self.exceptions.is_empty() {
            write!(f, ", but not those of {}", self.exceptions.join(", "))?;
        }
        match &self.anchor {
            None => write!(f, "; no anchor")?,
            Some(path) => write!(f, "; anchor {path}")?,
        }
        match self.openings {
            None | Some(0) => Ok(()),
            Some(1) => write!(f, "; 1 thing of its doors is open to others"),
            Some(many) => write!(f, "; {many} things of its doors are open to others"),
        }
    }
}

/// What a stopped system's control file binds, and what its configuration asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// What is bound.
    pub bound: Protection,
    /// What the configuration asks for.
    pub asked: Protection,
    /// Where that is less.
    pub lowered: Vec<Lowered>,
}

/// Holds a configuration against the control file.
pub(crate) fn compared(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    keys: &Arc<Keyset>,
) -> Result<Compared, SystemError> {
    let bound = control::bound(seam, dir, &control_keys(config, keys))?;
    let asked = asked(config, dir);
    let lowered = lowered(&bound, config, dir);
    Ok(Compared { bound, asked, lowered })
}

/// What a configuration asks for, with what it opens.
pub(crate) fn asked(config: &SystemConfig, dir: &Path) -> Protection {
    let openings = Some(openings::asked(config, dir));
    Protection { openings, ..config.asked(dir) }
}

/// Where a configuration asks for less than what is bound.
pub(crate) fn lowered(bound: &Protection, config: &SystemConfig, dir: &Path) -> Vec<Lowered> {
    let mut lowered = bound.lowered_by(&config.asked(dir));
    lowered.extend(openings::lowered(bound, config, dir));
    lowered
}

/// What is bound for a system that is about to be opened.
///
/// # Errors
/// [`UowError::Protection`] if its configuration asks for less; whatever is wrong with its control
/// file, which is refused if RECON knows of a newer one.
pub(crate) fn prove(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    keys: &Arc<Keyset>,
    known: &State,
) -> Result<Protection, SystemError> {
    let Compared { bound, lowered, .. } = compared(seam, dir, config, keys)?;
    bound.refuse_older(known.protected, dir)?;
    match lowered.is_empty() {
        true => Ok(bound),
        false => Err(UowError::Protection { home: dir.to_owned(), lowered }.into()),
    }
}

/// Has a configuration read log and archives as what is bound says, for somebody who only looks.
/// Returns what is bound, if there is a
/// control file to ask, and where the configuration asks for less.
pub(crate) fn look(
    seam: &Seam,
    dir: &Path,
    config: &mut SystemConfig,
    keys: &Arc<Keyset>,
) -> (Option<Protection>, Vec<Lowered>) {
    let Ok(Compared { bound, lowered, .. }) = compared(seam, dir, config, keys) else {
        config.believe(&Protection::SEALED);
        return (None, Vec::new());
    };
    config.believe(&bound);
    if let Some(anchor) = &bound.anchor {
        config.anchor.file.clone_from(anchor);
    }
    (Some(bound), lowered)
}

/// The log was plain up to `end`, and is sealed from there on. The system is stopped, and the
/// caller holds its lock.
///
/// # Errors
/// If the control file cannot be written.
pub(crate) fn seal_log_from(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    keys: &Arc<Keyset>,
    end: Lsn,
) -> Result<(), SystemError> {
    Ok(control::seal_log_from(seam, dir, &control_keys(config, keys), end)?)
}

/// What the control file is sealed with.
pub(crate) fn control_keys(config: &SystemConfig, keys: &Arc<Keyset>) -> ControlKeys {
    ControlKeys {
        keys: Arc::clone(keys) as Arc<dyn KeyProvider>,
        label: LABELS[0].into(),
        system: config.system,
    }
}
