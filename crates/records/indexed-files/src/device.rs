//! The file beneath: which one it is, who has it, how much room there is, its bytes for the store.
//!
//! Invariants:
//! 1. Who writes has the file alone; readers share it. The lock belongs to the open file, so that
//!    two files of one program keep each other out as those of two programs do.
//! 2. What is locked is what the path leads to, and not what was there before.
//! 3. A file that is not ours is never written.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{Database, ReadOnlyDatabase, StorageBackend};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Resource;

use crate::refusal::Refusal;

/// The most memory that the store keeps pages in, for each open file.
const CACHE_BYTES: usize = 128 << 20;
/// What may be done with a new file: by its owner alone.
const NEW_FILE: u32 = 0o600;
/// How often a file that was locked may turn out to be another's by then.
const PLACES_MAX: u32 = 100;
const MAGIC: &[u8; 9] = b"redb\x1a\n\xa9\r\n";
const PAGE_BYTES: u32 = 4096;
/// Where Berkeley DB has its magic number, and that of its trees.
const BERKELEY_AT: usize = 12;
const BERKELEY_TREE: u32 = 0x0005_3162;
/// How much of a file tells what it is.
const FRONT_BYTES: usize = 16;

/// What stands behind a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Missing,
    /// A file without bytes, or one whose making was interrupted.
    Empty,
    /// An indexed file.
    Indexed,
    /// An indexed file of Berkeley DB, as the COBOL run time makes them.
    BerkeleyDb,
    /// Anything else.
    Foreign,
}

/// What stands behind a path.
///
/// # Errors
/// If the file cannot be read.
pub fn kind_of(path: &Path) -> Result<Kind, Refusal> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => kind(&file),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(Kind::Missing),
        Err(errno) => Err(Refusal::of_errno(errno)),
    }
}

fn kind(file: &OwnedFd) -> Result<Kind, Refusal> {
    let stat = rustix::fs::fstat(file).map_err(Refusal::of_errno)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => (),
        FileType::Directory => return Err(Refusal::Forbidden),
        _ => return Ok(Kind::Foreign),
    }
    let mut front = [0; FRONT_BYTES];
    let read = read_at(file, 0, &mut front).map_err(Refusal::of_errno)?;
    let word = u32::from_le_bytes([front[12], front[13], front[14], front[15]]);
    Ok(match read {
        0 => Kind::Empty,
        _ if front.starts_with(MAGIC) => Kind::Indexed,
        // The store writes its magic number last.
        FRONT_BYTES if front[..9] == [0; 9] && word == PAGE_BYTES => Kind::Empty,
        FRONT_BYTES if front[..9] == [0; 9] && front[BERKELEY_AT..] == [0; 4] => Kind::Foreign,
        FRONT_BYTES if [word, word.swap_bytes()].contains(&BERKELEY_TREE) => Kind::BerkeleyDb,
        _ => Kind::Foreign,
    })
}

/// Takes a file away that no process has open.
///
/// # Errors
/// If a process has it, or it cannot be taken away.
pub fn remove(path: &Path) -> Result<(), Refusal> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(Refusal::of_errno)?;
    lock(&file, FlockOperation::NonBlockingLockExclusive)?;
    if !is_at(&file, path) {
        return Err(Refusal::InUse);
    }
    rustix::fs::unlink(path).map_err(Refusal::of_errno)
}

fn lock(file: &OwnedFd, how: FlockOperation) -> Result<(), Refusal> {
    match rustix::fs::flock(file, how) {
        Err(Errno::AGAIN | Errno::ACCESS) => Err(Refusal::InUse),
        // A file system without locks has no process to share with.
        _ => Ok(()),
    }
}

/// Whether the path still leads to an open file: it may have been taken away, or another put in
/// its place, before it was locked.
pub(crate) fn is_at(file: &OwnedFd, path: &Path) -> bool {
    match (rustix::fs::fstat(file), rustix::fs::stat(path)) {
        (Ok(open), Ok(named)) => (open.st_dev, open.st_ino) == (named.st_dev, named.st_ino),
        (_, Err(Errno::NOENT | Errno::NOTDIR)) => false,
        // Where it cannot be told, it is.
        _ => true,
    }
}

