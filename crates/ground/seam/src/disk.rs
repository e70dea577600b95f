//! The door to files: what the kernel may ask of a disk, and what it may count on.
//!
//! Promises that an implementation keeps and the simulator attacks:
//!
//! 1. A write that returned is visible to every later read of this process.
//! 2. Only [`File::sync`] (or a write to a file opened with `dsync`) makes writes durable; before
//!    it, a crash may keep, drop or tear each 512-byte sector of each write on its own, and a torn
//!    write may spoil its neighbours within the same 4 KiB (K19). A device takes long writes apart:
//!    the parts may get lost or go astray one by one.
//! 3. A file that was created, renamed or removed is so durably only after [`Disk::sync_dir`] of
//!    its folder; a new length only after [`File::sync`].
//! 4. After a failed sync nothing is known about the writes before it; the caller stops.
//!
//! Buffers and offsets of files opened `direct` are multiples of [`BLOCK`]; use
//! [`crate::mem::AlignedBuf`].

use std::any::Any;
use std::io::{self, IoSliceMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The physical block of the reference disk: the alignment of direct input and output.
pub const BLOCK: usize = 4096;

/// Whether opening makes the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// The file must exist.
    Never,
    /// The file must not exist (`AlreadyExists` otherwise).
    New,
    /// The file is made if it is missing.
    IfMissing,
}

/// How to open a file.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// Whether opening makes the file.
    pub create: Create,
    /// Whether it will be written.
    pub write: bool,
    /// Past the operating system's cache, where the file system can (K22).
    pub direct: bool,
    /// Every write is durable when it returns.
    pub dsync: bool,
}

impl Open {
    /// An existing file, to be read only, through the cache.
    pub const READ: Open =
        Open { create: Create::Never, write: false, direct: false, dsync: false };
    /// An existing file for data: read and written directly, synced when asked.
    pub const DATA: Open = Open { create: Create::Never, write: true, direct: true, dsync: false };
    /// An existing file whose every write is durable when it returns: log, double-write area.
    pub const DURABLE: Open =
        Open { create: Create::Never, write: true, direct: true, dsync: true };

    /// The same, with another answer to a missing file.
    #[must_use]
    pub fn create(self, create: Create) -> Open {
        Open { create, ..self }
    }
}

/// An open file. All calls name their place; there is no cursor to share.
///
/// ```
/// use holdfast_seam::Seam;
/// use holdfast_seam::disk::{Create, Open};
///
/// # fn main() -> std::io::Result<()> {
/// let disk = Seam::real().disk;
/// let path = std::env::temp_dir().join(format!("holdfast-file-{}", std::process::id()));
/// let how = Open { direct: false, ..Open::DATA };
/// let file = disk.open(&path, how.create(Create::New))?;
///
/// file.write_batch(&[(4, b"fast"), (0, b"hold")])?; // in no particular order
/// file.set_len(12)?; // zeros to there
/// file.sync()?; // after an error here nothing is written any more
///
/// let mut read = [0xff; 12];
/// file.read_at(&mut read, 0)?;
/// assert_eq!(&read, b"holdfast\0\0\0\0");
/// let behind = file.read_at(&mut read, 1).unwrap_err();
/// assert_eq!(behind.kind(), std::io::ErrorKind::UnexpectedEof);
/// # disk.remove(&path)
/// # }
/// ```
pub trait File: Any + Send + Sync {
    /// Fills `buf` from `offset`. `UnexpectedEof` if the file ends before.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;
    /// Fills several buffers, one behind the other, from `offset`: one operation where the machine
    /// can. After an error nothing is known about what stands in any of them.
    fn read_vectored_at(&self, bufs: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<()> {
        let mut at = offset;
        bufs.iter_mut().try_for_each(|buf| {
            let from = at;
            at += buf.len() as u64;
            self.read_at(buf, from)
        })
    }
    /// Writes all of `buf` at `offset`, growing the file if needed.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()>;
    /// Writes several buffers, in no particular order, as deep as the machine allows. Neighbours in
    /// the file cost least when they stand in one buffer.
    fn write_batch(&self, writes: &[(u64, &[u8])]) -> io::Result<()> {
        writes.iter().try_for_each(|(offset, buf)| self.write_at(buf, *offset))
    }
    /// Writes several buffers, one behind the other, from `offset`: one operation where the machine
    /// can. After an error nothing is known about what stands there.
    fn write_vectored_at(&self, bufs: &[&[u8]], offset: u64) -> io::Result<()> {
        let mut at = offset;
        bufs.iter().try_for_each(|buf| {
            let from = at;
            at += buf.len() as u64;
            self.write_at(buf, from)
        })
    }
    /// Makes all writes and the length durable. A failure is final: the caller stops.
    fn sync(&self) -> io::Result<()>;
    /// The length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Cuts or extends (with zeros) to `len` bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes sure that `offset..offset + len` has space on the device; extends the length to
    /// cover it.
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()>;
    /// Which file this is, whatever name leads to it, or none by now.
    fn identity(&self) -> io::Result<FileId> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Holds the file for as long as it is open: with all who read it, or, as `writer`, alone.
    /// `WouldBlock`, and who has it, if it is held otherwise. Devices and pipes have
    /// any number of users, and a file system that cannot hold files holds none.
    fn hold(&self, _writer: bool) -> io::Result<()> {
        Ok(())
    }
    /// Whether the file is empty.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// A lock on a file, released when dropped and when the process dies.
pub trait HeldLock: Send + Sync {
    /// Whether a later process still meets it.
    fn place(&self) -> LockPlace {
        LockPlace::InPlace
    }
}

/// What has become of a held lock: a name can be taken from a file that is locked, and given to
/// another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockPlace {
    /// Its name leads to it.
    InPlace,
    /// Its name leads elsewhere or nowhere; its folder is locked, too, and keeps others out.
    FolderHeld,
    /// Its name leads elsewhere or nowhere, and nothing keeps others out.
    Lost,
}

/// Which file something is: two of the same identity are one, by whatever names they were reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    /// Its device.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// The room on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRoom {
    /// Which device: two of the same number are one.
    pub device: u64,
    /// Bytes that may still be taken.
    pub free_bytes: u64,
    /// Bytes of all of it.
    pub bytes: u64,
}

