//! Fuzzes [`targets::control_file`].
#![no_main]

use targets::{control_file, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("control_file", control_file::seeds),
    |bytes: &[u8]| control_file::fuzz(bytes)
);
