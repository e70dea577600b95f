//! Fuzzes [`targets::log_files`].
#![no_main]

use targets::{log_files, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("log_files", log_files::seeds),
    |bytes: &[u8]| log_files::fuzz(bytes)
);
