//! The real machine's disk: positioned reads and writes, direct where the file system allows it.
//!
//! Fallbacks (K22): a file system that refuses `O_DIRECT` gets buffered files with `O_DSYNC` or
//! `fdatasync`, which keep the same promises; without `io_uring` a batch is written call by call.
//! Locks are held on an open file description that is closed on exec, so a guest program never
//! inherits them. Nobody is given the lock on a file whose name leads elsewhere by then.

use std::any::Any;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd as _, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;

use rustix::fs::{self, AtFlags, FallocateFlags, FlockOperation, Mode, OFlags, StatVfsMountFlags};
use rustix::fs::{Gid, Uid};
use rustix::io::Errno;

use crate::disk::{Create, DeviceRoom, Disk, File, FileId, HeldLock, LockPlace, Open};
use crate::file_holder;
use crate::uring::{Urings, Write};

/// The files of this machine.
#[derive(Default)]
pub struct RealDisk {
    /// For several writes at once.
    urings: Arc<Urings>,
    /// The user that root works for, if it is another.
    owner: OnceLock<Uid>,
}

impl RealDisk {
    /// The files of this machine.
    #[must_use]
    pub fn new() -> RealDisk {
        RealDisk::default()
    }

    /// Whom a new file or folder shall belong to, if it is not who makes it: the owner of the
    /// folder that it stands in, with that folder's group.
    fn heir(&self, path: &Path) -> Option<(Uid, Gid)> {
        let owner = self.owner.get()?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let stat = fs::stat(folder.unwrap_or(Path::new("."))).ok()?;
        (stat.st_uid == owner.as_raw()).then(|| (*owner, Gid::from_raw(stat.st_gid)))
    }

    /// Opens a file by its flags; one that is made on the way gets the owner that it shall have.
    fn open_as(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let mode = Mode::RUSR | Mode::WUSR;
        let heir = flags.contains(OFlags::CREATE).then(|| self.heir(path)).flatten();
        let fd = fs::open(path, flags, mode)?;
        if let Some((owner, group)) = heir
            && fs::fstat(&fd)?.st_uid != owner.as_raw()
        {
            fs::fchown(&fd, Some(owner), Some(group))?;
        }
        Ok(fd)
    }
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let mut flags = OFlags::CLOEXEC;
        flags |= if how.write { OFlags::RDWR } else { OFlags::RDONLY };
        match how.create {
            Create::Never => {}
            Create::New => flags |= OFlags::CREATE | OFlags::EXCL,
            Create::IfMissing => flags |= OFlags::CREATE,
        }
        if how.dsync {
            flags |= OFlags::DSYNC;
        }
        if how.direct {
            match self.open_as(path, flags | OFlags::DIRECT) {
                Ok(fd) => {
                    // One by one they gain nothing from `io_uring`: a flush ends each of them.
                    let urings = (!how.dsync).then(|| Arc::clone(&self.urings));
                    return Ok(Arc::new(RealFile { fd, urings }));
                }
                Err(Errno::INVAL) => {
                    // Linux may have made the file before it refused the flag.
                    flags -= OFlags::EXCL;
                }
                Err(errno) => return Err(named(errno, "open", path)),
            }
        }
        // The files of people. To open a pipe would wait for its other end, perhaps for ever.
        let opened = match self.open_as(path, flags | OFlags::NONBLOCK) {
            // A process gives up a lease on the file: that takes a moment.
            Err(Errno::AGAIN) => self.open_as(path, flags),
            opened => opened,
        };
        let fd = opened.map_err(|errno| named(errno, "open", path))?;
        let stat = fs::fstat(&fd)?;
        if fs::FileType::from_raw_mode(stat.st_mode) == fs::FileType::Fifo {
            let why = format!(
                "cannot open {}: it is a pipe, and a file is needed that has places",
                path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        fs::fcntl_setfl(&fd, flags & OFlags::DSYNC)?;
        Ok(Arc::new(RealFile { fd, urings: None }))
    }

    fn open_unnamed(&self, dir: &Path) -> io::Result<(Arc<dyn File>, Box<dyn HeldLock>)> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let opened = fs::open(dir, flags, Mode::RUSR | Mode::WUSR);
        let fd = opened.map_err(|errno| match errno {
            Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL => io::ErrorKind::Unsupported.into(),
            errno => named(errno, "write in", dir),
        })?;
        if let Some((owner, group)) = self.heir(&dir.join("unnamed")) {
            fs::fchown(&fd, Some(owner), Some(group))?;
        }
        // Without it no name could be given.
        if fs::stat(by_number(&fd)).is_err() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        fs::flock(&fd, FlockOperation::NonBlockingLockExclusive)?;
        let lock = RealLock { fd: Some(fd.try_clone()?), path: None, folder: None };
        Ok((Arc::new(RealFile { fd, urings: None }), Box::new(lock)))
    }

