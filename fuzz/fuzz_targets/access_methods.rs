//! Fuzzes [`targets::access_methods`].
#![no_main]

use targets::{access_methods, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("access_methods", access_methods::seeds),
    |bytes: &[u8]| access_methods::fuzz(bytes)
);
