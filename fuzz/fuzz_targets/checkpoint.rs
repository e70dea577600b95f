//! Fuzzes [`targets::checkpoint`].
#![no_main]

use targets::{checkpoint, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("checkpoint", checkpoint::seeds),
    |bytes: &[u8]| checkpoint::fuzz(bytes)
);
