//! Fuzzes [`targets::tree_redo`].
#![no_main]

use targets::{write_seeds, tree_redo};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("tree_redo", tree_redo::seeds),
    |bytes: &[u8]| tree_redo::fuzz(bytes)
);
