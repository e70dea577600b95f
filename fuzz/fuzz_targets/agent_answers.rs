//! Fuzzes [`targets::agent_answers`].
#![no_main]

use targets::{agent_answers, write_seeds};

libfuzzer_sys::fuzz_target!(
    init: write_seeds("agent_answers", agent_answers::seeds),
    |bytes: &[u8]| agent_answers::fuzz(bytes)
);
