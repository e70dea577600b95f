//! The raw device: the same writes and reads without a log, a pool or a cipher.
//!
//! 1. Files are preallocated and written through once before measuring, so that no write changes
//!    the file system's metadata.
//! 2. Writes are `O_DIRECT|O_DSYNC`: back in the caller's hand means durable, as far as the device
//!    tells the truth. Reads are `O_DIRECT`: the page cache plays no part.
//! 3. Every file has a thread of its own with one call outstanding; nothing makes one file wait
//!    for another. No log can write the same groups faster with the same calls.
//! 4. Written bytes are random, so a device that compresses or finds twins gains nothing.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use base::stats::Histogram;
use rustix::fs::{FallocateFlags, Mode, OFlags};

use crate::error::{BenchError, Result};
use crate::harness::Work;
use crate::workload::{self, Deadline, Random, timed_until};

/// Alignment that every device accepts for direct I/O.
pub(crate) const ALIGNMENT: usize = 4096;
/// The largest group of the log, and so the block of a raw write beside it.
pub(crate) const GROUP_BYTES: usize = 256 * 1024;
/// The block of a sequential read.
pub(crate) const READ_BYTES: usize = 1024 * 1024;
/// The piece of a read that others shall hardly feel.
const PIECE_BYTES: usize = 128 * 1024;

