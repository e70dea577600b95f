//! Fuzzes [`targets::queued_messages`].
#![no_main]

use targets::{queued_messages, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("queued_messages", queued_messages::seeds),
    |bytes: &[u8]| queued_messages::fuzz(bytes)
);
