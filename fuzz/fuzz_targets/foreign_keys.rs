//! Fuzzes [`targets::foreign_keys`].
#![no_main]

use targets::{foreign_keys, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("foreign_keys", foreign_keys::seeds),
    |bytes: &[u8]| foreign_keys::fuzz(bytes)
);
