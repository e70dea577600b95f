//! The model against the facts.

use std::sync::Arc;

use holdfast_dli_model as dli_model;

use dli_model::cases::suite;
use dli_model::{Model, Setup, Subject};

/// A model whose hashed roots stand in the order of their keys' last bytes.
fn model(setup: &Setup) -> Box<dyn Subject> {
    let order = |_, key: &[u8]| key.iter().rev().copied().collect();
    Box::new(Model::new(setup, Arc::new(order)))
}

#[test]
fn the_model_does_what_the_facts_say() {
    let failures = suite(model);
    assert!(failures.is_empty(), "{} cases fail:\n\n{}", failures.len(), failures.join("\n\n"));
}