    fn give_name(&self, file: &dyn File, path: &Path) -> io::Result<()> {
        let file = (file as &dyn Any).downcast_ref::<RealFile>();
        let file = file.ok_or(io::ErrorKind::Unsupported)?;
        let (from, flags) = (by_number(&file.fd), AtFlags::SYMLINK_FOLLOW);
        fs::linkat(fs::CWD, from, fs::CWD, path, flags).map_err(|errno| named(errno, "name", path))
    }

    fn write_copies(
        &self,
        files: &[&dyn File],
        offset: u64,
        bufs: &[&[u8]],
    ) -> Option<Vec<io::Result<()>>> {
        let mut writes = Vec::with_capacity(files.len());
        for file in files {
            let file = (*file as &dyn Any).downcast_ref::<RealFile>()?;
            writes.push(Write { fd: file.fd.as_fd(), offset, bufs });
        }
        self.urings.write(&writes)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        match fs::stat(path) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(errno) => Err(named(errno, "look at", path)),
        }
    }

    fn identity(&self, path: &Path) -> io::Result<FileId> {
        let stat = fs::stat(path).map_err(|errno| named(errno, "look at", path))?;
        Ok(FileId { device: stat.st_dev, inode: stat.st_ino })
    }

    fn room(&self, path: &Path) -> io::Result<DeviceRoom> {
        let room = fs::statvfs(path).map_err(|errno| named(errno, "ask about", path))?;
        let device = fs::stat(path).map_err(|errno| named(errno, "look at", path))?.st_dev;
        let bytes = |blocks: u64| blocks.saturating_mul(room.f_frsize);
        let (free_bytes, bytes) = (bytes(room.f_bavail), bytes(room.f_blocks));
        Ok(DeviceRoom { device, free_bytes, bytes })
    }

    fn is_read_only(&self, path: &Path) -> io::Result<bool> {
        let mount = fs::statvfs(path).map_err(|errno| named(errno, "ask about", path))?;
        Ok(mount.f_flag.contains(StatVfsMountFlags::RDONLY))
    }

    fn work_for_owner_of(&self, home: &Path) -> io::Result<()> {
        let owner = Uid::from_raw(fs::stat(home)?.st_uid);
        if rustix::process::geteuid().is_root() && !owner.is_root() {
            let _ = self.owner.set(owner);
        }
        Ok(())
    }

    #[allow(clippy::disallowed_methods)] // this is the seam
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names = std::fs::read_dir(dir)?
            .map(|entry| entry.map(|entry| PathBuf::from(entry.file_name())))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    #[allow(clippy::disallowed_methods)] // this is the seam
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        if self.owner.get().is_none() || path.as_os_str().is_empty() || path.is_dir() {
            return std::fs::create_dir_all(path);
        }
        if let Some(above) = path.parent() {
            self.create_dir(above)?;
        }
        std::fs::create_dir_all(path)?;
        if let Some((owner, group)) = self.heir(path) {
            fs::chown(path, Some(owner), Some(group))?;
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::unlink(path).map_err(|errno| named(errno, "remove", path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to).map_err(|errno| named(errno, "rename", from))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = fs::open(dir, flags, Mode::empty()).map_err(|e| named(e, "open", dir))?;
        fs::fsync(fd).map_err(|errno| named(errno, "sync", dir))
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn HeldLock>> {
        Ok(Box::new(self.locked(path)?))
    }

    fn lock_folder(&self, folder: &Path, name: &str) -> io::Result<Box<dyn HeldLock>> {
        let mut lock = self.locked(&folder.join(name))?;
        lock.folder = locked_folder(folder)?;
        // A process that removed the file before the folder was locked may have let another in.
        match lock.place() {
            LockPlace::InPlace => Ok(Box::new(lock)),
            _ => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

/// The name of a lock may be taken away so often between its opening and its locking.
const LOCK_TRIES: usize = 100;

impl RealDisk {
    fn locked(&self, path: &Path) -> io::Result<RealLock> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        for _ in 0..LOCK_TRIES {
            let fd = match self.open_as(path, flags) {
                // A process that sees the same files where they can be written may hold it all the
                // same.
                Err(Errno::ROFS) => match fs::open(path, OFlags::CLOEXEC, Mode::empty()) {
                    Err(Errno::NOENT) => return Ok(RealLock::default()),
                    opened => opened,
                },
                opened => opened,
            };
            let fd = fd.map_err(|errno| named(errno, "open", path))?;
            fs::flock(&fd, FlockOperation::NonBlockingLockExclusive)?;
            let lock = RealLock { fd: Some(fd), path: Some(path.to_owned()), folder: None };
            if lock.place() == LockPlace::InPlace {
                HELD.lock().extend(lock.held());
                return Ok(lock);
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// Locks a folder, which cannot be removed as long as anything is in it. Nothing where the file
/// system locks no folders, or this process may not list it.
fn locked_folder(folder: &Path) -> io::Result<Option<OwnedFd>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = match fs::open(folder, flags, Mode::empty()) {
        Err(Errno::ACCESS | Errno::PERM) => return Ok(None),
        opened => opened.map_err(|errno| named(errno, "open", folder))?,
    };
    match fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
        // NFS wants a descriptor that can be written, and folders have none.
        Err(Errno::BADF | Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            Ok(None)
        }
        locked => locked.map(|()| Some(fd)).map_err(Into::into),
    }
}

/// The name by which the system knows an open file.
fn by_number(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

#[derive(Default)]
struct RealLock {
    /// Nothing where there is no file, and none can be made.
    fd: Option<OwnedFd>,
    /// The name by which others find it, if it has one.
    path: Option<PathBuf>,
    /// The folder, if that is locked, too.
    folder: Option<OwnedFd>,
}

/// A descriptor, and the device and inode of what it leads to.
type Held = (i32, u64, u64);

/// The locks that this process holds.
static HELD: parking_lot::Mutex<Vec<Held>> = parking_lot::Mutex::new(Vec::new());

/// Whether the descriptors of all locks that this process holds are still theirs. Whatever else
/// runs in the process may have closed them, and the locks with them.
#[allow(unsafe_code)] // a descriptor by its number
#[must_use]
pub fn locks_stand() -> bool {
    HELD.lock().iter().all(|(number, device, inode)| {
        // SAFETY: the descriptor is only asked what it is, and answers an error if it is none.
        let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(*number) };
        fs::fstat(fd).is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (*device, *inode))
    })
}

impl RealLock {
    fn held(&self) -> Option<Held> {
        let fd = self.fd.as_ref()?;
        let stat = fs::fstat(fd).ok()?;
        Some((fd.as_raw_fd(), stat.st_dev, stat.st_ino))
    }
}

impl Drop for RealLock {
    fn drop(&mut self) {
        let Some(number) = self.fd.as_ref().map(AsRawFd::as_raw_fd) else { return };
        HELD.lock().retain(|(held, ..)| *held != number);
    }
}

impl HeldLock for RealLock {
    fn place(&self) -> LockPlace {
        let (Some(fd), Some(path)) = (&self.fd, &self.path) else { return LockPlace::InPlace };
        let is_there = match (fs::fstat(fd), fs::stat(path)) {
            (Ok(held), Ok(named)) => (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino),
            (_, Err(Errno::NOENT | Errno::NOTDIR)) => false,
            // Where it cannot be told, it is.
            _ => true,
        };
        match &self.folder {
            _ if is_there => LockPlace::InPlace,
            Some(_) => LockPlace::FolderHeld,
            None => LockPlace::Lost,
        }
    }
}

/// Linux takes so many buffers in one call.
const BUFFERS_MAX: usize = 1024;

struct RealFile {
    fd: OwnedFd,
    /// How to write deeper than one, where that pays.
    urings: Option<Arc<Urings>>,
}

impl File for RealFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            match rustix::io::pread(&self.fd, &mut buf[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    fn read_vectored_at(&self, bufs: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<()> {
        let (mut rest, mut at) = (bufs, offset);
        while !rest.is_empty() {
            let together = rest.len().min(BUFFERS_MAX);
            let mut got = match rustix::io::preadv(&self.fd, &mut rest[..together], at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            // It may end anywhere: what is missing of a buffer is read by itself.
            while got > 0
                && let Some((buf, behind)) = std::mem::take(&mut rest).split_first_mut()
            {
                let here = got.min(buf.len());
                if here < buf.len() {
                    self.read_at(&mut buf[here..], at + here as u64)?;
                }
                (got, at, rest) = (got - here, at + buf.len() as u64, behind);
            }
        }
        Ok(())
    }

    fn write_vectored_at(&self, bufs: &[&[u8]], offset: u64) -> io::Result<()> {
        let mut at = offset;
        for together in bufs.chunks(BUFFERS_MAX) {
            let slices: Vec<IoSlice<'_>> = together.iter().map(|buf| IoSlice::new(buf)).collect();
            let mut written = loop {
                match rustix::io::pwritev(&self.fd, &slices, at) {
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno.into()),
                    Ok(count) => break count,
                }
            };
            // It may end anywhere: what is missing of a buffer is written by itself.
            for buf in together {
                let here = written.min(buf.len());
                if here < buf.len() {
                    self.write_at(&buf[here..], at + here as u64)?;
                }
                (written, at) = (written - here, at + buf.len() as u64);
            }
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            match rustix::io::pwrite(&self.fd, &buf[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    fn write_batch(&self, writes: &[(u64, &[u8])]) -> io::Result<()> {
        let urings = self.urings.as_ref().filter(|_| writes.len() > 1);
        let deep = urings.and_then(|urings| {
            let fd = self.fd.as_fd();
            let writes = writes.iter().map(|(offset, buf)| {
                let bufs = std::slice::from_ref(buf);
                Write { fd, offset: *offset, bufs }
            });
            urings.write(&writes.collect::<Vec<_>>())
        });
        match deep {
            Some(results) => results.into_iter().collect(),
            None => writes.iter().try_for_each(|(offset, buf)| self.write_at(buf, *offset)),
        }
    }

    fn sync(&self) -> io::Result<()> {
        Ok(fs::fdatasync(&self.fd)?)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(fs::fstat(&self.fd)?.st_size as u64)
    }

    fn identity(&self) -> io::Result<FileId> {
        let stat = fs::fstat(&self.fd)?;
        Ok(FileId { device: stat.st_dev, inode: stat.st_ino })
    }

    fn hold(&self, writer: bool) -> io::Result<()> {
        let stat = fs::fstat(&self.fd)?;
        if fs::FileType::from_raw_mode(stat.st_mode) != fs::FileType::RegularFile {
            return Ok(());
        }
        let how = match writer {
            true => FlockOperation::NonBlockingLockExclusive,
            false => FlockOperation::NonBlockingLockShared,
        };
        match fs::flock(&self.fd, how) {
            Err(Errno::WOULDBLOCK) => {
                let who = file_holder::by_whom(stat.st_dev, stat.st_ino);
                Err(io::Error::new(io::ErrorKind::WouldBlock, who))
            }
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
            held => Ok(held?),
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        Ok(fs::ftruncate(&self.fd, len)?)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        match fs::fallocate(&self.fd, FallocateFlags::empty(), offset, len) {
            Err(Errno::OPNOTSUPP) => {
                let end = offset + len;
                if self.len()? < end { self.set_len(end) } else { Ok(()) }
            }
            other => Ok(other?),
        }
    }
}

fn named(errno: Errno, verb: &str, path: &Path) -> io::Error {
    let error = io::Error::from(errno);
    io::Error::new(error.kind(), format!("cannot {verb} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fresh::Fresh;
    use crate::mem::AlignedBuf;

    #[test]
    fn what_was_written_is_read_and_the_end_is_an_error() {
        let disk = RealDisk::new();
        let dir = std::env::temp_dir().join(format!("holdfast-seam-{}", std::process::id()));
        disk.create_dir(&dir).unwrap();
        let path = dir.join("file");
        let file = disk.open(&path, Open::DURABLE.create(Create::IfMissing)).unwrap();
        let mut buf = AlignedBuf::zeroed(4096);
        buf.fill(7);
        file.write_at(&buf, 4096).unwrap();
        file.sync().unwrap();
        assert_eq!(file.len().unwrap(), 8192);
        let mut back = AlignedBuf::zeroed(4096);
        file.read_at(&mut back, 4096).unwrap();
        assert_eq!(back[..], buf[..]);
        let end = file.read_at(&mut back, 8192).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        let lock = disk.lock(&dir.join("lock")).unwrap();
        let second = disk.lock(&dir.join("lock")).map(|_| ()).unwrap_err();
        assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
        drop(lock);
        assert!(disk.lock(&dir.join("lock")).is_ok());
        disk.remove(&path).unwrap();
        disk.remove(&dir.join("lock")).unwrap();
    }

    /// A lock's file can be removed while it is held: the next process had a file of its own.
    #[test]
    fn a_folder_stays_locked_when_the_file_of_its_lock_is_removed_or_replaced() {
        let disk = RealDisk::new();
        let dir = std::env::temp_dir().join(format!("holdfast-seam-lock-{}", std::process::id()));
        disk.create_dir(&dir).unwrap();
        let path = dir.join("lock");
        let lock = disk.lock_folder(&dir, "lock").unwrap();
        assert_eq!(lock.place(), LockPlace::InPlace);
        disk.remove(&path).unwrap();
        for _ in 0..2 {
            let second = disk.lock_folder(&dir, "lock").map(drop).unwrap_err();
            assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
            assert_eq!(lock.place(), LockPlace::FolderHeld);
        }
        drop(lock);
        let lock = disk.lock_folder(&dir, "lock").unwrap();
        assert_eq!(lock.place(), LockPlace::InPlace);
        // Where folders are not locked it is told at least.
        let lone = disk.lock(&dir.join("lone")).unwrap();
        disk.rename(&dir.join("lone"), &dir.join("away")).unwrap();
        assert_eq!(lone.place(), LockPlace::Lost);
        drop((lock, lone));
        for name in ["lock", "away"] {
            disk.remove(&dir.join(name)).unwrap();
        }
    }

    /// A process that opened one waited until another came to its other end.
    #[test]
    fn a_pipe_is_refused_at_once() {
        let disk = RealDisk::new();
        let dir = std::env::temp_dir().join(format!("holdfast-seam-pipe-{}", std::process::id()));
        disk.create_dir(&dir).unwrap();
        let path = dir.join("pipe");
        let mode = Mode::RUSR | Mode::WUSR;
        fs::mknodat(fs::CWD, &path, fs::FileType::Fifo, mode, 0).unwrap();
        for write in [false, true] {
            let how = Open { write, create: Create::Never, direct: false, dsync: false };
            let error = disk.open(&path, how).map(drop).unwrap_err();
            assert!(error.to_string().contains("it is a pipe"), "{error}");
        }
        disk.remove(&path).unwrap();
        let file = disk.open(&path, Open { direct: false, ..Open::DATA.create(Create::New) });
        let file = file.unwrap();
        let file = (file.as_ref() as &dyn Any).downcast_ref::<RealFile>().unwrap();
        let flags = fs::fcntl_getfl(&file.fd).unwrap();
        assert!(!flags.contains(OFlags::NONBLOCK), "{flags:?}");
        disk.remove(&path).unwrap();
    }

    #[test]
    fn a_file_without_a_name_gets_one_that_is_free() {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
        let dir = std::env::temp_dir().join(format!("holdfast-seam-name-{}", std::process::id()));
        disk.create_dir(&dir).unwrap();
        let path = dir.join("file");
        for (bytes, replace, done) in
            [(b"one", false, true), (b"two", false, false), (b"six", true, true)]
        {
            let fresh = Fresh::begin(&disk, &path).unwrap();
            fresh.file().write_at(bytes, 0).unwrap();
            let others = disk.list(&dir).unwrap().iter().filter(|name| **name != *"file").count();
            assert_eq!(others, usize::from(fresh.hidden_at().is_some()));
            let kept = fresh.keep(replace);
            assert_eq!(kept.is_ok(), done, "{kept:?}");
            assert_eq!(disk.list(&dir).unwrap(), [PathBuf::from("file")]);
        }
        assert_eq!(crate::disk::read_small(&*disk, &path, 9).unwrap(), b"six");
        disk.remove(&path).unwrap();
    }

    #[test]
    fn one_read_fills_more_buffers_than_the_system_takes_at_once() {
        let disk = RealDisk::new();
        let dir = std::env::temp_dir().join(format!("holdfast-seam-read-{}", std::process::id()));
        disk.create_dir(&dir).unwrap();
        let path = dir.join("file");
        let file = disk.open(&path, Open::DATA.create(Create::New)).unwrap();
        let count = BUFFERS_MAX + 3;
        let mut whole = AlignedBuf::zeroed(count * 4096);
        whole.chunks_mut(4096).zip(1..).for_each(|(page, number)| page.fill(number as u8));
        file.write_at(&whole, 4096).unwrap();
        let mut back: Vec<AlignedBuf> = (0..count).map(|_| AlignedBuf::zeroed(4096)).collect();
        let mut bufs: Vec<_> = back.iter_mut().map(|page| IoSliceMut::new(page)).collect();
        file.read_vectored_at(&mut bufs, 4096).unwrap();
        drop(bufs);
        let again: Vec<&[u8]> = back.iter().map(|page| &page[..]).collect();
        file.write_vectored_at(&again, 4096).unwrap();
        let mut bufs: Vec<_> = back.iter_mut().map(|page| IoSliceMut::new(page)).collect();
        let end = file.read_vectored_at(&mut bufs, 8192).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        let mut bufs: Vec<_> = back.iter_mut().map(|page| IoSliceMut::new(page)).collect();
        file.read_vectored_at(&mut bufs, 4096).unwrap();
        assert!(back.iter().zip(whole.chunks(4096)).all(|(page, wrote)| page[..] == *wrote));
        disk.remove(&path).unwrap();
    }

    #[test]
    fn copies_of_many_buffers_are_alike() {
        let disk = RealDisk::new();
        let dir = std::env::temp_dir().join(format!("holdfast-seam-copies-{}", std::process::id()));
        disk.create_dir(&dir).unwrap();
        let open = |name| disk.open(&dir.join(name), Open::DATA.create(Create::New)).unwrap();
        let files = [open("one"), open("two")];
        let mut bufs = AlignedBuf::several(BUFFERS_MAX + 5, 4096);
        bufs.iter_mut().zip(1_u32..).for_each(|(buf, mark)| buf.fill(mark as u8));
        let parts: Vec<&[u8]> = bufs.iter().map(|buf| &buf[..]).collect();
        let both: Vec<&dyn File> = files.iter().map(|file| file.as_ref()).collect();
        // A machine without `io_uring` has nothing to show here.
        if let Some(outcomes) = disk.write_copies(&both, 4096, &parts) {
            outcomes.into_iter().for_each(|outcome| outcome.unwrap());
            for file in &files {
                let mut back = AlignedBuf::zeroed(parts.len() * 4096);
                file.read_at(&mut back, 4096).unwrap();
                assert!(back.chunks(4096).zip(&parts).all(|(page, wrote)| page == *wrote));
            }
        }
        disk.remove(&dir.join("one")).unwrap();
        disk.remove(&dir.join("two")).unwrap();
    }

    #[test]
    fn a_batch_is_written_whole_with_and_without_io_uring() {
        let disk = RealDisk::new();
        let dir = std::env::temp_dir().join(format!("holdfast-seam-batch-{}", std::process::id()));
        disk.create_dir(&dir).unwrap();
        for how in [Open::DATA, Open::DURABLE, Open { direct: false, ..Open::DATA }] {
            let path = dir.join("file");
            let file = disk.open(&path, how.create(Create::New)).unwrap();
            let pages: Vec<AlignedBuf> = (0..100_u8)
                .map(|number| {
                    let mut page = AlignedBuf::zeroed(4096 * (1 + usize::from(number) % 3));
                    page.fill(number);
                    page
                })
                .collect();
            let places = (0..100).map(|number| number * 7 % 100 * 12_288);
            let writes: Vec<(u64, &[u8])> =
                places.zip(&pages).map(|(place, page)| (place, &page[..])).collect();
            file.write_batch(&writes).unwrap();
            file.sync().unwrap();
            for (place, page) in &writes {
                let mut back = AlignedBuf::zeroed(page.len());
                file.read_at(&mut back, *place).unwrap();
                assert_eq!(back[..], **page);
            }
            let reader = disk.open(&path, Open { direct: true, ..Open::READ }).unwrap();
            assert!(reader.write_batch(&writes).is_err(), "opened for reading only");
            disk.remove(&path).unwrap();
        }
    }
}
