//! Definition files: macros or commands, read into changes.
//!
//! A file holds either; it is one of commands if its first word that is no comment is one of their
//! verbs.

use std::fmt;
use std::path::Path;

pub use macros::Severity;
use macros::{Folders, Sources};

use crate::check::Change;

/// Something that is said about a definition file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The stable code.
    pub code: &'static str,
    /// The card or line, from 1.
    pub card: u32,
    /// The column, from 1.
    pub column: u16,
    /// What is the matter.
    pub message: String,
    /// What to do; may be empty.
    pub help: String,
    /// All of it for people, with the card and the word.
    pub shown: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// What a definition file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The changes, in their order.
    pub changes: Vec<Change>,
    /// What is to be said about it.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Whether there are errors: nothing of the file is to be taken then.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }
}

/// Reads the bytes of a definition file; `path` is shown, and COPY members are looked for in
/// `members`.
#[must_use]
pub fn read(path: &Path, bytes: &[u8], members: &Folders) -> Parsed {
    if is_of_commands(bytes) {
        return crate::command::read(path, &String::from_utf8_lossy(bytes));
    }
    let mut sources = Sources::new();
    let program = macros::read(&mut sources, path, bytes, members);
    crate::stage::compile(&sources, &program)
}

fn is_of_commands(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let first = crate::command::words(&text).next();
    first.is_some_and(|word| crate::command::is_verb(&word.to_ascii_uppercase()))
}
