//! Fuzzes [`targets::ssa`].
#![no_main]

use targets::{write_seeds, ssa};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("ssa", ssa::seeds),
    |bytes: &[u8]| ssa::fuzz(bytes)
);
