//! Crash sweeps: a short script, a power failure after each of its writes, in each style, twice in
//! a row; whatever was acknowledged is there, in order, and stays there.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::machine::{Machine, Script, small, sweep};

fn every_write(copies: usize, stripes: u8, truncates: bool) -> u64 {
    let mut base = Machine::new(small(copies, stripes));
    base.truncates = truncates;
    let script = Script { seed: 11 + u64::from(stripes), records: 40, body_max: 6_000 };
    sweep(&base, script).unwrap()
}

#[test]
fn with_one_copy_and_one_stripe() {
    assert!(every_write(1, 1, false) > 20);
}

#[test]
fn with_two_copies() {
    assert!(every_write(2, 1, false) > 40);
}

#[test]
fn with_two_stripes() {
    assert!(every_write(1, 2, false) > 20);
}

#[test]
fn with_two_copies_of_three_stripes() {
    assert!(every_write(2, 3, false) > 40);
}

#[test]
fn with_eight_stripes() {
    assert!(every_write(1, 8, false) > 20);
}

#[test]
fn with_records_all_alike_so_that_leftovers_fit() {
    for stripes in [2, 3] {
        let base = Machine::new(small(1, stripes));
        for seed in 0..4 {
            sweep(&base, Script { seed: 100 * seed, records: 25, body_max: 100 }).unwrap();
        }
    }
}

#[test]
fn while_segments_are_used_again() {
    assert!(every_write(2, 1, true) > 40);
    assert!(every_write(1, 2, true) > 20);
}
