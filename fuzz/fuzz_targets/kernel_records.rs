//! Fuzzes [`targets::kernel_records`].
#![no_main]

use targets::{kernel_records, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("kernel_records", kernel_records::seeds),
    |bytes: &[u8]| kernel_records::fuzz(bytes)
);
