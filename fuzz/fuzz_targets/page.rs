//! Fuzzes [`targets::page`].
#![no_main]

use targets::{page, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("page", page::seeds),
    |bytes: &[u8]| page::fuzz(bytes)
);
