//! Fuzzes [`targets::members`].
#![no_main]

use targets::{members, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("members", members::seeds),
    |bytes: &[u8]| members::fuzz(bytes)
);
