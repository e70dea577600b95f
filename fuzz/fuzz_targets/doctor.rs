//! Fuzzes [`targets::doctor`].
#![no_main]

use targets::{doctor, write_seeds};

libfuzzer_sys::fuzz_target!(init: write_seeds("doctor", doctor::seeds), |bytes: &[u8]| {
    doctor::fuzz(bytes)
});
