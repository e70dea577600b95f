//! Fuzzes [`targets::members`].
#![no_main]

use targets::{members, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("members", members::seeds),
    |bytes: &[u8]| members::fuzz(bytes)
);
