//! Fuzzes [`targets::record_description`].
#![no_main]

use targets::{record_description, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("record_description", record_description::seeds),
    |bytes: &[u8]| record_description::fuzz(bytes)
);
