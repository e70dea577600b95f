//! Fuzzes [`targets::call_buffers`].
#![no_main]

use targets::{call_buffers, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("call_buffers", call_buffers::seeds),
    |bytes: &[u8]| call_buffers::fuzz(bytes)
);
