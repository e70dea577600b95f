//! Fuzzes [`targets::recon_file`].
#![no_main]

use targets::{recon_file, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("recon_file", recon_file::seeds),
    |bytes: &[u8]| recon_file::fuzz(bytes)
);
