//! Fuzzes [`targets::portable_copy`].
#![no_main]

use targets::{portable_copy, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("portable_copy", portable_copy::seeds),
    |bytes: &[u8]| portable_copy::fuzz(bytes)
);
