//! Fuzzes [`targets::header_interval`].
#![no_main]

use targets::{header_interval, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("header_interval", header_interval::seeds),
    |bytes: &[u8]| header_interval::fuzz(bytes)
);
