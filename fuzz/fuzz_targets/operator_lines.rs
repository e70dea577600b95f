//! Fuzzes [`targets::operator_lines`].
#![no_main]

use targets::{operator_lines, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("operator_lines", operator_lines::seeds),
    |bytes: &[u8]| operator_lines::fuzz(bytes)
);
