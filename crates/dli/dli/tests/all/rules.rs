//! The rules of DL/I as cases, and random programs beside the model: the engine over the model
//! store.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{Engine, subject, subject_by};
use definitions::DbdName;
use definitions::resolve::ResolvedKind;
use dli_model::random::{Trial, loads, related, trials};
use dli_model::script::{Script, Step};
use dli_model::{Model, RootOrder, Setup, SetupError, compare};
use placement::{Placement, Settings};
use proptest::prelude::*;

#[test]
fn every_case_of_the_rules_holds() {
    expect_none(&dli_model::cases::suite(|setup| Box::new(subject(setup))));
}

#[test]
fn every_case_holds_where_the_randomizer_keeps_the_roots_in_key_order() {
    let by_key = "[randomizer.RANDOM]\nkind = \"key\"";
    let settings: Settings = toml::from_str(by_key).unwrap();
    expect_none(&dli_model::cases::suite(|setup| Box::new(subject_by(setup, &settings))));
}

fn expect_none(failures: &[String]) {
    for failure in failures.iter().take(12) {
        println!("{failure}\n");
    }
    assert!(failures.is_empty(), "{} cases fail", failures.len());
}

/// Roots of hashed databases stand where the engine's randomizer puts them.
fn order(setup: &Setup) -> RootOrder {
    let placements: BTreeMap<DbdName, Placement> = setup
        .dbds
        .iter()
        .filter_map(|dbd| Some((dbd.name, crate::support::placement(dbd).ok()?)))
        .collect();
    Arc::new(move |dbd, key: &[u8]| {
        let anchor = placements.get(&dbd).and_then(|placement| placement.anchor(0, key));
        [anchor.unwrap_or_default().as_slice(), key].concat()
    })
}

/// Whether a key is inserted again after a segment with it was deleted. To the engine the place
/// of a key is the same for ever; to the model the new segment is another one, and a position
/// that some PCB kept in front of the old one is not in front of it. A destination parent may go by
/// itself, and so it may come back with any concatenated segment behind a deletion.
fn comes_back(script: &Script) -> bool {
    let mut deleted: Vec<[u8; 2]> = Vec::new();
    let mut inserted: Vec<[u8; 2]> = Vec::new();
    for step in &script.cases[0].steps {
        let Step::Call(call) = step else { continue };
        let keys: Vec<[u8; 2]> =
            call.area.windows(2).step_by(2).filter_map(|two| two.try_into().ok()).collect();
        match call.function.as_str() {
            "DLET" => deleted.extend(keys),
            "ISRT" if keys.iter().any(|key| deleted.contains(key)) => return true,
            "ISRT" => {
                let twice = |at: usize| keys[at + 1..].contains(&keys[at]);
                let brings = |at: &usize| twice(*at) && inserted.contains(&keys[*at]);
                if !deleted.is_empty() && (0..keys.len()).any(|at| brings(&at)) {
                    return true;
                }
                inserted.extend(keys);
            }
            _ => {}
        }
    }
    false
}

fn cases() -> u32 {
    std::env::var("HOLDFAST_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// What a verification should not have found: entries are missing where they were deleted from an
/// index used as a database.
fn unexpected(mut found: Vec<String>, setup: &Setup, script: &Script) -> Vec<String> {
    let views = setup.psb.pcbs.iter().filter_map(|pcb| match &pcb.kind {
        ResolvedKind::Database(view) => Some(view.entries.is_some()),
        _ => None,
    });
    let is_of_entries: Vec<bool> = views.collect();
    let deletes = |step: &Step| match step {
        Step::Call(call) => call.function == "DLET" && is_of_entries[call.pcb],
        _ => false,
    };
    if script.cases[0].steps.iter().any(deletes) {
        found.retain(|finding| !finding.contains("its entry is missing"));
    }
    found
}

/// Runs a script through the model and the engine.
fn agree(setup: &Setup, script: &Script, order: RootOrder) -> Result<Engine, TestCaseError> {
    let mut model = Model::new(setup, order);
    let mut engine = subject(setup);
    match compare(&mut model, &mut engine, script) {
        Err(_) if comes_back(script) => {
            Err(TestCaseError::reject("a key comes back after its segment was deleted"))
        }
        Err(difference) => {
            let sources = dli_model::cases::sources(script);
            Err(TestCaseError::fail(format!("{sources}\n{difference}")))
        }
        Ok(()) => match unexpected(engine.verify(), setup, script) {
            found if found.is_empty() => Ok(engine),
            found => Err(TestCaseError::fail(format!("{script}\n{found:#?}"))),
        },
    }
}

fn check(trial: &Trial) -> Result<(), TestCaseError> {
    let source = trial.shape.world().source;
    let fail = |error: SetupError| TestCaseError::fail(format!("{error}\n{source}"));
    let order = order(&Setup::from_source(&source).map_err(fail)?);
    let (setup, script) = trial.make(Arc::clone(&order)).map_err(fail)?;
    agree(&setup, &script, order).map(|_| ())
}

#[test]
fn what_was_found_once_stays_right() {
    for (name, text) in dli_model::cases::FOUND {
        let script = Script::parse(text).unwrap();
        let setup = Setup::from_source(dli_model::cases::sources(&script)).unwrap();
        let failures = dli_model::cases::replay(&order(&setup), |setup| Box::new(subject(setup)));
        assert!(failures.is_empty(), "{name}: {failures:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 4_000, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn random_programs_get_what_the_model_says(trial in trials(60)) {
        check(&trial)?;
    }

    #[test]
    fn random_relationships_follow_the_rules(trial in related(40)) {
        let source = trial.source();
        let fail = |error: SetupError| TestCaseError::fail(format!("{error}\n{source}"));
        let order = order(&Setup::from_source(&source).map_err(fail)?);
        let (setup, script) = trial.make(Arc::clone(&order)).map_err(fail)?;
        let mut engine = agree(&setup, &script, order)?;
        let differs = [engine.reload(), engine.verify()].concat();
        prop_assert!(differs.is_empty(), "{source}\n{script}\n{differs:#?}");
    }

    #[test]
    fn random_loads_get_what_the_model_says(trial in loads(60)) {
        check(&trial)?;
    }
}
