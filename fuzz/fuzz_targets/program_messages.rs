//! Fuzzes [`targets::program_messages`].
#![no_main]

use targets::{plant_seeds, program_messages};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("program_messages", program_messages::seeds),
    |bytes: &[u8]| program_messages::fuzz(bytes)
);
