//! Fuzzes [`targets::archive_files`].
#![no_main]

use targets::{archive_files, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("archive_files", archive_files::seeds),
    |bytes: &[u8]| archive_files::fuzz(bytes)
);
