//! Fuzzes [`targets::partition_limits`].
#![no_main]

use targets::{partition_limits, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("partition_limits", partition_limits::seeds),
    |bytes: &[u8]| partition_limits::fuzz(bytes)
);
