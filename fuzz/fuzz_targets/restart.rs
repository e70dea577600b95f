//! Fuzzes [`targets::restart`].
#![no_main]

use targets::{restart, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("restart", restart::seeds),
    |bytes: &[u8]| restart::fuzz(bytes)
);
