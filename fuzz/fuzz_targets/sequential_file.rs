//! Fuzzes [`targets::sequential_file`].
#![no_main]

use targets::{sequential_file, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("sequential_file", sequential_file::seeds),
    |bytes: &[u8]| sequential_file::fuzz(bytes)
);
