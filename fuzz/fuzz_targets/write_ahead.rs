//! Fuzzes [`targets::write_ahead`].
#![no_main]

use targets::{write_ahead, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("write_ahead", write_ahead::seeds),
    |bytes: &[u8]| write_ahead::fuzz(bytes)
);
