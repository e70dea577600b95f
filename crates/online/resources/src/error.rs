//! Why resources cannot be defined or found.

use base::{Code, Coded};
use otma::Name;
use store::StoreError;
use thiserror::Error;

use crate::model::Kind;

/// What went wrong with a definition.
#[derive(Clone, Debug, Error)]
pub enum ResourceError {
    /// A resource of that name is there already.
    #[error("{} {name} is defined already", kind.word())]
    Exists {
        /// Its kind.
        kind: Kind,
        /// Its name.
        name: Name,
    },
    /// No resource of that name is there.
    #[error("{} {name} is not defined", kind.word())]
    Absent {
        /// Its kind.
        kind: Kind,
        /// Its name.
        name: Name,
    },
    /// A resource names a program that is not defined.
    #[error("{} {name} names the program {program}, which is not defined", kind.word())]
    NoProgram {
        /// Its kind.
        kind: Kind,
        /// Its name.
        name: Name,
        /// The program.
        program: Name,
    },
    /// A program is to be deleted that others name.
    #[error("program {program} cannot be deleted: {} {name} names it", kind.word())]
    InUse {
        /// The program.
        program: Name,
        /// Who names it.
        kind: Kind,
        /// Its name.
        name: Name,
    },
    /// Attributes do not fit together.
    #[error("{} {name}: {what}", kind.word())]
    Conflict {
        /// The kind.
        kind: Kind,
        /// The resource.
        name: Name,
        /// What does not fit.
        what: &'static str,
    },
    /// An attribute that there is none of, or a value that is none of its.
    #[error("{} {name}: {attribute}({value}): it takes {expected}", kind.word())]
    Value {
        /// The kind.
        kind: Kind,
        /// The resource.
        name: Name,
        /// The attribute.
        attribute: String,
        /// The value.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
    /// What stands in the repository is not what this release writes.
    #[error("the definition of {name} in the repository cannot be read: {what}")]
    Unreadable {
        /// The resource's name.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// The store has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for ResourceError {
    fn code(&self) -> Code {
        match self {
            ResourceError::Exists { .. } => Code("HFG820"),
            ResourceError::Absent { .. } => Code("HFG821"),
            ResourceError::NoProgram { .. } => Code("HFG822"),
            ResourceError::InUse { .. } => Code("HFG823"),
            ResourceError::Conflict { .. } => Code("HFG824"),
            ResourceError::Value { .. } => Code("HFG825"),
            ResourceError::Unreadable { .. } => Code("HFG826"),
            ResourceError::Store(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            ResourceError::Exists { .. } => "Update it, or choose another name.".into(),
            ResourceError::Absent { .. } => "Create it first, or correct the name.".into(),
            ResourceError::NoProgram { .. } => "Create the program too.".into(),
            ResourceError::InUse { .. } => "Delete or update what names it first.".into(),
            ResourceError::Conflict { .. } => "Change one of these attributes.".into(),
            ResourceError::Value { .. } => "Correct the attribute.".into(),
            ResourceError::Unreadable { .. } => {
                "Open the system with the release that wrote it, or define it again.".into()
            }
            ResourceError::Store(error) => error.remedy(),
        }
    }
}
