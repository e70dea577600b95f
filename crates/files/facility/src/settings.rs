//! Options with their values, as a line or a configuration says them.
//!
//! 1. The last word counts; only recipients and signers add up.

use std::ffi::{OsStr, OsString};

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::table::{Means, Row};

/// A value.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Switch(bool),
    Word(OsString),
    Secret(Zeroizing<Vec<u8>>),
}

/// An option with its value.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) row: &'static Row,
    pub(crate) value: Value,
}

impl Setting {
    /// The value, where it is a word.
    pub(crate) fn word(&self) -> &OsStr {
        match &self.value {
            Value::Word(word) => word,
            _ => OsStr::new(""),
        }
    }

    /// The value, where it has to be text.
    pub(crate) fn text(&self) -> Result<&str> {
        let name = self.row.name;
        self.word().to_str().ok_or_else(|| {
            Error::value(format!("the value of {name} is no text"), "Give it in UTF-8.")
        })
    }

    /// Whether it is switched on.
    pub(crate) fn is_on(&self) -> bool {
        self.value == Value::Switch(true)
    }
}

/// All options that a line or a configuration names.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings(Vec<Setting>);

impl Settings {
    /// Puts one in (1).
    pub(crate) fn put(&mut self, setting: Setting) {
        if !adds_up(setting.row.means) {
            self.0.retain(|known| known.row.means != setting.row.means);
        }
        self.0.push(setting);
    }

    /// These, and of the others what these do not say.
    pub(crate) fn over(self, others: &Settings) -> Settings {
        let is_set = |one: &Setting| self.0.iter().any(|own| same(own.row.means, one.row.means));
        let rest: Vec<Setting> = others.0.iter().filter(|one| !is_set(one)).cloned().collect();
        Settings(self.0.into_iter().chain(rest).collect())
    }

    pub(crate) fn all(&self) -> &[Setting] {
        &self.0
    }

    /// The one with that meaning.
    pub(crate) fn find(&self, means: Means) -> Option<&Setting> {
        self.0.iter().find(|one| one.row.means == means)
    }
}

/// What means nothing is told option by option, so each stays.
fn adds_up(means: Means) -> bool {
    matches!(means, Means::Recipient(_) | Means::Signer | Means::Nothing(_))
}

/// Whether two options say the same thing, perhaps in different ways.
fn same(one: Means, other: Means) -> bool {
    match (one, other) {
        (Means::Recipient(_), Means::Recipient(_)) => true,
        (one, other) => one == other,
    }
}
