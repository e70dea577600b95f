//! What can be wrong with settings about databases, and what deserves a note.
//!
//! Invariants:
//! 1. Every error names the setting, what it belongs to, and what to do.
//! 2. A code keeps its meaning. `HFW001` and following are errors, `HFW101` and following notes.

use std::io;

use base::{Code, Coded};
use definitions::Organization;

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// A setting names a randomizer that no section defines.
    #[error(
        "[database.{database}] names the randomizer \"{name}\", and there is none of that name"
    )]
    NoRandomizer {
        /// The database.
        database: String,
        /// The name.
        name: String,
    },

    /// A randomizer's settings do not fit its kind, or are out of range.
    #[error("[randomizer.{name}] {setting}: {why}")]
    Randomizer {
        /// The randomizer.
        name: String,
        /// Which of its settings.
        setting: &'static str,
        /// What is wrong with it.
        why: String,
    },

    /// The file of a list could not be read.
    #[error("the list of randomizer \"{name}\", {file}, could not be read: {error}")]
    ListUnread {
        /// The randomizer.
        name: String,
        /// The file as the setting names it.
        file: String,
        /// What the disk says.
        #[source]
        error: io::Error,
    },

    /// A line of a list is no root key.
    #[error("line {line} of {file}: {why}")]
    ListKey {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },

    /// A root key stands twice in a list.
    #[error("line {line} of {file} repeats the root key of line {first}")]
    ListTwice {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The line where it stands first.
        first: usize,
    },

    /// A section's name is not the name of a database.
    #[error("[database.{name}]: a DBD has a name of 1 to 8 characters in upper case")]
    DatabaseName {
        /// The section's name.
        name: String,
    },

    /// The name of a partition cannot be used.
    #[error("[database.{database}] partition \"{name}\": {why}")]
    PartitionName {
        /// The database.
        database: String,
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },

    /// A setting of a database or of one of its partitions is out of range, or is no key.
    #[error("[database.{database}] {setting}: {why}")]
    Setting {
        /// The database.
        database: String,
        /// The setting, with its partition if it is one of a partition.
        setting: String,
        /// What is wrong with it.
        why: String,
    },

    /// Two partitions end at the same key.
    #[error("[database.{database}] partitions {one} and {other} have the same {setting}")]
    SameEnd {
        /// The database.
        database: String,
        /// One partition.
        one: String,
        /// The other.
        other: String,
        /// `high_key` or `key_string`.
        setting: &'static str,
    },

    /// High keys and key strings in one database.
    #[error("[database.{database}] has partitions with high_key and others with key_string")]
    Mixed {
        /// The database.
        database: String,
    },

    /// Partitions of a database that has none.
    #[error("[database.{database}] has partitions, and its organization is {organization}")]
    NotPartitioned {
        /// The database.
        database: String,
        /// Its organization.
        organization: Organization,
    },

    /// More partitions than there can be.
    #[error("[database.{database}] has {count} partitions, at most 1001")]
    TooMany {
        /// The database.
        database: String,
        /// How many.
        count: usize,
    },

    /// The host's order for data that has it already.
    #[error("[database.{database}] has collation = \"ebcdic\" and encoding = \"ebcdic\"")]
    Collation {
        /// The database.
        database: String,
    },
}

impl PlacementError {
    /// The section of the configuration that is wrong, such as `database.BANKHIST`; none if it
    /// is a file that the configuration names.
    #[must_use]
    pub fn section(&self) -> Option<String> {
        match self {
            PlacementError::Randomizer { name, .. } | PlacementError::ListUnread { name, .. } => {
                Some(format!("randomizer.{name}"))
            }
            PlacementError::ListKey { .. } | PlacementError::ListTwice { .. } => None,
            PlacementError::NoRandomizer { database, .. }
            | PlacementError::DatabaseName { name: database }
            | PlacementError::PartitionName { database, .. }
            | PlacementError::Setting { database, .. }
            | PlacementError::SameEnd { database, .. }
            | PlacementError::Mixed { database }
            | PlacementError::NotPartitioned { database, .. }
            | PlacementError::TooMany { database, .. }
            | PlacementError::Collation { database } => Some(format!("database.{database}")),
        }
    }
}

impl Coded for PlacementError {
    fn code(&self) -> Code {
        match self {
            PlacementError::NoRandomizer { .. } => Code("HFW001"),
            PlacementError::Randomizer { .. } => Code("HFW002"),
            PlacementError::ListUnread { .. } => Code("HFW003"),
            PlacementError::ListKey { .. } => Code("HFW004"),
            PlacementError::ListTwice { .. } => Code("HFW005"),
            PlacementError::DatabaseName { .. } => Code("HFW006"),
            PlacementError::PartitionName { .. } => Code("HFW007"),
            PlacementError::Setting { .. } => Code("HFW008"),
            PlacementError::SameEnd { .. } => Code("HFW009"),
            PlacementError::Mixed { .. } => Code("HFW010"),
            PlacementError::NotPartitioned { .. } => Code("HFW011"),
            PlacementError::TooMany { .. } => Code("HFW012"),
            PlacementError::Collation { .. } => Code("HFW013"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            PlacementError::NoRandomizer { name, .. } => {
                format!("Add a section [randomizer.{name}] with kind = \"hash\", or name another.")
            }
            PlacementError::Randomizer { name, .. } => {
                format!("Correct the section [randomizer.{name}] of holdfast.toml.")
            }
            PlacementError::ListUnread { .. } => {
                "Put the file there, or correct the path; it is relative to the system's folder. \
                 Reading, verifying, unloading and emptying the database need no list."
                    .into()
            }
            PlacementError::ListKey { .. } => {
                "Write one root key a line, as text or as x'..' in full length.".into()
            }
            PlacementError::ListTwice { .. } => "Leave the key in one of the two lines.".into(),
            PlacementError::DatabaseName { .. } => "Write the name as the DBD has it.".into(),
            PlacementError::PartitionName { .. } => {
                "Give each partition a name of its own: 1 to 7 letters, digits, $, # or @.".into()
            }
            PlacementError::Setting { database, .. } => {
                format!("Correct the section [database.{database}] of holdfast.toml.")
            }
            PlacementError::SameEnd { .. } => "Give each partition an end of its own.".into(),
            PlacementError::Mixed { .. } => {
                "Use high_key for all partitions, or key_string for all.".into()
            }
            PlacementError::NotPartitioned { .. } => {
                "Take the partitions away, or define the database as PHDAM, PHIDAM or PSINDEX."
                    .into()
            }
            PlacementError::TooMany { .. } => "Join neighbouring partitions.".into(),
            PlacementError::Collation { .. } => {
                "Leave collation out: EBCDIC data has the host's order as it is.".into()
            }
        }
    }
}

/// Something that a person should know, though all is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The stable code.
    pub code: Code,
    /// What is to be known, about which database.
    pub text: String,
}

impl Note {
    pub(crate) const MODULE: &str = "HFW101";
    pub(crate) const ONE_PARTITION: &str = "HFW102";
    pub(crate) const NO_EFFECT: &str = "HFW103";
    pub(crate) const EXIT: &str = "HFW104";
    pub(crate) const ONE_SET: &str = "HFW105";

    pub(crate) fn new(code: &'static str, text: String) -> Note {
        Note { code: Code(code), text }
    }

    /// The operand of the DBD statement that it is about; empty if it is about no one of them.
    #[must_use]
    pub fn operand(&self) -> &'static str {
        match self.code.0 {
            Note::MODULE => "RMNAME",
            Note::EXIT => "PSNAME",
            _ => "",
        }
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.code, self.text)
    }
}
