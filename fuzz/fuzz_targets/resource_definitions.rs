//! Fuzzes [`targets::resource_definitions`].
#![no_main]

use targets::{resource_definitions, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("resource_definitions", resource_definitions::seeds),
    |bytes: &[u8]| resource_definitions::fuzz(bytes)
);
