//! What the tests of the whole repository share: where it lies, what is in it, what Cargo says.
//!
//! The scenarios stand in `tests/tests/`, one in a file, and each file is named as the sentence
//! that it proves. This package stands outside the product: nothing depends on it.
//!
//! 1. Nothing here writes into the repository.
//! 2. Folders that a build makes, and hidden ones, are not part of the repository.
#![allow(clippy::disallowed_methods)] // reads the sources of the repository, not a system's files

pub mod cargo;
pub mod licence;
pub mod markdown;
pub mod modules;
pub mod source;

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the repository.
#[derive(Clone, Debug)]
pub struct TextFile {
    /// Its path below the repository's root, with `/` between the parts.
    pub path: String,
    /// What it says.
    pub text: String,
}

impl TextFile {
    /// Its lines with their numbers, the first one being 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// "path:line", as editors understand it.
    #[must_use]
    pub fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }
}

/// The repository's root.
///
/// # Panics
/// If this package was moved out of it.
#[must_use]
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("this package stands in a folder of the repository").to_owned()
}

/// All files whose paths end with one of `endings`, in the order of their paths.
///
/// # Panics
/// If one cannot be read as text.
#[must_use]
pub fn files(endings: &[&str]) -> Vec<TextFile> {
    let mut found = Vec::new();
    collect(&root(), "", endings, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "the repository has files that end with {endings:?}");
    found
}

fn collect(folder: &Path, prefix: &str, endings: &[&str], found: &mut Vec<TextFile>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let entry = entry.expect("a folder of the repository can be listed");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            if !name.starts_with('.') && !is_built(&path) {
                collect(&entry.path(), &format!("{path}/"), endings, found);
            }
        } else if endings.iter().any(|ending| path.ends_with(ending)) {
            let text = fs::read_to_string(entry.path()).unwrap_or_else(|e| panic!("{path}: {e}"));
            found.push(TextFile { path, text });
        }
    }
}

/// Folders that hold what was built or found, not what was written.
fn is_built(path: &str) -> bool {
    let built = ["target", "fuzz/target", "fuzz/corpus", "fuzz/artifacts", "fuzz/coverage"];
    built.contains(&path)
}

/// Fails with everything that was found, if anything was.
///
/// # Panics
/// If there are offences.
pub fn none_of(what: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{what}:\n  {}", offences.join("\n  "));
}