/// Memory that direct I/O accepts.
pub(crate) struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    /// Zeroed, aligned to [`ALIGNMENT`].
    pub(crate) fn new(length: usize) -> AlignedBuffer {
        let memory = vec![0; length + ALIGNMENT];
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        assert!(start < ALIGNMENT, "a byte pointer can always be aligned");
        AlignedBuffer { memory, start, length }
    }

    /// Filled with random bytes.
    pub(crate) fn random(length: usize, seed: u64) -> AlignedBuffer {
        let mut buffer = AlignedBuffer::new(length);
        Random::new(seed).fill(buffer.bytes_mut());
        buffer
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

/// Preallocated, prewritten files of one size in a folder of their own; removed when dropped.
pub(crate) struct RawFiles {
    folder: PathBuf,
    files: Vec<OwnedFd>,
    file_bytes: u64,
}

impl RawFiles {
    /// Prepares `count` files of `file_bytes`, a multiple of 1 MiB.
    pub(crate) fn prepare(folder: PathBuf, count: usize, file_bytes: u64) -> Result<RawFiles> {
        assert_eq!(file_bytes % READ_BYTES as u64, 0, "files are prewritten in whole blocks");
        fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
        let mut files = Vec::new();
        for number in 0..count {
            let path = folder.join(format!("raw-{number}"));
            prewrite(&path, file_bytes)?;
            let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::DSYNC | OFlags::CLOEXEC;
            files.push(open(&path, flags)?);
        }
        Ok(RawFiles { folder, files, file_bytes })
    }

    /// Writes blocks of `block_bytes` one behind the other into the first `files` files, each by a
    /// thread of its own. Bytes are those of all files.
    pub(crate) fn write(&self, files: usize, block_bytes: usize, slice: Duration) -> Result<Work> {
        let latency = Histogram::default();
        let deadline = Deadline::after(slice);
        let run = |number: usize| -> Result<u64> {
            let block = AlignedBuffer::random(block_bytes, number as u64);
            let mut at = 0;
            timed_until(deadline, &latency, || {
                self.write_at(number, block.bytes(), at)?;
                at += block_bytes as u64;
                if at + block_bytes as u64 > self.file_bytes {
                    at = 0;
                }
                Ok(())
            })
        };
        let operations = on_threads(files, &run)?;
        let bytes = operations * block_bytes as u64;
        Ok(Work { operations, bytes, latency: workload::quantiles(&latency) })
    }

    /// Reads the first file from its start, 1 MiB at a time, `readers` calls outstanding; begins
    /// again at its end.
    pub(crate) fn read_sequentially(&self, readers: usize, slice: Duration) -> Result<Work> {
        let latency = Histogram::default();
        let deadline = Deadline::after(slice);
        let blocks = self.file_bytes / READ_BYTES as u64;
        let next = std::sync::atomic::AtomicU64::new(0);
        let run = |_: usize| -> Result<u64> {
            let mut block = AlignedBuffer::new(READ_BYTES);
            timed_until(deadline, &latency, || {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % blocks;
                let at = number * READ_BYTES as u64;
                let read = rustix::io::pread(&self.files[0], block.bytes_mut(), at)
                    .map_err(|error| self.refused("read", error))?;
                assert_eq!(read, READ_BYTES, "a prewritten file has no end inside a block");
                Ok(())
            })
        };
        let operations = on_threads(readers, &run)?;
        let bytes = operations * READ_BYTES as u64;
        Ok(Work { operations, bytes, latency: workload::quantiles(&latency) })
    }

    /// Reads the first file from its start, a piece at a time, no faster than `bytes_per_second`,
    /// until it is told to end; begins again at its end. Bytes read.
    pub(crate) fn read_at_rate(&self, bytes_per_second: u64, ended: &AtomicBool) -> Result<u64> {
        let mut piece = AlignedBuffer::new(PIECE_BYTES);
        let (begun, mut bytes) = (Instant::now(), 0);
        while !ended.load(SeqCst) {
            rustix::io::pread(&self.files[0], piece.bytes_mut(), bytes % self.file_bytes)
                .map_err(|error| self.refused("read", error))?;
            bytes += PIECE_BYTES as u64;
            let due = Duration::from_secs_f64(bytes as f64 / bytes_per_second as f64);
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
        }
        Ok(bytes)
    }

    fn write_at(&self, number: usize, block: &[u8], at: u64) -> Result<()> {
        let written = rustix::io::pwrite(&self.files[number], block, at)
            .map_err(|error| self.refused("write", error))?;
        assert_eq!(written, block.len(), "a direct write inside a file is never short");
        Ok(())
    }

    fn refused(&self, action: &'static str, error: rustix::io::Errno) -> BenchError {
        BenchError::system(action, &self.folder)(error.into())
    }
}

impl Drop for RawFiles {
    fn drop(&mut self) {
        // Best effort: what stays behind lies in the data folder, which the next run empties.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Runs `work(0)` to `work(threads - 1)` at once and adds what they return.
pub(crate) fn on_threads(
    threads: usize,
    work: &(impl Fn(usize) -> Result<u64> + Sync),
) -> Result<u64> {
    std::thread::scope(|scope| {
        let handles: Vec<_> =
            (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).sum()
    })
}

fn open(path: &Path, flags: OFlags) -> Result<OwnedFd> {
    rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))
        .map_err(|error| BenchError::system("open for direct I/O", path)(error.into()))
}

fn prewrite(path: &Path, file_bytes: u64) -> Result<()> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::DIRECT | OFlags::CLOEXEC;
    let file = open(path, flags)?;
    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, file_bytes)
        .map_err(|error| BenchError::system("preallocate", path)(error.into()))?;
    let block = AlignedBuffer::random(READ_BYTES, file_bytes);
    for number in 0..file_bytes / READ_BYTES as u64 {
        rustix::io::pwrite(&file, block.bytes(), number * READ_BYTES as u64)
            .map_err(|error| BenchError::system("write", path)(error.into()))?;
    }
    rustix::fs::fsync(&file).map_err(|error| BenchError::system("sync", path)(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_whatever_its_length() {
        for length in [1, 511, 4096, GROUP_BYTES] {
            let buffer = AlignedBuffer::new(length);
            assert_eq!(buffer.bytes().as_ptr().align_offset(ALIGNMENT), 0);
            assert_eq!(buffer.bytes().len(), length);
        }
    }

    #[test]
    fn threads_add_up_and_an_error_comes_through() {
        assert_eq!(on_threads(3, &|number| Ok(number as u64)).unwrap(), 3);
        let failed = on_threads(2, &|_| Err(BenchError::subject("raw", "write", "no")));
        assert!(failed.is_err());
    }
}
