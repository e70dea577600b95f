//! What is said about a source: errors, warnings and notes, each with a code and a place.
//!
//! Owns the [`Log`] that gathers diagnostics. Invariants:
//!
//! 1. The same thing is said about the same place once, however often a loop comes by.
//! 2. A log holds at most [`MOST`] diagnostics; the last one then says that there were more.

use std::collections::BTreeSet;
use std::fmt;

pub(crate) use crate::code;
use crate::statement::{Place, SourceId};

/// The most diagnostics of one reading; a file that is no macro source at all has no end of them.
pub(crate) const MOST: usize = 500;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Said for information.
    Note,
    /// Accepted, but perhaps not what was meant.
    Warning,
    /// Not accepted.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One thing that is said about a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable code such as `HFA010`.
    pub code: &'static str,
    /// What it is about.
    pub place: Place,
    /// What is the matter, and with which word.
    pub message: String,
    /// What to do, as an imperative sentence.
    pub help: Option<String>,
}

/// Gathers diagnostics.
#[derive(Debug, Default)]
pub(crate) struct Log {
    list: Vec<Diagnostic>,
    known: BTreeSet<(&'static str, Place, String)>,
    once: BTreeSet<(&'static str, SourceId)>,
}

impl Log {
    /// Something that is not accepted.
    pub(crate) fn error(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        help: &str,
    ) {
        self.say(Severity::Error, code, place, message.into(), help);
    }

    /// Something that is accepted but perhaps not meant.
    pub(crate) fn warn(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        help: &str,
    ) {
        self.say(Severity::Warning, code, place, message.into(), help);
    }

    /// A warning of which one per source is enough.
    pub(crate) fn warn_once(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        help: &str,
    ) {
        if self.once.insert((code, place.source)) {
            self.say(Severity::Warning, code, place, message.into(), help);
        }
    }

    /// Adds one; an empty help is none.
    pub(crate) fn say(
        &mut self,
        severity: Severity,
        code: &'static str,
        place: Place,
        message: String,
        help: &str,
    ) {
        if self.list.len() > MOST || !self.known.insert((code, place, message.clone())) {
            return;
        }
        let help = (!help.is_empty()).then(|| help.to_owned());
        if self.list.len() < MOST {
            self.list.push(Diagnostic { severity, code, place, message, help });
            return;
        }
        let help = Some("Correct what is listed and read the source again.".to_owned());
        let message = format!("there is more to say than these {MOST} messages; it is left out");
        let severity = Severity::Error;
        self.list.push(Diagnostic { severity, code: code::MORE, place, message, help });
    }

    /// All of them, in the order in which they came up.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(card: u32) -> Place {
        Place { card, ..Place::default() }
    }

    #[test]
    fn the_same_is_said_once() {
        let mut log = Log::default();
        log.error(code::QUOTE, at(1), "a", "");
        log.error(code::QUOTE, at(1), "a", "");
        log.error(code::QUOTE, at(2), "a", "");
        log.warn_once(code::TABS, at(1), "tabs", "");
        log.warn_once(code::TABS, at(2), "tabs", "");
        assert_eq!(log.into_diagnostics().len(), 3);
    }

    #[test]
    fn a_log_has_an_end_and_says_so() {
        let mut log = Log::default();
        for card in 0..2 * MOST as u32 {
            log.warn(code::LABEL, at(card), "a", "");
        }
        let list = log.into_diagnostics();
        assert_eq!(list.len(), MOST + 1);
        assert_eq!(list.last().map(|last| last.code), Some(code::MORE));
    }
}
