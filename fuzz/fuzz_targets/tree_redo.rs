//! Fuzzes [`targets::tree_redo`].
#![no_main]

use targets::{tree_redo, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("tree_redo", tree_redo::seeds),
    |bytes: &[u8]| tree_redo::fuzz(bytes)
);
