//! Fuzzes [`targets::ssa`].
#![no_main]

use targets::{plant_seeds, ssa};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("ssa", ssa::seeds),
    |bytes: &[u8]| ssa::fuzz(bytes)
);
