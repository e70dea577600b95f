//! The facts as cases, and random programs beside the model: the engine over the model store.

mod support;

use support::subject;

#[test]
fn every_case_of_the_facts_holds() {
    let failures = dli_model::cases::suite(|setup| Box::new(subject(setup)));
    let shown: Vec<&String> = failures.iter().take(12).collect();
    for failure in &shown {
        println!("{failure}\n");
    }
    assert!(failures.is_empty(), "{} cases fail", failures.len());
}
