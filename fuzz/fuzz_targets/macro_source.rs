//! Fuzzes [`targets::macro_source`].
#![no_main]

use targets::{macro_source, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("macro_source", macro_source::seeds),
    |bytes: &[u8]| macro_source::fuzz(bytes)
);
