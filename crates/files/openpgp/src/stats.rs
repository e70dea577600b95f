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
    /// The one that took longest, as [`packed`] has it.
    longest: AtomicU64,
    /// The one that took shortest, as what it lacks to the largest number.
    shortest: AtomicU64,
}

/// A block that was enciphered or deciphered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CipherBlock {
    /// Microseconds of CPU time.
    pub cpu_us: u64,
    /// Its length.
    pub bytes: u64,
}

/// All blocks that were enciphered or deciphered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CipherBlocks {
    /// How many.
    pub count: u64,
    /// The one that took longest.
    pub longest: CipherBlock,
    /// The one that took shortest.
    pub shortest: CipherBlock,
}

/// A block as one number, so that two threads never mix two of them: its time in front, its length
/// behind. Neither has more than 32 bits.
fn packed(block: CipherBlock) -> u64 {
    let half = |number: u64| number.min(u64::from(u32::MAX));
    half(block.cpu_us) << 32 | half(block.bytes)
}

fn unpacked(packed: u64) -> CipherBlock {
    CipherBlock { cpu_us: packed >> 32, bytes: packed & u64::from(u32::MAX) }
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

    /// The blocks that were enciphered or deciphered.
    #[must_use]
    pub fn cipher_blocks(&self) -> CipherBlocks {
        let count = self.blocks.load(Ordering::Relaxed);
        if count == 0 {
            return CipherBlocks::default();
        }
        let longest = unpacked(self.longest.load(Ordering::Relaxed));
        let shortest = unpacked(u64::MAX - self.shortest.load(Ordering::Relaxed));
        CipherBlocks { count, longest, shortest }
    }

    pub(crate) fn count_in(&self, bytes: usize) {
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn count_out(&self, bytes: usize) {
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Does a piece of a stage's work and counts its CPU time.
    pub(crate) fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        self.timed(stage, work).0
    }

    /// Enciphers or deciphers a block of so many bytes, and counts it.
    pub(crate) fn time_block<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> T {
        let (done, cpu_us) = self.timed(Stage::Cipher, work);
        let block = packed(CipherBlock { cpu_us, bytes: bytes as u64 });
        self.blocks.fetch_add(1, Ordering::Relaxed);
        self.longest.fetch_max(block, Ordering::Relaxed);
        self.shortest.fetch_max(u64::MAX - block, Ordering::Relaxed);
        done
    }

    fn timed<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> (T, u64) {
        let begin = seam::clock::thread_cpu_us();
        let done = work();
        let used = seam::clock::thread_cpu_us().saturating_sub(begin);
        self.cpu_us[stage as usize].fetch_add(used, Ordering::Relaxed);
        (done, used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_and_the_shortest_block_are_known_with_their_lengths() {
        let stats = Stats::default();
        assert_eq!(stats.cipher_blocks(), CipherBlocks::default());
        stats.time_block(700, || ());
        let blocks = stats.cipher_blocks();
        assert_eq!((blocks.count, blocks.longest.bytes, blocks.shortest.bytes), (1, 700, 700));
        let large = CipherBlock { cpu_us: 9, bytes: 4 << 20 };
        assert_eq!(unpacked(packed(large)), large);
    }
}
