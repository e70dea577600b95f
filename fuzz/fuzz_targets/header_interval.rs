//! Fuzzes [`targets::header_interval`].
#![no_main]

use targets::{header_interval, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("header_interval", header_interval::seeds),
    |bytes: &[u8]| header_interval::fuzz(bytes)
);
