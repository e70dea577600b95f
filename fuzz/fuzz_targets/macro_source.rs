//! Fuzzes [`targets::macro_source`].
#![no_main]

use targets::{macro_source, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("macro_source", macro_source::seeds),
    |bytes: &[u8]| macro_source::fuzz(bytes)
);
