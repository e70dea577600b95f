//! An open file of the machine: buffered both ways, and honest about what the system says.
//!
//! Invariants:
//! 1. Of what the system did not take, whole records that were answered stay in the buffer, and the
//!    next write or [`Device::close`] tries them again. The record whose write is refused is taken
//!    back, also from the file, so that whoever writes it again has it there once; until then
//!    [`Device::close`] says the error again: none is forgotten.
//! 2. Bytes that were read and not yet used, and bytes that wait to be written, are never both
//!    there.
//! 3. What is locked is what the path leads to, and not what was there before.
//! 4. The name of a file that OPEN has made is durable before a record is written.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::lock::lock;
use crate::body::Done;
use crate::fcd::OpenMode;
use crate::status::FileStatus;

/// How much is read or written at once.
const BUFFER_BYTES: usize = 64 << 10;
/// What may be done with a new file: by its owner alone.
const NEW_FILE: u32 = 0o600;
/// How often a file that was locked may turn out to be another's by then.
const PLACES_MAX: u32 = 100;

/// An open file.
pub struct Device {
    file: OwnedFd,
    is_regular: bool,
    mode: OpenMode,
    /// What was read, from `at` on; or what waits to be written.
    buffer: Vec<u8>,
    at: usize,
    /// Where in the file the buffer's first byte stands, when reading.
    begins: u64,
    /// Why the last record was not taken. The next one is tried at once.
    refused: Option<FileStatus>,
    /// A part of a record went to what gives nothing back: nothing can follow it.
    broken: Option<FileStatus>,
}

/// What stands where something is written.
#[derive(Clone, Copy, Debug)]
pub enum Before<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// Nothing: so long is the file.
    End(u64),
}

