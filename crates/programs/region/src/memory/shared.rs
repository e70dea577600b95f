//! Memory that two processes share, as words that both may change at any time.
//!
//! Invariants:
//! 1. It is read and written by atomic operations only, so that whatever the other process does,
//!    each word read is some word that was written: bytes may be wrong, nothing else can happen.
//! 2. Every place is checked against the size.

use std::ffi::c_void;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;

/// The file in memory that this process was started with under a number.
pub(crate) fn inherited(number: i32) -> Result<OwnedFd, Errno> {
    // Of all files only those in memory have seals.
    inherited_if(number, |fd| rustix::fs::fcntl_get_seals(fd).map(drop))
}

/// The socket that this process was started with under a number.
pub(crate) fn inherited_socket(number: i32) -> Result<OwnedFd, Errno> {
    inherited_if(number, |fd| rustix::net::sockopt::socket_domain(fd).map(drop))
}

/// What this process was started with under a number, if `is_meant` knows it.
fn inherited_if(
    number: i32,
    is_meant: impl Fn(&OwnedFd) -> Result<(), Errno>,
) -> Result<OwnedFd, Errno> {
    if number <= 2 {
        return Err(Errno::BADF);
    }
    // SAFETY: the process that started this one opened the descriptor for it and said so; nothing
    // else here knows the number.
    let fd = unsafe { OwnedFd::from_raw_fd(number) };
    match is_meant(&fd) {
        Ok(()) => Ok(fd),
        Err(errno) => {
            // It may be another process's.
            let _ = fd.into_raw_fd();
            Err(errno)
        }
    }
}

/// A shared mapping with the file behind it.
pub(crate) struct Shared {
    fd: OwnedFd,
    words: &'static [AtomicU64],
}

impl Shared {
    /// New zeroed memory of `bytes` bytes, rounded up to whole pages. With `inherit`, programs that
    /// this process starts get the file with its number.
    pub(crate) fn create(name: &str, bytes: usize, inherit: bool) -> Result<Shared, Errno> {
        let closing = if inherit { MemfdFlags::empty() } else { MemfdFlags::CLOEXEC };
        let fd = rustix::fs::memfd_create(name, closing | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&fd, bytes.next_multiple_of(4096) as u64)?;
        // Who shortened it would end whoever then looks behind its end.
        rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Shared::map(fd)
    }

    /// Maps memory that another process has made.
    pub(crate) fn map(fd: OwnedFd) -> Result<Shared, Errno> {
        let bytes = rustix::fs::fstat(&fd)?.st_size as usize;
        let sealed = rustix::fs::fcntl_get_seals(&fd)?.contains(SealFlags::SHRINK);
        if bytes == 0 || !bytes.is_multiple_of(4096) || bytes > 1 << 30 || !sealed {
            return Err(Errno::INVAL);
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place that the kernel chooses, which no other code knows yet.
        let start = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), bytes, protection, MapFlags::SHARED, &fd, 0)?
        };
        // SAFETY: the mapping is aligned to pages, `bytes` long, lives as long as the value that
        // owns it, which lends the words no longer, and is only used through atomics, which may be
        // shared. The file cannot be shortened: it is sealed.
        let words = unsafe { std::slice::from_raw_parts(start.cast::<AtomicU64>(), bytes / 8) };
        Ok(Shared { fd, words })
    }

    /// Maps memory whose file this process was started with, under a number.
    pub(crate) fn inherited(number: i32) -> Result<Shared, Errno> {
        Shared::map(inherited(number)?)
    }

    /// The file behind it.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.words.len() * 8
    }

    /// The word at a byte place, which must be a multiple of 8 within the memory.
    pub(crate) fn word(&self, at: usize) -> &AtomicU64 {
        &self.words[at / 8]
    }

    /// Copies bytes in from `at`, a multiple of 8, on; what does not fit is left out. The rest of
    /// the last word becomes zero.
    pub(crate) fn put(&self, at: usize, bytes: &[u8]) {
        let Some(words) = self.words.get(at / 8..) else { return };
        let (whole, rest) = bytes.as_chunks::<8>();
        for (word, piece) in words.iter().zip(whole) {
            word.store(u64::from_le_bytes(*piece), Relaxed);
        }
        if let Some(word) = words.get(whole.len()).filter(|_| !rest.is_empty()) {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            word.store(u64::from_le_bytes(last), Relaxed);
        }
    }

    /// Replaces `out` by `len` bytes from `at`, a multiple of 8, on, or by what there is of them.
    pub(crate) fn get(&self, at: usize, len: usize, out: &mut Vec<u8>) {
        out.clear();
        let words = self.words.get(at / 8..).unwrap_or_default();
        let count = len.div_ceil(8).min(words.len());
        // All at once: a look at the room that is left for each word costs more than the word.
        out.resize(count * 8, 0);
        for (place, word) in out.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.load(Relaxed).to_le_bytes());
        }
        out.truncate(len);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let start = self.words.as_ptr() as *mut c_void;
        // SAFETY: the references that `word` and `turn` gave away were borrowed from `self`.
        let _ = unsafe { rustix::mm::munmap(start, self.len()) };
    }
}

/// Half a word on which two processes wait for each other.
pub(crate) struct Turn<'a>(&'a AtomicU32);

impl Shared {
    /// The 4 bytes at a byte place, which must be a multiple of 8 within the memory.
    pub(crate) fn turn(&self, at: usize) -> Turn<'_> {
        let word: *const AtomicU64 = self.word(at);
        // SAFETY: the word is mapped and aligned; its first half is used as this only, and both
        // kinds of access are atomic.
        Turn(unsafe { &*word.cast::<AtomicU32>() })
    }
}

impl Turn<'_> {
    /// What it says, with everything that was written before.
    pub(crate) fn load(&self) -> u32 {
        self.0.load(Acquire)
    }

    /// Exchanges `from` for `to`; `false` if it says something else by now.
    pub(crate) fn exchange(&self, from: u32, to: u32) -> bool {
        self.0.compare_exchange(from, to, AcqRel, Acquire).is_ok()
    }

    /// Swaps in a value, after everything that was written before, and gives back the one there
    /// was.
    pub(crate) fn swap(&self, value: u32) -> u32 {
        self.0.swap(value, AcqRel)
    }

    /// Sleeps while it says `value`, for at most `time`.
    pub(crate) fn sleep(&self, value: u32, time: Duration) {
        let timeout = futex::Timespec {
            tv_sec: time.as_secs() as i64,
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        let _ = futex::wait(self.0, futex::Flags::empty(), value, Some(&timeout));
    }

    /// Wakes who sleeps on it.
    pub(crate) fn wake(&self) {
        let _ = futex::wake(self.0, futex::Flags::empty(), 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_mappings_of_one_file_see_the_same() {
        let ours = Shared::create("test", 5000, false).expect("memory");
        let theirs = Shared::map(ours.fd().try_clone_to_owned().expect("fd")).expect("a mapping");
        assert_eq!(theirs.len(), 8192);
        ours.put(8, b"eleven byte");
        let mut out = Vec::new();
        theirs.get(8, 11, &mut out);
        assert_eq!(out, b"eleven byte");
        theirs.put(8192 - 8, b"more than eight");
        theirs.get(8192 - 8, 15, &mut out);
        assert_eq!(out, b"more tha");
        theirs.put(9000, b"outside");
        assert!(rustix::fs::ftruncate(theirs.fd(), 4096).is_err(), "nobody can shorten it");
    }
}
