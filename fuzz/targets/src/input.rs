//! How a fuzzer's bytes are taken apart, how they spoil files, and the machine that reads these.

use std::path::PathBuf;

use base::bytes::Reader;
use seam::Seam;
use seam::sim::{self, SimConfig, SimDisk};

/// The fuzzer's bytes; reading past their end gives zeros.
pub struct Input<'a>(Reader<'a>);

impl<'a> Input<'a> {
    /// From what the fuzzer drew.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input(Reader::new(bytes))
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.0.u8().unwrap_or(0)
    }

    /// The next two bytes as a number.
    pub fn word(&mut self) -> u16 {
        let low = self.byte();
        u16::from_le_bytes([low, self.byte()])
    }

    /// The next bytes, up to `len`.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let len = len.min(self.0.rest().len());
        self.0.take(len).unwrap_or_default()
    }

    /// Everything that is left.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.0.rest()
    }

    /// Whether everything was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// More steps only spoil what is spoilt already.
const STEPS_MAX: usize = 8;

/// Spoils the files of a disk. A step is: file 1, what 1, offset 2, length 1, bytes.
pub fn spoil(disk: &SimDisk, input: &mut Input<'_>) {
    spoil_those(disk, &disk.paths(), input);
}

/// The same with some files only.
pub fn spoil_those(disk: &SimDisk, paths: &[PathBuf], input: &mut Input<'_>) {
    for _ in 0..STEPS_MAX {
        if input.is_empty() || paths.is_empty() {
            return;
        }
        let path = &paths[usize::from(input.byte()) % paths.len()];
        let (what, len) = (input.byte(), disk.len_raw(path));
        // Offsets count in 8 bytes: fields begin there, and the files are short.
        let offset = (u64::from(input.word()) * 8).min(len);
        let left = usize::try_from(len - offset).unwrap_or(0);
        let size = usize::from(input.byte()).min(left);
        match what % 4 {
            0 => disk.write_raw(path, offset, input.take(size)),
            1 => disk.corrupt(path, offset, input.take(size)),
            2 => disk.truncate(path, offset),
            _ if len >= 8192 => {
                let blocks = len / 4096;
                disk.swap_blocks(path, offset / 4096 % blocks, u64::from(input.byte()) % blocks);
            }
            _ => {}
        }
    }
}

/// Runs `body` on a simulated machine with this disk, and takes over its panic.
///
/// # Panics
/// If `body` does, or waits for ever.
pub fn simulated<R>(disk: &SimDisk, body: impl FnOnce(Seam) -> R) -> R {
    let mut result = None;
    let mut config = SimConfig::new(1);
    // The same machine every time: what differs is only what the fuzzer drew.
    (config.switch_per_mille, config.spurious_wakes, config.rarely) = (20, false, false);
    sim::run(config, disk.clone(), |seam| result = Some(body(seam))).expect_completed();
    result.expect("a completed run has a result")
}
