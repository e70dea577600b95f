//! The key file of a system that is open: the system has all that it takes, and whoever takes the
//! file away takes the data of the next start.
//!
//! Invariants:
//! 1. A system that was started stops only when its key file holds the keys that it has in memory.
//! 2. Nothing that stands in its place is lost: it gets another name, ending with [`ASIDE`].

use std::path::PathBuf;

use base::Coded as _;
use seal::{Keyset, SealError};
use seam::disk::Disk;

use crate::SystemError;

/// Ends the name of what stood in the place of a key file.
const ASIDE: &str = "found";

/// What is wrong with the key file on disk, in a sentence.
pub(crate) fn note(keys: &Keyset) -> Option<String> {
    let error = keys.prove_file().err()?;
    Some(format!(
        "{error} ({}): the next start needs it. `holdfast repair --keys` writes it with the keys \
         that this system has in memory, and so does `holdfast stop`",
        error.code()
    ))
}

/// Has the key file hold the keys that are in memory; says so if it did not.
///
/// # Errors
/// If it cannot be written, or nobody can tell what it holds: stopped now, the system would never
/// start again.
pub(crate) fn keep(keys: &Keyset, disk: &dyn Disk) -> Result<Option<String>, SystemError> {
    let Err(found) = keys.prove_file() else { return Ok(None) };
    let mut kept = String::new();
    match found {
        SealError::NoKeyFile { .. } => {}
        SealError::KeyFileUnread { .. } => return Err(found.into()),
        _ => {
            let aside = PathBuf::from(format!("{}.{ASIDE}", keys.path().display()));
            disk.rename(keys.path(), &aside)
                .map_err(|error| SystemError::io("rename", keys.path(), error))?;
            kept = format!("; what stood there is {} now", aside.display());
        }
    }
    keys.write_again()?;
    let code = found.code();
    Ok(Some(format!("{found} ({code}): it is written anew, with the keys in memory{kept}")))
}
