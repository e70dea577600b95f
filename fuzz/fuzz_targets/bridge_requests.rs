//! Fuzzes [`targets::bridge_requests`].
#![no_main]

use targets::{bridge_requests, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("bridge_requests", bridge_requests::seeds),
    |bytes: &[u8]| bridge_requests::fuzz(bytes)
);
