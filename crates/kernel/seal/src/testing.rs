//! What the tests of this crate share: entropy from a seed, a clock that stands, files in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use seam::Seam;
use seam::clock::Clock;
use seam::disk::{Create, Disk, File, HeldLock, Open};
use seam::entropy::Entropy;
use seam::sync::Mutex;

/// Bytes that follow from a seed; the same in every run, different in every call.
pub(crate) struct SeededEntropy(AtomicU64);

/// Nothing to give.
pub(crate) struct NoEntropy;

/// A clock that stands still.
struct StandingClock;

/// Files in memory whose replacement can be made to fail.
#[derive(Default)]
pub(crate) struct MemoryDisk {
    files: Mutex<BTreeMap<PathBuf, Arc<MemoryFile>>>,
    pub(crate) refuse_renames: AtomicBool,
}

#[derive(Default)]
struct MemoryFile(Mutex<Vec<u8>>);

/// What the standing clock shows.
pub(crate) const NOW_US: u64 = 1_700_000_000_000_000;

/// An outside that follows from a seed, and its disk.
pub(crate) fn outside(seed: u64) -> (Seam, Arc<MemoryDisk>) {
    let disk = Arc::new(MemoryDisk::default());
    let entropy = Arc::new(SeededEntropy::new(seed));
    let seam =
        Seam { disk: Arc::clone(&disk) as Arc<dyn Disk>, clock: Arc::new(StandingClock), entropy };
    (seam, disk)
}

impl SeededEntropy {
    pub(crate) fn new(seed: u64) -> SeededEntropy {
        SeededEntropy(AtomicU64::new(seed))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        for chunk in bytes.chunks_mut(8) {
            let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, SeqCst);
            let word = base::hash::avalanche(state.wrapping_add(1)).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

impl Entropy for NoEntropy {
    fn fill(&self, _bytes: &mut [u8]) -> io::Result<()> {
        Err(io::Error::other("none left"))
    }
}

impl Clock for StandingClock {
    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn utc_us(&self) -> u64 {
        NOW_US
    }

    fn sleep(&self, _time: Duration) {}
}

impl MemoryDisk {
    pub(crate) fn bytes(&self, path: &Path) -> Vec<u8> {
        self.files.lock()[path].0.lock().clone()
    }

    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) {
        let file = Arc::new(MemoryFile(Mutex::new(bytes.to_vec())));
        self.files.lock().insert(path.to_owned(), file);
    }
}

impl Disk for MemoryDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let mut files = self.files.lock();
        match (files.get(path), how.create) {
            (Some(_), Create::New) => Err(io::ErrorKind::AlreadyExists.into()),
            (Some(file), _) => Ok(Arc::clone(file) as Arc<dyn File>),
            (None, Create::Never) => Err(io::ErrorKind::NotFound.into()),
            (None, _) => {
                let file = Arc::new(MemoryFile::default());
                files.insert(path.to_owned(), Arc::clone(&file));
                Ok(file)
            }
        }
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.files.lock().contains_key(path))
    }

    fn list(&self, _dir: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.files.lock().keys().cloned().collect())
    }

    fn create_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let gone = self.files.lock().remove(path);
        gone.map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.refuse_renames.load(SeqCst) {
            return Err(io::Error::other("no renames today"));
        }
        let mut files = self.files.lock();
        let file = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, _path: &Path) -> io::Result<Box<dyn HeldLock>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl File for MemoryFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = self.0.lock();
        let at = offset as usize;
        let found = bytes.get(at..at + buf.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buf.copy_from_slice(found);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut bytes = self.0.lock();
        let end = offset as usize + buf.len();
        let len = bytes.len().max(end);
        bytes.resize(len, 0);
        bytes[offset as usize..end].copy_from_slice(buf);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.lock().resize(len as usize, 0);
        Ok(())
    }

    fn allocate(&self, _offset: u64, _len: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Lower-case hexadecimal, 32 bytes a line.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.chunks(32).map(base::hex::lower).collect::<Vec<_>>().join("\n")
}

/// Bytes from hexadecimal; spaces and line ends do not count.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}
