//! Fuzzes [`targets::image_copy`].
#![no_main]

use targets::{image_copy, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("image_copy", image_copy::seeds),
    |bytes: &[u8]| image_copy::fuzz(bytes)
);
