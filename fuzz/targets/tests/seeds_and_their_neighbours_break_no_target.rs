//! A short look at every fuzz target without a fuzzer: its seeds, and a few thousand inputs near
//! them, the same in every run.

use std::panic::catch_unwind;

use holdfast_fuzz_targets::{TARGETS, Target};
use seam::sim::Rng;

const NEIGHBOURS: u64 = 2_000;

#[test]
fn seeds_and_their_neighbours_break_no_target() {
    // `TARGET=page` looks at one alone.
    let only = std::env::var("TARGET").unwrap_or_default();
    for target in TARGETS.iter().filter(|target| target.name.contains(&only)) {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for seed in &seeds {
            run(target, seed);
        }
        for number in 0..NEIGHBOURS {
            let mut rng = Rng::stream(number, target.name);
            let mut bytes = seeds[rng.index(seeds.len())].clone();
            mutate(&mut bytes, &mut rng);
            run(target, &bytes);
        }
    }
}

fn run(target: &Target, bytes: &[u8]) {
    let survived = catch_unwind(|| (target.fuzz)(bytes));
    assert!(survived.is_ok(), "{} was broken by {bytes:02x?}", target.name);
}

/// Changes, inserts or removes a few bytes, or cuts the end off.
fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..=rng.index(4) {
        let at = rng.index(bytes.len() + 1);
        match rng.index(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.index(8),
            1 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.index(5)],
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => bytes.insert(at, rng.word() as u8),
            4 => (0..8).for_each(|_| bytes.push(rng.word() as u8)),
            _ => bytes.truncate(at),
        }
    }
}

#[test]
fn every_target_has_its_program() {
    let programs = include_str!("../../Cargo.toml");
    for target in TARGETS {
        assert!(programs.contains(&format!("name = \"{}\"", target.name)), "{}", target.name);
    }
    assert_eq!(programs.matches("[[bin]]").count(), TARGETS.len());
}
