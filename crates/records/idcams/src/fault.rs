//! What is wrong with a statement: message id, place, and in words.
//!
//! Invariants:
//! 1. An id keeps its meaning: it is the one that operators know for it.

use std::fmt;

/// A place in the statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Something wrong with a statement; it is not executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Such as `IDC3211I`.
    pub id: &'static str,
    /// Where.
    pub place: Place,
    /// What.
    pub text: String,
}

impl Fault {
    /// A fault.
    #[must_use]
    pub fn new(id: &'static str, place: Place, text: impl Into<String>) -> Fault {
        Fault { id, place, text: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}