impl Device {
    /// Whether there is a file of that name.
    ///
    /// # Errors
    /// If that cannot be told.
    pub fn exists(path: &Path) -> Done<bool> {
        match rustix::fs::stat(path) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(errno) => Err(FileStatus::of_errno(errno)),
        }
    }

    /// Opens what the path leads to, and locks it. Says whether it is a regular file.
    fn opened(path: &Path, flags: OFlags, mode: OpenMode) -> Done<(OwnedFd, bool)> {
        for _ in 0..PLACES_MAX {
            let permissions = Mode::from_raw_mode(NEW_FILE);
            let file = rustix::fs::open(path, flags | OFlags::CLOEXEC, permissions);
            let file = file.map_err(|errno| match errno {
                // The folder is not there: nothing can be made in it.
                Errno::NOENT if mode.writes() => FileStatus::ERROR,
                errno => FileStatus::of_errno(errno),
            })?;
            let stat = rustix::fs::fstat(&file).map_err(FileStatus::of_errno)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => return Err(FileStatus::MODE),
                FileType::RegularFile => (),
                _ => return Ok((file, false)),
            }
            // A file system without locks has nobody to share with.
            let locked = lock(&file, mode != OpenMode::Input);
            if let Err(Errno::AGAIN | Errno::ACCESS | Errno::DEADLK) = locked {
                return Err(FileStatus::RESOURCE);
            }
            // It may have been taken away, or another put in its place, before it was locked.
            match rustix::fs::stat(path) {
                Ok(named) if (named.st_dev, named.st_ino) != (stat.st_dev, stat.st_ino) => (),
                Err(Errno::NOENT | Errno::NOTDIR) => (),
                _ => return Ok((file, true)),
            }
        }
        Err(FileStatus::RESOURCE)
    }

    /// Opens a file. `both`: to be read and written, though it is opened to be written.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(path: &Path, mode: OpenMode, both: bool) -> Done<Device> {
        let flags = match mode {
            OpenMode::Input => OFlags::RDONLY,
            OpenMode::Output if both => OFlags::RDWR | OFlags::CREATE,
            OpenMode::Output => OFlags::WRONLY | OFlags::CREATE,
            OpenMode::InputOutput | OpenMode::Extend => OFlags::RDWR | OFlags::CREATE,
        };
        let is_new = mode.writes() && !Device::exists(path)?;
        let (file, is_regular) = Device::opened(path, flags, mode)?;
        // Emptied only when it is ours.
        if is_regular && mode == OpenMode::Output {
            rustix::fs::ftruncate(&file, 0).map_err(FileStatus::of_errno)?;
        }
        if is_regular && is_new {
            sync_name(path)?;
        }
        if mode == OpenMode::Extend {
            let _ = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0));
        }
        let (buffer, refused, broken) = (Vec::new(), None, None);
        Ok(Device { file, is_regular, mode, buffer, at: 0, begins: 0, refused, broken })
    }

    /// Whether it is a file, and nothing that records only go to, or come from.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        self.is_regular
    }

    /// Whether it is open to be written.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.mode.writes()
    }

    /// How long the file is.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn size(&self) -> Done<u64> {
        let stat = rustix::fs::fstat(&self.file).map_err(FileStatus::of_errno)?;
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Where the next byte that is read stands.
    #[must_use]
    pub fn place(&self) -> u64 {
        self.begins + self.at as u64
    }

    /// Reads on; `false` at the end of the file.
    fn fill(&mut self) -> Done<bool> {
        self.begins += self.buffer.len() as u64;
        self.at = 0;
        self.buffer.resize(BUFFER_BYTES, 0);
        let read = loop {
            match rustix::io::read(&self.file, &mut self.buffer[..]) {
                Err(Errno::INTR) => (),
                other => break other,
            }
        };
        let read = match read {
            Ok(read) => read,
            Err(errno) => {
                self.buffer.clear();
                return Err(FileStatus::of_errno(errno));
            }
        };
        self.buffer.truncate(read);
        Ok(read > 0)
    }

    /// The next byte; `None` at the end of the file.
    ///
    /// # Errors
    /// What the system says.
    #[inline]
    pub fn byte(&mut self) -> Done<Option<u8>> {
        if self.at == self.buffer.len() && !self.fill()? {
            return Ok(None);
        }
        let byte = self.buffer[self.at];
        self.at += 1;
        Ok(Some(byte))
    }

    /// What is at hand without reading on; at the end of the file nothing.
    ///
    /// # Errors
    /// What the system says.
    pub fn at_hand(&mut self) -> Done<&[u8]> {
        if self.at == self.buffer.len() {
            self.fill()?;
        }
        Ok(&self.buffer[self.at..])
    }

    /// Passes over what was [at hand](Device::at_hand).
    pub fn pass(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.buffer.len());
    }

    /// Reads `len` bytes behind what `out` has; fewer at the end of the file. Says how many.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&mut self, mut len: usize, out: &mut Vec<u8>) -> Done<usize> {
        let begun = out.len();
        while len > 0 {
            let hand = self.at_hand()?;
            if hand.is_empty() {
                break;
            }
            let part = hand.len().min(len);
            out.extend_from_slice(&hand[..part]);
            self.pass(part);
            len -= part;
        }
        Ok(out.len() - begun)
    }

    /// Where bytes to be written are put; [`Device::wrote`] is called then.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes out what has become enough. If that fails, the record that begins at `begun` of the
    /// buffer was not written, and nothing of it is left.
    ///
    /// # Errors
    /// What the system says.
    pub fn wrote(&mut self, begun: usize) -> Done<()> {
        let waits = self.is_regular && self.refused.is_none() && self.broken.is_none();
        if waits && self.buffer.len() < BUFFER_BYTES {
            return Ok(());
        }
        match self.flush() {
            (_, None) => {
                self.refused = None;
                Ok(())
            }
            (done, Some(status)) => {
                match begun.checked_sub(done) {
                    Some(left) => self.buffer.truncate(left),
                    None => {
                        self.buffer.clear();
                        self.take_back((done - begun) as u64, status);
                    }
                }
                self.refused = Some(status);
                Err(status)
            }
        }
    }

    /// Takes the last bytes of the file back.
    fn take_back(&mut self, bytes: u64, status: FileStatus) {
        use rustix::fs::{SeekFrom, ftruncate, seek};
        let back = || {
            let end = seek(&self.file, SeekFrom::Current(0))?;
            let end = end.checked_sub(bytes).ok_or(Errno::INVAL)?;
            ftruncate(&self.file, end)?;
            seek(&self.file, SeekFrom::Start(end))
        };
        if !self.is_regular || back().is_err() {
            self.broken = Some(status);
        }
    }

    /// Writes the buffer out; answers how much of it was written, and why no more.
    fn flush(&mut self) -> (usize, Option<FileStatus>) {
        let (mut done, mut failed) = (0, self.broken);
        while done < self.buffer.len() && failed.is_none() {
            match rustix::io::write(&self.file, &self.buffer[done..]) {
                Ok(0) => failed = Some(FileStatus::ERROR),
                Ok(written) => done += written,
                Err(Errno::INTR) => (),
                Err(errno) => failed = Some(of_write(errno)),
            }
        }
        self.buffer.drain(..done);
        (done, failed)
    }

    /// Reads at a place of the file, and not what is buffered; fewer bytes at its end.
    ///
    /// # Errors
    /// What the system says.
    pub fn read_at(&self, at: u64, bytes: &mut [u8]) -> Done<usize> {
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::pread(&self.file, &mut bytes[done..], at + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(Errno::INTR) => (),
                Err(errno) => return Err(FileStatus::of_errno(errno)),
            }
        }
        Ok(done)
    }

    /// Writes at a place of the file, whole or not at all; what was read of it before is read again
    /// as it is now. `before` has as many bytes as are written.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_at(&mut self, at: u64, bytes: &[u8], before: Before<'_>) -> Done<()> {
        if let (done, Some(status)) = self.write_part(at, bytes) {
            match before {
                // It has room there: it was written just now.
                Before::Bytes(old) => {
                    let _ = self.write_part(at, &old[..done.min(old.len())]);
                }
                Before::End(end) if done > 0 => {
                    let _ = rustix::fs::ftruncate(&self.file, end);
                }
                Before::End(_) => (),
            }
            return Err(status);
        }
        let end = self.begins + self.buffer.len() as u64;
        for (place, byte) in (at..).zip(bytes) {
            if (self.begins..end).contains(&place) {
                self.buffer[(place - self.begins) as usize] = *byte;
            }
        }
        Ok(())
    }

    /// Writes at a place; answers how much was written, and why no more.
    fn write_part(&self, at: u64, bytes: &[u8]) -> (usize, Option<FileStatus>) {
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::pwrite(&self.file, &bytes[done..], at + done as u64) {
                Ok(0) => return (done, Some(FileStatus::ERROR)),
                Ok(written) => done += written,
                Err(Errno::INTR) => (),
                Err(errno) => return (done, Some(of_write(errno))),
            }
        }
        (done, None)
    }

    /// Writes out everything, and makes it durable.
    ///
    /// # Errors
    /// What the system says: something is missing in the file then.
    pub fn close(&mut self) -> Done<()> {
        if !self.writes() {
            return Ok(());
        }
        if matches!(self.mode, OpenMode::Output | OpenMode::Extend) {
            self.flush().1.map_or(Ok(()), Err)?;
        }
        if let Some(status) = self.refused {
            return Err(status);
        }
        if !self.is_regular {
            return Ok(());
        }
        match rustix::fs::fdatasync(&self.file) {
            // A file system that cannot be told to.
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            Err(errno) => Err(of_write(errno)),
        }
    }
}

/// Makes the name of a new file durable.
fn sync_name(path: &Path) -> Done<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
    // A folder that may not be read cannot be synced either.
    let Ok(folder) = rustix::fs::open(folder, flags, Mode::empty()) else { return Ok(()) };
    match rustix::fs::fsync(&folder) {
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(of_write(errno)),
    }
}

/// The file is open: what would be a missing file there is an error here.
fn of_write(errno: Errno) -> FileStatus {
    match FileStatus::of_errno(errno) {
        FileStatus::NO_SPACE => FileStatus::NO_SPACE,
        _ => FileStatus::ERROR,
    }
}
