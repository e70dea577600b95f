//! Fuzzes [`targets::log_files`].
#![no_main]

use targets::{log_files, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("log_files", log_files::seeds),
    |bytes: &[u8]| log_files::fuzz(bytes)
);
