//! The place that a file gets in a folder: what is there already is never written over.
//!
//! | there is | then |
//! |---|---|
//! | nothing | the file gets its name |
//! | the same file, damaged | it is replaced by one with its bytes |
//! | another file of this system, or of nobody | it is set aside: it gets the name `*.aside` |
//! | a file of another system | the folder refuses |
//!
//! Until then it grows under the name `*.SYSTEM.new`, SYSTEM the system's identity.
//!
//! Invariants:
//! 1. A file of this system that is not known to be elsewhere, byte for byte, stays: whoever
//!    restores a system with too old a key file, or starts a copy of it, still has what it held.
//! 2. A file of another system is neither changed nor renamed.

use std::io;
use std::path::{Path, PathBuf};

use base::SystemId;
use base::bytes::Reader;
use seal::Salt;
use seam::disk::{Create, Disk, Open};

use crate::{ArchiveEnv, ArchiveError};

/// Where archives and accumulations both have their system and their salt.
const SYSTEM_AT: usize = 8;
const SALT_AT: usize = 32;
const FRONT_BYTES: usize = SALT_AT + 16;

/// What the front of a file says, which nothing has proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Front {
    /// There is no such file.
    Nothing,
    /// No archive begins so.
    Unknown,
    /// An archive or an accumulation.
    Known(SystemId, Salt),
}

/// What a new file may take the name of, and the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replaces {
    /// Nothing that holds anything.
    Nothing,
    /// The file with this salt, of which it is a copy.
    Copy(Salt),
    /// Any file of this system: what it holds stands elsewhere, too.
    Own,
}

/// Gives a file that has grown and was synced its name.
///
/// # Errors
/// [`ArchiveError::Foreign`]; whatever the disk says.
pub(crate) fn give_name(
    env: &ArchiveEnv,
    name: &Path,
    replaces: Replaces,
) -> Result<(), ArchiveError> {
    let disk = env.seam.disk.as_ref();
    let failed = |error| ArchiveError::io("name", name, error);
    match (front_of(disk, name).map_err(failed)?, replaces) {
        (Front::Nothing, _) | (Front::Unknown, Replaces::Copy(_) | Replaces::Own) => {}
        // Also one whose front is damaged where it names its system.
        (Front::Known(_, salt), Replaces::Copy(same)) if salt == same => {}
        (Front::Known(system, _), _) if system != env.system => return Err(foreign(name, system)),
        (_, Replaces::Own) => {}
        (Front::Known(..) | Front::Unknown, _) => set_aside(disk, name).map_err(failed)?,
    }
    disk.rename(&fresh_name(env.system, name), name).map_err(failed)
}

/// Where a file of this name grows: two systems that share a folder by mistake must not write to
/// one file.
pub(crate) fn fresh_name(system: SystemId, name: &Path) -> PathBuf {
    name.with_extension(unfinished(system))
}

/// Whether a file is one of this system that was not finished.
pub(crate) fn is_unfinished(system: SystemId, name: &Path) -> bool {
    let name = name.to_string_lossy();
    let ours = name.starts_with("archive-") || name.starts_with("accumulation-");
    ours && name.ends_with(&format!(".{}", unfinished(system)))
}

fn unfinished(system: SystemId) -> String {
    format!("{system}.new")
}

/// Refuses a name that a file of another system has.
///
/// # Errors
/// [`ArchiveError::Foreign`]; whatever the disk says.
pub(crate) fn refuse_foreign(env: &ArchiveEnv, name: &Path) -> Result<(), ArchiveError> {
    let front = front_of(env.seam.disk.as_ref(), name);
    match front.map_err(|error| ArchiveError::io("read", name, error))? {
        Front::Known(system, _) if system != env.system => Err(foreign(name, system)),
        _ => Ok(()),
    }
}

fn foreign(name: &Path, system: SystemId) -> ArchiveError {
    ArchiveError::Foreign { path: name.to_owned(), system }
}

fn front_of(disk: &dyn Disk, path: &Path) -> io::Result<Front> {
    let how = Open { create: Create::Never, write: false, direct: false, dsync: false };
    let file = match disk.open(path, how) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Front::Nothing),
        Err(error) => return Err(error),
    };
    let mut front = [0; FRONT_BYTES];
    if file.len()? < FRONT_BYTES as u64 {
        return Ok(Front::Unknown);
    }
    match file.read_at(&mut front, 0) {
        Ok(()) => Ok(read(&front).unwrap_or(Front::Unknown)),
        // Nobody else can read it either; whoever has no copy of it sets it aside.
        Err(_) => Ok(Front::Unknown),
    }
}

fn read(front: &[u8]) -> Option<Front> {
    let is_ours =
        front.starts_with(&crate::header::MAGIC) || front.starts_with(&crate::accumulation::MAGIC);
    let system = SystemId(Reader::new(front.get(SYSTEM_AT..)?).array()?);
    let salt = Salt(Reader::new(front.get(SALT_AT..)?).array()?);
    is_ours.then_some(Front::Known(system, salt))
}

fn set_aside(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    for number in 1.. {
        let mut aside = path.as_os_str().to_owned();
        aside.push(if number == 1 { ".aside".to_owned() } else { format!(".aside{number}") });
        let aside = PathBuf::from(aside);
        if !disk.exists(&aside)? {
            return disk.rename(path, &aside);
        }
    }
    Ok(())
}