impl DeviceRoom {
    /// How much of it is free, in percent, rounded down.
    #[must_use]
    pub fn free_percent(&self) -> u8 {
        let percent = u128::from(self.free_bytes) * 100 / u128::from(self.bytes.max(1));
        percent.min(100) as u8
    }
}

/// Files by path.
///
/// ```
/// use holdfast_seam::Seam;
/// use holdfast_seam::disk::{Create, Open};
///
/// # fn main() -> std::io::Result<()> {
/// let disk = Seam::real().disk;
/// let folder = std::env::temp_dir().join(format!("holdfast-disk-{}", std::process::id()));
/// disk.create_dir(&folder)?;
/// let path = folder.join("note");
///
/// let how = Open { direct: false, ..Open::DATA };
/// let file = disk.open(&path, how.create(Create::New))?;
/// file.write_at(b"sealed", 0)?;
/// file.sync()?; // the bytes are safe
/// disk.sync_dir(&folder)?; // and so is the name
///
/// let mut read = [0; 6];
/// disk.open(&path, Open { direct: false, ..Open::READ })?.read_at(&mut read, 0)?;
/// assert_eq!(&read, b"sealed");
/// # std::fs::remove_dir_all(folder)
/// # }
/// ```
pub trait Disk: Send + Sync {
    /// Opens or makes a file. New files are readable by their owner only.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>>;
    /// Makes a file in a folder that has no name until [`Disk::give_name`], and goes, whatever
    /// happens, with its last handle if that never comes. Nobody can take the lock on it as long as
    /// the one that comes with it is held. `Unsupported` where the file system cannot.
    fn open_unnamed(&self, _dir: &Path) -> io::Result<(Arc<dyn File>, Box<dyn HeldLock>)> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Gives a file without a name one in its folder. `AlreadyExists` if that is taken.
    fn give_name(&self, _file: &dyn File, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Writes the same bytes, one buffer behind the other, at the same place of several files at
    /// once, each with its own outcome. `None` if this disk cannot: then the caller uses a thread
    /// for each, or writes one after the other.
    fn write_copies(
        &self,
        _files: &[&dyn File],
        _offset: u64,
        _bufs: &[&[u8]],
    ) -> Option<Vec<io::Result<()>>> {
        None
    }
    /// A path that leads to the same place from every folder, whatever is there.
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        std::path::absolute(path)
    }
    /// Whether nothing can be written where a file or folder is, whoever tries: it is mounted so.
    fn is_read_only(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }
    /// From now on what is made in folders of the user whose `home` is belongs to that user, too,
    /// if this process may make it so: root works for others, and leaves nothing that they cannot
    /// use.
    fn work_for_owner_of(&self, _home: &Path) -> io::Result<()> {
        Ok(())
    }
    /// Whether there is a file or folder of that name.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Which file or folder a name leads to now.
    fn identity(&self, _path: &Path) -> io::Result<FileId> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// How much room there is on the device of a file or folder.
    fn room(&self, _path: &Path) -> io::Result<DeviceRoom> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// The names in a folder, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;
    /// Makes a folder and those above it; one that exists is left as it is.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Renames a file, replacing the target.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes creations, renames and removals in a folder durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Takes the exclusive lock on a file that it makes if needed. `WouldBlock` if another
    /// process, or another part of this one, holds it. Where nothing can be written, and there is
    /// no such file, the lock is given: no other process can have it there.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn HeldLock>>;
    /// Takes the exclusive lock on a folder: on the file `name` in it, as [`Disk::lock`] does, and
    /// on the folder itself where its file system can, because that file may be removed or replaced
    /// while a process holds it.
    fn lock_folder(&self, folder: &Path, name: &str) -> io::Result<Box<dyn HeldLock>> {
        self.lock(&folder.join(name))
    }
}

