//! Fuzzes [`targets::facility_text`].
#![no_main]

use targets::{facility_text, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("facility_text", facility_text::seeds),
    |bytes: &[u8]| facility_text::fuzz(bytes)
);
