//! Fuzzes [`targets::channel_frames`].
#![no_main]

use targets::{channel_frames, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("channel_frames", channel_frames::seeds),
    |bytes: &[u8]| channel_frames::fuzz(bytes)
);
