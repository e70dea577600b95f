//! SECURITY.md names a test for each of its statements, or says that the statement is unproven.

use std::collections::BTreeSet;

use holdfast_tests::{files, none_of};

const SECTION: &str = "## What proves these statements";

/// Names of functions that stand right behind `#[test]` and other attributes.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files(&[".rs"]) {
        let mut is_test = false;
        for line in file.text.lines().map(str::trim_start) {
            if line.starts_with("#[test]") {
                is_test = true;
            } else if let Some(name) = line.strip_prefix("fn ").filter(|_| is_test) {
                found.insert(name.split('(').next().unwrap_or_default().to_owned());
                is_test = false;
            } else if !line.starts_with("#[") && !line.starts_with("//") {
                is_test = false;
            }
        }
    }
    found
}

/// The rows of the table: a statement and what proves it.
fn rows(text: &str) -> Vec<(String, String)> {
    let section = text.split_once(SECTION).expect("the section").1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let lines = section.lines().filter(|line| line.starts_with("| ") && !line.contains("---"));
    let cells = lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim));
    let rows = cells.map(|mut cells| {
        let statement = cells.next().unwrap_or_default().to_owned();
        (statement, cells.next().unwrap_or_default().to_owned())
    });
    rows.filter(|(statement, _)| statement != "statement").collect()
}

#[test]
fn every_statement_names_tests_that_there_are_or_says_that_it_is_unproven() {
    let security = files(&["SECURITY.md"]);
    let security = security.iter().find(|file| file.path == "SECURITY.md").expect("SECURITY.md");
    let (known, rows) = (tests(), rows(&security.text));
    assert!(rows.len() > 40, "the table is found: {}", rows.len());
    let mut wrong = Vec::new();
    for (statement, proof) in rows {
        let named: Vec<&str> = proof.split('`').skip(1).step_by(2).collect();
        if named.is_empty() && !proof.contains("unproven") {
            wrong.push(format!("\"{statement}\" names no test and is not called unproven"));
        }
        let lost = named.into_iter().filter(|name| !known.contains(*name));
        wrong.extend(lost.map(|name| format!("\"{statement}\" names {name}, which is no test")));
    }
    none_of("statements of SECURITY.md without their tests", &wrong);
}
