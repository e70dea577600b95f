//! Fuzzes [`targets::message_calls`].
#![no_main]

use targets::{message_calls, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("message_calls", message_calls::seeds),
    |bytes: &[u8]| message_calls::fuzz(bytes)
);
