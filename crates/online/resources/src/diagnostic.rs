//! What is said about definition files, and what they say.

use std::fmt;

pub use macros::Severity;

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
