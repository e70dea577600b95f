//! Fuzzes [`targets::key_file`].
#![no_main]

use targets::{key_file, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("key_file", key_file::seeds),
    |bytes: &[u8]| key_file::fuzz(bytes)
);
