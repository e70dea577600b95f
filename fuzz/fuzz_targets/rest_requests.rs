//! Fuzzes [`targets::rest_requests`].
#![no_main]

use targets::{rest_requests, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("rest_requests", rest_requests::seeds),
    |bytes: &[u8]| rest_requests::fuzz(bytes)
);
