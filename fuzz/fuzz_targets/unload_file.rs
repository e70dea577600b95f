//! Fuzzes [`targets::unload_file`].
#![no_main]

use targets::{unload_file, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("unload_file", unload_file::seeds),
    |bytes: &[u8]| unload_file::fuzz(bytes)
);
