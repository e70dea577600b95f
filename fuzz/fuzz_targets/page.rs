//! Fuzzes [`targets::page`].
#![no_main]

use targets::{page, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("page", page::seeds),
    |bytes: &[u8]| page::fuzz(bytes)
);
