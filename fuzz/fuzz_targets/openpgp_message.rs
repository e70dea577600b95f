//! Fuzzes [`targets::openpgp_message`].
#![no_main]

use targets::{openpgp_message, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("openpgp_message", openpgp_message::seeds),
    |bytes: &[u8]| openpgp_message::fuzz(bytes)
);
