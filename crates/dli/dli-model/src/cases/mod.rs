//! The rules of DL/I as cases: calls and what they must give back, for the model and any engine.
//!
//! Each case cites the rule of `docs/spec/dli.md` that it shows: `DLI-2.6`, `DLI-12.6`, `DLI-1.II`
//! for a status code, `DLI-3` for the syntax of SSAs.
//!
//! Invariants:
//! 1. No case depends on the order of the roots of a hashed database.

use crate::compare::{compare, run};
use crate::script::{Script, Sources};
use crate::{Model, RootOrder, Setup, Subject};

/// Sources that several files of cases use.
const LIBRARY: &[(&str, &str)] = &[
    ("shop", include_str!("shop.src.txt")),
    ("pair", include_str!("pair.src.txt")),
    ("staff", include_str!("staff.src.txt")),
    ("loads", include_str!("loads.src.txt")),
    ("club", include_str!("club.src.txt")),
    ("school", include_str!("school.src.txt")),
];

/// The files of cases: name and text.
pub const FILES: &[(&str, &str)] = &[
    ("rules", include_str!("rules.txt")),
    ("position", include_str!("position.txt")),
    ("parentage", include_str!("parentage.txt")),
    ("ends", include_str!("ends.txt")),
    ("codes", include_str!("codes.txt")),
    ("insert", include_str!("insert.txt")),
    ("implied", include_str!("implied.txt")),
    ("online", include_str!("online.txt")),
    ("update", include_str!("update.txt")),
    ("options", include_str!("options.txt")),
    ("fields", include_str!("fields.txt")),
    ("loads", include_str!("loads.txt")),
    ("hashed", include_str!("hashed.txt")),
    ("compressed", include_str!("compressed.txt")),
    ("halload", include_str!("halload.txt")),
    ("indexes", include_str!("indexes.txt")),
    ("moves", include_str!("moves.txt")),
    ("apart", include_str!("apart.txt")),
    ("entries", include_str!("entries.txt")),
    ("psindex", include_str!("psindex.txt")),
    ("logical", include_str!("logical.txt")),
    ("paired", include_str!("paired.txt")),
    ("oneway", include_str!("oneway.txt")),
    ("logical_rules", include_str!("logical_rules.txt")),
    ("orphans", include_str!("orphans.txt")),
    ("logical_delete", include_str!("logical_delete.txt")),
];

/// Differences that were found once between an engine and the model, as scripts in the folder
/// `scripts` of this crate; a new file gets its line here.
pub const FOUND: &[(&str, &str)] = &[
    (
        "a_twin_that_another_pcb_deleted",
        include_str!("../../scripts/a_twin_that_another_pcb_deleted.txt"),
    ),
    (
        "a_concatenated_key_through_an_index",
        include_str!("../../scripts/a_concatenated_key_through_an_index.txt"),
    ),
];

/// The sources of a script.
#[must_use]
pub fn sources(script: &Script) -> &str {
    match &script.sources {
        Sources::Text(text) => text,
        Sources::Named(name) => {
            LIBRARY.iter().find(|(one, _)| one == name).map_or("", |(_, text)| text)
        }
    }
}

/// Runs all cases against what `make` makes, each in empty databases, and tells which fail.
pub fn suite(make: impl Fn(&Setup) -> Box<dyn Subject>) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, text) in FILES {
        failures.extend(run_file(name, text, &make));
    }
    failures
}

/// Runs all scripts of [`FOUND`] through the model and what `make` makes, and tells which differ.
pub fn replay(order: &RootOrder, make: impl Fn(&Setup) -> Box<dyn Subject>) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, text) in FOUND {
        failures
            .extend(replay_one(text, order, &make).map_err(|what| format!("{name}: {what}")).err());
    }
    failures
}

fn replay_one(
    text: &str,
    order: &RootOrder,
    make: &impl Fn(&Setup) -> Box<dyn Subject>,
) -> Result<(), String> {
    let script = Script::parse(text).map_err(|error| error.to_string())?;
    let setup = Setup::from_source(sources(&script)).map_err(|error| error.to_string())?;
    let setup = Setup { online: script.online, ..setup };
    for case in &script.cases {
        let one = Script { cases: vec![case.clone()], ..script.clone() };
        let mut model = Model::new(&setup, order.clone());
        compare(&mut model, make(&setup).as_mut(), &one)
            .map_err(|difference| format!("{}\n{difference}", case.title))?;
    }
    Ok(())
}

/// Runs the cases of one script.
pub fn run_file(name: &str, text: &str, make: &impl Fn(&Setup) -> Box<dyn Subject>) -> Vec<String> {
    let script = match Script::parse(text) {
        Ok(script) => script,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let setup = match Setup::from_source(sources(&script)) {
        Ok(setup) => Setup { online: script.online, ..setup },
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let mut failures = Vec::new();
    for case in &script.cases {
        let mut subject = make(&setup);
        if let Err(difference) = run(subject.as_mut(), &script.given, case) {
            failures.push(format!("{name}: {}\n{difference}", case.title));
        }
    }
    failures
}
