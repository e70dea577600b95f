//! Fuzzes [`targets::stored_segments`].
#![no_main]

use targets::{stored_segments, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("stored_segments", stored_segments::seeds),
    |bytes: &[u8]| stored_segments::fuzz(bytes)
);
