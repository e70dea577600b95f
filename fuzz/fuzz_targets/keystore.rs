//! Fuzzes [`targets::keystore`].
#![no_main]

use targets::{keystore, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("keystore", keystore::seeds),
    |bytes: &[u8]| keystore::fuzz(bytes)
);
