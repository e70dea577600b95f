//! Fuzzes [`targets::archive_files`].
#![no_main]

use targets::{archive_files, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("archive_files", archive_files::seeds),
    |bytes: &[u8]| archive_files::fuzz(bytes)
);
