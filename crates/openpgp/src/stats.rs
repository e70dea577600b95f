//! What a run cost: bytes, CPU time by stage, and how far it is.
//!
//! 1. A stage's CPU time is that of the thread while it worked, not while it waited.
//! 2. Counting costs two clock readings for a block of a mebibyte; nothing is counted by byte.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a thread may be doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading the input, with hashing of what is signed.
    Read,
    /// Compressing or decompressing.
    Compress,
    /// Enciphering or deciphering.
    Cipher,
    /// The sum that version 1 of the container is protected by.
    Sum,
    /// Writing the output.
    Write,
}

/// All stages with their names, as they are shown.
pub const STAGES: [(Stage, &str); 5] = [
    (Stage::Read, "read"),
    (Stage::Compress, "compress"),
    (Stage::Cipher, "cipher"),
    (Stage::Sum, "sum"),
    (Stage::Write, "write"),
];

/// What has been done so far; shared by all threads of a run.
#[derive(Debug, Default)]
pub struct Stats {
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    cpu_us: [AtomicU64; STAGES.len()],
    /// Blocks that were enciphered or deciphered.
    blocks: AtomicU64,
    longest_us: AtomicU64,
    /// The shortest one, as what it lacks to the largest number.
    shortest_us: AtomicU64,
}

impl Stats {
    /// Bytes that were read.
    #[must_use]
    pub fn bytes_in(&self) -> u64 {
        self.bytes_in.load(Ordering::Relaxed)
    }

    /// Bytes that were written.
    #[must_use]
    pub fn bytes_out(&self) -> u64 {
        self.bytes_out.load(Ordering::Relaxed)
    }

    /// Microseconds of CPU time that a stage has used.
    #[must_use]
    pub fn cpu_us(&self, stage: Stage) -> u64 {
        self.cpu_us[stage as usize].load(Ordering::Relaxed)
    }

    /// How many blocks were enciphered or deciphered, and the CPU time in microseconds of the one
    /// that took longest, and shortest.
    #[must_use]
    pub fn cipher_blocks(&self) -> (u64, u64, u64) {
        let blocks = self.blocks.load(Ordering::Relaxed);
        let shortest = u64::MAX - self.shortest_us.load(Ordering::Relaxed);
        (blocks, self.longest_us.load(Ordering::Relaxed), if blocks == 0 { 0 } else { shortest })
    }

    pub(crate) fn count_in(&self, bytes: usize) {
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn count_out(&self, bytes: usize) {
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Does a piece of a stage's work and counts its CPU time.
    pub(crate) fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let begin = seam::clock::thread_cpu_us();
        let done = work();
        let used = seam::clock::thread_cpu_us().saturating_sub(begin);
        self.cpu_us[stage as usize].fetch_add(used, Ordering::Relaxed);
        if stage == Stage::Cipher {
            self.blocks.fetch_add(1, Ordering::Relaxed);
            self.longest_us.fetch_max(used, Ordering::Relaxed);
            self.shortest_us.fetch_max(u64::MAX - used, Ordering::Relaxed);
        }
        done
    }
}
