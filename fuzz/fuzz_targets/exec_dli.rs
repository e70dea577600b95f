//! Fuzzes [`targets::exec_dli`].
#![no_main]

use targets::{exec_dli, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("exec_dli", exec_dli::seeds),
    |bytes: &[u8]| exec_dli::fuzz(bytes)
);
