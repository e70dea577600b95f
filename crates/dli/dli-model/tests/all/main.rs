//! The model against `docs/spec/dli.md`.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdfast_dli_model as dli_model;

use dli_model::cases::{FILES, replay, suite};
use dli_model::script::Script;
use dli_model::{Model, RootOrder, Setup, Subject};

/// Hashed roots stand in the order of their keys read backwards.
fn order() -> RootOrder {
    Arc::new(|_, key: &[u8]| key.iter().rev().copied().collect())
}

fn model(setup: &Setup) -> Box<dyn Subject> {
    Box::new(Model::new(setup, order()))
}

#[test]
fn the_scripts_of_old_differences_run() {
    assert_eq!(replay(&order(), model), Vec::<String>::new());
}

#[test]
fn the_model_does_what_the_rules_say() {
    let failures = suite(model);
    assert!(failures.is_empty(), "{} cases fail:\n\n{}", failures.len(), failures.join("\n\n"));
}

/// The rules of a section that the titles of the cases cite.
fn cited(section: &str) -> BTreeSet<u32> {
    let mut rows = BTreeSet::new();
    for (name, text) in FILES {
        let script = Script::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for case in script.cases {
            let words = case.title.split(' ').filter_map(|word| word.strip_prefix(section));
            rows.extend(words.filter_map(|row| row.strip_prefix('.')?.parse::<u32>().ok()));
        }
    }
    rows
}

#[test]
fn every_rule_on_calls_has_a_case() {
    let missing = |section, rows: &mut dyn Iterator<Item = u32>| {
        let cited = cited(section);
        rows.filter(|row| !cited.contains(row)).collect::<Vec<_>>()
    };
    assert_eq!(missing("DLI-2", &mut (1..=19)), [], "rules of DLI-2");
    assert_eq!(missing("DLI-12", &mut (1..=50).chain(64..=74)), [], "rules of DLI-12");
}
