//! Fuzzes [`targets::foreign_keys`].
#![no_main]

use targets::{foreign_keys, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("foreign_keys", foreign_keys::seeds),
    |bytes: &[u8]| foreign_keys::fuzz(bytes)
);
