//! Fuzzes [`targets::queued_messages`].
#![no_main]

use targets::{plant_seeds, queued_messages};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("queued_messages", queued_messages::seeds),
    |bytes: &[u8]| queued_messages::fuzz(bytes)
);
