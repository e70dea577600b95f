//! Fuzzes [`targets::keystore`].
#![no_main]

use targets::{keystore, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("keystore", keystore::seeds),
    |bytes: &[u8]| keystore::fuzz(bytes)
);
