//! Fuzzes [`targets::exec_dli`].
#![no_main]

use targets::{exec_dli, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("exec_dli", exec_dli::seeds),
    |bytes: &[u8]| exec_dli::fuzz(bytes)
);
