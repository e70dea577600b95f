//! What is wrong with a command line, a configuration, or a card.
//!
//! 1. A code keeps its meaning; scripts and documentation rely on it.
//! 2. No error holds the value of an option that takes a secret.

use base::{Code, Coded};

base::codes! {
    UNKNOWN = "HFE101", "there is no such name";
    VALUE = "HFE102", "an option has no value, or one that cannot be";
    COMMAND = "HFE103", "a command line has no command, or two that exclude each other";
    ARGUMENTS = "HFE104", "a command has too many or too few arguments";
    FORM = "HFE105", "a line of a configuration, or a card, is not of the form that it must have";
    EXCLUDES = "HFE106", "cards exclude each other, or one is missing";
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}{what}")]
pub struct Error {
    code: &'static str,
    place: String,
    what: String,
    remedy: String,
}

impl Error {
    fn new(code: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error { code, place: String::new(), what: what.into(), remedy: remedy.into() }
    }

    pub(crate) fn unknown(what: &str, name: &str, nearest: Option<&str>, all: &str) -> Error {
        let remedy = match nearest {
            Some(nearest) => format!("Did you mean {nearest}? {all}"),
            None => all.to_owned(),
        };
        Error::new(UNKNOWN, format!("there is no {what} {name}"), remedy)
    }

    pub(crate) fn value(what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(VALUE, what, remedy)
    }

    pub(crate) fn command(what: impl Into<String>) -> Error {
        Error::new(COMMAND, what, "`holdfast pgp -e -h` shows the commands and their options.")
    }

    pub(crate) fn arguments(what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(ARGUMENTS, what, remedy)
    }

    pub(crate) fn form(what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(FORM, what, remedy)
    }

    pub(crate) fn excludes(what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(EXCLUDES, what, remedy)
    }

    /// The same, with the place where it is.
    pub(crate) fn at(mut self, place: impl std::fmt::Display) -> Error {
        self.place = format!("{place}: ");
        self
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        Code(self.code)
    }

    fn remedy(&self) -> String {
        self.remedy.clone()
    }
}
