//! Fuzzes [`targets::configuration`].
#![no_main]

use targets::{configuration, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("configuration", configuration::seeds),
    |bytes: &[u8]| configuration::fuzz(bytes)
);