/// The error for a file that should be there and is not, in words for people.
#[must_use]
pub fn missing_file() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the file is not there")
}

/// Whether the file that a name leads to is not the one that is open: it was removed or replaced,
/// or the folder that it stands in was unmounted. Where that cannot be told, it is not.
#[must_use]
pub fn is_misplaced(disk: &dyn Disk, path: &Path, file: &dyn File) -> bool {
    let Ok(open) = file.identity() else { return false };
    match disk.identity(path) {
        Ok(named) => named != open,
        Err(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    }
}

/// Whether two paths lead to the same file or folder, or would if it was made.
#[must_use]
pub fn is_same_place(disk: &dyn Disk, one: &Path, other: &Path) -> bool {
    if one == other {
        return true;
    }
    if let (Ok(one), Ok(other)) = (disk.identity(one), disk.identity(other)) {
        return one == other;
    }
    let is_missing = |path: &Path| matches!(disk.exists(path), Ok(false));
    match (one.parent(), other.parent()) {
        (Some(above), Some(above_other)) => {
            is_missing(one)
                && is_missing(other)
                && one.file_name() == other.file_name()
                && is_same_place(disk, above, above_other)
        }
        _ => false,
    }
}

/// Whether it is room that lacks: of the device, or what its user may take of it.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Reads a whole small file through the cache.
///
/// # Errors
/// `InvalidData` if it is longer than `bytes_max`, otherwise whatever the disk says.
pub fn read_small(disk: &dyn Disk, path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let file = disk.open(path, Open::READ)?;
    let len = file.len()?;
    if len > bytes_max as u64 {
        let text = format!("{} is {len} bytes long, at most {bytes_max} expected", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let mut bytes = vec![0; len as usize];
    file.read_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// Makes a folder and those above it, durably: each new one is synced into the one that holds it.
///
/// # Errors
/// Whatever the disk says; some of the folders may be there then.
pub fn make_dir(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let above = |path: &Path| match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => path.to_owned(),
    };
    let mut missing = Vec::new();
    let mut folder = path.to_owned();
    while !disk.exists(&folder)? {
        missing.push(folder.clone());
        folder = above(&folder);
    }
    disk.create_dir(path)?;
    missing.iter().rev().try_for_each(|folder| disk.sync_dir(&above(folder)))
}

/// Makes a folder, if there is none, with a small file in it by which it is told from one that is
/// empty because its device is not mounted; durably.
///
/// # Errors
/// Whatever the disk says.
pub fn make_marked_dir(
    disk: &dyn Disk,
    folder: &Path,
    mark: &str,
    contents: &[u8],
) -> io::Result<()> {
    make_dir(disk, folder)?;
    let path = folder.join(mark);
    if disk.exists(&path)? {
        return Ok(());
    }
    let how = Open { create: Create::IfMissing, write: true, direct: false, dsync: false };
    let file = disk.open(&path, how)?;
    file.write_at(contents, 0)?;
    file.sync()?;
    disk.sync_dir(folder)
}

/// What a file is called until it replaces the one of that name. Files whose names differ in their
/// extensions only are not called the same.
#[must_use]
pub fn fresh_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}
