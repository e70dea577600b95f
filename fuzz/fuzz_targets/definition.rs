//! Fuzzes [`targets::definition`].
#![no_main]

use targets::{definition, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("definition", definition::seeds),
    |bytes: &[u8]| definition::fuzz(bytes)
);
