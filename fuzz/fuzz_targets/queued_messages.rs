//! Fuzzes [`targets::queued_messages`].
#![no_main]

use targets::{write_seeds, queued_messages};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("queued_messages", queued_messages::seeds),
    |bytes: &[u8]| queued_messages::fuzz(bytes)
);
