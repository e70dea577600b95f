//! Fuzzes [`targets::mqsc_text`].
#![no_main]

use targets::{mqsc_text, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("mqsc_text", mqsc_text::seeds),
    |bytes: &[u8]| mqsc_text::fuzz(bytes)
);
