//! What the product is built with may be shipped, and somebody has said why it is needed.

use std::collections::BTreeSet;

use holdfast_tests::cargo::{Package, packages};
use holdfast_tests::{files, licence, none_of};

#[test]
fn every_licence_may_be_shipped() {
    let packages = packages();
    assert!(packages.iter().any(|package| !package.ours), "something is used from outside");
    let bad = packages.iter().filter(|package| !licence::may_be_shipped(&package.licence));
    let bad = bad.map(|package| format!("{}: \"{}\"", package.name, package.licence));
    none_of("licences that are not on the list of tests/src/licence.rs", &bad.collect::<Vec<_>>());
}

#[test]
fn every_direct_dependency_has_its_line_and_every_line_its_dependency() {
    let used: BTreeSet<String> = packages()
        .iter()
        .filter(|package| package.ours)
        .flat_map(|package: &Package| package.dependencies.clone())
        .filter(|dependency| dependency.foreign)
        .map(|dependency| dependency.name)
        .collect();
    let documents = files(&["DEPENDENCIES.md"]);
    let listed: BTreeSet<String> = documents[0]
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|rest| rest.split('`').next())
        .map(str::to_owned)
        .collect();
    let missing: Vec<String> = used.difference(&listed).cloned().collect();
    none_of("used, but without a line in DEPENDENCIES.md", &missing);
    let idle: Vec<String> = listed.difference(&used).cloned().collect();
    none_of("listed in DEPENDENCIES.md, but used by nobody", &idle);
}
