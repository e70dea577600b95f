//! Fuzzes [`targets::network_frames`].
#![no_main]

use targets::{network_frames, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("network_frames", network_frames::seeds),
    |bytes: &[u8]| network_frames::fuzz(bytes)
);