fn read_at(file: &OwnedFd, at: u64, bytes: &mut [u8]) -> Result<usize, Errno> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::io::pread(file, &mut bytes[done..], at + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(Errno::INTR) => (),
            Err(errno) => return Err(errno),
        }
    }
    Ok(done)
}

/// An open file.
#[derive(Clone)]
pub(crate) struct Device {
    file: Arc<OwnedFd>,
    path: PathBuf,
}

impl Device {
    /// Opens a file to be read, beside its other readers.
    pub(crate) fn shared(path: &Path) -> Result<Device, Refusal> {
        Device::open(path, OFlags::RDONLY, FlockOperation::NonBlockingLockShared)
    }

    /// Opens a file alone, and makes it if it is not there.
    pub(crate) fn alone(path: &Path) -> Result<Device, Refusal> {
        let flags = OFlags::RDWR | OFlags::CREATE;
        Device::open(path, flags, FlockOperation::NonBlockingLockExclusive)
    }

    fn open(path: &Path, flags: OFlags, how: FlockOperation) -> Result<Device, Refusal> {
        let mode = Mode::from_raw_mode(NEW_FILE);
        for _ in 0..PLACES_MAX {
            let file = rustix::fs::open(path, flags | OFlags::CLOEXEC | OFlags::NONBLOCK, mode);
            let file = file.map_err(Refusal::of_errno)?;
            lock(&file, how)?;
            if is_at(&file, path) {
                return Ok(Device { file: Arc::new(file), path: path.to_owned() });
            }
        }
        Err(Refusal::InUse)
    }

    pub(crate) fn kind(&self) -> Result<Kind, Refusal> {
        kind(&self.file)
    }

    /// Takes all bytes away.
    pub(crate) fn clear(&self) -> Result<(), Refusal> {
        rustix::fs::ftruncate(&self.file, 0).map_err(Refusal::of_errno)
    }

    /// How many bytes the file can still get.
    pub(crate) fn room(&self) -> u64 {
        let free = rustix::fs::fstatvfs(&self.file).map(|stat| stat.f_bavail * stat.f_frsize);
        let limit = rustix::process::getrlimit(Resource::Fsize).current.map(|limit| {
            let size = rustix::fs::fstat(&self.file).map_or(0, |stat| stat.st_size as u64);
            limit.saturating_sub(size)
        });
        free.unwrap_or(u64::MAX).min(limit.unwrap_or(u64::MAX))
    }

    /// The store over it, to be changed.
    pub(crate) fn store(&self) -> Result<Database, Refusal> {
        let backend = Backend(Arc::clone(&self.file));
        let mut builder = redb::Builder::new();
        builder.set_cache_size(CACHE_BYTES);
        builder.create_with_backend(backend).map_err(Refusal::of_store)
    }

    /// The store over it, to be read; `None` if it has to be repaired first.
    pub(crate) fn read_only(&self) -> Result<Option<ReadOnlyDatabase>, Refusal> {
        let mut builder = redb::Builder::new();
        match builder.set_cache_size(CACHE_BYTES).open_read_only(&self.path) {
            Ok(store) => Ok(Some(store)),
            Err(redb::DatabaseError::RepairAborted) => Ok(None),
            Err(error) => Err(Refusal::of_store(error)),
        }
    }

    /// Makes the name of a new file durable.
    pub(crate) fn sync_name(&self) -> Result<(), Refusal> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
        // A folder that may not be read cannot be synced either.
        let Ok(folder) = rustix::fs::open(folder, flags, Mode::empty()) else { return Ok(()) };
        match rustix::fs::fsync(&folder) {
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            Err(errno) => Err(Refusal::of_errno(errno)),
        }
    }
}

/// The file's bytes, as the store asks for them.
struct Backend(Arc<OwnedFd>);

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an indexed file")
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> std::io::Result<u64> {
        Ok(rustix::fs::fstat(&self.0)?.st_size as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        match read_at(&self.0, offset, out)? {
            read if read == out.len() => Ok(()),
            _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        Ok(rustix::fs::ftruncate(&self.0, len)?)
    }

    fn sync_data(&self) -> std::io::Result<()> {
        match rustix::fs::fdatasync(&self.0) {
            // A file system that cannot be told to.
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        let mut done = 0;
        while done < data.len() {
            match rustix::io::pwrite(&self.0, &data[done..], offset + done as u64) {
                Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
                Ok(written) => done += written,
                Err(Errno::INTR) => (),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }
}
