//! Fuzzes [`targets::amqp_frames`].
#![no_main]

use targets::{amqp_frames, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("amqp_frames", amqp_frames::seeds),
    |bytes: &[u8]| amqp_frames::fuzz(bytes)
);
