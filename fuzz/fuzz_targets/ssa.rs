//! Fuzzes [`targets::ssa`].
#![no_main]

use targets::{ssa, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("ssa", ssa::seeds),
    |bytes: &[u8]| ssa::fuzz(bytes)
);
