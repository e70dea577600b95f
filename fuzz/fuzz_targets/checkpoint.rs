//! Fuzzes [`targets::checkpoint`].
#![no_main]

use targets::{checkpoint, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("checkpoint", checkpoint::seeds),
    |bytes: &[u8]| checkpoint::fuzz(bytes)
);
