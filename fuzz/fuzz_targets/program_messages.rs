//! Fuzzes [`targets::program_messages`].
#![no_main]

use targets::{write_seeds, program_messages};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("program_messages", program_messages::seeds),
    |bytes: &[u8]| program_messages::fuzz(bytes)
);
