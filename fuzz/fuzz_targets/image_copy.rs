//! Fuzzes [`targets::image_copy`].
#![no_main]

use targets::{image_copy, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("image_copy", image_copy::seeds),
    |bytes: &[u8]| image_copy::fuzz(bytes)
);
