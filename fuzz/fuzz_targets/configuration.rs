//! Fuzzes [`targets::configuration`].
#![no_main]

use targets::{configuration, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("configuration", configuration::seeds),
    |bytes: &[u8]| configuration::fuzz(bytes)
);
