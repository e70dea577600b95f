//! What can go wrong with definitions and with the queue manager as a whole. Programs get reason
//! codes instead; see `reason`.

use base::{Code, Coded};
use store::StoreError;
use thiserror::Error;

use crate::objects::{BadValue, Kind};
use crate::reason::Reason;

/// Why a definition cannot be made, changed or removed, or a queue manager not be opened.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum AdminError {
    /// There is no object of that kind and name.
    #[error("there is no {kind} {name}")]
    NotFound {
        /// The kind.
        kind: Kind,
        /// The name.
        name: String,
    },
    /// An object of that name is there already.
    #[error("{kind} {name} is there already")]
    Exists {
        /// The kind of the one that is there.
        kind: Kind,
        /// The name.
        name: String,
    },
    /// A name has characters that a name may not have, or too many.
    #[error("{name:?} is no name of a {kind}")]
    BadName {
        /// The kind.
        kind: Kind,
        /// The name.
        name: String,
    },
    /// An attribute does not take a value, or is not there.
    #[error("{kind} {name}: {reason}")]
    BadAttribute {
        /// The kind.
        kind: Kind,
        /// The name.
        name: String,
        /// Why.
        reason: BadValue,
    },
    /// An attribute is set by the queue manager alone, or only when an object is defined.
    #[error("{kind} {name}: {attribute} cannot be changed")]
    NotSettable {
        /// The kind.
        kind: Kind,
        /// The name.
        name: String,
        /// The attribute.
        attribute: String,
    },
    /// Programs have the object open.
    #[error("{kind} {name} is in use by {handles} handles")]
    InUse {
        /// The kind.
        kind: Kind,
        /// The name.
        name: String,
        /// How many have it open.
        handles: u64,
    },
    /// A queue has messages.
    #[error("{kind} {name} has {messages} messages")]
    NotEmpty {
        /// The kind.
        kind: Kind,
        /// The name.
        name: String,
        /// How many.
        messages: u64,
    },
    /// A queue has messages of units of work that are not ended.
    #[error("queue {name} has messages that are not committed")]
    Uncommitted {
        /// The name.
        name: String,
    },
    /// What is defined cannot work.
    #[error("{kind} {name}: {why}")]
    Refused {
        /// The kind.
        kind: Kind,
        /// The name.
        name: String,
        /// Why.
        why: String,
    },
    /// A call that this took has failed.
    #[error("{kind} {name}: the call ended with {reason}")]
    Call {
        /// The kind.
        kind: Kind,
        /// The name.
        name: String,
        /// Its reason.
        reason: Reason,
    },
    /// What stands in the store was not written by this release.
    #[error("{object} is damaged: {what}")]
    Damaged {
        /// The definition or message.
        object: String,
        /// What is wrong.
        what: String,
    },
    /// The store has failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for AdminError {
    fn code(&self) -> Code {
        match self {
            AdminError::NotFound { .. } => Code("HFQM001"),
            AdminError::Exists { .. } => Code("HFQM002"),
            AdminError::BadName { .. } => Code("HFQM003"),
            AdminError::BadAttribute { .. } => Code("HFQM004"),
            AdminError::NotSettable { .. } => Code("HFQM005"),
            AdminError::InUse { .. } => Code("HFQM006"),
            AdminError::NotEmpty { .. } => Code("HFQM007"),
            AdminError::Uncommitted { .. } => Code("HFQM008"),
            AdminError::Refused { .. } => Code("HFQM009"),
            AdminError::Call { .. } => Code("HFQM010"),
            AdminError::Damaged { .. } => Code("HFQM011"),
            AdminError::Store(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            AdminError::NotFound { .. } => "Define it first, or correct the name.".into(),
            AdminError::Exists { .. } => "Choose another name, or define it with REPLACE.".into(),
            AdminError::BadName { .. } => {
                "Use letters, digits and . / _ %, as many as the kind allows.".into()
            }
            AdminError::BadAttribute { .. } => "Give the attribute a value that it takes.".into(),
            AdminError::NotSettable { .. } => {
                "Leave the attribute out, or delete the object and define it again.".into()
            }
            AdminError::InUse { .. } => "End the programs that use it, then try again.".into(),
            AdminError::NotEmpty { .. } => {
                "Get its messages, clear the queue, or delete it with PURGE.".into()
            }
            AdminError::Uncommitted { .. } => {
                "Have the units of work committed or backed out, then try again.".into()
            }
            AdminError::Refused { .. } => "Change the definition as it says.".into(),
            AdminError::Call { .. } => "Repair what the reason code names.".into(),
            AdminError::Damaged { .. } => {
                "Recover the data sets of the queue manager, then start again.".into()
            }
            AdminError::Store(error) => error.remedy(),
        }
    }
}
