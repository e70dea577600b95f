//! Fuzzes [`targets::double_write`].
#![no_main]

use targets::{double_write, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("double_write", double_write::seeds),
    |bytes: &[u8]| double_write::fuzz(bytes)
);
