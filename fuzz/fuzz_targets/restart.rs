//! Fuzzes [`targets::restart`].
#![no_main]

use targets::{write_seeds, restart};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("restart", restart::seeds),
    |bytes: &[u8]| restart::fuzz(bytes)
);
