//! What a system in use writes again from what it knows: the verb `repair`.
//!
//! 1. What is asked for is done or refused; "done" means that a good version is durable in its
//!    place.

use std::path::Path;

use base::CiNumber;
use recovery::CopyFiles;
use seam::disk::Open;
use seam::fresh::Fresh;
use serde::{Deserialize, Serialize};
use uow::{RepairedFrom, UowError};

use crate::protocol::{Refusal, Talk};
use crate::{System, SystemError};

/// What is to be written again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RepairRequest {
    /// An interval of a data set.
    Interval {
        /// The data set.
        set: String,
        /// The interval's number.
        interval: u32,
    },
    /// Both slots of the control file.
    Control,
    /// The double-write area.
    DoubleWrite,
    /// What copies of the log lack.
    Log,
    /// The key file.
    Keys,
    /// Both copies of RECON.
    Recon,
    /// The files of an image copy, from one that is whole.
    Copy {
        /// Its number in RECON.
        number: u32,
    },
}

/// What was written again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repaired {
    /// What, in words.
    pub what: String,
}

/// Bytes of an image copy that are copied at once.
const PIECE: usize = 1 << 20;

/// Writes something again.
pub(crate) fn repair(
    system: &System,
    request: &RepairRequest,
    talk: &mut Talk<'_>,
) -> Result<Repaired, Refusal> {
    let kernel = system.kernel();
    let what = match request {
        RepairRequest::Interval { set, interval } => {
            repair_interval(system, set, CiNumber(*interval))?
        }
        RepairRequest::Control => {
            kernel.renew_control()?;
            "both slots of the control file are written anew".to_owned()
        }
        RepairRequest::DoubleWrite => {
            kernel.write_out()?;
            kernel.clear_double_write()?;
            "the double-write area is cleared".to_owned()
        }
        RepairRequest::Log => super::logs::repair(system, false, talk)?,
        RepairRequest::Keys => {
            system.keys().write_again()?;
            format!("{} is written anew", system.keys().path().display())
        }
        RepairRequest::Recon => {
            system.recon().write_again().map_err(SystemError::from)?;
            "both copies of RECON are written anew".to_owned()
        }
        RepairRequest::Copy { number } => copy_again(system, *number, talk)?,
    };
    Ok(Repaired { what })
}

/// Writes again what copies of the log lack, and has restarts and the archive go on behind what is
/// nowhere: that loses something, so it is a verb of its own, for whoever knows the passphrase.
pub(crate) fn give_up(system: &System, talk: &mut Talk<'_>) -> Result<Repaired, Refusal> {
    Ok(Repaired { what: super::logs::repair(system, true, talk)? })
}

fn repair_interval(system: &System, name: &str, ci: CiNumber) -> Result<String, Refusal> {
    let kernel = system.kernel();
    let set = kernel.set_named(name);
    let set = set.ok_or_else(|| UowError::NoSuchSet { name: name.to_owned() })?;
    if ci.0 >= set.intervals() {
        let why = format!("interval {ci} lies behind the end of data set {name}");
        return Err(SystemError::NotRepairable { why, name: name.to_owned() }.into());
    }
    match kernel.repair_interval(&set, ci)? {
        Some(RepairedFrom::Memory) => {
            Ok(format!("interval {ci} of data set {name} is written anew from memory"))
        }
        Some(RepairedFrom::DoubleWrite) => {
            Ok(format!("interval {ci} of data set {name} is put back from the double-write area"))
        }
        None => {
            let why = format!(
                "interval {ci} of data set {name} is neither in memory nor in the double-write area"
            );
            Err(SystemError::NotRepairable { why, name: name.to_owned() }.into())
        }
    }
}

/// Makes every file of an image copy anew that is not whole, from one that is.
fn copy_again(system: &System, number: u32, talk: &mut Talk<'_>) -> Result<String, Refusal> {
    let state = system.recon().state();
    let copy = state.image_copies.get(&number);
    let copy = copy.ok_or(SystemError::NoSuchCopy { number })?;
    let (seam, keys) = (system.kernel().seam(), system.copy_keys());
    let (mut good, mut bad) = (None, Vec::new());
    let mut reported = Ok(());
    for file in &copy.files {
        let object = file.path.display().to_string();
        let whole = CopyFiles::verify(seam, &file.path, &keys, &mut |done, total| {
            if reported.is_ok() {
                reported = talk.progress(&object, done >> 20, total >> 20, "MiB");
            }
        });
        reported.clone()?;
        match whole {
            Ok(info) if info.tag == copy.tag => good = Some(&file.path),
            _ => bad.push(&file.path),
        }
    }
    let good = good.ok_or(SystemError::NoWholeFile { number })?;
    for path in &bad {
        put(system, good, path, talk)?;
    }
    Ok(format!("image copy {number}: {} of {} files made anew", bad.len(), copy.files.len()))
}

/// Replaces a file by a copy of another one, durably; it gets its name last.
fn put(system: &System, from: &Path, to: &Path, talk: &mut Talk<'_>) -> Result<(), Refusal> {
    let disk = &system.kernel().seam().disk;
    let failed = |error| Refusal::from(SystemError::io("make anew", to, error));
    let folder = to.parent().unwrap_or(Path::new("."));
    recovery::prepare_folder(&**disk, folder).map_err(failed)?;
    let source = disk.open(from, Open::READ).map_err(failed)?;
    let fresh = Fresh::begin(disk, to).map_err(failed)?;
    let target = fresh.file();
    let len = source.len().map_err(failed)?;
    let mut piece = vec![0; PIECE];
    for offset in (0..len).step_by(PIECE) {
        let piece = &mut piece[..(len - offset).min(PIECE as u64) as usize];
        source.read_at(piece, offset).map_err(failed)?;
        target.write_at(piece, offset).map_err(failed)?;
        talk.progress(&to.display().to_string(), offset >> 20, len >> 20, "MiB")?;
    }
    target.sync().map_err(failed)?;
    fresh.keep(true).map_err(failed)
}
