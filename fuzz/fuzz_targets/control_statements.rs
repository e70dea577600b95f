//! Fuzzes [`targets::control_statements`].
#![no_main]

use targets::{control_statements, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("control_statements", control_statements::seeds),
    |bytes: &[u8]| control_statements::fuzz(bytes)
);
