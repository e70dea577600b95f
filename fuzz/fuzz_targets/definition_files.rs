//! Fuzzes [`targets::definition_files`].
#![no_main]

use targets::{definition_files, plant_seeds};

libfuzzer_sys::fuzz_target!(
    init: plant_seeds("definition_files", definition_files::seeds),
    |bytes: &[u8]| definition_files::fuzz(bytes)
);
