//! What Cargo says about the packages of the workspace and about what they use.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// A package, ours or not.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its licence expression; empty if it states none.
    pub licence: String,
    /// Whether it is a member of the workspace.
    pub ours: bool,
    /// Its folder below the repository's root, if it is ours.
    pub folder: String,
    /// What it names in its manifest.
    pub dependencies: Vec<Dependency>,
}

/// A line of a manifest.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// The package's name, not the name that it is given.
    pub name: String,
    /// Whether it comes from a registry rather than from this workspace.
    pub foreign: bool,
    /// Whether it is only for tests, examples and benchmarks.
    pub development: bool,
}

/// All packages of the workspace and everything that they can be built with on this platform.
///
/// # Panics
/// If Cargo cannot be asked.
#[must_use]
pub fn packages() -> Vec<Package> {
    let platform = ["--filter-platform", "x86_64-unknown-linux-gnu"];
    let arguments = ["metadata", "--all-features", "--format-version", "1"];
    let answer = ask(&[&arguments[..], &platform[..]].concat());
    let metadata: Value = serde_json::from_str(&answer).expect("cargo answers in JSON");
    let members: BTreeSet<&str> =
        list(&metadata, "workspace_members").iter().filter_map(Value::as_str).collect();
    // Only what is resolved for this platform; the list of packages holds the others too.
    let used: BTreeSet<&str> =
        list(&metadata["resolve"], "nodes").iter().map(|node| text(node, "id")).collect();
    let all = list(&metadata, "packages");
    let here = all.iter().filter(|package| used.contains(text(package, "id")));
    here.map(|package| read(package, members.contains(text(package, "id")))).collect()
}

/// What is compiled into a package when it is built for use: for each package a line that begins
/// with its name and ends with its features in square brackets.
///
/// # Panics
/// If Cargo cannot be asked.
#[must_use]
pub fn built_into(package: &str) -> Vec<String> {
    let shape = ["--edges", "normal,build", "--prefix", "none", "--format", "{p} [{f}]"];
    let answer = ask(&[&["tree", "--no-dedupe", "--package", package][..], &shape[..]].concat());
    answer.lines().map(str::to_owned).collect()
}

fn ask(arguments: &[&str]) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .arg("--locked")
        .current_dir(crate::root())
        .output()
        .expect("cargo can be started");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {} failed: {printed}", arguments[0]);
    String::from_utf8(output.stdout).expect("cargo answers in text")
}

fn read(package: &Value, ours: bool) -> Package {
    let root = crate::root();
    let manifest = std::path::Path::new(text(package, "manifest_path"));
    let folder = manifest.parent().and_then(|folder| folder.strip_prefix(&root).ok());
    let dependencies = list(package, "dependencies").iter().map(|dependency| Dependency {
        name: text(dependency, "name").to_owned(),
        foreign: dependency["source"].is_string(),
        development: dependency["kind"] == "dev",
    });
    Package {
        name: text(package, "name").to_owned(),
        licence: package["license"].as_str().unwrap_or_default().to_owned(),
        ours,
        folder: folder.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default(),
        dependencies: dependencies.collect(),
    }
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("cargo metadata has no text \"{field}\""))
}
