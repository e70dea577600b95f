//! Fuzzes [`targets::doctor`].
#![no_main]

use targets::{doctor, plant_seeds};

libfuzzer_sys::fuzz_target!(init: plant_seeds("doctor", doctor::seeds), |bytes: &[u8]| {
    doctor::fuzz(bytes)
});
