//! Whose a folder is: a small file in it names the system whose files stand there.
//!
//! Names of files say nothing of whose they are: two systems number theirs alike, and one whose
//! configuration names a folder of the other would write over what is there.
//!
//! 1. A mark that is there and can be read is never changed: who wants the folder for another
//!    system removes it, and knows why.
//! 2. Of two systems that mark one folder at once one has it; the other reads so.

use std::io;
use std::path::Path;
use std::sync::Arc;

use base::SystemId;

use crate::disk::{Disk, make_dir, read_small};
use crate::fresh::{Fresh, replace_small};

/// The name of the mark.
pub const MARK: &str = "holdfast.system";
/// No mark is longer.
const MARK_BYTES_MAX: usize = 4096;

/// The system whose files stand in a folder; `None` if no mark says it.
///
/// # Errors
/// Whatever the disk says, unless there is no such folder.
pub fn owner(disk: &dyn Disk, folder: &Path) -> io::Result<Option<SystemId>> {
    match read_small(disk, &folder.join(MARK), MARK_BYTES_MAX) {
        Ok(bytes) => Ok(read(&bytes)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            // It was cut off or written over: it says nothing.
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Ok(None),
            _ => Err(error),
        },
    }
}

/// Makes a folder one of a system, durably, if no other system has it. The folder is made if there
/// is none. Returns whose it is now.
///
/// # Errors
/// Whatever the disk says.
pub fn claim(disk: &Arc<dyn Disk>, folder: &Path, system: SystemId) -> io::Result<SystemId> {
    make_dir(&**disk, folder)?;
    if let Some(owner) = owner(&**disk, folder)? {
        return Ok(owner);
    }
    let (path, contents) = (folder.join(MARK), contents(system));
    if disk.exists(&path)? {
        replace_small(&**disk, &path, contents.as_bytes())?;
        return Ok(system);
    }
    let fresh = Fresh::begin(disk, &path)?;
    fresh.file().write_at(contents.as_bytes(), 0)?;
    fresh.file().sync()?;
    match fresh.keep(false) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok(owner(&**disk, folder)?.unwrap_or(system))
        }
        kept => kept.map(|()| system),
    }
}

fn contents(system: SystemId) -> String {
    format!(
        "{system}\nis the Holdfast system whose files stand in this folder. No other system's may, \
         and none does as long as this file is here.\n"
    )
}

fn read(bytes: &[u8]) -> Option<SystemId> {
    let digits = bytes.get(..32).filter(|digits| digits.is_ascii())?;
    let mut system = SystemId::default();
    for (byte, digits) in system.0.iter_mut().zip(digits.chunks(2)) {
        let digits = str::from_utf8(digits).ok()?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        *byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    }
    Some(system)
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use super::*;
    use crate::sim::SimDisk;

    const ONE: SystemId = SystemId([0xa1; 16]);
    const OTHER: SystemId = SystemId([2; 16]);

    #[test]
    fn a_folder_has_the_owner_that_came_first() {
        let sim = SimDisk::new();
        let disk: Arc<dyn Disk> = Arc::new(sim.clone());
        let folder = Path::new("/a/b");
        assert_eq!(owner(&*disk, folder).unwrap(), None);
        assert_eq!(claim(&disk, folder, ONE).unwrap(), ONE);
        assert_eq!(claim(&disk, folder, OTHER).unwrap(), ONE);
        assert_eq!(owner(&*disk, folder).unwrap(), Some(ONE));
        disk.remove(&folder.join(MARK)).unwrap();
        assert_eq!(claim(&disk, folder, OTHER).unwrap(), OTHER);
    }

    #[test]
    fn a_mark_that_says_nothing_is_made_again() {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
        let folder = Path::new("/a");
        disk.create_dir(folder).unwrap();
        let long = [b'a'; 2 * MARK_BYTES_MAX];
        for bytes in [&b""[..], b"a1a1", &[0; 40], "é".repeat(20).as_bytes(), b"+1+1", &long] {
            replace_small(&*disk, &folder.join(MARK), bytes).unwrap();
            assert_eq!(owner(&*disk, folder).unwrap(), None, "{bytes:?}");
            assert_eq!(claim(&disk, folder, ONE).unwrap(), ONE);
            assert_eq!(owner(&*disk, folder).unwrap(), Some(ONE));
        }
    }
}
