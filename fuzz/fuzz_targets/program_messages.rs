//! Fuzzes [`targets::program_messages`].
#![no_main]

use targets::{program_messages, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("program_messages", program_messages::seeds),
    |bytes: &[u8]| program_messages::fuzz(bytes)
);
