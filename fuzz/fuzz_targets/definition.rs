//! Fuzzes [`targets::definition`].
#![no_main]

use targets::{definition, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("definition", definition::seeds),
    |bytes: &[u8]| definition::fuzz(bytes)
);
