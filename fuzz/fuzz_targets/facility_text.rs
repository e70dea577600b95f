//! Fuzzes [`targets::facility_text`].
#![no_main]

use targets::{facility_text, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("facility_text", facility_text::seeds),
    |bytes: &[u8]| facility_text::fuzz(bytes)
);
