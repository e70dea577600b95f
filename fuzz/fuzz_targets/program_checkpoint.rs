//! Fuzzes [`targets::program_checkpoint`].
#![no_main]

use targets::{program_checkpoint, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("program_checkpoint", program_checkpoint::seeds),
    |bytes: &[u8]| program_checkpoint::fuzz(bytes)
);
