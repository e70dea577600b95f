//! Fuzzes [`targets::file_requests`].
#![no_main]

use targets::{file_requests, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("file_requests", file_requests::seeds),
    |bytes: &[u8]| file_requests::fuzz(bytes)
);
