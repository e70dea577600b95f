//! Fuzzes [`targets::restart`].
#![no_main]

use targets::{plant_seeds, restart};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("restart", restart::seeds),
    |bytes: &[u8]| restart::fuzz(bytes)
);
