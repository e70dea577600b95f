//! Why a statement of conditional assembly cannot be carried out.
//!
//! Invariant: a failure is an error about one place in the source where the statement was written;
//! the caller that runs it adds which call it happened in.

use crate::diagnostic::code;
use crate::statement::Place;

/// The advice where this crate has less than an assembler.
pub(crate) const EXPANDED: &str = "Supply the expanded source: take the statements \
     from the host's listing with PRINT GEN, or write them out.";

/// An error about a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) place: Place,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

impl Failure {
    /// Something that an assembler has and this crate has not.
    pub(crate) fn unsupported(place: Place, what: impl Into<String>) -> Self {
        let message = format!("{} is not supported", what.into());
        Self { place, code: code::UNSUPPORTED, message, help: EXPANDED }
    }
}
