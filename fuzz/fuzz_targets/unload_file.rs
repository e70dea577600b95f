//! Fuzzes [`targets::unload_file`].
#![no_main]

use targets::{write_seeds, unload_file};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("unload_file", unload_file::seeds),
    |bytes: &[u8]| unload_file::fuzz(bytes)
);
