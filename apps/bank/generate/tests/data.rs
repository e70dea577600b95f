//! The data that is kept beside the programs is what the generator writes.
#![allow(clippy::disallowed_methods)] // reads files of the repository, not a system's

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use holdfast_bank_data::{Files, Plan, Totals, write};

/// The plan that `apps/bank/data` was made by.
const SMALL: Plan = Plan { customers: 50, transactions: 200, seed: 1 };

fn made(plan: &Plan) -> (Files<Vec<u8>>, Totals) {
    let Ok(mut files) = Files::make(|_| Ok::<_, Infallible>(Vec::new()));
    let totals = write(plan, &mut files, |_| {}).expect("memory takes everything");
    (files, totals)
}

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data").join(name)
}

#[test]
fn the_small_bank_is_what_is_kept() {
    let (mut files, totals) = made(&SMALL);
    for (name, bytes) in files.each() {
        let path = kept(name);
        let expected = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(expected == *bytes, "{name} is another one; run generate for its folder again");
    }
    let path = kept(Files::<()>::TOTALS);
    let expected = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(expected, totals.to_string());
}

/// The value of a line of the totals.
fn value(totals: &str, name: &str) -> String {
    let mut lines = totals.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(known, _)| *known == name).expect("the totals have it").1.to_owned()
}

#[test]
fn some_are_refused_and_most_are_posted() {
    let (_, totals) = made(&SMALL);
    let totals = totals.to_string();
    let number = |name| value(&totals, name).parse::<u64>().expect("a number");
    assert_eq!(number("posted") + number("refused"), 200);
    assert!((1..40).contains(&number("refused")));
    assert!(number("history-accounts") < number("accounts"));
}

#[test]
fn files_hold_whole_records_in_ascending_order() {
    let plan = Plan { customers: 700, transactions: 300, seed: 7 };
    let (mut files, _) = made(&plan);
    let layouts = [(160, 0..8), (80, 0..10), (66, 0..27), (100, 0..4), (82, 0..27), (80, 0..9)];
    for ((name, bytes), (length, key)) in files.each().into_iter().zip(layouts) {
        assert_eq!(bytes.len() % length, 0, "{name}");
        let keys: Vec<_> = bytes.chunks(length).map(|record| &record[key.clone()]).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
    }
}

#[test]
fn another_seed_is_another_bank() {
    let (first, _) = made(&SMALL);
    let (second, _) = made(&Plan { seed: 2, ..SMALL });
    assert_ne!(first.customers, second.customers);
    assert_eq!(first.customers.len(), second.customers.len());
}
