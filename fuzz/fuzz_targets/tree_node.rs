//! Fuzzes [`targets::tree_node`].
#![no_main]

use targets::{tree_node, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("tree_node", tree_node::seeds),
    |bytes: &[u8]| tree_node::fuzz(bytes)
);
