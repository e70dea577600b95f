//! What can be wrong with a record description, or with a map of segments to descriptions.
//!
//! Invariant: what is wrong in a text is said with the member and the line.

use base::{Code, Coded};
use thiserror::Error;

/// Where something stands in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The member, as it was named.
    pub member: String,
    /// Its line, from 1.
    pub line: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}", self.member, self.line)
    }
}

/// Why a description or a map cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CopybookError {
    /// The text is no record description.
    #[error("{place}: {what}")]
    Syntax {
        /// Where.
        place: Place,
        /// What is wrong.
        what: String,
    },
    /// It is one, and has something that is not supported.
    #[error("{place}: {what}")]
    Unsupported {
        /// Where.
        place: Place,
        /// What is not supported, and why.
        what: String,
    },
    /// A copied member is missing.
    #[error("{place}: there is no member {member} to copy")]
    NoMember {
        /// Where it is copied.
        place: Place,
        /// The member.
        member: String,
    },
    /// It is longer or deeper than anything that can be meant.
    #[error("{place}: {what}")]
    TooLarge {
        /// Where.
        place: Place,
        /// What is too large.
        what: String,
    },
    /// The map file is wrong.
    #[error("the map: {0}")]
    Map(String),
    /// A description does not fit what it is a map of.
    #[error("the map of {subject}: {what}")]
    Misfit {
        /// The segment or file.
        subject: String,
        /// What does not fit.
        what: String,
    },
    /// Data that is not as described.
    #[error("{count} places cannot be converted; the first: {first}")]
    Unconvertible {
        /// How many.
        count: u64,
        /// The first of them.
        first: String,
    },
}

impl Coded for CopybookError {
    fn code(&self) -> Code {
        Code(match self {
            CopybookError::Syntax { .. } => "HFG901",
            CopybookError::Unsupported { .. } => "HFG902",
            CopybookError::NoMember { .. } => "HFG903",
            CopybookError::TooLarge { .. } => "HFG904",
            CopybookError::Map(_) => "HFG905",
            CopybookError::Misfit { .. } => "HFG906",
            CopybookError::Unconvertible { .. } => "HFG907",
        })
    }

    fn remedy(&self) -> String {
        match self {
            CopybookError::Syntax { .. } | CopybookError::TooLarge { .. } => {
                "Correct the record description; a compiler says more about it."
            }
            CopybookError::Unsupported { .. } => "Describe the record without it.",
            CopybookError::NoMember { .. } => {
                "Put the member beside the map file, or name its folder in `copy`."
            }
            CopybookError::Map(_) => "Correct the map file.",
            CopybookError::Misfit { .. } => "Correct the map file or the record description.",
            CopybookError::Unconvertible { .. } => {
                "Correct the map, or add --as-text to convert numbers that are none as characters."
            }
        }
        .into()
    }
}
