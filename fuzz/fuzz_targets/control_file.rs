//! Fuzzes [`targets::control_file`].
#![no_main]

use targets::{control_file, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("control_file", control_file::seeds),
    |bytes: &[u8]| control_file::fuzz(bytes)
);
